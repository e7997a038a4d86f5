//! The sending end as Linux has it: segments with their times, RACK and tail loss probes, proportional rate reduction,
//! HyStart, F-RTO, and reductions that are taken back when they prove needless.
//!
//! RFC 9293, 8985, 6937, 5682, 2883, 3522 and the documented behaviour of the kernel, retold. It never paces, never joins
//! segments for the interface (TSO), never sees an interface's queue (TCP small queues): `docs/models/tcp.md`.

mod ack;
mod cubic;
mod flight;
mod hystart;
mod probe;
mod prr;
mod rack;
mod recovery;
mod rtt;
mod transmit;
mod window;

use super::config::{Config, MAX_UNSCALED_WINDOW};
use super::segment::{Flags, Segment};
use super::sender::{SenderInput, SenderOutput, SenderStats};
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use flight::Flight;
use probe::Probe;
use prr::Prr;
use rack::Rack;
use rtt::Rtt;
use std::collections::VecDeque;
use window::Window;

/// Segments above a hole that prove a loss until reordering is seen (`tcp_reordering`).
const REORDERING: u64 = 3;

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
    /// Everything was acknowledged; a repeated FIN of the peer is still answered.
    Finished,
}

/// Where loss recovery stands, in the order in which it gets worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// All is well.
    Open,
    /// Something arrived out of order, or was repeated; nothing is known to be lost.
    Disorder,
    /// A segment was lost: repetitions and new data in proportion to what arrives.
    Recovery,
    /// The timer expired: slow start through what is lost.
    Loss,
}

/// The one timer that a sender needs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// Nothing was acknowledged for a timeout.
    Retransmit,
    /// A doubtful segment has waited for the reordering window (RFC 8985, section 6.3).
    Reorder,
    /// The tail of a flight is probed (RFC 8985, section 7).
    Probe,
    /// The offered window is closed and nothing is out that would open it.
    Persist,
}

/// What is needed to tell whether a reduction was needless.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The lowest unacknowledged offset when it was made; `None`: there is nothing to take back.
    marker: Option<u64>,
    /// Repetitions that were not yet reported as needless; `None`: none was sent.
    open: Option<u64>,
    /// When the first repetition was sent.
    since: Option<Instant>,
}

/// The sending end.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    config: Config,
    mss: u64,
    state: State,
    /// The lowest offset that is not acknowledged, and the next one to send.
    una: u64,
    nxt: u64,
    /// Where the written stream ends.
    written: u64,
    closing: bool,
    /// The offered window, and the largest ever.
    rwnd: u64,
    max_rwnd: u64,
    phase: Phase,
    /// `nxt` when the phase began: it ends when this is acknowledged.
    high: u64,
    flight: Flight,
    window: Window,
    rtt: Rtt,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    /// A timeout may have been spurious (RFC 5682).
    frto: bool,
    probe: Option<Probe>,
    /// How far reordering was seen to reach \[segments\], and whether it was.
    reordering: u64,
    reordered: bool,
    /// Segments known to have arrived, needless ones not counted.
    delivered: u64,
    /// Segments reported as needless.
    duplicates: u64,
    /// Timeouts since the cumulative acknowledgement moved.
    expiries: u32,
    syn_sent: Instant,
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

impl Linux {
    /// The sending end of a connection that is not open yet; `config` was checked.
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
            phase: Phase::Open,
            high: 0,
            flight: Flight::default(),
            window: Window::new(&config),
            rtt: Rtt::new(&config),
            rack: Rack::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            frto: false,
            probe: None,
            reordering: REORDERING,
            reordered: false,
            delivered: 0,
            duplicates: 0,
            expiries: 0,
            syn_sent: Instant::ZERO,
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
    /// The congestion window.
    pub const fn cwnd(&self) -> Bytes {
        Bytes::new(self.window.cwnd * self.mss)
    }
    /// The slow start threshold; `None` before the first loss.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh().map(|segments| Bytes::new(segments * self.mss))
    }
    /// The smoothed round trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }
    /// The retransmission timeout, backoff included.
    pub fn rto(&self) -> Duration {
        self.rtt.timeout()
    }
    /// Sent and not acknowledged.
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
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.nxt = 1;
            self.send_syn(now);
        }
    }

    fn send_syn(&mut self, now: Instant) {
        self.stats.sent_segments += 1;
        self.stats.retransmits += u64::from(self.syn_lost);
        self.syn_sent = now;
        self.last_sent = now;
        let flags =
            Flags { syn: true, ack: false, fin: false, window_scale: self.config.window_scaling, sack_permitted: true };
        let segment =
            Segment { flags, timestamp: self.timestamp(now), window: self.own_window(), ..Segment::default() };
        self.outputs.push_back(SenderOutput::Segment(segment));
        self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
    }

    /// The handshake's second segment came: acknowledge it and begin.
    fn on_syn_ack(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.ack || segment.ack != 1 {
            return;
        }
        self.state = State::Established;
        self.una = 1;
        self.high = 1;
        self.peer_next = segment.end();
        self.note_window(segment);
        let sent = match segment.timestamp {
            Some((_, echo)) => Some(echo),
            None => (!self.syn_lost).then_some(self.syn_sent),
        };
        if let Some(sent) = sent {
            let r = now.saturating_since(sent);
            self.rtt.note_least(now, r);
            self.rtt.sample(r, self.una, self.nxt);
            self.stats.rtt_samples += 1;
        }
        self.expiries = 0;
        self.last_sent = now;
        // One SYN too many may be a late answer; two are a loss.
        self.window.begin(now, self.nxt, self.stats.retransmits > 1);
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
        let segment = Segment { seq: self.nxt, ..self.blank(now) };
        self.outputs.push_back(SenderOutput::Segment(segment));
    }

    /// A segment without anything of the stream.
    fn blank(&self, now: Instant) -> Segment {
        Segment {
            ack: self.peer_next,
            flags: Flags { ack: true, ..Flags::default() },
            timestamp: self.timestamp(now),
            window: self.own_window(),
            ..Segment::default()
        }
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
}

impl Machine for Linux {
    type Input = SenderInput;
    type Output = SenderOutput;

    fn handle_input(&mut self, now: Instant, input: SenderInput) {
        match input {
            SenderInput::Segment(segment) => self.on_segment(now, &segment),
            SenderInput::Open => self.on_open(now),
            _ if self.closing => {}
            SenderInput::Write(bytes) => {
                self.written = self.written.saturating_add(bytes.as_u64());
                self.transmit(now);
            }
            SenderInput::WriteForever => {
                self.written = u64::MAX;
                self.transmit(now);
            }
            SenderInput::Close => {
                self.closing = true;
                if self.written == u64::MAX {
                    self.written = self.nxt.max(1);
                }
                self.transmit(now);
            }
        }
        // A timer that is due at this very time has had its chance to be made needless.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let Some((timer, at)) = self.timer else { return };
        if at > now {
            return;
        }
        self.timer = None;
        match timer {
            Timer::Retransmit => self.on_retransmission_timeout(now),
            Timer::Reorder => self.on_reorder_timeout(now),
            Timer::Probe => self.on_probe_timeout(now),
            Timer::Persist => self.on_persist(now),
        }
    }

    fn poll_output(&mut self) -> Option<SenderOutput> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.timer.map(|(timer, at)| {
            let why = match timer {
                Timer::Retransmit => "tcp.retransmit",
                Timer::Reorder => "tcp.reorder",
                Timer::Probe => "tcp.probe",
                Timer::Persist => "tcp.persist",
            };
            Wake { at, why }
        })
    }
}
