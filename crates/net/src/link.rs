//! A plain point-to-point link: one direction, with a queue, a rate, a delay, jitter and loss.
//!
//! It never looks at a packet but for its length, never copies one, and loses none without saying why. A packet costs
//! one wake-up: when serialisation begins and ends is computed, not waited for. Equations: `docs/models/link.md`.

use crate::Refusal;
use crate::loss::{Loss, LossProcess};
use airbraid_engine::{Machine, Packet, Stream, Wake};
use airbraid_units::{BitRate, Bytes, Duration, Instant, metrics};
use std::collections::VecDeque;

/// One direction of a plain link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Serialisation rate; `None`: no time at all.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Uniform extra delay between zero and this; packets are not reordered by it unless `reorder`.
    pub jitter: Duration,
    /// Whether jitter may reorder.
    pub reorder: bool,
    /// Packets that may wait besides the one being sent.
    pub queue_limit: u32,
    /// The longest packet that passes; a longer one is lost without a report. `None`: of any length.
    pub mtu: Option<Bytes>,
    /// Losses on the way.
    pub loss: Loss,
}

impl LinkConfig {
    /// Refuses values that no link can work with.
    ///
    /// # Errors
    /// The first parameter out of its range, and what is asked of it.
    pub fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.rate != Some(BitRate::from_bps(0)), "rate", "be more than zero")?;
        Refusal::unless(self.loss != Loss::Trace(Vec::new()), "loss", "name at least one packet")
    }
}

/// Everything that the host tells a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkInput<P> {
    /// A packet to carry.
    Packet(P),
    /// The link goes up or down; down, it drops everything that it holds and that it is offered.
    SetUp(bool),
    /// New parameters, which [`LinkConfig::check`] accepts (others are ignored): they count for packets whose
    /// serialisation begins from now on.
    SetConfig(LinkConfig),
}

/// The reason why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// It was lost on the way.
    Loss,
    /// The link was down, or went down while it was on the way.
    LinkDown,
    /// It is longer than the link's MTU.
    TooLong,
}

/// Everything that a link tells its host.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkOutput<P> {
    /// The last bit of the packet has arrived.
    Deliver(P),
    /// The packet will not arrive; one lost on the way is returned at the time at which it would have arrived.
    Dropped(P, DropReason),
}

metrics! {
    /// The counters of a link; `offered` is the sum of the others and of [`Link::in_flight`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LinkStats {
        /// Packets that came in.
        pub offered: u64,
        /// Packets that came out.
        pub delivered: u64 = sum,
        /// Packets that found the queue full.
        pub dropped_queue: u64 = sum "queue_drops",
        /// Packets lost on the way.
        pub dropped_loss: u64 = sum "lost",
        /// Packets that found or met a link that is down.
        pub dropped_down: u64,
        /// Packets longer than its MTU.
        pub dropped_long: u64 = rare "too_long",
    }
}

/// A packet whose serialisation has begun.
#[derive(Clone, Debug)]
struct Sent<P> {
    arrives: Instant,
    lost: bool,
    packet: P,
}

/// One direction of a plain link.
#[derive(Clone, Debug)]
pub struct Link<P> {
    config: LinkConfig,
    up: bool,
    is_queue_watched: bool,
    /// Packets whose serialisation has not begun.
    queue: VecDeque<P>,
    /// End of the last packet's serialisation.
    free_at: Instant,
    /// Sum of all serialisation times, that of the last packet to its end.
    busy: Duration,
    /// Packets under way, in order of arrival.
    sent: VecDeque<Sent<P>>,
    loss: LossProcess,
    jitter: Stream,
    outputs: VecDeque<LinkOutput<P>>,
    stats: LinkStats,
}

impl<P: Packet> Link<P> {
    /// A link that is up and idle; `id` separates its random streams from those of other links with the same `seed`.
    ///
    /// # Errors
    /// If [`LinkConfig::check`] refuses the configuration.
    pub fn new(config: LinkConfig, seed: u64, id: u64) -> Result<Self, Refusal> {
        config.check()?;
        Ok(Self {
            loss: LossProcess::new(&config.loss, Stream::new(seed, id, "link.loss")),
            jitter: Stream::new(seed, id, "link.jitter"),
            config,
            up: true,
            is_queue_watched: false,
            queue: VecDeque::new(),
            free_at: Instant::ZERO,
            busy: Duration::ZERO,
            sent: VecDeque::new(),
            outputs: VecDeque::new(),
            stats: LinkStats::default(),
        })
    }

    pub const fn stats(&self) -> &LinkStats {
        &self.stats
    }
    /// Wakes the host whenever a waiting packet's serialisation begins too: for a source that fills the queue as it
    /// empties. This costs a second wake-up a packet, so it is off unless asked for.
    pub const fn watch_queue(&mut self) {
        self.is_queue_watched = true;
    }
    /// Packets that waited for their serialisation to begin when the link was last called; with [`Self::watch_queue`]
    /// that is always now.
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }
    /// Number of packets in the link: waiting, being serialised, on the way.
    pub fn in_flight(&self) -> usize {
        self.queue.len() + self.sent.len()
    }

    /// Its rate now; `None`: no limit.
    pub const fn rate(&self) -> Option<BitRate> {
        self.config.rate
    }

    /// Time up to `now` in which it serialised packets.
    pub fn busy(&self, now: Instant) -> Duration {
        // Between two calls packets follow each other without a call for each.
        let waiting = if self.queue.is_empty() { Duration::ZERO } else { now.saturating_since(self.free_at) };
        self.busy.saturating_sub(self.free_at.saturating_since(now)) + waiting
    }

    fn on_packet(&mut self, now: Instant, packet: P) {
        self.stats.offered += 1;
        if !self.up {
            self.drop_packet(packet, DropReason::LinkDown);
        } else if self.config.mtu.is_some_and(|mtu| packet.len() > mtu) {
            self.drop_packet(packet, DropReason::TooLong);
        } else if self.queue.is_empty() && self.free_at <= now {
            self.begin(now, packet);
        } else if self.queue.len() < self.config.queue_limit as usize {
            self.queue.push_back(packet);
        } else {
            self.drop_packet(packet, DropReason::QueueFull);
        }
    }

    /// Serialisation begins at `at`: the packet's loss and delay are decided here.
    fn begin(&mut self, at: Instant, packet: P) {
        let time = self.config.rate.map_or(Duration::ZERO, |rate| rate.time_for(packet.len()));
        self.free_at = at + time;
        self.busy += time;
        // Both are drawn for every packet, lost or not: neither pattern depends on the other.
        let jitter = self.draw_jitter();
        let lost = self.loss.is_lost();
        let mut arrives = self.free_at + self.config.delay + jitter;
        let mut place = self.sent.len();
        if self.config.reorder {
            place = self.sent.partition_point(|other| other.arrives <= arrives);
        } else if let Some(last) = self.sent.back() {
            arrives = arrives.max(last.arrives);
        }
        self.sent.insert(place, Sent { arrives, lost, packet });
    }

    /// Uniform over whole nanoseconds from zero to the configured jitter; bias below 2^-64 times it.
    fn draw_jitter(&mut self) -> Duration {
        let range = u128::from(self.config.jitter.as_nanos()) + 1;
        if range == 1 {
            return Duration::ZERO;
        }
        Duration::from_nanos(((u128::from(self.jitter.next_u64()) * range) >> 64) as u64)
    }

    /// Carries out all events up to `now`.
    fn catch_up(&mut self, now: Instant) {
        while self.free_at <= now {
            let Some(packet) = self.queue.pop_front() else { break };
            self.begin(self.free_at, packet);
        }
        while self.sent.front().is_some_and(|first| first.arrives <= now) {
            let Some(Sent { lost, packet, .. }) = self.sent.pop_front() else { break };
            if lost {
                self.drop_packet(packet, DropReason::Loss);
            } else {
                self.stats.delivered += 1;
                self.outputs.push_back(LinkOutput::Deliver(packet));
            }
        }
    }

    fn drop_packet(&mut self, packet: P, reason: DropReason) {
        match reason {
            DropReason::QueueFull => self.stats.dropped_queue += 1,
            DropReason::Loss => self.stats.dropped_loss += 1,
            DropReason::LinkDown => self.stats.dropped_down += 1,
            DropReason::TooLong => self.stats.dropped_long += 1,
        }
        self.outputs.push_back(LinkOutput::Dropped(packet, reason));
    }

    fn set_up(&mut self, now: Instant, up: bool) {
        self.up = up;
        if !up {
            self.free_at = now;
            while let Some(Sent { packet, .. }) = self.sent.pop_front() {
                self.drop_packet(packet, DropReason::LinkDown);
            }
            while let Some(packet) = self.queue.pop_front() {
                self.drop_packet(packet, DropReason::LinkDown);
            }
        }
    }

    fn set_config(&mut self, config: LinkConfig) {
        if config.check().is_err() {
            return;
        }
        // A pattern or a burst goes on if only something else changed.
        if config.loss != self.config.loss {
            self.loss.change(&config.loss);
        }
        self.config = config;
    }
}

impl<P: Packet> Machine for Link<P> {
    type Input = LinkInput<P>;
    type Output = LinkOutput<P>;

    fn handle_input(&mut self, now: Instant, input: LinkInput<P>) {
        self.catch_up(now);
        match input {
            LinkInput::Packet(packet) => self.on_packet(now, packet),
            LinkInput::SetUp(up) => self.set_up(now, up),
            LinkInput::SetConfig(config) => self.set_config(config),
        }
        // A link without rate and delay delivers at once.
        self.catch_up(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.catch_up(now);
    }

    fn poll_output(&mut self) -> Option<LinkOutput<P>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        let first = self.sent.front()?.arrives;
        // A packet that still waits can overtake only where jitter may reorder.
        let is_early = !self.queue.is_empty() && (self.config.reorder || self.is_queue_watched) && self.free_at < first;
        Some(if is_early {
            Wake { at: self.free_at, why: "link.service" }
        } else {
            Wake { at: first, why: "link.arrival" }
        })
    }
}
