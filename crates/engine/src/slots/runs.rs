//! The number of runs that MinMax needs, counted as the paper may have counted them.
//!
//! The paper says 6 for four, one and three slots and 7 for six, two and one. Two rules give both. By the search: even
//! placements of the first station that no rotation or mirror image makes the same, then every set of free positions
//! for each station between, then one for the last. By the line: slots minus stations plus one, which grows linearly
//! with the access points, as the conclusion of the paper has it. Both are given; neither is what
//! [`min_max`](super::min_max) does, which tries no set at all.

use super::fraction::gcd;
use super::{Layout, minmax};

/// Run counters of MinMax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Even placements of the first station that differ by more than rotation and mirror image; `None` beyond 128 bits.
    pub first: Option<u128>,
    /// All runs by the search; `None` beyond 128 bits.
    pub search: Option<u128>,
    /// All runs by the line.
    pub line: u64,
}

impl Runs {
    /// Counts the runs for a layout.
    pub fn new(layout: &Layout) -> Self {
        let counts: Vec<u64> = minmax::order(layout).iter().map(|i| u64::from(layout.stations()[*i].count)).collect();
        let slots: u64 = counts.iter().sum();
        let first = counts.first().and_then(|count| even_placements(*count, slots - count));
        Self { first, search: first.and_then(|first| search(first, &counts)), line: slots - counts.len() as u64 + 1 }
    }
}

fn search(first: u128, counts: &[u64]) -> Option<u128> {
    let mut free: u64 = counts.iter().skip(1).sum();
    let mut all = first;
    for count in counts.iter().skip(1) {
        // The last takes all that is free, in one way.
        all = all.checked_add(binomial(free, *count)?)?;
        free -= count;
    }
    Some(all)
}

fn binomial(n: u64, k: u64) -> Option<u128> {
    let k = k.min(n - k);
    (1..=k).try_fold(1_u128, |product, i| Some(product.checked_mul(u128::from(n - k + i))? / u128::from(i)))
}

/// Number of ways to place `own` slots among `others` on a circle so that the longest gap, in slots, is least, up to
/// rotation and mirror image. A placement is its circle of `own` gaps, each of 0 to `ceil(others / own)` slots, which
/// Burnside's lemma counts over the rotations and mirror images of that circle.
fn even_placements(own: u64, others: u64) -> Option<u128> {
    let widest = others.div_ceil(own);
    let ways = |gaps: u64, slots: u64| ways(gaps, slots, widest);
    let mut fixed = 0_u128;
    let common = gcd(own, others);
    for period in (1..=common).filter(|period| common.is_multiple_of(*period)) {
        fixed = fixed.checked_add(u128::from(totient(period)).checked_mul(ways(own / period, others / period)?)?)?;
    }
    let mut mirrors = 0_u128;
    if own % 2 == 1 {
        // Every axis goes through one gap.
        for gap in (0..=widest.min(others)).filter(|gap| (others - gap).is_multiple_of(2)) {
            mirrors = mirrors.checked_add(ways((own - 1) / 2, (others - gap) / 2)?.checked_mul(u128::from(own))?)?;
        }
    } else {
        // Half of the axes go between gaps, half through two.
        let half = u128::from(own / 2);
        if others.is_multiple_of(2) {
            mirrors = ways(own / 2, others / 2)?.checked_mul(half)?;
        }
        for pair in (0..=(2 * widest).min(others)).filter(|pair| (others - pair).is_multiple_of(2)) {
            let pairs = widest.min(pair) + 1 - pair.saturating_sub(widest);
            let rest = ways((own - 2) / 2, (others - pair) / 2)?;
            mirrors = mirrors.checked_add(rest.checked_mul(u128::from(pairs))?.checked_mul(half)?)?;
        }
    }
    Some(fixed.checked_add(mirrors)? / u128::from(2 * own))
}

/// Number of sequences of `gaps` numbers from 0 to `widest` that add up to `slots`; `None` where an intermediate number
/// is beyond 128 bits.
fn ways(gaps: u64, slots: u64, widest: u64) -> Option<u128> {
    let mut row = vec![0_u128; slots as usize + 1];
    row[0] = 1;
    for _ in 0..gaps {
        let mut next = Vec::with_capacity(row.len());
        let mut window = 0_u128;
        for (sum, count) in row.iter().enumerate() {
            window = window.checked_add(*count)?;
            if let Some(out) = sum.checked_sub(widest as usize + 1) {
                window -= row[out];
            }
            next.push(window);
        }
        row = next;
    }
    row.last().copied()
}

/// Number of integers in `1..=n` without a common divisor with `n`.
fn totient(n: u64) -> u64 {
    (1..=n).filter(|k| gcd(*k, n) == 1).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::tests::case;
    use std::collections::BTreeSet;

    #[test]
    fn the_papers_counts() {
        let runs = [1, 2, 3].map(|number| Runs::new(&case(number)));
        assert_eq!(runs.map(|r| r.search), [Some(11), Some(6), Some(7)]);
        assert_eq!(runs.map(|r| r.line), [4, 6, 7]);
    }

    /// Every placement is tried, and the least of its rotations and mirror images taken.
    #[test]
    fn even_placements_are_those_that_looking_finds() {
        for slots in 1..=12_u64 {
            for own in 1..=slots {
                let mut least = u32::MAX;
                let mut classes: BTreeSet<u32> = BTreeSet::new();
                for placement in (0..1_u32 << slots).filter(|p| u64::from(p.count_ones()) == own) {
                    let turn = |p: u32, k: u64| (p >> k | p << (slots - k)) & ((1 << slots) - 1);
                    let mirror = |p: u32| (0..slots).filter(|i| p >> i & 1 == 1).map(|i| 1 << (slots - 1 - i)).sum();
                    let gap = (0..slots).map(|k| turn(placement, k)).filter(|p| p & 1 == 1);
                    let gap = gap.map(|p| (p >> 1).trailing_zeros().min(slots as u32 - 1)).max().unwrap();
                    if gap < least {
                        (least, classes) = (gap, BTreeSet::new());
                    }
                    if gap == least {
                        let all = (0..slots).flat_map(|k| [turn(placement, k), turn(mirror(placement), k)]);
                        classes.insert(all.min().unwrap());
                    }
                }
                assert_eq!(even_placements(own, slots - own), Some(classes.len() as u128), "{own} of {slots}");
            }
        }
    }

    #[test]
    fn what_is_beyond_128_bits_is_not_counted() {
        assert_eq!(even_placements(5_000, 5_001), None);
        assert_eq!(even_placements(9_999, 1), Some(1));
        assert_eq!(binomial(60, 30), Some(118_264_581_564_861_424));
        assert_eq!(binomial(10_000, 5_000), None);
    }
}
