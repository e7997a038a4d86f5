//! The sending end as Linux has it: segments with their times, RACK and tail loss probes, proportional rate reduction,
//! HyStart, F-RTO, and reductions that are undone when they prove needless; or BBR, which paces.
//!
//! RFC 9293, 8985, 6937, 5682, 2883, 3522 and the documented behaviour of the kernel, retold. It never joins
//! segments for the interface (TSO), never sees an interface's queue (TCP small queues): `docs/models/tcp.md`.

mod ack;
mod bbr;
mod cubic;
mod delivery;
mod flight;
mod hystart;
mod news;
mod pace;
mod probe;
mod prr;
mod rack;
mod recovery;
mod rtt;
mod sent;
mod transmit;
mod window;

use super::config::{Config, Variant};
use super::connection::{Connection, Sending, State};
use super::segment::Segment;
use super::service::{SenderInput, SenderLimit, SenderOutput, SenderStats};
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use bbr::Bbr;
use delivery::Delivery;
use flight::Flight;
use pace::Pacer;
use probe::Probe;
use prr::Prr;
use rack::Rack;
use rtt::Rtt;
use window::Window;

/// Segments above a gap that prove a loss until reordering is seen (`tcp_reordering`).
const REORDERING: u64 = 3;

/// The phase of loss recovery, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// No loss, no reordering.
    Open,
    /// Something arrived out of order, or was retransmitted; nothing is known to be lost.
    Disorder,
    /// A segment was lost: retransmissions and new data in proportion to arrivals.
    Recovery,
    /// The timer expired: slow start through all that is lost.
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

/// The state that tells whether a reduction was needless.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The lowest unacknowledged offset when it was made; `None`: there is nothing to undo.
    marker: Option<u64>,
    /// Retransmissions that were not yet reported as needless; `None`: none was sent.
    open: Option<u64>,
    /// The time of the first retransmission.
    since: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(super) struct Linux {
    tcp: Connection,
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
    /// Extent of the reordering seen \[segments\], and whether there was any.
    reordering: u64,
    reordered: bool,
    /// Segments known to have arrived.
    delivery: Delivery,
    /// BBR, which sets pace and window, where it is the congestion control; and the pace.
    bbr: Option<Box<Bbr>>,
    pacer: Pacer,
    /// Segments reported as needless.
    duplicates: u64,
    /// Timeouts since the cumulative acknowledgement moved.
    expiries: u32,
    syn_sent: Instant,
    timer: Option<(Timer, Instant)>,
    probes: u32,
}

impl Linux {
    /// The sending end of a connection that is not open yet; `config` was checked.
    pub fn new(config: Config) -> Self {
        Self {
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
            delivery: Delivery::default(),
            bbr: (config.variant == Variant::Bbr)
                .then(|| Box::new(Bbr::new(config.mss.as_u64(), config.initial_cwnd() / config.mss.as_u64()))),
            pacer: Pacer::default(),
            duplicates: 0,
            expiries: 0,
            syn_sent: Instant::ZERO,
            timer: None,
            probes: 0,
            tcp: Connection::new(config),
        }
    }

    pub const fn stats(&self) -> &SenderStats {
        &self.tcp.stats
    }
    pub const fn cwnd(&self) -> Bytes {
        Bytes::new(self.window.cwnd * self.tcp.mss)
    }
    /// The window that the receiver offers.
    pub const fn offered(&self) -> Bytes {
        Bytes::new(self.tcp.rwnd)
    }
    /// The slow start threshold; `None` before the first loss.
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.window.ssthresh().map(|segments| Bytes::new(segments * self.tcp.mss))
    }
    /// The smoothed round trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }
    /// The retransmission timeout, backoff included.
    pub fn rto(&self) -> Duration {
        self.rtt.timeout()
    }
    /// The reason why nothing more is sent now.
    pub fn limit(&self) -> SenderLimit {
        match (self.tcp.state, self.phase) {
            (State::Closed | State::Finished, _) => SenderLimit::Idle,
            (State::SynSent, _) => SenderLimit::Handshake,
            (State::Established, Phase::Loss) => SenderLimit::Timeout,
            (State::Established, Phase::Recovery) => SenderLimit::Recovery,
            (State::Established, Phase::Open | Phase::Disorder) => {
                let grows = self.bbr.is_none() && self.window.ssthresh().is_none();
                let window = if grows { SenderLimit::SlowStart } else { SenderLimit::CongestionWindow };
                self.tcp.limit().unwrap_or(window)
            }
        }
    }
    /// Sent and not acknowledged.
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
}

impl Sending for Linux {
    fn connection(&mut self) -> &mut Connection {
        &mut self.tcp
    }

    fn sent(&self) -> u64 {
        self.tcp.nxt
    }

    fn send_syn(&mut self, now: Instant) {
        self.syn_sent = now;
        self.tcp.send_syn(now);
        self.start_timer(now, Timer::Retransmit, self.rtt.timeout());
    }

    fn begin(&mut self, now: Instant, segment: &Segment) {
        self.high = 1;
        let sent = match segment.timestamp {
            Some((_, echo)) => Some(echo),
            None => (!self.tcp.syn_lost).then_some(self.syn_sent),
        };
        if let Some(sent) = sent {
            let r = now.saturating_since(sent);
            self.rtt.note_least(now, r);
            self.rtt.sample(r, self.tcp.una, self.tcp.nxt);
            self.tcp.stats.rtt_samples += 1;
            self.tcp.stats.rtt_sum += r;
        }
        self.expiries = 0;
        self.tcp.last_sent = now;
        // One SYN too many may be a late answer; two are a loss.
        self.window.begin(now, self.tcp.nxt, self.tcp.stats.retransmits > 1);
        if let Some(bbr) = &mut self.bbr {
            let srtt = self.rtt.srtt();
            bbr.begin(now, self.window.cwnd, srtt.map(|_| self.rtt.least()), srtt);
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

impl Machine for Linux {
    type Input = SenderInput;
    type Output = SenderOutput;

    fn handle_input(&mut self, now: Instant, input: SenderInput) {
        self.on_input(now, input);
        // A timer that is due at this very time has had its chance to be made needless.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.pacer.is_due(now) {
            self.send_paced(now);
        }
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
        self.tcp.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let paced = self.pacer.wake().map(|at| Wake { at, why: "tcp.pace" });
        let timed = self.timer.map(|(timer, at)| {
            let why = match timer {
                Timer::Retransmit => "tcp.retransmit",
                Timer::Reorder => "tcp.reorder",
                Timer::Probe => "tcp.probe",
                Timer::Persist => "tcp.persist",
            };
            Wake { at, why }
        });
        paced.into_iter().chain(timed).min_by_key(|wake| wake.at)
    }
}
