//! The reports to a recorder during a run. Nothing is formatted, nor even collected, unless one listens.

use super::frame::Msdu;
use super::id::{FlowId, LinkDirection, LinkTrunkEnd, NodeId, RadioId, RadioTrunkEnd};
use super::medium::Loss;
use super::packet::{DropReason, Record};
use airbraid_mac::{Access, Address, Frame, Outcome};
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
    /// When it ends, at this radio.
    pub end: Instant,
}

/// A number of a machine that changes in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Packets that wait for a trunk, at one of its ends.
    TrunkQueue(RadioTrunkEnd),
    /// Packets that an end of a trunk holds back until those before them have come.
    Resequencer(RadioTrunkEnd),
    /// Packets that wait for a tunnel, at one of its ends.
    TunnelQueue(LinkTrunkEnd),
    /// Packets in the queue of a direction of a link.
    LinkQueue(LinkDirection),
    /// A TCP sender's congestion window \[byte\].
    CongestionWindow(FlowId),
    /// Bytes that a TCP sender has sent and that are not acknowledged.
    FlightSize(FlowId),
    /// The window that a TCP receiver offers \[byte\].
    ReceiveWindow(FlowId),
}

/// Listens to a run. Whoever does not care for an event leaves its method out.
#[expect(unused_variables, reason = "what is left out takes no arguments")]
pub trait Observer: std::fmt::Debug {
    /// A radio is committed to a transmission.
    fn on_transmission(&mut self, now: Instant, event: FrameEvent<'_>, access: Access) {}
    /// A reception has ended at a radio, with this signal level \[dBm\].
    fn on_reception(&mut self, now: Instant, event: FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {}
    /// A packet goes no further at a node.
    fn on_drop(&mut self, now: Instant, node: NodeId, packet: &Record, reason: DropReason) {}
    /// A packet has reached its transport at a node.
    fn on_delivery(&mut self, now: Instant, node: NodeId, packet: &Record) {}
    /// A packet, or a frame of a protocol, is given to a radio's MAC.
    fn on_queued(&mut self, now: Instant, radio: RadioId, to: Address, packet: Option<&Record>) {}
    /// A radio's MAC has finished with what it was given, after this number of transmissions.
    fn on_finished(&mut self, now: Instant, radio: RadioId, packet: Option<&Record>, outcome: Outcome, attempts: u32) {}
    /// A level is now `value`, perhaps as before.
    fn on_level(&mut self, now: Instant, level: Level, value: u64) {}
    /// The run is over: recordings end their files.
    fn on_end(&mut self, now: Instant) {}
}
