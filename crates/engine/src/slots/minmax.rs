//! MinMax: stations in order of their slots, the most first, each placed so that its longest disconnection is least
//! (section 6.2 of the paper).
//!
//! The first station's slots are spread evenly, position `floor(k N / N_1)`. Each next one takes, of the free
//! positions, those that make its longest disconnection least, the first such set by its positions; slots that nobody
//! has yet count with the mean size of what the stations after it will put there. The last takes what is left. Instead
//! of trying every set of positions (that is what the paper counts as runs: [`Runs`](super::Runs)) the least
//! disconnection is found by halving an interval, with a walk over the positions for each value: 10,000 slots are no
//! matter.

use super::{Arrangement, Layout};

/// No owner yet.
const FREE: u8 = u8::MAX;

/// The arrangement of MinMax. Where a period has idle time, every disconnection around its end counts it.
pub fn min_max(layout: &Layout) -> Arrangement {
    let order = order(layout);
    let slots = layout.slots();
    let mut owners = vec![FREE; slots];
    for (step, station) in order.iter().enumerate() {
        let count = layout.stations()[*station].count as usize;
        let chosen: Vec<usize> = if step == 0 {
            (0..count).map(|k| k * slots / count).collect()
        } else if step + 1 == order.len() {
            (0..slots).filter(|position| owners[*position] == FREE).collect()
        } else {
            Stage::new(layout, &owners, &order[step + 1..]).choose(count)
        };
        chosen.into_iter().for_each(|position| owners[position] = *station as u8);
    }
    Arrangement { owners }
}

/// The stations, those with the most slots first, ties by index.
pub(super) fn order(layout: &Layout) -> Vec<usize> {
    let mut order: Vec<usize> = (0..layout.stations().len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(layout.stations()[*i].count));
    order
}

/// The choice of one station among the free positions.
struct Stage {
    free: Vec<usize>,
    /// The time before each position, were no position this station's. All times here are in units of a nanosecond over
    /// the number of slots that the stations after it have, in which their mean size is whole.
    before: Vec<u128>,
    /// The time of the whole period, idle time included.
    period: u128,
}

impl Stage {
    fn new(layout: &Layout, owners: &[u8], after: &[usize]) -> Self {
        let stations = layout.stations();
        let count: u128 = after.iter().map(|i| u128::from(stations[*i].count)).sum();
        let mean: u128 = after.iter().map(|i| u128::from(stations[*i].count) * u128::from(stations[*i].size_ns)).sum();
        let mut now = 0;
        let mut before = vec![0];
        for owner in owners {
            let time = if *owner == FREE { mean } else { count * u128::from(stations[usize::from(*owner)].size_ns) };
            now += time;
            before.push(now);
        }
        let free = (0..owners.len()).filter(|position| owners[*position] == FREE).collect();
        Self { free, before, period: now + count * u128::from(layout.idle().as_nanos()) }
    }

    /// The first of the sets of `count` positions whose longest disconnection is least.
    fn choose(&self, count: usize) -> Vec<usize> {
        let (mut low, mut high) = (0, self.period);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle, count).is_some() { high = middle } else { low = middle + 1 }
        }
        self.first(low, count).map_or_else(|| self.free[..count].to_vec(), |start| self.lay(low, count, start))
    }

    /// The time between two of the free positions, which are given by their index.
    fn gap(&self, from: usize, to: usize) -> u128 {
        self.before[self.free[to]] - self.before[self.free[from] + 1]
    }
    /// The time from one around the end of the period to another.
    fn around(&self, from: usize, to: usize) -> u128 {
        self.period - self.before[self.free[from] + 1] + self.before[self.free[to]]
    }
    /// For each index the farthest that is within `most`; itself where none is.
    fn farthest(&self, most: u128) -> Vec<usize> {
        let mut to = 0;
        let reach = |from: usize| {
            to = to.max(from);
            while to + 1 < self.free.len() && self.gap(from, to + 1) <= most {
                to += 1;
            }
            to
        };
        (0..self.free.len()).map(reach).collect()
    }
    /// The first index that a set of `count` can begin with, no disconnection longer than `most`.
    fn first(&self, most: u128, count: usize) -> Option<usize> {
        let farthest = self.farthest(most);
        let enough = |start: &usize| self.free.len() - start >= count;
        // What is before the first of the set is part of the disconnection around the end.
        let near = |start: &usize| self.before[self.free[*start]] <= most;
        (0..self.free.len()).take_while(|start| enough(start) && near(start)).find(|start| {
            let (mut at, mut taken) = (*start, 1);
            while self.around(at, *start) > most {
                if taken == count || farthest[at] == at {
                    return false;
                }
                (at, taken) = (farthest[at], taken + 1);
            }
            true
        })
    }
    /// The first set that begins with `start`: each next position is the nearest from which the rest can be done.
    fn lay(&self, most: u128, count: usize, start: usize) -> Vec<usize> {
        let farthest = self.farthest(most);
        // How many more each index needs behind it.
        let mut needed = vec![usize::MAX; self.free.len()];
        for at in (start..self.free.len()).rev() {
            needed[at] = match self.around(at, start) <= most {
                true => 0,
                // Where none is within reach this is `at` itself, which stays without an end.
                false => needed[farthest[at]].saturating_add(1),
            };
        }
        let (mut at, mut chosen) = (start, vec![self.free[start]]);
        while chosen.len() < count {
            let left = count - chosen.len() - 1;
            at = (at + 1..=farthest[at]).find(|next| needed[*next] <= left).unwrap_or(at + 1);
            chosen.push(self.free[at]);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::tests::{case, layout};
    use proptest::prelude::*;

    /// As the paper defines it: every set of free positions is tried. Returns the arrangement and the number of sets
    /// tried after the first station, the last counted once.
    fn naive(layout: &Layout) -> (Vec<u8>, u128) {
        let order = order(layout);
        let slots = layout.slots();
        let mut owners = vec![FREE; slots];
        let mut tried = 0;
        for (step, station) in order.iter().enumerate() {
            let count = layout.stations()[*station].count as usize;
            let free: Vec<usize> = (0..slots).filter(|p| owners[*p] == FREE).collect();
            let chosen: Vec<usize> = if step == 0 {
                (0..count).map(|k| k * slots / count).collect()
            } else if step + 1 == order.len() {
                tried += 1;
                free
            } else {
                let sets = subsets(&free, count);
                tried += sets.len() as u128;
                let cost = |set: &Vec<usize>| worst(layout, &owners, &order[step + 1..], set);
                let least = sets.iter().map(cost).min().unwrap();
                sets.iter().find(|set| cost(set) == least).unwrap().clone()
            };
            chosen.into_iter().for_each(|p| owners[p] = *station as u8);
        }
        (owners, tried)
    }

    /// All subsets of a size, in the order of their elements.
    fn subsets(of: &[usize], count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let with =
            |i: usize| subsets(&of[i + 1..], count - 1).into_iter().map(move |rest| [&[of[i]][..], &rest].concat());
        (0..of.len()).flat_map(with).collect()
    }

    fn worst(layout: &Layout, owners: &[u8], after: &[usize], set: &[usize]) -> u64 {
        let stations = layout.stations();
        let count: u64 = after.iter().map(|i| u64::from(stations[*i].count)).sum();
        let time: u64 = after.iter().map(|i| u64::from(stations[*i].count) * stations[*i].size_ns).sum();
        let cost = |p: usize| if owners[p] == FREE { time } else { count * stations[usize::from(owners[p])].size_ns };
        let slots = owners.len();
        let gap = |k: usize| {
            let (from, to) = (set[k], if k + 1 < set.len() { set[k + 1] } else { set[0] + slots });
            let idle = if to > slots - 1 { count * layout.idle().as_nanos() } else { 0 };
            (from + 1..to).map(|p| cost(p % slots)).sum::<u64>() + idle
        };
        (0..set.len()).map(gap).max().unwrap()
    }

    #[test]
    fn the_papers_cases() {
        let us = |all: &[u64]| all.iter().map(|us| us * 1_000).collect::<Vec<u64>>();
        let found = [1, 2, 3].map(|number| min_max(&case(number)).worst_ns(&case(number)));
        assert_eq!(found[0], us(&[15_000, 105_000, 105_000, 105_000, 105_000]));
        assert_eq!(found[1], us(&[12_500, 87_500, 37_500]));
        assert_eq!(found[2], us(&[18_750, 80_000, 135_000]));
        assert_eq!(min_max(&case(2)).owners(), [0, 2, 0, 2, 0, 2, 0, 1]);
    }

    proptest! {
        #[test]
        fn it_is_what_trying_every_set_gives(
            slots in proptest::collection::vec((1u32..5, 1u64..30), 1..5), idle: bool,
        ) {
            let layout = layout(&slots, idle);
            let (owners, _) = naive(&layout);
            prop_assert_eq!(min_max(&layout).owners().to_vec(), owners);
        }
        #[test]
        fn the_sets_that_are_not_tried_are_counted(slots in proptest::collection::vec((1u32..5, 1u64..9), 2..5)) {
            let layout = layout(&slots, false);
            let (_, tried) = naive(&layout);
            let runs = crate::slots::Runs::new(&layout);
            prop_assert_eq!(runs.first.zip(runs.search).map(|(first, all)| all - first), Some(tried));
        }
    }
}
