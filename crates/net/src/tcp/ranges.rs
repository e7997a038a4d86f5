//! An ordered list of disjoint ranges: the data that a receiver holds beyond a gap, or that a sender knows to have
//! arrived.
//!
//! Lists are as long as there are holes in a window, so a sorted vector beats a tree. It never allocates once it has
//! grown to the number of holes.

use std::collections::VecDeque;

/// A half-open range of stream offsets.
pub(crate) type Range = (u64, u64);

/// Disjoint, non-touching ranges in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    list: VecDeque<Range>,
    total: u64,
}

impl Ranges {
    /// Adds `start..end`, merging what it touches; returns how many bytes are new.
    pub(crate) fn insert(&mut self, (mut start, mut end): Range) -> u64 {
        if start >= end {
            return 0;
        }
        let before = self.total;
        let first = self.list.partition_point(|&(_, e)| e < start);
        let mut last = first;
        while let Some(&(s, e)) = self.list.get(last).filter(|&&(s, _)| s <= end) {
            start = start.min(s);
            end = end.max(e);
            self.total -= e - s;
            last += 1;
        }
        self.total += end - start;
        if first == last {
            self.list.insert(first, (start, end));
        } else {
            self.list[first] = (start, end);
            self.list.drain(first + 1..last);
        }
        self.total - before
    }

    /// Forgets everything below `offset`.
    pub(crate) fn remove_below(&mut self, offset: u64) {
        while let Some(front) = self.list.front_mut() {
            if front.1 > offset {
                let cut = offset.saturating_sub(front.0);
                front.0 += cut;
                self.total -= cut;
                return;
            }
            self.total -= front.1 - front.0;
            self.list.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.total = 0;
    }
    /// The bytes in all ranges.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }
    /// Whether there is no range.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// The ranges, ascending or, reversed, descending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.list.iter().copied()
    }
    pub(crate) fn first(&self) -> Option<Range> {
        self.list.front().copied()
    }
    pub(crate) fn last(&self) -> Option<Range> {
        self.list.back().copied()
    }
    /// The range that contains `offset`, or else the next above it.
    pub(crate) fn at_or_above(&self, offset: u64) -> Option<Range> {
        self.list.get(self.list.partition_point(|&(_, e)| e <= offset)).copied()
    }
    /// The bytes below `offset`.
    pub(crate) fn total_below(&self, offset: u64) -> u64 {
        if self.list.back().is_none_or(|&(_, e)| e <= offset) {
            return self.total;
        }
        self.list.iter().take_while(|&&(s, _)| s < offset).map(|&(s, e)| e.min(offset) - s).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_set_of_offsets(ops in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..12), 1..60)) {
            let (mut ranges, mut naive) = (Ranges::default(), std::collections::BTreeSet::new());
            for (remove, at, len) in ops {
                if remove {
                    ranges.remove_below(at);
                    naive.retain(|&x| x >= at);
                } else {
                    let before = naive.len();
                    naive.extend(at..at + len);
                    prop_assert_eq!(ranges.insert((at, at + len)), (naive.len() - before) as u64);
                }
                prop_assert_eq!(ranges.total(), naive.len() as u64);
                prop_assert_eq!(
                    ranges.iter().flat_map(|(s, e)| s..e).collect::<Vec<_>>(),
                    naive.iter().copied().collect::<Vec<_>>()
                );
                prop_assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(a, b)| a.1 < b.0));
                prop_assert_eq!(ranges.total_below(at), naive.range(..at).count() as u64);
                let next = ranges.at_or_above(at).map(|(s, _)| s.max(at));
                prop_assert_eq!(next, naive.range(at..).next().copied());
            }
        }
    }
}
