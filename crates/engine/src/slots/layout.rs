//! Period, slot counts and slot sizes from duty cycles (section 6.1 of the paper).
//!
//! `W = SlotTime / min f`, `N_i = floor(f_i / min f)`, `w_i = f_i W / N_i`: no slot is shorter than SlotTime. The
//! floor is the reading that keeps that promise; rounding would not. Where the duty cycles add up to less than 1 the
//! rest of the period is idle, at its end.

use super::Fraction;
use super::fraction::gcd;
use airbraid_units::Duration;
use std::fmt;

/// Largest number of virtual stations: more than any radio has. It limits the memory that an input can request.
pub const STATIONS_MAX: usize = 64;
/// Largest number of slots in a period: more than any radio can switch.
pub const SLOTS_MAX: u64 = 65_536;
/// Longest period: an hour.
const PERIOD_MAX_NS: u64 = 3_600_000_000_000;

/// The given length that fixes the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The shortest slot: the period follows.
    Slot(Duration),
    /// The period: the slots follow.
    Period(Duration),
    /// The period, and the shortest length of its slots.
    Both {
        /// The shortest slot that is allowed.
        slot: Duration,
        period: Duration,
    },
}

/// A virtual station's part of the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its requested duty cycle.
    pub duty: Fraction,
    /// Number of its slots: `N_i`.
    pub count: u32,
    /// Its time in a period \[ns\]: `f_i W`, rounded to a neighbouring nanosecond so that all add up.
    pub share_ns: u64,
    /// The size of its slots \[ns\], rounded down; the remainder of the share lengthens its first slots by 1 ns each.
    pub size_ns: u64,
}

/// The length of the period, and its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    period_ns: u64,
    idle_ns: u64,
    stations: Vec<Station>,
}

/// The reason why there is no layout. Stations are counted from 0 here and from 1 in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no station.
    NoStation,
    /// There are more than [`STATIONS_MAX`].
    TooManyStations(usize),
    /// A station has no duty cycle.
    Zero(usize),
    /// The duty cycles add up to more than 1.
    Over(Fraction),
    /// The sum of the duty cycles does not fit into 64 bits.
    TooFine,
    /// A slot, or the period, is 0.
    NoTime,
    /// The slots of this station are shorter than the shortest allowed \[both ns\].
    SlotTooLong {
        station: usize,
        /// The requested shortest slot.
        slot_ns: u64,
        /// The size that the period leaves.
        size_ns: u64,
    },
    /// More than [`SLOTS_MAX`] slots.
    TooManySlots(u64),
    /// Longer than an hour.
    PeriodTooLong,
}

impl Layout {
    /// The layout of these duty cycles.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn new(duties: &[Fraction], length: Length) -> Result<Self, Refused> {
        let least = check(duties)?;
        let period_ns = period(least, length)?;
        let counts: Vec<u64> = duties.iter().map(|duty| duty.times(least)).collect();
        let layout = Self::of(duties, &counts, period_ns)?;
        let needed = match length {
            Length::Slot(slot) | Length::Both { slot, .. } => slot.as_nanos(),
            Length::Period(_) => 1,
        };
        match layout.stations.iter().position(|station| station.size_ns < needed) {
            Some(station) => {
                let size_ns = layout.stations[station].size_ns;
                Err(Refused::SlotTooLong { station, slot_ns: needed, size_ns })
            }
            None => Ok(layout),
        }
    }

    /// The alternative that the paper rejects: slots of one size, as many as the duty cycles' common denominator has.
    ///
    /// # Errors
    /// As [`Layout::new`]: the denominators of odd duty cycles ask for more slots than there may be.
    pub fn equal(duties: &[Fraction], slot: Duration) -> Result<Self, Refused> {
        check(duties)?;
        let multiple = |a: u64, b: u64| (a / gcd(a, b)).checked_mul(b).ok_or(Refused::TooFine);
        let common = duties.iter().try_fold(1, |common, duty| multiple(common, duty.denominator()))?;
        let counts: Vec<u64> = duties.iter().map(|duty| common / duty.denominator() * duty.numerator()).collect();
        let divisor = counts.iter().fold(common, |divisor, count| gcd(divisor, *count));
        let counts: Vec<u64> = counts.iter().map(|count| count / divisor).collect();
        let period = (common / divisor).checked_mul(slot.as_nanos()).ok_or(Refused::PeriodTooLong)?;
        if period == 0 {
            return Err(Refused::NoTime);
        }
        Self::of(duties, &counts, period)
    }

    /// The layout of slots whose counts and sizes are given; the duty cycles follow and there is no idle time.
    ///
    /// # Errors
    /// As [`Layout::new`].
    #[cfg(test)]
    pub(super) fn of_slots(slots: &[(u32, Duration)]) -> Result<Self, Refused> {
        let shares = slots.iter().map(|(count, size)| u64::from(*count).saturating_mul(size.as_nanos()));
        let shares: Vec<u64> = shares.collect();
        let period_ns = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(*share));
        if period_ns > PERIOD_MAX_NS {
            return Err(Refused::PeriodTooLong);
        }
        let duties: Option<Vec<Fraction>> = shares.iter().map(|share| Fraction::new(*share, period_ns)).collect();
        let duties = duties.ok_or(Refused::NoTime)?;
        check(&duties)?;
        let counts: Vec<u64> = slots.iter().map(|(count, _)| u64::from(*count)).collect();
        Self::of(&duties, &counts, period_ns)
    }

    /// Cuts the period into shares, to the nanosecond: those with the largest remainders are rounded up.
    fn of(duties: &[Fraction], counts: &[u64], period_ns: u64) -> Result<Self, Refused> {
        let total = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        if total > SLOTS_MAX {
            return Err(Refused::TooManySlots(total));
        }
        if period_ns > PERIOD_MAX_NS {
            return Err(Refused::PeriodTooLong);
        }
        let busy_ns = Fraction::sum(duties.iter().copied()).ok_or(Refused::TooFine)?.part_of(period_ns).0;
        let mut shares: Vec<u64> = duties.iter().map(|duty| duty.part_of(period_ns).0).collect();
        let missing = busy_ns - shares.iter().sum::<u64>();
        let mut order: Vec<usize> = (0..duties.len()).collect();
        order.sort_by_key(|i| {
            let remainder = Fraction::new(duties[*i].part_of(period_ns).1, duties[*i].denominator());
            (std::cmp::Reverse(remainder), *i)
        });
        // Fewer nanoseconds are missing than there are stations.
        order.iter().take(missing as usize).for_each(|i| shares[*i] += 1);
        let station = |((duty, count), share_ns): ((&Fraction, &u64), &u64)| Station {
            duty: *duty,
            count: *count as u32,
            share_ns: *share_ns,
            size_ns: *share_ns / *count,
        };
        let stations = duties.iter().zip(counts).zip(&shares).map(station).collect();
        Ok(Self { period_ns, idle_ns: period_ns - busy_ns, stations })
    }

    /// The same layout, with the last station's time as idle time.
    #[cfg(test)]
    pub(super) fn with_last_idle(mut self) -> Self {
        self.idle_ns = self.stations.pop().map_or(0, |station| station.share_ns);
        self
    }
    /// These stations, and one more behind them that has the slots of all others, each as short as the shortest of
    /// them.
    pub(super) fn relaxed(&self, keep: &[usize]) -> Self {
        let others = || self.stations.iter().enumerate().filter(|(i, _)| !keep.contains(i)).map(|(_, station)| station);
        let count = others().map(|station| station.count).sum::<u32>();
        let size_ns = others().map(|station| station.size_ns).min().unwrap_or(0);
        let filler = Station { duty: Fraction::ZERO, count, share_ns: size_ns * u64::from(count), size_ns };
        let stations: Vec<Station> = keep.iter().map(|i| self.stations[*i]).chain(std::iter::once(filler)).collect();
        let busy: u64 = stations.iter().map(|station| station.share_ns).sum();
        Self { period_ns: busy + self.idle_ns, idle_ns: self.idle_ns, stations }
    }

    /// The period: `W`.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }
    /// The time that no station has, at the end of the period.
    pub fn idle(&self) -> Duration {
        Duration::from_nanos(self.idle_ns)
    }
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }
    /// Number of slots: `N`.
    pub fn slots(&self) -> usize {
        self.stations.iter().map(|station| station.count as usize).sum()
    }
    /// Number of different arrangements: `N! / (N_1! ... N_n!)`; `None` beyond 128 bits.
    pub fn arrangements(&self) -> Option<u128> {
        let (mut placed, mut product) = (0_u64, 1_u128);
        for station in &self.stations {
            for k in 1..=u64::from(station.count) {
                placed += 1;
                // The product of binomials stays whole: placed choose k at every step.
                product = product.checked_mul(u128::from(placed))? / u128::from(k);
            }
        }
        Some(product)
    }
}

/// Refuses duty cycles that one radio cannot keep; returns the smallest.
fn check(duties: &[Fraction]) -> Result<Fraction, Refused> {
    let least = duties.iter().min().ok_or(Refused::NoStation)?;
    if duties.len() > STATIONS_MAX {
        return Err(Refused::TooManyStations(duties.len()));
    }
    if let Some(station) = duties.iter().position(|duty| duty.is_zero()) {
        return Err(Refused::Zero(station));
    }
    let sum = Fraction::sum(duties.iter().copied()).ok_or(Refused::TooFine)?;
    if sum > Fraction::ONE { Err(Refused::Over(sum)) } else { Ok(*least) }
}

/// `W`, rounded up so that no slot is shorter than asked.
fn period(least: Fraction, length: Length) -> Result<u64, Refused> {
    let ns = match length {
        Length::Slot(slot) => {
            let upper = u128::from(slot.as_nanos()) * u128::from(least.denominator());
            u64::try_from(upper.div_ceil(u128::from(least.numerator()))).unwrap_or(u64::MAX)
        }
        Length::Period(period) | Length::Both { period, .. } => period.as_nanos(),
    };
    match ns {
        0 => Err(Refused::NoTime),
        ns if ns > PERIOD_MAX_NS => Err(Refused::PeriodTooLong),
        ns => Ok(ns),
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = |ns: u64| Duration::from_nanos(ns);
        match self {
            Self::NoStation => f.write_str("there is no access point"),
            Self::TooManyStations(n) => write!(f, "{n} access points are more than {STATIONS_MAX}"),
            Self::Zero(i) => write!(f, "the duty cycle of access point {} is 0: leave it out", i + 1),
            Self::Over(sum) => write!(f, "the duty cycles add up to {sum}; one radio has no more than 1"),
            Self::TooFine => {
                f.write_str("the duty cycles are too fine to be added exactly: write them with fewer digits")
            }
            Self::NoTime => f.write_str("slots and period must be longer than 0"),
            Self::SlotTooLong { station, slot_ns, size_ns } => write!(
                f,
                "the slots of access point {} would last {}, shorter than the slot time of {}: lengthen the period or leave the slot time out",
                station + 1,
                span(*size_ns),
                span(*slot_ns)
            ),
            Self::TooManySlots(n) => {
                write!(
                    f,
                    "{n} slots in a period are more than {SLOTS_MAX}: the smallest duty cycle is too small for the largest"
                )
            }
            Self::PeriodTooLong => {
                write!(
                    f,
                    "the period would be longer than {}: the smallest duty cycle is too small",
                    span(PERIOD_MAX_NS)
                )
            }
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Timetable, min_max};
    use proptest::prelude::*;

    fn f(upper: u64, lower: u64) -> Fraction {
        Fraction::new(upper, lower).unwrap()
    }
    const MS: u64 = 1_000_000;

    #[test]
    fn the_papers_rule_and_the_one_it_rejects() {
        let duties = [f(27, 100), f(73, 100)];
        let slot = Duration::from_millis(15);
        let layout = Layout::new(&duties, Length::Slot(slot)).unwrap();
        assert_eq!(layout.period(), Duration::from_nanos(55_555_556));
        let counts: Vec<(u32, u64)> = layout.stations().iter().map(|s| (s.count, s.size_ns)).collect();
        assert_eq!(counts, [(1, 15_000_000), (2, 20_277_778)]);
        let equal = Layout::equal(&duties, slot).unwrap();
        assert_eq!((equal.stations()[0].count, equal.stations()[1].count), (27, 73));
        assert_eq!(equal.period(), Duration::from_millis(1_500));
        assert_eq!(Layout::equal(&[f(1, 2), f(1, 4)], slot).unwrap().period(), Duration::from_millis(60));
    }

    #[test]
    fn what_is_left_of_the_period_is_idle_at_its_end() {
        let layout = Layout::new(&[f(1, 10)], Length::Slot(Duration::from_millis(15))).unwrap();
        assert_eq!((layout.period(), layout.idle()), (Duration::from_millis(150), Duration::from_millis(135)));
        assert_eq!(min_max(&layout).worst_ns(&layout), [135 * MS]);
    }

    #[test]
    fn one_station_with_all_the_time_is_never_disconnected() {
        let layout = Layout::new(&[Fraction::ONE], Length::Slot(Duration::from_millis(15))).unwrap();
        assert_eq!((layout.slots(), layout.period()), (1, Duration::from_millis(15)));
        assert_eq!(min_max(&layout).worst_ns(&layout), [0]);
    }

    #[test]
    fn ten_thousand_slots_are_laid_out() {
        let duties = [f(1, 10_000), f(4_000, 10_000), f(5_999, 10_000)];
        let layout = Layout::new(&duties, Length::Slot(Duration::from_micros(100))).unwrap();
        assert_eq!((layout.slots(), layout.period()), (10_000, Duration::from_secs(1)));
        // The third waits for one slot; so does the second, and once for that of the first between two of the third.
        assert_eq!(min_max(&layout).worst_ns(&layout), [999_900_000, 300_000, 100_000]);
    }

    #[test]
    fn what_one_radio_cannot_keep_is_refused() {
        let slot = Length::Slot(Duration::from_millis(10));
        let refused = |duties: &[Fraction], length| Layout::new(duties, length).unwrap_err();
        assert_eq!(refused(&[], slot), Refused::NoStation);
        assert_eq!(refused(&[f(1, 2), f(7, 10)], slot), Refused::Over(f(6, 5)));
        assert_eq!(refused(&[f(1, 2), Fraction::ZERO], slot), Refused::Zero(1));
        assert_eq!(refused(&[f(1, 100); 65], slot), Refused::TooManyStations(65));
        assert_eq!(refused(&[f(1, 200_000), f(1, 2)], slot), Refused::TooManySlots(100_001));
        assert_eq!(refused(&[f(1, 2)], Length::Slot(Duration::ZERO)), Refused::NoTime);
        assert_eq!(refused(&[f(1, 1_000_000_000)], slot), Refused::PeriodTooLong);
        let both = Length::Both { slot: Duration::from_millis(200), period: Duration::from_millis(100) };
        let too_long = Refused::SlotTooLong { station: 0, slot_ns: 200 * MS, size_ns: 50 * MS };
        assert_eq!(refused(&[f(1, 2), f(1, 2)], both), too_long);
        let fine = [f(1, (1 << 61) - 1), f(1, (1 << 62) - 57), f(1, 2)];
        assert_eq!(refused(&fine, slot), Refused::TooFine);
    }

    proptest! {
        #[test]
        fn slots_add_up_to_the_period_and_shares_are_duty_cycles(
            parts in proptest::collection::vec(1u64..400, 1..9), more in 0u64..300, ns in 1_000u64..20_000_000,
        ) {
            let whole = parts.iter().sum::<u64>() + more;
            let duties: Vec<Fraction> = parts.iter().map(|part| f(*part, whole)).collect();
            let layout = Layout::new(&duties, Length::Slot(Duration::from_nanos(ns))).unwrap();
            let timetable = Timetable::new(&layout, &min_max(&layout));
            let mut shares = vec![0; duties.len()];
            let mut now = 0;
            for slot in timetable.slots() {
                prop_assert_eq!(slot.start_ns, now);
                prop_assert!(slot.length_ns >= ns);
                now += slot.length_ns;
                shares[slot.station] += slot.length_ns;
            }
            prop_assert_eq!(now + layout.idle().as_nanos(), layout.period().as_nanos());
            prop_assert!(more > 0 || layout.idle().is_zero());
            for (share, duty) in shares.iter().zip(&duties) {
                // Within a nanosecond of the duty cycle, on either side.
                let (exact, rest) = duty.part_of(layout.period().as_nanos());
                prop_assert!(*share == exact || (*share == exact + 1 && rest > 0));
            }
        }
    }

    #[test]
    fn equal_slots_are_as_many_as_the_duty_cycles_common_denominator_has() {
        // A half, a third and a sixth: six slots of 10 ms, of which there are three, two and one.
        let layout = Layout::equal(&[f(1, 2), f(1, 3), f(1, 6)], Duration::from_millis(10)).unwrap();
        let stations: Vec<_> = layout.stations().iter().map(|one| (one.count, one.size_ns)).collect();
        assert_eq!((stations, layout.idle()), (vec![(3, 10 * MS), (2, 10 * MS), (1, 10 * MS)], Duration::ZERO));
        // Two of four quarters are idle.
        let layout = Layout::equal(&[f(1, 4), f(1, 4)], Duration::from_millis(10)).unwrap();
        let stations: Vec<_> = layout.stations().iter().map(|one| (one.count, one.size_ns)).collect();
        assert_eq!((stations, layout.idle()), (vec![(1, 10 * MS), (1, 10 * MS)], Duration::from_millis(20)));
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_counts_from_one() {
        let said = |refused: Refused| refused.to_string();
        assert_eq!(said(Refused::NoStation), "there is no access point");
        assert_eq!(said(Refused::TooManyStations(65)), "65 access points are more than 64");
        assert_eq!(said(Refused::Zero(1)), "the duty cycle of access point 2 is 0: leave it out");
        let too_long = said(Refused::SlotTooLong { station: 0, slot_ns: 200 * MS, size_ns: 50 * MS });
        assert!(
            too_long.starts_with("the slots of access point 1 would last 50 ms, shorter than the slot time of 200 ms")
        );
        assert!(said(Refused::Over(f(6, 5))).starts_with("the duty cycles add up to "));
        assert!(said(Refused::TooFine).contains("fewer digits"));
        assert!(said(Refused::NoTime).contains("longer than 0"));
        assert!(said(Refused::TooManySlots(70_000)).starts_with("70000 slots in a period are more than 65536"));
        assert!(said(Refused::PeriodTooLong).starts_with("the period would be longer than "));
    }

    /// An hour, 64 stations, 65,536 slots, and no more.
    #[test]
    fn limits_are_allowed_and_nothing_beyond() {
        let hour = Duration::from_secs(3_600);
        assert!(Layout::new(&[f(1, 2)], Length::Period(hour)).is_ok());
        let longer = Length::Period(hour + Duration::from_nanos(1));
        assert_eq!(Layout::new(&[f(1, 2)], longer), Err(Refused::PeriodTooLong));
        assert!(Layout::new(&[f(1, 64); 64], Length::Slot(Duration::from_millis(1))).is_ok());
        let with = |count: u64| Layout::new(&[f(1, 70_000), f(count, 70_000)], Length::Slot(Duration::from_nanos(1)));
        assert_eq!(with(65_535).map(|layout| layout.slots()), Ok(65_536));
        assert_eq!(with(65_536), Err(Refused::TooManySlots(65_537)));
        assert_eq!(Layout::equal(&[f(1, 65_536)], Duration::ZERO), Err(Refused::NoTime));
        let slots = |count| Layout::equal(&[f(count, 65_536)], Duration::from_nanos(1)).map(|layout| layout.slots());
        assert_eq!((slots(65_535), slots(65_536)), (Ok(65_535), Ok(1)), "all of the time is one slot");
        assert_eq!(Layout::equal(&[f(1, 1_000)], hour), Err(Refused::PeriodTooLong));
        // A slot as long as is asked for is long enough.
        let both = |ms| Length::Both { slot: Duration::from_millis(ms), period: Duration::from_millis(100) };
        assert!(
            Layout::new(&[f(1, 2), f(1, 2)], both(50)).is_ok() && Layout::new(&[f(1, 2), f(1, 2)], both(51)).is_err()
        );
    }

    /// The period of a shortest slot of 10 ms with a third: 30 ms. Of 10 ns with a seventh and two: the largest
    /// remainders are rounded up.
    #[test]
    fn shares_are_cut_to_the_nanosecond() {
        let layout = Layout::new(&[f(1, 3)], Length::Slot(Duration::from_millis(10))).unwrap();
        assert_eq!((layout.period(), layout.idle()), (Duration::from_millis(30), Duration::from_millis(20)));
        let layout = Layout::new(&[f(1, 7), f(2, 7), f(4, 7)], Length::Period(Duration::from_nanos(10))).unwrap();
        // 1 and 3/7, 2 and 6/7, 5 and 5/7: two nanoseconds are left, for the second and the third.
        assert_eq!(layout.stations().iter().map(|station| station.share_ns).collect::<Vec<_>>(), [1, 3, 6]);
        assert_eq!(layout.stations().iter().map(|station| station.count).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(layout.stations().iter().map(|station| station.size_ns).collect::<Vec<_>>(), [1, 1, 1]);
    }

    /// Of three stations one is kept; the others' slots are as short as the shortest of them.
    #[test]
    fn others_become_one_filler() {
        let us = Duration::from_micros;
        let layout = Layout::of_slots(&[(2, us(5)), (3, us(7)), (4, us(6))]).unwrap();
        let relaxed = layout.relaxed(&[0]);
        let shown: Vec<_> = relaxed.stations().iter().map(|s| (s.count, s.size_ns, s.share_ns)).collect();
        assert_eq!(shown, [(2, 5_000, 10_000), (7, 6_000, 42_000)]);
        assert_eq!((relaxed.period(), relaxed.idle()), (us(52), Duration::ZERO));
    }
}
