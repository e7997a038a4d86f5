//! The achieved rate of a link, and the worth of a segment beside it.

use super::{Fate, Observation};
use crate::link::cost::Cost;
use crate::link::shape::Shape;

/// A probability in parts of 2^16.
pub const CERTAIN: u32 = 1 << 16;

/// The achieved rate of a link: bytes of packets by time, in whole numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    cost: Cost,
    /// Bytes delivered, times 2^16, fading.
    bytes: u64,
    /// Time taken, fading \[ns\].
    time: u64,
    /// Each observation removes 2^-fade of the past; 63: none.
    fade: u32,
}

impl Rate {
    /// Of about the last 2^`fade` observations; of all if that is 63.
    pub fn new(cost: Cost, fade: u32) -> Self {
        Self { cost, bytes: 0, time: 0, fade }
    }

    /// Time of this many bytes on the air \[ns\].
    pub fn time(&self, bytes: u32) -> u64 {
        self.cost.overhead.as_nanos() + self.cost.per_byte.as_nanos() * u64::from(bytes)
    }

    /// Counts the payload of a segment, and its time.
    pub fn observe(&mut self, observation: Observation) {
        self.bytes -= self.bytes >> self.fade;
        self.time -= self.time >> self.fade;
        if let Fate::Delivered { .. } = observation.fate
            && let Ok(shape) = Shape::new(observation.coded_len, observation.parity)
        {
            self.bytes += u64::from(shape.capacity()) << 16;
        }
        self.time += self.time(observation.coded_len.into());
    }

    /// The worth of time \[2^-16 byte in 2^20 ns\], if the best present choice brings `brings` \[2^-16 byte\] in `time`
    /// \[ns\].
    ///
    /// If a bad time lasts for a number of segments, whatever their length, the best in the long run is to value time
    /// by what the link brings on the whole (Dinkelbach 1967: a quotient is greatest where the difference is zero), and
    /// so to leave it behind by short ones. If it lasts for so much time, the best is what brings most by time at
    /// present. It is not known which: a third of the way from the second to the first does well in both (measured,
    /// `docs/models/local-error-control.md`).
    pub fn value(&self, brings: i64, time: u64) -> i64 {
        let here = (brings << 20) / i64::try_from(time.max(1)).unwrap_or(i64::MAX);
        let whole = (u128::from(self.bytes) << 20) / u128::from(self.time.max(1));
        let whole = i64::try_from(whole).unwrap_or(i64::MAX);
        here + (whole.max(here) - here) / 3
    }

    /// The link's mean payload in the time that a segment takes \[2^-16 byte\].
    pub fn worth_on_the_whole(&self, shape: Shape) -> i64 {
        let worth = u128::from(self.bytes) * u128::from(self.time(shape.bytes().into())) / u128::from(self.time.max(1));
        i64::try_from(worth).unwrap_or(i64::MAX)
    }
}

/// The worth of this much time \[2^-16 byte\], by the value of time. The greatest difference of payload and worth is
/// the best choice.
pub fn worth(time: u64, value: i64) -> i64 {
    let worth = (i128::from(value) * i128::from(time)) >> 20;
    i64::try_from(worth).unwrap_or(i64::MAX)
}

/// The expected payload of a segment \[2^-16 byte\].
pub fn brings(shape: Shape, success: u32) -> i64 {
    i64::from(success) * i64::from(shape.capacity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_units::Duration;

    /// A millisecond for a frame, and a microsecond for each byte.
    const COST: Cost = Cost { overhead: Duration::from_millis(1), per_byte: Duration::from_micros(1) };
    /// Without parity: 4 byte are the check.
    const SHAPE: Shape = Shape::constant(104, 0);

    fn rate(fade: u32, delivered: &[bool]) -> Rate {
        let mut rate = Rate::new(COST, fade);
        for &is_delivered in delivered {
            let fate = if is_delivered { Fate::Delivered { worst: 0 } } else { Fate::Lost };
            rate.observe(Observation { coded_len: SHAPE.bytes(), parity: 0, fate });
        }
        rate
    }

    #[test]
    fn a_segments_worth_on_the_whole_is_the_mean_payload_of_its_time() {
        assert_eq!(rate(63, &[]).worth_on_the_whole(SHAPE), 0);
        assert_eq!(rate(63, &[true]).worth_on_the_whole(SHAPE), 100 << 16);
        assert_eq!(rate(63, &[true, false, true, false]).worth_on_the_whole(SHAPE), 50 << 16);
        // 2208 us in place of 1104.
        assert_eq!(rate(63, &[true]).worth_on_the_whole(Shape::constant(1_208, 0)), 200 << 16);
    }

    #[test]
    fn with_a_fade_each_observation_takes_its_part_of_the_past() {
        let faded = rate(1, &[true, false]);
        assert_eq!((faded.bytes, faded.time), (50 << 16, 1_104_000 * 3 / 2));
    }

    #[test]
    fn the_value_of_time_is_a_third_of_the_way_from_the_present_to_the_whole() {
        // The whole: 50 byte in 1.104 ms; 2^-16 byte in 2^20 ns.
        let known = rate(63, &[true, false]);
        let whole = ((50i64 << 16) << 20) / 1_104_000;
        assert_eq!(known.value(0, 1_104_000), whole / 3);
        let here = ((80i64 << 16) << 20) / 1_104_000;
        assert_eq!(known.value(80 << 16, 1_104_000), here, "the present is better than the whole");
        assert_eq!(worth(1 << 20, here), here);
        assert_eq!(brings(SHAPE, CERTAIN / 2), 50 << 16);
    }
}
