//! An arrangement in whole nanoseconds, which a station follows period after period.
//!
//! Slots and idle time add up to the period exactly; every station has exactly its share.

use super::{Arrangement, Layout};
use airbraid_units::Duration;

/// One slot of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub station: usize,
    /// Beginning, from the beginning of the period \[ns\].
    pub start_ns: u64,
    /// Length \[ns\].
    pub length_ns: u64,
}

/// The slots of a period, in order, and the idle time behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    slots: Vec<Slot>,
    period_ns: u64,
    stations: usize,
}

impl Timetable {
    /// Lays out an arrangement.
    pub fn new(layout: &Layout, arrangement: &Arrangement) -> Self {
        let mut seen = vec![0_u64; layout.stations().len()];
        let mut now = 0;
        let mut slots = Vec::with_capacity(arrangement.owners().len());
        for owner in arrangement.owners() {
            let index = usize::from(*owner);
            let station = &layout.stations()[index];
            let longer = station.share_ns - station.size_ns * u64::from(station.count);
            let length_ns = station.size_ns + u64::from(seen[index] < longer);
            slots.push(Slot { station: index, start_ns: now, length_ns });
            seen[index] += 1;
            now += length_ns;
        }
        Self { slots, period_ns: layout.period().as_nanos(), stations: seen.len() }
    }
    /// Slots one after the other, each with the length of its owner's slots, whatever number each station gets, and
    /// after each `N` of them the idle time: a period of its own.
    pub fn of_owners(layout: &Layout, owners: &[u8]) -> Self {
        let mut now = 0;
        let mut slots = Vec::with_capacity(owners.len());
        for (i, owner) in owners.iter().enumerate() {
            let station = usize::from(*owner);
            let length_ns = layout.stations()[station].size_ns;
            slots.push(Slot { station, start_ns: now, length_ns });
            let last = (i + 1) % layout.slots() == 0;
            now += length_ns + if last { layout.idle().as_nanos() } else { 0 };
        }
        Self { slots, period_ns: now, stations: layout.stations().len() }
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }
    pub fn stations(&self) -> usize {
        self.stations
    }
    /// The connected times of a station: beginning and length \[ns\], neighbouring slots joined, also around the
    /// period's end, where the last block reaches into the next period. Empty for a station without a slot.
    pub fn blocks_ns(&self, station: usize) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for slot in self.slots.iter().filter(|slot| slot.station == station) {
            match blocks.last_mut() {
                Some((start, length)) if *start + *length == slot.start_ns => *length += slot.length_ns,
                _ => blocks.push((slot.start_ns, slot.length_ns)),
            }
        }
        let around = |blocks: &[(u64, u64)]| match (blocks.first(), blocks.last()) {
            (Some(first), Some(last)) => blocks.len() > 1 && first.0 == 0 && last.0 + last.1 == self.period_ns,
            _ => false,
        };
        if around(&blocks) {
            let (_, length) = blocks.remove(0);
            if let Some(last) = blocks.last_mut() {
                last.1 += length;
            }
        }
        blocks
    }
    /// The times without connection, one behind each block \[ns\]; one of 0 for a station that is never disconnected.
    pub fn gaps_ns(&self, station: usize) -> Vec<u64> {
        let blocks = self.blocks_ns(station);
        let gap = |(i, (start, length)): (usize, &(u64, u64))| {
            let next = blocks.get(i + 1).map_or(blocks[0].0 + self.period_ns, |(next, _)| *next);
            next - start - length
        };
        blocks.iter().enumerate().map(gap).collect()
    }
    /// The longest disconnection of a station \[ns\]; the whole period for one without a slot.
    pub fn worst_ns(&self, station: usize) -> u64 {
        self.gaps_ns(station).into_iter().max().unwrap_or(self.period_ns)
    }
    /// Number of changes of the access point in a period.
    pub fn switches(&self) -> usize {
        let pairs = self.slots.windows(2).filter(|pair| pair[0].station != pair[1].station).count();
        let around = match (self.slots.first(), self.slots.last()) {
            (Some(first), Some(last)) => first.station != last.station,
            _ => false,
        };
        pairs + usize::from(around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::tests::{case, layout};
    use crate::slots::{min_max, no_policy};
    use proptest::prelude::*;

    #[test]
    fn blocks_are_joined_around_the_end_of_the_period() {
        let layout = case(2);
        let arrangement = Arrangement::new(&layout, vec![0, 1, 2, 2, 2, 0, 0, 0]).unwrap();
        let timetable = Timetable::new(&layout, &arrangement);
        assert_eq!(timetable.blocks_ns(0), [(62_500_000, 50_000_000)]);
        assert_eq!((timetable.gaps_ns(0), timetable.worst_ns(1)), (vec![50_000_000], 87_500_000));
        assert_eq!(timetable.switches(), 3);
    }

    #[test]
    fn slots_by_lot_leave_the_idle_time_of_every_period() {
        let layout = layout(&[(1, 99)], true);
        let timetable = Timetable::of_owners(&layout, &[0, 0, 0]);
        assert_eq!(timetable.period(), layout.period() * 3);
        assert_eq!(timetable.gaps_ns(0), [layout.idle().as_nanos(); 3]);
        assert_eq!(Timetable::of_owners(&case(2), &[0]).worst_ns(1), case(2).stations()[0].size_ns);
    }

    proptest! {
        #[test]
        fn disconnections_are_those_that_were_planned_with(
            slots in proptest::collection::vec((1u32..5, 1u64..30), 2..5), idle: bool,
        ) {
            let layout = layout(&slots, idle);
            for arrangement in [min_max(&layout), no_policy(&layout)] {
                let timetable = Timetable::new(&layout, &arrangement);
                for (station, planned) in arrangement.worst_ns(&layout).into_iter().enumerate() {
                    // The remainders of the shares, less than one nanosecond a slot.
                    prop_assert!(timetable.worst_ns(station).abs_diff(planned) <= layout.slots() as u64);
                    let connected: u64 = timetable.blocks_ns(station).iter().map(|(_, length)| length).sum();
                    prop_assert_eq!(connected, layout.stations()[station].share_ns);
                }
            }
        }
    }
}
