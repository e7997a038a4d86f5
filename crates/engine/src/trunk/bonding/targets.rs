//! The time that a flow's packets may wait in the queue before the flow is told to slow down.
//!
//! A slower member `j` serves a flow of which enough waits that the faster members, of rate `R`, carry until a packet
//! arrives by `j`. That costs the flow a delay `D_j` once, and gains it the rate `r_j`. A flow that has sent `n` byte
//! will send about as much again, as sizes of transfers are heavy-tailed; so the delay is worth it from
//! `n / R - n / (R + r_j) = D_j` on. Then the flow may wait for `D_j`. Of `k` flows each has a `k`-th of the rates, so
//! that `n / k` byte last as long.
//!
//! Beside that it may wait for what keeps the members busy while its sender goes back after a loss. That is an amount
//! of data, not a time: where rates fall and come back within seconds, as on radio links, a sender that was told to
//! slow down would find them again too late. So it is reckoned at the best rate of the last 10 to 20 s, and is a
//! longer time while they carry less.

use super::frame::MEMBERS_MAX;
use airbraid_units::Duration;
use arrayvec::ArrayVec;

/// Longest wait for an amount of data \[us\]: a day, of which multiples can be counted. Rates may fall a millionfold.
const LONGEST_US: u64 = 86_400_000_000;

/// A member that serves a flow.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Arrival of a packet by it \[us\], by a clock that all members share.
    pub arrival_us: i64,
    /// Its rate \[bit/s\].
    pub rate: u64,
    /// Its round trip, which leads back over the fastest member, with the blocking of its losses \[us\].
    pub rtt_us: u64,
}

/// The terms of a flow that has sent so much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Bytes from which on they hold.
    pub from: u64,
    /// Time that a packet may wait before the flow is told to slow down.
    pub target: Duration,
    /// Time by which the slowest member that is worth its delay is later than the fastest.
    pub later: Duration,
    /// Rate of the members that are faster \[bit/s\].
    pub faster: u64,
    /// Rate of the slowest \[bit/s\].
    pub rate: u64,
    /// Longest round trip of a flow that uses them all: a delay must last that long to be acted on.
    pub rtt: Duration,
}

impl Step {
    /// Rate of all members of the flow \[bit/s\].
    pub const fn all(&self) -> u64 {
        self.faster + self.rate
    }
}

/// The terms of flows, by what they have sent.
#[derive(Clone, Debug)]
pub struct Targets {
    /// In order of bytes and of targets.
    steps: ArrayVec<Step, MEMBERS_MAX>,
    /// The members in the order in which a packet arrives by them: later than by the first \[us\], and rate \[bit/s\].
    members: ArrayVec<(u64, u64), MEMBERS_MAX>,
}

impl Targets {
    /// Members are unknown: each flow may wait for `base`.
    pub fn new(base: Duration) -> Self {
        let mut steps = ArrayVec::new();
        steps.push(Step { target: base, ..Step::default() });
        Self { steps, members: ArrayVec::new() }
    }

    /// The terms of a flow that has sent `sent` byte since its last pause, as one of `flows` with waiting packets.
    pub fn of(&self, sent: u64, flows: u64) -> &Step {
        let reached = self.reached(sent, flows).len();
        &self.steps[reached - 1]
    }

    /// The same with those of all flows that have sent less; there is at least one.
    pub fn reached(&self, sent: u64, flows: u64) -> &[Step] {
        // With its part of the rates the same bytes last longer by their number.
        let reached = self.steps.partition_point(|step| step.from <= sent.saturating_mul(flows));
        &self.steps[..reached.max(1)]
    }

    /// The longest target.
    pub fn longest(&self) -> Duration {
        self.steps.last().map_or(Duration::ZERO, |step| step.target)
    }

    /// Time after which the last of `bytes` that wait has left; zero if no member is known. A member takes part while
    /// more waits than the faster ones carry until a packet arrives by it.
    pub fn time_for(&self, bytes: u64) -> Duration {
        let (mut left, mut after_us, mut rate) = (bytes.saturating_mul(8_000_000), 0, 0u64);
        for &(later_us, of_member) in &self.members {
            let carried = rate.saturating_mul(later_us - after_us);
            if left <= carried {
                break;
            }
            (left, after_us, rate) = (left - carried, later_us, rate + of_member);
        }
        Duration::from_micros(left.checked_div(rate).map_or(0, |us| after_us + us))
    }

    /// Members have changed; `best` is the greatest sum of their rates within 10 to 20 s \[bit/s\].
    pub fn set(&mut self, base: Duration, best: u64, servers: &mut ArrayVec<Server, MEMBERS_MAX>) {
        servers.sort_unstable_by_key(|server| (server.arrival_us, server.rate));
        let Some(first) = servers.first().copied() else { return *self = Self::new(base) };
        let all = servers.iter().map(|server| server.rate).sum::<u64>().max(1);
        let longer = |wait_us: u64| {
            let us = u128::from(wait_us) * u128::from(best.max(all)) / u128::from(all);
            Duration::from_micros(us.min(u128::from(LONGEST_US)) as u64)
        };
        let mut faster = 0u64;
        let mut steps: ArrayVec<Step, MEMBERS_MAX> = ArrayVec::new();
        self.members.clear();
        for server in servers.iter() {
            let later_us = (server.arrival_us - first.arrival_us) as u64;
            let rate = server.rate.max(1);
            let from =
                u128::from(later_us) * u128::from(faster) / 8_000_000 * u128::from(faster + rate) / u128::from(rate);
            // A round trip: BBR has one more under way, and CUBIC, which goes back to 0.7 of its window (RFC 9438),
            // keeps the links busy then.
            let later = Duration::from_micros(later_us);
            self.members.push((later_us, rate));
            steps.push(Step {
                from: u64::try_from(from).unwrap_or(u64::MAX),
                target: later + longer(base.as_micros() + server.rtt_us),
                later,
                faster,
                rate,
                rtt: base + Duration::from_micros(server.rtt_us),
            });
            faster += rate;
        }
        steps.sort_unstable();
        self.steps.clear();
        for step in steps {
            if self.steps.is_empty() || step.target > self.longest() {
                self.steps.push(step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: Duration = Duration::from_millis(5);

    /// Bytes after which a flow may wait for a server that is `later_us` behind the first: servers of `faster` bit/s
    /// alone take so much longer for them than together with its `rate`.
    fn worth_from(later_us: u128, faster: u128, rate: u128) -> u128 {
        later_us * faster * (faster + rate) / (8_000_000 * rate)
    }

    fn known(servers: &[(u32, u32, u32)]) -> Vec<Server> {
        let server = |&(arrival_us, kbps, rtt_us): &(u32, u32, u32)| Server {
            arrival_us: arrival_us.into(),
            rate: u64::from(kbps) * 1_000,
            rtt_us: rtt_us.into(),
        };
        servers.iter().map(server).collect()
    }

    proptest! {
        #[test]
        fn a_flow_may_wait_for_what_is_worth_its_delay(
            servers in prop::collection::vec((0u32..500_000, 50u32..2_000_000, 100u32..900_000), 1..MEMBERS_MAX),
            sent in prop_oneof![0u64..1_000_000, 0u64..10_000_000_000],
        ) {
            let mut servers = known(&servers);
            let mut targets = Targets::new(BASE);
            targets.set(BASE, 0, &mut servers.iter().copied().collect());
            servers.sort_by_key(|server| (server.arrival_us, server.rate));
            let target = targets.of(sent, 1).target;
            let mut faster = 0;
            // What the naive sum allows; it may be off by a byte where integers round.
            let (mut surely, mut perhaps) = (Duration::ZERO, Duration::ZERO);
            for server in &servers {
                let later_us = (server.arrival_us - servers[0].arrival_us) as u64;
                let (sent, rate) = (u128::from(sent), u128::from(server.rate));
                let from = worth_from(later_us.into(), faster, rate);
                let wait = BASE + Duration::from_micros(later_us + server.rtt_us);
                let slack = 3 + (faster + rate) / rate;
                if from <= sent + slack {
                    perhaps = perhaps.max(wait);
                }
                if from + slack <= sent || later_us == 0 {
                    surely = surely.max(wait);
                }
                faster += rate;
            }
            prop_assert!(surely <= target && target <= perhaps, "{surely} <= {target} <= {perhaps}");
            prop_assert!(target <= targets.longest());
        }
    }

    #[test]
    fn who_has_sent_more_may_wait_as_long_or_longer() {
        let mut targets = Targets::new(BASE);
        let servers = known(&[(1_000, 100_000, 10_000), (40_000, 100_000, 80_000), (300_000, 1_000, 600_000)]);
        targets.set(BASE, 0, &mut servers.into_iter().collect());
        // 39 ms later: 39 ms * 12.5 Mbyte/s * 2.
        assert_eq!(targets.of(974_999, 1).later, Duration::ZERO);
        assert_eq!(targets.of(975_000, 1).later, Duration::from_micros(39_000));
        assert_eq!(targets.of(975_000, 1).faster, 100_000_000);
        // As one of three flows it lasts three times as long.
        assert_eq!([324_999, 325_000].map(|sent| targets.of(sent, 3).later.as_micros()), [0, 39_000]);
        // 299 ms for 1 Mbit/s beside 200: 299 ms * 25 Mbyte/s * 201.
        assert_eq!(targets.of(1_502_474_999, 1).later, Duration::from_micros(39_000));
        assert_eq!(targets.of(1_502_475_000, 1).later, Duration::from_micros(299_000));
    }

    /// Serves in steps of a microsecond, each time by the members that would deliver the last byte sooner. A byte is
    /// eight million parts, of which a member of one bit a second carries one in a microsecond.
    fn counted(servers: &[Server], bytes: u64) -> u64 {
        let (mut left, mut us) = (i128::from(bytes) * 8_000_000, 0);
        while left > 0 {
            let ahead = |later: &Server| {
                let lead = |one: &Server| i128::from(one.rate) * i128::from((later.arrival_us - one.arrival_us).max(0));
                servers.iter().map(lead).sum::<i128>()
            };
            let takes = |one: &&Server| left > ahead(one);
            left -= servers.iter().filter(takes).map(|one| i128::from(one.rate)).sum::<i128>();
            us += 1;
        }
        us
    }

    proptest! {
        #[test]
        fn what_waits_lasts_as_long_as_it_takes_the_members_that_take_part(
            servers in prop::collection::vec((0u32..20_000, 1_000u32..100_000, 0u32..1), 1..5),
            bytes in 0u64..200_000,
        ) {
            let servers = known(&servers);
            let mut targets = Targets::new(BASE);
            targets.set(BASE, 0, &mut servers.iter().copied().collect());
            let (lasts, counted) = (targets.time_for(bytes).as_micros(), counted(&servers, bytes));
            // A step too many of all members takes the slowest as many more.
            let all: u64 = servers.iter().map(|server| server.rate).sum();
            let slack = 2 + servers.len() as u64 * all / servers.iter().map(|server| server.rate).min().unwrap();
            prop_assert!(lasts.abs_diff(counted) <= slack, "{lasts} {counted}");
        }
    }

    #[test]
    fn members_of_one_delay_share_what_waits_and_a_later_one_takes_what_is_beyond_its_lead() {
        let mut targets = Targets::new(BASE);
        assert_eq!(targets.time_for(1_000), Duration::ZERO, "none is known");
        let servers = [(1_000, 8_000, 0), (1_000, 8_000, 0), (11_000, 16_000, 0)];
        targets.set(BASE, 0, &mut known(&servers).into_iter().collect());
        // 2 byte a microsecond, and from 10 ms on, of which they carry 20,000 byte, 4.
        assert_eq!([2_000, 20_000, 24_000].map(|bytes| targets.time_for(bytes).as_micros()), [1_000, 10_000, 11_000]);
    }

    #[test]
    fn a_rate_that_falls_a_millionfold_leaves_a_wait_that_can_be_counted() {
        let (mut targets, hour) = (Targets::new(BASE), Duration::from_secs(3_600));
        targets.set(hour, 100_000_000_000, &mut known(&[(0, 16, 1_000)]).into_iter().collect());
        assert_eq!(targets.longest(), Duration::from_micros(LONGEST_US));
    }

    #[test]
    fn without_members_each_flow_has_the_base() {
        let mut targets = Targets::new(BASE);
        targets.set(BASE, 0, &mut known(&[(0, 1_000, 10_000)]).into_iter().collect());
        assert!(targets.longest() > BASE);
        targets.set(BASE, 0, &mut ArrayVec::new());
        assert_eq!((targets.longest(), targets.of(u64::MAX, 1).target), (BASE, BASE));
    }
}
