//! Slot planning for one radio that serves several access points in turn: an order in which TCP, which waits out every
//! disconnection, waits little.
//!
//! A [`Layout`] says how long the period is and how many slots of which size each virtual station has; an
//! [`Arrangement`] says whose slot comes when; planners choose arrangements; a [`Timetable`] is an arrangement in whole
//! nanoseconds, which a station follows. It never switches a radio and knows nothing of round-trip times but what it is
//! told. Everything is integers: the same input gives the same plan everywhere.
//!
//! Giustiniano et al. 2013, section 6; the schedulers that give duty cycles are FatVAP (Kandula et al. 2008) and THEMIS
//! (Giustiniano et al. 2010). The equations and what is left out: `docs/models/slots.md`.

mod arrangement;
mod branch;
mod enumerate;
mod fraction;
mod layout;
mod minmax;
mod objective;
mod proven;
mod relax;
mod runs;
mod scheduler;
mod search;
mod simple;
mod timetable;

pub use arrangement::Arrangement;
pub use branch::{Budget, branch_and_bound};
pub use enumerate::{Enumerated, TooMany, each_class, enumerate};
pub use fraction::{Fraction, FractionError};
pub use layout::{Layout, Length, Refused, SLOTS_MAX, STATIONS_MAX, Station};
pub use minmax::min_max;
pub use objective::{Objective, Path};
pub use proven::Proven;
pub use runs::Runs;
pub use scheduler::{Access, SchedulerError, fat_vap, themis};
pub use simple::{no_policy, random};
pub use timetable::{Slot, Timetable};

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    fn f(upper: u64, lower: u64) -> Fraction {
        Fraction::new(upper, lower).unwrap()
    }

    /// The paper's cases; the duty cycles of the third are not printed, these have its numbers of slots.
    pub fn case(number: u32) -> Layout {
        let (duties, us): (Vec<Fraction>, u64) = match number {
            1 => (vec![f(1, 2), f(1, 8), f(1, 8), f(1, 8), f(1, 8)], 15_000),
            2 => (vec![f(1, 2), f(1, 8), f(3, 8)], 12_500),
            _ => (vec![f(65, 100), f(25, 100), f(10, 100)], 15_000),
        };
        Layout::new(&duties, Length::Slot(Duration::from_micros(us))).unwrap()
    }

    /// A layout of slots with these counts and sizes \[ns\]; with idle time a hundredth of the period is idle.
    pub fn layout(slots: &[(u32, u64)], idle: bool) -> Layout {
        let of = |(count, ns): &(u32, u64)| (*count, Duration::from_nanos(*ns * 100));
        let mut all: Vec<(u32, Duration)> = slots.iter().map(of).collect();
        if idle {
            let busy: u64 = all.iter().map(|(count, size)| u64::from(*count) * size.as_nanos()).sum();
            all.push((1, Duration::from_nanos(busy / 99 + 1)));
        }
        let layout = Layout::of_slots(&all).unwrap();
        if idle { layout.with_last_idle() } else { layout }
    }

    #[test]
    fn the_papers_arrangements_are_counted() {
        assert_eq!([1, 2, 3].map(|number| case(number).arrangements()), [Some(1_680), Some(280), Some(252)]);
    }

    #[test]
    fn the_papers_cases_without_a_policy() {
        let us = |all: &[u64]| all.iter().map(|us| us * 1_000).collect::<Vec<u64>>();
        let found = [1, 2, 3].map(|number| no_policy(&case(number)).worst_ns(&case(number)));
        assert_eq!(found[0], us(&[60_000, 105_000, 105_000, 105_000, 105_000]));
        assert_eq!(found[1], us(&[50_000, 87_500, 62_500]));
        assert_eq!(found[2], us(&[52_500, 112_500, 135_000]));
    }

    #[test]
    fn slots_by_lot_come_as_often_as_they_should() {
        let layout = case(2);
        let owners = random(&layout, 10_000, &mut crate::Stream::new(1, 0, "slots.random"));
        let counts = [0, 1, 2].map(|i| owners.iter().filter(|owner| **owner == i).count());
        // Binomial: a standard deviation of 141 at most, five of them.
        for (count, expected) in counts.into_iter().zip([40_000, 10_000, 30_000_usize]) {
            assert!(count.abs_diff(expected) < 700, "{counts:?}");
        }
    }
}
