//! The receiving side of a bond: arrivals on each member, their feedback, and the order of delivery.

use super::coded::Coded;
use super::config::BondResequencer;
use super::frame::{BondHeader, Feedback, MEMBERS_MAX, Probe, RUNS_MAX, RepairHeader};
use super::memory::Work;
use super::order::Order;
use super::receive_report::ReceiveReport;
use super::restore::{RestoreOutcome, Restorer};
use crate::machine::Wake;
use crate::trunk::Member;
use airbraid_units::{Duration, Instant, SeqNum};

/// Shortest interval of feedback: 200 frames of some 100 byte a second are 1 % of a bond of 15 Mbit/s.
const INTERVAL: Duration = Duration::from_millis(5);
/// The same where a number is newly missing, chosen: little beside most round trips.
const INTERVAL_HOLE: Duration = Duration::from_millis(2);
/// Number of new gaps of a member that are reported at once: a report tells of [`RUNS_MAX`], so each is told twice.
const HOLES_MAX: usize = RUNS_MAX / 2;
/// Number of frames that are reported sooner: the packets that the sender keeps should still be in its processor's
/// cache, some hundred kilobytes, when they are settled. Links below 600 Mbit/s bring fewer in [`INTERVAL`].
const MANY: u32 = 256;
/// Shortest interval of feedback after that many frames: 256 full frames at 6 Gbit/s.
const INTERVAL_MANY: Duration = Duration::from_micros(500);
/// Time that a single frame waits for a second one: below the target of the queue.
const ALONE: Duration = Duration::from_millis(15);
/// Frames for which feedback does not wait: as of delayed acknowledgements (RFC 9293, section 3.8.6.3).
const ENOUGH: u32 = 2;
/// Silence after which a member is no longer reported: arrivals are reported for 400 ms.
const QUIET: Duration = Duration::from_secs(1);

/// Largest length of feedback \[byte\], which every path carries: [`super::plpmtu::MIN`] less the headers around a
/// frame over IPv6.
const LONGEST: usize = 500;

/// One of this many feedback frames goes on the next member in turn, chosen: 50 of 200 a second.
const TURN: u32 = 4;

#[derive(Debug)]
pub struct BondReceiver<P: Coded> {
    /// The far end's life.
    far: Option<u32>,
    reports: [ReceiveReport; MEMBERS_MAX],
    /// Members with arrivals since the last feedback.
    pending: u32,
    pending_frames: u32,
    pending_since: Option<Instant>,
    /// A member on which an answer is wanted at once.
    asked: Option<Member>,
    /// Most gaps of a member since the last feedback.
    holes: usize,
    sent_at: Option<Instant>,
    /// Number of feedback frames, and the member that carried the last one in turn.
    sent: u32,
    turn: usize,
    /// Kept packets and symbols of members on which symbols come.
    restorers: [Option<Box<Restorer<P>>>; MEMBERS_MAX],
    /// Memory of them all \[byte\].
    restorable: u64,
    work: Work,
    /// The order of delivery.
    pub order: Order<P>,
}

impl<P: Coded> BondReceiver<P> {
    /// A receiver without any frame.
    pub fn new(config: BondResequencer) -> Self {
        Self {
            far: None,
            reports: std::array::from_fn(|_| ReceiveReport::default()),
            pending: 0,
            pending_frames: 0,
            pending_since: None,
            asked: None,
            holes: 0,
            sent_at: None,
            sent: 0,
            turn: 0,
            restorers: std::array::from_fn(|_| None),
            restorable: 0,
            work: Work::new(),
            order: Order::new(config),
        }
    }

    /// Whether the far end's life is known.
    pub const fn is_introduced(&self) -> bool {
        self.far.is_some()
    }

    /// Handles a probe; returns whether the far end has begun another life than the known one.
    pub fn on_probe(&mut self, now: Instant, came: Instant, member: Member, probe: &Probe) -> bool {
        let is_other = self.far.is_some_and(|far| far != probe.epoch);
        if self.far != Some(probe.epoch) {
            self.far = Some(probe.epoch);
            self.reports = std::array::from_fn(|_| ReceiveReport::default());
        }
        self.note(now, came, member, probe.number, probe.padding > 0);
        if probe.padding == 0 {
            self.asked = Some(member);
        }
        is_other
    }

    /// Notes a numbered frame that came at `came`.
    pub fn on_number(&mut self, now: Instant, came: Instant, member: Member, number: SeqNum) {
        self.note(now, came, member, number, false);
    }

    fn note(&mut self, now: Instant, came: Instant, member: Member, number: SeqNum, is_padded: bool) {
        let report = &mut self.reports[usize::from(member.0)];
        report.on_number(came, number, is_padded);
        self.holes = self.holes.max(report.new_holes);
        self.pending |= 1 << member.0;
        self.pending_frames += 1;
        self.pending_since.get_or_insert(now);
    }

    /// Handles a packet; returns the packets that it lets restore.
    pub fn on_packet(&mut self, now: Instant, member: Member, header: BondHeader, packet: &P) -> RestoreOutcome<P> {
        let place = &mut self.restorers[usize::from(member.0)];
        match place {
            None => RestoreOutcome::default(),
            Some(restorer) if restorer.is_listening(now) => {
                let before = restorer.occupied();
                let outcome = restorer.on_packet(now, header, packet, &mut self.work);
                self.restorable = self.restorable - before + restorer.occupied();
                outcome
            }
            Some(_) => RestoreOutcome { spent: take_symbols(place, &mut self.restorable), ..RestoreOutcome::default() },
        }
    }

    /// Handles a repair symbol that came at `came`; returns the packets that it restores.
    pub fn on_symbol(
        &mut self,
        now: Instant,
        came: Instant,
        member: Member,
        header: RepairHeader,
        symbol: P::Symbol,
        is_short: bool,
    ) -> RestoreOutcome<P> {
        let Some(newest) = self.reports[usize::from(member.0)].newest() else {
            return RestoreOutcome { spent: vec![symbol], failed: 1, ..RestoreOutcome::default() };
        };
        // The frame has the low half of its number: the number is the one nearest to the newest.
        let ahead = (header.number.0 as u16).wrapping_sub(newest.0 as u16) as i16;
        let number = SeqNum(newest.0.wrapping_add_signed(i32::from(ahead)));
        self.on_number(now, came, member, number);
        let place = &mut self.restorers[usize::from(member.0)];
        if place.is_none() && is_short {
            return RestoreOutcome { spent: vec![symbol], ..RestoreOutcome::default() };
        }
        let before = place.as_ref().map_or(0, |restorer| restorer.occupied());
        let restorer = place.get_or_insert_with(|| Box::new(Restorer::new(now, number)));
        let outcome = restorer.on_symbol(now, number, header, symbol, &mut self.work);
        self.restorable = self.restorable - before + restorer.occupied();
        outcome
    }

    /// Memory of waiting and kept packets \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.order.occupied() + self.restorable
    }

    /// Forgets the kept packets of the member with the largest memory; returns the symbols that waited, or `None` if no
    /// member has any.
    pub fn forget_restorer(&mut self) -> Option<Vec<P::Symbol>> {
        let Self { restorers, restorable, .. } = self;
        let most = restorers.iter_mut().filter(|place| place.is_some());
        let most = most.max_by_key(|place| place.as_ref().map_or(0, |restorer| restorer.occupied()))?;
        Some(take_symbols(most, restorable))
    }

    /// Gives up all waiting symbols: the far end has begun a new life.
    pub fn restart(&mut self) -> Vec<P::Symbol> {
        let Self { restorers, restorable, .. } = self;
        restorers.iter_mut().flat_map(|place| take_symbols(place, restorable)).collect()
    }

    /// Number of kept packets and symbols.
    pub fn kept(&self) -> usize {
        self.restorers.iter().flatten().map(|restorer| restorer.kept()).sum()
    }

    /// Time at which feedback is due.
    pub fn feedback_at(&self) -> Option<Instant> {
        let since = self.pending_since?;
        if self.asked.is_some() || self.holes >= HOLES_MAX {
            return Some(since);
        }
        let after = |gap: Duration| self.sent_at.map_or(since, |at| at.saturating_add(gap));
        Some(if self.holes > 0 {
            after(INTERVAL_HOLE).max(since)
        } else if self.pending_frames >= MANY {
            after(INTERVAL_MANY).max(since)
        } else if self.pending_frames >= ENOUGH {
            after(INTERVAL).max(since)
        } else {
            after(INTERVAL).max(since.saturating_add(ALONE))
        })
    }

    /// The earlier of the feedback timer and the hold timer.
    pub fn wake(&self) -> Option<Wake> {
        let feedback = self.feedback_at().map(|at| Wake { at, why: "tunnel.feedback" });
        [feedback, self.order.wake()].into_iter().flatten().min_by_key(|wake| wake.at)
    }

    /// The feedback that is due, and the member that carries it: the one with a probe, otherwise `best`. Now and then
    /// it goes on the next member in turn: the best may have died, and a pure receiver does not notice.
    pub fn take_feedback(&mut self, now: Instant, best: Option<Member>) -> Option<(Member, Box<Feedback>)> {
        if self.feedback_at().is_none_or(|at| at > now) {
            return None;
        }
        let epoch = self.far?;
        self.sent += 1;
        let is_turn = best.is_none() || self.sent.is_multiple_of(TURN);
        let carrier = self.asked.take().or_else(|| if is_turn { self.next_in_turn() } else { None }).or(best);
        self.pending = 0;
        self.pending_frames = 0;
        self.pending_since = None;
        self.holes = 0;
        self.sent_at = Some(now);
        let sent_at_us = (now.as_nanos() / 1_000) as u32;
        let mut feedback = Box::new(Feedback { epoch, sent_at_us, ..Feedback::default() });
        for (index, report) in self.reports.iter_mut().enumerate() {
            if !report.is_empty() && now.saturating_since(report.newest_at()) < QUIET {
                feedback.reports.extend(report.report(now, Member(index as u8)));
            }
        }
        feedback.shorten(LONGEST);
        Some((carrier?, feedback))
    }

    /// The next member in turn on which something has come.
    fn next_in_turn(&mut self) -> Option<Member> {
        let mut in_turn = (1..=MEMBERS_MAX).map(|step| (self.turn + step) % MEMBERS_MAX);
        let index = in_turn.find(|index| self.pending & 1 << index != 0)?;
        self.turn = index;
        Some(Member(index as u8))
    }
}

/// Forgets the kept packets of a member; returns the symbols that waited.
fn take_symbols<P: Coded>(place: &mut Option<Box<Restorer<P>>>, restorable: &mut u64) -> Vec<P::Symbol> {
    let Some(restorer) = place.take() else { return Vec::new() };
    *restorable -= restorer.occupied();
    restorer.into_symbols()
}
