//! The state of a connection that all senders share: the handshake, the stream, the offered window, the peer's clock.
//!
//! RFC 9293. It knows nothing of congestion, loss and timers: those are what distinguishes the senders.

use super::config::{Config, MAX_UNSCALED_WINDOW};
use super::segment::{Flags, Segment};
use super::service::{SenderInput, SenderLimit, SenderOutput, SenderStats};
use airbraid_units::{Bytes, Instant};
use std::collections::VecDeque;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
    /// Everything was acknowledged; a retransmitted FIN of the peer is still answered.
    Finished,
}

/// The sender's next step after a segment of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    Nothing,
    /// To begin: the handshake's second segment, whose acknowledgement is on its way.
    Begin,
    /// Look at its acknowledgement if it has one, and then acknowledge it if it takes numbers.
    Look {
        acknowledges: bool,
        takes: bool,
    },
}

/// The steps of every sender; the senders differ in how they take them.
pub(super) trait Sending {
    fn connection(&mut self) -> &mut Connection;
    /// The end of what has ever been sent.
    fn sent(&self) -> u64;
    fn send_syn(&mut self, now: Instant);
    /// The handshake's second segment has come.
    fn begin(&mut self, now: Instant, segment: &Segment);
    fn take_ack(&mut self, now: Instant, segment: &Segment);
    /// Sends what the windows let through.
    fn send_more(&mut self, now: Instant);

    fn on_input(&mut self, now: Instant, input: SenderInput) {
        match input {
            SenderInput::Segment(segment) => self.on_segment(now, &segment),
            SenderInput::Open => {
                if self.connection().open() {
                    self.send_syn(now);
                }
            }
            input => {
                let sent = self.sent();
                if self.connection().on_application(input, sent) {
                    self.send_more(now);
                }
            }
        }
    }

    fn on_segment(&mut self, now: Instant, segment: &Segment) {
        match self.connection().hear(now, segment) {
            NextStep::Nothing => {}
            NextStep::Begin => self.begin(now, segment),
            NextStep::Look { acknowledges, takes } => {
                if acknowledges {
                    self.take_ack(now, segment);
                }
                if takes {
                    self.connection().send_pure_ack(now);
                }
            }
        }
    }
}

/// One end of a connection, the one that has the data.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub config: Config,
    pub mss: u64,
    pub state: State,
    /// The lowest offset that is not acknowledged.
    pub una: u64,
    /// The next offset to send.
    pub nxt: u64,
    /// End of the written stream.
    pub written: u64,
    pub closing: bool,
    /// The offered window, and the largest ever.
    pub rwnd: u64,
    max_rwnd: u64,
    /// The SYN was retransmitted.
    pub syn_lost: bool,
    pub last_sent: Instant,
    /// The peer's clock, to be echoed.
    peer_clock: Instant,
    /// The next offset of the peer's stream: its SYN, and at the end its FIN.
    peer_next: u64,
    pub outputs: VecDeque<SenderOutput>,
    pub stats: SenderStats,
}

impl Connection {
    /// A connection that is not open yet; `config` was checked.
    pub fn new(config: Config) -> Self {
        Self {
            mss: config.mss.as_u64(),
            state: State::Closed,
            una: 0,
            nxt: 0,
            written: 1,
            closing: false,
            rwnd: 0,
            max_rwnd: 0,
            syn_lost: false,
            last_sent: Instant::ZERO,
            peer_clock: Instant::ZERO,
            peer_next: 0,
            outputs: VecDeque::new(),
            stats: SenderStats::default(),
            config,
        }
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

    /// Handles an input of the application; `sent` is the end of what has ever been sent. Returns whether there may be
    /// something to send.
    pub fn on_application(&mut self, input: SenderInput, sent: u64) -> bool {
        if self.closing {
            return false;
        }
        match input {
            SenderInput::Write(bytes) => self.written = self.written.saturating_add(bytes.as_u64()),
            SenderInput::WriteForever => self.written = u64::MAX,
            SenderInput::Close => {
                self.closing = true;
                if self.written == u64::MAX {
                    self.written = sent.max(1);
                }
            }
            SenderInput::Open | SenderInput::Segment(_) => return false,
        }
        true
    }

    /// Opens, unless it has; returns whether to send a SYN.
    pub fn open(&mut self) -> bool {
        if self.state != State::Closed {
            return false;
        }
        self.state = State::SynSent;
        self.nxt = 1;
        true
    }

    /// Sends the handshake's first segment.
    pub fn send_syn(&mut self, now: Instant) {
        self.stats.sent_segments += 1;
        self.stats.retransmits += u64::from(self.syn_lost);
        self.last_sent = now;
        let flags = Flags {
            syn: true,
            ack: false,
            fin: false,
            window_scale: self.config.window_scaling,
            sack_permitted: self.config.has_sack(),
        };
        let segment = Segment { flags, ..self.blank(now) };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// Takes a segment of the peer.
    fn hear(&mut self, now: Instant, segment: &Segment) -> NextStep {
        if let Some((value, _)) = segment.timestamp {
            self.peer_clock = self.peer_clock.max(value);
        }
        match self.state {
            State::SynSent if segment.flags.syn && segment.flags.ack && segment.ack == 1 => {
                self.begin(now, segment);
                NextStep::Begin
            }
            State::Closed | State::SynSent => NextStep::Nothing,
            // Our acknowledgement of the handshake was lost.
            State::Established | State::Finished if segment.flags.syn => {
                self.send_pure_ack(now);
                NextStep::Nothing
            }
            State::Established | State::Finished => {
                let fin = segment.flags.fin;
                if fin {
                    self.peer_next = self.peer_next.max(segment.end());
                }
                let acknowledges = segment.flags.ack && self.state == State::Established;
                NextStep::Look { acknowledges, takes: fin }
            }
        }
    }

    fn begin(&mut self, now: Instant, segment: &Segment) {
        self.state = State::Established;
        self.una = 1;
        self.peer_next = segment.end();
        self.note_window(segment);
        self.outputs.push_back(SenderOutput::Connected);
        self.send_pure_ack(now);
    }

    /// Everything and the FIN were acknowledged: returns whether it just became so.
    pub fn finish(&mut self) -> bool {
        let is_over = self.closing && self.una > self.written;
        if is_over {
            self.state = State::Finished;
            self.outputs.push_back(SenderOutput::Finished);
        }
        is_over
    }

    /// Takes the window that a segment offers.
    pub fn note_window(&mut self, segment: &Segment) {
        self.rwnd = u64::from(segment.window);
        self.max_rwnd = self.max_rwnd.max(self.rwnd);
    }

    /// A segment without payload, SYN or FIN.
    pub fn blank(&self, now: Instant) -> Segment {
        Segment {
            ack: self.peer_next,
            flags: Flags { ack: true, ..Flags::default() },
            timestamp: self.config.timestamps.then_some((now, self.peer_clock)),
            // The window offered to a peer that has nothing to send.
            window: self.config.receive_buffer.as_u64().min(MAX_UNSCALED_WINDOW) as u32,
            ..Segment::default()
        }
    }

    /// Acknowledges the peer's data.
    pub fn send_pure_ack(&mut self, now: Instant) {
        let segment = Segment { seq: self.nxt, ..self.blank(now) };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// Sends the stretch `start..end`, FIN included where the stream ends.
    pub fn send(&mut self, now: Instant, start: u64, end: u64) {
        self.stats.sent_segments += 1;
        self.last_sent = now;
        let segment = Segment {
            seq: start,
            len: (end.min(self.written) - start) as u32,
            flags: Flags { ack: true, fin: end > self.written, ..Flags::default() },
            ..self.blank(now)
        };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// The end of the segment that begins at `start` and stays below `limit`; a FIN that follows the data is included.
    pub fn cut(&self, start: u64, limit: u64) -> u64 {
        let end = self.written.min(start + self.mss).min(limit);
        let fin = self.closing && end == self.written;
        end + u64::from(fin)
    }

    /// The limit of an open connection beside its congestion window; `None`: there is no other.
    pub fn limit(&self) -> Option<SenderLimit> {
        let end = self.written.min(self.nxt + self.mss);
        if end <= self.nxt {
            Some(SenderLimit::Application)
        } else if end > self.una + self.config.send_buffer.as_u64() {
            Some(SenderLimit::SendBuffer)
        } else if end > self.una + self.rwnd {
            Some(SenderLimit::ReceiveWindow)
        } else {
            None
        }
    }

    /// The end of the next segment at `nxt`, if the application, its buffer and the offered window let one through.
    pub fn sendable(&self, limit: u64) -> Option<u64> {
        let end = self.cut(self.nxt, limit);
        let data_end = end.min(self.written);
        if end == self.nxt {
            return None;
        }
        if data_end == self.nxt {
            // A FIN alone takes no room.
            return Some(end);
        }
        // The buffer holds whole segments, not what is left of one.
        if data_end > self.una + self.config.send_buffer.as_u64() {
            return None;
        }
        let offered = self.una + self.rwnd;
        if data_end <= offered {
            return Some(end);
        }
        // Silly window avoidance: less than was asked for goes only if it is half of the largest window.
        let cut = offered.saturating_sub(self.nxt);
        (cut > 0 && 2 * cut >= self.max_rwnd).then_some(offered)
    }
}
