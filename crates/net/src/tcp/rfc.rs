//! The sending end as the RFCs have it: opens a connection, sends the stream under its windows, recovers losses,
//! closes.
//!
//! In bytes, one sender for the four variants. RFC 9293 with the recovery of RFC 5681, 6582 or 6675 and the timer of
//! RFC 6298. It never sees payload, never learns of the channel but by acknowledgements and silence, and never delays
//! small writes (no Nagle algorithm).

mod ack;
mod transmit;

use super::config::Config;
use super::congestion::Window;
use super::connection::{Connection, Sending, State};
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::segment::Segment;
use super::service::{SenderInput, SenderLimit, SenderOutput, SenderStats};
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};

/// The phase of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery, until `recover` is acknowledged.
    Fast,
    /// After a timeout, until `recover` is acknowledged: everything since is retransmitted in slow start.
    Timeout,
}

/// The one timer that a sender needs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// Something is out and was not acknowledged.
    Retransmit,
    /// The offered window is closed and nothing is out that would open it.
    Persist,
}

#[derive(Clone, Debug)]
pub(super) struct Rfc {
    tcp: Connection,
    recovery: Recovery,
    /// The highest offset sent, plus one.
    max: u64,
    dup_acks: u32,
    /// Bytes that limited transmit added to the flight.
    limited: u64,
    /// `max` when recovery began.
    recover: u64,
    /// A partial acknowledgement has come in this recovery.
    partial: bool,
    /// The rescue retransmission of this recovery was made.
    rescued: bool,
    board: Scoreboard,
    window: Window,
    rto: Rto,
    /// The end of the one segment whose round trip is being measured, and its sending time.
    timed: Option<(u64, Instant)>,
    timer: Option<(Timer, Instant)>,
    probes: u32,
}

impl Rfc {
    /// The sending end of a connection that is not open yet; `config` was checked.
    pub fn new(config: Config) -> Self {
        Self {
            recovery: Recovery::Open,
            max: 0,
            dup_acks: 0,
            limited: 0,
            recover: 0,
            partial: false,
            rescued: false,
            board: Scoreboard::default(),
            window: Window::new(&config),
            rto: Rto::new(&config),
            timed: None,
            timer: None,
            probes: 0,
            tcp: Connection::new(config),
        }
    }

    pub const fn stats(&self) -> &SenderStats {
        &self.tcp.stats
    }
    /// The congestion window, inflation in fast recovery included.
    pub const fn cwnd(&self) -> Bytes {
        Bytes::new(self.window.cwnd())
    }
    /// The window that the receiver offers.
    pub const fn offered(&self) -> Bytes {
        Bytes::new(self.tcp.rwnd)
    }
    /// The slow start threshold; `None` before the first loss.
    pub fn ssthresh(&self) -> Option<Bytes> {
        (self.window.ssthresh() != u64::MAX).then(|| Bytes::new(self.window.ssthresh()))
    }
    /// The smoothed round trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rto.srtt()
    }
    /// The retransmission timeout, backoff included.
    pub fn rto(&self) -> Duration {
        self.rto.timeout()
    }
    /// Sent and not acknowledged (RFC 5681's FlightSize).
    pub const fn flight_size(&self) -> Bytes {
        self.tcp.flight_size()
    }
    /// Payload acknowledged so far.
    pub const fn acknowledged(&self) -> Bytes {
        self.tcp.acknowledged()
    }
    /// Whether everything and the FIN were acknowledged.
    pub fn is_finished(&self) -> bool {
        self.tcp.state == State::Finished
    }

    /// The reason why nothing more is sent now.
    pub fn limit(&self) -> SenderLimit {
        match (self.tcp.state, self.recovery) {
            (State::Closed | State::Finished, _) => SenderLimit::Idle,
            (State::SynSent, _) => SenderLimit::Handshake,
            (State::Established, Recovery::Timeout) => SenderLimit::Timeout,
            (State::Established, Recovery::Fast) => SenderLimit::Recovery,
            (State::Established, Recovery::Open) => {
                let is_reduced = self.window.ssthresh() != u64::MAX;
                let window = if is_reduced { SenderLimit::CongestionWindow } else { SenderLimit::SlowStart };
                self.tcp.limit().unwrap_or(window)
            }
        }
    }

    /// Takes the round trip that `segment` ends, if it counts (Karn; with timestamps all count).
    fn take_sample(&mut self, now: Instant, segment: &Segment) {
        let sent = match (segment.timestamp, self.timed) {
            (Some((_, echo)), _) => echo,
            (None, Some((end, sent))) if segment.ack >= end => sent,
            _ => return,
        };
        self.timed = None;
        self.rto.sample(sent, now);
        self.tcp.stats.rtt_samples += 1;
        self.tcp.stats.rtt_sum += now.saturating_since(sent);
    }

    fn restart_timer(&mut self, now: Instant) {
        self.timer = Some((Timer::Retransmit, self.rto.expires(now)));
    }

    /// No acknowledgement came for a timeout: sends the first missing segment, then everything after it in slow start.
    fn on_retransmission_timeout(&mut self, now: Instant) {
        self.tcp.stats.timeouts += 1;
        let again = self.recovery == Recovery::Timeout && self.rto.is_backed_off();
        self.rto.back_off();
        if self.tcp.state == State::SynSent {
            self.tcp.syn_lost = true;
            self.send_syn(now);
            return;
        }
        self.window.on_timeout(self.tcp.nxt - self.tcp.una, again);
        self.recovery = Recovery::Timeout;
        self.recover = self.max;
        self.dup_acks = 0;
        self.limited = 0;
        self.board.clear();
        // Whatever window is offered: the peer may have lost its update.
        let end = self.tcp.cut(self.tcp.una, self.max);
        self.send(now, self.tcp.una, end);
        self.tcp.nxt = end;
        self.restart_timer(now);
    }

    /// The offered window stays closed: sends one byte, or as much as it lets through (RFC 9293, section 3.8.6.1).
    fn on_persist(&mut self, now: Instant) {
        let limit = self.tcp.una + self.tcp.rwnd.max(1);
        let end = self.tcp.cut(self.tcp.nxt, limit.min(self.tcp.written));
        let retransmits = self.tcp.stats.retransmits;
        self.tcp.stats.window_probes += 1;
        self.send(now, self.tcp.nxt, end);
        self.tcp.stats.retransmits = retransmits;
        // A probe's answer may wait for the window: it measures nothing.
        self.timed = None;
        self.probes += 1;
        self.start_persist(now);
    }

    fn start_persist(&mut self, now: Instant) {
        let span = self.rto.timeout().saturating_mul(1 << self.probes.min(63)).min(self.tcp.config.max_rto);
        self.timer = Some((Timer::Persist, self.rto.expires_after(now, span)));
    }
}

impl Sending for Rfc {
    fn connection(&mut self) -> &mut Connection {
        &mut self.tcp
    }

    fn sent(&self) -> u64 {
        self.max
    }

    fn send_syn(&mut self, now: Instant) {
        self.timed = (!self.tcp.syn_lost).then_some((1, now));
        self.max = 1;
        self.tcp.send_syn(now);
        self.restart_timer(now);
    }

    fn begin(&mut self, now: Instant, segment: &Segment) {
        self.take_sample(now, segment);
        if self.tcp.syn_lost {
            self.rto.after_lost_syn();
            self.window.restart(self.tcp.mss);
        }
        self.timer = None;
        self.transmit(now);
    }

    fn take_ack(&mut self, now: Instant, segment: &Segment) {
        self.on_ack(now, segment);
    }

    fn send_more(&mut self, now: Instant) {
        self.transmit(now);
    }
}

impl Machine for Rfc {
    type Input = SenderInput;
    type Output = SenderOutput;

    fn handle_input(&mut self, now: Instant, input: SenderInput) {
        self.on_input(now, input);
        // A timer that is due at this very time has had its chance to be made needless.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self.timer {
            Some((Timer::Retransmit, at)) if at <= now => self.on_retransmission_timeout(now),
            Some((Timer::Persist, at)) if at <= now => self.on_persist(now),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<SenderOutput> {
        self.tcp.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.timer.map(|(timer, at)| {
            let why = match timer {
                Timer::Retransmit => "tcp.retransmit",
                Timer::Persist => "tcp.persist",
            };
            Wake { at, why }
        })
    }
}
