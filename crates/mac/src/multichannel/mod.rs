//! MCMAC and Bi-MCMAC (Kuang and Williamson 2004): a control channel on which stations agree, data channels on which
//! they exchange data, one half-duplex radio each.
//!
//! The handshake is that of 802.11 with one frame more: the CRN tells the initiator's neighbours what the CTS told the
//! responder's, namely which channel is taken, by whom, for how long. After it everybody else may contend at once.
//!
//! ```text
//!  control   RTS      CRN          | the next pair's RTS ...
//!               CTS                |
//!  data                 DATA       |  ACK        Bi-MCMAC: the responder's DATA acknowledges
//!                            DATA
//! ```
//!
//! Contention, retry, NAV, queue and duplicate filter are those of [`crate::dcf`]. Where the paper leaves a choice:
//!
//! - The Duration field counts from the end of its own frame, as in 802.11, where the paper copies one number from CTS
//!   to CRN: the same instants come out.
//! - A station whose NAV on the control channel is set does not answer an RTS (as under DCF).
//! - Whoever overhears an RTS keeps silent for the whole exchange, until a CRN of the same sender releases it.
//! - Whoever overhears a CTS keeps silent on the control channel no longer than the medium is busy.
//! - A frame for a neighbour that is away waits as under a NAV, and so does any while no data channel is free.
//! - The responder goes to the data channel when it has received the CRN; without it the grant is void.
//! - The data channel is not sensed before the first data frame, and nothing is known of what was reserved meanwhile.
//! - A station whose awaited frame does not come returns at once.

mod backlog;
mod config;
mod exchange;
mod reservations;
#[cfg(test)]
mod tests;

pub use config::{ChannelChoice, HANDSHAKE_SIZE, MultichannelConfig, Scheduling};

use crate::alarm::Alarm;
use crate::contention::{Awaited, Grant};
use crate::frame::{Address, ChannelSet, Frame, FrameKind, Reservation, whole_microseconds};
use crate::service::{Access, MacInput, MacOutput, MacStats, Outcome};
use crate::station::Station;
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{Duration, Instant, metrics};
use backlog::Outgoing;
use config::Times;
use exchange::{Exchange, Role, Step};
use reservations::Reservations;
use std::collections::VecDeque;

/// State of the exchange for the MSDUs in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is in service.
    Idle,
    /// They wait for the control channel.
    Contend,
    /// A broadcast frame is on the air until then.
    Broadcast(Instant),
    /// An RTS was sent; the CTS must begin in time for this deadline.
    AwaitCts(Instant),
    /// The deadline has passed while a reception was under way: its end decides.
    CtsOverdue,
    /// They are being exchanged.
    Exchange,
}

/// The timers of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// The frame in service waits for this while it contends.
    Contention(Awaited),
    /// An awaited frame has not begun.
    Response,
    /// The broadcast frame has left.
    BroadcastEnd,
    /// The CRN has left: to the data channel.
    CrnEnd,
    /// The last frame of the exchange has left: back to the control channel.
    ExchangeEnd,
    /// The radio is back on the control channel.
    Return,
}

impl Timer {
    const fn name(self) -> &'static str {
        match self {
            Self::Contention(Awaited::Access) => "multichannel.access",
            Self::Contention(Awaited::NavReset) => "multichannel.nav_reset",
            Self::Response => "multichannel.response_timeout",
            Self::BroadcastEnd => "multichannel.broadcast_end",
            Self::CrnEnd => "multichannel.crn_end",
            Self::ExchangeEnd => "multichannel.exchange_end",
            Self::Return => "multichannel.return",
        }
    }
}

metrics! {
    /// Counters of a multi-channel station beside [`MacStats`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MultichannelStats {
        /// Handshakes completed as initiator.
        pub handshakes: u64 = sum,
        /// Data frames sent as responder.
        pub reverse_frames: u64 = sum,
        /// RTS frames left unanswered because the NAV was set.
        pub refused_by_nav: u64,
        /// RTS frames left unanswered because no data channel was free on both sides.
        pub refused_without_channel: u64,
        /// Grants that no CRN followed.
        pub void_grants: u64 = sum,
    }
}

/// A station under MCMAC or Bi-MCMAC.
#[derive(Clone, Debug)]
pub struct Multichannel<P> {
    config: MultichannelConfig,
    times: Times,
    station: Station<P>,
    state: State,
    /// The batch in service, all for one neighbour; its first carries the retry counters.
    service: VecDeque<Outgoing<P>>,
    /// MSDUs with a sequence number that are not in service: an attempt as responder failed, or their neighbour went
    /// away.
    begun: VecDeque<Outgoing<P>>,
    reservations: Reservations,
    /// The station whose RTS has set the NAV of the control channel.
    nav_by: Option<Address>,
    exchange: Option<Exchange>,
    /// Energy on the data channel while the station is there.
    data_busy_since: Option<Instant>,
    /// The station listens until then after a return.
    quiet_until: Instant,
    alarm: Alarm<Timer>,
    counts: MultichannelStats,
}

impl<P: Packet + Copy> Multichannel<P> {
    /// A station with this address; `backoff` gives its backoffs, `choice` its random channels.
    pub fn new(config: MultichannelConfig, address: Address, backoff: Stream, choice: Stream) -> Self {
        Self {
            times: Times::new(&config),
            station: Station::new(&config.dcf, address, backoff),
            state: State::Idle,
            service: VecDeque::new(),
            begun: VecDeque::new(),
            reservations: Reservations::new(config.data_channels(), choice),
            nav_by: None,
            exchange: None,
            data_busy_since: None,
            quiet_until: Instant::ZERO,
            alarm: Alarm::NEVER,
            counts: MultichannelStats::default(),
            config,
        }
    }

    /// Returns the counters that every MAC has.
    pub const fn stats(&self) -> &MacStats {
        &self.station.stats
    }

    /// Returns the counters of the multi-channel MAC.
    pub const fn counts(&self) -> &MultichannelStats {
        &self.counts
    }

    /// MSDUs that wait, those in service not among them.
    pub fn queue_len(&self) -> usize {
        self.station.queue.len() + self.begun.len()
    }

    /// Whether it waits for the control channel, and is in no exchange meanwhile.
    fn is_contending(&self) -> bool {
        self.state == State::Contend && self.exchange.is_none()
    }

    /// Transmits the frame in service at `at`.
    fn commit(&mut self, at: Instant) {
        let Some(first) = self.service.front() else { return };
        let is_broadcast = first.msdu.to == Address::BROADCAST;
        let mode = self.station.contention.spend();
        if is_broadcast { self.send_broadcast(at, mode) } else { self.send_rts(at, mode) }
    }

    /// Ends every input and every timer: transmits the frame in service if its time has come, and finds the earliest
    /// timer.
    #[inline]
    fn conclude_step(&mut self, now: Instant) {
        if self.is_contending() {
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

    /// A broadcast frame goes to the control channel, without a handshake.
    fn send_broadcast(&mut self, at: Instant, access: Access) {
        let Some(outgoing) = self.service.front_mut() else { return };
        outgoing.attempts += 1;
        let airtime = outgoing.airtime;
        let (sequence, size, payload) = (outgoing.sequence, outgoing.size, Some(outgoing.msdu.packet));
        let frame = self.station.frame(FrameKind::Data, Address::BROADCAST, size, self.config.dcf.broadcast_rate);
        let frame = Frame { sequence, payload, ..frame };
        self.station.stats.data_frames += 1;
        let end = self.station.transmit(frame, at, airtime, access);
        self.state = State::Broadcast(end);
    }

    fn send_rts(&mut self, at: Instant, access: Access) {
        self.top_up();
        let Some(peer) = self.service.front().map(|outgoing| outgoing.msdu.to) else { return };
        let span = self.times.data_phase(self.service.iter().map(|outgoing| outgoing.airtime));
        // A reservation of a data channel is no Duration field: a batch may be longer than that has bits for.
        let nav = whole_microseconds(self.times.rest_of_handshake() + span);
        let reservation = Reservation { channels: self.reservations.free(at), frames: self.service.len() as u8 };
        let frame = self.handshake_frame(FrameKind::Rts, peer, nav, reservation);
        self.station.stats.rts_frames += 1;
        let end = self.station.transmit(frame, at, self.times.handshake_frame, access);
        self.state = State::AwaitCts(end + self.config.dcf.response_timeout());
    }

    /// An RTS, CTS or CRN.
    fn handshake_frame(&self, kind: FrameKind, to: Address, nav: Duration, reservation: Reservation) -> Frame<P> {
        let frame = self.station.frame(kind, to, HANDSHAKE_SIZE, self.config.dcf.control_rate);
        Frame { nav, reservation, ..frame }
    }

    fn is_away(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| exchange.is_away)
    }

    /// Energy arrives. Of the timers it stops that of the backoff, which runs only on an idle medium.
    #[inline]
    fn on_busy(&mut self, now: Instant) {
        self.station.contention.on_busy(now);
        if self.state == State::Contend {
            self.station.contention.draw_if_none(now);
            if self.exchange.is_none() {
                self.alarm = Alarm::NEVER;
            }
        }
    }

    fn on_idle(&mut self, now: Instant) {
        self.station.contention.on_idle(now);
        if self.state == State::CtsOverdue || self.step() == Some(Step::GrantOverdue) {
            self.conclude(now, None);
        }
    }

    /// Concludes the handshake under way, if there is one, with its answer or with another frame in place of it.
    fn conclude(&mut self, now: Instant, answer: Option<&Frame<P>>) {
        let is_from = |kind, peer| answer.filter(|frame| frame.kind == kind && Some(frame.from) == peer);
        if matches!(self.state, State::AwaitCts(_) | State::CtsOverdue) {
            let peer = self.service.front().map(|outgoing| outgoing.msdu.to);
            match is_from(FrameKind::Cts, peer) {
                Some(cts) => self.on_cts(now, cts),
                None => self.fail(now, false),
            }
        } else if let Some(exchange) = &self.exchange
            && matches!(exchange.step, Step::Granted(_) | Step::GrantOverdue)
        {
            if is_from(FrameKind::Crn, Some(exchange.peer)).is_some() {
                self.leave(now);
            } else {
                self.void_grant(now);
            }
        }
    }

    fn void_grant(&mut self, now: Instant) {
        self.counts.void_grants += 1;
        self.exchange = None;
        self.renew_hold(now);
    }

    fn on_error(&mut self, now: Instant, idle: bool) {
        if self.station.end_reception(now, idle) {
            self.station.contention.on_error(now);
            self.conclude(now, None);
        }
    }

    /// A frame for another station: notes its reservation and sets the NAV.
    fn on_overheard(&mut self, now: Instant, frame: &Frame<()>, idle: bool) {
        if !self.station.end_reception(now, idle) {
            return;
        }
        self.station.contention.on_success();
        self.conclude(now, None);
        match frame.kind {
            FrameKind::Rts => {
                let probation =
                    self.config.dcf.nav_reset.then(|| self.config.dcf.nav_probation(self.times.handshake_frame));
                if now + frame.nav > self.station.contention.nav().until() {
                    self.nav_by = Some(frame.from);
                }
                self.station.contention.nav_mut().update(now, frame.nav, probation);
            }
            FrameKind::Cts => self.note(now, frame, frame.nav),
            FrameKind::Crn => {
                if self.nav_by == Some(frame.from) {
                    self.station.contention.nav_mut().cancel(now);
                    self.nav_by = None;
                }
                self.note(now, frame, frame.nav);
            }
            // The polling MAC has no station on these channels.
            _ => {}
        }
    }

    /// Notes a reservation between two other stations.
    fn note(&mut self, now: Instant, frame: &Frame<()>, span: Duration) {
        if let Some(channel) = frame.reservation.channels.lowest() {
            self.reservations.reserve(channel, [frame.from, frame.to], now + span);
            self.renew_hold(now);
            self.reconsider(now);
        }
    }

    /// A frame for this station, or for all, on the control channel.
    fn on_received(&mut self, now: Instant, frame: &Frame<P>, idle: bool) {
        if !self.station.end_reception(now, idle) {
            return;
        }
        self.station.contention.on_success();
        let is_broadcast = frame.to == Address::BROADCAST;
        self.conclude(now, (!is_broadcast).then_some(frame));
        match frame.kind {
            FrameKind::Data if is_broadcast => self.station.deliver_broadcast(frame),
            FrameKind::Rts => self.on_rts(now, frame),
            _ => {}
        }
    }

    /// Grants a channel for the sender's frames and, under Bi-MCMAC, for those that wait for it in the queue; the CTS
    /// says for how long.
    fn on_rts(&mut self, now: Instant, rts: &Frame<P>) {
        self.station.contention.nav_mut().settle(now);
        // 10.3.2.9: a station whose NAV is set does not answer.
        if self.station.contention.nav().is_set(now) {
            self.counts.refused_by_nav += 1;
            return;
        }
        let candidates = rts.reservation.channels.and(self.reservations.free(now));
        let Some(channel) = self.reservations.choose(candidates, self.config.choice) else {
            self.counts.refused_without_channel += 1;
            return;
        };
        let limit = if self.config.is_bidirectional { self.config.batch().min(rts.reservation.frames) } else { 0 };
        let reverse = self.airtimes_for(rts.from, limit);
        let frames_left = reverse.len() as u8;
        let is_all = frames_left > 0 && frames_left == rts.reservation.frames;
        let budget = reverse.iter().fold(Duration::ZERO, |sum, &airtime| sum + airtime);
        let granted = rts.nav.saturating_sub(self.times.rest_of_handshake());
        let span = granted + self.times.growth(reverse.into_iter(), is_all);
        let after_cts = self.times.sifs + self.times.handshake_frame + span;
        let reservation = Reservation { channels: ChannelSet::only(channel), frames: 0 };
        let nav = whole_microseconds(after_cts);
        let cts = self.handshake_frame(FrameKind::Cts, rts.from, nav, reservation);
        let end = self.station.transmit(cts, now + self.times.sifs, self.times.handshake_frame, Access::Response);
        let step = Step::Granted(end + self.config.dcf.response_timeout());
        let exchange = Exchange::new(rts.from, channel, Role::Responder, step, end + nav);
        self.begin_exchange(Exchange { frames_left, budget, ..exchange });
    }

    fn begin_exchange(&mut self, exchange: Exchange) {
        self.reservations.count_own(exchange.channel);
        self.exchange = Some(exchange);
    }

    /// Accepts the grant, and tells the neighbours before the radio leaves.
    fn on_cts(&mut self, now: Instant, cts: &Frame<P>) {
        // A station goes only where it can.
        let channel = cts.reservation.channels.lowest().filter(|channel| self.reservations.knows(*channel));
        let Some(channel) = channel else { return self.fail(now, false) };
        if let Some(first) = self.service.front_mut() {
            first.retries.on_cts();
        }
        self.counts.handshakes += 1;
        let nav = cts.nav.saturating_sub(self.times.sifs + self.times.handshake_frame);
        let reservation = Reservation { channels: ChannelSet::only(channel), frames: 0 };
        let crn = self.handshake_frame(FrameKind::Crn, cts.from, nav, reservation);
        let end = self.station.transmit(crn, now + self.times.sifs, self.times.handshake_frame, Access::Response);
        self.state = State::Exchange;
        // All that it announced stays in service until it is sent, so that it fits.
        let (frames_left, budget) = (self.service.len() as u8, Duration::MAX);
        let exchange = Exchange::new(cts.from, channel, Role::Initiator, Step::Reserving(end), end + nav);
        self.begin_exchange(Exchange { frames_left, budget, ..exchange });
    }

    /// The first MSDU in service leaves: window back, post-transmission backoff, the next one.
    fn finish(&mut self, now: Instant, outcome: Outcome) {
        let Some(peer) = self.service.front().map(|outgoing| outgoing.msdu.to) else { return };
        self.settle(peer, outcome);
        self.station.contention.reset_window();
        self.station.contention.draw(now);
        self.serve_on(now);
    }

    /// The awaited CTS, or the acknowledgement of a data frame, did not come.
    fn fail(&mut self, now: Instant, is_long: bool) {
        let limits = self.config.dcf.retry_limits();
        let Some(first) = self.service.front_mut() else { return };
        if first.retries.is_spent(is_long, limits) {
            self.station.stats.retry_limit_drops += 1;
            self.finish(now, Outcome::RetryLimit);
            return;
        }
        self.station.contention.widen();
        self.station.contention.draw(now);
        self.state = State::Contend;
        self.renew_hold(now);
        self.reconsider(now);
    }

    /// An awaited frame has not begun: a failure, unless a reception that may be it has.
    fn on_response_timeout(&mut self, now: Instant) {
        if self.is_away() {
            self.on_frame_missing(now);
        } else if !self.station.contention.has_reception_begun(now) {
            self.conclude(now, None);
        } else if let Some(exchange) = self.exchange.as_mut() {
            exchange.step = Step::GrantOverdue;
        } else {
            self.state = State::CtsOverdue;
        }
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        self.station.contention.nav_mut().settle(now);
        match timer {
            Timer::Contention(_) => {}
            Timer::BroadcastEnd => self.finish(now, Outcome::Broadcast),
            Timer::Response => self.on_response_timeout(now),
            Timer::CrnEnd => self.leave(now),
            Timer::ExchangeEnd => self.go_back(now),
            Timer::Return => self.come_back(now),
        }
        self.conclude_step(now);
    }

    /// The earliest timer of a station that does not contend.
    fn earliest(&self) -> Alarm<Timer> {
        match (self.step(), self.state) {
            (Some(Step::Granted(at) | Step::Awaiting(at)), _) => Alarm::of(at, Timer::Response),
            (Some(Step::GrantOverdue | Step::Overdue), _) => Alarm::NEVER,
            (Some(Step::Reserving(at)), _) => Alarm::of(at, Timer::CrnEnd),
            (Some(Step::Closing(at)), _) => Alarm::of(at, Timer::ExchangeEnd),
            (Some(Step::Returning(at)), _) => Alarm::of(at, Timer::Return),
            (None, State::Idle | State::Contend | State::CtsOverdue | State::Exchange) => Alarm::NEVER,
            (None, State::Broadcast(end)) => Alarm::of(end, Timer::BroadcastEnd),
            (None, State::AwaitCts(deadline)) => Alarm::of(deadline, Timer::Response),
        }
    }
}

impl<P: Packet + Copy> Machine for Multichannel<P> {
    type Input = MacInput<P>;
    type Output = MacOutput<P>;

    #[inline(always)]
    fn handle_input(&mut self, now: Instant, input: MacInput<P>) {
        // What is due at this very instant comes first: energy that arrives with the commitment does not stop it.
        self.handle_timeout(now);
        self.station.contention.nav_mut().settle(now);
        match input {
            input if self.is_away() => self.on_data_channel(now, input),
            MacInput::Busy => return self.on_busy(now),
            MacInput::Idle => self.on_idle(now),
            MacInput::Overheard { frame, idle } => self.on_overheard(now, &frame, idle),
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
            // It has a queue of its own and never asks.
            MacInput::Supply(_) | MacInput::Associate(_) | MacInput::Disassociate(_) => {}
            // It has no A-MPDUs, and no other links.
            MacInput::MpdusEnd { .. } | MacInput::Renew => {}
        }
        self.conclude_step(now);
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

    #[inline]
    fn poll_timeout(&self) -> Option<Wake> {
        self.alarm.wake(Timer::name)
    }
}
