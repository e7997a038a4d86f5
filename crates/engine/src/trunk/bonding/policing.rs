//! Distinguishes losses that a member's own pace causes from those of the link.
//!
//! A link whose queue is too short to show in the delay, or that polices its rate, answers an excess by loss alone. So
//! where much is lost, the member is slowed down once, to the rate that came through. If the loss falls, the pace was
//! the cause; if not, the pace is restored and this loss is tolerated.

use super::cost::{ONE, power};
use airbraid_units::{Duration, Instant, SeqNum};

/// Loss beyond the link's own from which on a trial begins \[millionths\], chosen: links lose up to 10 % in bursts.
const SUSPICIOUS: u32 = 100_000;
/// Tolerated loss before anything is known \[millionths\]: the most that links usually lose.
const AT_FIRST: u32 = 100_000;
/// Frames that a mean is over, or those of a round trip if they are more: losses are known later than arrivals.
const FRAMES: u64 = 64;
/// The longer mean, in times of the shorter one.
const LONGER: u64 = 4;
/// Length of a trial, in times of the shorter mean: it has followed to 95 % by then.
const TRIAL: u64 = 3;
/// Frames after which the tolerated loss falls by a quarter of its excess, chosen: 2.5 s at 10 Mbit/s.
const AGING_FRAMES: u32 = 2_048;

/// Fewest frames of the longer mean that make a link's losses known.
const KNOWN: u64 = 32;

/// The fates of some frames. Feedback decides many at once, in no order.
#[derive(Clone, Copy, Debug, Default)]
struct Fates {
    /// All frames, and those that were lost.
    frames: u32,
    lost: u32,
    /// Frames of a member whose rate was known: their losses are the link's.
    of_link: u32,
    lost_of_link: u32,
    /// Frames in which a loss begins: a burst is one.
    begun: u32,
}

/// A sum over frames of which the older ones count less.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    /// Frames, and those that have what is counted \[millionths\].
    frames: u64,
    part: u64,
}

impl Recent {
    /// Adds `frames`, of which `part` have what is counted; of the older ones this share is kept \[millionths\].
    fn add(&mut self, kept: u64, part: u32, frames: u32) {
        self.frames = self.frames * kept / ONE + u64::from(frames) * ONE;
        self.part = self.part * kept / ONE + u64::from(part) * ONE;
    }

    /// The share that has it, of at least this number of frames \[millionths\].
    fn share(&self, least: u64) -> u32 {
        (self.part * ONE / self.frames.max(least * ONE)) as u32
    }
}

/// The losses of one member by their cause.
#[derive(Clone, Copy, Debug)]
pub struct SelfInducedLoss {
    /// Lost frames of the last ones, and of four times as many.
    few: Recent,
    many: Recent,
    /// The same of the link: frames lost, and losses begun.
    lost: Recent,
    begun: Recent,
    /// Shares of them \[millionths\].
    loss: u32,
    mean: u32,
    begin: u32,
    own: u32,
    frames: u32,
    told_at: Instant,
    /// Fates that are noted and not counted yet, and the last frame that was lost.
    fates: Fates,
    last_lost: Option<SeqNum>,
    trial: Option<Trial>,
}

/// A trial: the member is slowed down.
#[derive(Clone, Copy, Debug)]
struct Trial {
    loss: u32,
    rate: u64,
    frames: u64,
    until: Instant,
}

impl SelfInducedLoss {
    /// A member without any frame.
    pub fn new() -> Self {
        let none = Recent::default();
        Self {
            few: none,
            many: none,
            lost: none,
            begun: none,
            loss: 0,
            mean: 0,
            begin: 0,
            own: AT_FIRST,
            frames: 0,
            told_at: Instant::ZERO,
            fates: Fates::default(),
            last_lost: None,
            trial: None,
        }
    }

    /// Notes the fate of a frame. It counts in the losses of the link once the member's rate is known.
    pub fn on_fate(&mut self, number: SeqNum, is_lost: bool, is_known: bool) {
        let (lost, weight) = (u32::from(is_lost), u32::from(is_known));
        let begins = is_lost && self.last_lost != Some(number.prev());
        self.fates.frames += 1;
        self.fates.lost += lost;
        self.fates.of_link += weight;
        self.fates.lost_of_link += weight * lost;
        self.fates.begun += weight * u32::from(begins);
        if is_lost {
            self.last_lost = Some(number);
        }
    }

    /// Counts the fates that were noted, on a member with this round trip. Returns whether there were any.
    pub fn count(&mut self, now: Instant, rtt: Duration) -> bool {
        let fates = std::mem::take(&mut self.fates);
        if fates.frames == 0 {
            return false;
        }
        let span = now.saturating_since(self.told_at);
        self.told_at = now;
        let kept = |frames: u32, longer: u64| {
            let gone = u128::from(span.as_nanos()) * u128::from(ONE) / u128::from(rtt.as_nanos().max(1) * longer);
            let by_time = ONE - gone.min(u128::from(ONE)) as u64;
            power(ONE - ONE / (FRAMES * longer), u64::from(frames)).max(by_time)
        };
        self.few.add(kept(fates.frames, 1), fates.lost, fates.frames);
        self.many.add(kept(fates.frames, LONGER), fates.lost, fates.frames);
        self.lost.add(kept(fates.of_link, LONGER), fates.lost_of_link, fates.of_link);
        self.begun.add(kept(fates.of_link, LONGER), fates.begun, fates.of_link);
        (self.loss, self.mean) = (self.few.share(FRAMES), self.many.share(FRAMES * LONGER));
        self.begin = self.begun.share(FRAMES * LONGER);
        self.frames += fates.frames;
        if self.frames >= AGING_FRAMES {
            self.frames = 0;
            self.own -= (self.own - self.own.min(AT_FIRST)) / 4;
        }
        if let Some(trial) = &mut self.trial {
            trial.frames += u64::from(fates.frames);
        }
        true
    }

    /// The loss of some hundred frames \[millionths\].
    pub const fn mean(&self) -> u32 {
        self.mean
    }

    /// Losses that begin in a frame, of some hundred \[millionths\]: a burst is one.
    pub const fn begun(&self) -> u32 {
        self.begin
    }

    /// Frames lost and losses begun, as shares of the frames that there were, once these are enough to tell
    /// \[millionths\].
    pub fn of_link(&self) -> Option<(u32, u32)> {
        (self.lost.frames >= KNOWN * ONE).then(|| (self.lost.share(1), self.begun.share(1)))
    }

    /// The rate that a member should have that now has `rate`, if it should be another.
    pub fn judge(&mut self, now: Instant, rate: u64, rtt: Duration) -> Option<u64> {
        if let Some(trial) = self.trial {
            if trial.frames < TRIAL * FRAMES || now < trial.until {
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
        self.trial = Some(Trial { loss, rate, frames: 0, until: now.saturating_add(rtt * TRIAL) });
        Some((u128::from(rate) * u128::from(1_000_000 - loss.min(900_000)) / 1_000_000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames leave each millisecond, with a round trip of 20 ms.
    const MS: Duration = Duration::from_millis(1);
    const RTT: Duration = Duration::from_millis(20);

    /// Notes the fates of frames, which are not neighbours.
    fn tell(excess: &mut SelfInducedLoss, now: Instant, frames: u32, lost: u32) {
        for frame in 0..frames {
            excess.on_fate(SeqNum(2 * frame), frame < lost, true);
        }
        excess.count(now, RTT);
    }

    #[test]
    fn a_mean_does_not_depend_on_how_fates_are_told() {
        let (mut by_one, mut at_once) = (SelfInducedLoss::new(), SelfInducedLoss::new());
        for frame in 0..10_000u64 {
            tell(&mut by_one, Instant::ZERO + MS * frame, 1, u32::from(frame % 20 == 19));
        }
        for group in 0..100 {
            tell(&mut at_once, Instant::ZERO + MS * 100 * group, 100, 5);
        }
        for mean in [by_one.mean, at_once.mean] {
            assert!(mean.abs_diff(50_000) < 3_000, "{} and {}", by_one.mean, at_once.mean);
        }
    }

    #[test]
    fn a_burst_is_one_loss() {
        let mut excess = SelfInducedLoss::new();
        for frame in 0..10_000u32 {
            excess.on_fate(SeqNum(frame), frame % 20 < 4, true);
            // Four of a burst may be told in two parts.
            if frame % 20 == 1 || frame % 20 == 19 {
                excess.count(Instant::ZERO + MS * u64::from(frame), RTT);
            }
        }
        let (lost, begun) = excess.of_link().unwrap();
        // The last 18 frames, a fourteenth of the mean, have none.
        assert!(lost.abs_diff(200_000) < 15_000 && begun.abs_diff(50_000) < 4_000, "{lost} {begun}");
    }

    #[test]
    fn losses_that_are_known_a_round_trip_later_make_the_same_mean() {
        // 100,000 frames a second, of which one of 25 is lost; a round trip of 20 ms.
        let (mut excess, mut now, mut owed) = (SelfInducedLoss::new(), Instant::ZERO, 0);
        let (mut least, mut most) = (u32::MAX, 0);
        for report in 0..2_000u32 {
            now += MS;
            owed += 4;
            let lost = if report % 20 == 19 { std::mem::take(&mut owed) } else { 0 };
            tell(&mut excess, now, 96 + lost, lost);
            if report > 500 {
                (least, most) = (least.min(excess.mean), most.max(excess.mean));
            }
        }
        assert!(least > 30_000 && most < 52_000, "{least} to {most}");
    }

    /// Sends at what is judged right over a link that loses one frame in `own` and all beyond `limit`.
    fn settle(limit: u64, own: u32) -> u64 {
        let (mut excess, mut rate) = (SelfInducedLoss::new(), 8 * limit);
        let mut credit = 0;
        for frame in 1..20_000u32 {
            credit += limit.min(rate);
            let passes = credit >= rate;
            credit -= if passes { rate } else { 0 };
            let now = Instant::ZERO + MS * u64::from(frame);
            tell(&mut excess, now, 1, u32::from(!passes || frame.is_multiple_of(own)));
            rate = excess.judge(now, rate, RTT).unwrap_or(rate);
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
        for frame in 0..50_000 {
            let now = Instant::ZERO + MS * frame;
            if left == 0 && stream.up_to(75) == 0 {
                left = 1;
                while stream.up_to(3) != 0 {
                    left += 1;
                }
            }
            tell(&mut excess, now, 1, u32::from(left > 0));
            left -= left.min(1);
            highest = highest.max(excess.loss);
            assert_eq!(excess.judge(now, 1_000, RTT), None);
        }
        assert!(highest > AT_FIRST + SUSPICIOUS, "{highest}");
    }

    #[test]
    fn a_loss_that_no_pace_changes_is_put_up_with() {
        let (mut excess, mut rate) = (SelfInducedLoss::new(), 1_000);
        for frame in 1..20_000u32 {
            let now = Instant::ZERO + MS * u64::from(frame);
            tell(&mut excess, now, 1, u32::from(frame.is_multiple_of(3)));
            rate = excess.judge(now, rate, RTT).unwrap_or(rate);
        }
        assert_eq!(rate, 1_000);
    }
}
