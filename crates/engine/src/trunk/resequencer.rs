//! The receiving side: restores the order, and learns how long that takes (Wang 2005, section 3.3).
//!
//! A packet that comes too early is held until those before it have come, but no longer than the reordering timer.
//! The timer adapts: each packet that comes after its place was given up lengthens it, a quiet while halves it.
//!
//! ```text
//!   delivered ... | next ------- hole ------- | held | hole | held held |
//!                   ^ first hole: the reordering timer runs since it became the first
//! ```
//!
//! No packet is ever delivered twice: the last 4096 numbers are remembered.

use super::header::Header;
use super::policy::{LateMode, Resequencer};
use super::stats::ReceiverStats;
use super::window::{ReceivedWindow, WINDOW};
use super::{DropReason, Output};
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// A packet, or run, that waits for its turn.
#[derive(Debug)]
struct Held<P> {
    number: SeqNum,
    packet: P,
    since: Instant,
}

/// The receiving side of a trunk.
#[derive(Debug)]
pub struct Receiver<P> {
    config: Resequencer,
    epoch: Option<u16>,
    /// The number that is to be delivered next: that of the first hole.
    next: SeqNum,
    /// What came early, in order.
    held: VecDeque<Held<P>>,
    received: ReceivedWindow,
    /// The reordering timer's present length.
    hold_time: Duration,
    /// When the first hole became the first, while anything is held.
    hole_since: Option<Instant>,
    /// When the hold time will be halved.
    decay_at: Option<Instant>,
    stats: ReceiverStats,
}

/// The first number of each epoch.
const FIRST: SeqNum = SeqNum(1);

impl<P: Packet> Receiver<P> {
    /// A receiver that expects the first number of whatever epoch comes first.
    pub fn new(config: Resequencer) -> Self {
        // What may still fill a hole must not be forgotten: half the window for the hole, half for a long run.
        let buffer_limit = config.buffer_limit.clamp(1, WINDOW / 2);
        Self {
            config: Resequencer { buffer_limit, ..config },
            epoch: None,
            next: FIRST,
            held: VecDeque::new(),
            received: ReceivedWindow::new(FIRST.prev()),
            hold_time: config.initial.clamp(config.minimum, config.maximum),
            hole_since: None,
            decay_at: None,
            stats: ReceiverStats::default(),
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
    /// How long a packet is held for those before it, at present.
    pub fn hold_time(&self) -> Duration {
        self.hold_time
    }
    /// How many packets wait for their turn.
    pub fn held_len(&self) -> usize {
        self.held.len()
    }

    /// A frame has come.
    pub fn on_frame(&mut self, now: Instant, header: Header, packet: P, outputs: &mut VecDeque<Output<P>>) {
        if !self.accept_epoch(now, &header, outputs) || self.received.is_forgotten(header.number) {
            self.stats.stale += 1;
            outputs.push_back(Output::Drop(packet, DropReason::Stale));
            return;
        }
        if header.number.distance_from(self.next) >= self.config.buffer_limit as i32 {
            self.leap(now, header.number, outputs);
        }
        if !self.received.insert_run(header.number, packet.segments()) {
            self.stats.duplicates += 1;
            outputs.push_back(Output::Drop(packet, DropReason::Duplicate));
            return;
        }
        match header.number.distance_from(self.next) {
            ..0 => self.on_late(now, packet, outputs),
            0 => {
                self.next = header.number.plus(packet.segments());
                self.deliver(Duration::ZERO, packet, outputs);
                self.drain(now, outputs);
            }
            1.. => self.hold(now, header.number, packet),
        }
    }

    /// Whether a frame of `epoch` belongs to the present life of the sender; a newer one begins a new life.
    fn accept_epoch(&mut self, now: Instant, header: &Header, outputs: &mut VecDeque<Output<P>>) -> bool {
        let Header { epoch, number, .. } = *header;
        match self.epoch {
            Some(current) if current == epoch => return true,
            Some(current) if (epoch.wrapping_sub(current) as i16) < 0 => return false,
            Some(_) => {
                self.flush(now, outputs);
                self.stats.resyncs += 1;
            }
            None => {}
        }
        self.epoch = Some(epoch);
        self.next = FIRST;
        self.received = ReceivedWindow::new(FIRST.prev());
        if number.is_before(FIRST) {
            // A receiver that joins more than 2^31 numbers into the sender's life: this is no packet of long ago.
            self.leap(now, number, outputs);
        }
        true
    }

    /// The numbers leap further than can be held: go on behind the leap.
    fn leap(&mut self, now: Instant, number: SeqNum, outputs: &mut VecDeque<Output<P>>) {
        self.flush(now, outputs);
        self.next = number;
        self.received.leap(number.prev());
        self.stats.resyncs += 1;
    }

    fn hold(&mut self, now: Instant, number: SeqNum, packet: P) {
        // Most come in order: look from the back.
        let behind = self.held.iter().rev().take_while(|held| number.is_before(held.number)).count();
        self.held.insert(self.held.len() - behind, Held { number, packet, since: now });
        self.hole_since.get_or_insert(now);
    }

    fn on_late(&mut self, now: Instant, packet: P, outputs: &mut VecDeque<Output<P>>) {
        self.stats.late += 1;
        self.hold_time = (self.hold_time + self.config.increment).min(self.config.maximum);
        self.decay_at = Some(now + self.config.decay);
        match self.config.mode {
            LateMode::Tcp => self.deliver(Duration::ZERO, packet, outputs),
            LateMode::Strict => outputs.push_back(Output::Drop(packet, DropReason::Late)),
        }
    }

    fn deliver(&mut self, waited: Duration, packet: P, outputs: &mut VecDeque<Output<P>>) {
        self.stats.delivered += 1;
        self.stats.waited += waited;
        outputs.push_back(Output::Deliver(packet));
    }

    /// Delivers what the filled hole held up; the next hole, if there is one, is new.
    fn drain(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        while self.held.front().is_some_and(|held| held.number == self.next) {
            self.deliver_front(now, outputs);
        }
        self.hole_since = (!self.held.is_empty()).then_some(now);
    }

    /// Gives up all holes: delivers everything held, in order.
    fn flush(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        while !self.held.is_empty() {
            self.deliver_front(now, outputs);
        }
        self.hole_since = None;
    }

    fn deliver_front(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        if let Some(held) = self.held.pop_front() {
            self.next = held.number.plus(held.packet.segments());
            self.deliver(now - held.since, held.packet, outputs);
        }
    }

    /// Fires what is due.
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<Output<P>>) {
        // The halving first: it may make the flush due.
        if self.decay_at.is_some_and(|at| at <= now) {
            self.hold_time = (self.hold_time / 2).max(self.config.minimum);
            let repeats = self.config.repeat_halving && self.hold_time > self.config.minimum;
            self.decay_at = repeats.then(|| now + self.config.decay);
        }
        if self.flush_at().is_some_and(|at| at <= now) {
            self.stats.timer_expiries += 1;
            self.flush(now, outputs);
        }
    }

    /// The earliest timer.
    pub fn wake(&self) -> Option<Wake> {
        let flush = self.flush_at().map(|at| Wake { at, why: "trunk.reorder" });
        let decay = self.decay_at.map(|at| Wake { at, why: "trunk.decay" });
        match (flush, decay) {
            (Some(flush), Some(decay)) => Some(if decay.at < flush.at { decay } else { flush }),
            (flush, decay) => flush.or(decay),
        }
    }

    fn flush_at(&self) -> Option<Instant> {
        self.hole_since.map(|since| since + self.hold_time)
    }
}
