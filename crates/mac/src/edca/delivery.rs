//! The part of what waits that a link takes, so that others have what they deliver before.
//!
//! ```text
//!   this link    |=====================|          its part, from now on
//!   another      . ready .|============|          what it can have delivered by then
//!   a slow one   . . . ready . . . . . |. .       nothing
//!                now                   T          all that waits has come
//! ```
//!
//! Together the links have delivered all that waits at the time `T` with `sum(speed (T - ready)) = all`, over those
//! that are ready before `T`. This link is ready now; where what it sends is lost at times, it counts as ready by as
//! much later as that comes. But an exchange has a cost beside its data: access, preamble and answer. For it a medium
//! is taken that others need, not least the answers of the layer above. So links share only if all comes earlier by
//! more than this; otherwise one has all, this one or those that deliver it before.

use airbraid_units::Duration;

/// A link as a way for what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// Time until it delivers.
    pub ready: Duration,
    /// \[bit/s\]
    pub speed: u64,
}

/// Bits times a second, in nanoseconds.
fn scale(bits: u64) -> u128 {
    u128::from(bits) * 1_000_000_000
}

/// Packets that wait: their bits, the mean of one, and of all the bits that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backlog {
    pub all: u64,
    pub one: u64,
    pub lost: u64,
}

/// The decision of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Bits that it takes.
    pub here: u64,
    /// Time until the others alone have delivered all; `None`: there are none.
    pub others: Option<Duration>,
}

/// Time \[ns\] until these ways, in the order of their readiness, have delivered all. A packet is not divided.
fn time(ways: &[Way], waiting: Backlog) -> u128 {
    let (mut bits, mut speeds) = (scale(waiting.all), 0);
    let mut one = u128::MAX;
    for way in ways {
        let (ready, speed) = (u128::from(way.ready.as_nanos()), u128::from(way.speed.max(1)));
        one = one.min(ready + scale(waiting.one) / speed);
        // All has come before it is ready.
        if ready * speeds < bits || speeds == 0 {
            (bits, speeds) = (bits + ready * speed, speeds + speed);
        }
    }
    bits.checked_div(speeds).map_or(u128::MAX, |all| all.max(one))
}

/// The part that this link takes of what waits; `cost` is the time of an exchange without its data.
pub(super) fn first_here(own: Way, cost: Duration, mut others: Vec<Way>, waiting: Backlog) -> Part {
    others.sort_unstable();
    let (alone, without) = (time(&[own], waiting), time(&others, waiting));
    let until = (!others.is_empty()).then(|| Duration::from_nanos(without.min(u128::from(u64::MAX)) as u64));
    others.insert(others.partition_point(|way| *way < own), own);
    let together = time(&others, waiting);
    let here = if alone.min(without) > together + u128::from(cost.as_nanos()) {
        let (ready, speed) = (u128::from(own.ready.as_nanos()), u128::from(own.speed));
        let share = (together.saturating_sub(ready) * speed / scale(1)) as u64;
        let is_before = time(&[own], Backlog { all: waiting.one, ..waiting }) <= without;
        let least = if is_before { waiting.one } else { 0 };
        if share < waiting.one { least } else { share }
    } else if alone <= without {
        waiting.all
    } else {
        0
    };
    Part { here, others: until }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in us, speeds in Mbit/s.
    fn way(&(ready, speed): &(u64, u64)) -> Way {
        Way { ready: Duration::from_micros(ready), speed: speed * 1_000_000 }
    }
    /// Packets that a link takes.
    fn takes(own: (u64, u64), cost: u64, others: &[(u64, u64)], all: u64) -> u64 {
        let cost = Duration::from_micros(cost);
        first_here(way(&own), cost, others.iter().map(way).collect(), backlog(all)).here / 1_000
    }
    /// Packets of 1000 bit.
    fn backlog(packets: u64) -> Backlog {
        Backlog { all: packets * 1_000, one: 1_000, lost: 0 }
    }

    #[test]
    fn links_that_are_ready_share_by_their_speeds() {
        assert_eq!(takes((0, 300), 0, &[(0, 100)], 400), 300);
        assert_eq!(takes((0, 100), 0, &[(0, 300)], 400), 100);
        assert_eq!(takes((0, 100), 0, &[(0, 100), (0, 200)], 400), 100);
    }

    #[test]
    fn a_slow_link_leaves_a_short_burst_to_a_fast_one() {
        // Ten take 100 us on the slow link; the fast one is ready after 20 us and takes 1 us each.
        assert_eq!(takes((0, 100), 0, &[(20, 1_000)], 10), 2);
        assert_eq!(takes((0, 1_000), 0, &[(20, 100)], 10), 10);
    }

    #[test]
    fn a_link_that_is_ready_too_late_gets_nothing() {
        assert_eq!(takes((0, 100), 0, &[(100, 1_000)], 10), 10);
        assert_eq!(takes((0, 100), 0, &[(99, 1_000), (5_000, 1_000)], 10), 9);
    }

    #[test]
    fn a_link_that_would_only_come_later_takes_nothing() {
        // One takes 10 us here, on the other link 1 us.
        assert_eq!([9, 8].map(|ready| takes((0, 100), 1, &[(ready, 1_000)], 1)), [1, 0]);
        assert_eq!(takes((0, 1), 1, &[], 10), 10, "there is no other");
    }

    #[test]
    fn a_link_whose_packets_come_late_takes_less() {
        // 400 take 200 us on both. By 40 us later: it sends in 180 us until all has come after 220.
        assert_eq!([0, 40].map(|late| takes((late, 1_000), 0, &[(0, 1_000)], 400)), [200, 180]);
        assert_eq!(takes((400, 1_000), 0, &[(0, 1_000)], 400), 0);
        assert_eq!(takes((400, 1_000), 0, &[(500, 1_000)], 20), 20, "the other one is worse");
    }

    /// Two links of 1 Gbit/s have 400 after 200 us, one after 400.
    #[test]
    fn links_share_what_is_worth_an_exchange_more() {
        assert_eq!([199, 200].map(|cost| takes((0, 1_000), cost, &[(0, 1_000)], 400)), [200, 400]);
        assert_eq!(takes((1, 1_000), 200, &[(0, 1_000)], 400), 0, "the other one has all before");
    }

    /// One packet goes by one of three like links, whichever has the medium first: two halves do not arrive before.
    #[test]
    fn a_packet_is_not_divided() {
        assert_eq!(takes((0, 1), 0, &[(100, 1), (100, 1)], 1), 1);
        assert_eq!(takes((0, 1), 0, &[(100, 1), (100, 1)], 2), 1, "two thirds of a packet each");
    }

    #[test]
    fn the_time_of_the_others_is_told() {
        let part = |others: &[(u64, u64)]| {
            first_here(way(&(0, 10)), Duration::ZERO, others.iter().map(way).collect(), backlog(10))
        };
        assert_eq!(part(&[(5, 1_000)]), Part { here: 0, others: Some(Duration::from_micros(15)) });
        assert_eq!(part(&[]), Part { here: 10_000, others: None });
    }
}
