//! The machine that selects: ports and neighbours come and go, each packet takes the way that is best now.

use super::config::{Measure, Policy, Spread};
use super::metric::Cost;
use super::port::PortConfig;
use super::service::{Beacon, DropReason, Input, Neighbour, Output, Port, PortSet};
use super::table::{Stats, Way};
use crate::machine::{Machine, Wake};
use crate::packet::{Packet, TrafficClass};
use crate::random::Stream;
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

const CLASSES: [TrafficClass; 2] = [TrafficClass::Bulk, TrafficClass::RealTime];
/// Length of the packet for which [`Output::Ways`] is computed; an actual packet counts with its own length.
const TYPICAL: Bytes = Bytes::new(1_500);

#[derive(Clone, Copy, Debug)]
enum Timer {
    /// Beacons are due on a port.
    Beacon,
    /// A way has been silent for too long and is gone.
    Silence,
}

impl Timer {
    const fn name(self) -> &'static str {
        match self {
            Self::Beacon => "select.beacon",
            Self::Silence => "select.silence",
        }
    }
}

#[derive(Debug)]
struct PortState {
    config: PortConfig,
    backlog: Bytes,
    beacon_at: Instant,
}

#[derive(Debug)]
struct NeighbourState<P> {
    ways: BTreeMap<Port, Way>,
    /// By class: the ports reported last.
    told: [PortSet; 2],
    /// Packets that wait for a way.
    queue: VecDeque<P>,
}

/// Chooses the ports for the packets of one end.
#[derive(Debug)]
pub struct Selector<P> {
    policy: Policy,
    ports: BTreeMap<Port, PortState>,
    neighbours: BTreeMap<Neighbour, NeighbourState<P>>,
    /// The random start of beacons on a port: ends that start together should not send together.
    phase: Stream,
    stats: Stats,
    outputs: VecDeque<Output<P>>,
}

impl<P: Packet> Selector<P> {
    /// A selector without ports and neighbours; `phase` spreads the beacons.
    pub fn new(policy: Policy, phase: Stream) -> Self {
        let (ports, neighbours) = (BTreeMap::new(), BTreeMap::new());
        Self { policy, ports, neighbours, phase, stats: Stats::default(), outputs: VecDeque::new() }
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Returns the state of a port towards a neighbour.
    pub fn way(&self, neighbour: Neighbour, port: Port) -> Option<&Way> {
        self.neighbours.get(&neighbour)?.ways.get(&port)
    }
    /// The ports that packets of a class take now, as reported last.
    pub fn ways(&self, neighbour: Neighbour, class: TrafficClass) -> PortSet {
        self.neighbours.get(&neighbour).map_or(PortSet::default(), |state| state.told[class as usize])
    }
    /// Packets that wait for a way to a neighbour.
    pub fn queue_len(&self, neighbour: Neighbour) -> usize {
        self.neighbours.get(&neighbour).map_or(0, |state| state.queue.len())
    }

    /// The usable ways, with the cost of a packet there; those without a cost come after all others.
    fn costs(&self, now: Instant, of: Neighbour, class: TrafficClass, len: Bytes) -> Vec<((bool, u64, u8), Port)> {
        let Some(state) = self.neighbours.get(&of) else { return vec![] };
        let metric = self.policy.measure.metric();
        let alive = state.ways.iter().filter(|(_, way)| way.is_alive(now, &self.policy));
        let mut costs: Vec<_> = alive
            .filter_map(|(&port, way)| {
                let PortState { config, backlog, .. } = self.ports.get(&port)?;
                let of = Cost { now, port: config, way, backlog: *backlog, policy: &self.policy };
                let cost = metric.cost(&of, class, len);
                Some(((cost.is_none(), cost.unwrap_or(u64::from(config.rank)), config.rank), port))
            })
            .collect();
        costs.sort();
        costs
    }

    /// The ports that a packet may take now; `but` only if there is no other.
    fn choose(
        &self,
        now: Instant,
        of: Neighbour,
        class: TrafficClass,
        len: Bytes,
        but: Option<Port>,
    ) -> (PortSet, Option<Port>) {
        let mut costs = self.costs(now, of, class, len);
        if costs.len() > 1 {
            costs.retain(|(_, port)| Some(*port) != but);
        }
        let mut set = PortSet::default();
        let Some(&((is_last_resort, best, _), mut chosen)) = costs.first() else { return (set, None) };
        match self.policy.spread {
            Spread::Stripe { within } => {
                let most = if within == u32::MAX { u64::MAX } else { best.saturating_mul(u64::from(within)) / 1_000 };
                let together = costs.iter().filter(|((resort, cost, _), _)| *resort == is_last_resort && *cost <= most);
                together.for_each(|(_, port)| set.insert(*port));
                set.insert(chosen);
            }
            Spread::Choose => {
                let present = self.ways(of, class);
                let stays = costs.iter().find(|(_, port)| present.contains(*port));
                if let Some(&((resort, cost, _), port)) = stays
                    && self.policy.measure.metric().has_margin()
                    && resort == is_last_resort
                    && best.saturating_mul(1_000)
                        >= cost.saturating_mul(1_000 - u64::from(self.policy.margin.min(1_000)))
                {
                    chosen = port;
                }
                set.insert(chosen);
            }
        }
        (set, Some(chosen))
    }

    /// Reports ways that have changed, and sends packets that waited for one.
    fn settle(&mut self, now: Instant, neighbour: Neighbour) {
        let classes = if self.policy.spread == Spread::Choose { &CLASSES[..] } else { &CLASSES[..1] };
        for &class in classes {
            let (set, _) = self.choose(now, neighbour, class, TYPICAL, None);
            let Some(state) = self.neighbours.get_mut(&neighbour) else { return };
            if state.told[class as usize] != set {
                state.told[class as usize] = set;
                self.stats.switches += 1;
                self.outputs.push_back(Output::Ways(neighbour, class, set));
            }
        }
        let has_way = !self.ways(neighbour, TrafficClass::Bulk).is_empty();
        while has_way
            && let Some(packet) = self.neighbours.get_mut(&neighbour).and_then(|state| state.queue.pop_front())
        {
            self.send(now, neighbour, packet, None);
        }
    }

    fn send(&mut self, now: Instant, neighbour: Neighbour, packet: P, but: Option<Port>) {
        if !self.neighbours.contains_key(&neighbour) {
            self.drop(packet, DropReason::NoNeighbour);
            return;
        }
        let (_, port) = self.choose(now, neighbour, packet.class(), packet.len(), but);
        let output = match (port, self.policy.spread) {
            (None, _) => return self.hold(neighbour, packet),
            (Some(port), _) if Some(port) == but => return self.drop(packet, DropReason::Undelivered),
            (Some(_), Spread::Stripe { .. }) => Output::Stripe(neighbour, packet),
            (Some(port), Spread::Choose) => Output::Transmit(neighbour, port, packet),
        };
        self.stats.sent += 1;
        self.stats.resent += u64::from(but.is_some());
        self.outputs.push_back(output);
    }

    fn hold(&mut self, neighbour: Neighbour, packet: P) {
        let Some(state) = self.neighbours.get_mut(&neighbour) else { return };
        if state.queue.len() >= self.policy.queue {
            self.drop(packet, DropReason::QueueFull);
            return;
        }
        state.queue.push_back(packet);
        self.stats.queue_max = self.stats.queue_max.max(state.queue.len());
    }

    fn drop(&mut self, packet: P, reason: DropReason) {
        self.stats.dropped += 1;
        self.outputs.push_back(Output::Drop(packet, reason));
    }

    fn way_mut(&mut self, neighbour: Neighbour, port: Port) -> Option<&mut Way> {
        let is_there = self.ports.contains_key(&port);
        self.neighbours.get_mut(&neighbour).filter(|_| is_there)?.ways.get_mut(&port)
    }

    fn on_heard(&mut self, now: Instant, neighbour: Neighbour, port: Port, snr: Option<super::MilliDb>) {
        let thresholds = self.ports.get(&port).and_then(|state| state.config.thresholds);
        let policy = self.policy;
        if let Some(way) = self.way_mut(neighbour, port) {
            way.on_heard(now, snr, thresholds, &policy);
        }
        self.settle(now, neighbour);
    }

    fn on_beacon(&mut self, now: Instant, neighbour: Neighbour, port: Port, beacon: Beacon) {
        if let Some(way) = self.way_mut(neighbour, port) {
            way.on_beacon(beacon);
        }
        self.settle(now, neighbour);
    }

    fn add_port(&mut self, now: Instant, port: Port, config: PortConfig) {
        if port.0 >= PortSet::PORTS {
            return;
        }
        let most = u32::try_from(self.policy.beacon.as_nanos().max(1)).unwrap_or(u32::MAX);
        let beacon_at = now + Duration::from_nanos(u64::from(self.phase.up_to(most - 1)) + 1);
        self.ports.insert(port, PortState { config, backlog: Bytes::ZERO, beacon_at });
        for state in self.neighbours.values_mut() {
            // What it was before tells nothing about what it is now.
            state.ways.insert(port, Way::default());
        }
        self.settle_all(now);
    }

    fn remove_port(&mut self, now: Instant, port: Port) {
        self.ports.remove(&port);
        for state in self.neighbours.values_mut() {
            state.ways.remove(&port);
        }
        self.settle_all(now);
    }

    fn settle_all(&mut self, now: Instant) {
        let all: Vec<Neighbour> = self.neighbours.keys().copied().collect();
        for neighbour in all {
            self.settle(now, neighbour);
        }
    }

    fn add_neighbour(&mut self, neighbour: Neighbour) {
        let ways = self.ports.keys().map(|port| (*port, Way::default())).collect();
        let fresh = NeighbourState { ways, told: [PortSet::default(); 2], queue: VecDeque::new() };
        self.neighbours.entry(neighbour).or_insert(fresh);
    }

    fn remove_neighbour(&mut self, neighbour: Neighbour) {
        let queue = self.neighbours.remove(&neighbour).map(|state| state.queue).unwrap_or_default();
        for packet in queue {
            self.drop(packet, DropReason::NoNeighbour);
        }
    }

    fn send_beacons(&mut self, now: Instant) {
        for (&port, state) in &mut self.ports {
            if state.beacon_at > now {
                continue;
            }
            // A host that was late sends one, not all that it has missed.
            while state.beacon_at <= now {
                state.beacon_at += self.policy.beacon.max(Duration::from_millis(1));
            }
            for (&neighbour, state) in &mut self.neighbours {
                if let Some(way) = state.ways.get_mut(&port) {
                    self.stats.beacons += 1;
                    self.outputs.push_back(Output::Beacon(neighbour, port, way.next_beacon()));
                }
            }
        }
    }

    /// The time at which the first of the ways in use will be gone, unless something is heard.
    fn silence(&self) -> Option<Instant> {
        let states = self.neighbours.values();
        let in_use = states.flat_map(|state| {
            let [bulk, real_time] = state.told;
            state.ways.iter().filter(move |(port, _)| bulk.contains(**port) || real_time.contains(**port))
        });
        in_use.filter_map(|(_, way)| way.dies(&self.policy)).min()
    }
}

impl<P: Packet> Machine for Selector<P> {
    type Input = Input<P>;
    type Output = Output<P>;

    fn handle_input(&mut self, now: Instant, input: Input<P>) {
        let policy = self.policy;
        match input {
            Input::PortAdded(port, config) => self.add_port(now, port, config),
            Input::PortRemoved(port) => self.remove_port(now, port),
            Input::NeighbourAdded(neighbour) => self.add_neighbour(neighbour),
            Input::NeighbourRemoved(neighbour) => self.remove_neighbour(neighbour),
            Input::Heard { neighbour, port, snr } => self.on_heard(now, neighbour, port, snr),
            Input::Beacon(neighbour, port, beacon) => self.on_beacon(now, neighbour, port, beacon),
            Input::Arrived(neighbour, port, number) => {
                if let Some(way) = self.way_mut(neighbour, port) {
                    way.on_arrived(number);
                }
            }
            Input::Rate(neighbour, port, rate) => {
                if let Some(way) = self.way_mut(neighbour, port) {
                    way.on_rate(now, rate);
                }
                self.settle(now, neighbour);
            }
            Input::Backlog(port, backlog) => {
                if let Some(state) = self.ports.get_mut(&port) {
                    state.backlog = backlog;
                }
                if policy.measure == Measure::Load {
                    self.settle_all(now);
                }
            }
            Input::Packet(neighbour, packet) => self.send(now, neighbour, packet, None),
            Input::Finished { neighbour, port, attempts, is_delivered } => {
                if let Some(way) = self.way_mut(neighbour, port) {
                    way.on_finished(now, attempts, is_delivered, &policy);
                }
                self.settle(now, neighbour);
            }
            Input::Returned(neighbour, port, packet) => self.send(now, neighbour, packet, Some(port)),
        }
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.silence().is_some_and(|at| at <= now) {
            self.settle_all(now);
        }
        self.send_beacons(now);
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let beacon = self.ports.values().map(|state| (state.beacon_at, Timer::Beacon)).min_by_key(|(at, _)| *at);
        let silence = self.silence().map(|at| (at, Timer::Silence));
        let (at, timer) = beacon.into_iter().chain(silence).min_by_key(|(at, _)| *at)?;
        Some(Wake { at, why: timer.name() })
    }
}
