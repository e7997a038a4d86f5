//! Interface selection: the port that a packet for a neighbour takes (Sánchez, Lanza and Muñoz 2006, section 4.1).
//!
//! A [`Selector`] keeps the neighbour table: for each neighbour and each port (an interface of this end) a [`Way`],
//! with its smoothed SNR, when it was last heard, what its beacons and frames have shown. A [`Metric`] tells what a
//! packet costs on a way; the [`Policy`] makes of that one port for each class of traffic, or the set over which a
//! trunk stripes.
//!
//! Use by a host:
//!
//! 1. It adds and removes ports and neighbours whenever they come and go, and tells of everything that is heard, with
//!    its SNR ([`Input::Heard`]).
//! 2. It gives each packet in ([`Input::Packet`]) and gets it back with the port on which to send it, or, where the
//!    policy stripes, for the trunk, whose members are the ports of [`Output::Ways`].
//! 3. The fate of a frame comes back: [`Input::Finished`], and [`Input::Returned`] with the packet if the port could
//!    not deliver it, or is gone. Another port gets it then, if there is one; otherwise it waits for one.
//! 4. Beacons keep the ways measured that carry nothing. The other end's go in as [`Input::Beacon`]. Where the metric
//!    asks what is lost behind the MAC ([`Measure::Goodput`]) frames are numbered on each port, and go in as
//!    [`Input::Arrived`].
//!
//! It never looks at bytes, keeps no copy of a packet, and does not restore an order: that is a trunk's business.

mod arrivals;
mod attempts;
mod config;
mod loss;
mod metric;
mod port;
mod selector;
mod service;
mod table;

pub use arrivals::Tally;
pub use config::{Measure, Policy, Spread};
pub use loss::LossShare;
pub use metric::{Cost, ExpectedTime, ExpectedTransmissions, Goodput, Load, Metric, SnrThreshold};
pub use port::{MilliDb, PortConfig, RateStep};
pub use selector::Selector;
pub use service::{Beacon, DropReason, Input, Neighbour, Output, Port, PortSet};
pub use table::{Stats, Way};
