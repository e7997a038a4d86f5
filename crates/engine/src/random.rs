//! Random streams: one for each (seed, node, purpose), so that a new consumer shifts no other's draws, and two
//! protocols compared on one seed see the same topology, traffic and channel.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2019), its state filled by hashing the three parts of the name
//! with SplitMix64. It is not for keys: key material comes from its own source.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A reproducible stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` (say `"dcf.backoff"`) at `node` in a run with `seed`.
    pub fn new(seed: u64, node: u64, purpose: &str) -> Self {
        // FNV-1a over the name: stable, and the names are few and short.
        let name = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        let mut mix = SplitMix64::seed_from_u64(seed);
        let seed = mix.next_u64();
        let mut mix = SplitMix64::seed_from_u64(seed ^ node.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let node = mix.next_u64();
        Self(Xoshiro256PlusPlus::seed_from_u64(node ^ name))
    }

    /// Uniform over all 64-bit numbers.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over `0..=max`, without bias (Lemire's multiplication with rejection).
    pub fn up_to(&mut self, max: u32) -> u32 {
        let range = u64::from(max) + 1;
        let threshold = (1u64 << 32) % range;
        loop {
            let product = (self.next_u64() >> 32) * range;
            if (product & 0xffff_ffff) >= threshold {
                return (product >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_separate_streams() {
        let first = |seed, node, purpose| Stream::new(seed, node, purpose).next_u64();
        let all = [first(1, 0, "a"), first(1, 0, "b"), first(1, 1, "a"), first(2, 0, "a")];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
        assert_eq!(first(1, 0, "a"), all[0]);
    }

    #[test]
    fn up_to_is_uniform() {
        let mut stream = Stream::new(7, 0, "test");
        let mut counts = [0u32; 32];
        for _ in 0..320_000 {
            counts[stream.up_to(31) as usize] += 1;
        }
        // Expected 10,000 each, standard deviation 98: five of them.
        assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 500), "{counts:?}");
    }

    proptest! {
        #[test]
        fn up_to_stays_within(seed: u64, max: u32) {
            prop_assert!(Stream::new(seed, 0, "test").up_to(max) <= max);
        }
    }
}
