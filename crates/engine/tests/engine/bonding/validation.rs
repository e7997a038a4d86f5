//! Path validation: what an address gets that has only been named, and what that costs those that are honest.

use crate::bonding::world::{Token, Way, World, usual};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{
    AMPLIFICATION, AckRange, Bond, BondConfig, BondInput, BondOutput, Feedback, Frame, MemberConfig, MemberState,
    Moved, Probe, ReceivedFrame, Report,
};
use airbraid_engine::{TrafficClass, step};
use airbraid_units::{Bytes, Duration, Instant, SeqNum};
use proptest::prelude::*;

const A: Member = Member(0);
const B: Member = Member(1);
const TOKEN: [u8; 8] = *b"\x01unknown";

fn unknown(is_rebinding: bool) -> Moved {
    Moved::Unknown { token: TOKEN, is_rebinding }
}

fn packet(id: u64) -> Token {
    let (class, bucket) = (TrafficClass::Bulk, (id % 4) as u16);
    Token { from: 0, id, len: 1_400, bucket, class, is_markable: false, is_acknowledgement: false, service: 0 }
}

/// A hub with two members of an insider, who acknowledges on B at once whatever leaves on either.
struct Insider {
    hub: Bond<Token>,
    now: Instant,
    wake: Option<Instant>,
    /// By member: bytes on the wire, and the newest number.
    sent: [u64; 2],
    newest: [SeqNum; 2],
    packets: u64,
    outputs: Vec<BondOutput<Token>>,
}

impl Insider {
    fn new() -> Self {
        let hub = Bond::new(BondConfig { policy: usual(), epoch: 7 });
        let now = Instant::ZERO + Duration::from_secs(1);
        let mut insider =
            Self { hub, now, wake: None, sent: [0; 2], newest: [SeqNum(0); 2], packets: 0, outputs: vec![] };
        for member in [A, B] {
            insider.step(Some(BondInput::MemberAdded { member, config: MemberConfig::default() }));
            insider.come(member, Frame::Probe(Probe { number: SeqNum(1), epoch: 9, padding: 0 }), false);
        }
        insider
    }

    fn step(&mut self, input: Option<BondInput<Token>>) {
        let seen = self.outputs.len();
        let outputs = &mut self.outputs;
        self.wake = step(&mut self.hub, self.now, input, |output| outputs.push(output)).map(|wake| wake.at);
        for output in &self.outputs[seen..] {
            let BondOutput::Transmit { member, frame, .. } = output else { continue };
            let index = usize::from(member.0);
            self.sent[index] += (frame.len() + MemberConfig::OVERHEAD_IPV4).as_u64();
            let number = match frame {
                Frame::Data { header, .. } => header.number,
                Frame::Repair { header, .. } => header.number,
                Frame::Probe(probe) => probe.number,
                Frame::Feedback(_) | Frame::PathChallenge(_) | Frame::PathResponse(_) => continue,
            };
            self.newest[index] = number;
        }
    }

    /// A frame comes; gives how long it was.
    fn come(&mut self, member: Member, frame: Frame<Token>, is_elsewhere: bool) -> u64 {
        let length = frame.len() + MemberConfig::OVERHEAD_IPV4;
        let at = self.now;
        self.step(Some(BondInput::Frames(vec![ReceivedFrame { member, frame, length, at, is_elsewhere }])));
        length.as_u64()
    }

    /// Lets `ms` milliseconds pass; programs send 30 Mbit/s, more than one member is held for, and
    /// what has left is acknowledged on B.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            let until = self.now + Duration::from_millis(1);
            while let Some(wake) = self.wake.filter(|wake| *wake <= until) {
                self.now = wake;
                self.step(None);
            }
            self.now = until;
            for _ in 0..3 {
                self.packets += 1;
                self.step(Some(BondInput::Packet(packet(self.packets))));
            }
            if self.packets.is_multiple_of(5) {
                self.acknowledge();
            }
        }
    }

    fn acknowledge(&mut self) {
        let sent_at_us = (self.now.as_nanos() / 1_000) as u32;
        let mut feedback = Feedback { epoch: 7, sent_at_us, ..Feedback::default() };
        for (index, newest) in self.newest.into_iter().enumerate().filter(|(_, newest)| newest.0 > 0) {
            let runs = [AckRange { gap: 0, len: newest.0.min(200) }].into_iter().collect();
            feedback.reports.push(Report { member: Member(index as u8), newest, age_us: 0, span: 0, span_us: 0, runs });
        }
        self.come(B, Frame::Feedback(Box::new(feedback)), false);
    }

    fn state(&self, member: Member) -> MemberState {
        self.hub.status().members[usize::from(member.0)].state
    }
}

#[test]
fn a_victim_gets_three_times_what_came_whatever_another_member_acknowledges() {
    let mut insider = Insider::new();
    insider.run(500);
    let before = insider.sent[0];
    assert!(before > 100_000, "A carries packets: {before}");
    // One frame with the victim's address, and from then on acknowledgements by B.
    insider.step(Some(BondInput::MemberMoved { member: A, moved: unknown(true) }));
    let came = insider.come(A, Frame::Probe(Probe { number: SeqNum(2), epoch: 9, padding: 0 }), false);
    insider.run(2_900);
    let victim = insider.sent[0] - before;
    println!("victim got {victim} byte for {came}");
    assert!(victim <= AMPLIFICATION * came, "{victim} for {came}");
    assert!(victim > 0, "it was asked");
    // It never answers: the member is suspected, whatever is acknowledged.
    insider.run(2_000);
    assert!(insider.outputs.iter().any(|output| matches!(output, BondOutput::NotValidated(A))));
    assert_eq!(insider.state(A), MemberState::Suspected);
    assert!(insider.sent[0] - before <= AMPLIFICATION * came);
    // The host takes it back to where it was: it works again, at once.
    insider.step(Some(BondInput::MemberMoved { member: A, moved: Moved::Known }));
    insider.run(500);
    assert_eq!(insider.state(A), MemberState::Active);
    assert!(insider.sent[0] - before > 100_000);
}

#[test]
fn without_the_word_of_the_host_nothing_is_held_back() {
    // What the rule is for: an insider who may name any address has a flood sent there.
    let mut insider = Insider::new();
    insider.run(500);
    let before = insider.sent[0];
    insider.run(2_900);
    println!("without the rule {} byte", insider.sent[0] - before);
    assert!(insider.sent[0] - before > 500_000);
}

#[test]
fn a_token_counts_only_on_its_member_from_its_place() {
    let mut insider = Insider::new();
    insider.run(200);
    insider.step(Some(BondInput::MemberMoved { member: A, moved: unknown(true) }));
    insider.come(A, Frame::Probe(Probe { number: SeqNum(2), epoch: 9, padding: 0 }), false);
    let is_validated =
        |insider: &Insider| insider.outputs.iter().any(|output| matches!(output, BondOutput::Validated(A)));
    insider.come(B, Frame::PathResponse(TOKEN), false);
    insider.come(A, Frame::PathResponse(TOKEN), true);
    insider.come(A, Frame::PathResponse([7; 8]), false);
    assert!(!is_validated(&insider));
    insider.come(A, Frame::PathResponse(TOKEN), false);
    assert!(is_validated(&insider));
}

#[test]
fn what_comes_from_elsewhere_earns_nothing() {
    let mut insider = Insider::new();
    insider.run(200);
    let before = insider.sent[0];
    insider.step(Some(BondInput::MemberMoved { member: A, moved: unknown(false) }));
    for number in 2..200 {
        insider.come(A, Frame::Probe(Probe { number: SeqNum(number), epoch: 9, padding: 1_000 }), true);
    }
    insider.run(1_000);
    assert_eq!(insider.sent[0], before, "nothing came from there");
}

/// Bytes of packets that come in each tenth of a second of a second, and the members' states at its end. The place of
/// the only member of the second end is another after the third tenth.
fn moved(is_rebinding: bool, has_validation: bool) -> (Vec<usize>, MemberState) {
    let ms = Duration::from_millis;
    let mut world = World::new(usual(), &[Way::new(20, ms(10), 0)], 3);
    world.run(ms(500));
    let mut tenths = vec![];
    for tenth in 0..10 {
        if tenth == 3 && has_validation {
            world.step(0, Some(BondInput::MemberMoved { member: A, moved: unknown(is_rebinding) }));
        }
        let before = world.delivered[0].len();
        for _ in 0..100 {
            world.give(0, 1_400, 0, TrafficClass::Bulk);
            world.run(ms(1));
        }
        tenths.push(world.delivered[0].len() - before);
    }
    if has_validation {
        assert_eq!(world.validated[0], [A], "{tenths:?}");
    }
    assert!(world.not_validated[0].is_empty());
    (tenths, world.ends[0].status().members[0].state)
}

#[test]
fn a_rebinding_costs_a_round_trip_and_no_more() {
    let (without, _) = moved(true, false);
    let (with, state) = moved(true, true);
    println!("packets delivered by tenths of a second, without {without:?} and with a rebinding {with:?}");
    assert_eq!(state, MemberState::Active);
    // A round trip is 20 ms of 100, and what waited meanwhile follows.
    let (lost, all): (usize, usize) = (without.iter().sum::<usize>() - with.iter().sum::<usize>(), 1_000);
    assert!(lost * 20 < all, "{with:?} beside {without:?}");
    assert!(with[3] * 2 > without[3], "{with:?} beside {without:?}");
}

#[test]
fn another_address_is_measured_again_and_works() {
    let (with, state) = moved(false, true);
    println!("packets delivered by tenths of a second with another address {with:?}");
    assert_eq!(state, MemberState::Active);
    assert!(with[8] > 70, "{with:?}");
}

/// Packets of the last half second that have come, of 500: the only member begins, or its place is another, and in the
/// `late_ms` after that whatever its host sends leaves late.
fn late_at_first(has_moved: bool, late_ms: usize) -> usize {
    let ms = Duration::from_millis(1);
    let mut world = World::new(usual(), &[Way::new(100, Duration::from_micros(200), 0)], 3);
    let run = |world: &mut World, count: usize, late: usize| {
        for tick in 0..count {
            world.give(0, 60, 0, TrafficClass::Bulk);
            world.give(1, 1_400, 0, TrafficClass::Bulk);
            let since = world.now;
            world.run(ms);
            if tick < late {
                world.step(0, Some(BondInput::Late { since, until: since + ms }));
            }
        }
        world.delivered[0].len()
    };
    if has_moved {
        run(&mut world, 500, 0);
        world.step(0, Some(BondInput::MemberMoved { member: A, moved: unknown(false) }));
    }
    let before = run(&mut world, 500, late_ms);
    run(&mut world, 500, 0) - before
}

#[test]
fn a_new_path_works_however_long_its_host_is_late() {
    let cases = (0..400).step_by(5).flat_map(|late_ms| [(false, late_ms), (true, late_ms)]);
    let came = cases.map(|(has_moved, late_ms)| (has_moved, late_ms, late_at_first(has_moved, late_ms)));
    let failed: Vec<_> = came.filter(|(_, _, came)| *came < 480).collect();
    assert_eq!(
        failed,
        [],
        "whether it has moved, the time for which the host was late [ms], and the packets that came"
    );
}

#[test]
fn a_first_member_that_has_to_be_validated_begins_as_soon() {
    let first = |has_validation: bool| {
        let ms = Duration::from_millis;
        let mut world = World::new(usual(), &[Way::new(20, ms(25), 0)], 3);
        if has_validation {
            world.step(0, Some(BondInput::MemberMoved { member: A, moved: unknown(true) }));
        }
        for tick in 0..100 {
            world.give(0, 1_400, 0, TrafficClass::Bulk);
            world.run(ms(5));
            if !world.delivered[0].is_empty() {
                return tick;
            }
        }
        panic!("nothing came");
    };
    let (without, with) = (first(false), first(true));
    println!("the first packet came after {} ms without, {} ms with validation", 5 * without, 5 * with);
    assert!(with <= without + 6, "{with} {without}");
}

#[test]
fn what_left_before_the_host_could_say_so_counts() {
    let now = Instant::ZERO + Duration::from_secs(1);
    let mut end: Bond<Token> = Bond::new(BondConfig { policy: usual(), epoch: 7 });
    let mut sent = 0;
    let mut come = |end: &mut Bond<Token>, input| {
        step(end, now, Some(input), |output| {
            if let BondOutput::Transmit { frame, .. } = output {
                sent += (frame.len() + MemberConfig::OVERHEAD_IPV4).as_u64();
            }
        });
        sent
    };
    come(&mut end, BondInput::MemberAdded { member: A, config: MemberConfig::default() });
    let asked = come(&mut end, BondInput::MemberMoved { member: A, moved: unknown(true) });
    assert!(asked > 0, "it was asked at once");
    // What the host has got itself is earned, too.
    end.credit(A, Bytes::new(8));
    let came = (Bytes::new(8) + MemberConfig::OVERHEAD_IPV4).as_u64();
    while end.charge(A, Bytes::new(1)) {
        sent += (Bytes::new(1) + MemberConfig::OVERHEAD_IPV4).as_u64();
    }
    assert!(sent <= AMPLIFICATION * came && sent + 57 > AMPLIFICATION * came, "{sent} for {came}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_place_gets_more_than_three_times_what_came_from_it(
        moves in prop::collection::vec((any::<bool>(), 0..1_200u16, 0..3u8, 1..400u64), 1..12)
    ) {
        let mut insider = Insider::new();
        insider.run(100);
        let mut number = 1;
        for (index, (is_rebinding, padding, probes, ms)) in moves.into_iter().enumerate() {
            let before = insider.sent[0];
            let token = [index as u8 + 1; 8];
            let moved = Moved::Unknown { token, is_rebinding };
            insider.step(Some(BondInput::MemberMoved { member: A, moved }));
            let mut came = 0;
            for _ in 0..probes {
                number += 1;
                came += insider.come(A, Frame::Probe(Probe { number: SeqNum(number), epoch: 9, padding }), false);
                insider.run(ms);
            }
            if insider.hub.charge(A, Bytes::new(100)) {
                insider.sent[0] += 100 + MemberConfig::OVERHEAD_IPV4.as_u64();
            }
            insider.run(ms);
            prop_assert!(insider.sent[0] - before <= AMPLIFICATION * came, "{} for {came}", insider.sent[0] - before);
        }
    }
}
