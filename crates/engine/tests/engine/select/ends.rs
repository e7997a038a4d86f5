//! Two ends with two radios each, with beacons over a channel that loses some of them, and a transfer in the middle of
//! which a port is gone.

use crate::select::world::{Numbered, fast, packet, slow};
use airbraid_engine::converge::select::{Input, Measure, MilliDb, Neighbour, Output, Policy, Port, Selector};
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

const PEER: Neighbour = Neighbour(0);
/// Between two packets of the transfer, and what a port needs for one \[ms\].
const SPACING: u64 = 2;

struct Ends {
    ends: [Selector<Numbered>; 2],
    now: Instant,
    chance: Stream,
    /// Loss of beacons by port \[thousandths\], and SNR.
    loss: [u32; 2],
    snr: [i32; 2],
    /// The packets in the first end's ports; `None` if it is gone. A port that is deaf delivers nothing and does not
    /// know it.
    held: [Option<VecDeque<Numbered>>; 2],
    is_deaf: [bool; 2],
    /// Share of the first port's frames that are lost behind the other end's MAC \[thousandths\]; and how many each has
    /// delivered.
    behind: u32,
    numbers: [u32; 2],
    delivered: Vec<(Instant, u32)>,
    dropped: Vec<u32>,
}

impl Ends {
    fn new(seed: u64, policy: Policy) -> Self {
        let selector = |end| Selector::new(policy, Stream::new(seed, end, "select"));
        let mut ends = Self {
            ends: [selector(0), selector(1)],
            now: Instant::ZERO,
            chance: Stream::new(seed, 9, "channel"),
            loss: [0; 2],
            snr: [30_000, 35_000],
            held: [Some(VecDeque::new()), Some(VecDeque::new())],
            is_deaf: [false; 2],
            behind: 0,
            numbers: [0; 2],
            delivered: vec![],
            dropped: vec![],
        };
        for end in 0..2 {
            ends.input(end, Some(Input::NeighbourAdded(PEER)));
            ends.input(end, Some(Input::PortAdded(Port(0), fast())));
            ends.input(end, Some(Input::PortAdded(Port(1), slow())));
        }
        ends
    }

    fn input(&mut self, end: usize, input: Option<Input<Numbered>>) {
        let mut outputs = vec![];
        step(&mut self.ends[end], self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                Output::Beacon(_, port, beacon) => {
                    let at = usize::from(port.0);
                    let is_lost = self.is_deaf[at] || self.held[at].is_none() || self.chance.up_to(999) < self.loss[at];
                    if !is_lost {
                        let snr = Some(MilliDb(self.snr[at]));
                        self.input(1 - end, Some(Input::Heard { neighbour: PEER, port, snr }));
                        self.input(1 - end, Some(Input::Beacon(PEER, port, beacon)));
                    }
                }
                Output::Transmit(_, port, packet) => match &mut self.held[usize::from(port.0)] {
                    Some(held) => held.push_back(packet),
                    None => panic!("port {} is gone", port.0),
                },
                Output::Drop(packet, _) => self.dropped.push(packet.id),
                Output::Ways(..) | Output::Stripe(..) => {}
            }
        }
    }

    /// Timers until `end`.
    fn run(&mut self, end: Instant) {
        let next =
            |ends: &[Selector<Numbered>; 2]| (0..2).filter_map(|at| Some((ends[at].poll_timeout()?.at, at))).min();
        while let Some((at, who)) = next(&self.ends).filter(|(at, _)| *at <= end) {
            self.now = at;
            self.input(who, None);
        }
        self.now = end;
    }

    /// Each port finishes with one packet.
    fn work(&mut self) {
        for at in 0..2 {
            let port = Port(at as u8);
            let Some(packet) = self.held[at].as_mut().and_then(VecDeque::pop_front) else { continue };
            let is_delivered = !self.is_deaf[at];
            let attempts = if is_delivered { 1 } else { 7 };
            self.input(0, Some(Input::Finished { neighbour: PEER, port, attempts, is_delivered }));
            if is_delivered {
                self.delivered.push((self.now, packet.id));
                self.numbers[at] += 1;
                if at != 0 || self.chance.up_to(999) >= self.behind {
                    self.input(1, Some(Input::Arrived(PEER, port, SeqNum(self.numbers[at]))));
                }
            } else {
                self.input(0, Some(Input::Returned(PEER, port, packet)));
            }
        }
    }

    fn remove(&mut self, at: usize) {
        let held = self.held[at].take().unwrap_or_default();
        self.input(0, Some(Input::PortRemoved(Port(at as u8))));
        for packet in held {
            self.input(0, Some(Input::Returned(PEER, Port(at as u8), packet)));
        }
    }

    /// The longest time without a delivery.
    fn gap(&self) -> Duration {
        let times = self.delivered.windows(2).map(|pair| pair[1].0.saturating_since(pair[0].0));
        times.max().unwrap_or(Duration::MAX)
    }
}

/// 2000 packets; something happens in the middle, at a time of its own in each run.
fn transfer(seed: u64, what: impl Fn(&mut Ends)) -> Ends {
    let mut ends = Ends::new(seed, Policy::default());
    ends.loss = [100, 100];
    ends.run(Instant::ZERO + Duration::from_secs(1));
    let (start, middle) = (ends.now, 500 + seed * 37 % 500);
    for number in 0..2_000u32 {
        if u64::from(number) == middle {
            what(&mut ends);
        }
        ends.input(0, Some(Input::Packet(PEER, packet(number))));
        ends.run(start + Duration::from_millis(SPACING * u64::from(number + 1)));
        ends.work();
    }
    for _ in 0..100 {
        ends.work();
    }
    ends
}

/// The host tells that a port is gone: not one packet is lost, and the next is on the other port at once.
#[test]
fn a_port_that_is_removed_in_the_middle_of_a_transfer() {
    for seed in 0..100 {
        let ends = transfer(seed, |ends| ends.remove(0));
        assert_eq!((ends.delivered.len(), ends.dropped.len()), (2_000, 0));
        assert!(ends.gap() < Duration::from_millis(100), "{}", ends.gap());
    }
}

/// Nobody tells; frames are not acknowledged any more.
#[test]
fn a_port_that_falls_silent_in_the_middle_of_a_transfer() {
    for seed in 0..100 {
        let ends = transfer(seed, |ends| ends.is_deaf[0] = true);
        assert_eq!((ends.delivered.len(), ends.dropped.len()), (2_000, 0));
        assert!(ends.gap() < Duration::from_millis(100), "{}", ends.gap());
    }
}

/// While nothing is sent on the fast port it is measured, and used again as soon as it is good.
#[test]
fn beacons_keep_the_unused_port_measured() {
    let mut ends = Ends::new(1, Policy::default());
    (ends.snr[0], ends.loss[0]) = (15_000, 300);
    let second = |s: u64| Instant::ZERO + Duration::from_secs(s);
    ends.run(second(20));
    let way = ends.ends[0].way(PEER, Port(0)).unwrap();
    assert_eq!(way.snr(), Some(MilliDb(15_000)));
    assert!(ends.now.saturating_since(way.last_heard().unwrap()) < Duration::from_secs(1));
    // 30 % lost each way: 1 / 0.49; of 32 beacons each way the standard deviation is 12 % each.
    let expected = way.expected_transmissions(ends.now, &Policy::default()).unwrap();
    assert!((1_400..3_200).contains(&expected), "{expected}");
    let uses = |ends: &Ends| ends.ends[0].ways(PEER, airbraid_engine::packet::TrafficClass::Bulk);
    assert!(uses(&ends).contains(Port(1)) && !uses(&ends).contains(Port(0)));
    ends.snr[0] = 35_000;
    // From 15 to 25 of 35 dB with a weight of 0.1: seven beacons, of which three in ten are lost.
    ends.run(second(22));
    assert!(uses(&ends).contains(Port(0)));
    assert!((398..=402).contains(&(ends.ends[0].stats().beacons - 40)), "{}", ends.ends[0].stats().beacons);
}

/// Of the fast port's frames, all of them acknowledged, some are lost at the other end, whose beacons tell: within two
/// seconds the slow port has all packets, and keeps them as long as the signal is the same; at a better one the fast
/// port is tried again.
#[test]
fn what_is_lost_behind_the_mac_is_told_by_beacons() {
    let mut ends = Ends::new(1, Policy { measure: Measure::Goodput, ..Policy::default() });
    let (mut number, mut end) = (0, Instant::ZERO);
    let mut second = |ends: &mut Ends| {
        let before = ends.numbers;
        for _ in 0..500 {
            ends.input(0, Some(Input::Packet(PEER, packet(number))));
            (number, end) = (number + 1, end + Duration::from_millis(SPACING));
            ends.run(end);
            ends.work();
        }
        [0, 1].map(|at| ends.numbers[at] - before[at])
    };
    (0..2).for_each(|_| _ = second(&mut ends));
    assert_eq!(second(&mut ends), [500, 0]);
    ends.behind = 60;
    let [fast, _] = second(&mut ends);
    assert!(fast > 50, "it cannot know yet: {fast}");
    second(&mut ends);
    (0..20).for_each(|_| assert_eq!(second(&mut ends), [0, 500]));
    (ends.snr[0], ends.behind) = (33_000, 0);
    (0..2).for_each(|_| _ = second(&mut ends));
    assert_eq!(second(&mut ends), [500, 0]);
    assert!(ends.dropped.is_empty());
}
