//! Transmission: new data, retransmissions, probes, and the timer that they need.
//!
//! RFC 6298 section 5, RFC 8985 sections 6.3 and 7. It never changes
//! the window but for the silence before it sends.

use super::super::segment::Segment;
use super::bbr;
use super::probe::{self, Probe};
use super::{Linux, Phase, SenderOutput, Sending, State, Timer};
use airbraid_units::{Duration, Instant};

impl Linux {
    fn send_new(&mut self, now: Instant, end: u64) {
        let first = self.flight.is_empty();
        let stamp = self.delivery.stamp(now, first);
        match &mut self.bbr {
            Some(bbr) if first && stamp.is_limited => self.window.cwnd = bbr.on_restart(now, self.window.cwnd),
            None if first && now.saturating_since(self.tcp.last_sent) > Duration::ZERO => {
                self.window.on_silence(now, self.tcp.last_sent, self.rtt.timeout());
            }
            _ => {}
        }
        self.pace(now, end - self.tcp.nxt);
        self.flight.push(now, (self.tcp.nxt, end), stamp);
        self.tcp.send(now, self.tcp.nxt, end);
        self.tcp.nxt = end;
        if self.phase == Phase::Recovery {
            self.prr.out += 1;
        }
        if first || matches!(self.timer, Some((Timer::Probe, _))) {
            self.restart_retransmission_timer(now);
        }
    }

    /// Whether the pace lets a segment leave now; otherwise it waits.
    fn may_leave(&mut self, now: Instant) -> bool {
        self.bbr.as_ref().is_none_or(|bbr| self.pacer.lets(now, bbr.burst()))
    }
    fn pace(&mut self, now: Instant, bytes: u64) {
        if let Some(bbr) = &self.bbr {
            self.pacer.on_sent(now, bytes + bbr::HEADERS, bbr.pacing_rate());
        }
    }
    /// Sends the segments that the pace held back.
    pub(super) fn send_paced(&mut self, now: Instant) {
        if self.phase >= Phase::Recovery {
            self.repeat_lost(now);
        }
        self.transmit(now);
    }

    /// Sends new data as far as the windows go, and starts the right timer.
    pub(super) fn transmit(&mut self, now: Instant) {
        if self.tcp.state != State::Established {
            return;
        }
        let (mut sent, mut starved) = (false, false);
        while (self.flight.pipe() < self.window.cwnd || self.flight.is_empty()) && self.may_leave(now) {
            let Some(end) = self.tcp.sendable(u64::MAX) else {
                starved = true;
                break;
            };
            self.send_new(now, end);
            sent = true;
        }
        let limited = self.flight.pipe() >= self.window.cwnd;
        if starved && self.flight.lost() <= self.flight.again() {
            self.delivery.on_limited(self.flight.pipe());
        }
        if self.bbr.is_none() && (sent || limited) {
            let idle = starved && self.phase == Phase::Open;
            let edge = (self.tcp.una, self.tcp.nxt);
            self.window.validate(now, self.flight.len(), edge, limited, idle, self.rtt.timeout());
        }
        if sent {
            self.schedule_probe(now, false);
        }
        self.settle_timer(now);
    }

    /// Retransmits lost segments as far as the window goes, the lowest first.
    pub(super) fn repeat_lost(&mut self, now: Instant) {
        while self.flight.pipe() < self.window.cwnd && self.may_leave(now) {
            let Some(place) = self.flight.next_lost() else { return };
            self.repeat(now, place, true);
            if self.phase == Phase::Recovery {
                self.prr.out += 1;
            }
            if place == 0 && !matches!(self.timer, Some((Timer::Reorder, _))) {
                self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
            }
        }
    }

    /// Sends new data in place of retransmissions (RFC 5682, step 2.b); where there are none, the timeout counts as
    /// real.
    pub(super) fn send_instead(&mut self, now: Instant) {
        self.transmit(now);
        if self.tcp.nxt <= self.high {
            self.frto = false;
            self.repeat_lost(now);
        }
    }

    /// Retransmits the segment at `place`; `counted`: because it is lost.
    fn repeat(&mut self, now: Instant, place: usize, counted: bool) {
        let (start, end) = (self.flight.get(place).start, self.flight.get(place).end);
        self.pace(now, end - start);
        let stamp = self.delivery.stamp(now, false);
        self.flight.repeat(now, place, stamp, counted);
        self.tcp.stats.retransmits += 1;
        self.tcp.send(now, start, end);
        if counted {
            self.undo.since.get_or_insert(now);
            *self.undo.open.get_or_insert(0) += 1;
        }
    }

    // --- timers ----------------------------------------------------------------------------------------------------

    pub(super) fn start_timer(&mut self, now: Instant, timer: Timer, span: Duration) {
        self.timer = Some((timer, now.saturating_add(span.max(Duration::from_nanos(1)))));
    }

    /// After progress: a probe if the tail of a flight may need one, else the timeout.
    pub(super) fn restart_timer(&mut self, now: Instant) {
        if !self.schedule_probe(now, true) {
            self.restart_retransmission_timer(now);
        }
    }

    /// The timeout from now, less what has passed since the first segment left if another timer ran meanwhile.
    fn restart_retransmission_timer(&mut self, now: Instant) {
        if self.flight.is_empty() {
            self.timer = None;
            return;
        }
        let other = matches!(self.timer, Some((Timer::Reorder | Timer::Probe, _)));
        let span = if other { self.until_timeout(now) } else { self.rtt.timeout() };
        self.start_timer(now, Timer::Retransmit, span);
    }

    fn until_timeout(&self, now: Instant) -> Duration {
        let first = self.flight.first().map_or(now, |first| first.at);
        first.saturating_add(self.rtt.timeout()).saturating_since(now)
    }

    /// RFC 8985, section 7.2; `progress`: an acknowledgement moved the timeout. Returns whether a probe is scheduled.
    fn schedule_probe(&mut self, now: Instant, progress: bool) -> bool {
        if self.flight.is_empty() || self.phase != Phase::Open {
            return false;
        }
        let span = probe::timeout(self.rtt.srtt(), self.flight.len(), self.rtt.floor(), self.tcp.config.initial_rto);
        let rto = if progress { self.rtt.timeout() } else { self.until_timeout(now) };
        let span = if rto.is_zero() { span } else { span.min(rto) };
        self.start_timer(now, Timer::Probe, span);
        true
    }

    /// Starts the timer that is needed if none runs.
    fn settle_timer(&mut self, now: Instant) {
        let waiting = self.tcp.nxt < self.tcp.written;
        match self.timer {
            _ if !self.flight.is_empty() => {
                if self.timer.is_none() || matches!(self.timer, Some((Timer::Persist, _))) {
                    self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
                }
            }
            // Nothing is out and yet something waits: only the offered window can hold it back.
            Some((Timer::Persist, _)) if waiting => {}
            _ if waiting => self.start_persist(now),
            _ => self.timer = None,
        }
    }

    pub(super) fn on_retransmission_timeout(&mut self, now: Instant) {
        self.tcp.stats.timeouts += 1;
        if self.tcp.state == State::SynSent {
            self.rtt.back_off();
            self.tcp.syn_lost = true;
            self.send_syn(now);
            return;
        }
        self.enter_loss(now);
        self.expiries += 1;
        self.rtt.back_off();
        if let Some(place) = self.flight.next_lost() {
            // Whatever window is offered: the peer may have lost its update.
            self.repeat(now, place, true);
        }
        self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
    }

    /// RFC 8985, section 6.3: the doubtful segments have waited long enough.
    pub(super) fn on_reorder_timeout(&mut self, now: Instant) {
        let window = self.rack.window(self.order());
        let (lost, _) = self.rack.detect(now, &mut self.flight, window);
        if lost > 0 {
            if self.phase != Phase::Recovery {
                self.enter_recovery();
                let pipe = self.flight.pipe();
                if self.bbr.is_none() {
                    self.window.cwnd = pipe + self.prr.allowance(self.window.target(), pipe, 1, false);
                }
            }
            self.repeat_lost(now);
        }
        if self.timer.is_none() {
            self.start_timer(now, Timer::Retransmit, self.until_timeout(now));
        }
    }

    /// RFC 8985, section 7.3: new data, whatever the congestion window says, else the last segment once more.
    pub(super) fn on_probe_timeout(&mut self, now: Instant) {
        if self.probe.is_none() {
            let new = self.tcp.sendable(u64::MAX);
            if let Some(end) = new {
                self.send_new(now, end);
            } else if let Some(last) = (self.flight.len() as usize).checked_sub(1) {
                self.repeat(now, last, false);
            }
            self.tcp.stats.tail_probes += 1;
            self.probe = Some(Probe { end: self.tcp.nxt, repeats: new.is_none() });
            self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
            return;
        }
        self.start_timer(now, Timer::Retransmit, self.until_timeout(now));
    }

    /// The offered window stays closed: sends an empty segment from before it, which the peer must answer (RFC 9293,
    /// section 3.10.7.4).
    pub(super) fn on_persist(&mut self, now: Instant) {
        self.tcp.stats.window_probes += 1;
        self.probes += 1;
        let segment = Segment { seq: self.tcp.una - 1, ..self.tcp.blank(now) };
        self.tcp.outputs.push_back(SenderOutput::Segment(segment));
        self.start_persist(now);
    }

    fn start_persist(&mut self, now: Instant) {
        let span = self.rtt.timeout().saturating_mul(1 << self.probes.min(63)).min(self.tcp.config.max_rto);
        self.start_timer(now, Timer::Persist, span);
    }
}
