//! Enhanced distributed channel access: the MAC of 802.11n, ac, ax and be, and of older OFDM PHYs with QoS
//! (802.11-2020, 10.23.2 and 10.25).
//!
//! ```text
//!   packets --> traffic: a queue for each peer and TID, with the window of its agreement, and the order of arrivals
//!                  |  what is due, when a category has won
//!               functions: four that contend, each with its gap, window and backoff; one view of the medium
//!                  |
//!               exchange: RTS, data, answers, TXOP           respond: answers to others
//! ```
//!
//! The traffic knows of no medium, so that one may stand over several links.

mod category;
mod config;
mod exchange;
mod frames;
mod function;
mod originator;
mod plan;
mod recipient;
mod respond;
#[cfg(test)]
mod tests;
mod traffic;

pub use category::AccessCategory;
pub use config::{AggregationConfig, EdcaConfig, FunctionConfig, Repair};
pub use frames::{BlockAck, Content, DataMpdus, Mpdu, MpduSet, Ppdu, Vector, WINDOW_MAX};

use crate::alarm::Alarm;
use crate::contention::{Awaited, CarrierSense, Grant};
use crate::duplicate::DuplicateFilter;
use crate::frame::Address;
use crate::service::{MacInput, MacOutput, MacStats, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Duration, Instant};
use exchange::{State, Txop};
use function::AccessFunction;
use plan::{Answer, Planner};
use std::collections::VecDeque;
use traffic::Traffic;

/// The timers of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// An access function waits for this.
    Contention(Awaited),
    /// CTSTimeout, ACKTimeout or BlockAckTimeout.
    Response(Answer),
    /// A frame that nobody answers has left.
    UnansweredEnd,
}

impl Timer {
    const fn name(self) -> &'static str {
        match self {
            Self::Contention(Awaited::Access) => "edca.access",
            Self::Contention(Awaited::NavReset) => "edca.nav_reset",
            Self::Response(_) => "edca.response_timeout",
            Self::UnansweredEnd => "edca.unanswered_end",
        }
    }
}

/// The counters of an EDCA station beside those of every MAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdcaCounts {
    /// MPDUs with data sent, retries included.
    pub mpdus: u64,
    /// A-MPDUs of at least two MPDUs sent.
    pub aggregates: u64,
    /// Block acknowledgements received.
    pub block_acks: u64,
    /// Block acknowledgement requests sent.
    pub requests: u64,
    /// Accesses at which packets waited for a window that was full.
    pub window_stalls: u64,
    /// Accesses lost to a higher category of the same station.
    pub internal_collisions: u64,
    /// Time on the air in the TXOPs of each category, by [`AccessCategory::index`].
    pub airtime: [Duration; AccessCategory::COUNT],
}

/// A station under EDCA.
#[derive(Clone, Debug)]
pub struct Edca<P> {
    planner: Planner,
    traffic: Traffic<P>,
    sense: CarrierSense,
    functions: [AccessFunction; AccessCategory::COUNT],
    state: State,
    txop: Option<Txop<P>>,
    /// The frame to all that is on the air.
    broadcast: Option<P>,
    transmitting_until: Instant,
    outputs: VecDeque<MacOutput<P>>,
    stats: MacStats,
    counts: EdcaCounts,
    duplicates: DuplicateFilter,
    /// The same of QoS data without agreement, by sender and TID.
    single_duplicates: DuplicateFilter,
    next_sequence: u16,
    alarm: Alarm<Timer>,
}

impl<P: Packet + Copy> Edca<P> {
    /// A station with this address; `random` gives the backoffs of each category, by [`AccessCategory::index`].
    pub fn new(config: EdcaConfig, address: Address, random: [Stream; AccessCategory::COUNT]) -> Self {
        let mut categories = AccessCategory::ALL.into_iter();
        let mut next = || categories.next().unwrap_or_default();
        Self {
            functions: random.map(|random| AccessFunction::new(&config, next(), random)),
            traffic: Traffic::new(&config),
            sense: CarrierSense::new(config.sense()),
            planner: Planner::new(config, address),
            state: State::Idle,
            txop: None,
            broadcast: None,
            transmitting_until: Instant::ZERO,
            outputs: VecDeque::with_capacity(8),
            stats: MacStats::default(),
            counts: EdcaCounts::default(),
            duplicates: DuplicateFilter::default(),
            single_duplicates: DuplicateFilter::default(),
            next_sequence: 0,
            alarm: Alarm::NEVER,
        }
    }

    pub fn address(&self) -> Address {
        self.planner.address()
    }
    pub fn stats(&self) -> &MacStats {
        &self.stats
    }
    pub fn counts(&self) -> &EdcaCounts {
        &self.counts
    }
    /// MSDUs that wait or are not acknowledged yet.
    pub fn queue_len(&self) -> usize {
        self.traffic.len()
    }
    /// The same of one category.
    pub fn category_len(&self, category: AccessCategory) -> usize {
        self.traffic.count(category)
    }
    /// MPDUs that have come and wait for others before them.
    pub fn holding(&self) -> u32 {
        self.traffic.holding()
    }

    /// Returns the sequence number of one more frame to all.
    fn number(&mut self) -> u16 {
        let number = self.next_sequence;
        self.next_sequence = (number + 1) % frames::SEQUENCES;
        number
    }

    #[inline]
    fn enqueue(&mut self, now: Instant, msdu: Msdu<P>) {
        match self.traffic.push(msdu) {
            Ok(category) => self.renew(now, category),
            Err(msdu) => self.refuse(msdu),
        }
    }

    #[cold]
    fn refuse(&mut self, msdu: Msdu<P>) {
        self.stats.queue_drops += 1;
        self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::QueueFull, attempts: 0 });
    }

    #[cold]
    fn enqueue_first(&mut self, now: Instant, msdu: Msdu<P>) {
        let (category, refused) = self.traffic.push_first(msdu);
        if let Some(msdu) = refused {
            self.refuse(msdu);
        }
        self.renew(now, category);
    }

    #[cold]
    fn purge(&mut self, now: Instant, neighbour: Address) {
        self.traffic.purge(neighbour, &mut self.outputs);
        for category in AccessCategory::ALL {
            self.functions[category.index()].contends &= self.traffic.can_send(category);
            self.renew(now, category);
        }
    }

    /// A category contends if it has something to send and its station is in no exchange of this category.
    #[inline]
    fn renew(&mut self, now: Instant, category: AccessCategory) {
        if self.functions[category.index()].contends {
            return;
        }
        // What comes for the category that holds the medium is looked at when its TXOP is over.
        let own = self.txop.as_ref().is_some_and(|txop| txop.category == category);
        if !own && self.traffic.can_send(category) {
            let is_taken = self.is_in_exchange() || self.sense.is_taken(now);
            self.functions[category.index()].request(&self.sense, now, is_taken);
        }
    }

    /// Energy arrives, or this station transmits at `now`: the counters stop.
    #[inline]
    fn stop_counters(&mut self, now: Instant) {
        for function in &mut self.functions {
            function.backoff.freeze(&self.sense, now);
        }
    }

    #[inline]
    fn on_busy(&mut self, now: Instant) {
        self.sense.nav.settle(now);
        // While an answer is awaited no slot counts (10.23.2.4 c).
        if !self.is_in_exchange() {
            self.stop_counters(now);
            self.alarm = Alarm::NEVER;
        }
        self.sense.on_busy(now);
    }

    fn on_idle(&mut self, now: Instant) {
        self.sense.on_idle(now);
        if let State::Overdue(awaited) = self.state {
            self.fail(now, awaited);
        }
    }

    /// Ends every input and every timer: a category whose time has come begins its TXOP, and the earliest timer is
    /// found.
    #[inline]
    fn settle(&mut self, now: Instant) {
        self.alarm = match self.state {
            State::Idle => return self.grant(now),
            State::Unanswered(end) => Alarm::of(end, Timer::UnansweredEnd),
            State::Await(answer, deadline) => Alarm::of(deadline, Timer::Response(answer)),
            State::Overdue(_) => Alarm::NEVER,
        };
    }

    /// Gives the medium to the highest category whose time has come; those that collide with it back off.
    fn grant(&mut self, now: Instant) {
        self.alarm = Alarm::NEVER;
        let mut winner: Option<(AccessCategory, Instant)> = None;
        for category in AccessCategory::ALL.into_iter().rev() {
            let function = &self.functions[category.index()];
            if !function.contends {
                continue;
            }
            match function.backoff.grant(&self.sense, now) {
                Grant::Now(at) if winner.is_none_or(|(_, first)| at < first) => winner = Some((category, at)),
                Grant::Now(_) => {}
                Grant::Later(alarm) => self.alarm = self.alarm.earlier(alarm.map(Timer::Contention)),
            }
        }
        let Some((category, at)) = winner else { return };
        let losers = self.losers(now, category, at);
        self.begin_txop(category, at);
        for (function, _) in self.functions.iter_mut().zip(losers).filter(|(_, loses)| *loses) {
            self.counts.internal_collisions += 1;
            function.fail();
            function.backoff.draw(at);
        }
        self.settle(now);
    }

    /// The categories that would transmit at the same instant as the winner: to them it is a collision (10.23.2.4).
    fn losers(&self, now: Instant, winner: AccessCategory, at: Instant) -> [bool; AccessCategory::COUNT] {
        AccessCategory::ALL.map(|category| {
            let function = &self.functions[category.index()];
            category != winner
                && function.contends
                && matches!(function.backoff.grant(&self.sense, now), Grant::Now(other) if other == at)
        })
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        self.sense.nav.settle(now);
        match timer {
            Timer::Contention(_) => {}
            Timer::UnansweredEnd => self.on_unanswered_end(now),
            // A failure, unless a reception that may be the answer has begun.
            Timer::Response(answer) if self.sense.has_reception_begun(now) => self.state = State::Overdue(answer),
            Timer::Response(answer) => self.fail(now, answer),
        }
        self.settle(now);
    }
}

impl<P: Packet + Copy> Machine for Edca<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    #[inline]
    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        // What is due at this very instant comes first: energy that arrives with the commitment does not stop it.
        self.handle_timeout(now);
        self.sense.nav.settle(now);
        match input {
            MacInput::Busy => return self.on_busy(now),
            MacInput::Idle => self.on_idle(now),
            MacInput::Overheard { frame, idle } => self.on_overheard(now, &frame, idle),
            MacInput::Received { frame, idle } => self.on_received(now, &frame, idle),
            MacInput::ReceivedPpdu { ppdu, intact, idle } => self.on_ppdu(now, &ppdu, intact.as_deref(), idle),
            MacInput::ReceptionError { idle } | MacInput::Damaged { idle, .. } => self.on_error(now, idle),
            MacInput::Ignored(airtime) => self.sense.on_ignored(now, airtime),
            MacInput::Enqueue(msdu) => self.enqueue(now, msdu),
            MacInput::EnqueueFirst(msdu) => self.enqueue_first(now, msdu),
            MacInput::Purge(neighbour) => self.purge(now, neighbour),
            // It never pulls.
            MacInput::Supply(_) | MacInput::Associate(_) | MacInput::Disassociate(_) => {}
        }
        self.settle(now);
    }

    #[inline]
    fn handle_timeout(&mut self, now: Instant) {
        if let Some(timer) = self.alarm.due(now) {
            self.on_timer(now, timer);
        }
    }

    #[inline]
    fn poll_output(&mut self) -> Option<MacOutput<P>> {
        self.outputs.pop_front()
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Wake> {
        self.alarm.wake(Timer::name)
    }
}
