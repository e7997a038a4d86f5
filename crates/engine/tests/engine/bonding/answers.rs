//! Feedback of an end none of whose members works yet: it goes back where frames came from.

use crate::bonding::world::{Token, usual};
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{
    Bond, BondConfig, BondDropReason, BondHeader, BondInput, BondOutput, Feedback, Frame, MemberConfig, Probe, Report,
};
use airbraid_engine::{TrafficClass, step};
use airbraid_units::{Duration, Instant, SeqNum};

/// An end with eight members, on which nothing of its own was answered.
struct Deaf {
    end: Bond<Token>,
    now: Instant,
    number: u32,
}

impl Deaf {
    fn new() -> Self {
        let mut end = Bond::new(BondConfig { policy: usual(), epoch: 7 });
        let now = Instant::ZERO + Duration::from_secs(1);
        for member in (0..8).map(Member) {
            let added = BondInput::MemberAdded { member, config: MemberConfig::default() };
            step(&mut end, now, Some(added), |_| {});
        }
        Self { end, now, number: 0 }
    }

    /// The members that carry feedback within a tenth of a second of a padded probe on each of these.
    fn answers_to(&mut self, members: &[u8]) -> Vec<u8> {
        self.number += 1;
        let mut carriers = vec![];
        let mut wake = None;
        let mut tell = |end: &mut Bond<Token>, now, input| {
            let wake = step(end, now, input, |output| {
                if let BondOutput::Transmit { member, frame: Frame::Feedback(_), .. } = output {
                    carriers.push(member.0);
                }
            });
            wake.map(|wake| wake.at)
        };
        for &member in members {
            let frame = Frame::Probe(Probe { number: SeqNum(self.number), epoch: 9, padding: 100 });
            let length = frame.len();
            wake = tell(&mut self.end, self.now, Some(BondInput::Frame { member: Member(member), frame, length }));
        }
        let until = self.now + Duration::from_millis(100);
        while let Some(at) = wake.filter(|at| *at <= until) {
            self.now = at;
            wake = tell(&mut self.end, at, None);
        }
        self.now = until;
        carriers
    }
}

#[test]
fn it_goes_round_the_members_on_which_frames_came() {
    let mut end = Deaf::new();
    assert_eq!(end.answers_to(&[5]), [5]);
    assert_eq!(end.answers_to(&[2, 5]), [2], "the next in turn behind 5");
    assert_eq!(end.answers_to(&[2, 5]), [5]);
    assert_eq!(end.answers_to(&[5]), [5], "nothing came on another");
}

/// The time from one feedback frame to the next \[us\]. Meanwhile frames come on one member, each at a time after the
/// first feedback \[us\] and with a number; the last number before is 1.
fn next_feedback(frames: impl IntoIterator<Item = (u64, u32)>, asks: bool) -> u64 {
    let mut end = Bond::<Token>::new(BondConfig { policy: usual(), epoch: 7 });
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let mut told = vec![];
    let mut tell = |end: &mut Bond<Token>, now: Instant, input| {
        let wake = step(end, now, input, |output| {
            if matches!(output, BondOutput::Transmit { frame: Frame::Feedback(_), .. }) {
                told.push(now);
            }
        });
        (wake.map(|wake| wake.at), told.clone())
    };
    let probe = |number, padding| {
        let frame = Frame::Probe(Probe { number: SeqNum(number), epoch: 9, padding });
        Some(BondInput::Frame { member: Member(0), length: frame.len(), frame })
    };
    let added = BondInput::MemberAdded { member: Member(0), config: MemberConfig::default() };
    tell(&mut end, now, Some(added));
    let (mut wake, mut feedback) = tell(&mut end, now, probe(1, 100));
    while feedback.is_empty() {
        now = wake.expect("it is to answer");
        (wake, feedback) = tell(&mut end, now, None);
    }
    let first = now;
    for (us, number) in frames {
        let at = first + Duration::from_micros(us);
        while let Some(due) = wake.filter(|due| *due <= at) {
            (wake, _) = tell(&mut end, due, None);
        }
        (wake, feedback) = tell(&mut end, at, probe(number, if asks { 0 } else { 100 }));
    }
    while feedback.len() < 2 {
        now = wake.expect("it is to answer");
        (wake, feedback) = tell(&mut end, now, None);
    }
    (feedback[1] - first).as_micros()
}

#[test]
fn feedback_waits_for_a_second_frame_and_for_its_interval_and_not_for_much_that_is_missing() {
    assert_eq!(next_feedback([(1_000, 2)], false), 16_000, "15 ms alone");
    assert_eq!(next_feedback([(1_000, 2), (2_000, 3)], false), 5_000, "each 5 ms");
    assert_eq!(next_feedback([(7_000, 2), (7_500, 3)], false), 7_500, "the interval is over");
    assert_eq!(next_feedback([(1_000, 3)], false), 2_000, "2 ms where a number is newly missing");
    assert_eq!(next_feedback([(3_000, 3)], false), 3_000);
    let holes = |count: u32| (1..=count).map(|hole| (1_000, 1 + 2 * hole));
    assert_eq!([next_feedback(holes(7), false), next_feedback(holes(8), false)], [2_000, 1_000], "eight at once");
    let row = |count: u32| (1..=count).map(|step| (100, 1 + step));
    assert_eq!([next_feedback(row(255), false), next_feedback(row(256), false)], [5_000, 500], "256 after 0.5 ms");
    assert_eq!(next_feedback([(1_000, 2)], true), 1_000, "it was asked");
}

#[test]
fn frames_of_an_unknown_life_and_reports_of_nothing_are_strange_and_change_nothing() {
    let mut end = Bond::<Token>::new(BondConfig { policy: usual(), epoch: 7 });
    let now = Instant::ZERO + Duration::from_secs(1);
    let mut stale = 0;
    let mut tell = |end: &mut Bond<Token>, input| {
        step(end, now, Some(input), |output| {
            stale += u64::from(matches!(output, BondOutput::Dropped { reason: BondDropReason::Stale, .. }));
        });
        (end.status().counts.strange, stale)
    };
    let (class, member) = (TrafficClass::Bulk, Member(0));
    tell(&mut end, BondInput::MemberAdded { member, config: MemberConfig::default() });
    let come = |frame: Frame<Token>| BondInput::Frame { member, length: frame.len(), frame };
    let packet =
        Token { from: 1, id: 0, len: 100, bucket: 1, class, is_markable: false, is_acknowledgement: false, service: 0 };
    let data = Frame::Data { header: BondHeader { number: SeqNum(1), ..BondHeader::default() }, packet };
    assert_eq!(tell(&mut end, come(data)), (1, 1), "no probe has told the sender's life");
    let feedback = |epoch: u32, member: u8, newest: u32| {
        let report = Report { member: Member(member), newest: SeqNum(newest), ..Report::default() };
        let reports = [report].into_iter().collect();
        come(Frame::Feedback(Box::new(Feedback { epoch, reports, ..Feedback::default() })))
    };
    assert_eq!(tell(&mut end, feedback(8, 0, 1)), (2, 1), "of another life of this end");
    assert_eq!(tell(&mut end, feedback(7, 1, 1)), (3, 1), "of a member that is not there");
    assert_eq!(tell(&mut end, feedback(7, 0, 1_000)), (4, 1), "of a number that was not sent");
    let config = MemberConfig::default();
    assert_eq!(tell(&mut end, BondInput::MemberAdded { member: Member(16), config }), (5, 1), "one too many");
    assert_eq!(tell(&mut end, feedback(7, 0, 1)), (5, 1), "its first probe");
}
