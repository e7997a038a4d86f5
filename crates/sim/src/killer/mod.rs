//! The packet killer: a list of error events, repeated for ever, that is applied to frames one after another (Eckhardt
//! and Steenkiste 1998, sections 4 and 7.1).
//!
//! It emulates an environment at the interface of radio and driver, so that different error control can be compared in
//! the very same one. It never changes a list, and every frame that counts takes one event, retransmissions too.

pub mod environment;
pub mod trace;

use std::sync::Arc;

/// The event for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Event {
    /// The frame is unharmed.
    #[default]
    Fine,
    /// The frame is lost.
    Lost,
    /// The frame is truncated; a shorter one is unharmed.
    Truncated {
        /// Bytes of its payload that remain.
        at: u16,
        /// Wrong bits in the rest; for the statistics of a trace alone.
        bits: u16,
    },
    /// Some of its bits are wrong, whatever its length.
    Corrupted {
        /// Wrong bytes in its worst block of 255: a code that repairs this many repairs it.
        symbols: u16,
        /// Wrong bits; for the statistics of a trace alone.
        bits: u16,
    },
}

/// The events of a list that act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    /// Losses.
    pub loss: bool,
    /// Truncations and corruptions.
    pub damage: bool,
}

impl Acts {
    /// Nothing acts: the list is not read here.
    pub const NOTHING: Self = Self { loss: false, damage: false };

    /// Whether the list is read at all.
    pub const fn any(self) -> bool {
        self.loss || self.damage
    }

    /// Returns the part of `event` that acts.
    const fn filter(self, event: Event) -> Event {
        let acts = match event {
            Event::Fine => true,
            Event::Lost => self.loss,
            Event::Truncated { .. } | Event::Corrupted { .. } => self.damage,
        };
        if acts { event } else { Event::Fine }
    }
}

/// A position in a list of events, and which of them act.
#[derive(Clone, Debug)]
pub struct Cursor {
    events: Arc<[Event]>,
    next: usize,
    acts: Acts,
}

impl Cursor {
    /// A cursor that begins with event number `first`, modulo the length of the list.
    pub fn new(events: Arc<[Event]>, first: usize, acts: Acts) -> Self {
        let next = if events.is_empty() { 0 } else { first % events.len() };
        Self { events, next, acts }
    }

    /// Returns the event for the next frame.
    pub fn peek(&self) -> Event {
        self.events.get(self.next).map_or(Event::Fine, |event| self.acts.filter(*event))
    }

    /// Takes the event for this frame; the next frame meets the next event.
    pub fn take(&mut self) -> Event {
        let event = self.peek();
        if self.acts.any() && !self.events.is_empty() {
            self.next = (self.next + 1) % self.events.len();
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_repeat_and_only_those_act_that_are_told_to() {
        let damaged = Event::Corrupted { symbols: 3, bits: 7 };
        let events: Arc<[Event]> = [Event::Fine, Event::Lost, damaged].into();
        let take = |first, acts| {
            let mut cursor = Cursor::new(Arc::clone(&events), first, acts);
            std::array::from_fn::<Event, 4, _>(|_| cursor.take())
        };
        let (loss, damage) = (Acts { loss: true, damage: false }, Acts { loss: false, damage: true });
        assert_eq!(take(0, loss), [Event::Fine, Event::Lost, Event::Fine, Event::Fine]);
        assert_eq!(take(5, damage), [damaged, Event::Fine, Event::Fine, damaged]);
        assert_eq!(take(1, Acts::NOTHING), [Event::Fine; 4], "the list is not read");
    }
}
