//! The distributed coordination function: CSMA/CA with RTS/CTS, acknowledgement and retry (802.11-2020, 10.3).
//!
//! One station on one channel. It never looks into packets, never listens to more than energy and frames, and never
//! takes back a transmission to which it has committed.
//!
//! ```text
//!          MSDU            commit (RTS)            CTS             ACK
//!   Idle --------> Contend ------------> AwaitCts -----> AwaitAck -----> Idle, post-backoff
//!                     ^  \  commit (data)                  ^  |
//!                     |   `-------------------------------'   | timeout or another frame: CW doubles,
//!                     `----------------<----------------------'  retry counters, drop at the limit
//! ```

mod burst;
mod config;
mod doze;
mod protection;
#[cfg(test)]
mod tests;

pub(crate) use doze::{Held, Null, NullDone};

pub use config::{ACK_SIZE, CTS_SIZE, DcfConfig, RTS_SIZE};

use crate::alarm::Alarm;
use crate::contention::{Awaited, Grant};
use crate::frame::{Address, Frame, FrameKind, duration_field};
use crate::phy::Rate;
use crate::rate_control::RateSelection;
use crate::retry::{Retries, RetryLimits};
use crate::service::{Access, MacInput, MacOutput, MacStats, Msdu, Outcome};
use crate::station::Station;
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

/// State of the exchange for the MSDU in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is in service.
    Idle,
    /// It waits for the medium.
    Contend,
    /// A broadcast frame is on the air until then.
    Broadcast(Instant),
    /// A CTS to the station itself is on the air until then; the data frame follows.
    CtsToSelf(Instant),
    /// An RTS was sent; the CTS must begin in time for this deadline.
    AwaitCts(Instant),
    /// A data frame was sent; the ACK must begin in time for this deadline.
    AwaitAck(Instant),
    /// The deadline has passed while a reception was under way: its end decides.
    Overdue {
        /// Whether an ACK is awaited (a CTS otherwise).
        ack: bool,
    },
}

/// The timers of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// The frame in service waits for this while it contends.
    Contention(Awaited),
    /// CTSTimeout or ACKTimeout.
    Response,
    /// The broadcast frame has left.
    BroadcastEnd,
    /// The CTS to the station itself has left.
    CtsToSelfEnd,
}

impl Timer {
    const fn name(self) -> &'static str {
        match self {
            Self::Contention(Awaited::Access) => "dcf.access",
            Self::Contention(Awaited::NavReset) => "dcf.nav_reset",
            Self::Response => "dcf.response_timeout",
            Self::BroadcastEnd => "dcf.broadcast_end",
            Self::CtsToSelfEnd => "dcf.cts_to_self_end",
        }
    }
}

/// The MSDU in service, or a null frame in its stead.
#[derive(Clone, Copy, Debug)]
struct InService<P> {
    to: Address,
    /// None: a null frame.
    packet: Option<P>,
    power_management: bool,
    sequence: u16,
    size: Bytes,
    rate: Rate,
    airtime: Duration,
    limits: RetryLimits,
    retries: Retries,
    attempts: u32,
    since: Instant,
}

/// A station under the distributed coordination function.
#[derive(Clone, Debug)]
pub struct Dcf<P> {
    config: DcfConfig,
    station: Station<P>,
    /// Airtimes of an RTS, a CTS and an ACK at the usual rate, computed once.
    rts_time: Duration,
    cts_time: Duration,
    ack_time: Duration,
    /// An MPDU that is longer may have to be announced: the RTS threshold, or nothing where frames are protected.
    unannounced: Bytes,
    rates: RateSelection,
    /// Data frames that may still follow in this access to the medium.
    burst_left: u32,
    state: State,
    service: Option<InService<P>>,
    /// MSDUs that were in service before, ahead of the queue: not more than one a neighbour.
    returned: VecDeque<Held<P>>,
    /// A null frame that goes next, before everything.
    null: Option<Null>,
    null_done: Option<NullDone>,
    /// Whether an MSDU was set aside for the null frame.
    has_yielded: bool,
    /// Whether only null frames are sent: the neighbours take the station for dozing.
    is_paused: bool,
    alarm: Alarm<Timer>,
    idle: Idle,
}

/// Time without an MSDU, counted where one goes into service at an idle station and where the last one leaves it.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    since: Instant,
    /// Sum of the idle times that are over.
    total: Duration,
}

impl<P: Packet + Copy> Dcf<P> {
    /// A station with this address; `random` gives its backoffs.
    pub fn new(config: DcfConfig, address: Address, random: Stream) -> Self {
        let phy = config.phy;
        let ack_time = phy.frame_time(config.control_rate, ACK_SIZE);
        Self {
            config,
            station: Station::new(&config, address, random),
            rts_time: phy.frame_time(config.control_rate, RTS_SIZE),
            cts_time: phy.frame_time(config.control_rate, CTS_SIZE),
            ack_time,
            unannounced: config.unannounced(),
            rates: RateSelection::new(config.rate_control, config.data_rates()),
            burst_left: 0,
            state: State::Idle,
            service: None,
            returned: VecDeque::new(),
            null: None,
            null_done: None,
            has_yielded: false,
            is_paused: false,
            alarm: Alarm::NEVER,
            idle: Idle::default(),
        }
    }

    /// Time up to `now` in which it had an MSDU in service.
    pub fn busy(&self, now: Instant) -> Duration {
        let until = if self.state == State::Idle { self.idle.since } else { now };
        until.saturating_since(Instant::ZERO).saturating_sub(self.idle.total)
    }

    /// Idle time of the medium that each access costs on an unused channel: DIFS, half of the smallest contention
    /// window, and the SIFS before the answer.
    pub fn access_gap(&self) -> Duration {
        let phy = &self.config.phy;
        phy.difs() + phy.slot * u64::from(self.config.cw_min) / 2 + phy.sifs
    }

    pub fn stats(&self) -> &MacStats {
        &self.station.stats
    }

    /// Number of MSDUs in the interface queue, without the one in service.
    pub fn queue_len(&self) -> usize {
        self.station.queue.len()
    }

    /// Whether an MSDU that comes now goes into service at once.
    fn is_free(&self) -> bool {
        self.state == State::Idle && !self.is_paused
    }

    fn enqueue(&mut self, now: Instant, msdu: Msdu<P>) {
        if self.is_free() {
            self.end_idle(now);
            self.serve(now, Held::new(msdu));
        } else if let Err(msdu) = self.station.queue.push(msdu) {
            self.station.refuse(msdu);
        }
    }

    #[cold]
    fn enqueue_first(&mut self, now: Instant, msdu: Msdu<P>) {
        if self.is_free() {
            self.end_idle(now);
            self.serve(now, Held::new(msdu));
        } else if let Some(msdu) = self.station.queue.push_first(msdu) {
            self.station.refuse(msdu);
        }
    }

    fn end_idle(&mut self, now: Instant) {
        self.idle.total += now.saturating_since(self.idle.since);
    }

    /// Gives up all MSDUs that wait for a neighbour, and the one in service if nothing of it was ever on the air.
    #[cold]
    fn purge(&mut self, now: Instant, neighbour: Address) {
        self.station.purge(neighbour);
        let is_fresh = |service: &InService<P>| service.attempts == 0 && service.retries == Retries::default();
        let untried = |service: &InService<P>| service.to == neighbour && is_fresh(service);
        if self.state == State::Contend
            && let Some(packet) = self.service.filter(untried).and_then(|service| service.packet)
        {
            self.service = None;
            let msdu = Msdu { to: neighbour, packet };
            self.station.report(msdu, Outcome::Purged, 0);
            self.serve_next(now);
        }
    }

    /// Takes the next MSDU into service, if one waits and may be sent.
    fn serve_next(&mut self, now: Instant) {
        self.state = State::Idle;
        if let Some(null) = self.null.take() {
            self.serve_null(now, null);
        } else if !self.is_paused {
            let next = self.returned.pop_front().or_else(|| self.station.queue.pop().map(Held::new));
            match next {
                Some(held) => self.serve(now, held),
                None => self.idle.since = now,
            }
        }
    }

    fn serve(&mut self, now: Instant, held: Held<P>) {
        let service = self.in_service(now, held);
        self.contend_for(now, service);
    }

    fn in_service(&mut self, now: Instant, held: Held<P>) -> InService<P> {
        let Msdu { to, packet } = held.msdu;
        let size = self.config.data_size(packet.len());
        let rate = self.rate_towards(to);
        let sequence = held.sequence.unwrap_or_else(|| self.station.number());
        InService {
            to,
            packet: Some(packet),
            power_management: false,
            sequence,
            size,
            rate,
            airtime: self.config.phy.frame_time(rate, size),
            limits: self.config.retry_limits(),
            retries: Retries::default(),
            attempts: held.attempts,
            since: now,
        }
    }

    /// The rate of the next frame to this address.
    pub fn rate_towards(&self, to: Address) -> Rate {
        if to == Address::BROADCAST {
            self.config.broadcast_rate
        } else if self.rates.is_fixed() {
            self.config.data_rate
        } else {
            self.rates.rate(to).unwrap_or(self.config.data_rate)
        }
    }

    /// The rate of the answer to a frame of `rate`, and the airtimes of a CTS and an ACK at it.
    fn answer(&self, rate: Rate) -> (Rate, Duration) {
        if rate == self.config.data_rate {
            return (self.config.control_rate, self.ack_time);
        }
        let answer = self.config.answer_rate(rate);
        (answer, self.config.phy.frame_time(answer, ACK_SIZE))
    }

    /// Takes a frame into service and asks for the medium.
    fn contend_for(&mut self, now: Instant, service: InService<P>) {
        self.service = Some(service);
        self.state = State::Contend;
        self.station.contention.request(now);
    }

    /// Transmits the frame in service at `at`.
    fn commit(&mut self, at: Instant) {
        let Some(service) = &self.service else { return };
        let (to, size) = (service.to, service.size);
        let mode = self.station.contention.spend();
        self.burst_left = self.config.burst.saturating_sub(1);
        if to == Address::BROADCAST {
            let end = self.send_data(at, mode);
            self.state = State::Broadcast(end);
        } else if size > self.unannounced {
            self.announce(at, mode);
        } else {
            self.begin_data(at, mode);
        }
    }

    /// Sends the data frame in service at `at`, and awaits its answer.
    fn begin_data(&mut self, at: Instant, access: Access) {
        let end = self.send_data(at, access);
        self.state = State::AwaitAck(end + self.config.response_timeout());
    }

    /// Ends every input and every timer: transmits the frame in service if its time has come, and finds the earliest
    /// timer.
    #[inline(always)]
    fn settle(&mut self, now: Instant) {
        if let State::Contend = self.state {
            match self.station.contention.grant(now) {
                Grant::Now(access) => self.commit(access),
                Grant::Later(alarm) => {
                    self.alarm = alarm.map(Timer::Contention);
                    return;
                }
            }
        }
        self.alarm = self.earliest();
    }

    /// Announces the data frame in service at `at`; returns the end of the RTS.
    fn send_rts(&mut self, at: Instant, access: Access) -> Instant {
        let Some(service) = &self.service else { return at };
        let (answer_rate, ack_time) = self.answer(service.rate);
        let (rate, cts_time) = self.request(service.rate).unwrap_or((answer_rate, ack_time));
        let nav = self.config.phy.sifs * 3 + cts_time + ack_time + service.airtime;
        let frame = self.station.frame(FrameKind::Rts, service.to, RTS_SIZE, rate);
        let frame = Frame { nav: duration_field(nav), ..frame };
        self.station.stats.rts_frames += 1;
        let is_usual = rate == self.config.control_rate;
        let airtime = if is_usual { self.rts_time } else { self.config.phy.frame_time(rate, RTS_SIZE) };
        self.station.transmit(frame, at, airtime, access)
    }

    /// Sends the data frame in service at `at`; returns its end.
    fn send_data(&mut self, at: Instant, access: Access) -> Instant {
        if let Some(service) = &mut self.service {
            service.attempts += 1;
        }
        let Some(service) = &self.service else { return at };
        let is_broadcast = service.to == Address::BROADCAST;
        let nav = if is_broadcast { Duration::ZERO } else { self.config.phy.sifs + self.answer(service.rate).1 };
        let (airtime, is_retry) = (service.airtime, service.attempts > 1);
        let frame = Frame {
            retry: is_retry,
            power_management: service.power_management,
            sequence: service.sequence,
            nav: duration_field(nav),
            payload: service.packet,
            ..self.station.frame(FrameKind::Data, service.to, service.size, service.rate)
        };
        match frame.payload {
            Some(_) => {
                self.station.stats.data_frames += 1;
                self.station.stats.retries += u64::from(is_retry);
            }
            None => self.station.stats.null_frames += 1,
        }
        self.station.transmit(frame, at, airtime, access)
    }

    /// Energy arrives. Of the timers it stops that of the backoff, which runs only on an idle medium.
    #[inline(always)]
    fn on_busy(&mut self, now: Instant) {
        self.station.contention.on_busy(now);
        if self.state == State::Contend {
            self.station.contention.draw_if_none(now);
            self.alarm = Alarm::NEVER;
        }
    }

    fn on_idle(&mut self, now: Instant) {
        self.station.contention.on_idle(now);
        if let State::Overdue { ack } = self.state {
            self.fail(now, ack);
        }
    }

    /// Concludes the exchange under way, if there is one, with its answer or with another frame in place of it.
    fn conclude(&mut self, now: Instant, answer: Option<FrameKind>) {
        let awaited = match self.state {
            State::AwaitCts(_) | State::Overdue { ack: false } => FrameKind::Cts,
            State::AwaitAck(_) | State::Overdue { ack: true } => FrameKind::Ack,
            State::Idle | State::Contend | State::Broadcast(_) | State::CtsToSelf(_) => return,
        };
        match (answer == Some(awaited), awaited) {
            (true, FrameKind::Cts) => self.on_cts(now),
            (true, _) => self.on_ack(now),
            // 10.3.2.11: anything else that ends meanwhile is a failure of the exchange.
            (false, _) => self.fail(now, awaited == FrameKind::Ack),
        }
    }

    fn on_error(&mut self, now: Instant, idle: bool) {
        if self.station.end_reception(now, idle) {
            self.station.contention.on_error(now);
            self.conclude(now, None);
        }
    }

    /// A frame for another station: sets the NAV.
    #[inline]
    fn on_overheard(&mut self, now: Instant, kind: FrameKind, nav: Duration, idle: bool) {
        if self.station.end_reception(now, idle) {
            self.station.contention.on_success();
            self.conclude(now, None);
            let probation =
                (self.config.nav_reset && kind == FrameKind::Rts).then(|| self.config.nav_probation(self.cts_time));
            self.station.contention.nav_mut().update(now, nav, probation);
        }
    }

    /// A frame for this station, or for all.
    fn on_received(&mut self, now: Instant, frame: &Frame<P>, idle: bool) {
        if !self.station.end_reception(now, idle) {
            return;
        }
        self.station.contention.on_success();
        let is_broadcast = frame.to == Address::BROADCAST;
        self.conclude(now, (!is_broadcast).then_some(frame.kind));
        match frame.kind {
            FrameKind::Data if is_broadcast => self.station.deliver_broadcast(frame),
            FrameKind::Data => self.on_data(now, frame),
            FrameKind::Rts => self.on_rts(now, frame),
            _ => {}
        }
    }

    fn on_data(&mut self, now: Instant, frame: &Frame<P>) {
        let (rate, airtime) = self.answer(frame.rate);
        let ack = self.station.frame(FrameKind::Ack, frame.from, ACK_SIZE, rate);
        self.station.transmit(ack, now + self.config.phy.sifs, airtime, Access::Response);
        self.station.deliver(frame);
    }

    fn on_rts(&mut self, now: Instant, frame: &Frame<P>) {
        self.station.contention.nav_mut().settle(now);
        // 10.3.2.9: a station whose NAV is set does not answer.
        if self.station.contention.nav().is_set(now) {
            return;
        }
        let (rate, airtime) = self.answer(frame.rate);
        let nav = frame.nav.saturating_sub(self.config.phy.sifs + airtime);
        let cts = Frame { nav: duration_field(nav), ..self.station.frame(FrameKind::Cts, frame.from, CTS_SIZE, rate) };
        self.station.transmit(cts, now + self.config.phy.sifs, airtime, Access::Response);
    }

    fn on_cts(&mut self, now: Instant) {
        if let Some(service) = self.service.as_mut() {
            service.retries.on_cts();
        }
        self.begin_data(now + self.config.phy.sifs, Access::Response);
    }

    fn on_ack(&mut self, now: Instant) {
        self.learn(now, true);
        match self.next_in_burst() {
            Some(held) => self.go_on(now, held),
            None => self.finish(now, Outcome::Acknowledged),
        }
    }

    /// The MSDU in service leaves: window back, post-transmission backoff, the next one.
    fn finish(&mut self, now: Instant, outcome: Outcome) {
        let Some(service) = self.service.take() else { return };
        self.station.contention.reset_window();
        self.station.contention.draw(now);
        let InService { to, packet, power_management, attempts, since, .. } = service;
        match packet {
            Some(packet) => {
                self.station.report(Msdu { to, packet }, outcome, attempts);
            }
            None => self.end_null(power_management, since, outcome),
        }
        self.serve_next(now);
    }

    /// The awaited CTS or ACK did not come.
    fn fail(&mut self, now: Instant, ack: bool) {
        self.learn(now, false);
        let Some(service) = self.service.as_mut() else { return };
        let is_long = ack && service.size > self.config.rts_threshold;
        if service.retries.is_spent(is_long, service.limits) {
            self.station.stats.retry_limit_drops += u64::from(service.packet.is_some());
            self.finish(now, Outcome::RetryLimit);
            return;
        }
        self.station.contention.widen();
        self.station.contention.draw(now);
        self.state = State::Contend;
        if self.null.is_some() {
            self.yield_to_null(now);
        }
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        self.station.contention.nav_mut().settle(now);
        match timer {
            Timer::Contention(_) => {}
            Timer::BroadcastEnd => self.finish(now, Outcome::Broadcast),
            Timer::CtsToSelfEnd => self.begin_data(now + self.config.phy.sifs, Access::Response),
            Timer::Response => self.on_response_timeout(now, matches!(self.state, State::AwaitAck(_))),
        }
        self.settle(now);
    }

    /// CTSTimeout or ACKTimeout: a failure, unless a reception that may be the answer has begun.
    fn on_response_timeout(&mut self, now: Instant, ack: bool) {
        if self.station.contention.has_reception_begun(now) {
            self.state = State::Overdue { ack };
        } else {
            self.fail(now, ack);
        }
    }

    /// The earliest timer, whether it is of use or not.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Wake> {
        self.alarm.wake(Timer::name)
    }

    /// Whether a reception is under way that will have been noticed when the awaited answer is due.
    #[inline]
    fn is_hearing_answer(&self) -> bool {
        match self.state {
            State::AwaitCts(deadline) | State::AwaitAck(deadline) => {
                self.station.contention.has_reception_begun(deadline)
            }
            State::Idle | State::Contend | State::Broadcast(_) | State::CtsToSelf(_) | State::Overdue { .. } => false,
        }
    }

    /// Whether its alarm would be of no use if energy arrived at `at`, before it rings: that stops a backoff, and is
    /// taken for the awaited answer.
    #[inline]
    pub fn is_silenced(&self, at: Instant) -> bool {
        match self.state {
            State::Idle | State::Contend | State::Overdue { .. } => true,
            State::AwaitCts(deadline) | State::AwaitAck(deadline) => self.station.contention.has_begun(at, deadline),
            State::Broadcast(_) | State::CtsToSelf(_) => false,
        }
    }

    /// The earliest timer of a station that does not contend.
    fn earliest(&self) -> Alarm<Timer> {
        match self.state {
            State::Idle | State::Contend | State::Overdue { .. } => Alarm::NEVER,
            State::Broadcast(end) => Alarm::of(end, Timer::BroadcastEnd),
            State::CtsToSelf(end) => Alarm::of(end, Timer::CtsToSelfEnd),
            State::AwaitCts(deadline) | State::AwaitAck(deadline) => Alarm::of(deadline, Timer::Response),
        }
    }
}

impl<P: Packet + Copy> Machine for Dcf<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    #[inline(always)]
    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        // What is due at this very instant comes first: energy that arrives with the commitment does not stop it.
        self.handle_timeout(now);
        self.station.contention.nav_mut().settle(now);
        match input {
            MacInput::Busy => return self.on_busy(now),
            MacInput::Idle => self.on_idle(now),
            MacInput::Overheard { frame, idle } => self.on_overheard(now, frame.kind, frame.nav, idle),
            MacInput::Received { frame, idle } => self.on_received(now, &frame, idle),
            MacInput::ReceptionError { idle }
            | MacInput::Damaged { idle, .. }
            | MacInput::ReceivedPpdu { idle, .. } => {
                self.on_error(now, idle);
            }
            MacInput::Ignored(airtime) => self.station.contention.on_ignored(now, airtime),
            MacInput::Enqueue(msdu) => self.enqueue(now, msdu),
            MacInput::EnqueueFirst(msdu) => self.enqueue_first(now, msdu),
            MacInput::Purge(neighbour) => self.purge(now, neighbour),
            // It never pulls.
            MacInput::Supply(_) | MacInput::Associate(_) | MacInput::Disassociate(_) => {}
            // It has no A-MPDUs, and no other links.
            MacInput::MpdusEnd { .. } | MacInput::Renew => {}
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
        self.station.outputs.pop_front()
    }

    /// The earliest timer, but for one that would only find a reception under way: the end of that decides, and what is
    /// due by then is carried out first.
    #[inline]
    fn poll_timeout(&self) -> Option<Wake> {
        if self.is_hearing_answer() { None } else { self.next_timer() }
    }
}
