//! The receiving side: restores the order, and learns how long that takes (Wang 2005, section 3.3).
//!
//! A packet that comes too early is held until those before it have come, but no longer than the reordering timer,
//! which runs since the first hole became the first. The timer adapts: each packet that comes after its place was given
//! up lengthens it, a quiet while halves it.

use super::PaperOutput;
use super::counts::PaperCounts;
use super::header::TrunkHeader;
use super::policy::Resequencer;
use super::sequence::{Place, Sequence, Standing};
use crate::machine::Wake;
use crate::packet::Packet;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

/// The receiving side of a trunk.
#[derive(Debug)]
pub struct Receiver<P> {
    config: Resequencer,
    sequence: Sequence<P>,
    /// The reordering timer's present length.
    hold_time: Duration,
    /// When the first hole became the first, while anything is held.
    hole_since: Option<Instant>,
    /// When the hold time will be halved.
    decay_at: Option<Instant>,
}

impl<P: Packet> Receiver<P> {
    /// A receiver that expects the first number of whatever epoch comes first.
    pub fn new(config: Resequencer) -> Self {
        Self {
            sequence: Sequence::new(&config),
            hold_time: config.initial.clamp(config.minimum, config.maximum),
            config,
            hole_since: None,
            decay_at: None,
        }
    }

    pub fn counts(&self) -> &PaperCounts {
        &self.sequence.counts
    }
    /// Present time for which a packet is held for those before it.
    pub fn hold_time(&self) -> Duration {
        self.hold_time
    }
    /// Number of packets that wait for their turn.
    pub fn held_len(&self) -> usize {
        self.sequence.held_len()
    }

    /// A frame has come.
    pub fn on_frame(&mut self, now: Instant, header: TrunkHeader, packet: P, outputs: &mut VecDeque<PaperOutput<P>>) {
        match self.sequence.admit(now, &header, outputs) {
            Standing::Stale => return self.sequence.refuse(packet, outputs),
            Standing::Anew => self.hole_since = None,
            Standing::Present => {}
        }
        match self.sequence.place(now, header.number, packet, outputs) {
            Place::Duplicate => {}
            Place::Late => self.lengthen(now),
            Place::Next => {
                self.sequence.drain(now, outputs);
                // The next hole, if there is one, is new.
                self.hole_since = (self.held_len() > 0).then_some(now);
            }
            Place::Held => {
                self.hole_since.get_or_insert(now);
            }
        }
    }

    fn lengthen(&mut self, now: Instant) {
        self.hold_time = (self.hold_time + self.config.increment).min(self.config.maximum);
        self.decay_at = Some(now + self.config.decay);
    }

    /// Fires what is due.
    #[inline]
    pub fn on_timeout(&mut self, now: Instant, outputs: &mut VecDeque<PaperOutput<P>>) {
        // The halving first: it may make the flush due.
        if self.decay_at.is_some_and(|at| at <= now) {
            self.hold_time = (self.hold_time / 2).max(self.config.minimum);
            let repeats = self.config.repeat_halving && self.hold_time > self.config.minimum;
            self.decay_at = repeats.then(|| now + self.config.decay);
        }
        if self.flush_at().is_some_and(|at| at <= now) {
            self.sequence.counts.timer_expiries += 1;
            self.sequence.flush(now, outputs);
            self.hole_since = None;
        }
    }

    #[inline]
    pub fn wake(&self) -> Option<Wake> {
        let flush = self.flush_at().map(|at| Wake { at, why: "trunk.reorder" });
        let decay = self.decay_at.map(|at| Wake { at, why: "trunk.decay" });
        match (flush, decay) {
            (Some(flush), Some(decay)) => Some(if decay.at < flush.at { decay } else { flush }),
            (flush, decay) => flush.or(decay),
        }
    }

    #[inline]
    fn flush_at(&self) -> Option<Instant> {
        self.hole_since.map(|since| since + self.hold_time)
    }
}
