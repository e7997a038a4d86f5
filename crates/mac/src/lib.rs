//! Medium access control as pure state machines: the part of an 802.11 station between its queue and its radio.
//!
//! Every MAC is a [`airbraid_engine::Machine`] that takes [`MacInput`] and gives [`MacOutput`]; contention, NAV,
//! queue and frames are shared, so that a new MAC is a new frame exchange and no new backoff.

mod alarm;
pub mod contention;
pub mod dcf;
pub mod duplicate;
pub mod edca;
pub mod efficiency;
pub mod erp;
pub mod frame;
#[cfg(test)]
mod medium;
pub mod multichannel;
pub mod nav;
pub mod phy;
pub mod polled;
pub mod power_save;
pub mod ppdu;
pub mod queue;
pub mod rate_control;
pub mod retry;
pub mod service;
mod station;

pub use frame::{Address, Channel, ChannelSet, Frame, FrameKind, Reservation};
pub use service::{Access, Complete, Damage, MacInput, MacOutput, MacStats, Msdu, Outcome};
