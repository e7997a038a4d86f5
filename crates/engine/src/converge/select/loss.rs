//! Losses behind the MAC of a port, by SNR: the other end's beacons report them for numbered frames.
//!
//! A way that carries nothing shows no losses. What it lost is therefore kept under the SNR at which it did, and
//! believed when that SNR comes again, until it is forgotten: then the way is tried once more.

use super::arrivals::Tally;
use super::port::MilliDb;
use std::collections::BTreeMap;

/// Width of a class of SNR \[thousandths of a dB\].
const STEP: i32 = 1_000;
/// Fewest frames that make a share. A TCP that waits for its timers sends few, and one gap among these shows it.
const ENOUGH: u64 = 32;
/// Frames above which the counts are halved, so that a change at the same SNR is soon seen: at 1 % these have ten gaps.
const MEMORY: u64 = 1_024;
/// Reports after which all counts are halved, 30 s of beacons by default: conditions change, and bad ways are tried
/// again.
const HALF_LIFE: u32 = 300;

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    frames: u64,
    missing: u64,
    gaps: u64,
}

impl Counts {
    fn halve(&mut self) {
        let Self { frames, missing, gaps } = self;
        (*frames, *missing, *gaps) = (*frames / 2, *missing / 2, *gaps / 2);
    }
}

/// Shares of the frames that were sent \[millionths\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossShare {
    /// Frames lost.
    pub missing: u64,
    /// Runs of lost frames.
    pub gaps: u64,
}

/// The losses on one way.
#[derive(Clone, Debug, Default)]
pub(super) struct LossBySnr {
    by_step: BTreeMap<i32, Counts>,
    told: Option<Tally>,
    tallies: u32,
}

fn step_of(snr: Option<MilliDb>) -> i32 {
    snr.map_or(0, |MilliDb(snr)| snr.div_euclid(STEP))
}

impl LossBySnr {
    /// Takes in the other end's counts; the frames since the last counts were sent at this SNR.
    pub(super) fn on_tally(&mut self, tally: Tally, snr: Option<MilliDb>) {
        let new = self.told.replace(tally).and_then(|before| tally.since(before)).unwrap_or_default();
        self.tallies += 1;
        if self.tallies.is_multiple_of(HALF_LIFE) {
            self.by_step.values_mut().for_each(Counts::halve);
            self.by_step.retain(|_, counts| counts.frames > 0);
        }
        if new.arrived > 0 || new.missing > 0 {
            let counts = self.by_step.entry(step_of(snr)).or_default();
            counts.frames += u64::from(new.arrived) + u64::from(new.missing);
            counts.missing += u64::from(new.missing);
            counts.gaps += u64::from(new.gaps);
            if counts.frames > MEMORY {
                counts.halve();
            }
        }
    }

    /// The losses to expect at this SNR: those seen there, and those at a better one where too few frames were sent
    /// here.
    pub(super) fn at(&self, snr: Option<MilliDb>) -> LossShare {
        let mut sum = Counts::default();
        for counts in self.by_step.range(step_of(snr)..).map(|(_, counts)| counts) {
            sum.frames += counts.frames;
            sum.missing += counts.missing;
            sum.gaps += counts.gaps;
            if sum.frames >= ENOUGH {
                break;
            }
        }
        let share = |count: u64| count * 1_000_000 / sum.frames.max(ENOUGH);
        LossShare { missing: share(sum.missing), gaps: share(sum.gaps) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn snr(db: i32) -> Option<MilliDb> {
        Some(MilliDb(db * 1_000))
    }

    #[test]
    fn it_is_remembered_where_it_was_seen_and_forgotten() {
        let (mut loss, mut tally) = (LossBySnr::default(), Tally::default());
        loss.on_tally(tally, snr(30));
        assert_eq!(loss.at(snr(30)), LossShare::default());
        let mut tell = |loss: &mut LossBySnr, db, arrived, missing, gaps| {
            let Tally { arrived: a, missing: m, gaps: g } = tally;
            tally = Tally { arrived: a + arrived, missing: m + missing, gaps: g + gaps };
            loss.on_tally(tally, snr(db));
        };
        tell(&mut loss, 28, 990, 10, 10);
        tell(&mut loss, 26, 900, 100, 50);
        assert_eq!(loss.at(snr(28)), LossShare { missing: 10_000, gaps: 10_000 });
        assert_eq!(loss.at(snr(26)), LossShare { missing: 100_000, gaps: 50_000 });
        // Nothing was sent below: at least what was lost above. Nothing above: nothing is known to be lost.
        assert_eq!(loss.at(snr(20)), loss.at(snr(26)));
        assert_eq!(loss.at(snr(29)), LossShare::default());
        // Few frames make no share.
        tell(&mut loss, 35, 9, 1, 1);
        assert_eq!(loss.at(snr(35)).gaps, 1_000_000 / ENOUGH);
        // The other end has restarted: that is no loss.
        loss.on_tally(Tally { arrived: 5, missing: 0, gaps: 0 }, snr(28));
        assert_eq!(loss.at(snr(28)).gaps, 10_000);
        let tally = Tally { arrived: 5, missing: 0, gaps: 0 };
        (0..3_000).for_each(|_| loss.on_tally(tally, snr(26)));
        assert_eq!(loss.at(snr(26)), LossShare::default());
    }

    /// Counts that grow by what is told.
    fn told(loss: &mut LossBySnr, tally: &mut Tally, db: i32, (arrived, missing): (u32, u32)) {
        (tally.arrived, tally.missing, tally.gaps) =
            (tally.arrived + arrived, tally.missing + missing, tally.gaps + missing);
        loss.on_tally(*tally, snr(db));
    }

    /// 1024 frames are kept whole, and one more halves the counts.
    #[test]
    fn counts_are_halved_beyond_their_memory() {
        for (more, frames, missing) in [((0, 0), 1_024, 100), ((1, 0), 512, 50), ((0, 1), 512, 50)] {
            let (mut loss, mut tally) = (LossBySnr::default(), Tally::default());
            loss.on_tally(tally, snr(9));
            told(&mut loss, &mut tally, 9, (924, 100));
            told(&mut loss, &mut tally, 9, more);
            let counts = loss.by_step[&9];
            assert_eq!((counts.frames, counts.missing, counts.gaps), (frames, missing, missing));
        }
    }

    /// A frame that was lost alone, or came alone, is a class of its own; a report without frames makes none.
    #[test]
    fn a_class_begins_with_its_first_frame() {
        let (mut loss, mut tally) = (LossBySnr::default(), Tally::default());
        loss.on_tally(tally, snr(1));
        told(&mut loss, &mut tally, 2, (0, 0));
        assert!(loss.by_step.is_empty());
        told(&mut loss, &mut tally, 3, (1, 0));
        told(&mut loss, &mut tally, 4, (0, 1));
        assert_eq!(loss.by_step.keys().copied().collect::<Vec<_>>(), [3, 4]);
    }

    /// With 300 reports all counts are halved, and those of one frame are gone.
    #[test]
    fn every_three_hundred_reports_halve_the_counts() {
        let (mut loss, mut tally) = (LossBySnr::default(), Tally::default());
        loss.on_tally(tally, snr(9));
        told(&mut loss, &mut tally, 9, (40, 8));
        told(&mut loss, &mut tally, 5, (1, 0));
        (3..299).for_each(|_| loss.on_tally(tally, snr(9)));
        assert_eq!((loss.tallies, loss.by_step[&9].frames), (299, 48));
        loss.on_tally(tally, snr(9));
        assert_eq!((loss.by_step[&9].frames, loss.by_step[&9].missing, loss.by_step.len()), (24, 4, 1));
    }

    /// 32 frames are enough; where fewer were sent those at better SNRs count as well.
    #[test]
    fn a_share_is_that_of_enough_frames() {
        let (mut loss, mut tally) = (LossBySnr::default(), Tally::default());
        loss.on_tally(tally, snr(1));
        told(&mut loss, &mut tally, 20, (50, 50));
        told(&mut loss, &mut tally, 10, (31, 0));
        assert_eq!(loss.at(snr(10)).missing, 50_000_000 / 131);
        told(&mut loss, &mut tally, 10, (1, 0));
        assert_eq!(loss.at(snr(10)).missing, 0);
        assert_eq!((step_of(snr(-1)), step_of(Some(MilliDb(-1))), step_of(Some(MilliDb(999)))), (-1, -1, 0));
    }
}
