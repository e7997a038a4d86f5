//! One search over the arrangements of a layout, slot by slot, with a bound for those that it leaves out.

use super::proven::Proven;
use super::{Arrangement, Layout, Objective};

/// No slot placed yet.
const NEVER: u64 = u64::MAX;

/// A search in progress.
pub(super) struct Search<'a> {
    layout: &'a Layout,
    objective: &'a Objective,
    floors: &'a [u64],
    period: u64,
    idle: u64,
    /// The size of the shortest slot of the others.
    shortest: Vec<u64>,
    /// An earlier station that is equal to this one.
    twin: Vec<Option<usize>>,
    owners: Vec<u8>,
    now: u64,
    state: Vec<State>,
    /// The last disconnection and its term, by station: neighbours in the tree have most of them in common.
    memo: Vec<(u64, u128)>,
}

/// The slots of a station so far.
#[derive(Clone, Copy)]
struct State {
    left: u64,
    /// Beginning of its first slot \[ns\] and the number of slots before it.
    first: (u64, u64),
    /// End of its last slot, likewise.
    end: (u64, u64),
    worst: u64,
}

/// A node whose children are being tried.
struct Frame {
    choices: Vec<u8>,
    at: usize,
    bound: u128,
    /// The state that the step to it changed.
    before: Option<State>,
}

impl<'a> Search<'a> {
    /// A search over the arrangements of `layout`, with lower bounds of the disconnections.
    pub(super) fn new(layout: &'a Layout, objective: &'a Objective, floors: &'a [u64]) -> Self {
        let stations = layout.stations();
        let others = |i: usize| stations.iter().enumerate().filter(move |(j, _)| *j != i);
        let alike = |i: usize, j: &usize| {
            let same = (stations[i].count, stations[i].size_ns) == (stations[*j].count, stations[*j].size_ns);
            same && objective.same(i, *j)
        };
        let state = |station: &super::Station| State {
            left: u64::from(station.count),
            first: (NEVER, 0),
            end: (0, 0),
            worst: 0,
        };
        let idle = layout.idle().as_nanos();
        Self {
            layout,
            objective,
            floors,
            period: idle + stations.iter().map(|s| s.size_ns * u64::from(s.count)).sum::<u64>(),
            idle,
            shortest: (0..stations.len()).map(|i| others(i).map(|(_, s)| s.size_ns).min().unwrap_or(0)).collect(),
            twin: (0..stations.len()).map(|i| (0..i).rev().find(|j| alike(i, j))).collect(),
            owners: Vec::with_capacity(layout.slots()),
            now: 0,
            state: stations.iter().map(state).collect(),
            memo: vec![(NEVER, 0); stations.len()],
        }
    }

    /// Searches from a known arrangement on, at most `nodes` steps.
    pub(super) fn run(mut self, known: &Arrangement, nodes: u64) -> Proven {
        let mut best = known.clone();
        let mut score = self.objective.score(&self.limited(best.worst_ns(self.layout)));
        let mut steps = 0;
        let root = self.bound();
        let mut stack = vec![Frame { choices: self.beginning(), at: 0, bound: root, before: None }];
        let mut open = 0;
        while let Some(frame) = stack.last_mut() {
            let choice = if frame.bound > score { frame.choices.get(frame.at).copied() } else { None };
            let Some(choice) = choice else {
                let before = frame.before;
                stack.pop();
                self.undo(before);
                continue;
            };
            if steps == nodes {
                let unfinished = stack.iter().filter(|frame| frame.at < frame.choices.len());
                open = unfinished.map(|frame| frame.bound).max().unwrap_or(0);
                break;
            }
            frame.at += 1;
            steps += 1;
            let before = Some(self.place(usize::from(choice)));
            if self.owners.len() == self.layout.slots() {
                let now = self.objective.score(&self.limited(self.ends()));
                if now > score {
                    (score, best) = (now, Arrangement { owners: self.owners.clone() });
                }
                self.undo(before);
                continue;
            }
            let bound = self.bound();
            if bound > score {
                let choices = self.choices();
                stack.push(Frame { choices, at: 0, bound, before });
            } else {
                self.undo(before);
            }
        }
        Proven { arrangement: best, score, bound: open.max(score), nodes: steps }
    }

    /// The disconnections, each raised to its lower bound.
    fn limited(&self, worst: Vec<u64>) -> Vec<u64> {
        worst.iter().zip(self.floors).map(|(worst, floor)| *worst.max(floor)).collect()
    }

    /// The stations that may have the first slot.
    fn beginning(&self) -> Vec<u8> {
        let fewest = (0..self.state.len()).min_by_key(|i| self.state[*i].left);
        if self.idle == 0 { fewest.map(|i| i as u8).into_iter().collect() } else { self.choices() }
    }
    /// The stations that may have the next slot, the most urgent first.
    fn choices(&self) -> Vec<u8> {
        let mut choices: Vec<(u64, u8)> = Vec::with_capacity(self.state.len());
        for (i, state) in self.state.iter().enumerate().filter(|(_, state)| state.left > 0) {
            let begun = |i: usize| self.state[i].first.0 != NEVER;
            if begun(i) || self.twin[i].is_none_or(begun) {
                choices.push((state.end.0 + self.floors[i], i as u8));
            }
        }
        choices.sort_unstable();
        choices.into_iter().map(|(_, i)| i).collect()
    }

    fn place(&mut self, i: usize) -> State {
        let before = self.state[i];
        let (now, position) = (self.now, self.owners.len() as u64);
        self.now += self.layout.stations()[i].size_ns;
        self.owners.push(i as u8);
        let state = &mut self.state[i];
        if state.first.0 == NEVER {
            state.first = (now, position);
        } else {
            state.worst = state.worst.max(now - state.end.0);
        }
        state.end = (self.now, position + 1);
        state.left -= 1;
        before
    }
    fn undo(&mut self, before: Option<State>) {
        let (Some(before), Some(owner)) = (before, self.owners.pop()) else { return };
        let i = usize::from(owner);
        self.now -= self.layout.stations()[i].size_ns;
        self.state[i] = before;
    }
    /// The longest disconnections, when all slots are placed.
    fn ends(&self) -> Vec<u64> {
        self.state.iter().map(|state| state.worst.max(self.period - state.end.0 + state.first.0)).collect()
    }

    /// An upper bound on the worth of all arrangements below this node.
    fn bound(&mut self) -> u128 {
        let mut sum = 0;
        for i in 0..self.state.len() {
            let least = self.least(i);
            if self.memo[i].0 != least {
                self.memo[i] = (least, self.objective.term(i, least));
            }
            sum += self.memo[i].1;
        }
        sum
    }
    /// A lower bound on the disconnection of station `i` below this node.
    fn least(&self, i: usize) -> u64 {
        let state = &self.state[i];
        if state.first.0 == NEVER {
            return self.floors[i].max(self.now + self.idle);
        }
        // The others' time and slots from its last slot around to its first, which its other slots cut into gaps.
        let station = &self.layout.stations()[i];
        let time = self.period - state.end.0 - state.left * station.size_ns + state.first.0;
        let slots = self.layout.slots() as u64 - state.end.1 - state.left + state.first.1;
        let gaps = state.left + 1;
        let mean = time.div_ceil(gaps).max(slots.div_ceil(gaps) * self.shortest[i]);
        let around = if state.left > 0 { self.idle + state.first.0 } else { 0 };
        self.floors[i].max(state.worst).max(mean).max(self.now - state.end.0).max(around)
    }
}
