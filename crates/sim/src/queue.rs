//! The event queue: by time, then by phase, then first in, first out.
//!
//! The phases make the order of simultaneous events a matter of the model and not of accident: what ends is heard
//! before what begins, and two stations whose backoff ends at one instant both decide before either is heard.
//! A heap of four children a node: shallower than a binary one, and a node's children share a cache line. Before it
//! stands one entry alone, if it was the first of all when it came: a frame that a station commits itself to begins
//! before most else happens, so that it passes the heap by.

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
}

/// The turn of an event among those of its instant and phase.
#[derive(Clone, Copy, Debug)]
pub struct Turn(u64);

/// Pending events.
#[derive(Debug)]
pub struct EventQueue<E> {
    /// An entry before all those of the heap.
    front: Option<Entry<E>>,
    heap: Vec<Entry<E>>,
    /// The key of the first entry; the largest number if there is none.
    first: u128,
    sequence: u64,
}

const CHILDREN: usize = 4;

impl<E: Copy> EventQueue<E> {
    pub fn new() -> Self {
        Self { front: None, heap: Vec::with_capacity(256), first: u128::MAX, sequence: 0 }
    }

    pub fn push(&mut self, at: Instant, phase: Phase, event: E) {
        let turn = self.reserve();
        self.push_at(turn, at, phase, event);
    }

    /// The turn among simultaneous events of an event that is pushed later.
    pub fn reserve(&mut self) -> Turn {
        self.sequence += 1;
        Turn(self.sequence)
    }

    /// Pushes an event whose turn was reserved: it comes as if it had been pushed then.
    #[inline]
    pub fn push_at(&mut self, turn: Turn, at: Instant, phase: Phase, event: E) {
        let order = ((phase as u64) << PHASE_SHIFT) | turn.0;
        let mut entry = Entry { key: (u128::from(at.as_nanos()) << 64) | u128::from(order), event };
        if entry.key < self.first {
            self.first = entry.key;
            match self.front.replace(entry) {
                None => return,
                Some(second) => entry = second,
            }
        }
        self.insert(entry);
    }

    fn insert(&mut self, entry: Entry<E>) {
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

    /// The time of the next event; [`Instant::MAX`] if there is none.
    #[inline]
    pub fn next_at(&self) -> Instant {
        Instant::from_nanos((self.first >> 64) as u64)
    }

    /// Whether nothing comes before the end of `phase` at `at`.
    #[inline]
    pub fn next_is_after(&self, at: Instant, phase: Phase) -> bool {
        let end = (u128::from(at.as_nanos()) << 64) | (u128::from(phase as u64 + 1) << PHASE_SHIFT);
        self.first >= end
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        let first = match self.front.take() {
            Some(front) => front,
            None => self.take_top()?,
        };
        self.first = self.heap.first().map_or(u128::MAX, |entry| entry.key);
        Some(first.event)
    }

    /// Takes the first entry of the heap.
    fn take_top(&mut self) -> Option<Entry<E>> {
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
        Some(first)
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
    use std::collections::BTreeSet;

    const PHASES: [Phase; 4] = [Phase::ReceptionEnd, Phase::Timer, Phase::ReceptionStart, Phase::Statistics];

    proptest! {
        /// Some are pushed, some of these later in a turn that was reserved for them, and some are taken meanwhile.
        #[test]
        fn order_is_time_then_phase_then_arrival(
            moves in prop::collection::vec((0u64..8, 0usize..4, 0u8..5), 0..200)
        ) {
            let mut queue = EventQueue::new();
            let (mut sorted, mut reserved) = (BTreeSet::new(), Vec::new());
            for (serial, (at, phase, kind)) in moves.into_iter().enumerate() {
                let entry = (at, phase, serial);
                match kind {
                    0 => prop_assert_eq!(queue.pop(), sorted.pop_first().map(|(_, _, serial)| serial)),
                    1 => reserved.push((queue.reserve(), entry)),
                    _ => {
                        queue.push(Instant::from_nanos(at), PHASES[phase], serial);
                        sorted.insert(entry);
                    }
                }
                if let (2, Some((turn, (at, phase, serial)))) = (kind, reserved.pop()) {
                    queue.push_at(turn, Instant::from_nanos(at), PHASES[phase], serial);
                    sorted.insert((at, phase, serial));
                }
                let first = sorted.first().map_or(Instant::MAX, |(at, _, _)| Instant::from_nanos(*at));
                prop_assert_eq!(queue.next_at(), first);
                let is_after = |limit: &(u64, usize, usize)| sorted.first().is_none_or(|first| first > limit);
                let is_after_it = queue.next_is_after(Instant::from_nanos(at), PHASES[phase]);
                prop_assert_eq!(is_after_it, is_after(&(at, phase, usize::MAX)));
            }
            while let Some((_, _, serial)) = sorted.pop_first() {
                prop_assert_eq!(queue.pop(), Some(serial));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
