//! An arrangement and a bound on how much better another could be.

use super::Arrangement;

/// An arrangement with a proven bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The best that was found: never worse than MinMax or NoPolicy.
    pub arrangement: Arrangement,
    pub score: u128,
    /// No arrangement is worth more.
    pub bound: u128,
    /// Steps of the searches.
    pub nodes: u64,
}

impl Proven {
    /// Whether it is the best there is.
    pub fn exact(&self) -> bool {
        self.score == self.bound
    }
    /// Largest possible advantage of the best, in millionths of this one's worth, rounded up.
    pub fn gap_ppm(&self) -> u64 {
        // Six digits of scores are enough here; the shift keeps the product within 128 bits.
        let shift = (128 - self.bound.leading_zeros()).saturating_sub(100);
        let (score, more) =
            ((self.score >> shift).max(1), ((self.bound - self.score) >> shift) + u128::from(shift > 0));
        u64::try_from((more * 1_000_000).div_ceil(score)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::no_policy;
    use crate::slots::tests::case;

    /// A plan worth `score` of which no other is worth more than `bound`.
    fn gap_ppm(score: u128, bound: u128) -> u64 {
        Proven { arrangement: no_policy(&case(1)), score, bound, nodes: 0 }.gap_ppm()
    }

    #[test]
    fn a_gap_is_a_share_of_the_score_and_never_less_than_it_is() {
        assert_eq!((gap_ppm(8, 8), gap_ppm(8, 10)), (0, 250_000));
        assert_eq!(gap_ppm(3_000_000, 3_000_001), 1, "rounded up");
        assert_eq!(gap_ppm(0, 5), 5_000_000, "as of a score of one");
        // Scores near 128 bits lose digits, not their size.
        let (score, more) = (u128::MAX / 5 * 4, u128::MAX / 5);
        assert!((250_000..=250_001).contains(&gap_ppm(score, score + more)), "{}", gap_ppm(score, score + more));
    }
}
