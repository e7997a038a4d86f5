//! The event queue: by time, then by phase, then first in, first out.
//!
//! The phases make the order of simultaneous events a matter of the model and not of accident: what ends is heard
//! before what begins, and two stations whose backoff ends at one instant both decide before either is heard.
//! A heap of four children a node: shallower than a binary one, and a node's children share a cache line.

use airbraid_units::Instant;

/// The order of simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Frames end.
    ReceptionEnd,
    /// Machines' timers expire; stations commit to transmissions.
    Timer,
    /// Frames begin to arrive.
    ReceptionStart,
    /// Values are sampled.
    Statistics,
}

/// Sequence numbers below the phase: enough for 2^56 events a run.
const PHASE_SHIFT: u32 = 56;

/// Time in the high half, phase and sequence in the low: one comparison without a branch.
#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    key: u128,
    event: E,
}

impl<E> Entry<E> {
    fn before(&self, other: &Self) -> bool {
        self.key < other.key
    }
    fn at(&self) -> Instant {
        Instant::from_nanos((self.key >> 64) as u64)
    }
}

/// Pending events.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    sequence: u64,
}

const CHILDREN: usize = 4;

impl<E: Copy> EventQueue<E> {
    pub fn new() -> Self {
        Self { heap: Vec::with_capacity(256), sequence: 0 }
    }

    pub fn push(&mut self, at: Instant, phase: Phase, event: E) {
        self.sequence += 1;
        let order = ((phase as u64) << PHASE_SHIFT) | self.sequence;
        let entry = Entry { key: (u128::from(at.as_nanos()) << 64) | u128::from(order), event };
        self.heap.push(entry);
        self.rise(self.heap.len() - 1, entry);
    }

    /// Puts `entry` into the free place at `index`, or above.
    fn rise(&mut self, mut index: usize, entry: Entry<E>) {
        while index > 0 {
            let parent = (index - 1) / CHILDREN;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[index] = self.heap[parent];
            index = parent;
        }
        self.heap[index] = entry;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.first().map(Entry::at)
    }

    /// Whether nothing comes before the end of `phase` at `at`.
    pub fn next_is_after(&self, at: Instant, phase: Phase) -> bool {
        let end = (u128::from(at.as_nanos()) << 64) | (u128::from(phase as u64 + 1) << PHASE_SHIFT);
        self.heap.first().is_none_or(|entry| entry.key >= end)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        let len = self.heap.len();
        if len > 0 {
            // The last entry is late as a rule: let the hole sink to the bottom, then let the entry rise from there.
            let mut index = 0;
            loop {
                let child = index * CHILDREN + 1;
                if child >= len {
                    break;
                }
                let mut least = child;
                for other in child + 1..(child + CHILDREN).min(len) {
                    if self.heap[other].before(&self.heap[least]) {
                        least = other;
                    }
                }
                self.heap[index] = self.heap[least];
                index = least;
            }
            self.rise(index, last);
        }
        Some((first.at(), first.event))
    }
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PHASES: [Phase; 4] = [Phase::ReceptionEnd, Phase::Timer, Phase::ReceptionStart, Phase::Statistics];

    proptest! {
        #[test]
        fn order_is_time_then_phase_then_arrival(pushes in prop::collection::vec((0u64..8, 0usize..4), 0..200)) {
            let mut queue = EventQueue::new();
            let mut sorted = Vec::new();
            for (serial, (at, phase)) in pushes.into_iter().enumerate() {
                queue.push(Instant::from_nanos(at), PHASES[phase], serial);
                sorted.push((at, phase, serial));
            }
            sorted.sort_unstable();
            for (at, _, serial) in sorted {
                prop_assert_eq!(queue.pop(), Some((Instant::from_nanos(at), serial)));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
