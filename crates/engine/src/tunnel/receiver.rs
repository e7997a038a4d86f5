//! The receiving side: what has come on each member, when to say so, and the order of what is delivered.

use super::frame::{Feedback, MEMBERS_MAX};
use super::order::Order;
use super::tally::Tally;
use crate::machine::Wake;
use crate::trunk::{Member, Resequencer};
use airbraid_units::{Duration, Instant, SeqNum};

/// Feedback goes out so often at most: 200 frames of some 100 byte a second, 1 % of a trunk of 15 Mbit/s.
const INTERVAL: Duration = Duration::from_millis(5);
/// And so often where something is newly missing.
const INTERVAL_HOLE: Duration = Duration::from_millis(2);
/// One frame alone waits so long for a second.
const ALONE: Duration = Duration::from_millis(15);
/// Frames for which feedback does not wait.
const ENOUGH: u32 = 2;
/// A member on which nothing has come for so long is reported no more.
const QUIET: Duration = Duration::from_secs(1);

/// The receiving side.
#[derive(Debug)]
pub struct Receiver<P> {
    /// The far end's life.
    far: Option<u32>,
    tallies: [Tally; MEMBERS_MAX],
    /// Members on which something has come since feedback went out.
    pending: u32,
    pending_frames: u32,
    pending_since: Option<Instant>,
    /// A member on which an answer is wanted at once.
    asked: Option<Member>,
    has_hole: bool,
    sent_at: Option<Instant>,
    /// The member that carried the last feedback.
    turn: usize,
    /// The order of what is delivered.
    pub order: Order<P>,
}

impl<P> Receiver<P> {
    /// Nothing has come.
    pub fn new(config: Resequencer) -> Self {
        Self {
            far: None,
            tallies: std::array::from_fn(|_| Tally::default()),
            pending: 0,
            pending_frames: 0,
            pending_since: None,
            asked: None,
            has_hole: false,
            sent_at: None,
            turn: 0,
            order: Order::new(config),
        }
    }

    /// Whether the far end has said which life this is.
    pub const fn is_introduced(&self) -> bool {
        self.far.is_some()
    }

    /// A question has come; says whether the far end has begun a new life with it.
    pub fn on_probe(&mut self, now: Instant, member: Member, number: SeqNum, epoch: u32) -> bool {
        let is_new = self.far != Some(epoch);
        if is_new {
            self.far = Some(epoch);
            self.tallies = std::array::from_fn(|_| Tally::default());
        }
        self.on_number(now, member, number);
        self.asked = Some(member);
        is_new
    }

    /// A numbered frame has come.
    pub fn on_number(&mut self, now: Instant, member: Member, number: SeqNum) {
        let tally = &mut self.tallies[usize::from(member.0)];
        tally.on_number(now, number);
        self.has_hole |= tally.has_new_hole;
        self.pending |= 1 << member.0;
        self.pending_frames += 1;
        self.pending_since.get_or_insert(now);
    }

    /// When feedback is due.
    pub fn feedback_at(&self) -> Option<Instant> {
        let since = self.pending_since?;
        if self.asked.is_some() {
            return Some(since);
        }
        let after = |gap: Duration| self.sent_at.map_or(since, |at| at.saturating_add(gap));
        Some(if self.has_hole {
            after(INTERVAL_HOLE).max(since)
        } else if self.pending_frames >= ENOUGH {
            after(INTERVAL).max(since)
        } else {
            after(INTERVAL).max(since.saturating_add(ALONE))
        })
    }

    /// The timer of [`Self::feedback_at`] and that of what is held.
    pub fn wake(&self) -> Option<Wake> {
        let feedback = self.feedback_at().map(|at| Wake { at, why: "tunnel.feedback" });
        [feedback, self.order.wake()].into_iter().flatten().min_by_key(|wake| wake.at)
    }

    /// The feedback that is due, and the member that is to carry it: the one that asks, or in turn one that has brought
    /// something. `is_there` says which members there are.
    pub fn take_feedback(
        &mut self,
        now: Instant,
        is_there: impl Fn(Member) -> bool,
    ) -> Option<(Member, Box<Feedback>)> {
        if self.feedback_at().is_none_or(|at| at > now) {
            return None;
        }
        let epoch = self.far?;
        let in_turn = (1..=MEMBERS_MAX).map(|step| (self.turn + step) % MEMBERS_MAX);
        let mut brought = in_turn.filter(|index| self.pending & 1 << index != 0).map(|index| Member(index as u8));
        let carrier = self.asked.take().filter(|member| is_there(*member)).or_else(|| brought.find(|m| is_there(*m)));
        self.pending = 0;
        self.pending_frames = 0;
        self.pending_since = None;
        self.has_hole = false;
        self.sent_at = Some(now);
        let carrier = carrier?;
        self.turn = usize::from(carrier.0);
        let sent_at_us = (now.as_nanos() / 1_000) as u32;
        let mut feedback = Box::new(Feedback { epoch, sent_at_us, ..Feedback::default() });
        for (index, tally) in self.tallies.iter_mut().enumerate() {
            if !tally.is_empty() && now.saturating_since(tally.newest_at()) < QUIET {
                feedback.reports.extend(tally.report(now, Member(index as u8)));
            }
        }
        Some((carrier, feedback))
    }
}
