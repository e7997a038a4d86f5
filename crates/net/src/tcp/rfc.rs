//! The sending end as the RFCs have it: opens a connection, sends the stream under its windows, recovers losses, closes.
//!
//! In bytes, one sender for the four variants. RFC 9293 with the recovery of RFC 5681, 6582 or 6675 and the timer of RFC 6298. It never sees payload, never learns
//! of the channel but by acknowledgements and silence, and never delays small writes (no Nagle algorithm).

mod ack;
mod transmit;

use super::config::{Config, MAX_UNSCALED_WINDOW};
use super::congestion::Window;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::segment::{Flags, Segment};
use super::sender::{SenderInput, SenderOutput, SenderStats};
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
    /// Everything was acknowledged; a repeated FIN of the peer is still answered.
    Finished,
}

/// Where loss recovery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery, until `recover` is acknowledged.
    Fast,
    /// After a timeout, until `recover` is acknowledged: everything since is sent again in slow start.
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

/// The sending end.
#[derive(Clone, Debug)]
pub(super) struct Rfc {
    config: Config,
    mss: u64,
    state: State,
    recovery: Recovery,
    /// The lowest offset that is not acknowledged.
    una: u64,
    /// The next offset to send.
    nxt: u64,
    /// The highest offset sent, plus one.
    max: u64,
    /// Where the written stream ends.
    written: u64,
    closing: bool,
    /// The offered window, and the largest ever.
    rwnd: u64,
    max_rwnd: u64,
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
    /// The end of the one segment whose round trip is being measured and when it was sent.
    timed: Option<(u64, Instant)>,
    syn_lost: bool,
    timer: Option<(Timer, Instant)>,
    probes: u32,
    last_sent: Instant,
    /// The peer's clock, to be echoed.
    peer_clock: Instant,
    /// The next offset of the peer's stream: its SYN, and at the end its FIN.
    peer_next: u64,
    outputs: VecDeque<SenderOutput>,
    stats: SenderStats,
}

impl Rfc {
    /// The sending end of a connection that is not open yet; `config` was checked.
    pub fn new(config: Config) -> Self {
        Self {
            mss: config.mss.as_u64(),
            state: State::Closed,
            recovery: Recovery::Open,
            una: 0,
            nxt: 0,
            max: 0,
            written: 1,
            closing: false,
            rwnd: 0,
            max_rwnd: 0,
            dup_acks: 0,
            limited: 0,
            recover: 0,
            partial: false,
            rescued: false,
            board: Scoreboard::default(),
            window: Window::new(&config),
            rto: Rto::new(&config),
            timed: None,
            syn_lost: false,
            timer: None,
            probes: 0,
            last_sent: Instant::ZERO,
            peer_clock: Instant::ZERO,
            peer_next: 0,
            outputs: VecDeque::new(),
            stats: SenderStats::default(),
            config,
        }
    }

    /// What was counted.
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }
    /// The congestion window, inflation in fast recovery included.
    pub const fn cwnd(&self) -> Bytes {
        Bytes::new(self.window.cwnd())
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
        Bytes::new(self.nxt - self.una)
    }
    /// Payload acknowledged so far.
    pub const fn acknowledged(&self) -> Bytes {
        let data_end = if self.una < self.written { self.una } else { self.written };
        Bytes::new(data_end.saturating_sub(1))
    }
    /// Whether everything and the FIN were acknowledged.
    pub fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    fn on_open(&mut self, now: Instant) {
        if self.state != State::Closed {
            return;
        }
        self.state = State::SynSent;
        self.nxt = 1;
        self.send_syn(now);
    }

    fn send_syn(&mut self, now: Instant) {
        let again = self.max == 1;
        self.stats.sent_segments += 1;
        self.stats.retransmits += u64::from(again);
        self.timed = (!again).then_some((1, now));
        self.max = 1;
        self.last_sent = now;
        let flags = Flags {
            syn: true,
            ack: false,
            fin: false,
            window_scale: self.config.window_scaling,
            sack_permitted: self.config.variant.has_sack(),
        };
        let segment =
            Segment { flags, timestamp: self.timestamp(now), window: self.own_window(), ..Segment::default() };
        self.outputs.push_back(SenderOutput::Segment(segment));
        self.restart_timer(now);
    }

    /// The handshake's second segment came: acknowledge it and begin.
    fn on_syn_ack(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.ack || segment.ack != 1 {
            return;
        }
        self.state = State::Established;
        self.una = 1;
        self.peer_next = segment.end();
        self.note_window(segment);
        self.take_sample(now, segment);
        if self.syn_lost {
            self.rto.after_lost_syn();
            self.window.restart(self.mss);
        }
        self.timer = None;
        self.outputs.push_back(SenderOutput::Connected);
        self.send_pure_ack(now);
        self.transmit(now);
    }

    fn on_segment(&mut self, now: Instant, segment: &Segment) {
        if let Some((value, _)) = segment.timestamp {
            self.peer_clock = self.peer_clock.max(value);
        }
        match self.state {
            State::Closed => {}
            State::SynSent if segment.flags.syn => self.on_syn_ack(now, segment),
            State::SynSent => {}
            // Our acknowledgement of the handshake was lost.
            State::Established | State::Finished if segment.flags.syn => self.send_pure_ack(now),
            State::Established | State::Finished => {
                if segment.flags.fin {
                    self.peer_next = self.peer_next.max(segment.end());
                }
                if segment.flags.ack && self.state == State::Established {
                    self.on_ack(now, segment);
                }
                if segment.flags.fin {
                    self.send_pure_ack(now);
                }
            }
        }
    }

    fn send_pure_ack(&mut self, now: Instant) {
        let segment = Segment {
            seq: self.nxt,
            ack: self.peer_next,
            flags: Flags { ack: true, ..Flags::default() },
            timestamp: self.timestamp(now),
            window: self.own_window(),
            ..Segment::default()
        };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// The window offered to a peer that has nothing to send.
    fn own_window(&self) -> u32 {
        self.config.receive_buffer.as_u64().min(MAX_UNSCALED_WINDOW) as u32
    }
    fn timestamp(&self, now: Instant) -> Option<(Instant, Instant)> {
        self.config.timestamps.then_some((now, self.peer_clock))
    }
    fn note_window(&mut self, segment: &Segment) {
        self.rwnd = u64::from(segment.window);
        self.max_rwnd = self.max_rwnd.max(self.rwnd);
    }

    /// Takes the round trip that `segment` ends, if it ends one that counts (Karn; with timestamps all count).
    fn take_sample(&mut self, now: Instant, segment: &Segment) {
        let sent = match (segment.timestamp, self.timed) {
            (Some((_, echo)), _) => echo,
            (None, Some((end, sent))) if segment.ack >= end => sent,
            _ => return,
        };
        self.timed = None;
        self.rto.sample(sent, now);
        self.stats.rtt_samples += 1;
    }

    fn restart_timer(&mut self, now: Instant) {
        self.timer = Some((Timer::Retransmit, self.rto.expires(now)));
    }

    /// Nothing came for a timeout: sends the first missing segment, then everything after it in slow start.
    fn on_retransmission_timeout(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        let again = self.recovery == Recovery::Timeout && self.rto.is_backed_off();
        self.rto.back_off();
        if self.state == State::SynSent {
            self.syn_lost = true;
            self.send_syn(now);
            return;
        }
        self.window.on_timeout(self.nxt - self.una, again);
        self.recovery = Recovery::Timeout;
        self.recover = self.max;
        self.dup_acks = 0;
        self.limited = 0;
        self.board.clear();
        // Whatever window is offered: the peer may have lost its update.
        let end = self.cut(self.una, self.max);
        self.send(now, self.una, end);
        self.nxt = end;
        self.restart_timer(now);
    }

    /// The window stays closed: asks with one byte, or with as much as it lets through (RFC 9293, section 3.8.6.1).
    fn on_persist(&mut self, now: Instant) {
        let limit = self.una + self.rwnd.max(1);
        let end = self.cut(self.nxt, limit.min(self.written));
        let retransmits = self.stats.retransmits;
        self.stats.window_probes += 1;
        self.send(now, self.nxt, end);
        self.stats.retransmits = retransmits;
        // A probe's answer may wait for the window: it measures nothing.
        self.timed = None;
        self.probes += 1;
        self.start_persist(now);
    }

    fn start_persist(&mut self, now: Instant) {
        let span = self.rto.timeout().saturating_mul(1 << self.probes.min(63)).min(self.config.max_rto);
        self.timer = Some((Timer::Persist, self.rto.expires_after(now, span)));
    }
}

impl Machine for Rfc {
    type Input = SenderInput;
    type Output = SenderOutput;

    fn handle_input(&mut self, now: Instant, input: SenderInput) {
        match input {
            SenderInput::Segment(segment) => self.on_segment(now, &segment),
            SenderInput::Open => self.on_open(now),
            SenderInput::Write(bytes) => {
                if !self.closing {
                    self.written = self.written.saturating_add(bytes.as_u64());
                    self.transmit(now);
                }
            }
            SenderInput::WriteForever => {
                if !self.closing {
                    self.written = u64::MAX;
                    self.transmit(now);
                }
            }
            SenderInput::Close => {
                if !self.closing {
                    self.closing = true;
                    if self.written == u64::MAX {
                        self.written = self.max.max(1);
                    }
                    self.transmit(now);
                }
            }
        }
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
        self.outputs.pop_front()
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
