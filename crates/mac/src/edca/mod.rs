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

mod agreement;
mod allocation;
mod announcing;
mod around;
mod beacon;
mod category;
mod config;
mod coupling;
mod delivery;
mod doubt;
mod emlsr;
mod exchange;
mod expectation;
mod formats;
mod frames;
mod function;
mod kinds;
mod leaving;
mod link;
mod listening;
mod moving;
mod multi_link;
mod originator;
mod pairing;
mod peer;
mod plan;
mod purge;
mod rates;
mod reach;
mod receiving;
mod recipient;
mod respond;
mod secondary;
mod setup;
mod share;
mod single;
#[cfg(test)]
mod tests;
mod traffic;
mod unanswered;

pub use agreement::AgreementStats;
pub use allocation::Allocation;
pub use beacon::BEACON_INTERVAL_TU;
pub use category::AccessCategory;
pub use config::{
    AggregationConfig, AgreementSetup, Bandwidth, EdcaConfig, FunctionConfig, Repair, RequestLink, window_max,
};
pub use emlsr::Emlsr;
pub use frames::{AgreementFrame, BlockAck, Content, DataMpdus, Mpdu, MpduSet, Ppdu, Vector, WINDOW_MAX};
pub use kinds::{Kind, Kinds};
pub use multi_link::MultiLink;
pub use peer::PeerTraits;

use crate::alarm::Alarm;
use crate::contention::{Awaited, CarrierSense, Grant};
use crate::duplicate::DuplicateFilter;
use crate::frame::Address;
use crate::ppdu::Width;
use crate::service::{MacInput, MacOutput, MacStats, Msdu, Outcome};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Duration, Instant, metrics};
use beacon::Beacons;
use exchange::{State, Txop};
use function::AccessFunction;
use listening::Listening;
use plan::{Answer, Planner};
use rates::{Grade, Rates};
use secondary::Secondary;
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
    /// A beacon is due.
    Beacon,
    /// A device that was away listens again, or an exchange of EMLSR is over.
    Listening,
    /// The medium synchronisation of a link that was blind is held to be complete.
    MediumSync,
    /// A response to a request for an agreement is overdue, or the next request of any kind is due.
    Agreement,
}

impl Timer {
    const fn name(self) -> &'static str {
        match self {
            Self::Contention(Awaited::Access) => "edca.access",
            Self::Contention(Awaited::NavReset) => "edca.nav_reset",
            Self::Response(_) => "edca.response_timeout",
            Self::UnansweredEnd => "edca.unanswered_end",
            Self::Beacon => "edca.beacon",
            Self::Listening => "edca.listening",
            Self::MediumSync => "edca.medium_sync",
            Self::Agreement => "edca.agreement",
        }
    }
}

metrics! {
    /// Counters of an EDCA station beside [`MacStats`], where a data frame is a PPDU and a retry an MPDU.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct EdcaStats {
        /// MPDUs with data sent, retries included.
        pub mpdus: u64 = sum,
        /// A-MPDUs of at least two MPDUs sent.
        pub ampdus: u64 = sum,
        /// Block acknowledgements received.
        pub block_acks: u64 = sum,
        /// Block acknowledgement requests sent.
        pub block_ack_requests: u64 = sum,
        /// TXOPs after which packets waited for a window that was full.
        pub window_stalls: u64 = sum,
        /// Accesses lost to a higher category of the same station, or to its beacon.
        pub internal_collisions: u64 = sum,
        /// Beacons sent.
        pub beacons: u64 = sum,
        /// Time on the air in TXOPs of the category background.
        pub airtime_bk: Duration = sum "airtime_bk_s",
        /// The same of best effort.
        pub airtime_be: Duration = sum "airtime_be_s",
        /// The same of video.
        pub airtime_vi: Duration = sum "airtime_vi_s",
        /// The same of voice.
        pub airtime_vo: Duration = sum "airtime_vo_s",
        /// Those of the setup of agreements, apart: they are told where that is done by frames.
        pub setup: AgreementStats,
    }
}

impl EdcaStats {
    fn airtime_mut(&mut self, category: AccessCategory) -> &mut Duration {
        match category {
            AccessCategory::Background => &mut self.airtime_bk,
            AccessCategory::BestEffort => &mut self.airtime_be,
            AccessCategory::Video => &mut self.airtime_vi,
            AccessCategory::Voice => &mut self.airtime_vo,
        }
    }
}

/// A station under EDCA.
#[derive(Clone, Debug)]
pub struct Edca<P> {
    planner: Planner,
    /// For each family of its formats.
    rates: Vec<Rates>,
    secondary: Secondary,
    /// Number of times that the channel is halved in the TXOP under way.
    halvings: usize,
    /// Boxed: a link of a device borrows it for each call.
    traffic: Box<Traffic<P>>,
    sense: CarrierSense,
    functions: [AccessFunction; AccessCategory::COUNT],
    /// Those of an access point.
    beacons: Option<Beacons>,
    state: State,
    txop: Option<Txop<P>>,
    /// The frame to all that is on the air.
    broadcast: Option<P>,
    transmitting_until: Instant,
    outputs: VecDeque<MacOutput<P>>,
    stats: MacStats,
    counts: EdcaStats,
    duplicates: DuplicateFilter,
    /// The same of QoS data without agreement, by sender and TID.
    single_duplicates: DuplicateFilter,
    next_sequence: u16,
    /// A link that does not hear at times.
    listening: Listening,
    alarm: Alarm<Timer>,
}

impl<P: Packet + Copy> Edca<P> {
    /// A station with this address; `random` gives the backoffs of each category, by [`AccessCategory::index`].
    pub fn new(config: EdcaConfig, address: Address, random: [Stream; AccessCategory::COUNT]) -> Self {
        let mut categories = AccessCategory::ALL.into_iter();
        let mut next = || categories.next().unwrap_or_default();
        Self {
            beacons: None,
            functions: random.map(|random| AccessFunction::new(&config, next(), random)),
            rates: vec![Rates::Fixed],
            secondary: Secondary::new(config.width()),
            halvings: 0,
            traffic: Box::new(Traffic::new(&config)),
            sense: CarrierSense::new(config.sense()),
            planner: Planner::new(config, address),
            state: State::Idle,
            txop: None,
            broadcast: None,
            transmitting_until: Instant::ZERO,
            outputs: VecDeque::with_capacity(8),
            stats: MacStats::default(),
            counts: EdcaStats::default(),
            duplicates: DuplicateFilter::default(),
            single_duplicates: DuplicateFilter::default(),
            next_sequence: 0,
            listening: Listening::default(),
            alarm: Alarm::NEVER,
        }
    }

    /// It learns of the stations around it, before anything else: which format and window each has in common with it.
    pub fn meet(&mut self, kinds: &Kinds) {
        self.planner.meet(kinds);
        self.traffic.meet(kinds);
        self.rates = self.planner.formats.families().map(|_| Rates::Fixed).collect();
    }

    /// Begins the rate control that the configuration asks for. `random` gives the draws towards each family of peers,
    /// by number, and `need` the signal-to-noise ratio that a format takes \[1/100 dB\].
    pub fn control_rates(&mut self, random: impl Fn(u64) -> Stream, need: impl Fn(&Vector) -> i32) {
        let of_family = |(number, grades): (u64, &[Grade])| {
            let needs: Vec<i32> = grades.iter().map(|grade| need(&grade.vector)).collect();
            Rates::new(&self.planner.config, grades, &needs, random(number))
        };
        self.rates = (0..).zip(self.planner.formats.families()).map(of_family).collect();
    }

    /// From now on it sends beacons as an access point does, the first at a drawn time within an interval.
    pub fn send_beacons(&mut self, random: Stream) {
        self.beacons = Some(Beacons::new(&self.planner.config.phy, random));
        self.settle(Instant::ZERO);
    }

    /// From now on primary channels of at most `idle` are idle beyond the primary 20 MHz.
    pub fn on_secondary(&mut self, now: Instant, idle: Width) {
        self.secondary.on_change(now, idle);
    }

    /// Whether its rate control goes by signals.
    pub fn wants_signal(&self) -> bool {
        self.rates.iter().any(|rates| matches!(rates, Rates::Ideal(_)))
    }

    /// A frame of another station has come with this signal-to-noise ratio \[1/100 dB\].
    pub fn on_signal(&mut self, from: Address, snr_cdb: i32) {
        self.rates[self.planner.formats.family(from)].on_signal(from, snr_cdb);
    }

    /// Idle time of the medium that each PPDU of best effort costs on an unused channel: AIFS, half of the smallest
    /// contention window, and the SIFS before the answer.
    pub fn access_gap(&self) -> Duration {
        let config = &self.planner.config;
        let (phy, function) = (&config.phy, &config.functions[AccessCategory::BestEffort.index()]);
        let slots = u64::from(function.aifsn) + u64::from(function.cw_min) / 2;
        phy.sifs * 2 + phy.slot * slots
    }

    pub fn stats(&self) -> &MacStats {
        &self.stats
    }
    pub fn counts(&self) -> &EdcaStats {
        &self.counts
    }
    /// Counts of the setup of agreements, where that is done by frames.
    pub fn agreement_counts(&self) -> Option<&AgreementStats> {
        let is_by_frames = self.planner.config.aggregation.setup == AgreementSetup::Frames;
        is_by_frames.then_some(&self.counts.setup)
    }
    /// MSDUs that wait or are not acknowledged yet.
    pub fn queue_len(&self) -> usize {
        self.traffic.len()
    }
    /// The same of one category.
    pub fn category_len(&self, category: AccessCategory) -> usize {
        self.traffic.count(category)
    }
    /// The same of the category in which a packet of this user priority for a neighbour waits.
    #[inline]
    pub fn waiting_with(&self, neighbour: Address, priority: u8) -> usize {
        self.traffic.count(self.traffic.category(neighbour, priority))
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

    /// Takes a packet of a category that contends or holds the medium already: nothing follows from it now, and the
    /// station need not be driven for it. For a link of a device see [`MultiLink::push_at_work`].
    ///
    /// # Errors
    /// Hands it back where something may follow.
    #[inline]
    pub fn push_at_work(&mut self, now: Instant, msdu: Msdu<P>) -> Result<(), Msdu<P>> {
        let category = AccessCategory::of_priority(msdu.packet.priority());
        if self.alarm.due(now).is_some() || !self.is_at_work(category) {
            return Err(msdu);
        }
        self.traffic.push_at_work(msdu, self.planner.link.id)
    }

    /// Takes a packet from above.
    #[inline]
    fn enqueue(&mut self, now: Instant, msdu: Msdu<P>) {
        match self.traffic.push(msdu, self.planner.link.id) {
            Ok((category, id)) => {
                if self.traffic.setups.is_some() {
                    self.want_agreement(now, id);
                }
                self.traffic.put_to_links(now, id, |length| self.planner.config.mpdu_size(length));
                self.renew(now, category);
            }
            Err(msdu) => self.refuse(msdu),
        }
    }

    /// Whether a category of this link contends, or holds the medium: one packet more changes nothing for it.
    #[inline]
    fn is_at_work(&self, category: AccessCategory) -> bool {
        self.functions[category.index()].contends || self.txop.as_ref().is_some_and(|txop| txop.category == category)
    }

    #[cold]
    fn refuse(&mut self, msdu: Msdu<P>) {
        self.stats.queue_drops += 1;
        self.outputs.push_back(MacOutput::Status { msdu, outcome: Outcome::QueueFull, attempts: 0 });
    }

    #[cold]
    fn enqueue_first(&mut self, now: Instant, msdu: Msdu<P>) {
        let (to, tid) = (msdu.to, msdu.packet.priority() & 7);
        let (category, refused) = self.traffic.push_first(msdu, self.planner.link.id);
        if let Some(id) = self.traffic.find(to, tid) {
            if self.traffic.setups.is_some() {
                self.want_agreement(now, id);
            }
            self.traffic.put_to_links(now, id, |length| self.planner.config.mpdu_size(length));
        }
        if let Some(msdu) = refused {
            self.refuse(msdu);
        }
        self.renew(now, category);
    }

    /// A category contends if it has something to send and its station is in no exchange of this category.
    #[inline]
    fn renew(&mut self, now: Instant, category: AccessCategory) {
        self.contend(now, category, false);
    }

    /// The same, after a backoff in any case where `backs_off` says so.
    #[inline(always)]
    fn contend(&mut self, now: Instant, category: AccessCategory, backs_off: bool) {
        if self.functions[category.index()].contends {
            return;
        }
        // What comes for the category that holds the medium is looked at when its TXOP is over.
        let own = self.txop.as_ref().is_some_and(|txop| txop.category == category);
        if !own && self.traffic.can_send(category, self.planner.link.id) {
            let is_taken = backs_off || self.is_in_exchange() || self.sense.is_taken(now);
            self.functions[category.index()].request(&self.sense, now, is_taken);
        }
    }

    /// Another link of the device has changed something.
    #[inline(never)]
    fn on_renew(&mut self, now: Instant) {
        if self.traffic.radio.is_some() || self.traffic.awake.is_some() {
            // The radio is gone already: nothing that is due can be sent.
            self.follow_radio(now);
        }
        self.handle_timeout(now);
        self.sense.nav.settle(now);
        self.take_over(now);
        self.settle(now);
    }

    /// Another link of the device has left something to send, or has taken the radio. What was lost there is sent after
    /// a backoff: two devices whose frames have collided would collide again on each link in turn.
    fn take_over(&mut self, now: Instant) {
        self.follow_radio(now);
        for category in AccessCategory::ALL {
            let is_lost = self.traffic.has_lost(category, self.planner.link.id);
            self.contend(now, category, is_lost);
        }
    }

    /// Energy arrives, or this station transmits at `now`: the counters stop.
    #[inline]
    fn stop_counters(&mut self, now: Instant) {
        for function in &mut self.functions {
            function.backoff.freeze(&self.sense, now);
        }
        if let Some(beacons) = &mut self.beacons {
            beacons.freeze(&self.sense, now);
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
        if self.planner.link.is_shared {
            self.on_shared_busy(now);
        }
        self.sense.on_busy(now);
    }

    /// The medium falls idle.
    #[inline]
    fn fall_idle(&mut self, now: Instant) {
        self.sense.on_idle(now);
        if self.planner.link.is_shared {
            self.on_shared_idle(now);
        }
    }

    fn on_idle(&mut self, now: Instant) {
        self.fall_idle(now);
        if let State::Overdue(awaited) = self.state {
            self.fail(now, awaited);
        }
    }

    /// Ends every input and every timer: a category whose time has come begins its TXOP, and the earliest timer is
    /// found.
    #[inline]
    fn settle(&mut self, now: Instant) {
        if self.traffic.setups.is_some() || self.traffic.rests_until.is_some() {
            return self.settle_with_setups(now);
        }
        self.settle_link(now);
    }

    #[inline]
    fn settle_link(&mut self, now: Instant) {
        if self.planner.link.is_shared {
            return self.settle_shared(now);
        }
        self.settle_exchange(now);
    }

    /// The same where agreements are set up by frames, or where a queue has asked in vain.
    #[inline(never)]
    fn settle_with_setups(&mut self, now: Instant) {
        self.settle_setups(now);
        self.ask_again(now);
        self.settle_link(now);
        self.alarm = self.alarm.earlier(self.setup_alarm()).earlier(self.rest_alarm());
    }

    /// The same of what this link alone does.
    #[inline]
    fn settle_exchange(&mut self, now: Instant) {
        match self.state {
            State::Idle => self.grant(now),
            State::Unanswered(end) => self.alarm = Alarm::of(end, Timer::UnansweredEnd),
            State::Await(answer, deadline) => self.alarm = Alarm::of(deadline, Timer::Response(answer)),
            State::Overdue(_) => self.alarm = Alarm::NEVER,
        }
    }

    /// The same of a link of a device.
    #[inline(never)]
    fn settle_shared(&mut self, now: Instant) {
        if self.traffic.awake.is_some() {
            self.follow_radio(now);
        }
        self.settle_listening(now);
        self.settle_exchange(now);
        // What begins at once.
        self.settle_listening(now);
        self.tell_idle(now);
        self.alarm = self.alarm.earlier(self.listening_alarm());
    }

    /// Another link may get what a category of this one would send: it notes for which it is to be woken.
    fn tell_idle(&mut self, now: Instant) {
        let own = self.txop.as_ref().map(|txop| txop.category);
        let mut is_busy = false;
        for category in AccessCategory::ALL {
            let is_idle = !self.functions[category.index()].contends && own != Some(category);
            is_busy |= !is_idle;
            self.traffic.set_idle(self.planner.link.id, category, is_idle);
            if self.traffic.leaves() {
                self.traffic.note_work(now, self.planner.link.id, category, !is_idle);
            }
            if self.traffic.leaves() && !is_idle {
                self.expect_link(category);
            }
        }
        self.traffic.note_demand(now, self.planner.link.id, is_busy);
    }

    /// Gives the medium to the highest category whose time has come; those that collide with it back off.
    fn grant(&mut self, now: Instant) {
        self.alarm = Alarm::NEVER;
        let is_shared = self.planner.link.is_shared;
        if is_shared && let Some(until) = self.listening.medium_sync.barred_until(now) {
            self.alarm = Alarm::of(until, Timer::MediumSync);
            return;
        }
        let called = self.traffic.radio.as_ref().and_then(|radio| radio.called_until(self.planner.link.id, now));
        if let Some(until) = called {
            self.alarm = Alarm::of(until, Timer::Listening);
            return;
        }
        let is_coupled = is_shared && self.traffic.coupling.is_some();
        let mut winner: Option<(AccessCategory, Instant)> = None;
        for category in AccessCategory::ALL.into_iter().rev() {
            let (function, link) = (&mut self.functions[category.index()], &self.planner.link);
            if !function.contends {
                continue;
            }
            // Another link may have sent what there was.
            if link.is_shared && !self.traffic.can_send(category, link.id) {
                function.contends = false;
                continue;
            }
            match function.backoff.grant(&self.sense, now) {
                Grant::Now(at) if is_coupled && self.waits_for_links(at, category) => {}
                Grant::Now(at) if winner.is_none_or(|(_, first)| at < first) => winner = Some((category, at)),
                Grant::Now(_) => {}
                Grant::Later(alarm) => self.alarm = self.alarm.earlier(alarm.map(Timer::Contention)),
            }
        }
        if let Some(at) = self.beacon_at(now).filter(|at| winner.is_none_or(|(_, first)| *at <= first)) {
            let losers = self.losers(now, None, at);
            self.send_beacon(at);
            return self.collide_inside(now, losers, at);
        }
        let Some((category, at)) = winner else {
            if is_coupled {
                self.publish_access();
            }
            return;
        };
        if is_coupled && self.waits_for_partner(now, category) {
            return;
        }
        let losers = self.losers(now, Some(category), at);
        self.begin_txop(category, at);
        self.collide_inside(now, losers, at);
    }

    /// These categories have lost the medium to another of this station.
    fn collide_inside(&mut self, now: Instant, losers: [bool; AccessCategory::COUNT], at: Instant) {
        for (function, _) in self.functions.iter_mut().zip(losers).filter(|(_, loses)| *loses) {
            self.counts.internal_collisions += 1;
            function.fail();
            function.backoff.draw(at);
        }
        self.settle(now);
    }

    /// The categories that would transmit at the same instant as the winner, which is a category or a beacon: to them
    /// it is a collision (10.23.2.4).
    fn losers(&self, now: Instant, winner: Option<AccessCategory>, at: Instant) -> [bool; AccessCategory::COUNT] {
        AccessCategory::ALL.map(|category| {
            let function = &self.functions[category.index()];
            Some(category) != winner
                && function.contends
                && matches!(function.backoff.grant(&self.sense, now), Grant::Now(other) if other == at)
        })
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        self.sense.nav.settle(now);
        match timer {
            Timer::Contention(_) | Timer::Beacon | Timer::MediumSync | Timer::Listening | Timer::Agreement => {}
            Timer::UnansweredEnd => self.on_unanswered_end(now),
            // A failure, unless a reception that may be the answer has begun.
            Timer::Response(answer) if self.may_be_answered(now) => self.state = State::Overdue(answer),
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
        if matches!(input, MacInput::Renew) {
            return self.on_renew(now);
        }
        // What is due at this very instant comes first: energy that arrives with the commitment does not stop it.
        self.handle_timeout(now);
        self.sense.nav.settle(now);
        match input {
            MacInput::MpdusEnd { ppdu, places, left } => return self.on_mpdus(now, &ppdu, places, left),
            MacInput::Busy => return self.on_busy(now),
            MacInput::Idle => self.on_idle(now),
            MacInput::Overheard { frame, idle } => self.on_overheard(now, &frame, idle),
            MacInput::Received { frame, idle } => self.on_received(now, &frame, idle),
            MacInput::ReceivedPpdu { ppdu, intact, ended, idle } => {
                self.on_ppdu(now, &ppdu, (intact.as_deref(), ended), idle);
            }
            MacInput::ReceptionError { idle } | MacInput::Damaged { idle, .. } => self.on_error(now, idle),
            MacInput::Ignored(airtime) => self.sense.on_ignored(now, airtime),
            MacInput::Enqueue(msdu) => self.enqueue(now, msdu),
            MacInput::EnqueueFirst(msdu) => self.enqueue_first(now, msdu),
            MacInput::Purge(neighbour) => self.purge(now, neighbour),
            // It never pulls.
            MacInput::Renew | MacInput::Supply(_) | MacInput::Associate(_) | MacInput::Disassociate(_) => {}
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
