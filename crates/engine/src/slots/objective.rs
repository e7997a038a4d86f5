//! The worth of an arrangement: equations 5 and 6 of the paper, in integers.
//!
//! By equation 4 a TCP flow gets `C MSS / ((d + D) sqrt p)`: d is the path's round-trip time, D the longest
//! disconnection. Equation 5 adds that up over the stations; equation 6, for a planner that knows no delays, adds up `1
//! / D`. The paper's text speaks of minimising the inverse, which would choose the worst arrangement; both are
//! maximised here.

use super::Fraction;
use airbraid_units::Duration;

/// Terms are counted in units of 2^-64 of the weight over a nanosecond: with D below an hour a term has more than 22
/// significant bits, with D below a second more than 34.
const SCALE_BITS: u32 = 64;
/// Square roots of the loss are counted in units of 2^-20.
const ROOT_BITS: u32 = 40;

/// The known properties of the path through an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Round-trip time without any disconnection.
    pub delay: Duration,
    /// Congestion signals a packet, above 0: `p` of Mathis et al.
    pub loss: Fraction,
    /// TCP flows over it.
    pub flows: u32,
}

/// The sum of all stations' terms, to be maximised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objective {
    /// Weight and delay \[ns\] of each station.
    terms: Vec<(u64, u64)>,
}

impl Objective {
    /// Equation 6: `sum of 1 / D_i` over this many stations.
    pub fn blind(stations: usize) -> Self {
        Self { terms: vec![(1, 0); stations] }
    }
    /// Equation 5: `sum of flows_i / ((d_i + D_i) sqrt p_i)`.
    pub fn with_delays(paths: &[Path]) -> Self {
        let term = |path: &Path| {
            let inverse = (u128::from(path.loss.denominator()) << ROOT_BITS) / u128::from(path.loss.numerator().max(1));
            // No more than 2^53: the sum of 64 terms fits into 128 bits.
            let root = (inverse.isqrt() as u64).clamp(1, 1 << 43);
            (root * u64::from(path.flows.clamp(1, 1 << 10)), path.delay.as_nanos())
        };
        Self { terms: paths.iter().map(term).collect() }
    }
    /// Number of its stations.
    pub fn stations(&self) -> usize {
        self.terms.len()
    }
    /// The term of a station whose longest disconnection is `worst_ns`. It grows as that shrinks.
    pub fn term(&self, station: usize, worst_ns: u64) -> u128 {
        let (weight, delay_ns) = self.terms[station];
        // A station that is never disconnected, over a path without delay, has no limit: 1 ns stands for it.
        (u128::from(weight) << SCALE_BITS) / u128::from(delay_ns.saturating_add(worst_ns).max(1))
    }
    /// The worth of an arrangement with these longest disconnections.
    pub fn score(&self, worst_ns: &[u64]) -> u128 {
        worst_ns.iter().enumerate().map(|(station, worst)| self.term(station, *worst)).sum()
    }
    /// Whether two stations count alike.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        self.terms[a] == self.terms[b]
    }
    /// The objective of some of its stations, and of one more with weight zero.
    pub(super) fn part(&self, stations: &[usize]) -> Self {
        let terms = stations.iter().map(|i| self.terms[*i]).chain(std::iter::once((0, 0)));
        Self { terms: terms.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation 5: a station's worth is as its flows, and inversely as the square root of its loss and as the delay
    /// with the disconnection.
    #[test]
    fn worth_follows_flows_loss_and_delay() {
        let worth = |delay_ms: u64, loss: (u64, u64), flows: u32, gone_ms: u64| {
            let loss = Fraction::new(loss.0, loss.1).unwrap();
            let path = Path { delay: Duration::from_millis(delay_ms), loss, flows };
            Objective::with_delays(&[path]).score(&[gone_ms * 1_000_000])
        };
        let one = worth(100, (1, 100), 1, 100);
        for (other, upper, lower) in [
            (worth(100, (1, 400), 1, 100), 2, 1),
            (worth(100, (4, 100), 1, 100), 1, 2),
            (worth(100, (9, 1_600), 1, 100), 4, 3),
            (worth(100, (1, 100), 5, 100), 5, 1),
            (worth(150, (1, 100), 1, 250), 1, 2),
        ] {
            let expected = one * upper / lower;
            assert!(other.abs_diff(expected) < expected / 100_000, "{other} instead of {expected}");
        }
    }

    #[test]
    fn an_objective_has_a_term_for_each_station() {
        assert_eq!([1, 2, 7].map(|stations| Objective::blind(stations).stations()), [1, 2, 7]);
        let worst = [20_000_000, 30_000_000];
        let both = Objective::blind(2);
        assert_eq!(both.score(&worst), both.term(0, worst[0]) + both.term(1, worst[1]));
    }

    #[test]
    fn stations_count_alike_by_weight_and_delay() {
        let path = |ms, flows| Path { delay: Duration::from_millis(ms), loss: Fraction::new(1, 100).unwrap(), flows };
        let objective = Objective::with_delays(&[path(10, 1), path(10, 1), path(20, 1), path(10, 2)]);
        assert_eq!([1, 2, 3].map(|other| objective.same(0, other)), [true, false, false]);
        let part = objective.part(&[2, 0]);
        assert_eq!(
            (part.stations(), part.term(0, 5), part.term(1, 5), part.term(2, 5)),
            (3, objective.term(2, 5), objective.term(0, 5), 0)
        );
    }
}
