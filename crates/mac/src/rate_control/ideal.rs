//! The best rate for the signal-to-noise ratio of the last frame: rate control that is told what others must find out.
//!
//! A bound for the others, not a protocol: what it hears of a neighbour it takes as what the neighbour hears of it, so
//! it presumes equal powers and one path both ways, and knows nothing of interference at the other end.

use crate::frame::Address;
use std::collections::BTreeMap;

/// A rate by what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Lowest signal-to-noise ratio at which it is used \[1/100 dB\].
    pub snr_cdb: i32,
    /// Data rate \[bit/s\].
    pub bps: u64,
}

/// The rates of a station towards its neighbours.
#[derive(Clone, Debug)]
pub struct Ideal {
    needs: Vec<Need>,
    /// Last signal-to-noise ratio by neighbour \[1/100 dB\].
    heard: BTreeMap<Address, i32>,
}

impl Ideal {
    /// A station that may choose among these.
    pub fn new(needs: Vec<Need>) -> Self {
        Self { needs, heard: BTreeMap::new() }
    }

    /// A frame of a neighbour was heard.
    pub fn on_signal(&mut self, from: Address, snr_cdb: i32) {
        self.heard.insert(from, snr_cdb);
    }

    /// The place of the fastest rate that the neighbour can be expected to decode, else of the one that needs least;
    /// before anything was heard of it too.
    pub fn rate(&self, to: Address) -> usize {
        let heard = self.heard.get(&to).copied();
        let fits = |need: &Need| heard.is_some_and(|snr| snr >= need.snr_cdb);
        let places = || self.needs.iter().enumerate();
        let fastest = places().filter(|(_, need)| fits(need)).max_by_key(|(place, need)| (need.bps, *place));
        let easiest = || places().min_by_key(|(_, need)| need.snr_cdb);
        fastest.or_else(easiest).map_or(0, |(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_rate_that_the_signal_carries_is_taken() {
        let need = |snr_cdb, bps| Need { snr_cdb, bps };
        // The third is faster than the second on less signal: a wider channel, say.
        let mut ideal = Ideal::new(vec![need(100, 6), need(900, 24), need(800, 30), need(2_500, 54)]);
        let to = Address(3);
        assert_eq!(ideal.rate(to), 0, "nothing heard");
        for (snr, place) in [(-500, 0), (100, 0), (799, 0), (800, 2), (2_499, 2), (2_500, 3), (9_000, 3)] {
            ideal.on_signal(to, snr);
            assert_eq!(ideal.rate(to), place, "{snr}");
            assert_eq!(ideal.rate(Address(4)), 0);
        }
    }
}
