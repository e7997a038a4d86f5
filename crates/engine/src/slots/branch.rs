//! Branch and bound: the best arrangement and, where the search ends early, a proven bound on its distance from the
//! best.
//!
//! An arrangement is built slot by slot. At each step every station has a disconnection that it cannot go below: what
//! it had so far, how long it waits already, and the mean of what is still to come. Where even these are worth no more
//! than the best arrangement known, nothing below is looked at. Without idle time rotations are one plan, so the
//! station with the fewest slots begins; stations that are alike come first in their order. A search that is over is
//! exact. One that ran out of steps still has its bound, made tighter by [`relax`](super::relax). Steps are counted,
//! not timed: the same input gives the same plan.

use super::proven::Proven;
use super::relax;
use super::search::Search;
use super::{Arrangement, Layout, Objective, min_max, no_policy};

/// Limits on the work of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps of the search; each costs about as much as there are stations.
    pub nodes: u64,
    /// Slots tried while exchanging pairs of slots for a better start.
    pub exchanges: u64,
}

impl Default for Budget {
    /// A fifth of a second for 12 stations and 60 slots on one core.
    fn default() -> Self {
        Self { nodes: 2_000_000, exchanges: 10_000_000 }
    }
}

/// Plans for `objective`, over the stations of `layout`.
pub fn branch_and_bound(layout: &Layout, objective: &Objective, budget: Budget) -> Proven {
    let worth = |arrangement: &Arrangement| objective.score(&arrangement.worst_ns(layout));
    let starts =
        [min_max(layout), no_policy(layout)].map(|start| exchange(layout, objective, start, budget.exchanges / 2));
    let [a, b] = starts;
    let start = if worth(&b) > worth(&a) { b } else { a };
    let floors = relax::floors_ns(layout);
    let mut found = Search::new(layout, objective, &floors).run(&start, budget.nodes / 2);
    if found.bound > found.score {
        let (bound, nodes) = relax::grouped(layout, objective, &found.arrangement, budget.nodes / 2);
        found.bound = found.bound.min(bound).max(found.score);
        found.nodes += nodes;
    }
    found.arrangement = found.arrangement.rotated(layout);
    found
}

/// Exchanges pairs of slots while one of them makes it better, trying no more than `budget` slots.
fn exchange(layout: &Layout, objective: &Objective, mut best: Arrangement, budget: u64) -> Arrangement {
    let slots = best.owners.len();
    let mut left = budget / slots as u64;
    let mut score = objective.score(&best.worst_ns(layout));
    loop {
        let before = score;
        for (a, b) in (0..slots).flat_map(|a| (a + 1..slots).map(move |b| (a, b))) {
            if best.owners[a] == best.owners[b] {
                continue;
            }
            if left == 0 {
                return best;
            }
            left -= 1;
            best.owners.swap(a, b);
            let now = objective.score(&best.worst_ns(layout));
            if now > score { score = now } else { best.owners.swap(a, b) }
        }
        if score == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::tests::{case, layout};
    use crate::slots::{Fraction, Path, enumerate};
    use airbraid_units::Duration;
    use proptest::prelude::*;

    #[test]
    fn the_papers_cases_are_solved() {
        let us = |all: &[u64]| all.iter().map(|us| us * 1_000).collect::<Vec<u64>>();
        let found = [1, 2, 3].map(|number| {
            branch_and_bound(&case(number), &Objective::blind(case(number).stations().len()), Budget::default())
        });
        assert!(found.iter().all(Proven::exact));
        let worst: Vec<_> = (1..=3).zip(&found).map(|(n, found)| found.arrangement.worst_ns(&case(n))).collect();
        assert_eq!(
            worst,
            [
                us(&[15_000, 105_000, 105_000, 105_000, 105_000]),
                us(&[12_500, 87_500, 37_500]),
                us(&[18_750, 63_750, 135_000])
            ]
        );
    }

    fn objective(stations: usize, delays: &[(u64, u64)]) -> Objective {
        if delays.is_empty() {
            return Objective::blind(stations);
        }
        let path = |i: usize| {
            let (ms, percent) = delays[i % delays.len()];
            Path {
                delay: Duration::from_millis(ms),
                loss: Fraction::new(percent, 1_000).unwrap(),
                flows: 1 + i as u32 % 2,
            }
        };
        Objective::with_delays(&(0..stations).map(path).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn it_equals_trying_all(
            slots in proptest::collection::vec((1u32..5, 1u64..30), 1..5), idle: bool,
            delays in proptest::collection::vec((1u64..100, 1u64..50), 0..3),
        ) {
            let layout = layout(&slots, idle);
            let objective = objective(slots.len(), &delays);
            let Ok(all) = enumerate(&layout, &objective, 20_000) else { return Ok(()) };
            let found = branch_and_bound(&layout, &objective, Budget::default());
            prop_assert!(found.exact());
            prop_assert_eq!(found.score, all.score);
            prop_assert_eq!(objective.score(&found.arrangement.worst_ns(&layout)), found.score);
            prop_assert_eq!(Some(all.runs), layout.arrangements());
        }
        #[test]
        fn with_few_steps_the_bound_still_holds(
            slots in proptest::collection::vec((1u32..5, 1u64..30), 2..5), idle: bool, nodes in 0u64..200,
        ) {
            let layout = layout(&slots, idle);
            let objective = Objective::blind(slots.len());
            let Ok(all) = enumerate(&layout, &objective, 20_000) else { return Ok(()) };
            let found = branch_and_bound(&layout, &objective, Budget { nodes, exchanges: nodes });
            prop_assert!(found.score <= all.score && all.score <= found.bound);
            let worth = |arrangement: &Arrangement| objective.score(&arrangement.worst_ns(&layout));
            prop_assert!(found.score >= worth(&min_max(&layout)) && found.score >= worth(&no_policy(&layout)));
            prop_assert!(Arrangement::new(&layout, found.arrangement.owners().to_vec()).is_some());
        }
    }

    /// Twelve stations of two to six slots: more arrangements than any search sees.
    fn large() -> (Layout, Objective) {
        let slots: Vec<(u32, u64)> = (0..12).map(|i| (2 + i % 5, 3 + u64::from(7 * i % 11))).collect();
        (layout(&slots, false), Objective::blind(slots.len()))
    }

    #[test]
    fn a_search_takes_no_more_steps_than_its_budget() {
        let (layout, objective) = large();
        for nodes in [0, 100, 1_001] {
            let found = branch_and_bound(&layout, &objective, Budget { nodes, exchanges: 0 });
            assert!(found.nodes <= nodes && !found.exact(), "{} of {nodes} steps", found.nodes);
            assert!(found.nodes >= nodes / 2, "{} of {nodes} steps", found.nodes);
        }
    }

    #[test]
    fn a_search_that_is_over_looks_for_no_other_bound() {
        let (layout, objective) = (case(2), Objective::blind(case(2).stations().len()));
        let found = branch_and_bound(&layout, &objective, Budget { nodes: 2_000_000, exchanges: 0 });
        let floors = relax::floors_ns(&layout);
        let starts = [min_max(&layout), no_policy(&layout)];
        let alone = starts.map(|start| Search::new(&layout, &objective, &floors).run(&start, 1_000_000).nodes);
        assert!(found.exact() && alone.contains(&found.nodes), "{} steps, alone {alone:?}", found.nodes);
    }

    /// The plan that is found is better, and no exchange of two slots makes it better still.
    #[test]
    fn exchanges_go_on_until_none_makes_it_better() {
        let (layout, objective) = large();
        let worth = |arrangement: &Arrangement| objective.score(&arrangement.worst_ns(&layout));
        let start = no_policy(&layout);
        let best = exchange(&layout, &objective, start.clone(), u64::MAX);
        assert!(worth(&best) > worth(&start));
        assert!(Arrangement::new(&layout, best.owners().to_vec()).is_some(), "each has its slots still");
        let slots = best.owners().len();
        for (a, b) in (0..slots).flat_map(|a| (a + 1..slots).map(move |b| (a, b))) {
            let mut other = best.clone();
            other.owners.swap(a, b);
            assert!(worth(&other) <= worth(&best), "{a} and {b}");
        }
    }

    /// Each exchange that is tried costs as many steps as there are slots.
    #[test]
    fn exchanges_are_limited() {
        let (layout, objective) = large();
        let worth = |arrangement: &Arrangement| objective.score(&arrangement.worst_ns(&layout));
        let (start, slots) = (no_policy(&layout), no_policy(&layout).owners().len());
        let after = |budget: usize| exchange(&layout, &objective, start.clone(), budget as u64);
        assert_eq!((after(0).owners(), after(slots - 1).owners()), (start.owners(), start.owners()));
        // Each try moves a pair at most.
        for tries in 1..40 {
            let moved = after(tries * slots).owners().iter().zip(start.owners()).filter(|(a, b)| a != b).count();
            assert!(moved <= 2 * tries, "{moved} slots after {tries} tries");
        }
        let worths: Vec<u128> = [1, 100, 1_000, 10_000].map(|tries| worth(&after(tries * slots))).to_vec();
        assert!(worths.is_sorted() && worths[3] > worths[0], "{worths:?}");
    }
}
