//! A histogram with the logarithmic buckets of HdrHistogram that keeps only what was counted: a few values as they
//! came, more by blocks of buckets. A flow whose delays span two decades has some 3 kB in place of 15.

use hdrhistogram::Histogram;

/// The finest step \[ns\]: with 2 significant digits values are good to 1 % from 100 steps on, 13 us, and no packet
/// crosses a radio in less than 100.
const FINEST: u64 = 128;
/// The longest value told apart \[ns\]: an hour; longer ones count as that.
const LONGEST: u64 = 3_600_000_000_000;
/// Significant decimal digits.
const DIGITS: u8 = 2;

/// Steps of an octave: a power of two above twice a hundred, halved, for two digits.
const HALF: u64 = 128;
/// Number of buckets up to [`LONGEST`].
const BUCKETS: usize = 3_712;
/// Buckets of a block, half an octave.
const BLOCK: usize = 64;
/// Values that are kept one by one \[2 byte\]: as much as two blocks.
const FEW: usize = 256;

/// Counts of values by bucket.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// The buckets of the first values.
    few: Vec<u16>,
    blocks: Option<Box<Blocks>>,
}

/// Blocks of buckets in which something was counted.
#[derive(Clone, Debug)]
struct Blocks {
    /// For each block its place in `counts` and one; 0: nothing was counted.
    places: [u8; BUCKETS / BLOCK],
    counts: Vec<[u32; BLOCK]>,
}

impl Blocks {
    fn add(&mut self, bucket: u16) {
        let place = &mut self.places[usize::from(bucket) / BLOCK];
        if *place == 0 {
            self.counts.push([0; BLOCK]);
            *place = self.counts.len() as u8;
        }
        let count = &mut self.counts[usize::from(*place) - 1][usize::from(bucket) % BLOCK];
        *count = count.saturating_add(1);
    }
}

impl Buckets {
    pub const fn new() -> Self {
        Self { few: Vec::new(), blocks: None }
    }

    /// Counts a value \[ns\].
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let bucket = bucket_of(ns);
        match &mut self.blocks {
            Some(blocks) => blocks.add(bucket),
            None => self.record_one_of_few(bucket),
        }
    }

    fn record_one_of_few(&mut self, bucket: u16) {
        self.few.push(bucket);
        if self.few.len() == FEW {
            let mut blocks = Box::new(Blocks { places: [0; BUCKETS / BLOCK], counts: Vec::new() });
            std::mem::take(&mut self.few).into_iter().for_each(|bucket| blocks.add(bucket));
            self.blocks = Some(blocks);
        }
    }

    /// The histogram of all values; `None` without a value.
    pub fn histogram(&self) -> Option<Histogram<u32>> {
        let mut all = Histogram::new_with_bounds(FINEST, LONGEST, DIGITS).ok()?;
        for bucket in &self.few {
            all.saturating_record(value_of(usize::from(*bucket)));
        }
        for (block, place) in self.blocks.iter().flat_map(|blocks| blocks.places.iter().enumerate()) {
            let counts = self.blocks.as_ref().and_then(|blocks| blocks.counts.get(usize::from(*place).checked_sub(1)?));
            for (bucket, count) in counts.into_iter().flatten().enumerate().filter(|(_, count)| **count > 0) {
                all.saturating_record_n(value_of(block * BLOCK + bucket), *count);
            }
        }
        (!all.is_empty()).then_some(all)
    }
}

/// The bucket of a value \[ns\].
#[inline]
fn bucket_of(ns: u64) -> u16 {
    let steps = ns / FINEST;
    // The number of octaves above the first, whose steps are the finest.
    let octave = u64::from((steps | (2 * HALF - 1)).ilog2() - HALF.ilog2());
    let bucket = octave * HALF + (steps >> octave);
    if bucket < BUCKETS as u64 { bucket as u16 } else { bucket_of(LONGEST) }
}

/// The least value of a bucket \[ns\].
const fn value_of(bucket: usize) -> u64 {
    let octave = (bucket as u64 / HALF).saturating_sub(1);
    ((bucket as u64 - octave * HALF) * FINEST) << octave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_counted_is_no_histogram() {
        assert!(Buckets::new().histogram().is_none());
    }

    #[test]
    fn every_bucket_begins_with_its_value() {
        assert_eq!(bucket_of(u64::MAX), bucket_of(LONGEST));
        for bucket in 1..BUCKETS {
            assert_eq!(usize::from(bucket_of(value_of(bucket))), bucket);
            assert_eq!(usize::from(bucket_of(value_of(bucket) - 1)), bucket - 1);
        }
    }

    proptest! {
        #[test]
        fn the_counts_are_those_of_hdr_histogram(
            values in prop::collection::vec((0u32..64, any::<u64>()), 1..3 * FEW)
        ) {
            let mut buckets = Buckets::new();
            let mut whole = Histogram::<u32>::new_with_bounds(FINEST, LONGEST, DIGITS).unwrap();
            for (shift, value) in values {
                buckets.record(value >> shift);
                whole.saturating_record(value >> shift);
            }
            let own = buckets.histogram().unwrap();
            prop_assert_eq!(whole.distinct_values(), BUCKETS);
            for place in 0..=1_000 {
                let quantile = f64::from(place) / 1_000.0;
                prop_assert_eq!(own.value_at_quantile(quantile), whole.value_at_quantile(quantile));
            }
            prop_assert_eq!(own.len(), whole.len());
        }
    }
}
