//! The reports to a recorder during a run. Nothing is formatted, nor even collected, unless one listens.

use super::frame::{Msdu, PacketRef};
use super::id::{FlowId, LinkDirection, LinkTrunkEnd, NodeId, RadioId, RadioTrunkEnd};
use super::medium::Loss;
use super::packet::{DropReason, Packets, Record};
use airbraid_mac::edca::{MpduSet, Ppdu};
use airbraid_mac::{Access, Address, Frame, Outcome};
use airbraid_units::{Instant, Milliwatt};

/// A frame at a radio.
#[derive(Clone, Copy, Debug)]
pub struct FrameEvent<'a> {
    /// The radio.
    pub radio: RadioId,
    /// The frame; of a PPDU its header.
    pub frame: &'a Frame<Msdu>,
    /// The PPDU, where it is more than a frame.
    pub ppdu: Option<&'a Ppdu<Msdu>>,
    /// Of a PPDU that has come the MPDUs that are intact; `None`: all.
    pub intact: Option<&'a MpduSet>,
    /// The packet in it; of several the first.
    pub packet: Option<&'a Record>,
    /// The table that the frame's payload stands in.
    pub packets: &'a Packets,
    /// When it begins, at this radio.
    pub start: Instant,
    /// When it ends, at this radio.
    pub end: Instant,
}

impl FrameEvent<'_> {
    /// Number of MPDUs with data of an aggregate.
    pub fn mpdus(&self) -> Option<usize> {
        self.ppdu.and_then(Ppdu::data).map(|data| data.mpdus().len())
    }
    /// Number of those that are intact.
    pub fn intact_mpdus(&self) -> Option<usize> {
        self.mpdus().map(|all| self.intact.map_or(all, |intact| intact.len() as usize))
    }
}

/// A place where packets, or the frames of a trunk or link layer, come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The border between the transports of a node and its network layer.
    Host(NodeId),
    /// The upper side of an end of a trunk over radios.
    RadioTrunk(RadioTrunkEnd),
    /// The upper side of an end of a trunk over links.
    LinkTrunk(LinkTrunkEnd),
    /// A direction of a link: its queue at the one end, its arrivals at the other.
    Link(LinkDirection),
}

/// A packet, or a frame of a trunk or link layer, comes by.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    pub place: Place,
    /// Whether it comes up, from where it was sent; otherwise it goes down.
    pub is_arrival: bool,
    pub packet: PacketRef,
    /// The table that it stands in.
    pub packets: &'a Packets,
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

/// Received powers in dBm, as observers get them. A pair of radios at rest always has the same, and a logarithm takes
/// as long as an event.
#[derive(Debug, Default)]
pub struct PowerMemo(Vec<(f64, f64)>);

impl PowerMemo {
    /// Binary logarithm of the number of powers that are remembered.
    const BITS: u32 = 10;

    /// A power \[mW\] in dBm.
    pub fn dbm(&mut self, power: f64) -> f64 {
        if self.0.is_empty() {
            self.0 = vec![(f64::NAN, f64::NAN); 1 << Self::BITS];
        }
        // Fibonacci hashing: 2^64 divided by the golden ratio, of which the high bits are the best mixed.
        let mixed = power.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::BITS);
        let (known, dbm) = &mut self.0[mixed as usize];
        if known.to_bits() != power.to_bits() {
            (*known, *dbm) = (power, Milliwatt(power).to_dbm().0);
        }
        *dbm
    }
}

/// Listens to a run. Whoever does not care for an event leaves its method out.
#[expect(unused_variables, reason = "what is left out takes no arguments")]
pub trait Observer: std::fmt::Debug {
    /// A radio is committed to a transmission.
    fn on_transmission(&mut self, now: Instant, event: &FrameEvent<'_>, access: Access) {}
    /// A reception has ended at a radio, with this signal level \[dBm\].
    fn on_reception(&mut self, now: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {}
    /// A packet, or a frame of a trunk or link layer, comes by a place.
    fn on_passage(&mut self, now: Instant, passage: Passage<'_>) {}
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
