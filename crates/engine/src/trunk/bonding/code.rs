//! The coding plan of a member: the number of repair symbols, if any, with the least cost.
//!
//! Costs are delays. A group's symbols take `r / (k + r)` of the member's rate, and each percent is worth 4 ms, as
//! everywhere in the bond ([`PRICE_MS`]). A loss blocks a flow for the rest of its group and the symbols, or for a
//! retransmission where more is lost than they restore. The number of frames lost of `n` has mean `n p` and, where
//! losses come in bursts of `b` on average, a variance of about `n p (1 - p) (2 b - 1)`; it is taken as normal.

use super::cost::{Losses, ONE, PRICE_MS, blocking, power};
use super::frame::FULL;
use airbraid_units::Duration;

/// Fewest packets of a group: in smaller ones the symbols are too large a part.
const SOURCES_MIN: u64 = 8;
/// Most packets of a group: in larger ones the sums take longer than they save.
const SOURCES_MAX: u64 = 128;
/// Possible lengths of a group, in parts of the member's shortest round trip: its last symbol comes long before a
/// retransmission would.
const PARTS: [u64; 3] = [8, 4, 2];
/// The share of a normal distribution above 0, 1/4, 2/4 ... 16/4 of its standard deviation \[millionths\].
const TAIL: [u64; 17] = [
    500_000, 401_294, 308_538, 226_627, 158_655, 105_650, 66_807, 40_059, 22_750, 12_224, 6_210, 2_980, 1_350, 577,
    233, 88, 32,
];

/// The coding plan of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Packets of a group.
    pub sources: u8,
    /// Symbols behind them.
    pub repairs: u8,
    /// Longest time of a group.
    pub span: Duration,
    /// Mean head-of-line blocking that remains.
    pub blocking: Duration,
}

impl Plan {
    /// Symbols for a group that has ended with fewer packets: the mean of its losses shrinks in proportion, the
    /// deviation by the root.
    pub fn repairs_for(&self, sources: u8) -> u8 {
        let (all, some) = (u64::from(self.sources), u64::from(sources));
        let root = (all * some).isqrt();
        (u64::from(self.repairs) * (some + root)).div_ceil(2 * all).min(254 - some) as u8
    }

    /// The part of a rate that remains for packets.
    pub fn useful(&self, rate: u64) -> u64 {
        rate / (u64::from(self.sources) + u64::from(self.repairs)) * u64::from(self.sources)
    }
}

/// The cheapest plan, if one costs less than retransmissions.
pub fn plan(losses: &Losses) -> Option<Plan> {
    if losses.begun_ppm == 0 || losses.lost_ppm == 0 {
        return None;
    }
    let uncoded = blocking(losses.begun_ppm, losses.rate, losses.repair).as_micros();
    let sizes = PARTS.map(|part| sources_in(losses, part));
    let plans = sizes.iter().enumerate().filter(|(at, size)| *at == 0 || **size != sizes[at - 1]);
    let best = plans.filter_map(|(_, &size)| cheapest(losses, size)).min_by_key(|(cost, _)| *cost)?;
    (best.0 < uncoded).then_some(best.1)
}

/// Packets that a member carries in a part of its round trip.
fn sources_in(losses: &Losses, part: u64) -> u64 {
    let bits = u128::from(losses.rate) * u128::from(losses.rtt.as_nanos()) / 1_000_000_000;
    ((bits / u128::from(8 * FULL * part)) as u64).clamp(SOURCES_MIN, SOURCES_MAX)
}

/// The cheapest plan for groups of this many packets, with its cost \[us\]. More symbols first cost less than they
/// save.
fn cheapest(losses: &Losses, sources: u64) -> Option<(u64, Plan)> {
    // Where more symbols than packets would be of use, half is lost.
    let most = sources.min(254 - sources);
    let mut best: Option<(u64, Plan)> = None;
    // Below the mean nearly every group fails.
    let least = (sources * u64::from(losses.lost_ppm) / ONE).max(1);
    for repairs in least..=most {
        let blocking = coded_blocking(losses, sources, repairs);
        let cost = blocking.as_micros() + PRICE_MS * 1_000 * repairs / (sources + repairs);
        if best.is_some_and(|(least, _)| cost > least + least / 8) {
            break;
        }
        if best.is_none_or(|(least, _)| cost < least) {
            let span = Duration::from_nanos(frames_ns(losses.rate, sources) * 5 / 4);
            best = Some((cost, Plan { sources: sources as u8, repairs: repairs as u8, span, blocking }));
        }
    }
    best
}

/// The time of this many frames \[ns\].
fn frames_ns(rate: u64, frames: u64) -> u64 {
    frames * FULL * 8_000_000_000 / rate.max(1)
}

/// Mean blocking of a flow: a group with a loss waits for half of itself and its symbols, one that fails for a
/// retransmission.
fn coded_blocking(losses: &Losses, sources: u64, repairs: u64) -> Duration {
    let is_hit = ONE - power(ONE - u64::from(losses.begun_ppm).min(ONE), sources);
    let wait = frames_ns(losses.rate, sources / 2 + repairs) / 1_000 * is_hit / ONE;
    let frames = sources + repairs;
    let fails = failures(losses, frames, repairs);
    let rest = blocking(
        (fails / frames) as u32,
        losses.rate,
        losses.repair + Duration::from_nanos(frames_ns(losses.rate, frames)),
    );
    Duration::from_micros(wait) + rest
}

/// The share of groups of `frames` that lose more than `repairs` \[millionths\].
fn failures(losses: &Losses, frames: u64, repairs: u64) -> u64 {
    let (lost, begun) = (u64::from(losses.lost_ppm).min(ONE - 1), u64::from(losses.begun_ppm).max(1));
    let mean = frames * lost;
    // Of one frame 1, of bursts of b on the average 2 b - 1.
    let spread = (2 * lost).saturating_sub(begun) * ONE / begun;
    let variance = u128::from(frames) * u128::from(lost * (ONE - lost) / ONE) * u128::from(spread.max(ONE));
    let deviation = variance.isqrt().max(1) as u64;
    // Half a frame is between `repairs` and one more.
    let above = (repairs * ONE + ONE / 2).saturating_sub(mean);
    let quarters = 4 * above * 256 / deviation;
    let (index, part) = ((quarters / 256) as usize, quarters % 256);
    match (TAIL.get(index), TAIL.get(index + 1)) {
        (Some(high), Some(low)) => high - (high - low) * part / 256,
        (Some(last), None) => *last,
        _ => TAIL[TAIL.len() - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(mbps: u64, rtt_ms: u64, lost_ppm: u32, burst: u32) -> Losses {
        let rtt = Duration::from_millis(rtt_ms);
        Losses { lost_ppm, begun_ppm: lost_ppm / burst, rate: mbps * 1_000_000, rtt, repair: rtt * 3 / 2 }
    }

    #[test]
    fn long_paths_are_coded_and_short_ones_are_not() {
        let plan = |mbps, rtt, ppm, burst| plan(&losses(mbps, rtt, ppm, burst));
        assert_eq!(plan(10, 200, 0, 1), None);
        assert_eq!(plan(10, 10, 50_000, 1), None);
        let long = plan(10, 200, 50_000, 1).expect("a retransmission takes 300 ms");
        assert!((20..=84).contains(&long.sources) && long.repairs * 4 < long.sources, "{long:?}");
        let bursty = plan(10, 200, 50_000, 4).expect("the same");
        let product = |repairs: u8, sources: u8| u32::from(repairs) * u32::from(sources);
        assert!(product(bursty.repairs, long.sources) > product(long.repairs, bursty.sources), "{bursty:?} {long:?}");
        assert!(long.blocking < Duration::from_millis(100), "{long:?}");
        // Where next to nothing is lost there is next to nothing to save.
        assert_eq!(plan(1, 40, 100, 1), None);
    }

    #[test]
    fn a_group_fails_as_often_as_the_distribution_says() {
        // 100 frames, 5 %: sums of the binomial distribution.
        let share = |repairs| failures(&losses(10, 200, 50_000, 1), 100, repairs);
        assert!((360_000..420_000).contains(&share(5)), "{}", share(5));
        assert!((9_000..29_000).contains(&share(9)), "{}", share(9));
        assert!(share(20) < 100);
    }

    #[test]
    fn a_shorter_group_has_fewer_symbols_but_more_of_them_for_each_packet() {
        let plan = plan(&losses(10, 200, 50_000, 1)).expect("it is coded");
        assert_eq!(plan.repairs_for(plan.sources), plan.repairs);
        for sources in 1..plan.sources {
            let repairs = plan.repairs_for(sources);
            assert!((1..=plan.repairs).contains(&repairs));
            assert!(u32::from(repairs) * u32::from(plan.sources) >= u32::from(plan.repairs) * u32::from(sources));
        }
    }

    /// The search for the number of symbols ends early; it misses no plan that costs an eighth less.
    #[test]
    fn no_other_number_of_symbols_is_much_cheaper() {
        for (rtt, ppm, burst) in [(100, 20_000, 1), (200, 50_000, 1), (200, 50_000, 4), (400, 150_000, 8)] {
            let losses = losses(10, rtt, ppm, burst);
            for sources in [8, 20, 84, 170] {
                let cost = |repairs: u64| {
                    let price = PRICE_MS * 1_000 * repairs / (sources + repairs);
                    coded_blocking(&losses, sources, repairs).as_micros() + price
                };
                let least = (1..=sources.min(254 - sources)).map(cost).min().unwrap();
                let (found, plan) = cheapest(&losses, sources).unwrap();
                assert_eq!(found, cost(plan.repairs.into()));
                assert!(found <= least + least / 8, "{sources} packets, {losses:?}: {found} us and {least} us");
            }
        }
    }

    #[test]
    fn the_share_of_failures_is_that_of_a_normal_distribution_with_the_spread_of_bursts() {
        // Of 100 frames 5 are lost on average, with a deviation of 2.179 (the root of 4.75): 9 symbols and a half are
        // 2.065 deviations above. Of bursts of four the variance is seven times that: 14 and a half are 1.648 above.
        let near = |found: u64, expected: u64| assert!(found.abs_diff(expected) < 300, "{found} and {expected}");
        near(failures(&losses(10, 200, 50_000, 1), 100, 9), 20_000);
        near(failures(&losses(10, 200, 50_000, 4), 100, 14), 51_000);
        assert_eq!(failures(&losses(10, 200, 50_000, 1), 100, 4), 500_000, "fewer than the mean");
        assert_eq!(failures(&losses(10, 200, 1_000, 1), 10, 9), 32, "beyond four deviations");
    }

    /// At 12 Mbit/s a frame of 1500 byte takes 1 ms: a group of 10 packets with 8 symbols that is hit waits for 5 + 8.
    #[test]
    fn a_group_that_is_hit_waits_for_half_of_itself_and_its_symbols() {
        let rate = 12_000_000;
        assert_eq!(frames_ns(rate, 7), 7_000_000);
        // Symbols enough that no group fails: what is left of the 32 millionths is below a microsecond.
        let single =
            Losses { lost_ppm: 1_000, begun_ppm: 1_000, rate, rtt: Duration::from_millis(100), repair: Duration::ZERO };
        let blocked = coded_blocking(&single, 10, 8).as_micros();
        // 1 - 0.999^10 = 0.99551 %, of 5 + 8 ms: 129 us.
        assert!((127..=131).contains(&blocked), "{blocked}");
        // Where none begins there is nothing to wait for.
        assert_eq!(plan(&Losses { begun_ppm: 0, ..single }), None);
        assert_eq!(plan(&Losses { lost_ppm: 0, ..single }), None);
    }

    /// An eighth, a quarter and a half of a round trip, from 8 to 128 packets.
    #[test]
    fn groups_are_parts_of_a_round_trip() {
        let sizes = |mbps, rtt| PARTS.map(|part| sources_in(&losses(mbps, rtt, 1_000, 1), part));
        // 10 Mbit/s and 200 ms are 166 frames.
        assert_eq!(sizes(10, 200), [20, 41, 83]);
        assert_eq!((sizes(1, 10), sizes(100, 200)), ([8; 3], [128; 3]));
    }

    #[test]
    fn symbols_take_their_part_of_the_rate() {
        let plan = Plan { sources: 30, repairs: 10, span: Duration::ZERO, blocking: Duration::ZERO };
        assert_eq!(plan.useful(40_000_000), 30_000_000);
        // Half of the packets: the mean of half, and the deviation of seven tenths.
        assert_eq!((plan.repairs_for(30), plan.repairs_for(15)), (10, 6));
    }
}
