//! Interface selection at work: what chooses among the members of a trunk hears of beacons and of what became of frames,
//! and packets go where it says.
//!
//! Where one member is chosen a packet goes as it is, and nothing restores an order; where several are left in, the trunk
//! stripes over them.

use super::alarms::Sleeper;
use super::medium::Hearer;
use super::packet::{BeaconFrame, Carried, DropReason, Msdu, PacketRef, Part};
use super::routing::NextHop;
use super::{Work, World};
use crate::phy::ErrorRates;
use crate::scenario::spec;
use airbraid_engine::converge::select::{
    DropReason as SelectDrop, Input, Measure, MilliDb, Neighbour, Output, Port, PortConfig, PortSet, RateStep,
    Selector, Spread,
};
use airbraid_engine::trunk::paper as trunk;
use airbraid_engine::{Stream, step};
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::{Address, MacInput, Outcome, service};
use airbraid_units::{Bytes, Duration, Instant, SeqNum};

/// The only neighbour: the other end.
const PEER: Neighbour = Neighbour(0);
/// A rate can be used from the SNR on at which so much of full frames arrives.
const USABLE: f64 = 0.9;
/// A packet's number on its way \[byte\].
const NUMBER: u32 = 4;
/// A full frame with its headers \[bit\].
const FULL_FRAME: u64 = 1_536 * 8;

/// What chooses among the members of a trunk end.
#[derive(Debug)]
pub(super) struct Selection {
    pub selector: Selector<PacketRef>,
    spread: Spread,
    measure: Measure,
    is_failing_over: bool,
    overhead: u32,
    /// The members that are left in, as told last.
    ways: PortSet,
    /// Bytes that each member has and is not done with.
    backlog: Vec<u64>,
    /// Packets given to each member.
    pub sent: Vec<u64>,
    is_sealed: bool,
    /// Samples: the share of the packets of each interval that the first member got.
    pub shares: Vec<f64>,
    sampled: [u64; 2],
}

impl Selection {
    pub fn new(spec: &spec::Select, seed: u64, end: u32) -> Self {
        let random = Stream::new(seed, u64::from(end), "select.beacon");
        Self {
            selector: Selector::new(spec.policy, random),
            spread: spec.policy.spread,
            measure: spec.policy.measure,
            is_failing_over: spec.is_failing_over,
            overhead: spec.overhead.as_u64() as u32,
            is_sealed: spec.overhead > Bytes::ZERO,
            ways: PortSet::default(),
            backlog: Vec::new(),
            sent: Vec::new(),
            shares: Vec::new(),
            sampled: [0; 2],
        }
    }

    /// What a packet on `port` carries of ours, and its bytes: its number there, if the metric asks for it. A sealed frame's
    /// counter is one already.
    fn part(&self, port: u8) -> (Part, u32) {
        if !self.measure.needs_numbers() {
            return (Part::None, self.overhead);
        }
        let number = SeqNum(self.sent[usize::from(port)] as u32);
        (Part::Numbered(number), self.overhead + if self.is_sealed { 0 } else { NUMBER })
    }

    /// A value of the series.
    pub fn sample(&mut self) {
        let (first, all) = (self.sent.first().copied().unwrap_or(0), self.sent.iter().sum());
        let (new, of) = (first - self.sampled[0], all - self.sampled[1]);
        self.shares.push(if of > 0 { new as f64 / of as f64 } else { f64::NAN });
        self.sampled = [first, all];
    }
}

/// What is kept of the SNR of the frames that a radio received without an error, whoever they were for.
#[derive(Debug)]
pub(super) struct SnrSamples {
    interval: Duration,
    until: Instant,
    count: u64,
    /// Sum and sum of squares \[dB\].
    sums: [f64; 2],
    /// Count and sum of this interval, and the means of those before.
    current: (u32, f64),
    means: Vec<f64>,
}

impl SnrSamples {
    pub fn new(interval: Duration) -> Self {
        let until = Instant::ZERO + interval;
        Self { interval, until, count: 0, sums: [0.0; 2], current: (0, 0.0), means: Vec::new() }
    }

    fn add(&mut self, now: Instant, level: f64) {
        while now >= self.until {
            let (count, sum) = std::mem::take(&mut self.current);
            self.means.push(if count > 0 { sum / f64::from(count) } else { f64::NAN });
            self.until += self.interval;
        }
        self.count += 1;
        self.sums = [self.sums[0] + level, self.sums[1] + level * level];
        self.current = (self.current.0 + 1, self.current.1 + level);
    }

    /// Mean and standard deviation, and the mean of each interval that is over; none if nothing came.
    pub fn result(&self) -> Option<(f64, f64, &[f64])> {
        let (n, [sum, squares]) = (self.count as f64, self.sums);
        let mean = sum / n;
        let variance = (squares / n - mean * mean).max(0.0);
        (self.count > 0).then(|| (mean, libm::sqrt(variance), &self.means[..]))
    }
}

impl World<'_> {
    /// All ports come up, as far as their radios are.
    pub(super) fn begin_selection(&mut self) {
        for end in 0..self.trunks.len() as u32 {
            if self.trunks[end as usize].select.is_none() {
                continue;
            }
            self.step_select(end, Some(Input::NeighbourAdded(PEER)));
            for port in 0..self.trunks[end as usize].members.len() as u8 {
                self.add_port(end, port);
                let member = trunk::Member(port);
                self.step_trunk(end, Some(trunk::Input::Link { member, is_up: false }));
            }
        }
        self.work_off();
    }

    fn add_port(&mut self, end: u32, port: u8) {
        let config = self.port_config(end, port);
        let Some(select) = &mut self.trunks[end as usize].select else { return };
        let count = usize::from(port) + 1;
        select.backlog.resize(select.backlog.len().max(count), 0);
        select.sent.resize(select.sent.len().max(count), 0);
        self.step_select(end, Some(Input::PortAdded(Port(port), config)));
    }

    /// What the radio of a member is like.
    fn port_config(&self, end: u32, port: u8) -> PortConfig {
        let spec = self.trunks[end as usize].spec;
        let side = end as usize % 2;
        let radio = &self.spec.nodes[spec.between[side]].radios[spec.members[usize::from(port)][side]];
        let is_last = usize::from(port) + 1 == spec.members.len();
        let thresholds = spec.select.as_ref().map(|select| select.thresholds);
        let by_rate = spec.select.is_some_and(|select| select.policy.measure != Measure::SnrThreshold);
        let dcf = radio.mac.dcf().filter(|_| by_rate);
        PortConfig {
            rank: port,
            thresholds: thresholds.filter(|_| !is_last),
            rates: dcf.map(|dcf| rates(dcf, radio)).unwrap_or_default(),
            overhead: dcf.map(overhead).unwrap_or_default(),
        }
    }

    /// A radio was switched on or off: a port comes or goes. What waits in its MAC comes back.
    pub(super) fn on_port(&mut self, radio: u32, is_up: bool) {
        for (peer, end, port) in self.stations[radio as usize].members.clone() {
            if self.trunks[end as usize].select.is_none() {
                continue;
            }
            if is_up {
                self.add_port(end, port);
            } else {
                self.step_select(end, Some(Input::PortRemoved(Port(port))));
                self.step_mac(radio, Some(MacInput::Purge(peer)));
            }
        }
    }

    pub(super) fn select_for(&mut self, end: u32, packet: PacketRef) {
        self.step_select(end, Some(Input::Packet(PEER, packet)));
    }

    pub(super) fn step_select(&mut self, end: u32, input: Option<Input<PacketRef>>) {
        let Self { trunks, alarms, pending, now, .. } = self;
        let Some(select) = &mut trunks[end as usize].select else { return };
        let wake =
            step(&mut select.selector, *now, input, |output| pending.push_back(Work::Select(end, Box::new(output))));
        alarms.arm(*now, Sleeper::Select(end), wake);
    }

    pub(super) fn on_select_output(&mut self, end: u32, output: Output<PacketRef>) {
        let state = &mut self.trunks[end as usize];
        let node = state.node;
        let Some(select) = &mut state.select else { return };
        match output {
            Output::Transmit(_, Port(port), packet) => {
                select.sent[usize::from(port)] += 1;
                let (radio, neighbour) = state.members[usize::from(port)];
                let (part, overhead) = select.part(port);
                let msdu = Msdu { packet, overhead, part };
                self.add_backlog(end, port, u64::from(packet.len));
                self.hand_down(radio, neighbour, msdu);
            }
            Output::Stripe(_, packet) => self.step_trunk(end, Some(trunk::Input::Packet(packet))),
            Output::Ways(_, _, ways) => self.leave_in(end, ways),
            Output::Beacon(_, port, beacon) => self.send_beacon(BeaconFrame { end, port, beacon }),
            Output::Drop(packet, reason) => {
                let reason = match reason {
                    SelectDrop::NoNeighbour => DropReason::NoRoute,
                    SelectDrop::Undelivered => DropReason::RetryLimit,
                    SelectDrop::QueueFull => DropReason::SelectionQueueFull,
                };
                self.drop_packet(node, packet, reason);
            }
        }
    }

    /// The trunk has those members that are left in, and all if it is chosen among them packet by packet.
    fn leave_in(&mut self, end: u32, ways: PortSet) {
        let state = &mut self.trunks[end as usize];
        let Some(select) = &mut state.select else { return };
        let before = std::mem::replace(&mut select.ways, ways);
        if select.spread == Spread::Choose {
            return;
        }
        for port in 0..state.members.len() as u8 {
            let is_up = ways.contains(Port(port));
            if is_up != before.contains(Port(port)) {
                let member = trunk::Member(port);
                self.step_trunk(end, Some(trunk::Input::Link { member, is_up }));
            }
        }
    }

    /// A beacon goes to all that hear the port: nobody acknowledges it.
    fn send_beacon(&mut self, frame: BeaconFrame) {
        let state = &self.trunks[frame.end as usize];
        let (radio, _) = state.members[usize::from(frame.port.0)];
        let overhead = state.select.as_ref().map_or(0, |select| select.overhead);
        let packet = self.packets.create_carried(self.now, Carried::Beacon(frame));
        let msdu = Msdu { packet, overhead, part: Part::Beacon };
        self.step_mac(radio, Some(MacInput::Enqueue(service::Msdu { to: Address::BROADCAST, packet: msdu })));
    }

    /// A beacon is for the other end of its trunk, on the same member; it tells how well that is heard here.
    #[inline(never)]
    pub(super) fn on_beacon(&mut self, radio: u32, msdu: Msdu, towards: Option<(u32, u8)>) {
        if let Some(BeaconFrame { end, port, beacon }) = self.packets.beacon(msdu.packet)
            && towards == Some((end ^ 1, port.0))
        {
            let level = self.medium.signal_to_noise(radio, self.stations[radio as usize].heard);
            let snr = Some(MilliDb(libm::round(level.0 * 1_000.0) as i32));
            self.step_select(end ^ 1, Some(Input::Heard { neighbour: PEER, port, snr }));
            self.step_select(end ^ 1, Some(Input::Beacon(PEER, port, beacon)));
        }
        self.packets.release(msdu.packet);
    }

    /// A numbered frame has come to `end` on `port`.
    #[inline]
    pub(super) fn tell_arrival(&mut self, end: u32, port: u8, number: SeqNum) {
        if let Some(select) = &self.trunks[end as usize].select
            && select.measure.needs_numbers()
        {
            self.step_select(end, Some(Input::Arrived(PEER, Port(port), number)));
        }
    }

    /// What chooses hears what became of a packet. One that a member could not deliver goes elsewhere: nothing is left to
    /// be done with it.
    #[inline]
    pub(super) fn tell_selection(
        &mut self,
        radio: u32,
        to: Address,
        msdu: Msdu,
        outcome: Outcome,
        attempts: u32,
    ) -> Option<Msdu> {
        match self.stations[radio as usize].member_towards(to) {
            Some((end, port)) if self.trunks[end as usize].select.is_some() => {
                self.on_selected_finished((radio, to), (end, port), msdu, outcome, attempts)
            }
            _ => Some(msdu),
        }
    }

    fn on_selected_finished(
        &mut self,
        (radio, to): (u32, Address),
        (end, port): (u32, u8),
        msdu: Msdu,
        outcome: Outcome,
        attempts: u32,
    ) -> Option<Msdu> {
        let select = self.trunks[end as usize].select.as_ref()?;
        let (is_failing_over, by_rate) = (select.is_failing_over, select.measure != Measure::SnrThreshold);
        if !matches!(msdu.part, Part::None | Part::Numbered(_) | Part::Packet(_)) {
            return Some(msdu);
        }
        let (is_delivered, was_sent) = (outcome == Outcome::Acknowledged, attempts > 0);
        if by_rate && let Some(rate) = self.stations[radio as usize].mac.rate_towards(to) {
            self.step_select(end, Some(Input::Rate(PEER, Port(port), rate)));
        }
        if was_sent && (is_failing_over || by_rate) {
            let (neighbour, port) = (PEER, Port(port));
            self.step_select(end, Some(Input::Finished { neighbour, port, attempts, is_delivered }));
        }
        if matches!(msdu.part, Part::Packet(_)) {
            return Some(msdu);
        }
        self.take_backlog(end, port, u64::from(msdu.packet.len));
        self.refill(NextHop::Trunk(end));
        if is_failing_over && matches!(outcome, Outcome::RetryLimit | Outcome::Purged) {
            self.step_select(end, Some(Input::Returned(PEER, Port(port), msdu.packet)));
            return None;
        }
        Some(msdu)
    }

    fn add_backlog(&mut self, end: u32, port: u8, bytes: u64) {
        let Some(select) = &mut self.trunks[end as usize].select else { return };
        select.backlog[usize::from(port)] += bytes;
        self.tell_backlog(end, port);
    }

    fn take_backlog(&mut self, end: u32, port: u8, bytes: u64) {
        let Some(select) = &mut self.trunks[end as usize].select else { return };
        select.backlog[usize::from(port)] = select.backlog[usize::from(port)].saturating_sub(bytes);
        self.tell_backlog(end, port);
    }

    fn tell_backlog(&mut self, end: u32, port: u8) {
        if let Some(select) = &self.trunks[end as usize].select
            && select.measure == Measure::Load
        {
            let backlog = Bytes::new(select.backlog[usize::from(port)]);
            self.step_select(end, Some(Input::Backlog(Port(port), backlog)));
        }
    }

    /// Whether one packet more finds room where it would go; none where the trunk's own queue says that.
    pub(super) fn selection_has_room(&self, end: u32) -> Option<bool> {
        let state = &self.trunks[end as usize];
        let select = state.select.as_ref().filter(|select| select.spread == Spread::Choose)?;
        let way = select.ways.iter().next();
        Some(match way {
            Some(port) => {
                let station = &self.stations[state.members[usize::from(port.0)].0 as usize];
                station.mac.queue_len() < station.queue_limit as usize
            }
            None => select.selector.queue_len(PEER) == 0,
        })
    }

    /// A frame has come without an error: with how much power is remembered, and sampled where that is asked for.
    #[inline]
    pub(super) fn sample_snr(&mut self, hearer: Hearer) {
        let station = &mut self.stations[hearer.radio as usize];
        station.heard = hearer.power();
        if let Some(samples) = &mut station.snr {
            samples.add(self.now, self.medium.signal_to_noise(hearer.radio, hearer.power()).0);
        }
    }
}

/// The rates that a radio may use, each with the SNR from which on most full frames arrive.
fn rates(dcf: &DcfConfig, radio: &spec::Radio) -> Vec<RateStep> {
    let errors = ErrorRates::new();
    let is_by_sinr = radio.radio.error == crate::phy::ErrorModel::Sinr;
    let fixed = dcf.rate_control == airbraid_mac::rate_control::RateControl::Fixed;
    let usable = dcf.data_rates().iter().filter(|rate| !fixed || rate.bit_rate == dcf.data_rate.bit_rate);
    let arrives = |modulation, milli_db: i32| {
        let level = airbraid_units::Db(f64::from(milli_db) / 1_000.0 - radio.radio.implementation_loss.0);
        !is_by_sinr || errors.success(modulation, level.to_linear(), FULL_FRAME) >= USABLE
    };
    let step = |rate: &airbraid_mac::phy::Rate| {
        // Success rises with the SNR: halve what lies between never and always.
        let (mut low, mut high) = (-30_000, 90_000);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if arrives(rate.modulation, middle) { high = middle } else { low = middle }
        }
        RateStep { from: MilliDb(high), rate: rate.bit_rate }
    };
    usable.map(step).collect()
}

/// What each frame costs beside its bits: DIFS, the mean backoff, preamble, SIFS and the acknowledgement.
fn overhead(dcf: &DcfConfig) -> Duration {
    let phy = &dcf.phy;
    let backoff = phy.slot * u64::from(dcf.cw_min) / 2;
    let preamble = phy.frame_time(dcf.data_rate, Bytes::ZERO);
    phy.difs() + backoff + preamble + phy.sifs + phy.frame_time(dcf.control_rate, airbraid_mac::dcf::ACK_SIZE)
}
