//! Duty cycles from the rates of access points: the schedulers of FatVAP and THEMIS, for one station.
//!
//! Both give access point i a part `f_i` of the time, never more than brings its backhaul: `f_i w_i <= e_i`, where w is
//! the wireless rate and e the backhaul's. Each access point that is used costs one switch a period. FatVAP (Kandula et
//! al. 2008) maximises `sum f_i w_i`; THEMIS (Giustiniano et al. 2010) maximises `sum K_i log(f_i w_i)`. In THEMIS
//! stations agree about backhauls that they share; that is left out: a backhaul's rate here is this station's part of
//! it. Times are whole nanoseconds of the period.

use super::Fraction;
use airbraid_units::{BitRate, Duration};
use std::fmt;

/// Largest number of access points of [`fat_vap`]: it tries every set.
const ACCESS_MAX: usize = 16;

/// The known properties of an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The rate of its backhaul: e.
    pub backhaul: BitRate,
    /// The rate at which a station that has the radio all the time gets data from it: w.
    pub wireless: BitRate,
    /// Its weight in THEMIS: K, at least 1.
    pub weight: u32,
}

/// The reason why there are no duty cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerError {
    /// There is no access point.
    None,
    /// There are too many to choose among.
    TooMany(usize),
    /// A rate is 0; access points count from 0 here and from 1 in messages.
    NoRate(usize),
    /// The period is 0, or switching takes all of it.
    NoTime,
}

/// FatVAP: the best set of access points, the fastest filled first. Exact: every set is tried.
///
/// A part of 0 is that of an access point that is not worth its switch.
///
/// # Errors
/// Says why there is none.
pub fn fat_vap(access: &[Access], period: Duration, switch: Duration) -> Result<Vec<Fraction>, SchedulerError> {
    let needs = needs(access, period)?;
    if access.len() > ACCESS_MAX {
        return Err(SchedulerError::TooMany(access.len()));
    }
    let mut order: Vec<usize> = (0..access.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(access[*i].wireless), *i));
    let mut best = (0_u128, Vec::new());
    for set in 1_u32..1 << access.len() {
        let Some(mut left) = time_left(period, switch, set.count_ones()) else { continue };
        let mut times = vec![0; access.len()];
        let mut worth = 0_u128;
        for i in order.iter().filter(|i| set >> **i & 1 == 1) {
            times[*i] = needs[*i].min(left);
            left -= times[*i];
            worth += u128::from(times[*i]) * u128::from(access[*i].wireless.as_bps());
        }
        if worth > best.0 {
            best = (worth, times);
        }
    }
    if best.0 == 0 { Err(SchedulerError::NoTime) } else { Ok(parts(&best.1, period)) }
}

/// THEMIS: time in proportion to the weights; the unused part of an access point goes to the others.
///
/// # Errors
/// Says why there is none.
pub fn themis(access: &[Access], period: Duration, switch: Duration) -> Result<Vec<Fraction>, SchedulerError> {
    let needs = needs(access, period)?;
    let mut left = time_left(period, switch, access.len() as u32).ok_or(SchedulerError::NoTime)?;
    let mut times = vec![0; access.len()];
    let mut open: Vec<usize> = (0..access.len()).collect();
    while !open.is_empty() {
        let weights: u128 = open.iter().map(|i| u128::from(access[*i].weight.max(1))).sum();
        let fair = |i: usize| (u128::from(left) * u128::from(access[i].weight.max(1)) / weights) as u64;
        let (full, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|i| needs[**i] <= fair(**i));
        if full.is_empty() {
            rest.iter().for_each(|i| times[*i] = fair(*i));
            break;
        }
        for i in full {
            times[i] = needs[i];
            left -= needs[i];
        }
        open = rest;
    }
    if times.contains(&0) { Err(SchedulerError::NoTime) } else { Ok(parts(&times, period)) }
}

/// For each access point the time that uses up its backhaul: no more than the period.
fn needs(access: &[Access], period: Duration) -> Result<Vec<u64>, SchedulerError> {
    if access.is_empty() {
        return Err(SchedulerError::None);
    }
    if let Some(i) = access.iter().position(|a| a.backhaul.as_bps() == 0 || a.wireless.as_bps() == 0) {
        return Err(SchedulerError::NoRate(i));
    }
    let need = |a: &Access| {
        let ns = u128::from(period.as_nanos()) * u128::from(a.backhaul.as_bps()) / u128::from(a.wireless.as_bps());
        ns.min(u128::from(period.as_nanos())) as u64
    };
    Ok(access.iter().map(need).collect())
}

/// The part of the period that `switches` leave; one access point alone needs none.
fn time_left(period: Duration, switch: Duration, switches: u32) -> Option<u64> {
    let switches = if switches == 1 { 0 } else { u64::from(switches) };
    period.as_nanos().checked_sub(switch.as_nanos().checked_mul(switches)?)
}

fn parts(times: &[u64], period: Duration) -> Vec<Fraction> {
    times.iter().map(|time| Fraction::new(*time, period.as_nanos()).unwrap_or(Fraction::ZERO)).collect()
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("there is no access point"),
            Self::TooMany(n) => write!(f, "FatVAP tries every set of access points: {n} are more than {ACCESS_MAX}"),
            Self::NoRate(i) => write!(f, "access point {} has a rate of 0: leave it out", i + 1),
            Self::NoTime => f.write_str("switching takes the whole period: lengthen it"),
        }
    }
}

impl std::error::Error for SchedulerError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn access(rates: &[(u64, u64)]) -> Vec<Access> {
        let one = |(e, w): &(u64, u64)| Access {
            backhaul: BitRate::from_kbps(*e),
            wireless: BitRate::from_kbps(*w),
            weight: 1,
        };
        rates.iter().map(one).collect()
    }
    fn fractions(of: &[(u64, u64)]) -> Vec<Fraction> {
        of.iter().map(|(a, b)| Fraction::new(*a, *b).unwrap()).collect()
    }
    const PERIOD: Duration = Duration::from_millis(100);

    #[test]
    fn fat_vap_takes_what_the_backhauls_have() {
        let all = access(&[(5_000, 20_000), (4_000, 20_000), (1_000, 20_000)]);
        assert_eq!(fat_vap(&all, PERIOD, Duration::ZERO), Ok(fractions(&[(1, 4), (1, 5), (1, 20)])));
    }

    #[test]
    fn fat_vap_leaves_out_who_is_not_worth_a_switch() {
        // The third brings 1 % of the period; its switch costs 5 % of what the second could bring.
        let all = access(&[(10_000, 20_000), (20_000, 20_000), (200, 20_000)]);
        let parts = fat_vap(&all, PERIOD, Duration::from_millis(5)).unwrap();
        assert!(parts[2].is_zero() && !parts[1].is_zero(), "{parts:?}");
    }

    #[test]
    fn themis_shares_and_gives_on_what_one_cannot_use() {
        let all = access(&[(20_000, 20_000), (20_000, 20_000), (2_000, 20_000)]);
        assert_eq!(themis(&all, PERIOD, Duration::ZERO), Ok(fractions(&[(9, 20), (9, 20), (1, 10)])));
    }

    #[test]
    fn what_cannot_be_scheduled_is_said() {
        assert_eq!(fat_vap(&[], PERIOD, Duration::ZERO), Err(SchedulerError::None));
        assert_eq!(themis(&access(&[(1, 1), (0, 1)]), PERIOD, Duration::ZERO), Err(SchedulerError::NoRate(1)));
        let two = access(&[(1_000, 1_000), (1_000, 1_000)]);
        assert_eq!(themis(&two, PERIOD, Duration::from_millis(50)), Err(SchedulerError::NoTime));
        assert_eq!(fat_vap(&access(&[(1, 1); 17]), PERIOD, Duration::ZERO), Err(SchedulerError::TooMany(17)));
    }

    proptest! {
        /// No part is more than its backhaul needs, nothing beyond the period, and moving a millisecond from one to
        /// another makes the sum no larger (FatVAP), the product no larger (THEMIS).
        #[test]
        fn no_move_makes_it_better(
            rates in proptest::collection::vec((100u64..20_000, 1_000u64..30_000), 1..6),
            ms in 0u64..3,
        ) {
            let all = access(&rates);
            let switch = Duration::from_millis(ms);
            let period = PERIOD.as_nanos();
            for (planner, is_product) in [(fat_vap as fn(&[Access], _, _) -> _, false), (themis, true)] {
                let Ok(parts) = planner(&all, PERIOD, switch) else { continue };
                let times: Vec<u64> = parts.iter().map(|part| part.part_of(period).0).collect();
                let used = times.iter().filter(|time| **time > 0).count() as u64;
                let switching = if used == 1 { 0 } else { used * switch.as_nanos() };
                prop_assert!(times.iter().sum::<u64>() + switching <= period);
                // Rates are in kbit/s on both sides.
                let fits = |i: usize, time: u64| {
                    u128::from(time) * u128::from(rates[i].1) <= u128::from(period) * u128::from(rates[i].0)
                };
                prop_assert!(times.iter().enumerate().all(|(i, time)| fits(i, *time)));
                let move_ns = period / 100;
                for (a, b) in (0..times.len()).flat_map(|a| (0..times.len()).map(move |b| (a, b))) {
                    if a == b || times[b] == 0 || times[a] <= move_ns || !fits(b, times[b] + move_ns) {
                        continue;
                    }
                    let moved = (times[a] - move_ns, times[b] + move_ns);
                    let worth = |(x, y): (u64, u64)| match is_product {
                        // The others' factors, and the rates, are the same on both sides.
                        true => u128::from(x) * u128::from(y),
                        false => u128::from(x) * u128::from(rates[a].1) + u128::from(y) * u128::from(rates[b].1),
                    };
                    // Parts are cut to whole nanoseconds: two of them, at the largest rate.
                    let dust = if is_product { 2 * u128::from(times[a] + times[b]) } else { 2 * 30_000 };
                    let now = worth((times[a], times[b]));
                    prop_assert!(worth(moved) <= now + dust, "{times:?}: {a} to {b}");
                }
            }
        }
    }
}
