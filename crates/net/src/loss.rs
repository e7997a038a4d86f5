//! The packets that a link loses: none, random ones, bursts, or a repeating pattern.
//!
//! One draw or two a packet from a stream of its own, so that a loss pattern depends on the seed and on the number of
//! the packet alone. It never looks at time or size. Gilbert 1960, Elliott 1963.

use airbraid_engine::Stream;
use airbraid_units::Probability;

/// The packets that are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    #[default]
    None,
    /// Each with this probability, independently.
    Bernoulli(Probability),
    /// Two states with their own loss, changing from packet to packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability of a change from good to bad, for each packet.
        good_to_bad: Probability,
        /// Probability of a change from bad to good, for each packet.
        bad_to_good: Probability,
        /// Probability of a loss in the good state.
        loss_good: Probability,
        /// Probability of a loss in the bad state.
        loss_bad: Probability,
    },
    /// This pattern of packets, over and over: `true` is lost.
    Trace(Vec<bool>),
}

/// A probability as a threshold on 53 random bits: exact for every `f64`, and without floating point a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chance(u64);

impl Chance {
    fn new(p: Probability) -> Self {
        // 2^53: a double has 53 bits of mantissa.
        Self((p.get() * 9_007_199_254_740_992.0) as u64)
    }
    fn draw(self, stream: &mut Stream) -> bool {
        stream.next_u64() >> 11 < self.0
    }
}

#[derive(Clone, Debug)]
enum Kind {
    None,
    Bernoulli(Chance),
    GilbertElliott { bad: bool, change: [Chance; 2], loss: [Chance; 2] },
    Trace { pattern: Vec<bool>, at: usize },
}

#[derive(Clone, Debug)]
pub struct LossProcess {
    kind: Kind,
    stream: Stream,
}

impl LossProcess {
    /// The process that `loss` describes, from its first packet on. Gilbert and Elliott's starts in the good state.
    pub fn new(loss: &Loss, stream: Stream) -> Self {
        Self { kind: Kind::new(loss), stream }
    }

    /// Switches to the process that `loss` describes; the random stream goes on where it was.
    pub fn change(&mut self, loss: &Loss) {
        self.kind = Kind::new(loss);
    }

    /// Whether the next packet is lost.
    pub fn is_lost(&mut self) -> bool {
        match &mut self.kind {
            Kind::None => false,
            Kind::Bernoulli(p) => p.draw(&mut self.stream),
            Kind::GilbertElliott { bad, change, loss } => {
                // The state in which the packet is sent decides on it; then the state may change.
                let state = usize::from(*bad);
                let lost = loss[state].draw(&mut self.stream);
                *bad ^= change[state].draw(&mut self.stream);
                lost
            }
            Kind::Trace { pattern, at } => {
                let lost = pattern.get(*at).copied().unwrap_or(false);
                *at = if *at + 1 < pattern.len() { *at + 1 } else { 0 };
                lost
            }
        }
    }
}

impl Kind {
    fn new(loss: &Loss) -> Self {
        match loss {
            Loss::None => Self::None,
            Loss::Bernoulli(p) => Self::Bernoulli(Chance::new(*p)),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => Self::GilbertElliott {
                bad: false,
                change: [Chance::new(*good_to_bad), Chance::new(*bad_to_good)],
                loss: [Chance::new(*loss_good), Chance::new(*loss_bad)],
            },
            Loss::Trace(pattern) => Self::Trace { pattern: pattern.clone(), at: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(loss: &Loss, seed: u64) -> LossProcess {
        LossProcess::new(loss, Stream::new(seed, 0, "link.loss"))
    }
    fn p(p: f64) -> Probability {
        Probability::new(p).unwrap()
    }

    #[test]
    fn certainties_are_certain() {
        let (mut never, mut always) =
            (process(&Loss::Bernoulli(Probability::NEVER), 1), process(&Loss::Bernoulli(Probability::ALWAYS), 1));
        assert!((0..1_000).all(|_| !never.is_lost() && always.is_lost()));
    }

    #[test]
    fn equal_seeds_lose_equally() {
        let run = |seed| {
            let mut process = process(&Loss::Bernoulli(p(0.3)), seed);
            (0..200).map(|_| process.is_lost()).collect::<Vec<_>>()
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    #[test]
    fn bernoulli_meets_its_probability() {
        let mut process = process(&Loss::Bernoulli(p(0.02)), 3);
        let lost = (0..1_000_000).filter(|_| process.is_lost()).count();
        // Expected 20,000, standard deviation 140: five of them.
        assert!(lost.abs_diff(20_000) < 700, "{lost}");
    }

    #[test]
    fn gilbert_elliott_meets_its_stationary_loss_and_burst_length() {
        let loss = Loss::GilbertElliott {
            good_to_bad: p(0.01),
            bad_to_good: p(0.2),
            loss_good: Probability::NEVER,
            loss_bad: Probability::ALWAYS,
        };
        let mut process = process(&loss, 11);
        let (n, mut lost, mut bursts, mut last) = (2_000_000u32, 0u32, 0u32, false);
        for _ in 0..n {
            let now = process.is_lost();
            lost += u32::from(now);
            bursts += u32::from(now && !last);
            last = now;
        }
        let rate = f64::from(lost) / f64::from(n);
        let burst = f64::from(lost) / f64::from(bursts);
        // pi_bad = 0.01 / 0.21; bursts are geometric with mean 1 / 0.2. Both within 3 %.
        assert!((rate / (0.01 / 0.21) - 1.0).abs() < 0.03, "{rate}");
        assert!((burst / 5.0 - 1.0).abs() < 0.03, "{burst}");
    }

    #[test]
    fn a_trace_repeats() {
        let mut process = process(&Loss::Trace(vec![false, true, false]), 0);
        let seen: Vec<_> = (0..7).map(|_| process.is_lost()).collect();
        assert_eq!(seen, [false, true, false, false, true, false, false]);
    }
}
