//! The wake-ups of all machines: one place for each machine, the earliest found at once.
//!
//! A machine's wake-up moves far more often than it fires: each frame on the air stops the backoff of everybody who
//! hears it. In a queue every move would leave a stale event behind, or cost a search; in this tournament tree it costs
//! a walk towards the root that ends as soon as somebody else wins anyway.

use airbraid_units::Instant;

/// A machine and when it wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Instant,
    machine: u32,
}

/// Wake-up times by machine; [`Instant::MAX`] where there is none.
#[derive(Debug)]
pub struct Timers {
    /// A complete binary tree: the leaf of machine `i` is at `leaves + i`, the root at 1; each node is the earlier of
    /// its two children, the lower machine winning ties.
    nodes: Vec<Entry>,
    leaves: usize,
}

impl Timers {
    /// Places for `count` machines, none of which wants to be woken.
    pub fn new(count: usize) -> Self {
        let leaves = count.max(1).next_power_of_two();
        let mut nodes = vec![Entry { at: Instant::MAX, machine: 0 }; 2 * leaves];
        for (place, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.machine = place as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        Self { nodes, leaves }
    }

    /// The machine that wakes first, and when; [`Instant::MAX`] if none wants to.
    pub fn next(&self) -> (Instant, u32) {
        (self.nodes[1].at, self.nodes[1].machine)
    }

    /// When a machine is to be woken.
    pub fn at(&self, machine: u32) -> Instant {
        self.nodes[self.leaves + machine as usize].at
    }

    /// Moves a machine's wake-up.
    pub fn set(&mut self, machine: u32, at: Instant) {
        let mut node = self.leaves + machine as usize;
        if self.nodes[node].at == at {
            return;
        }
        self.nodes[node].at = at;
        while node > 1 {
            node /= 2;
            let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
            let earlier = if right.at < left.at { right } else { left };
            // Where nothing changes nothing changes above.
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
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
                prop_assert_eq!(timers.next().0, least);
                if least < Instant::MAX {
                    prop_assert_eq!(timers.next().1 as usize, times.iter().position(|&at| at == least).unwrap());
                }
            }
        }
    }
}
