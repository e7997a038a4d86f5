//! Power management of an infrastructure BSS (802.11-2020, 11.2.3), and its use by Giustiniano et al. 2013 (section
//! 3.1): a station with one radio tells an access point that it dozes and is with another one meanwhile.
//!
//! [`AccessPoint`] holds frames for stations that doze; [`SlottedStation`] has a virtual station at each of several
//! access points and goes from one to the other by a [`SlotPlan`]. Both drive [`crate::dcf`] and add no contention of
//! their own. No beacon, no TIM, no PS-Poll: a station that is awake says so and is sent to at once.
//!
//! ```text
//!  AP i       ACK|  holds what comes for the station ...
//!  station  NULL |  retunes           | NULL          DATA   next slot
//!           PS=1 |                    | PS=0    ACK | ACK
//!  AP j                                    ACK| DATA: what it has held
//! ```

mod access_point;
mod plan;
mod station;
#[cfg(test)]
mod tests;

pub use access_point::{AccessPoint, AccessPointConfig, BufferStats};
pub use plan::{PlannedSlot, SlotPlan};
pub use station::{RETUNING_TIME, SlottedConfig, SlottedStation, SwitchStats, VirtualStation};
