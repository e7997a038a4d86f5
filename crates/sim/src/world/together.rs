//! Sets of nodes that belong together, found by joining two at a time (union-find).

/// Sets of nodes that belong together.
#[derive(Debug)]
pub struct Together(Vec<usize>);

impl Together {
    /// Each node by itself.
    pub fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The node that stands for a node's set: the lowest of it, so that numbers follow the scenario's order.
    fn first(&mut self, node: usize) -> usize {
        let mut at = node;
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    /// Two nodes belong together, and so do all that belong to either.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// For each node the number of its set, from 0 on.
    pub fn numbered(mut self) -> Vec<usize> {
        let mut numbers = vec![usize::MAX; self.0.len()];
        let mut next = 0;
        for node in 0..numbers.len() {
            let first = self.first(node);
            if first == node {
                numbers[node] = next;
                next += 1;
            }
            numbers[node] = numbers[first];
        }
        numbers
    }
}
