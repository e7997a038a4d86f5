//! Our own policy: the size and code with the greatest expected goodput, by the observed sequences of fates.
//!
//! It keeps three distributions: how often a segment is lost, at which length it breaks off, how many bytes of its
//! worst block are wrong. Each is kept once for all segments and once for each situation, which is whether the last
//! three were damaged; a situation that has been seen seldom leans on the whole, and that on an optimistic beginning.
//! So it learns by itself whether damage comes in bursts, and what to do in one. Everything fades, so that what was
//! long ago does not count.
//!
//! It infers the rest: a segment that came whole says nothing of lengths beyond its own (the estimator of
//! Kaplan and Meier 1958), one that could not be decoded says only that more was wrong than the code repairs, and is
//! shared out over the stronger codes in proportion to what is known of them (Efron 1967).
//!
//! Lost and damaged segments take time, too, and a short one takes little. Where hardly anything comes, it finds out
//! sooner when the channel has recovered; the criterion of [`super::rate`] says what time is worth.

use super::rate::{CERTAIN, Rate, worth};
use super::{Fate, Observation, Policy, Task};
use crate::link::cost::Cost;
use crate::link::refusal::Refusal;
use crate::link::shape::{Shape, coded_len};

/// The constants of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goodput {
    /// The shortest segment \[byte on the air\].
    pub bytes_min: u16,
    pub bytes_max: u16,
    /// Memory of a situation: about its last 2^`fade` segments, 1 to 16; that of the whole is eight times as long.
    pub fade: u32,
}

impl Goodput {
    /// Up to five blocks as the paper's policies; down to 64 byte, which take little more than a frame's overhead. 64
    /// segments of each situation: at 14 ms some seconds.
    pub const DEFAULT: Self = Self { bytes_min: 64, bytes_max: 1_275, fade: 6 };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.bytes_min > self.bytes_max {
            return Err(Refusal::Bounds("segment size"));
        }
        if !(1..=16).contains(&self.fade) {
            return Err(Refusal::Fade(self.fade));
        }
        Shape::new(self.bytes_min, 0).map(|_| ())
    }
}

/// Sizes to choose from, within the bounds and these beside them \[byte\]: quarters of a block, then halves.
const SIZES: [u16; 10] = [128, 191, 255, 382, 510, 637, 765, 892, 1_020, 1_147];
/// Largest number of sizes.
const SIZES_MAX: usize = SIZES.len() + 2;
/// Parity to choose from \[byte of each block\]: the finer the less, up to one half.
const PARITIES: [u8; 19] = [0, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 72, 84, 96, 112, 128];
/// Number of past segments whose damage makes the situation.
const SITUATION: u32 = 3;
/// Factor of the whole's memory over a situation's, as an exponent of 2.
const WHOLE_FADE: u32 = 3;
/// One segment, in a count.
const ONE: u32 = 1 << 12;
/// Weight of the whole in a situation, and of the initial belief in the whole \[segments\].
const LEAN: u32 = 8;
/// Initial belief: one segment in this many needs parity, too few to give any for them.
const FEW: u32 = 16;
/// Initial belief: one segment in this many is lost, and one breaks off in each range of lengths.
const RARE: u32 = 256;

/// Occurrences of an event and its opportunities.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    of: u32,
    happened: u32,
}

impl Share {
    fn fade(&mut self, fade: u32) {
        self.of -= self.of >> fade;
        self.happened -= self.happened >> fade;
    }
    fn count(&mut self, happened: bool) {
        self.of += ONE;
        self.happened += u32::from(happened) * ONE;
    }
    /// The probability, leaning on another.
    fn estimate(&self, lean_on: u32) -> u32 {
        let happened = u64::from(self.happened) * u64::from(CERTAIN) + u64::from(LEAN * ONE) * u64::from(lean_on);
        (happened / u64::from(self.of + LEAN * ONE)) as u32
    }
}

#[derive(Clone, Debug)]
struct FateCounts {
    fade: u32,
    lost: Share,
    /// By size: segments broken off between the size before and this one, of those that had come so far.
    cut: [Share; SIZES_MAX],
    /// By parity: segments that need this much and no less.
    needs: [u32; PARITIES.len()],
    /// Base of the counts above, and those among them that no parity repairs.
    coded: u32,
}

/// Estimates, in parts of 2^16.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    lost: u32,
    cut: [u32; SIZES_MAX],
    needs: [u32; PARITIES.len()],
}

impl Estimate {
    /// Before any observation: few segments need parity, and those need a lot.
    const BEGINNING: Self = {
        let few = CERTAIN / FEW;
        let mut needs = [few / PARITIES.len() as u32; PARITIES.len()];
        needs[0] += CERTAIN - few;
        Self { lost: CERTAIN / RARE, cut: [CERTAIN / RARE; SIZES_MAX], needs }
    };
}

impl FateCounts {
    fn new(fade: u32) -> Self {
        let (lost, cut) = (Share::default(), [Share::default(); SIZES_MAX]);
        Self { fade, lost, cut, needs: [0; PARITIES.len()], coded: 0 }
    }

    fn estimate(&self, lean_on: &Estimate) -> Estimate {
        let mut estimate = *lean_on;
        estimate.lost = self.lost.estimate(lean_on.lost);
        for (cut, seen) in estimate.cut.iter_mut().zip(&self.cut) {
            *cut = seen.estimate(*cut);
        }
        for (needs, &seen) in estimate.needs.iter_mut().zip(&self.needs) {
            *needs = Share { of: self.coded, happened: seen }.estimate(*needs);
        }
        estimate
    }

    fn observe(&mut self, observation: Observation, sizes: &[u16], known: &Estimate) {
        self.lost.fade(self.fade);
        self.lost.count(observation.fate == Fate::Lost);
        let came = match observation.fate {
            Fate::Lost => return,
            Fate::Truncated { at } => at,
            Fate::Delivered { .. } | Fate::Undecodable => observation.coded_len,
        };
        let is_cut = matches!(observation.fate, Fate::Truncated { .. });
        self.observe_cut(came, is_cut, sizes);
        if !is_cut {
            self.needs.iter_mut().for_each(|needs| *needs -= *needs >> self.fade);
            self.coded -= self.coded >> self.fade;
            self.coded += ONE;
            self.observe_code(observation, known);
        }
    }

    /// All lengths fade, so that those that are not tried become hopeful again.
    fn observe_cut(&mut self, came: u16, is_cut: bool, sizes: &[u16]) {
        for (share, &size) in self.cut.iter_mut().zip(sizes) {
            share.fade(self.fade);
            if size <= came {
                share.count(false);
            }
        }
        let next = sizes.iter().position(|&size| size > came);
        if let Some(share) = next.filter(|_| is_cut).and_then(|index| self.cut.get_mut(index)) {
            share.count(true);
        }
    }

    fn observe_code(&mut self, observation: Observation, known: &Estimate) {
        match observation.fate {
            Fate::Delivered { worst } => {
                let least = PARITIES.iter().position(|&parity| parity / 2 >= worst);
                least.into_iter().for_each(|index| self.needs[index] += ONE);
            }
            _ => {
                let stronger = PARITIES.partition_point(|&parity| parity <= observation.parity);
                let beyond = CERTAIN.saturating_sub(known.needs.iter().sum());
                let all = u64::from(known.needs[stronger..].iter().sum::<u32>() + beyond).max(1);
                for (needs, &part) in self.needs[stronger..].iter_mut().zip(&known.needs[stronger..]) {
                    *needs += (u64::from(ONE) * u64::from(part) / all) as u32;
                }
            }
        }
    }
}

/// The state of the policy.
#[derive(Clone, Debug)]
pub struct State {
    rate: Rate,
    sizes: Vec<u16>,
    whole: FateCounts,
    situations: Vec<FateCounts>,
    /// Bit i: the segment i before the last was lost, or arrived damaged, repaired ones too.
    situation: usize,
}

impl State {
    pub fn new(config: Goodput, cost: Cost) -> Self {
        let Goodput { bytes_min, bytes_max, fade } = config;
        let between = SIZES.into_iter().filter(|&size| bytes_min < size && size < bytes_max);
        let mut sizes: Vec<u16> = [bytes_min].into_iter().chain(between).chain([bytes_max]).collect();
        sizes.dedup();
        Self {
            rate: Rate::new(cost, fade + WHOLE_FADE),
            sizes,
            whole: FateCounts::new(fade + WHOLE_FADE),
            situations: vec![FateCounts::new(fade); 1 << SITUATION],
            situation: 0,
        }
    }

    fn estimate(&self) -> Estimate {
        let whole = self.whole.estimate(&Estimate::BEGINNING);
        self.situations[self.situation].estimate(&whole)
    }

    /// Probability that a segment of each size is neither lost nor cut.
    fn comes(estimate: &Estimate) -> [u32; SIZES_MAX] {
        let mut comes = CERTAIN - estimate.lost;
        estimate.cut.map(|cut| {
            comes = part(comes, CERTAIN - cut);
            comes
        })
    }

    /// The expected result of each size and parity; returns their number, too.
    fn candidates(&self, task: Task) -> ([Candidate; SIZES_MAX * PARITIES.len()], usize) {
        let estimate = self.estimate();
        let comes = Self::comes(&estimate);
        let mut candidates = [Candidate::NONE; SIZES_MAX * PARITIES.len()];
        let (mut count, mut decodes) = (0, 0);
        for (&parity, &needs) in PARITIES.iter().zip(&estimate.needs) {
            decodes += needs;
            let mut last = None;
            for shape in self.sizes.iter().rev().filter_map(|&size| Shape::new(size, parity).ok()) {
                let piece = Piece::of(shape, task);
                // A smaller one may make as many pieces.
                if last == Some(piece) {
                    continue;
                }
                last = Some(piece);
                let index = self.sizes.partition_point(|&size| size < piece.bytes);
                let comes = part(comes[index.min(SIZES_MAX - 1)], decodes);
                candidates[count] = piece.candidate(task, comes, &self.rate);
                count += 1;
            }
        }
        (candidates, count)
    }

    fn choose(&self, task: Task) -> Shape {
        let (candidates, count) = self.candidates(task);
        let candidates = &candidates[..count];
        let by_time = |a, b| if brings_more_by_time(b, a) { b } else { a };
        let Some(here) = candidates.iter().reduce(by_time) else { return super::fixed::ROBUST };
        // A bad time is not left behind by short answers to long polls.
        if task.beside > 0 {
            return here.shape;
        }
        let value = self.rate.value(here.brings, here.time);
        let gain = |it: &Candidate| it.brings - worth(it.time, value);
        let better = |a: (i64, Shape), it| if gain(it) > a.0 { (gain(it), it.shape) } else { a };
        candidates.iter().fold((i64::MIN, here.shape), better).1
    }
}

/// A packet is cut into equal pieces, so that none is short: a short one takes nearly as long as a long one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    shape: Shape,
    /// Its payload \[2^-16 byte\].
    carries: i64,
    /// Its length on the air \[byte\].
    bytes: u16,
}

impl Piece {
    /// The largest equal pieces that fit.
    fn of(shape: Shape, task: Task) -> Self {
        let capacity = shape.capacity();
        let whole = Self { shape, carries: i64::from(capacity) * i64::from(CERTAIN), bytes: shape.bytes() };
        match task.left {
            None => whole,
            Some(0) => Self { shape, carries: 0, bytes: 0 },
            Some(left) => {
                let pieces = left.div_ceil(capacity);
                let bytes = coded_len(left.div_ceil(pieces), shape.parity()) as u16;
                let carries = i64::from((u32::from(left) << 16) / u32::from(pieces));
                Shape::new(bytes, shape.parity()).map_or(whole, |shape| Self { shape, carries, bytes })
            }
        }
    }

    /// The candidate if it arrives with this probability.
    fn candidate(self, task: Task, comes: u32, rate: &Rate) -> Candidate {
        let all = self.carries + i64::from(task.rides) * i64::from(CERTAIN);
        let bytes = u32::from(self.bytes) + u32::from(task.beside);
        Candidate { shape: self.shape, brings: (all * i64::from(comes)) >> 16, time: rate.time(bytes) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    shape: Shape,
    /// Its expected payload \[2^-16 byte\].
    brings: i64,
    /// Time of the transaction \[ns\].
    time: u64,
}

impl Candidate {
    const NONE: Self = Self { shape: super::fixed::ROBUST, brings: 0, time: 1 };
}

/// Compares without a division.
fn brings_more_by_time(a: &Candidate, b: &Candidate) -> bool {
    i128::from(a.brings) * i128::from(b.time) > i128::from(b.brings) * i128::from(a.time)
}

/// The product of two probabilities.
fn part(a: u32, b: u32) -> u32 {
    (u64::from(a) * u64::from(b) / u64::from(CERTAIN)) as u32
}

impl Policy for State {
    fn observe(&mut self, observation: Observation) {
        let known = self.estimate();
        self.rate.observe(observation);
        self.whole.observe(observation, &self.sizes, &known);
        self.situations[self.situation].observe(observation, &self.sizes, &known);
        let is_damaged = observation.fate != Fate::Delivered { worst: 0 };
        self.situation = (self.situation << 1 | usize::from(is_damaged)) & ((1 << SITUATION) - 1);
    }
    fn shape(&self) -> Shape {
        self.choose(Task::default())
    }
    fn shape_for(&self, task: Task) -> Shape {
        self.choose(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    fn counts() -> FateCounts {
        FateCounts::new(2)
    }

    fn observed(fate: Fate) -> Observation {
        Observation { coded_len: 255, parity: 8, fate }
    }

    #[test]
    fn an_estimate_leans_on_another_by_eight_segments() {
        let mut share = Share::default();
        assert_eq!(share.estimate(CERTAIN / 2), CERTAIN / 2);
        (0..8).for_each(|number| share.count(number < 2));
        // Two of eight, and four of eight.
        assert_eq!(share.estimate(CERTAIN / 2), CERTAIN * 6 / 16);
        share.fade(1);
        assert_eq!((share.of, share.happened), (4 * ONE, ONE));
    }

    #[test]
    fn a_segment_tells_of_the_lengths_up_to_its_own_and_one_that_broke_off_of_the_next() {
        let mut counts = counts();
        counts.observe_cut(255, false, &[64, 128, 255, 510]);
        assert_eq!(
            counts.cut[..4].iter().map(|cut| (cut.of, cut.happened)).collect::<Vec<_>>(),
            [(ONE, 0), (ONE, 0), (ONE, 0), (0, 0)]
        );
        // A quarter has faded.
        counts.observe_cut(200, true, &[64, 128, 255, 510]);
        let faded = ONE - ONE / 4;
        assert_eq!(
            counts.cut[..4].iter().map(|cut| (cut.of, cut.happened)).collect::<Vec<_>>(),
            [(faded + ONE, 0), (faded + ONE, 0), (faded + ONE, ONE), (0, 0)]
        );
    }

    #[test]
    fn a_segment_needs_the_least_parity_that_repairs_its_worst_block() {
        for (worst, parity) in [(0, 0), (1, 2), (5, 12), (6, 12), (64, 128)] {
            let mut counts = counts();
            counts.observe(observed(Fate::Delivered { worst }), &[255], &Estimate::BEGINNING);
            let needs: Vec<u8> =
                PARITIES.into_iter().zip(counts.needs).filter(|one| one.1 > 0).map(|one| one.0).collect();
            assert_eq!((needs, counts.coded, counts.lost.of), (vec![parity], ONE, ONE), "{worst} wrong");
        }
    }

    #[test]
    fn one_that_could_not_be_decoded_is_shared_out_over_the_stronger_codes() {
        let mut known = Estimate::BEGINNING;
        known.needs = [0; PARITIES.len()];
        (known.needs[4], known.needs[5], known.needs[6]) = (CERTAIN / 2, CERTAIN / 4, CERTAIN / 8);
        let mut counts = counts();
        counts.observe(observed(Fate::Undecodable), &[255], &known);
        // 8 byte of parity are the fifth: of what is left a quarter, an eighth, and an eighth that nothing repairs.
        let expected: Vec<u32> = vec![0, 0, 0, 0, 0, ONE / 2, ONE / 4];
        assert_eq!((&counts.needs[..7], counts.needs[7..].iter().sum::<u32>()), (&expected[..], 0));
        counts.observe(observed(Fate::Lost), &[255], &known);
        assert_eq!((counts.coded, counts.lost.happened), (ONE, ONE), "a lost one tells nothing of codes");
    }

    #[test]
    fn a_packet_is_cut_into_equal_pieces() {
        let task = |left| Task { left, ..Task::default() };
        let shape = Shape::constant(304, 0);
        let piece = |left| {
            let piece = Piece::of(shape, task(left));
            (piece.bytes, piece.carries >> 16)
        };
        // 300 byte of a packet beside the check of 4.
        assert_eq!([None, Some(0), Some(300), Some(1_000)].map(piece), [(304, 300), (0, 0), (304, 300), (254, 250)]);
        let cost = Cost { overhead: Duration::from_micros(1_000), per_byte: Duration::from_micros(1) };
        let task = Task { left: Some(1_000), rides: 50, beside: 46 };
        let candidate = Piece::of(shape, task).candidate(task, CERTAIN / 2, &Rate::new(cost, 63));
        assert_eq!((candidate.brings, candidate.time), (150 << 16, 1_300_000), "half of 250 and 50 byte");
    }

    #[test]
    fn a_segment_comes_if_it_is_neither_lost_nor_cut_before_its_end() {
        let mut estimate = Estimate { lost: CERTAIN / 2, ..Estimate::BEGINNING };
        estimate.cut = [CERTAIN / 2; SIZES_MAX];
        assert_eq!(State::comes(&estimate)[..3], [CERTAIN / 4, CERTAIN / 8, CERTAIN / 16]);
    }
}
