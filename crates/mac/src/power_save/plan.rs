//! The slot plan of a station: which access point it serves when, period after period, in whole nanoseconds.
//!
//! Where the slots come from is nobody's business here; `engine::slots` plans them.

use airbraid_units::{Duration, Instant};

/// One slot of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedSlot {
    /// Index of the virtual station that has the radio; `None`: all doze.
    pub station: Option<usize>,
    pub length: Duration,
}

/// A period of slots that repeats for ever, and the current position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPlan {
    slots: Vec<PlannedSlot>,
    next: usize,
    boundary: Instant,
}

impl SlotPlan {
    /// The period that these slots make, the first beginning at `start`; `None` if there is no slot, or one of no
    /// length.
    pub fn new(start: Instant, slots: Vec<PlannedSlot>) -> Option<Self> {
        let is_possible = !slots.is_empty() && slots.iter().all(|slot| !slot.length.is_zero());
        is_possible.then_some(Self { slots, next: 0, boundary: start })
    }
    /// Beginning of the next slot.
    pub fn boundary(&self) -> Instant {
        self.boundary
    }
    /// The largest index of a virtual station that has a slot.
    pub fn last_station(&self) -> Option<usize> {
        self.slots.iter().filter_map(|slot| slot.station).max()
    }
    /// Returns the slot at `now`, if a boundary has been reached since the last call.
    pub fn advance(&mut self, now: Instant) -> Option<PlannedSlot> {
        let mut reached = None;
        while self.boundary <= now {
            let slot = self.slots[self.next];
            self.boundary += slot.length;
            self.next = (self.next + 1) % self.slots.len();
            reached = Some(slot);
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(station: Option<usize>, us: u64) -> PlannedSlot {
        PlannedSlot { station, length: Duration::from_micros(us) }
    }

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    #[test]
    fn slots_follow_each_other_without_a_gap_and_begin_again() {
        let (one, two, idle) = (slot(Some(0), 30), slot(Some(1), 20), slot(None, 5));
        let mut plan = SlotPlan::new(at(10), vec![one, two, idle]).unwrap();
        assert_eq!((plan.last_station(), plan.advance(at(9))), (Some(1), None));
        for (reached, expected, next) in [(10, one, 40), (40, two, 60), (60, idle, 65), (65, one, 95), (150, two, 170)]
        {
            assert_eq!(plan.advance(at(reached)), Some(expected));
            assert_eq!((plan.boundary(), plan.advance(at(reached))), (at(next), None));
        }
    }

    #[test]
    fn a_plan_that_would_never_come_to_an_end_is_refused() {
        assert_eq!(SlotPlan::new(at(0), vec![]), None);
        assert_eq!(SlotPlan::new(at(0), vec![slot(Some(0), 5), slot(None, 0)]), None);
    }
}
