//! The exact planner: every arrangement is tried (the paper's Alg. 1 with equation 6, and equation 5).
//!
//! It is the yardstick for the others and runs as long as there are few arrangements.

use super::simple::no_policy;
use super::{Arrangement, Layout, Objective};
use std::fmt;

/// The best arrangement of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerated {
    /// The first of the best, by its owners.
    pub arrangement: Arrangement,
    pub score: u128,
    /// Number of arrangements tried.
    pub runs: u128,
}

/// More arrangements than may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// Their number; `None` beyond 128 bits.
    pub arrangements: Option<u128>,
}

/// Tries every arrangement.
///
/// # Errors
/// There are more than `limit`.
pub fn enumerate(layout: &Layout, objective: &Objective, limit: u128) -> Result<Enumerated, TooMany> {
    check(layout, limit)?;
    let first = no_policy(layout);
    let mut best = Enumerated { score: objective.score(&first.worst_ns(layout)), arrangement: first.clone(), runs: 1 };
    let mut current = first;
    while next(&mut current.owners) {
        best.runs += 1;
        let score = objective.score(&current.worst_ns(layout));
        if score > best.score {
            (best.score, best.arrangement) = (score, current.clone());
        }
    }
    Ok(best)
}

/// Gives every arrangement to `visit`, one of each class that differs by a rotation alone: without idle time these are
/// the same plan, begun at another slot.
///
/// # Errors
/// There are more arrangements than `limit`.
pub fn each_class(layout: &Layout, limit: u128, mut visit: impl FnMut(&Arrangement)) -> Result<(), TooMany> {
    check(layout, limit)?;
    let mut current = no_policy(layout);
    loop {
        if current == current.clone().rotated(layout) {
            visit(&current);
        }
        if !next(&mut current.owners) {
            return Ok(());
        }
    }
}

fn check(layout: &Layout, limit: u128) -> Result<(), TooMany> {
    match layout.arrangements() {
        Some(n) if n <= limit => Ok(()),
        arrangements => Err(TooMany { arrangements }),
    }
}

/// The next permutation by size; `false` after the last.
fn next(owners: &mut [u8]) -> bool {
    let Some(rise) = (1..owners.len()).rev().find(|i| owners[i - 1] < owners[*i]) else { return false };
    let pivot = owners[rise - 1];
    let Some(swap) = (rise..owners.len()).rev().find(|i| owners[*i] > pivot) else { return false };
    owners.swap(rise - 1, swap);
    owners[rise..].reverse();
    true
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.arrangements {
            Some(n) => write!(f, "{n} arrangements are too many to try them all"),
            None => f.write_str("there are too many arrangements to try them all"),
        }
    }
}

impl std::error::Error for TooMany {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::tests::layout;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn least_rotation(owners: &[u8]) -> Vec<u8> {
        (0..owners.len()).map(|from| [&owners[from..], &owners[..from]].concat()).min().unwrap()
    }

    proptest! {
        /// Begun at any of its slots, each arrangement is the rotation of exactly one that was visited.
        #[test]
        fn each_plan_is_visited_once_whatever_slot_it_begins_at(
            slots in proptest::collection::vec((1u32..4, 1u64..9), 2..4),
        ) {
            let layout = layout(&slots, false);
            let (mut seen, mut all) = (BTreeSet::new(), 0);
            each_class(&layout, u128::MAX, |plan| {
                all += 1;
                let owners = plan.owners();
                seen.insert(least_rotation(owners));
            }).unwrap();
            let mut classes = BTreeSet::new();
            let mut current = no_policy(&layout);
            loop {
                let owners = current.owners().to_vec();
                classes.insert(least_rotation(&owners));
                if !next(&mut current.owners) {
                    break;
                }
            }
            prop_assert_eq!(&seen, &classes);
            prop_assert_eq!(all, classes.len());
        }
    }
}
