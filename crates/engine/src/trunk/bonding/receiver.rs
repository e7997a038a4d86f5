//! The receiving side: what has come on each member, when to say so, and the order of what is delivered.

use super::coded::Coded;
use super::config::BondResequencer;
use super::frame::{Feedback, Header, MEMBERS_MAX, RepairHeader};
use super::memory::Work;
use super::order::Order;
use super::receive_report::Tally;
use super::restore::{Outcome, Restorer};
use crate::machine::Wake;
use crate::trunk::Member;
use airbraid_units::{Duration, Instant, SeqNum};
use arrayvec::ArrayVec;

/// Feedback goes out so often at most: 200 frames of some 100 byte a second, 1 % of a trunk of 15 Mbit/s.
const INTERVAL: Duration = Duration::from_millis(5);
/// And so often where something is newly missing.
const INTERVAL_HOLE: Duration = Duration::from_millis(2);
/// But so many frames are told of sooner: what the sender keeps for repetition should still be in its processor's cache, some
/// hundred kilobytes, when it is wanted again. Links below 600 Mbit/s bring fewer in [`INTERVAL`].
const MANY: u32 = 256;
/// And they as often as this.
const INTERVAL_MANY: Duration = Duration::from_micros(500);
/// One frame alone waits so long for a second.
const ALONE: Duration = Duration::from_millis(15);
/// Frames for which feedback does not wait.
const ENOUGH: u32 = 2;
/// A member on which nothing has come for so long is reported no more.
const QUIET: Duration = Duration::from_secs(1);

/// Feedback is never longer \[byte\], so that every path carries it: [`super::plpmtu::MIN`] less what is around a frame over IPv6.
const LONGEST: usize = 500;

/// Every so manieth feedback frame goes on a member in its turn.
const TURN: u32 = 4;

/// The members that carry a feedback frame.
pub type Carriers = ArrayVec<Member, 2>;

/// The receiving side.
#[derive(Debug)]
pub struct Receiver<P: Coded> {
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
    /// Feedback frames made, and the member that carried one in its turn last.
    sent: u32,
    turn: usize,
    /// What lost packets are restored from, of members on which symbols come.
    restorers: [Option<Box<Restorer<P>>>; MEMBERS_MAX],
    /// What they occupy, all together \[byte\], and how much may be restored.
    restorable: u64,
    work: Work,
    /// The order of what is delivered.
    pub order: Order<P>,
}

impl<P: Coded> Receiver<P> {
    /// Nothing has come.
    pub fn new(config: BondResequencer) -> Self {
        Self {
            far: None,
            tallies: std::array::from_fn(|_| Tally::default()),
            pending: 0,
            pending_frames: 0,
            pending_since: None,
            asked: None,
            has_hole: false,
            sent_at: None,
            sent: 0,
            turn: 0,
            restorers: std::array::from_fn(|_| None),
            restorable: 0,
            work: Work::new(),
            order: Order::new(config),
        }
    }

    /// Whether the far end has said which life this is.
    pub const fn is_introduced(&self) -> bool {
        self.far.is_some()
    }

    /// A question has come; says whether the far end has begun another life than the one that was known.
    pub fn on_probe(&mut self, now: Instant, came: Instant, member: Member, number: SeqNum, epoch: u32) -> bool {
        let is_other = self.far.is_some_and(|far| far != epoch);
        if self.far != Some(epoch) {
            self.far = Some(epoch);
            self.tallies = std::array::from_fn(|_| Tally::default());
        }
        self.on_number(now, came, member, number);
        self.asked = Some(member);
        is_other
    }

    /// A numbered frame has come, at `came`.
    pub fn on_number(&mut self, now: Instant, came: Instant, member: Member, number: SeqNum) {
        let tally = &mut self.tallies[usize::from(member.0)];
        tally.on_number(came, number);
        self.has_hole |= tally.has_new_hole;
        self.pending |= 1 << member.0;
        self.pending_frames += 1;
        self.pending_since.get_or_insert(now);
    }

    /// A packet has come; gives what can be restored by it.
    pub fn on_packet(&mut self, now: Instant, member: Member, header: Header, packet: &P) -> Outcome<P> {
        let place = &mut self.restorers[usize::from(member.0)];
        match place {
            None => Outcome::default(),
            Some(restorer) if restorer.is_listening(now) => {
                let before = restorer.occupied();
                let outcome = restorer.on_packet(now, header, packet, &mut self.work);
                self.restorable = self.restorable - before + restorer.occupied();
                outcome
            }
            Some(_) => Outcome { spent: take_symbols(place, &mut self.restorable), ..Outcome::default() },
        }
    }

    /// A repair symbol has come, at `came`; gives what it restores.
    pub fn on_symbol(
        &mut self,
        now: Instant,
        came: Instant,
        member: Member,
        header: RepairHeader,
        symbol: P::Symbol,
        is_short: bool,
    ) -> Outcome<P> {
        let Some(newest) = self.tallies[usize::from(member.0)].newest() else {
            return Outcome { spent: vec![symbol], failed: 1, ..Outcome::default() };
        };
        // Its low half is said: it is the number next to the newest.
        let ahead = (header.number.0 as u16).wrapping_sub(newest.0 as u16) as i16;
        let number = SeqNum(newest.0.wrapping_add_signed(i32::from(ahead)));
        self.on_number(now, came, member, number);
        let place = &mut self.restorers[usize::from(member.0)];
        if place.is_none() && is_short {
            return Outcome { spent: vec![symbol], ..Outcome::default() };
        }
        let before = place.as_ref().map_or(0, |restorer| restorer.occupied());
        let restorer = place.get_or_insert_with(|| Box::new(Restorer::new(now, number)));
        let outcome = restorer.on_symbol(now, number, header, symbol, &mut self.work);
        self.restorable = self.restorable - before + restorer.occupied();
        outcome
    }

    /// What all that it keeps occupies \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.order.occupied() + self.restorable
    }

    /// Forgets what the packets of one member are restored from, the one of which that occupies most; gives the symbols that waited, or
    /// none if nothing is kept of any.
    pub fn forget_restorer(&mut self) -> Option<Vec<P::Symbol>> {
        let Self { restorers, restorable, .. } = self;
        let most = restorers.iter_mut().filter(|place| place.is_some());
        let most = most.max_by_key(|place| place.as_ref().map_or(0, |restorer| restorer.occupied()))?;
        Some(take_symbols(most, restorable))
    }

    /// Gives up all symbols that wait: the far end has begun anew.
    pub fn restart(&mut self) -> Vec<P::Symbol> {
        let Self { restorers, restorable, .. } = self;
        restorers.iter_mut().flat_map(|place| take_symbols(place, restorable)).collect()
    }

    /// Entries of what lost packets are restored from.
    pub fn kept(&self) -> usize {
        self.restorers.iter().flatten().map(|restorer| restorer.kept()).sum()
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
        } else if self.pending_frames >= MANY {
            after(INTERVAL_MANY).max(since)
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

    /// The feedback that is due, and the members that are to carry it: the one that asks, otherwise the first of `best`, the
    /// members that work, the fastest first; news of a loss goes on two. But now and then it goes on one that has brought
    /// something, in turn: the fastest may have died, and who only listens does not notice.
    pub fn take_feedback(&mut self, now: Instant, best: &[Member]) -> Option<(Carriers, Box<Feedback>)> {
        if self.feedback_at().is_none_or(|at| at > now) {
            return None;
        }
        let epoch = self.far?;
        let mut carriers = Carriers::new();
        self.sent += 1;
        if let Some(asked) = self.asked.take() {
            carriers.push(asked);
        } else if best.is_empty() || self.sent.is_multiple_of(TURN) {
            let mut in_turn = (1..=MEMBERS_MAX).map(|step| (self.turn + step) % MEMBERS_MAX);
            if let Some(index) = in_turn.find(|index| self.pending & 1 << index != 0) {
                carriers.push(Member(index as u8));
                self.turn = index;
            }
        }
        let enough = if self.has_hole { 2 } else { 1 };
        for member in best {
            if carriers.len() < enough && !carriers.contains(member) {
                carriers.push(*member);
            }
        }
        self.pending = 0;
        self.pending_frames = 0;
        self.pending_since = None;
        self.has_hole = false;
        self.sent_at = Some(now);
        let sent_at_us = (now.as_nanos() / 1_000) as u32;
        let mut feedback = Box::new(Feedback { epoch, sent_at_us, ..Feedback::default() });
        for (index, tally) in self.tallies.iter_mut().enumerate() {
            if !tally.is_empty() && now.saturating_since(tally.newest_at()) < QUIET {
                feedback.reports.extend(tally.report(now, Member(index as u8)));
            }
        }
        feedback.shorten(LONGEST);
        Some((carriers, feedback))
    }
}

/// Forgets what a member's packets are restored from; gives the symbols that waited.
fn take_symbols<P: Coded>(place: &mut Option<Box<Restorer<P>>>, restorable: &mut u64) -> Vec<P::Symbol> {
    let Some(restorer) = place.take() else { return Vec::new() };
    *restorable -= restorer.occupied();
    restorer.into_symbols()
}
