//! Minstrel: the rate with the highest expected throughput, by the outcomes of earlier frames and of some that probe.
//!
//! After the public documentation of Linux's mac80211 rate control (`minstrel_ht`, "Minstrel rate control algorithm"
//! and the comments on its sampling since Linux 5.12). Of each rate it knows the share of acknowledged MPDUs, averaged
//! with weights over intervals. A chain of rates follows: the best by throughput, the second best, and the best of
//! those that are nearly sure. Every 20 ms one PPDU probes another rate, with one MPDU. No timer of its own; what is
//! due is done when a frame is sent. Integers only, never a signal.

use crate::frame::Address;
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;

/// Statistics are joined every 50 ms (mac80211: HZ / 20).
const UPDATE: Duration = Duration::from_millis(50);
/// Time between two probes (mac80211 since 5.12: HZ / 50).
const PROBE: Duration = Duration::from_millis(20);
/// Longest time that the tries of one stage may take together (mac80211: a segment of 6 ms).
const STAGE: Duration = Duration::from_millis(6);
/// Fewest and most tries of a stage (mac80211: 2, and what hardware counts to).
const TRIES: (u32, u32) = (2, 7);
/// Certainty: probabilities are whole numbers up to this one.
const ONE: u32 = 1 << 16;
/// Weight of the past in the average: 75 % (mac80211: EWMA_LEVEL 96 of 128).
const PAST: u32 = 3;
/// A rate below 10 % has no throughput.
const HOPELESS: u32 = ONE / 10;
/// Successes above 90 % are taken as 90 %: the rest may be collisions, which no other rate avoids.
const GOOD: u32 = ONE / 10 * 9;
/// From 75 % on a rate counts as nearly sure.
const SURE: u32 = ONE / 4 * 3;
/// Number of next faster rates that probes in steps go through.
const NEXT: usize = 3;
/// Kinds of probes, in turn: half of them one step up, a third anywhere above, the rest below.
const KINDS: [Kind; 6] = [Kind::Step, Kind::Jump, Kind::Step, Kind::Jump, Kind::Step, Kind::Slow];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One of the next faster rates.
    Step,
    /// Any faster rate.
    Jump,
    /// Any slower rate.
    Slow,
}

/// A rate that may be chosen, by what its frames cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Time of a PPDU beside its MPDUs: access, preamble, acknowledgement.
    pub overhead: Duration,
    /// Time of one MPDU of usual length.
    pub mpdu: Duration,
}

/// Rates by place among the candidates, with the tries of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Rate and tries: the first that is sent, then what follows a failure.
    pub stages: [(usize, u32); 3],
    /// Whether the first stage probes: one MPDU is enough.
    pub is_probe: bool,
}

impl Chain {
    /// The rate of a frame that has failed `failures` times; beyond its end the last.
    pub fn rate(&self, failures: u32) -> usize {
        let mut left = failures;
        for (rate, tries) in self.stages {
            if left < tries {
                return rate;
            }
            left -= tries;
        }
        self.stages[2].0
    }
}

/// One rate towards one neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: u32,
    acknowledged: u32,
    /// Average of the share; nothing before the first frame.
    probability: Option<u32>,
}

#[derive(Clone, Debug)]
struct Neighbour {
    records: Vec<Record>,
    /// MPDUs in a PPDU, averaged \[1/256\].
    aggregate: u32,
    next_update: Instant,
    next_probe: Instant,
    probes: usize,
    /// Best and second best by throughput, and the best that is nearly sure.
    chosen: [usize; 3],
}

/// The rates of a station towards its neighbours.
#[derive(Clone, Debug)]
pub struct Minstrel {
    candidates: Vec<Candidate>,
    /// Places of the candidates, the fastest first.
    by_speed: Vec<usize>,
    neighbours: BTreeMap<Address, Neighbour>,
    random: Stream,
}

impl Minstrel {
    /// A station that may choose among `candidates`, of which there is at least one.
    pub fn new(candidates: Vec<Candidate>, random: Stream) -> Self {
        let mut by_speed: Vec<usize> = (0..candidates.len()).collect();
        by_speed.sort_by_key(|rate| (candidates[*rate].mpdu, candidates[*rate].overhead, *rate));
        Self { candidates, by_speed, neighbours: BTreeMap::new(), random }
    }

    /// The rates of the next frame to a neighbour.
    pub fn chain(&mut self, now: Instant, to: Address) -> Chain {
        let slowest = self.by_speed.last().copied().unwrap_or_default();
        let count = self.candidates.len();
        let of = self.neighbours.entry(to).or_insert_with(|| Neighbour::new(now, count, slowest));
        if now >= of.next_update {
            of.update(&self.candidates, &self.by_speed);
            of.next_update = now + UPDATE;
        }
        let [best, second, sure] = of.chosen;
        let mut probed = None;
        if now >= of.next_probe {
            of.next_probe = now + PROBE;
            of.probes += 1;
            probed = probe(of, &self.by_speed, &mut self.random);
        }
        let tries = |rate: usize| (rate, tries(&self.candidates[rate]));
        match probed {
            Some(rate) => Chain { stages: [(rate, 1), tries(best), tries(sure)], is_probe: true },
            None => Chain { stages: [tries(best), tries(second), tries(sure)], is_probe: false },
        }
    }

    /// A PPDU at a rate carried `sent` MPDUs to a neighbour, of which some were acknowledged.
    pub fn on_result(&mut self, to: Address, rate: usize, sent: u32, acknowledged: u32) {
        let Some(of) = self.neighbours.get_mut(&to) else { return };
        let Some(record) = of.records.get_mut(rate) else { return };
        record.sent += sent;
        record.acknowledged += acknowledged.min(sent);
        of.aggregate = (of.aggregate * PAST + 256 * sent.min(1 << 20)) / (PAST + 1);
    }

    /// The rate of the highest expected throughput towards a neighbour, and its share of acknowledged MPDUs
    /// \[thousandths\]; `None` before any was sent.
    pub fn best(&self, to: Address) -> Option<(usize, u32)> {
        let of = self.neighbours.get(&to)?;
        let rate = of.chosen[0];
        let probability = of.records.get(rate)?.probability?;
        Some((rate, (u64::from(probability) * 1_000 / u64::from(ONE)) as u32))
    }

    /// Share of acknowledged MPDUs of a rate, averaged \[%\]; `None` before any was sent.
    pub fn success_percent(&self, to: Address, rate: usize) -> Option<u32> {
        let probability = self.neighbours.get(&to)?.records.get(rate)?.probability?;
        Some(probability * 100 / ONE)
    }
}

/// The rate that is probed, if there is one of the kind whose turn it is.
fn probe(of: &Neighbour, by_speed: &[usize], random: &mut Stream) -> Option<usize> {
    let place = by_speed.iter().position(|rate| *rate == of.chosen[0])?;
    let (faster, slower) = (&by_speed[..place], &by_speed[place + 1..]);
    let mut any = |of: &[usize]| {
        let last = u32::try_from(of.len().checked_sub(1)?).ok()?;
        of.get(random.up_to(last) as usize).copied()
    };
    match KINDS[of.probes % KINDS.len()] {
        // The nearest of the faster ones are the last of them.
        Kind::Step => {
            let next = faster.len().min(NEXT);
            let turn = of.probes / 2 % next.max(1);
            faster.len().checked_sub(1 + turn).map(|place| faster[place])
        }
        Kind::Jump => any(faster),
        Kind::Slow => any(slower),
    }
}

/// Tries of a stage: as many as fit, with a frame each.
fn tries(candidate: &Candidate) -> u32 {
    let time = (candidate.overhead + candidate.mpdu).as_nanos().max(1);
    let fit = u32::try_from(STAGE.as_nanos() / time).unwrap_or(TRIES.1);
    fit.clamp(TRIES.0, TRIES.1)
}

impl Neighbour {
    /// Nothing is known: the slowest rate.
    fn new(now: Instant, rates: usize, slowest: usize) -> Self {
        Self {
            records: vec![Record::default(); rates],
            aggregate: 256,
            next_update: now + UPDATE,
            next_probe: now + PROBE,
            probes: 0,
            chosen: [slowest; 3],
        }
    }

    /// Ends an interval: averages what it has shown and chooses.
    fn update(&mut self, candidates: &[Candidate], by_speed: &[usize]) {
        for record in self.records.iter_mut().filter(|record| record.sent > 0) {
            let share = (u64::from(record.acknowledged) * u64::from(ONE) / u64::from(record.sent)) as u32;
            record.probability = Some(record.probability.map_or(share, |past| (past * PAST + share) / (PAST + 1)));
            (record.sent, record.acknowledged) = (0, 0);
        }
        // Where nothing is known or nothing works, the slowest is first.
        let slowest_first = || by_speed.iter().rev().copied();
        let throughput = |rate: usize| (self.throughput(&candidates[rate], rate), self.probability(rate));
        // Of equals the first: `max_by_key` would take the last.
        let best = first_largest(slowest_first(), throughput).unwrap_or_default();
        let second = first_largest(slowest_first().filter(|rate| *rate != best), throughput).unwrap_or(best);
        let is_sure = |rate: &usize| self.probability(*rate) >= SURE;
        let sure = first_largest(slowest_first().filter(is_sure), throughput)
            .or_else(|| first_largest(slowest_first(), |rate| (0, self.probability(rate))));
        self.chosen = [best, second, sure.unwrap_or(best)];
    }

    fn probability(&self, rate: usize) -> u32 {
        self.records[rate].probability.unwrap_or(0)
    }

    /// Expected MPDUs a second, times 2^16.
    fn throughput(&self, candidate: &Candidate, rate: usize) -> u64 {
        let probability = self.probability(rate);
        if probability < HOPELESS {
            return 0;
        }
        let overhead = candidate.overhead.as_nanos() * 256 / u64::from(self.aggregate.max(256));
        let time = (overhead + candidate.mpdu.as_nanos()).max(1);
        u64::from(probability.min(GOOD)) * 1_000_000_000 / time
    }
}

fn first_largest(rates: impl Iterator<Item = usize>, key: impl Fn(usize) -> (u64, u32)) -> Option<usize> {
    rates.map(|rate| (key(rate), rate)).reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|b| b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TO: Address = Address(1);
    /// MPDU times of 1536 byte at the rates of HE with 20 MHz: MCS 0 to 11, roughly.
    const MBPS: [u64; 12] = [8, 17, 25, 34, 51, 68, 77, 86, 103, 114, 129, 143];

    fn candidates() -> Vec<Candidate> {
        let time = |mbps: u64| Duration::from_nanos(1_536 * 8 * 1_000 / mbps);
        MBPS.iter().map(|mbps| Candidate { overhead: Duration::from_micros(230), mpdu: time(*mbps) }).collect()
    }
    fn minstrel(seed: u64) -> Minstrel {
        Minstrel::new(candidates(), Stream::new(seed, 0, "test"))
    }

    /// A sender that is never idle, on a channel whose success by rate is given in percent. Returns the delivered MPDUs
    /// by rate, and the time at which it was done.
    fn send(
        minstrel: &mut Minstrel,
        from: Instant,
        span: Duration,
        aggregate: u32,
        success: impl Fn(usize) -> u32,
        random: &mut Stream,
    ) -> (Vec<u64>, Instant) {
        let (mut now, mut delivered) = (from, vec![0; MBPS.len()]);
        let candidates = candidates();
        while now < from + span {
            let chain = minstrel.chain(now, TO);
            let count = if chain.is_probe { 1 } else { aggregate };
            let rate = chain.rate(0);
            let ok = (0..count).filter(|_| random.up_to(99) < success(rate)).count() as u32;
            minstrel.on_result(TO, rate, count, ok);
            delivered[rate] += u64::from(ok);
            now += candidates[rate].overhead + candidates[rate].mpdu * u64::from(count);
        }
        (delivered, now)
    }

    #[test]
    fn it_finds_the_best_rate_and_loses_little_by_probing() {
        let mut random = Stream::new(9, 0, "channel");
        for best in [0, 3, 7, 11] {
            for (aggregate, floor) in [(1, 90), (32, 93)] {
                let mut minstrel = minstrel(best as u64);
                let success = |rate: usize| if rate <= best { 100 } else { 0 };
                let (_, warm) =
                    send(&mut minstrel, Instant::ZERO, Duration::from_secs(1), aggregate, success, &mut random);
                let span = Duration::from_secs(5);
                let (delivered, end) = send(&mut minstrel, warm, span, aggregate, success, &mut random);
                let candidate = candidates()[best];
                let time = candidate.overhead + candidate.mpdu * u64::from(aggregate);
                let possible = (end - warm).as_nanos() / time.as_nanos() * u64::from(aggregate);
                let total: u64 = delivered.iter().sum();
                assert!(
                    total * 100 >= possible * floor,
                    "best {best}, {aggregate}: {total} of {possible}: {delivered:?}"
                );
            }
        }
    }

    #[test]
    fn throughput_decides_not_certainty() {
        // 60 % at 143 Mbit/s beat 100 % at 34, and lose to 100 % at 114.
        let mut random = Stream::new(2, 0, "channel");
        let table = |sure: usize| {
            move |rate: usize| {
                if rate <= sure {
                    100
                } else if rate == 11 {
                    60
                } else {
                    0
                }
            }
        };
        for (sure, expected) in [(3, 11), (9, 9)] {
            let mut minstrel = minstrel(3);
            let (delivered, _) =
                send(&mut minstrel, Instant::ZERO, Duration::from_secs(5), 32, table(sure), &mut random);
            let most = (0..12).max_by_key(|rate| delivered[*rate]);
            assert_eq!(most, Some(expected), "{delivered:?}");
        }
    }

    #[test]
    fn it_follows_a_channel_that_falls_and_rises_within_a_second() {
        let mut random = Stream::new(4, 0, "channel");
        let mut minstrel = minstrel(5);
        let up_to = |best: usize| move |rate: usize| if rate <= best { 98 } else { 1 };
        let mut now = Instant::ZERO;
        for best in [10, 2, 10, 6] {
            (_, now) = send(&mut minstrel, now, Duration::from_secs(1), 16, up_to(best), &mut random);
            let chain = minstrel.chain(now, TO);
            let settled = if chain.is_probe { chain.stages[1].0 } else { chain.stages[0].0 };
            assert_eq!(settled, best, "{chain:?}");
        }
    }

    #[test]
    fn a_chain_ends_at_the_rate_that_is_nearly_sure() {
        let mut random = Stream::new(6, 0, "channel");
        let mut minstrel = minstrel(6);
        let success = |rate: usize| [100, 100, 100, 100, 95, 70, 60, 55, 0, 0, 0, 0][rate];
        let (_, now) = send(&mut minstrel, Instant::ZERO, Duration::from_secs(3), 8, success, &mut random);
        let mut chain = minstrel.chain(now, TO);
        if chain.is_probe {
            chain = minstrel.chain(now, TO);
        }
        let [first, second, sure] = chain.stages;
        assert!(first.0 != second.0 && (4..=7).contains(&first.0), "{chain:?}");
        assert_eq!(sure.0, 4, "{chain:?}");
        let tries = first.1 + second.1;
        assert_eq!([chain.rate(0), chain.rate(first.1), chain.rate(tries), chain.rate(99)], [first.0, second.0, 4, 4]);
    }

    #[test]
    fn nothing_is_known_of_a_new_neighbour() {
        let mut minstrel = minstrel(1);
        assert_eq!(minstrel.chain(Instant::ZERO, TO).rate(0), 0);
        assert_eq!(minstrel.success_percent(TO, 0), None);
        assert_eq!(minstrel.best(TO), None);
        minstrel.on_result(TO, 0, 4, 3);
        minstrel.on_result(Address(2), 0, 4, 3);
        minstrel.chain(Instant::ZERO + UPDATE, TO);
        assert_eq!((minstrel.success_percent(TO, 0), minstrel.success_percent(TO, 1)), (Some(75), None));
        assert_eq!((minstrel.best(TO), minstrel.best(Address(3))), (Some((0, 750)), None));
    }

    proptest! {
        #[test]
        fn averages_and_choices_are_those_of_the_definition(
            intervals in proptest::collection::vec(proptest::collection::vec((0u32..50, 0u32..50), 12), 1..12),
        ) {
            let mut minstrel = minstrel(1);
            let mut now = Instant::ZERO;
            minstrel.chain(now, TO);
            let mut average: Vec<Option<f64>> = vec![None; 12];
            for interval in intervals {
                for (rate, (sent, lost)) in interval.iter().enumerate() {
                    let ok = sent.saturating_sub(*lost);
                    minstrel.on_result(TO, rate, *sent, ok);
                    if *sent > 0 {
                        let share = f64::from(ok) / f64::from(*sent);
                        average[rate] = Some(average[rate].map_or(share, |past| 0.75 * past + 0.25 * share));
                    }
                }
                now += UPDATE;
                minstrel.chain(now, TO);
                for (rate, average) in average.iter().enumerate() {
                    let record = &minstrel.neighbours[&TO].records[rate];
                    let ours = record.probability.map(|p| f64::from(p) / f64::from(ONE));
                    match (ours, average) {
                        (Some(ours), Some(average)) => prop_assert!((ours - average).abs() < 1e-3, "{ours} {average}"),
                        (ours, average) => prop_assert_eq!(ours, *average),
                    }
                }
                let [best, _, sure] = minstrel.neighbours[&TO].chosen;
                let known = |rate: usize| average[rate].unwrap_or(0.0);
                prop_assert!(known(best) >= 0.099 || (0..12).all(|rate| known(rate) < 0.101));
                let most = (0..12).map(known).fold(0.0, f64::max);
                prop_assert!(known(sure) >= 0.749 || known(sure) > most - 1e-3);
            }
        }
    }

    /// As many as fit into a stage, within the limits.
    #[test]
    fn a_stage_has_as_many_tries_as_fit() {
        let of = |us: u64| {
            tries(&Candidate { overhead: Duration::from_micros(us / 4), mpdu: Duration::from_micros(us * 3 / 4) })
        };
        let stage = STAGE.as_nanos() / 1_000;
        for fit in TRIES.0..=TRIES.1 {
            // Whole quarters of a microsecond.
            let each = stage / u64::from(fit) / 4 * 4;
            assert_eq!(of(each), fit.max((stage / each) as u32).min(TRIES.1), "{fit} of {each} us");
        }
        assert_eq!((of(stage * 10), of(4)), (TRIES.0, TRIES.1));
    }
}
