//! Transcripts of a cell: each frame with its time in microseconds, and each report to the layers above.
//!
//! A transaction takes 3100 us and 7.6 us a byte; a frame without data 1550 us. Signals arrive after 1 us.

use super::{Polled, PolledConfig, Role, WAVELAN_RATE};
use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::service::{Access, Damage, MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Packet, Stream, Wake, step};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Payload {
    id: u32,
    size: u64,
}

impl Packet for Payload {
    fn len(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

/// The fate of a frame at its receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Arrives,
    Lost,
    Damaged,
}

const DELAY: Duration = Duration::from_micros(1);

/// A master (station 0) and slaves that all hear each other.
struct Cell {
    stations: Vec<Polled<Payload>>,
    wakes: Vec<Option<Wake>>,
    now: Instant,
    /// Beginnings and ends of frames on their way, by time.
    events: BTreeMap<(Instant, bool, u32), (usize, Frame<Payload>)>,
    serial: u32,
    /// Fates of the frames to come; afterwards all arrive.
    fates: Vec<Fate>,
    /// The MSDUs that each station supplies when the MAC pulls.
    supply: Vec<Vec<Msdu<Payload>>>,
    transmitting: Vec<(Instant, Instant)>,
    text: String,
    delivered: Vec<u32>,
    outcomes: Vec<(u32, Outcome)>,
}

impl Cell {
    fn new(slaves: usize, fates: &[Fate]) -> Self {
        let config = |role| PolledConfig { invite_every: 3, ..PolledConfig::new(role) };
        let station = |index: usize| {
            let role = if index == 0 { Role::Master } else { Role::Slave };
            Polled::new(config(role), Address(index as u32), Stream::new(7, index as u64, "test"))
        };
        let stations: Vec<_> = (0..=slaves).map(station).collect();
        Self {
            wakes: stations.iter().map(airbraid_engine::Machine::poll_timeout).collect(),
            supply: vec![Vec::new(); stations.len()],
            stations,
            now: Instant::ZERO,
            events: BTreeMap::new(),
            serial: 0,
            fates: fates.iter().rev().copied().collect(),
            transmitting: Vec::new(),
            text: String::new(),
            delivered: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn give(&mut self, from: usize, to: u32, id: u32, size: u64) {
        self.supply[from].insert(0, Msdu { to: Address(to), packet: Payload { id, size } });
    }

    fn line(&mut self, what: &str) {
        let us = self.now.as_nanos() / 1_000;
        let _ = writeln!(self.text, "{us} {what}");
    }

    fn drive(&mut self, station: usize, input: Option<MacInput<Payload>>) {
        let mut outputs = Vec::new();
        let wake = step(&mut self.stations[station], self.now, input, |output| outputs.push(output));
        self.wakes[station] = wake;
        for output in outputs {
            self.carry_out(station, output);
        }
    }

    fn carry_out(&mut self, station: usize, output: MacOutput<Payload>) {
        match output {
            MacOutput::Transmit { frame, at, airtime, .. } => {
                assert_eq!(at, self.now);
                let data = frame.payload.map_or(String::new(), |packet| format!(" {}", packet.id));
                let to = if frame.to == Address::BROADCAST { "all".to_owned() } else { frame.to.0.to_string() };
                self.line(&format!("{station} {}{data} to {to}", word(frame.kind)));
                self.transmitting.push((at, at + airtime));
                self.serial += 1;
                self.events.insert((at + DELAY, true, self.serial), (station, frame));
                self.events.insert((at + airtime + DELAY, false, self.serial), (station, frame));
            }
            MacOutput::Deliver { packet, .. } => {
                self.line(&format!("{station} has {}", packet.id));
                self.delivered.push(packet.id);
            }
            MacOutput::Tune { .. } => panic!("a station of one channel retunes"),
            MacOutput::TransmitPpdu { .. }
            | MacOutput::DeliverRun { .. }
            | MacOutput::AcknowledgedRun { .. }
            | MacOutput::Listen(_)
            | MacOutput::Announce(_)
            | MacOutput::Discard { .. } => panic!("a polled station sends PPDUs"),
            MacOutput::DeliverDamaged { packet, .. } => self.line(&format!("{station} has {} damaged", packet.id)),
            MacOutput::Pull(_) => {
                let msdu = self.supply[station].pop();
                self.drive(station, Some(MacInput::Supply(msdu)));
            }
            MacOutput::Status { msdu, outcome, .. } => {
                self.line(&format!("{station} is done with {}: {outcome:?}", msdu.packet.id));
                self.outcomes.push((msdu.packet.id, outcome));
            }
        }
    }

    fn run(&mut self, until: Instant) {
        loop {
            let wake = self.wakes.iter().enumerate().filter_map(|(i, w)| Some((w.as_ref()?.at, i))).min();
            let event = self.events.first_key_value().map(|(key, _)| key.0);
            let at = wake.map(|w| w.0).into_iter().chain(event).min();
            let Some(at) = at.filter(|at| *at <= until) else { return };
            self.now = at;
            if event == Some(at) {
                let ((_, begins, _), (from, frame)) = self.events.pop_first().unwrap();
                self.arrive(begins, from, frame);
            } else if let Some((_, station)) = wake {
                self.drive(station, None);
            }
        }
    }

    fn arrive(&mut self, begins: bool, from: usize, frame: Frame<Payload>) {
        let fate = if begins { Fate::Arrives } else { self.fates.pop().unwrap_or(Fate::Arrives) };
        let idle = true;
        for station in (0..self.stations.len()).filter(|station| *station != from) {
            let mine = frame.to == Address(station as u32) || frame.to == Address::BROADCAST;
            let input = match (begins, fate, mine) {
                (true, ..) => MacInput::Busy,
                (_, Fate::Lost, _) => MacInput::ReceptionError { idle },
                (_, Fate::Damaged, true) if frame.payload.is_some() => {
                    MacInput::Damaged { frame, damage: Damage::Corrupted(9), idle }
                }
                (_, Fate::Damaged, true) => MacInput::ReceptionError { idle },
                (_, _, true) => MacInput::Received { frame, idle },
                (_, _, false) => MacInput::Overheard { frame: frame.header(), idle },
            };
            self.drive(station, Some(input));
        }
    }

    fn reads(&self, expected: &str) {
        let lines =
            |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
        let (ours, expected) = (lines(&self.text), lines(expected));
        assert_eq!(ours[..expected.len().min(ours.len())].join("\n"), expected.join("\n"));
    }
}

const fn word(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Invite => "INVITE",
        FrameKind::Join => "JOIN",
        FrameKind::PollData => "POLL",
        FrameKind::DataAck { intact: true } => "ANSWER",
        FrameKind::DataAck { intact: false } => "ANSWER (damaged)",
        _ => "DATA",
    }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_slave_joins_and_is_polled_without_pause() {
    let mut cell = Cell::new(1, &[]);
    cell.give(0, 1, 5, 1_000);
    cell.give(1, 0, 6, 100);
    cell.run(ms(16));
    cell.reads(
        "0 0 INVITE to all
         1551 1 JOIN to 0
         3102 0 POLL 5 to 1
         12253 1 has 5
         12253 1 ANSWER 6 to 0
         12253 1 is done with 6: Unknown
         14564 0 has 6
         14564 0 is done with 5: Acknowledged
         14564 0 POLL to 1",
    );
}

#[test]
fn a_lost_poll_costs_what_an_answered_one_does() {
    // INVITE and JOIN arrive, the poll does not.
    let mut cell = Cell::new(1, &[Fate::Arrives, Fate::Arrives, Fate::Lost]);
    cell.give(0, 1, 5, 1_000);
    cell.run(ms(14));
    cell.reads(
        "0 0 INVITE to all
         1551 1 JOIN to 0
         3102 0 POLL 5 to 1
         13802 0 is done with 5: RetryLimit
         13802 0 POLL to 1",
    );
    assert_eq!(cell.stations[0].stats().unanswered, 1);
}

#[test]
fn a_lost_answer_ends_the_turn_when_it_would_have_come() {
    let mut cell = Cell::new(1, &[Fate::Arrives, Fate::Arrives, Fate::Arrives, Fate::Lost]);
    cell.give(1, 0, 6, 1_000);
    cell.run(ms(14));
    cell.reads(
        "0 0 INVITE to all
         1551 1 JOIN to 0
         3102 0 POLL to 1
         4653 1 ANSWER 6 to 0
         4653 1 is done with 6: Unknown
         13804 0 POLL to 1",
    );
}

#[test]
fn what_comes_damaged_is_answered_and_told() {
    let mut cell = Cell::new(1, &[Fate::Arrives, Fate::Arrives, Fate::Damaged]);
    cell.give(0, 1, 5, 1_000);
    cell.run(ms(14));
    cell.reads(
        "0 0 INVITE to all
         1551 1 JOIN to 0
         3102 0 POLL 5 to 1
         12253 1 has 5 damaged
         12253 1 ANSWER (damaged) to 0
         13804 0 is done with 5: Damaged",
    );
}

#[test]
fn several_slaves_join_although_they_answer_at_once_and_take_turns() {
    let mut cell = Cell::new(3, &[]);
    // All three answer the first invitation; their JOINs overlap.
    cell.fates = vec![Fate::Lost, Fate::Lost, Fate::Lost, Fate::Arrives];
    cell.run(ms(400));
    let tail: Vec<&str> = cell.text.lines().rev().filter(|l| l.contains("POLL")).take(6).collect();
    let polled: Vec<&str> = tail.iter().map(|line| &line[line.len() - 1..]).collect();
    let mut first: Vec<&str> = polled[..3].to_vec();
    assert_eq!(polled[..3], polled[3..], "round robin: {tail:?}");
    first.sort_unstable();
    assert_eq!(first, ["1", "2", "3"], "all have joined");
}

#[test]
fn a_full_queue_refuses_and_a_broadcast_is_not_answered() {
    let mut cell = Cell::new(1, &[]);
    cell.stations[0].config.queue_limit = 1;
    // The broadcast is sent at once, the second waits, the third finds no room.
    for (id, to) in [(1, Address::BROADCAST), (2, Address(1)), (3, Address(1))] {
        cell.drive(0, Some(MacInput::Enqueue(Msdu { to, packet: Payload { id, size: 100 } })));
    }
    cell.run(ms(4));
    assert_eq!(cell.outcomes[..2], [(1, Outcome::Broadcast), (3, Outcome::QueueFull)]);
    assert_eq!(cell.stations[0].stats().queue_drops, 1);
}

#[test]
fn what_waits_for_a_slave_that_is_gone_is_given_up_and_nothing_else() {
    let mut cell = Cell::new(2, &[]);
    cell.fates = vec![Fate::Lost, Fate::Lost, Fate::Arrives];
    cell.run(ms(400));
    for id in 0..6 {
        let msdu = Msdu { to: Address(1 + id % 2), packet: Payload { id, size: 500 } };
        cell.drive(0, Some(MacInput::Enqueue(msdu)));
    }
    cell.drive(0, Some(MacInput::Purge(Address(1))));
    cell.run(ms(800));
    let purged: Vec<u32> = cell.outcomes.iter().filter(|of| of.1 == Outcome::Purged).map(|of| of.0).collect();
    assert!(purged.ends_with(&[2, 4]), "the first may have been on its way: {purged:?}");
    let mut all = [cell.delivered.clone(), purged].concat();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_frame_with_a_packet_is_counted_each_time_it_is_sent() {
    let mut cell = Cell::new(1, &[]);
    cell.run(ms(2));
    (0..3).for_each(|id| cell.give(0, 1, id, 500));
    cell.run(ms(100));
    assert_eq!(cell.delivered, [0, 1, 2]);
    assert_eq!(cell.stations.iter().map(|station| station.stats().data_frames).collect::<Vec<_>>(), [3, 0]);
}

#[test]
fn slaves_are_polled_in_turn_as_they_joined() {
    let mut cell = Cell::new(3, &[]);
    cell.run(ms(2_000));
    let polls: Vec<&str> = cell.text.lines().filter(|line| line.contains("POLL")).collect();
    let last: Vec<&str> = polls[polls.len() - 9..].iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    let mut order = last[..3].to_vec();
    assert_eq!((&last[3..6], &last[6..]), (&order[..], &order[..]));
    order.sort_unstable();
    assert_eq!(order, ["1", "2", "3"]);
}

/// A slave speaks in answer to its master; a master speaks by itself.
#[test]
fn only_slaves_speak_in_response() {
    let access = |role, kind, to| {
        let mut station: Polled<Payload> = Polled::new(PolledConfig::new(role), Address(1), Stream::new(1, 0, "test"));
        let frame = Frame {
            kind,
            retry: false,
            power_management: false,
            sequence: 0,
            from: Address(0),
            to,
            size: Bytes::new(40),
            rate: WAVELAN_RATE,
            nav: Duration::ZERO,
            reservation: Reservation::default(),
            payload: None,
        };
        let mut sent = None;
        let mut note = |output: MacOutput<Payload>| {
            if let MacOutput::Transmit { frame, access, .. } = output {
                sent = Some((frame.kind, access));
            }
        };
        if role == Role::Slave {
            step(&mut station, ms(1), Some(MacInput::Received { frame, idle: true }), &mut note);
            step(&mut station, ms(1), Some(MacInput::Supply(None)), &mut note);
        } else {
            step(&mut station, ms(1), None, &mut note);
        }
        sent
    };
    assert_eq!(access(Role::Slave, FrameKind::Invite, Address::BROADCAST), Some((FrameKind::Join, Access::Response)));
    let answer = FrameKind::DataAck { intact: true };
    assert_eq!(access(Role::Slave, FrameKind::PollData, Address(1)), Some((answer, Access::Response)));
    assert_eq!(access(Role::Master, FrameKind::Invite, Address(1)), Some((FrameKind::Invite, Access::Immediate)));
}

#[test]
fn what_waits_is_counted() {
    let mut cell = Cell::new(1, &[]);
    cell.run(ms(2));
    assert_eq!(cell.stations[0].queue_len(), 0);
    (0..3).for_each(|id| {
        cell.drive(0, Some(MacInput::Enqueue(Msdu { to: Address(1), packet: Payload { id, size: 500 } })))
    });
    assert_eq!(cell.stations[0].queue_len(), 3, "the invitation is on the air");
    cell.run(ms(200));
    assert_eq!((cell.stations[0].queue_len(), cell.delivered.len()), (0, 3));
}

proptest! {
    /// Once a slave has joined, only one station speaks at a time, whatever is lost; every poll's MSDU has one outcome,
    /// and every acknowledged MSDU was delivered.
    #[test]
    fn one_speaks_at_a_time_and_every_msdu_has_an_outcome(
        fates in prop::collection::vec(
            prop_oneof![3 => Just(Fate::Arrives), 1 => Just(Fate::Lost), 1 => Just(Fate::Damaged)],
            0..40,
        ),
        sizes in prop::collection::vec((any::<bool>(), 0u64..1_500), 0..20),
    ) {
        let mut cell = Cell::new(1, &[]);
        cell.run(ms(2));
        cell.fates = fates.into_iter().chain([Fate::Arrives]).collect();
        for (id, (down, size)) in sizes.iter().enumerate() {
            if *down { cell.give(0, 1, id as u32, *size) } else { cell.give(1, 0, id as u32, *size) }
        }
        cell.run(ms(1_500));
        for pair in cell.transmitting.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        for (id, (down, _)) in sizes.iter().enumerate() {
            let outcomes: Vec<Outcome> = cell.outcomes.iter().filter(|o| o.0 == id as u32).map(|o| o.1).collect();
            prop_assert_eq!(outcomes.len(), 1, "{}", id);
            prop_assert!(*down || outcomes[0] == Outcome::Unknown);
            if outcomes[0] == Outcome::Acknowledged {
                prop_assert!(cell.delivered.contains(&(id as u32)));
            }
        }
    }
}
