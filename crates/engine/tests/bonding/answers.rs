//! Feedback of an end none of whose members works yet: it goes back where frames came from.

use crate::world::{Token, usual};
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{Bond, BondConfig, BondInput, BondOutput, Frame, MemberConfig, Probe};
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
