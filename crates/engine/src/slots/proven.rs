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
