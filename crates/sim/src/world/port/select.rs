//! Interface selection in a run: the selector hears of beacons and of the fates of frames, and packets take the members
//! that it chooses.
//!
//! Where one member is chosen a packet goes as it is, and nothing restores an order; where several are left in, the
//! trunk stripes over them.

use super::super::frame::{BeaconFrame, MsduKind, PacketRef};
use super::super::host::{Host, Work};
use super::super::id::RadioTrunkEnd;
use super::super::packet::DropReason;
use super::super::wakeups::MachineId;
use super::mac::KnownRate;
use super::rate_steps;
use crate::scenario::spec::{self, RadioTrunk};
use airbraid_engine::Stream;
use airbraid_engine::converge::select::{
    DropReason as SelectDrop, Input, Measure, MilliDb, Neighbour, Port, PortConfig, PortSet, Selector, Spread,
};
use airbraid_engine::trunk::Member;
use airbraid_mac::Outcome;
use airbraid_mac::edca::Vector;
use airbraid_units::{BitRate, Bytes, Db, SeqNum};

/// The only neighbour: the other end.
const PEER: Neighbour = Neighbour(0);
/// A packet's number on its way \[byte\].
const NUMBER: u32 = 4;

/// Interface selection at a trunk end.
#[derive(Debug)]
pub struct Selection {
    end: RadioTrunkEnd,
    selector: Selector<PacketRef>,
    /// The properties of each member's radio.
    configs: Vec<PortConfig>,
    /// The rate of each format of a member under EDCA, losses left out.
    formats: Vec<Vec<(Vector, BitRate)>>,
    spread: Spread,
    measure: Measure,
    is_failing_over: bool,
    overhead: u32,
    is_sealed: bool,
    /// The members that are left in, as told last.
    ways: PortSet,
    /// Bytes that each member has and is not done with.
    backlog: Vec<u64>,
    /// Packets given to each member.
    sent: Vec<u64>,
    /// Samples: the share of the packets of each interval that the first member got.
    shares: Vec<f64>,
    sampled: [u64; 2],
}

/// Whether what a MAC has finished with is to be settled by its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is: delivered, or lost for good.
    No,
    /// It was taken back, and goes by another member.
    Back,
}

impl Selection {
    /// The selection at `end` of a trunk, if it has one.
    pub fn new(spec: &spec::Spec, trunk: &RadioTrunk, end: RadioTrunkEnd, seed: u64) -> Option<Self> {
        let select = trunk.select.as_ref()?;
        let random = Stream::new(seed, end.index() as u64, "select.beacon");
        let count = trunk.members.len();
        Some(Self {
            end,
            selector: Selector::new(select.policy, random),
            configs: (0..count).map(|member| port_config(spec, trunk, end.side(), member)).collect(),
            formats: (0..count).map(|member| formats(spec, trunk, end.side(), member)).collect(),
            spread: select.policy.spread,
            measure: select.policy.measure,
            is_failing_over: select.is_failing_over,
            overhead: select.overhead.as_u64() as u32,
            is_sealed: select.overhead > Bytes::ZERO,
            ways: PortSet::default(),
            backlog: vec![0; count],
            sent: vec![0; count],
            shares: Vec::new(),
            sampled: [0; 2],
        })
    }

    pub const fn selector(&self) -> &Selector<PacketRef> {
        &self.selector
    }
    /// Packets given to each member.
    pub fn sent(&self) -> &[u64] {
        &self.sent
    }
    /// Samples of the first member's share.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }
    /// Bytes around each packet and beacon: the security of the link.
    pub const fn overhead(&self) -> u32 {
        self.overhead
    }

    /// Drives the selector: `None` is its timer.
    pub fn step(&mut self, input: Option<Input<PacketRef>>, host: &mut Host<'_>) {
        let end = self.end;
        host.step(MachineId::Selector(end), &mut self.selector, input, |output| Work::Selector(end, Box::new(output)));
    }

    /// The other end is there.
    pub fn begin(&mut self, host: &mut Host<'_>) {
        self.step(Some(Input::NeighbourAdded(PEER)), host);
    }

    /// A member's radio works.
    pub fn add(&mut self, member: Member, host: &mut Host<'_>) {
        let config = self.configs[usize::from(member.0)].clone();
        self.step(Some(Input::PortAdded(Port(member.0), config)), host);
    }

    /// A member's radio was switched off.
    pub fn remove(&mut self, member: Member, host: &mut Host<'_>) {
        self.step(Some(Input::PortRemoved(Port(member.0))), host);
    }

    /// Takes a packet, to choose where it goes.
    pub fn send(&mut self, packet: PacketRef, host: &mut Host<'_>) {
        self.step(Some(Input::Packet(PEER, packet)), host);
    }

    /// A packet goes by a member: returns its kind and length there, with its number if the metric needs it. A sealed
    /// frame's counter is one already.
    pub fn on_way(&mut self, member: Member, packet: PacketRef, host: &mut Host<'_>) -> (MsduKind, u32) {
        let sent = &mut self.sent[usize::from(member.0)];
        *sent += 1;
        let number = self.measure.needs_numbers().then_some(SeqNum(*sent as u32));
        let is_longer = number.is_some() && !self.is_sealed;
        self.backlog[usize::from(member.0)] += u64::from(packet.len);
        self.tell_backlog(member, host);
        (MsduKind::Selected(number), self.overhead + if is_longer { NUMBER } else { 0 })
    }

    /// The members that are left in have changed: gives those to be switched in the trunk, none where packets do not go
    /// through it.
    pub fn leave_in(&mut self, ways: PortSet) -> impl Iterator<Item = (Member, bool)> + use<> {
        let before = std::mem::replace(&mut self.ways, ways);
        let count = if self.spread == Spread::Choose { 0 } else { self.configs.len() as u8 };
        let change = move |port| {
            let is_up = ways.contains(Port(port));
            (is_up != before.contains(Port(port))).then_some((Member(port), is_up))
        };
        (0..count).filter_map(change)
    }

    /// A beacon of the other end has come on a member, which is heard this far above the noise.
    pub fn on_beacon(&mut self, frame: BeaconFrame, level: Db, host: &mut Host<'_>) {
        let (port, snr) = (frame.port, Some(MilliDb(libm::round(level.0 * 1_000.0) as i32)));
        self.step(Some(Input::Heard { neighbour: PEER, port, snr }), host);
        self.step(Some(Input::Beacon(PEER, port, frame.beacon)), host);
    }

    /// A numbered frame has come on a member.
    #[inline]
    pub fn on_arrival(&mut self, member: Member, number: SeqNum, host: &mut Host<'_>) {
        if self.measure.needs_numbers() {
            self.step(Some(Input::Arrived(PEER, Port(member.0), number)), host);
        }
    }

    /// A member's MAC has finished with a frame that carried data.
    pub fn on_frame_finished(
        &mut self,
        member: Member,
        outcome: Outcome,
        attempts: u32,
        rate: impl FnOnce() -> Option<KnownRate>,
        host: &mut Host<'_>,
    ) {
        let by_rate = self.measure != Measure::SnrThreshold;
        let (neighbour, port) = (PEER, Port(member.0));
        let known = if by_rate { rate() } else { None };
        let (rate, attempts) = match known {
            Some(KnownRate::Now(rate)) => (Some(rate), attempts),
            Some(KnownRate::Best(vector, share)) => (self.rate_of(member, &vector, share), attempts.min(1)),
            None => (None, attempts),
        };
        if let Some(rate) = rate {
            self.step(Some(Input::Rate(neighbour, port, rate)), host);
        }
        if attempts > 0 && (self.is_failing_over || by_rate) {
            let is_delivered = outcome == Outcome::Acknowledged;
            self.step(Some(Input::Finished { neighbour, port, attempts, is_delivered }), host);
        }
    }

    /// The rate of a member's format, of which this share of MPDUs comes through \[thousandths\]: the frame error rate
    /// at the rate in use, as the airtime link metric has it (802.11-2020, 14.9).
    fn rate_of(&self, member: Member, vector: &Vector, share: u32) -> Option<BitRate> {
        let (_, rate) = self.formats[usize::from(member.0)].iter().find(|(format, _)| format == vector)?;
        Some(BitRate::from_bps((rate.as_bps() * u64::from(share) / 1_000).max(1)))
    }

    /// A member's MAC has finished with a packet that goes as it is: its bytes are out of the way.
    pub fn on_packet_finished(&mut self, member: Member, packet: PacketRef, host: &mut Host<'_>) {
        let backlog = &mut self.backlog[usize::from(member.0)];
        *backlog = backlog.saturating_sub(u64::from(packet.len));
        self.tell_backlog(member, host);
    }

    /// One that a member could not deliver goes elsewhere, where that is asked for.
    pub fn take_back(&mut self, member: Member, packet: PacketRef, outcome: Outcome, host: &mut Host<'_>) -> Taken {
        if !self.is_failing_over || !matches!(outcome, Outcome::RetryLimit | Outcome::Purged) {
            return Taken::No;
        }
        self.step(Some(Input::Returned(PEER, Port(member.0), packet)), host);
        Taken::Back
    }

    fn tell_backlog(&mut self, member: Member, host: &mut Host<'_>) {
        if self.measure == Measure::Load {
            let backlog = Bytes::new(self.backlog[usize::from(member.0)]);
            self.step(Some(Input::Backlog(Port(member.0), backlog)), host);
        }
    }

    /// Where one packet more would go; none where the trunk's own queue takes it.
    pub fn way(&self) -> Option<Way> {
        if self.spread != Spread::Choose {
            return None;
        }
        Some(match self.ways.iter().next() {
            Some(port) => Way::Member(Member(port.0)),
            None => Way::Waits(self.selector.queue_len(PEER)),
        })
    }

    /// A value of the series.
    pub fn sample(&mut self) {
        let (first, all) = (self.sent.first().copied().unwrap_or(0), self.sent.iter().sum());
        let (new, of) = (first - self.sampled[0], all - self.sampled[1]);
        self.shares.push(if of > 0 { new as f64 / of as f64 } else { f64::NAN });
        self.sampled = [first, all];
    }
}

/// Where one packet more would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By this member.
    Member(Member),
    /// Nowhere for now: it would wait with this number of packets.
    Waits(usize),
}

pub const fn drop_reason(reason: SelectDrop) -> DropReason {
    match reason {
        SelectDrop::NoNeighbour => DropReason::NoRoute,
        SelectDrop::Undelivered => DropReason::RetryLimit,
        SelectDrop::QueueFull => DropReason::SelectionQueueFull,
    }
}

/// The properties of a member's radio.
fn port_config(spec: &spec::Spec, trunk: &RadioTrunk, side: usize, member: usize) -> PortConfig {
    let radio = &spec.nodes[trunk.between[side]].radios[trunk.members[member][side]];
    let is_last = member + 1 == trunk.members.len();
    let thresholds = trunk.select.as_ref().map(|select| select.thresholds);
    let by_rate = trunk.select.is_some_and(|select| select.policy.measure != Measure::SnrThreshold);
    let (rates, overhead) = if by_rate { rate_steps::of(radio) } else { Default::default() };
    PortConfig { rank: member as u8, thresholds: thresholds.filter(|_| !is_last), rates, overhead }
}

/// The rate of each format of a member under EDCA, where rates count.
fn formats(spec: &spec::Spec, trunk: &RadioTrunk, side: usize, member: usize) -> Vec<(Vector, BitRate)> {
    let radio = &spec.nodes[trunk.between[side]].radios[trunk.members[member][side]];
    let by_rate = trunk.select.is_some_and(|select| select.policy.measure != Measure::SnrThreshold);
    if by_rate { rate_steps::by_format(radio) } else { Vec::new() }
}
