//! The receiving end of a TCP connection: puts the stream in order, acknowledges it, offers a window.
//!
//! RFC 9293, RFC 5681 section 4.2 (when to acknowledge), RFC 2018 (which blocks to report). It has no retransmission
//! timer: whatever it says is said again when the sender repeats its side, SYN and FIN included. The profile `linux`
//! adds quick acknowledgements, reports of duplicates (RFC 2883) and a window that grows by itself.

mod autotune;
mod quick;

use super::config::{Config, MAX_UNSCALED_WINDOW, Profile};
use super::ranges::Ranges;
use super::segment::{Flags, MAX_SACK_BLOCKS, MAX_SACK_BLOCKS_WITH_TIMESTAMPS, SackBlocks, Segment};
use crate::Refusal;
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use arrayvec::ArrayVec;
use autotune::Autotune;
use quick::Quick;
use std::collections::VecDeque;

/// Everything that the host tells a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverInput {
    /// A segment came from the sender.
    Segment(Segment),
    /// The application stops reading: arrivals fill the buffer and close the window.
    Pause,
    /// The application reads again (it does from the start), everything that waits at once.
    Resume,
}

/// Everything that a receiver tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverOutput {
    /// Send this acknowledgement.
    Segment(Segment),
    /// The number of bytes, next in the stream, that the application gets.
    Delivered(Bytes),
    /// The stream has ended: the FIN came, and all before it.
    Finished,
}

/// The counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments that carried payload.
    pub segments: u64,
    /// Segments without new data.
    pub duplicates: u64,
    /// Segments that came before others that precede them in the stream.
    pub out_of_order: u64,
    /// Segments that began beyond the offered window, and were dropped.
    pub outside_window: u64,
    /// Acknowledgements sent.
    pub acks_sent: u64,
    /// Acknowledgements sent because the delay was over.
    pub delayed_acks: u64,
}

/// Number of recent blocks that are reported first: twice as many as fit, as some will have merged.
const RECENT: usize = 2 * MAX_SACK_BLOCKS;

/// Blocks that a report which is held back stands for without loss (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_HELD_BACK: usize = 2;

/// The rules for acknowledgements and for the offered window.
#[derive(Clone, Debug)]
enum Policy {
    /// RFC 5681's limits, and the whole buffer.
    Rfc,
    Linux(Box<(Quick, Autotune)>),
}

/// Difference between the sender's timeout and the round trip in the profile `linux` (`TCP_RTO_MIN`).
const LEAST_RTO: Duration = Duration::from_millis(200);

#[derive(Clone, Debug)]
pub struct Receiver {
    config: Config,
    policy: Policy,
    /// The range that arrived twice and is to be reported, in the profile `linux`.
    needless: Option<(u64, u64)>,
    /// The next offset; zero until the SYN has come.
    next: u64,
    /// The offset of the FIN, once known.
    fin_at: Option<u64>,
    finished: bool,
    held: Ranges,
    /// An offset of each block that grew recently, the latest first.
    recent: ArrayVec<u64, RECENT>,
    /// Bytes in order, but not read by the application.
    unread: u64,
    paused: bool,
    /// Bytes in order since the last acknowledgement.
    unacknowledged: u64,
    /// The time of the delayed acknowledgement: the only timer.
    ack_at: Option<Instant>,
    /// The highest offset acknowledged.
    last_ack: u64,
    /// The highest right edge of the window that was offered: it never moves back.
    edge: u64,
    /// The sender's clock, to be echoed.
    peer_clock: Instant,
    outputs: VecDeque<ReceiverOutput>,
    stats: ReceiverStats,
}

impl Receiver {
    /// The receiving end of a connection that waits for a SYN.
    ///
    /// # Errors
    /// If [`Config::check`] refuses the configuration.
    pub fn new(config: Config) -> Result<Self, Refusal> {
        config.check()?;
        let policy = match config.profile {
            Profile::Rfc | Profile::Bsd => Policy::Rfc,
            Profile::Linux => {
                let tune = Autotune::new(config.mss.as_u64(), config.receive_buffer.as_u64());
                Policy::Linux(Box::new((Quick::default(), tune)))
            }
        };
        Ok(Self {
            config,
            policy,
            needless: None,
            next: 0,
            fin_at: None,
            finished: false,
            held: Ranges::default(),
            recent: ArrayVec::new(),
            unread: 0,
            paused: false,
            unacknowledged: 0,
            ack_at: None,
            last_ack: 0,
            edge: 0,
            peer_clock: Instant::ZERO,
            outputs: VecDeque::new(),
            stats: ReceiverStats::default(),
        })
    }

    pub const fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
    /// Whether the whole stream has come.
    pub const fn is_finished(&self) -> bool {
        self.finished
    }
    /// Payload that is in order.
    pub const fn received(&self) -> Bytes {
        Bytes::new(self.next.saturating_sub(1 + self.finished as u64))
    }

    fn on_segment(&mut self, now: Instant, segment: &Segment) {
        self.note_clock(segment);
        if segment.flags.syn {
            self.next = self.next.max(1);
            self.acknowledge(now, true);
            return;
        }
        if self.next == 0 {
            return;
        }
        if segment.end() == segment.seq {
            // What takes no sequence number wants no answer, unless it asks for the window.
            if segment.seq < self.last_ack && self.config.profile == Profile::Linux {
                self.acknowledge(now, false);
            }
            return;
        }
        self.stats.segments += u64::from(segment.len > 0);
        let due = self.take(now, segment);
        match self.when_to_acknowledge(now, segment, due) {
            Duration::ZERO => self.acknowledge(now, false),
            delay => self.ack_at = Some(self.ack_at.map_or(now + delay, |at| at.min(now + delay))),
        }
    }

    /// Delay of the acknowledgement of `segment`; `due`: the RFCs ask for it at once.
    fn when_to_acknowledge(&mut self, now: Instant, segment: &Segment, due: bool) -> Duration {
        let Policy::Linux(state) = &mut self.policy else {
            return if due { Duration::ZERO } else { self.config.ack_delay };
        };
        let (quick, tune) = &mut **state;
        let (mss, len) = (self.config.mss.as_u64(), u64::from(segment.len));
        let grew = tune.on_data(now, len, segment.timestamp.map(|(_, echo)| echo), self.next);
        let rtt = tune.rtt();
        let rto = LEAST_RTO + rtt.unwrap_or(Duration::ZERO);
        if self.needless.is_some() {
            quick.on_trouble(tune.window(), mss);
            return Duration::ZERO;
        }
        quick.on_data(now, tune.window(), mss, rto);
        if grew {
            quick.on_growth();
        }
        if segment.seq >= self.next {
            // Out of order: nothing moved.
            return if quick.is_due(self.unacknowledged, mss, self.config.ack_every) {
                Duration::ZERO
            } else {
                quick.report_delay(rtt)
            };
        }
        quick.on_progress();
        // A short segment ends what was written: once it is read, its sender may be waiting.
        let pushed = len < mss && !self.paused;
        if due || pushed || quick.is_due(self.unacknowledged, mss, self.config.ack_every) {
            return Duration::ZERO;
        }
        quick.delay(self.config.ack_delay, rtt)
    }

    /// RFC 7323, section 4.3: the clock of the earliest segment that is not acknowledged.
    fn note_clock(&mut self, segment: &Segment) {
        if let Some((value, _)) = segment.timestamp
            && segment.seq <= self.last_ack
        {
            self.peer_clock = self.peer_clock.max(value);
        }
    }

    /// Puts a segment in its place; returns whether it must be acknowledged at once (RFC 5681, section 4.2).
    fn take(&mut self, now: Instant, segment: &Segment) -> bool {
        let end = segment.seq + u64::from(segment.len);
        if segment.end() <= self.next {
            self.report(segment.seq, end);
            self.stats.duplicates += u64::from(segment.len > 0);
            return true;
        }
        let edge = self.next + self.room();
        if segment.len > 0 && segment.seq >= edge {
            self.stats.outside_window += 1;
            return true;
        }
        let kept = end.min(edge);
        if segment.flags.fin && kept == end {
            self.fin_at = Some(end);
        }
        if segment.seq > self.next {
            self.hold(now, segment.seq, kept);
            return true;
        }
        let gap = !self.held.is_empty();
        self.advance(kept);
        gap || kept < end
            || self.finished
            || self.config.ack_delay.is_zero()
            || self.unacknowledged >= u64::from(self.config.ack_every) * self.config.mss.as_u64()
    }

    /// `start..end` came once more (RFC 2883).
    fn report(&mut self, start: u64, end: u64) {
        if self.config.profile == Profile::Linux && start < end {
            self.needless = Some((start, end));
        }
    }

    /// Keeps a segment that came too early.
    fn hold(&mut self, now: Instant, start: u64, end: u64) {
        if start == end {
            // A FIN alone, ahead of data.
            return;
        }
        if self.is_beyond_report(start, end) {
            self.acknowledge(now, false);
        }
        if self.held.insert((start, end)) == 0 {
            self.report(start, end);
            self.stats.duplicates += 1;
        } else {
            self.stats.out_of_order += 1;
        }
        // One offset a block: many segments of one A-MPDU leave those of the blocks before it in place.
        if let Some((first, last)) = self.held.at_or_above(start) {
            self.recent.retain(|point| !(first..last).contains(point));
        }
        if self.recent.is_full() {
            self.recent.pop();
        }
        self.recent.insert(0, start);
    }

    /// Whether `start..end` would push a block out of a report that is held back, which then goes first.
    fn is_beyond_report(&self, start: u64, end: u64) -> bool {
        let Policy::Linux(state) = &self.policy else { return false };
        let touches = |point: &u64| self.held.at_or_above(*point).is_some_and(|(s, e)| s <= end && start <= e);
        let place = || self.recent.iter().position(touches).unwrap_or(self.recent.len());
        state.0.holds_report() && place() >= BLOCKS_HELD_BACK
    }

    /// The stream is in order up to `end`, and on through the held ranges.
    fn advance(&mut self, end: u64) {
        let from = self.next;
        self.next = end;
        if !self.held.is_empty() {
            self.held.remove_below(self.next);
            if let Some((start, end)) = self.held.first()
                && start == self.next
            {
                self.next = end;
                self.held.remove_below(end);
            }
            let next = self.next;
            self.recent.retain(|point| *point >= next);
        }
        let fresh = self.next - from;
        self.unacknowledged += fresh;
        if fresh > 0 && self.paused {
            self.unread += fresh;
        } else if fresh > 0 {
            self.outputs.push_back(ReceiverOutput::Delivered(Bytes::new(fresh)));
        }
        if self.fin_at == Some(self.next) {
            self.next += 1;
            self.finished = true;
            self.outputs.push_back(ReceiverOutput::Finished);
        }
    }

    /// Free space of the buffer from `next` on. Ranges held out of order lie within and take none away.
    fn room(&self) -> u64 {
        let buffer = match &self.policy {
            Policy::Rfc => self.config.receive_buffer.as_u64(),
            Policy::Linux(state) => state.1.window(),
        };
        let most = if self.config.window_scaling { buffer } else { buffer.min(MAX_UNSCALED_WINDOW) };
        most.min(buffer - self.unread.min(buffer))
    }

    /// The window to offer. It opens by a full segment or half the buffer at least (RFC 9293, section 3.8.6.2.2).
    fn offer(&mut self) -> u32 {
        let least = self.config.mss.as_u64().min(self.config.receive_buffer.as_u64() / 2);
        let edge = self.next + self.room();
        if edge >= self.edge + least {
            self.edge = edge;
        }
        self.edge.saturating_sub(self.next) as u32
    }

    fn acknowledge(&mut self, now: Instant, syn: bool) {
        self.ack_at = None;
        self.unacknowledged = 0;
        self.last_ack = self.next;
        self.stats.acks_sent += 1;
        let mut window = self.offer();
        if syn {
            // The window of a SYN is never scaled (RFC 7323, section 2.2).
            window = window.min(MAX_UNSCALED_WINDOW as u32);
        }
        let sack = self.config.has_sack();
        if let Policy::Linux(state) = &mut self.policy {
            state.0.on_sent();
        }
        let segment = Segment {
            seq: u64::from(!syn),
            ack: self.next,
            len: 0,
            window,
            flags: Flags {
                syn,
                ack: true,
                fin: self.finished,
                window_scale: syn && self.config.window_scaling,
                sack_permitted: syn && sack,
            },
            sack: if sack && !(self.held.is_empty() && self.needless.is_none()) {
                self.blocks()
            } else {
                SackBlocks::default()
            },
            timestamp: self.config.timestamps.then_some((now, self.peer_clock)),
        };
        self.outputs.push_back(ReceiverOutput::Segment(segment));
    }

    /// The blocks to report: that of the latest arrival first, then those before it, then any other.
    fn blocks(&mut self) -> SackBlocks {
        let limit = if self.config.timestamps { MAX_SACK_BLOCKS_WITH_TIMESTAMPS } else { MAX_SACK_BLOCKS };
        let mut chosen = ArrayVec::<(u64, u64), MAX_SACK_BLOCKS>::new();
        let latest = self.recent.iter().filter_map(|&point| self.held.at_or_above(point));
        for block in latest.chain(self.held.iter()) {
            if chosen.len() == limit {
                break;
            }
            if !chosen.contains(&block) {
                chosen.push(block);
            }
        }
        let needless = self.needless.take();
        let mut blocks = needless.map_or_else(SackBlocks::default, |range| SackBlocks::of_duplicate(self.next, range));
        chosen.truncate(limit - blocks.len());
        for block in chosen {
            blocks.push(self.next, block);
        }
        blocks
    }

    fn on_resume(&mut self, now: Instant) {
        self.paused = false;
        if self.unread == 0 {
            return;
        }
        let waiting = std::mem::take(&mut self.unread);
        self.outputs.push_back(ReceiverOutput::Delivered(Bytes::new(waiting)));
        // The sender may be waiting for the window to open.
        self.acknowledge(now, false);
    }
}

impl Machine for Receiver {
    type Input = ReceiverInput;
    type Output = ReceiverOutput;

    fn handle_input(&mut self, now: Instant, input: ReceiverInput) {
        match input {
            ReceiverInput::Segment(segment) => self.on_segment(now, &segment),
            ReceiverInput::Pause => self.paused = true,
            ReceiverInput::Resume => self.on_resume(now),
        }
        // A timer that is due at this very time has had its chance to be made needless.
        self.handle_timeout(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.ack_at.is_some_and(|at| at <= now) {
            self.stats.delayed_acks += 1;
            if let Policy::Linux(state) = &mut self.policy {
                let rto = LEAST_RTO + state.1.rtt().unwrap_or(Duration::ZERO);
                state.0.on_expired(rto);
            }
            self.acknowledge(now, false);
        }
    }

    fn poll_output(&mut self) -> Option<ReceiverOutput> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.ack_at.map(|at| Wake { at, why: "tcp.delayed_ack" })
    }
}
