//! Losses behind a MAC that has acknowledged the packet; they grow with the distance of the sender.
//!
//! Gilbert's chain, packet by packet: bursts of a mean length, and a share lost, each by distance. It stands for what
//! drivers and buffers do to a card that is at its limit; nothing here knows of a signal.

use super::curve::Curve;
use airbraid_engine::Stream;
use airbraid_units::Metres;

/// Parameters of the losses, by distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// The share of the packets; its logarithm is linear between points.
    pub share: Curve,
    /// The mean length of a burst \[packets\], 1 at least.
    pub burst: Curve,
}

/// The process at one receiver.
#[derive(Clone, Debug)]
pub struct WearProcess {
    wear: Wear,
    is_bad: bool,
    random: Stream,
}

impl WearProcess {
    /// A process that begins in its good state.
    pub fn new(wear: Wear, random: Stream) -> Self {
        Self { wear, is_bad: false, random }
    }

    /// Whether the next packet, from a sender at `distance`, is lost.
    pub fn is_lost(&mut self, distance: Metres) -> bool {
        let share = self.wear.share.at_by_logarithm(distance).clamp(0.0, 1.0);
        // A chain that stays for `burst` packets must not be entered more often than always.
        let burst = self.wear.burst.at(distance).max(1.0).max(share / (1.0 - share).max(1e-9));
        let leaves = 1.0 / burst;
        let enters = if share < 1.0 { (leaves * share / (1.0 - share)).min(1.0) } else { 1.0 };
        // 53 random bits, as many as a double holds.
        let drawn = (self.random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0;
        self.is_bad = if self.is_bad { drawn >= leaves || share >= 1.0 } else { drawn < enters };
        self.is_bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_and_bursts_are_what_was_asked_for() {
        let wear = Wear {
            share: Curve::new(&[[0.0, 0.02], [10.0, 0.1]]).unwrap(),
            burst: Curve::new(&[[0.0, 1.0], [10.0, 5.0]]).unwrap(),
        };
        for (distance, share, burst) in [(0.0, 0.02, 1.0), (5.0, 0.044_721, 3.0), (10.0, 0.1, 5.0)] {
            let mut process = WearProcess::new(wear, Stream::new(3, 0, "test"));
            let lost: Vec<bool> = (0..1_000_000).map(|_| process.is_lost(Metres(distance))).collect();
            let count = lost.iter().filter(|lost| **lost).count() as f64;
            let begun = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            // 20,000 losses in 20,000 bursts: five standard errors are 4 %.
            assert!((count / 1e6 / share - 1.0).abs() < 0.04, "{distance}: {count}");
            assert!((count / begun / burst - 1.0).abs() < 0.04, "{distance}: {}", count / begun);
        }
    }

    #[test]
    fn certainties_are_certain() {
        let all = |share| Wear { share: Curve::flat(share), burst: Curve::flat(2.0) };
        let mut process = WearProcess::new(all(1.0), Stream::new(1, 0, "test"));
        assert!((0..1_000).all(|_| process.is_lost(Metres(1.0))));
        let mut process = WearProcess::new(all(0.0), Stream::new(1, 0, "test"));
        assert!((0..1_000).all(|_| !process.is_lost(Metres(1.0))));
    }
}
