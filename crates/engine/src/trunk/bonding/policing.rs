//! Distinguishes losses that a member's own pace causes from those of the link.
//!
//! A link whose queue is too short to show in the delay, or that polices its rate, answers an excess by loss alone. So
//! where much is lost, the member is slowed down once, to the rate that came through. If the loss falls, the pace was
//! the cause; if not, the pace is restored and this loss is tolerated.

/// Loss beyond the link's own from which on a trial begins \[millionths\], chosen: links lose up to 10 % in bursts.
const SUSPICIOUS: u32 = 100_000;
/// Tolerated loss before anything is known \[millionths\]: the most that links usually lose.
const AT_FIRST: u32 = 100_000;
/// The weight of one frame in the smoothed loss, as a power of two: a mean over 64 frames, and one over 256.
const SHIFT: u32 = 6;
/// Frames of a trial: the smoothed loss has followed by then, to 95 % in three times its 64 frames.
const TRIAL_FRAMES: u32 = 192;
/// Frames after which the tolerated loss falls by a quarter of its excess, chosen: 2.5 s at 10 Mbit/s.
const AGING_FRAMES: u32 = 2_048;

/// Least weight of the frames in their mean over 256 that makes a link's losses known: 32 frames \[millionths\].
const KNOWN: u32 = 118_000;

/// The losses of one member by their cause.
#[derive(Clone, Copy, Debug)]
pub struct SelfInducedLoss {
    loss: u32,
    /// The same, over four times the span.
    mean: u32,
    /// The share of frames in which losses begin, likewise, and whether the last was lost.
    begun: u32,
    /// The share of the same frames that were lost.
    lost: u32,
    /// The value of both if every frame were lost: for the first some hundred frames, the known part of the mean.
    weight: u32,
    was_lost: bool,
    own: u32,
    frames: u32,
    trial: Option<Trial>,
}

/// A trial: the member is slowed down.
#[derive(Clone, Copy, Debug)]
struct Trial {
    loss: u32,
    rate: u64,
    frames: u32,
}

impl SelfInducedLoss {
    /// A member without any frame.
    pub const fn new() -> Self {
        Self { loss: 0, mean: 0, begun: 0, lost: 0, weight: 0, was_lost: false, own: AT_FIRST, frames: 0, trial: None }
    }

    /// Notes the fate of a frame.
    pub fn on_fate(&mut self, is_lost: bool) {
        let sample = if is_lost { 1_000_000 } else { 0 };
        self.loss = self.loss - (self.loss >> SHIFT) + (sample >> SHIFT);
        self.mean = self.mean - (self.mean >> (SHIFT + 2)) + (sample >> (SHIFT + 2));
        self.frames += 1;
        if self.frames >= AGING_FRAMES {
            self.frames = 0;
            self.own -= (self.own - self.own.min(AT_FIRST)) / 4;
        }
        if let Some(trial) = &mut self.trial {
            trial.frames += 1;
        }
    }

    /// The loss of some hundred frames \[millionths\].
    pub const fn mean(&self) -> u32 {
        self.mean
    }

    /// The same for a member whose rate is known: its own pace does not cause the losses. A frame of a train stands for
    /// `weight` frames of traffic.
    pub fn on_fate_of_link(&mut self, is_lost: bool, weight: u32) {
        let lost = if is_lost { 1_000_000 } else { 0 };
        let begins = if is_lost && !self.was_lost { 1_000_000 } else { 0 };
        self.was_lost = is_lost;
        for _ in 0..weight {
            self.begun = self.begun - (self.begun >> (SHIFT + 2)) + (begins >> (SHIFT + 2));
            self.weight = self.weight - (self.weight >> (SHIFT + 2)) + (1_000_000 >> (SHIFT + 2));
            self.lost = self.lost - (self.lost >> (SHIFT + 2)) + (lost >> (SHIFT + 2));
        }
    }

    /// Losses that begin in a frame, of some hundred \[millionths\]: a burst is one.
    pub const fn begun(&self) -> u32 {
        self.begun
    }

    /// Frames lost and losses begun, as shares of the frames that there were, once these are enough to tell
    /// \[millionths\].
    pub fn of_link(&self) -> Option<(u32, u32)> {
        let share = |part: u32| (u64::from(part) * 1_000_000 / u64::from(self.weight)) as u32;
        (self.weight >= KNOWN).then(|| (share(self.lost), share(self.begun)))
    }

    /// Whether the member has been slowed down to find out.
    pub const fn is_on_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// The rate that a member should have that now has `rate`, if it should be another.
    pub fn judge(&mut self, rate: u64) -> Option<u64> {
        if let Some(trial) = self.trial {
            if trial.frames < TRIAL_FRAMES {
                return None;
            }
            self.trial = None;
            if self.loss > trial.loss - trial.loss / 4 {
                self.own = self.loss;
                return Some(trial.rate.max(rate));
            }
        }
        // A burst or two of a link's own raise the short mean, and not the long one; that it was the pace's shows in
        // both.
        let loss = self.loss.min(self.mean);
        if loss <= self.own + SUSPICIOUS {
            return None;
        }
        self.trial = Some(Trial { loss, rate, frames: 0 });
        Some((u128::from(rate) * u128::from(1_000_000 - loss.min(900_000)) / 1_000_000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends at what is judged right over a link that loses one frame in `own` and all beyond `limit`.
    fn settle(limit: u64, own: u32) -> u64 {
        let (mut excess, mut rate) = (SelfInducedLoss::new(), 8 * limit);
        let mut credit = 0;
        for frame in 1..20_000u32 {
            credit += limit.min(rate);
            let passes = credit >= rate;
            credit -= if passes { rate } else { 0 };
            excess.on_fate(!passes || frame.is_multiple_of(own));
            rate = excess.judge(rate).unwrap_or(rate);
        }
        rate
    }

    #[test]
    fn a_policed_rate_is_found() {
        let rate = settle(1_000, u32::MAX);
        assert!((1_000..1_300).contains(&rate), "{rate}");
    }

    #[test]
    fn bursts_of_a_link_are_not_its_pace() {
        // 5 % in bursts of four, drawn: the short mean is above 20 % now and then.
        let mut stream = crate::Stream::new(1, 0, "excess");
        let (mut excess, mut left, mut highest) = (SelfInducedLoss::new(), 0, 0);
        for _ in 0..50_000 {
            if left == 0 && stream.up_to(75) == 0 {
                left = 1;
                while stream.up_to(3) != 0 {
                    left += 1;
                }
            }
            excess.on_fate(left > 0);
            left -= left.min(1);
            highest = highest.max(excess.loss);
            assert_eq!(excess.judge(1_000), None);
        }
        assert!(highest > AT_FIRST + SUSPICIOUS, "{highest}");
    }

    #[test]
    fn a_loss_that_no_pace_changes_is_put_up_with() {
        let (mut excess, mut rate) = (SelfInducedLoss::new(), 1_000);
        for frame in 1..20_000u32 {
            excess.on_fate(frame.is_multiple_of(3));
            rate = excess.judge(rate).unwrap_or(rate);
        }
        assert_eq!(rate, 1_000);
    }
}
