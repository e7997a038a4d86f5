//! Random numbers of the tables: the same for the same `--draw` on every machine, and not those of any run.

/// SplitMix64 (Steele, Lea and Flood 2014): enough for parameters, and any number is a good seed.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The numbers of `index` in the draw `number`.
    pub fn new(number: u64, index: u64) -> Self {
        let mut first = Self(number);
        Self(first.next() ^ index.wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform from 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number from `least` to `most`.
    pub fn whole(&mut self, least: u64, most: u64) -> u64 {
        least + (self.unit() * (most - least + 1) as f64) as u64
    }

    /// Uniform between `low` and `high`.
    pub fn even(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Uniform in the logarithm between `low` and `high`.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.even(libm::log(low), libm::log(high)))
    }

    /// Whether an event of this probability occurs.
    pub fn is_one_in(&mut self, count: u64) -> bool {
        self.whole(1, count) == 1
    }

    /// `count` of `all`, each once, in the order of `all`.
    pub fn some<T>(&mut self, mut all: Vec<T>, count: usize) -> Vec<T> {
        while all.len() > count {
            let gone = self.whole(0, all.len() as u64 - 1) as usize;
            all.remove(gone);
        }
        all
    }
}

/// The seeds of the runs of a draw: the same for all rows, so that members alone are shared among rows.
pub fn seeds(number: u64, count: u32) -> Vec<u64> {
    // Below 2^53: a seed that is printed can be given to any tool.
    let mut draw = Draw::new(number, u64::MAX);
    (0..count).map(|_| draw.next() >> 12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_the_same_on_every_machine() {
        let mut draw = Draw::new(7, 3);
        // As computed apart, in Python.
        assert_eq!([draw.next(), draw.next()], [7_469_136_836_896_634_485, 16_204_077_453_867_928_416]);
        assert_eq!((draw.whole(2, 8), draw.spread(500.0, 1e6) as u64), (6, 44_106));
        assert_eq!(draw.some((0..10).collect(), 3), [0, 5, 8]);
        assert_eq!(seeds(7, 2), [3_513_885_968_877_675, 434_346_766_635_081]);
    }

    #[test]
    fn values_stay_in_their_ranges() {
        let mut draw = Draw::new(1, 1);
        for _ in 0..1_000 {
            assert!((2..=8).contains(&draw.whole(2, 8)));
            assert!((0.5..1000.0).contains(&draw.spread(0.5, 1000.0)));
        }
    }
}
