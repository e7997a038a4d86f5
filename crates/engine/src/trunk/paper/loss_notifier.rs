//! The sender's part in the method `fifo`: notifies the receiver of settled frames.
//!
//! Where the members report the fate of each frame (a MAC does), every header carries the distance to the oldest frame
//! that is still out; everything before it has come or is lost. Where they do not (a socket), headers only name the
//! frame that the same member carried before. A marker, a control frame with the same content, goes out only when no
//! packet carries the news: behind a loss with an empty queue, or on a member that fell silent while others went on and
//! whose last frame has an unknown fate.
//!
//! A member that loses frame after frame is given up and probed: each further frame would be a hole as long as all of
//! its retries. A probe is as long as a packet, and the first packet after it is a trial: one more loss, and it is
//! given up again.

use super::header::UNSETTLED;
use super::policy::Fifo;
use super::{FrameFate, Member};
use airbraid_units::{Instant, SeqNum};
use std::collections::VecDeque;

/// Largest number of markers until one gets through; then the receiver's longest hold takes over.
const ATTEMPTS: u32 = 3;
/// Largest number of times that the interval of unanswered probes doubles: to 800 ms by default, so that a member that
/// is back is used within a second.
const DOUBLINGS: u32 = 3;

/// A task for the sender, of [`LossNotifier::due`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Send a marker of the settled frames on this member.
    Tell(usize),
    /// Send a marker of the member's last frame on the member itself.
    Remind(usize),
    /// Probe whether the member works again.
    Probe(usize),
}

/// The notifier's state of a member.
#[derive(Clone, Debug, Default)]
struct Track {
    /// Numbers that it holds, in order; with each the oldest loss that the frame's header reports, or its own number.
    out: VecDeque<(SeqNum, SeqNum)>,
    /// Frames lost in a row.
    losses: u32,
    /// Times given up without a frame delivered between.
    deaths: u32,
    /// Probes that it did not answer.
    probes: u32,
    /// Time of its next probe while it is given up.
    probe_at: Option<Instant>,
    /// Begin of its silence behind a frame whose fate is unknown.
    unsure_since: Option<Instant>,
    /// Time since which others have carried younger frames than its last.
    passed_since: Option<Instant>,
    /// Markers sent since it fell silent.
    reminders: u32,
}

impl Track {
    /// Time of its next reminder: each waits twice as long as the one before.
    fn remind_at(&self, config: &Fifo) -> Option<Instant> {
        let since = self.unsure_since?.max(self.passed_since?);
        let is_due = self.out.is_empty() && self.reminders < ATTEMPTS;
        is_due.then(|| since.saturating_add(config.silence.saturating_mul((2 << self.reminders) - 1)))
    }
}

/// A sender's knowledge of the fates of its frames.
#[derive(Debug)]
pub struct LossNotifier {
    config: Fifo,
    tracks: Vec<Track>,
    /// Numbers that a member gave back, and that go by another or wait for one, with how often that was.
    again: Vec<(SeqNum, u32)>,
    /// Whether all members report the fates of their frames; one that once did not is not believed again.
    is_told: bool,
    /// The oldest and the newest number that were lost and of which the receiver may not know.
    untold: Option<(SeqNum, SeqNum)>,
    /// Markers sent since the last loss or report.
    attempts: u32,
    /// While a marker is under way: the member that carries it, and the number before which it reports all as settled.
    telling: Option<(usize, SeqNum)>,
}

impl LossNotifier {
    /// Nothing is out.
    pub fn new(config: Fifo, members: usize) -> Self {
        Self {
            config,
            tracks: vec![Track::default(); members],
            again: Vec::new(),
            is_told: true,
            untold: None,
            attempts: 0,
            telling: None,
        }
    }

    /// Whether a member may be given frames.
    pub fn is_alive(&self, index: usize) -> bool {
        self.tracks[index].probe_at.is_none()
    }

    /// Distance from `number`, the next to be given out, back to the oldest that may be under way.
    pub fn unsettled(&self, number: SeqNum) -> u16 {
        if !self.is_told {
            return UNSETTLED;
        }
        let oldest = self.tracks.iter().filter_map(|track| track.out.front()).map(|&(out, _)| out);
        let again = self.again.iter().map(|&(out, _)| out);
        let distance = oldest.chain(again).map(|out| number.distance_from(out)).max().unwrap_or(0);
        u16::try_from(distance).unwrap_or(UNSETTLED)
    }

    /// A member takes the frame `number`, whose header carries the result of [`LossNotifier::unsettled`].
    pub fn on_given(&mut self, now: Instant, index: usize, number: SeqNum, unsettled: u16) {
        // The header tells, unless the frame is lost.
        let tells = self.untold.map_or(number, |(first, _)| first);
        if let Some(settled) = settled(number, unsettled) {
            self.has_told(settled);
        }
        for (other, track) in self.tracks.iter_mut().enumerate() {
            if other == index {
                let out = std::mem::take(&mut track.out);
                *track = Track { out, losses: track.losses, deaths: track.deaths, ..Track::default() };
                track.out.push_back((number, tells));
            } else if track.unsure_since.is_some() || !track.out.is_empty() {
                track.passed_since.get_or_insert(now);
            }
        }
    }

    /// A member has finished with the frame of that number, or with its first. Returns whether that was one loss too
    /// many and it is given up.
    pub fn on_finished(
        &mut self,
        now: Instant,
        (member, number): (Member, Option<SeqNum>),
        outcome: FrameFate,
    ) -> bool {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return false };
        let place_again = self.again.iter().position(|(out, _)| Some(*out) == number);
        if let Some(place) = place_again.filter(|_| outcome == FrameFate::Delivered) {
            self.again.remove(place);
            (track.losses, track.deaths) = (0, 0);
            return false;
        }
        let place = number.map_or(Some(0), |number| track.out.iter().position(|(out, _)| *out == number));
        let Some((number, tells)) = place.and_then(|place| track.out.remove(place)) else { return false };
        match outcome {
            FrameFate::Delivered => (track.losses, track.deaths) = (0, 0),
            FrameFate::Lost => {
                track.losses += 1;
                self.note_loss(tells, number);
                return self.give_up_if_dead(now, usize::from(member.0));
            }
            FrameFate::Unknown => {
                self.is_told = false;
                track.unsure_since = Some(now);
            }
        }
        false
    }

    /// A member gives back the packet of that number. Returns whether it is to go by another, and whether that was one
    /// loss too many of the member.
    pub fn on_returned(&mut self, now: Instant, member: Member, number: SeqNum) -> (bool, bool) {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return (false, false) };
        track.losses += 1;
        let place = track.out.iter().position(|(out, _)| *out == number);
        let tells = place.and_then(|place| track.out.remove(place)).map_or(number, |(_, tells)| tells);
        let known = self.again.iter().position(|(out, _)| *out == number);
        let times = known.map_or(0, |known| self.again.swap_remove(known).1);
        let goes_on = times < self.config.resends;
        if goes_on {
            self.again.push((number, times + 1));
        } else {
            self.note_loss(tells, number);
        }
        (goes_on, self.give_up_if_dead(now, usize::from(member.0)))
    }

    /// A number is lost for good, and with it the header that would have told of the losses from `tells` on.
    fn note_loss(&mut self, tells: SeqNum, number: SeqNum) {
        self.attempts = 0;
        let (first, last) = self.untold.unwrap_or((tells, number));
        let first = if tells.is_before(first) { tells } else { first };
        self.untold = Some((first, if last.is_before(number) { number } else { last }));
    }

    /// A member that loses frame after frame is given up; but never the last.
    fn give_up_if_dead(&mut self, now: Instant, index: usize) -> bool {
        let others_alive = (0..self.tracks.len()).any(|other| other != index && self.is_alive(other));
        let track = &mut self.tracks[index];
        // One that was just brought back by a probe is on probation.
        let is_dead = track.losses >= self.config.dead_after || track.deaths > 0;
        let dies = self.config.dead_after > 0 && is_dead && others_alive && track.probe_at.is_none();
        if dies {
            track.deaths += 1;
            track.probe_at = Some(now.saturating_add(self.config.probe));
        }
        dies
    }

    /// A marker has left a member.
    pub fn on_marker_finished(&mut self, now: Instant, member: Member, outcome: FrameFate) {
        let Some(track) = self.tracks.get_mut(usize::from(member.0)) else { return };
        if track.probe_at.is_some() {
            match outcome {
                // It works again.
                FrameFate::Delivered => {
                    track.probe_at = None;
                    track.losses = 0;
                    track.probes = 0;
                }
                _ => {
                    let wait = self.config.probe.saturating_mul(1 << track.probes.min(DOUBLINGS));
                    track.probes += 1;
                    track.probe_at = Some(now.saturating_add(wait));
                }
            }
        }
        if let Some((carrier, settled)) = self.telling
            && carrier == usize::from(member.0)
        {
            self.telling = None;
            if outcome != FrameFate::Lost {
                self.has_told(settled);
            }
        }
    }

    /// The task that is due now, `number` being the next to be given out; the caller does it before the next call.
    pub fn due(&mut self, now: Instant, number: SeqNum, is_up: impl Fn(usize) -> bool) -> Option<Due> {
        for index in 0..self.tracks.len() {
            if self.tracks[index].probe_at.is_some_and(|at| at <= now) {
                // Dated again when the marker has left.
                self.tracks[index].probe_at = Some(Instant::MAX);
                return Some(Due::Probe(index));
            }
            if self.tracks[index].remind_at(&self.config).is_some_and(|at| at <= now) {
                self.tracks[index].reminders += 1;
                return Some(Due::Remind(index));
            }
        }
        let (first, _) = self.untold?;
        let settled = settled(number, self.unsettled(number))?;
        // Where nothing younger was given out, nothing waits for it.
        let matters = first.is_before(settled) && first.next() != number;
        if !matters || self.telling.is_some() || self.attempts == ATTEMPTS {
            return None;
        }
        let index = self.idle_member(is_up)?;
        self.attempts += 1;
        self.telling = Some((index, settled));
        Some(Due::Tell(index))
    }

    /// The receiver knows, or will know, that everything before `settled` has come or is lost.
    fn has_told(&mut self, settled: SeqNum) {
        self.untold = match self.untold {
            Some((_, last)) if last.is_before(settled) => None,
            // The rest is settled later, and takes another marker.
            Some((first, last)) if first.is_before(settled) => {
                self.attempts = 0;
                Some((settled, last))
            }
            untold => untold,
        };
    }

    pub fn wake_at(&self) -> Option<Instant> {
        let times = self.tracks.iter().flat_map(|track| [track.probe_at, track.remind_at(&self.config)]);
        times.flatten().filter(|&at| at != Instant::MAX).min()
    }

    /// An idle working member, preferably one that has just delivered; `None` if all are busy or given up.
    fn idle_member(&self, is_up: impl Fn(usize) -> bool) -> Option<usize> {
        let is_idle = |&index: &usize| is_up(index) && self.is_alive(index) && self.tracks[index].out.is_empty();
        (0..self.tracks.len()).filter(is_idle).min_by_key(|&index| self.tracks[index].losses)
    }
}

/// The number before which a header or marker reports everything as settled.
fn settled(number: SeqNum, unsettled: u16) -> Option<SeqNum> {
    (unsettled != UNSETTLED).then(|| SeqNum(number.0.wrapping_sub(u32::from(unsettled))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    const MS: Duration = Duration::from_millis(1);
    const ALL: fn(usize) -> bool = |_| true;

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Two members; one is given up after two losses in a row.
    fn notifier() -> LossNotifier {
        LossNotifier::new(Fifo { silence: MS * 50, dead_after: 2, probe: MS * 100, resends: 0 }, 2)
    }

    /// A member carries a frame; returns whether it is given up.
    fn carry(notifier: &mut LossNotifier, ms: u64, index: usize, number: u32, fate: FrameFate) -> bool {
        let number = SeqNum(number);
        let unsettled = notifier.unsettled(number);
        notifier.on_given(at(ms), index, number, unsettled);
        notifier.on_finished(at(ms), (Member(index as u8), None), fate)
    }

    #[test]
    fn a_distance_goes_back_to_the_oldest_frame_that_is_out() {
        let mut notifier = notifier();
        assert_eq!(notifier.unsettled(SeqNum(5)), 0);
        notifier.on_given(at(0), 0, SeqNum(5), 0);
        notifier.on_given(at(0), 1, SeqNum(6), 1);
        notifier.on_given(at(0), 1, SeqNum(7), 2);
        assert_eq!(notifier.unsettled(SeqNum(8)), 3);
        notifier.on_finished(at(1), (Member(0), None), FrameFate::Delivered);
        assert_eq!(notifier.unsettled(SeqNum(8)), 2);
        notifier.on_finished(at(1), (Member(1), None), FrameFate::Unknown);
        assert_eq!(notifier.unsettled(SeqNum(8)), UNSETTLED, "a member that tells no fates is not believed again");
    }

    #[test]
    fn a_frame_that_is_settled_before_older_ones_leaves_them_out() {
        let mut notifier = notifier();
        for number in 5..8 {
            notifier.on_given(at(0), 0, SeqNum(number), (number - 5) as u16);
        }
        let settled = |notifier: &mut LossNotifier, number| {
            notifier.on_finished(at(1), (Member(0), Some(SeqNum(number))), FrameFate::Delivered);
            notifier.unsettled(SeqNum(8))
        };
        assert_eq!((settled(&mut notifier, 6), settled(&mut notifier, 6)), (3, 3), "5 is out, and 6 is settled once");
        assert_eq!((settled(&mut notifier, 5), settled(&mut notifier, 7)), (1, 0));
    }

    #[test]
    fn a_loss_with_younger_frames_behind_it_is_told_once() {
        let mut notifier = notifier();
        carry(&mut notifier, 0, 0, 1, FrameFate::Lost);
        assert_eq!(notifier.due(at(0), SeqNum(2), ALL), None, "nothing waits behind it");
        notifier.on_given(at(0), 1, SeqNum(2), 0);
        notifier.on_finished(at(0), (Member(1), None), FrameFate::Lost);
        carry(&mut notifier, 1, 0, 3, FrameFate::Delivered);
        assert_eq!(notifier.due(at(2), SeqNum(4), ALL), None, "the header of 3 has told");
        // The header that would tell is lost itself.
        carry(&mut notifier, 3, 0, 4, FrameFate::Lost);
        carry(&mut notifier, 3, 1, 5, FrameFate::Lost);
        assert_eq!(notifier.due(at(4), SeqNum(6), ALL), Some(Due::Tell(0)));
        assert_eq!(notifier.due(at(4), SeqNum(6), ALL), None, "it is under way");
        notifier.on_marker_finished(at(5), Member(0), FrameFate::Delivered);
        assert_eq!(notifier.due(at(5), SeqNum(6), ALL), None);
        notifier.on_given(at(6), 1, SeqNum(6), 0);
        notifier.on_finished(at(6), (Member(1), None), FrameFate::Delivered);
        assert_eq!((notifier.due(at(7), SeqNum(7), ALL), notifier.untold), (None, None));
    }

    #[test]
    fn three_markers_that_are_lost_are_enough() {
        let mut notifier = notifier();
        carry(&mut notifier, 0, 0, 1, FrameFate::Lost);
        carry(&mut notifier, 0, 1, 2, FrameFate::Lost);
        for _ in 0..3 {
            assert_eq!(notifier.due(at(1), SeqNum(3), ALL), Some(Due::Tell(0)));
            notifier.on_marker_finished(at(1), Member(0), FrameFate::Lost);
        }
        assert_eq!(notifier.due(at(1), SeqNum(3), ALL), None);
    }

    #[test]
    fn a_member_that_a_probe_has_brought_back_is_on_probation_until_it_delivers() {
        let mut notifier = notifier();
        assert!(!carry(&mut notifier, 0, 0, 1, FrameFate::Lost));
        assert!(carry(&mut notifier, 0, 0, 2, FrameFate::Lost), "two in a row");
        assert!(!notifier.is_alive(0) && notifier.is_alive(1));
        // Unanswered probes come at growing intervals, up to eight times the first.
        for (due, answered) in [(100, 110), (210, 210), (410, 410), (810, 810), (1_610, 1_610)] {
            assert_eq!(notifier.wake_at(), Some(at(due)));
            assert_eq!(notifier.due(at(due), SeqNum(3), ALL), Some(Due::Probe(0)));
            notifier.on_marker_finished(at(answered), Member(0), FrameFate::Lost);
        }
        assert_eq!(notifier.due(at(2_410), SeqNum(3), ALL), Some(Due::Probe(0)));
        notifier.on_marker_finished(at(2_410), Member(0), FrameFate::Delivered);
        assert!(notifier.is_alive(0));
        assert!(carry(&mut notifier, 2_411, 0, 3, FrameFate::Lost), "one more loss is one too many");
        notifier.due(at(2_511), SeqNum(4), ALL);
        notifier.on_marker_finished(at(2_511), Member(0), FrameFate::Delivered);
        carry(&mut notifier, 2_512, 0, 4, FrameFate::Delivered);
        assert!(!carry(&mut notifier, 2_513, 0, 5, FrameFate::Lost), "it has delivered");
    }

    #[test]
    fn the_last_member_is_never_given_up() {
        let mut notifier = notifier();
        for (index, number) in [(0, 1), (0, 2), (1, 3), (1, 4), (1, 5)] {
            carry(&mut notifier, 0, index, number, FrameFate::Lost);
        }
        assert!(!notifier.is_alive(0) && notifier.is_alive(1));
    }

    #[test]
    fn a_silent_member_behind_an_unknown_fate_is_reminded_three_times_while_others_go_on() {
        let mut notifier = notifier();
        carry(&mut notifier, 0, 0, 1, FrameFate::Unknown);
        assert_eq!(notifier.wake_at(), None, "nothing younger was sent");
        carry(&mut notifier, 10, 1, 2, FrameFate::Delivered);
        // 50 ms of silence, then twice and four times as long.
        for due in [60, 160, 360] {
            assert_eq!(notifier.wake_at(), Some(at(due)));
            assert_eq!(notifier.due(at(due), SeqNum(3), ALL), Some(Due::Remind(0)));
        }
        assert_eq!(notifier.wake_at(), None);
    }
}
