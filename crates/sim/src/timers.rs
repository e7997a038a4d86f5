//! The wake-ups of all machines: one place for each machine, the earliest found at once.
//!
//! A machine's wake-up moves far more often than it fires: each frame on the air stops the backoff of everybody who
//! hears it. In a queue every move would leave a stale event behind, or cost a search; in this tournament tree it costs
//! a walk towards the root that ends as soon as somebody else wins anyway.

use airbraid_units::Instant;

/// Number of places in a node of the tree: shallower than with two, and the least of four is found without a branch.
const GROUP: usize = 4;

/// Wake-up times by machine; [`Instant::MAX`] where there is none.
#[derive(Debug)]
pub struct Timers {
    /// A complete tree, the root first: the children of group `i` are the groups from `4 i + 1` on, and each place of a
    /// group holds the least time of the child that belongs to it. The lowest groups hold the machines' own times.
    groups: Vec<[Instant; GROUP]>,
    /// The first of the lowest groups.
    lowest: usize,
    /// The least time of all.
    first: Instant,
}

impl Timers {
    /// Places for `count` machines, none with a wake-up.
    pub fn new(count: usize) -> Self {
        let (mut lowest, mut width) = (0, 1);
        while width * GROUP < count {
            lowest += width;
            width *= GROUP;
        }
        Self { groups: vec![[Instant::MAX; GROUP]; lowest + width], lowest, first: Instant::MAX }
    }

    /// The first wake-up; [`Instant::MAX`] if there is none.
    pub fn next_at(&self) -> Instant {
        self.first
    }

    /// The machine that wakes first, the lowest of those that wake together.
    pub fn next(&self) -> u32 {
        let mut group = 0;
        loop {
            let side = self.groups[group].iter().position(|&at| at == self.first).unwrap_or(0);
            if group >= self.lowest {
                return ((group - self.lowest) * GROUP + side) as u32;
            }
            group = group * GROUP + 1 + side;
        }
    }

    /// The wake-up of a machine.
    #[inline]
    pub fn at(&self, machine: u32) -> Instant {
        self.groups[self.lowest + machine as usize / GROUP][machine as usize % GROUP]
    }

    /// Moves a machine's wake-up.
    #[inline(never)]
    pub fn set(&mut self, machine: u32, at: Instant) {
        let (mut group, mut side, mut at) = (self.lowest + machine as usize / GROUP, machine as usize % GROUP, at);
        // Where nothing changes nothing changes above.
        while self.groups[group][side] != at {
            let times = &mut self.groups[group];
            times[side] = at;
            let [a, b, c, d] = *times;
            at = a.min(b).min(c.min(d));
            if group == 0 {
                self.first = at;
                return;
            }
            (group, side) = ((group - 1) / GROUP, (group - 1) % GROUP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_to_wake_is_the_least_of_all(
            count in 1usize..70, moves in prop::collection::vec((0usize..70, prop::option::of(0u64..20)), 0..200)
        ) {
            let mut timers = Timers::new(count);
            let mut times = vec![Instant::MAX; count];
            for (machine, at) in moves {
                let (machine, at) = (machine % count, at.map_or(Instant::MAX, Instant::from_nanos));
                timers.set(machine as u32, at);
                times[machine] = at;
                let least = *times.iter().min().unwrap();
                prop_assert_eq!(timers.next_at(), least);
                if least < Instant::MAX {
                    prop_assert_eq!(timers.next() as usize, times.iter().position(|&at| at == least).unwrap());
                }
            }
        }
    }
}
