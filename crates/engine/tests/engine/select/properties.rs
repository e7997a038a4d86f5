//! Ports that come, go and fail under traffic, against a naive account: nothing is lost that could have gone another
//! way.

use crate::select::world::{Numbered, fast, packet, slow};
use airbraid_engine::converge::select::{
    DropReason, Input, Measure, MilliDb, Neighbour, Output, Policy, Port, Selector, Spread,
};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const PEER: Neighbour = Neighbour(0);

#[derive(Clone, Debug)]
enum Deed {
    Packet(bool),
    Add(u8),
    Remove(u8),
    Hear(u8, i32),
    Deliver(u8),
    Fail(u8),
    Backlog(u8, u64),
    Wait(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let port = 0u8..4;
    prop_oneof![
        6 => any::<bool>().prop_map(Deed::Packet),
        1 => port.clone().prop_map(Deed::Add),
        1 => port.clone().prop_map(Deed::Remove),
        4 => (port.clone(), -5_000i32..45_000).prop_map(|(port, snr)| Deed::Hear(port, snr)),
        4 => port.clone().prop_map(Deed::Deliver),
        1 => port.clone().prop_map(Deed::Fail),
        1 => (port, 0u64..100_000).prop_map(|(port, bytes)| Deed::Backlog(port, bytes)),
        2 => (0u64..700).prop_map(Deed::Wait),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    use Measure::{ExpectedTime, ExpectedTransmissions, Goodput, Load, SnrThreshold};
    let measures = [SnrThreshold, ExpectedTransmissions, ExpectedTime, Load, Goodput].to_vec();
    (prop::sample::select(measures), 1u32..=1_000, 0i32..4_000, 0u32..300).prop_map(
        |(measure, weight, hysteresis, margin)| Policy {
            measure,
            weight,
            hysteresis: MilliDb(hysteresis),
            margin,
            queue: 8,
            ..Policy::default()
        },
    )
}

/// A host's view, recorded naively.
struct Host {
    selector: Selector<Numbered>,
    now: Instant,
    /// The packets in each port, its last arrival, and its failures in a row.
    ports: BTreeMap<u8, (VecDeque<Numbered>, Option<Instant>, u32)>,
    /// The ports at which frames have finished at this instant, and whether any was delivered: an A-MPDU fails once.
    finished: BTreeMap<u8, (Instant, bool)>,
    waiting: usize,
    delivered: Vec<u32>,
    dropped: Vec<u32>,
}

impl Host {
    fn alive(&self, but: Option<u8>) -> Vec<u8> {
        let is_alive = |heard: Option<Instant>, failures: u32| {
            failures < 3 && heard.is_some_and(|at| self.now.saturating_since(at) < Duration::from_secs(1))
        };
        let alive =
            self.ports.iter().filter(|(port, (_, heard, failures))| Some(**port) != but && is_alive(*heard, *failures));
        alive.map(|(port, _)| *port).collect()
    }

    /// Gives it something; `packet` says that a packet goes in, from a port that may be left out.
    fn input(&mut self, input: Option<Input<Numbered>>) {
        let (is_packet, but) = match &input {
            Some(Input::Packet(..)) => (true, None),
            Some(Input::Returned(_, port, _)) => (true, Some(port.0)),
            _ => (false, None),
        };
        let others = self.alive(but);
        let mut outputs = vec![];
        step(&mut self.selector, self.now, input, |output| outputs.push(output));
        let mut placed = 0;
        for output in outputs {
            match output {
                Output::Transmit(_, port, packet) => {
                    assert!(self.alive(None).contains(&port.0), "sent on a port that is gone or silent");
                    assert!(!is_packet || others.is_empty() || others.contains(&port.0), "back where it came from");
                    self.ports.get_mut(&port.0).unwrap().0.push_back(packet);
                    placed += 1;
                }
                Output::Drop(packet, reason) => {
                    assert!(others.is_empty(), "{reason:?}, though {others:?} could have taken it");
                    assert!(matches!(reason, DropReason::QueueFull | DropReason::Undelivered));
                    self.dropped.push(packet.id);
                    placed += 1;
                }
                Output::Ways(..) | Output::Beacon(..) => {}
                Output::Stripe(..) => panic!("it chooses"),
            }
        }
        self.waiting = self.waiting + usize::from(is_packet) - placed;
        assert_eq!(self.waiting, self.selector.queue_len(PEER));
        assert!(self.waiting == 0 || self.alive(None).is_empty(), "it waits, and there is a way");
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_that_could_go_another_way(policy in policy(), deeds in prop::collection::vec(deed(), 1..150)) {
        let selector = Selector::new(policy, Stream::new(1, 0, "select"));
        let (ports, delivered, dropped) = (BTreeMap::new(), vec![], vec![]);
        let finished = BTreeMap::new();
        let mut host = Host { selector, now: Instant::ZERO, ports, finished, waiting: 0, delivered, dropped };
        host.input(Some(Input::NeighbourAdded(PEER)));
        let mut offered = 0;
        for deed in deeds {
            match deed {
                Deed::Packet(is_bulk) => {
                    let class = if is_bulk { TrafficClass::Bulk } else { TrafficClass::RealTime };
                    host.input(Some(Input::Packet(PEER, Numbered { class, ..packet(offered) })));
                    offered += 1;
                }
                Deed::Add(port) if !host.ports.contains_key(&port) => {
                    host.ports.insert(port, (VecDeque::new(), None, 0));
                    let config = if port % 2 == 0 { fast() } else { slow() };
                    host.input(Some(Input::PortAdded(Port(port), config)));
                }
                Deed::Remove(port) => {
                    let Some((held, _, _)) = host.ports.remove(&port) else { continue };
                    host.finished.remove(&port);
                    host.input(Some(Input::PortRemoved(Port(port))));
                    for packet in held {
                        host.input(Some(Input::Returned(PEER, Port(port), packet)));
                    }
                }
                Deed::Hear(port, snr) => {
                    let Some(state) = host.ports.get_mut(&port) else { continue };
                    (state.1, state.2) = (Some(host.now), 0);
                    host.input(Some(Input::Heard { neighbour: PEER, port: Port(port), snr: Some(MilliDb(snr)) }));
                }
                Deed::Deliver(port) => {
                    let Some(state) = host.ports.get_mut(&port) else { continue };
                    let Some(packet) = state.0.pop_front() else { continue };
                    state.2 = 0;
                    host.finished.insert(port, (host.now, true));
                    host.delivered.push(packet.id);
                    // A frame that is acknowledged shows that failures are over.
                    host.input(Some(Input::Finished {
                        neighbour: PEER,
                        port: Port(port),
                        attempts: 1,
                        is_delivered: true,
                    }));
                }
                Deed::Fail(port) => {
                    let Some(state) = host.ports.get_mut(&port) else { continue };
                    let Some(packet) = state.0.pop_front() else { continue };
                    let has_finished = host.finished.get(&port).filter(|(at, _)| *at == host.now);
                    if has_finished.is_none() {
                        state.2 += 1;
                        host.finished.insert(port, (host.now, false));
                    }
                    host.input(Some(Input::Finished {
                        neighbour: PEER,
                        port: Port(port),
                        attempts: 7,
                        is_delivered: false,
                    }));
                    host.input(Some(Input::Returned(PEER, Port(port), packet)));
                }
                Deed::Backlog(port, bytes) => host.input(Some(Input::Backlog(Port(port), Bytes::new(bytes)))),
                Deed::Wait(ms) => {
                    let end = host.now + Duration::from_millis(ms);
                    while let Some(wake) = Machine::poll_timeout(&host.selector).filter(|wake| wake.at <= end) {
                        host.now = wake.at;
                        host.input(None);
                    }
                    host.now = end;
                }
                Deed::Add(_) => {}
            }
        }
        // The account: each packet is in one place.
        let held: usize = host.ports.values().map(|(held, _, _)| held.len()).sum();
        let mut settled = [host.delivered.clone(), host.dropped.clone()].concat();
        settled.sort_unstable();
        settled.dedup();
        prop_assert_eq!(settled.len(), host.delivered.len() + host.dropped.len(), "no packet twice");
        prop_assert_eq!(offered as usize, settled.len() + held + host.waiting);
    }

    /// The set over which a trunk stripes: never one that is gone, never empty while one is there.
    #[test]
    fn the_set_of_a_trunk(within in 1_000u32..4_000, deeds in prop::collection::vec(deed(), 1..100)) {
        let policy = Policy { spread: Spread::Stripe { within }, measure: Measure::ExpectedTime, ..Policy::default() };
        let selector = Selector::new(policy, Stream::new(1, 0, "select"));
        let (mut heard, mut set, mut now) = (BTreeMap::new(), vec![], Instant::ZERO);
        let mut selector = selector;
        let mut drive = |selector: &mut Selector<Numbered>, now, input| {
            step(selector, now, input, |output| {
                if let Output::Ways(_, _, ports) = output {
                    set = ports.iter().map(|port| port.0).collect::<Vec<u8>>();
                }
            });
            set.clone()
        };
        drive(&mut selector, now, Some(Input::NeighbourAdded(PEER)));
        for deed in deeds {
            let input = match deed {
                Deed::Add(port) if !heard.contains_key(&port) => {
                    heard.insert(port, None);
                    Some(Input::PortAdded(Port(port), if port % 2 == 0 { fast() } else { slow() }))
                }
                Deed::Remove(port) if heard.remove(&port).is_some() => Some(Input::PortRemoved(Port(port))),
                Deed::Hear(port, snr) if heard.contains_key(&port) => {
                    heard.insert(port, Some(now));
                    Some(Input::Heard { neighbour: PEER, port: Port(port), snr: Some(MilliDb(snr)) })
                }
                Deed::Wait(ms) => {
                    let end = now + Duration::from_millis(ms);
                    while let Some(wake) = Machine::poll_timeout(&selector).filter(|wake| wake.at <= end) {
                        now = wake.at;
                        drive(&mut selector, now, None);
                    }
                    now = end;
                    None
                }
                _ => continue,
            };
            let set = drive(&mut selector, now, input);
            let is_alive =
                |at: &Option<Instant>| at.is_some_and(|at| now.saturating_since(at) < Duration::from_secs(1));
            let alive: Vec<u8> = heard.iter().filter(|(_, at)| is_alive(at)).map(|(port, _)| *port).collect();
            prop_assert!(set.iter().all(|port| alive.contains(port)), "{:?} of {:?}", set, alive);
            prop_assert_eq!(set.is_empty(), alive.is_empty());
        }
    }
}
