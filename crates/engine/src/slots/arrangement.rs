//! The order of the slots, and the disconnections of each station (section 6.1 of the paper, disconnection cost).
//!
//! The cost between two slots of a station that follow each other, cyclically, is the time strictly between them: the
//! slots of others and, where the period ends between them, its idle time. Planners count with the stations' rounded
//! slot sizes; a [`Timetable`](super::Timetable) has the last nanoseconds.

use super::Layout;

/// The owners of the slots of a period, in order; each station as often as it has slots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrangement {
    pub(super) owners: Vec<u8>,
}

impl Arrangement {
    /// These owners; `None` where a station of `layout` does not have its number of slots.
    pub fn new(layout: &Layout, owners: Vec<u8>) -> Option<Self> {
        let mut left: Vec<u32> = layout.stations().iter().map(|station| station.count).collect();
        for owner in &owners {
            let left = left.get_mut(usize::from(*owner))?;
            *left = left.checked_sub(1)?;
        }
        left.iter().all(|n| *n == 0).then_some(Self { owners })
    }
    /// The station of each slot.
    pub fn owners(&self) -> &[u8] {
        &self.owners
    }
    /// The positions of a station's slots, counted from 1 as the paper's vector `s_i` is.
    pub fn positions(&self, station: usize) -> Vec<usize> {
        let own = |(_, owner): &(usize, &u8)| usize::from(**owner) == station;
        self.owners.iter().enumerate().filter(own).map(|(position, _)| position + 1).collect()
    }
    /// The cost behind each slot of a station, in the order of its slots \[ns\].
    #[cfg(test)]
    fn costs_ns(&self, layout: &Layout, station: usize) -> Vec<u64> {
        let size = |owner: &u8| layout.stations()[usize::from(*owner)].size_ns;
        let (mut costs, mut before, mut since) = (Vec::new(), 0, None);
        for owner in &self.owners {
            match (usize::from(*owner) == station, &mut since) {
                (true, since) => {
                    if let Some(since) = since {
                        costs.push(*since);
                    }
                    *since = Some(0);
                }
                (false, Some(since)) => *since += size(owner),
                (false, None) => before += size(owner),
            }
        }
        if let Some(since) = since {
            costs.push(since + layout.idle().as_nanos() + before);
        }
        costs
    }
    /// The longest disconnection of each station \[ns\].
    pub fn worst_ns(&self, layout: &Layout) -> Vec<u64> {
        let mut worst = Worst::new(layout);
        self.owners.iter().for_each(|owner| worst.take(usize::from(*owner)));
        worst.end()
    }
    /// The rotation that comes first by its owners. Where a period has idle time, at its end, it is itself.
    #[must_use]
    pub fn rotated(self, layout: &Layout) -> Self {
        if !layout.idle().is_zero() {
            return self;
        }
        let doubled = [&self.owners[..], &self.owners].concat();
        let best = (0..self.owners.len()).map(|k| &doubled[k..k + self.owners.len()]).min();
        best.map_or(self.clone(), |owners| Self { owners: owners.to_vec() })
    }
}

/// The longest disconnections, slot by slot: one pass for all stations.
struct Worst<'a> {
    layout: &'a Layout,
    now: u64,
    first: Vec<Option<u64>>,
    end: Vec<u64>,
    worst: Vec<u64>,
}

impl<'a> Worst<'a> {
    fn new(layout: &'a Layout) -> Self {
        let n = layout.stations().len();
        Self { layout, now: 0, first: vec![None; n], end: vec![0; n], worst: vec![0; n] }
    }
    fn take(&mut self, station: usize) {
        match self.first[station] {
            None => self.first[station] = Some(self.now),
            Some(_) => self.worst[station] = self.worst[station].max(self.now - self.end[station]),
        }
        self.now += self.layout.stations()[station].size_ns;
        self.end[station] = self.now;
    }
    fn end(mut self) -> Vec<u64> {
        let end = self.now + self.layout.idle().as_nanos();
        for (station, worst) in self.worst.iter_mut().enumerate() {
            let around = end - self.end[station] + self.first[station].unwrap_or(0);
            *worst = (*worst).max(around);
        }
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Fraction, Length};
    use airbraid_units::Duration;
    use proptest::prelude::*;

    #[test]
    fn the_papers_example() {
        let ms = |n| Duration::from_millis(n);
        let layout = Layout::of_slots(&[(3, ms(10)), (2, ms(15)), (1, ms(12))]).unwrap();
        let arrangement = Arrangement::new(&layout, vec![0, 1, 0, 2, 0, 1]).unwrap();
        assert_eq!([0, 1, 2].map(|i| arrangement.positions(i)), [vec![1, 3, 5], vec![2, 6], vec![4]]);
        let costs = [0, 1, 2].map(|i| arrangement.costs_ns(&layout, i));
        let ms = |all: &[u64]| all.iter().map(|n| n * 1_000_000).collect::<Vec<u64>>();
        assert_eq!(costs, [ms(&[15, 12, 15]), ms(&[32, 10]), ms(&[60])]);
        assert_eq!(arrangement.worst_ns(&layout), ms(&[15, 32, 60]));
    }

    #[test]
    fn owners_that_do_not_fit_are_no_arrangement() {
        let layout = Layout::new(&[Fraction::new(1, 2).unwrap(); 2], Length::Slot(Duration::from_millis(10))).unwrap();
        for owners in [vec![], vec![0], vec![0, 0], vec![0, 2], vec![0, 1, 1]] {
            assert_eq!(Arrangement::new(&layout, owners), None);
        }
    }

    proptest! {
        #[test]
        fn the_longest_disconnection_is_the_largest_cost(
            slots in proptest::collection::vec((1u32..4, 1u64..30), 1..5), seed: u64, idle in 0u64..2,
        ) {
            let layout = crate::slots::tests::layout(&slots, idle == 1);
            let mut owners: Vec<u8> = Vec::new();
            for (i, station) in layout.stations().iter().enumerate() {
                owners.extend(std::iter::repeat_n(i as u8, station.count as usize));
            }
            let mut stream = crate::Stream::new(seed, 0, "test");
            for i in (1..owners.len()).rev() {
                owners.swap(i, stream.up_to(i as u32) as usize);
            }
            let arrangement = Arrangement::new(&layout, owners).unwrap();
            let worst = arrangement.worst_ns(&layout);
            for (i, worst) in worst.iter().enumerate() {
                prop_assert_eq!(arrangement.costs_ns(&layout, i).into_iter().max(), Some(*worst));
            }
            prop_assert_eq!(arrangement.rotated(&layout).worst_ns(&layout), worst);
        }
    }
}
