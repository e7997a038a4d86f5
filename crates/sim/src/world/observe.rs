//! The reports to a recorder during a run. Nothing is formatted, nor even collected, unless one listens.

use super::frame::Msdu;
use super::id::{NodeId, RadioId};
use super::medium::Loss;
use super::packet::{DropReason, Record};
use airbraid_mac::{Access, Frame};
use airbraid_units::Instant;

/// A frame at a radio.
#[derive(Clone, Copy, Debug)]
pub struct FrameEvent<'a> {
    /// The radio.
    pub radio: RadioId,
    /// The frame.
    pub frame: &'a Frame<Msdu>,
    /// The packet in it.
    pub packet: Option<&'a Record>,
    /// When it begins, at this radio.
    pub start: Instant,
}

/// Listens to a run.
pub trait Observer: std::fmt::Debug {
    /// A radio is committed to a transmission.
    fn on_transmission(&mut self, now: Instant, event: FrameEvent<'_>, access: Access);
    /// A reception has ended at a radio, with this signal level \[dBm\].
    fn on_reception(&mut self, now: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>);
    /// A packet goes no further at a node.
    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason);
    /// A packet has reached its transport at a node.
    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record);
}
