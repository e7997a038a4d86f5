//! Generated traces with the rates of recorded ones (Eckhardt and Steenkiste 1998, table 1), and of four more places.
//!
//! The recordings are not available; what is known of them are rates, and in words how they vary. So the number of each
//! event is exact, its places are drawn: within the bad times of a channel with two states, which last about as long
//! as the paper says. Wrong bytes of a corrupted packet are one burst in one block, of geometric length; that 3.2 bits
//! of a wrong byte are wrong, for all places, is fitted (`docs/models/killer.md`).

use super::Event;
use super::trace::Summary;
use airbraid_engine::Stream;
use serde::Serialize;
use std::sync::Arc;

/// Length of a packet of the traces, header included \[byte\]: 6e7 bit in 5729 packets.
pub const PACKET_BYTES: u64 = 1_309;

/// Mean number of wrong bits in a wrong byte. Calibrated: with the wrong bits a packet of table 1 it gives the length
/// of a burst, and with it the success rates of the codes of table 2, in `table` and in `walls` alike.
const BITS_PER_WRONG_BYTE: f64 = 3.2;

/// Spread of a channel state's duration around its mean, 0.7 to 1.3: people move and switch, clocks do not.
const SOJOURN_SPREAD: f64 = 0.3;

/// A place, by the damage to its packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Environment {
    /// Name in scenarios.
    pub name: &'static str,
    /// Packets in a trace.
    pub packets: u32,
    /// Share of the packets that are lost.
    pub loss: f64,
    /// Share of the arrived packets that are truncated.
    pub truncation: f64,
    /// Share of the packets not truncated that have wrong bits.
    pub corruption: f64,
    /// Mean number of wrong bits in each of these.
    pub wrong_bits: f64,
    /// Mean number of wrong bits in a truncated packet.
    pub truncated_bits: f64,
    /// Longest truncated packet \[byte\]; the shortest has 64.
    pub truncated_max: u16,
    /// Share of the packets that fall into bad times; 1: there is only one state.
    pub bad_share: f64,
    /// Mean duration of a bad time \[packets\].
    pub bad_length: f64,
}

/// A place with only one state.
const STEADY: Environment = Environment {
    name: "",
    packets: 0,
    loss: 0.0,
    truncation: 0.0,
    corruption: 0.0,
    wrong_bits: 0.0,
    truncated_bits: 0.0,
    truncated_max: 1_275,
    bad_share: 1.0,
    bad_length: 1.0,
};

/// The five places of table 1, and four that no model here was fitted to.
///
/// Wrong bits: error rate of the received bits, times the bits of a packet (10473), over the rate of corruption. In
/// `adjacent` that cannot be (3077 of 10473): there the truncated packets have the wrong bits, and end after 128
/// byte on average, or the bits received would not be 6e7.
pub const ENVIRONMENTS: [Environment; 9] = [
    // Nothing interferes. Two packets of 5729 are corrupted, the error rate is printed as 0: few bits.
    Environment { name: "office", packets: 5_729, corruption: 3.4e-4, wrong_bits: 5.0, ..STEADY },
    // A cordless phone is carried through the room. How long it disturbs is not printed; that FLEX does not gain on
    // BOLD says that it is shorter than policies can follow.
    Environment {
        name: "walking",
        packets: 5_729,
        loss: 7e-4,
        truncation: 9e-4,
        corruption: 5.4e-2,
        wrong_bits: 31.0,
        ..STEADY
    },
    // The phone is beside the antenna, switched on and off about twice a second: 250 ms of 2.86 ms a packet.
    Environment {
        name: "adjacent",
        packets: 10_487,
        loss: 0.31,
        truncation: 0.23,
        corruption: 3.5e-3,
        wrong_bits: 31.0,
        truncated_bits: 37.0,
        truncated_max: 192,
        bad_share: 0.5,
        bad_length: 87.0,
    },
    // A phone on the same desk.
    Environment {
        name: "table",
        packets: 5_916,
        loss: 5.4e-2,
        truncation: 1.9e-2,
        corruption: 0.94,
        wrong_bits: 54.6,
        ..STEADY
    },
    // Distance, concrete walls and furniture.
    Environment {
        name: "walls",
        packets: 5_776,
        loss: 6e-3,
        truncation: 1.7e-2,
        corruption: 0.27,
        wrong_bits: 14.7,
        ..STEADY
    },
    // Made up: a microwave oven, on for half of each period of the mains.
    Environment {
        name: "oven",
        packets: 6_000,
        loss: 0.08,
        truncation: 0.2,
        corruption: 0.15,
        wrong_bits: 22.0,
        truncated_bits: 20.0,
        bad_share: 0.5,
        bad_length: 3.0,
        ..STEADY
    },
    // Made up: a long corridor with a door that opens and closes, faded most of the time.
    Environment {
        name: "corridor",
        packets: 6_000,
        loss: 0.02,
        truncation: 0.05,
        corruption: 0.6,
        wrong_bits: 30.0,
        bad_share: 0.7,
        bad_length: 400.0,
        ..STEADY
    },
    // Made up: a railway station. Trains pass for some seconds, and cut and bury frames.
    Environment {
        name: "station",
        packets: 6_000,
        loss: 0.03,
        truncation: 0.1,
        corruption: 0.35,
        wrong_bits: 80.0,
        truncated_bits: 30.0,
        bad_share: 0.3,
        bad_length: 700.0,
        ..STEADY
    },
    // Made up: a lift. Metal doors swallow frames in short fades.
    Environment {
        name: "lift",
        packets: 6_000,
        loss: 0.15,
        truncation: 0.03,
        corruption: 0.2,
        wrong_bits: 12.0,
        bad_share: 0.2,
        bad_length: 25.0,
        ..STEADY
    },
];

/// Table 1 as printed: the recordings of the first five places.
const TABLE_1: [(&str, Summary); 5] = {
    const fn row(packets: u64, loss: f64, truncation: f64, corruption: f64, ber: f64) -> Summary {
        // Of wrong bits a packet the table says nothing.
        Summary { packets, bits: 60_000_000, loss, truncation, corruption, ber, wrong_bits: 0.0 }
    }
    [
        ("office", row(5_729, 0.0, 0.0, 3.4e-4, 0.0)),
        ("walking", row(5_729, 7e-4, 9e-4, 5.4e-2, 1.6e-4)),
        ("adjacent", row(10_487, 0.31, 0.23, 3.5e-3, 1e-3)),
        ("table", row(5_916, 5.4e-2, 1.9e-2, 0.94, 4.9e-3)),
        ("walls", row(5_776, 6e-3, 1.7e-2, 0.27, 3.8e-4)),
    ]
};

/// Largest relative difference of a generated rate from a printed one: two digits are printed.
const TOLERANCE: f64 = 0.1;
/// Largest share of packets that is printed as 0.
const NO_PACKETS: f64 = 3e-4;
/// Largest share of bits that is printed as 0.
const NO_BITS: f64 = 2e-5;

/// One rate of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The counted events, and their base.
    pub name: &'static str,
    /// The value of table 1.
    pub printed: Option<f64>,
    /// The value of the trace.
    pub found: f64,
    /// Whether they agree, within a tenth; `None` where nothing is printed.
    pub holds: Option<bool>,
}

/// The rates of a trace beside those that are printed for the place, if any are.
pub fn check(place: &Environment, found: &Summary) -> [Rate; 7] {
    rates(place.printed(), found)
}

/// The rates of a trace beside printed ones, if there are any.
pub fn rates(printed: Option<&Summary>, found: &Summary) -> [Rate; 7] {
    let rate = |name, value: fn(&Summary) -> f64, zero| {
        let (printed, found) = (printed.map(value), value(found));
        let agree = |printed: f64| match printed {
            0.0 => found < zero,
            _ => (found / printed - 1.0).abs() <= TOLERANCE,
        };
        Rate { name, printed, found, holds: printed.map(agree) }
    };
    let unprinted = Rate { name: "wrong bits a packet", printed: None, found: found.wrong_bits, holds: None };
    [
        rate("packets", |rates| rates.packets as f64, 0.0),
        rate("bits", |rates| rates.bits as f64, 0.0),
        rate("lost", |rates| rates.loss, NO_PACKETS),
        rate("truncated", |rates| rates.truncation, NO_PACKETS),
        rate("corrupted", |rates| rates.corruption, NO_PACKETS),
        rate("bit errors", |rates| rates.ber, NO_BITS),
        unprinted,
    ]
}

impl Environment {
    /// Returns the row of table 1 for this place.
    pub fn printed(&self) -> Option<&'static Summary> {
        TABLE_1.iter().find(|(name, _)| *name == self.name).map(|(_, rates)| rates)
    }

    /// Returns the place with this name in scenarios.
    pub fn named(name: &str) -> Option<&'static Self> {
        ENVIRONMENTS.iter().find(|place| place.name == name)
    }

    /// A place that loses packets independently of each other, and does nothing else to them.
    pub fn lossy(packets: u32, loss: f64) -> Self {
        Self { name: "loss", packets, loss, ..STEADY }
    }

    /// A trace of the place: the same for the same seed.
    pub fn trace(&self, seed: u64) -> Arc<[Event]> {
        let mut random = Random(Stream::new(seed, 0, self.name));
        let packets = self.packets as usize;
        let round = |share: f64, of: usize| libm::round(share * of as f64) as usize;
        let lost = round(self.loss, packets);
        let truncated = round(self.truncation, packets - lost);
        let corrupted = round(self.corruption, packets - lost - truncated);
        let places = self.places(&mut random);
        let mut events = vec![Event::Fine; packets];
        let (first, rest) = places.split_at(lost);
        first.iter().for_each(|place| events[*place] = Event::Lost);
        let (second, rest) = rest.split_at(truncated);
        for (place, u) in second.iter().zip(random.strata(truncated)) {
            let at = 64.0 + u * f64::from(self.truncated_max - 64);
            let bits = 2.0 * self.truncated_bits * random.uniform();
            events[*place] = Event::Truncated { at: at as u16, bits: libm::round(bits) as u16 };
        }
        for (place, u) in rest.iter().zip(random.strata(corrupted)) {
            let symbols = geometric(u, self.wrong_bits / BITS_PER_WRONG_BYTE);
            events[*place] = Event::Corrupted { symbols, bits: random.wrong_bits(symbols) };
        }
        events.into()
    }

    /// All packets in random order, those of bad times first.
    fn places(&self, random: &mut Random) -> Vec<usize> {
        let is_bad = self.bad_times(random);
        let (mut bad, mut good): (Vec<usize>, Vec<usize>) = (0..is_bad.len()).partition(|i| is_bad[*i]);
        random.shuffle(&mut bad);
        random.shuffle(&mut good);
        bad.extend(good);
        bad
    }

    fn bad_times(&self, random: &mut Random) -> Vec<bool> {
        let packets = self.packets as usize;
        if self.bad_share >= 1.0 {
            return vec![true; packets];
        }
        let good_length = self.bad_length * (1.0 - self.bad_share) / self.bad_share;
        let mut times = Vec::with_capacity(packets);
        // It begins somewhere within a good time.
        let mut length = random.uniform() * good_length;
        let mut bad = false;
        while times.len() < packets {
            let count = (libm::round(length) as usize).min(packets - times.len());
            times.extend(std::iter::repeat_n(bad, count));
            bad = !bad;
            let mean = if bad { self.bad_length } else { good_length };
            length = mean * (1.0 - SOJOURN_SPREAD + 2.0 * SOJOURN_SPREAD * random.uniform());
        }
        times
    }
}

/// The value at share `u` of the geometric distribution over 1, 2, ... with this mean, up to a whole block.
fn geometric(u: f64, mean: f64) -> u16 {
    if mean <= 1.0 {
        return 1;
    }
    let steps = libm::floor(libm::log(1.0 - u) / libm::log(1.0 - 1.0 / mean));
    1 + steps.min(254.0) as u16
}

/// The random draws of a trace.
struct Random(Stream);

impl Random {
    /// Uniform in \[0, 1).
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let other = self.0.up_to(i as u32) as usize;
            items.swap(i, other);
        }
    }

    /// One number from each of `count` equal parts of \[0, 1), in random order: their mean hardly depends on the seed.
    fn strata(&mut self, count: usize) -> Vec<f64> {
        let mut all: Vec<f64> = (0..count).map(|i| (i as f64 + self.uniform()) / count as f64).collect();
        self.shuffle(&mut all);
        all
    }

    /// In each wrong byte one bit is wrong, and each of the others with the probability that the mean asks for.
    fn wrong_bits(&mut self, symbols: u16) -> u16 {
        let others = (BITS_PER_WRONG_BYTE - 1.0) / 7.0;
        let wrong = (0..7 * u32::from(symbols)).filter(|_| self.uniform() < others).count();
        symbols + wrong as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_trace_has_the_printed_rates() {
        for place in ENVIRONMENTS.iter().filter(|place| place.printed().is_some()) {
            for seed in 1..=5 {
                let rates = check(place, &Summary::of(&place.trace(seed), PACKET_BYTES));
                for rate in rates {
                    assert_ne!(rate.holds, Some(false), "{}, seed {seed}: {rate:?}", place.name);
                }
            }
        }
    }

    /// A check that cannot fail is worthless: the trace of another place, or one with twice the losses, has other
    /// rates.
    #[test]
    fn a_trace_of_something_else_does_not() {
        let [walls, table] = ["walls", "table"].map(|name| Environment::named(name).unwrap());
        let failed = |trace: &[Event]| -> Vec<&str> {
            let rates = check(walls, &Summary::of(trace, PACKET_BYTES));
            rates.iter().filter(|rate| rate.holds == Some(false)).map(|rate| rate.name).collect()
        };
        assert_eq!(failed(&table.trace(1)), ["lost", "truncated", "corrupted", "bit errors"]);
        let lossy = Environment { loss: 2.0 * walls.loss, ..*walls };
        assert_eq!(failed(&lossy.trace(1)), ["lost"]);
    }

    #[test]
    fn a_trace_is_the_same_for_the_same_seed_and_another_for_another() {
        for place in &ENVIRONMENTS {
            assert_eq!(place.trace(3), place.trace(3), "{}", place.name);
            assert_ne!(place.trace(3), place.trace(4), "{}", place.name);
        }
    }

    #[test]
    fn bad_times_last_as_long_as_they_are_told_to() {
        let place = Environment::named("adjacent").unwrap();
        let times = place.bad_times(&mut Random(Stream::new(1, 0, "test")));
        let runs: Vec<&[bool]> = times.chunk_by(|a, b| a == b).collect();
        // The first and the last are cut.
        for run in &runs[1..runs.len() - 1] {
            assert!((60..=114).contains(&run.len()), "{}", run.len());
        }
        let bad = times.iter().filter(|bad| **bad).count() as f64 / times.len() as f64;
        assert!((bad - 0.5).abs() < 0.03, "{bad}");
    }
}
