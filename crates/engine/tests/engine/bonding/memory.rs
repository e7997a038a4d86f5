//! The memory that a peer with a key can make this end use, and the work that it costs.

use crate::bonding::world::{NOBODY, Symbol, Token, Way, World, usual};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{
    AckRange, Bond, BondConfig, BondDropReason, BondHeader, BondInput, BondOutput, Feedback, FlowSeq, Frame,
    MemberConfig, Probe, RepairHeader, Report,
};
use airbraid_engine::{TrafficClass, step};
use airbraid_units::{Bytes, Duration, Instant, SeqNum};
use proptest::prelude::*;

/// Memory of the tunnel \[byte\].
const MEMORY: u64 = 4 << 20;

/// An end, and the account of what it was given and has not given back \[byte\].
struct Greedy {
    end: Bond<Token>,
    now: Instant,
    wake: Option<Instant>,
    held: u64,
    symbols: u64,
    newest: [u32; 16],
    delivered: u64,
    dropped: u64,
}

impl Greedy {
    fn new(memory: Option<u64>) -> Self {
        let mut end = Bond::new(BondConfig { policy: usual(), epoch: 7 });
        if let Some(memory) = memory {
            end.set_memory(Bytes::new(memory));
        }
        let now = Instant::ZERO + Duration::from_secs(1);
        let mut greedy = Self { end, now, wake: None, held: 0, symbols: 0, newest: [0; 16], delivered: 0, dropped: 0 };
        for member in (0..8).map(Member) {
            greedy.step(Some(BondInput::MemberAdded { member, config: MemberConfig::default() }));
            greedy.come(member, Frame::Probe(Probe { number: SeqNum(1), epoch: 9, padding: 0 }));
            greedy.acknowledge(member, 1);
        }
        greedy
    }

    fn step(&mut self, input: Option<BondInput<Token>>) {
        let mut outputs = vec![];
        self.wake = step(&mut self.end, self.now, input, |output| outputs.push(output)).map(|wake| wake.at);
        for output in outputs {
            match output {
                BondOutput::Deliver(token) => {
                    self.delivered += 1;
                    self.held = self.held.saturating_sub(token.len);
                }
                BondOutput::Release(token) => self.held -= token.len,
                BondOutput::Dropped { packet, reason } => {
                    self.dropped += u64::from(reason == BondDropReason::Memory);
                    self.held -= packet.len;
                }
                BondOutput::Spent(symbol) => self.symbols -= length(&symbol),
                BondOutput::Transmit { member, frame, .. } => {
                    let number = match frame {
                        Frame::Data { header, .. } => header.number,
                        Frame::Repair { header, .. } => header.number,
                        Frame::Probe(probe) => probe.number,
                        _ => continue,
                    };
                    self.newest[usize::from(member.0)] = number.0;
                }
                BondOutput::Validated(_)
                | BondOutput::NotValidated(_)
                | BondOutput::PathMtu { .. }
                | BondOutput::HintWanted { .. } => {}
            }
        }
    }

    fn come(&mut self, member: Member, frame: Frame<Token>) {
        match &frame {
            Frame::Data { packet, .. } => self.held += packet.len,
            Frame::Repair { symbol, .. } => self.symbols += length(symbol),
            _ => {}
        }
        let length = frame.len();
        self.step(Some(BondInput::Frame { member, frame, length }));
    }

    fn give(&mut self, len: u64) {
        self.held += len;
        self.step(Some(BondInput::Packet(token(len))));
    }

    /// Says that the newest frame on a member has come, and `run` before it.
    fn acknowledge(&mut self, member: Member, run: u32) {
        let newest = self.newest[usize::from(member.0)];
        if newest == 0 {
            return;
        }
        let runs = [AckRange { gap: 0, len: run.clamp(1, newest) }].into_iter().collect();
        let sent_at_us = (self.now.as_nanos() / 1_000) as u32;
        let mut feedback = Feedback { epoch: 7, sent_at_us, ..Feedback::default() };
        feedback.reports.push(Report { member, newest: SeqNum(newest), age_us: 0, span: 0, span_us: 0, runs });
        self.come(member, Frame::Feedback(Box::new(feedback)));
    }

    fn wait(&mut self, us: u64) {
        let until = self.now + Duration::from_micros(us);
        while let Some(wake) = self.wake.filter(|wake| *wake <= until) {
            self.now = wake;
            self.step(None);
        }
        self.now = until;
    }

    fn occupied(&self) -> u64 {
        self.end.occupied().as_u64()
    }
}

fn length(symbol: &Symbol) -> u64 {
    symbol.iter().map(|(_, token)| token.len).sum()
}

fn token(len: u64) -> Token {
    Token {
        from: 1,
        id: 1,
        len,
        bucket: 3,
        class: TrafficClass::Bulk,
        is_markable: false,
        is_acknowledgement: false,
        service: 0,
    }
}

fn data(number: u32, place: FlowSeq, len: u64) -> Frame<Token> {
    Frame::Data { header: BondHeader { number: SeqNum(number), place }, packet: token(len) }
}

#[derive(Clone, Debug)]
enum Act {
    Data(u8, u16, u32, u64),
    Repair(u8, u8, u8, u64),
    Acknowledge(u8, u32),
    Give(u64),
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let member = 0..8u8;
    let len = prop_oneof![40..1_500u64, Just(65_535)];
    prop_oneof![
        8 => (member.clone(), 0..1_024u16, 1..2_000u32, len.clone()).prop_map(|(m, b, p, l)| Act::Data(m, b, p, l)),
        4 => (member.clone(), 1..250u8, 0..4u8, len.clone()).prop_map(|(m, s, i, l)| Act::Repair(m, s, i, l)),
        2 => (member, 1..40u32).prop_map(|(m, r)| Act::Acknowledge(m, r)),
        4 => len.prop_map(Act::Give),
        1 => (0..20_000u64).prop_map(Act::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn it_never_occupies_more_than_it_may(acts in prop::collection::vec(act(), 200..1_200)) {
        let mut greedy = Greedy::new(Some(MEMORY));
        let mut numbers = [2u32; 8];
        let mut next = |member: u8| {
            numbers[usize::from(member)] += 1;
            numbers[usize::from(member)]
        };
        for act in acts {
            match act {
                Act::Data(member, bucket, place, len) => {
                    let place = FlowSeq { bucket, number: place };
                    greedy.come(Member(member), data(next(member), place, len));
                }
                Act::Repair(member, sources, index, len) => {
                    let header = RepairHeader { number: SeqNum(next(member)), sources, index };
                    // Nothing says that symbols of one group agree.
                    let symbol = vec![(FlowSeq::default(), Token { from: NOBODY, ..token(len) })];
                    greedy.come(Member(member), Frame::Repair { header, symbol });
                }
                Act::Acknowledge(member, run) => greedy.acknowledge(Member(member), run),
                Act::Give(len) => greedy.give(len),
                Act::Wait(us) => greedy.wait(us),
            }
            prop_assert!(greedy.occupied() <= MEMORY, "{} byte", greedy.occupied());
            // What it was given and has not given back is all reckoned.
            prop_assert!(greedy.held + greedy.symbols <= MEMORY, "{} and {}", greedy.held, greedy.symbols);
        }
    }
}

/// Fills everything that a peer can fill: holes in all flows, symbols of groups that cannot be restored, and no
/// acknowledgement.
fn fill(greedy: &mut Greedy) -> u64 {
    let mut most = 0;
    for number in 3..1_500u32 {
        for member in 0..8u8 {
            let place = FlowSeq { bucket: (number % 512) as u16, number: 1 + 8 * (number / 512) + u32::from(member) };
            greedy.come(Member(member), data(2 * number, place, 65_535));
            if number.is_multiple_of(4) {
                let header = RepairHeader { number: SeqNum(2 * number + 1), sources: 250, index: 0 };
                let symbol = vec![(FlowSeq::default(), token(65_535))];
                greedy.come(Member(member), Frame::Repair { header, symbol });
            }
        }
        greedy.give(1_400);
        most = most.max(greedy.occupied());
    }
    most
}

#[test]
fn a_peer_that_fills_everything_fills_its_part() {
    let most = fill(&mut Greedy::new(Some(MEMORY)));
    let without = fill(&mut Greedy::new(None));
    println!("occupied at most {most} byte with a budget of {MEMORY}, {without} without");
    assert!(most <= MEMORY);
    // What the budget is for.
    assert!(without > 256 << 20, "{without}");
}

#[test]
fn what_does_not_fit_is_delivered_and_not_lost() {
    let mut greedy = Greedy::new(Some(MEMORY));
    for number in 1..1_000 {
        greedy.come(Member(0), data(number + 1, FlowSeq { bucket: 3, number }, 60_000));
    }
    assert!(greedy.delivered > 900, "{}", greedy.delivered);
    assert_eq!(greedy.dropped, 0);
}

#[test]
fn packets_for_a_peer_that_acknowledges_nothing_are_refused_and_counted() {
    let mut greedy = Greedy::new(Some(MEMORY / 4));
    for _ in 0..1_000 {
        greedy.give(60_000);
        greedy.wait(100);
        assert!(greedy.occupied() <= MEMORY / 4);
    }
    let counts = greedy.end.status().counts;
    assert!(greedy.dropped > 100 && counts.dropped[BondDropReason::Memory as usize] == greedy.dropped, "{counts:?}");
}

#[test]
fn a_far_place_costs_no_more_than_a_near_one() {
    // Packets of real-time class that each name a place as far ahead as may be: only the newest numbers that were
    // missed are remembered.
    let mut greedy = Greedy::new(None);
    for number in 1..200u32 {
        greedy.come(Member(0), data(number + 1, FlowSeq { bucket: 600, number: (number * 2_000) % (1 << 22) }, 40));
    }
    assert!(greedy.delivered >= 199);
    assert!(greedy.end.status().kept < 3_000, "{:?}", greedy.end.status());
}

#[test]
fn an_honest_pair_does_not_notice() {
    let ms = Duration::from_millis;
    let delivered = |memory: Option<u64>| {
        let mut world = World::new(usual(), &[Way::new(20, ms(10), 20), Way::new(10, ms(30), 0)], 5);
        if let Some(memory) = memory {
            world.ends.iter_mut().for_each(|end| end.set_memory(Bytes::new(memory)));
        }
        world.run(ms(500));
        for tick in 0..2_000 {
            world.give(0, 1_400, tick % 3, TrafficClass::Bulk);
            world.run(ms(1));
        }
        world.run(ms(500));
        world.check_once();
        world.check_order();
        world.delivered[0].len()
    };
    assert_eq!(delivered(Some(MEMORY)), delivered(None));
}

/// A symbol under this number, of a group of 250 that began 250 numbers before.
fn symbol(number: u32, len: u64) -> Frame<Token> {
    let header = RepairHeader { number: SeqNum(number), sources: 250, index: 0 };
    Frame::Repair { header, symbol: vec![(FlowSeq::default(), token(len))] }
}

#[test]
fn a_symbol_that_waits_occupies_its_length() {
    let mut greedy = Greedy::new(None);
    greedy.come(Member(0), symbol(10, 1_000));
    assert_eq!(greedy.symbols, 0, "the group began before anything was kept");
    let before = greedy.occupied();
    greedy.come(Member(0), symbol(300, 60_000));
    assert_eq!((greedy.symbols, greedy.occupied() - before), (60_000, 60_004), "with the word of its place");
    greedy.come(Member(0), symbol(301, 50_000));
    assert_eq!((greedy.symbols, greedy.occupied() - before), (110_000, 110_008));
}

#[test]
fn a_symbol_is_given_back_when_its_group_is_half_of_the_kept_numbers_behind() {
    for (newest, waiting) in [(561, 110_000), (562, 50_000)] {
        let mut greedy = Greedy::new(None);
        for (number, len) in [(10, 1_000), (300, 60_000)] {
            greedy.come(Member(0), symbol(number, len));
        }
        // The group of the second began with 50: 512 numbers before 562.
        greedy.come(Member(0), symbol(newest, 50_000));
        assert_eq!(greedy.symbols, waiting, "the newest number is {newest}");
    }
}

/// An end without members, which has this memory.
fn alone(memory: u64) -> Bond<Token> {
    let mut end = Bond::new(BondConfig { policy: usual(), epoch: 7 });
    end.set_memory(Bytes::new(memory));
    end
}

/// Gives it equal packets; returns how many it drops.
fn drops(end: &mut Bond<Token>, packets: usize) -> usize {
    let mut dropped = 0;
    for _ in 0..packets {
        step(end, Instant::ZERO, Some(BondInput::Packet(token(1_000))), |output| {
            dropped += usize::from(matches!(output, BondOutput::Dropped { .. }));
        });
    }
    dropped
}

#[test]
fn a_packet_for_which_there_is_no_space_takes_the_place_of_one_other() {
    let mut end = alone(u64::MAX);
    let empty = end.occupied().as_u64();
    drops(&mut end, 1);
    let each = end.occupied().as_u64() - empty;
    assert_eq!(drops(&mut alone(empty + 5 * each), 5), 0);
    let mut full = alone(empty + 5 * each);
    assert_eq!((drops(&mut full, 8), full.occupied().as_u64()), (3, empty + 5 * each));
}

#[test]
fn each_packet_that_waits_is_an_entry() {
    let mut end = alone(u64::MAX);
    let before = end.status().kept;
    assert_eq!((drops(&mut end, 10), end.queue_len()), (0, 10));
    assert_eq!(end.status().kept, before + 10);
}

#[test]
fn what_is_kept_for_restoring_is_counted_and_forgotten_when_memory_is_short() {
    let mut greedy = Greedy::new(None);
    // The first symbol shows that packets should be kept from then on.
    greedy.come(Member(0), symbol(10, 1_000));
    let before = greedy.end.status().kept;
    greedy.come(Member(0), symbol(300, 1_000));
    greedy.come(Member(0), symbol(301, 1_000));
    assert_eq!(greedy.end.status().kept, before + 2, "two symbols wait");
    greedy.come(Member(0), data(302, FlowSeq { bucket: 3, number: 0 }, 1_000));
    assert_eq!(greedy.end.status().kept, before + 3, "and a packet may be of use");
    assert_eq!(greedy.end.status().counts.forgotten, 0);
    let occupied = greedy.occupied();
    greedy.end.set_memory(Bytes::new(occupied));
    greedy.come(Member(0), Frame::Probe(Probe { number: SeqNum(303), epoch: 9, padding: 0 }));
    assert_eq!(greedy.end.status().counts.forgotten, 0, "all fits exactly");
    greedy.end.set_memory(Bytes::new(occupied - 1));
    greedy.come(Member(0), symbol(304, 10));
    assert_eq!((greedy.end.status().counts.forgotten, greedy.symbols), (1, 0));
}
