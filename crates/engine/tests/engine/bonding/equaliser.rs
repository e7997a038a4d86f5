//! Senders of several kinds over a near link and a far one: each gets what its window allows, and no more delay.

use crate::bonding::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;

const MS: Duration = Duration::from_millis(1);
/// Length of each packet \[byte\].
const LEN: u64 = 1_400;
/// Time for which BBR has four packets under way while it measures, beside a round trip.
const MEASURES: Duration = Duration::from_millis(200);

/// A flow whose acknowledgements come back by the near link.
struct Flow {
    world: World,
    back: Duration,
    /// Departures of packets without acknowledgement, and the acknowledgements on their way.
    under_way: VecDeque<(u64, Instant)>,
    acknowledged_at: VecDeque<(u64, Instant)>,
    delivered: usize,
    /// The last delay of a packet.
    delay: Duration,
}

impl Flow {
    fn new(ways: &[Way]) -> Self {
        let mut world = World::new(usual(), ways, 1);
        world.run(MS * 2_000);
        let back = ways[0].delay;
        let (under_way, acknowledged_at) = (VecDeque::new(), VecDeque::new());
        Self { world, back, under_way, acknowledged_at, delivered: 0, delay: Duration::ZERO }
    }

    fn send(&mut self) {
        self.under_way.push_back((self.world.given[0], self.world.now));
        self.world.give(0, LEN, 0, TrafficClass::Bulk);
    }

    /// Lets so much time pass; returns the round trips of what is acknowledged in it.
    fn run(&mut self, span: Duration) -> Vec<Duration> {
        self.world.run(span);
        let now = self.world.now;
        let came = &self.world.delivered[0][self.delivered..];
        self.acknowledged_at.extend(came.iter().map(|token| (token.id, now + self.back)));
        self.delivered += came.len();
        let mut round_trips = vec![];
        while let Some((id, _)) = self.acknowledged_at.front().copied().filter(|(_, at)| *at <= now) {
            self.acknowledged_at.pop_front();
            // What was sent before and has not come was dropped: in order, it cannot come any more.
            while let Some((sent, at)) = self.under_way.pop_front() {
                if sent == id {
                    round_trips.push(now - at);
                    break;
                }
            }
        }
        self.delay = round_trips.last().map_or(self.delay, |rtt| *rtt - self.back);
        round_trips
    }

    /// Packets by the far link.
    fn far(&self) -> u64 {
        self.world.ends[0].status().members[1].data_bytes.as_u64() / LEN
    }
}

/// Rates of a sender with BBR's window, a second each \[Mbit/s\]: twice its greatest rate in ten round trips times its
/// shortest round trip, which it measures again each ten seconds.
fn bbr(ways: &[Way], seconds: u64) -> Vec<u64> {
    let mut flow = Flow::new(ways);
    let begin = flow.world.now;
    let mut shortest = Duration::from_secs(1);
    let (mut measured_at, mut measures_until) = (begin, None);
    let mut rates: VecDeque<(Instant, u64)> = VecDeque::new();
    let mut total: VecDeque<(Instant, usize)> = VecDeque::new();
    let mut result = vec![];
    let (mut last, mut credit) = (0, 0);
    while flow.world.now - begin < MS * 1_000 * seconds {
        let now = flow.world.now;
        let best = rates.iter().map(|(_, rate)| *rate).max().unwrap_or(0);
        if measures_until.is_none() && now - measured_at > MS * 10_000 {
            measures_until = Some(now + MEASURES + shortest);
            shortest = Duration::from_secs(1);
        }
        if measures_until.is_some_and(|until| now >= until) {
            (measured_at, measures_until) = (now, None);
        }
        let window = if measures_until.is_some() { 4 } else { (best * 2 * shortest.as_micros() / 1_000_000).max(10) };
        // It doubles each round trip at first; then a quarter more for one round trip in eight, and a quarter less.
        let eighths = match (now - begin).as_micros() / shortest.as_micros().max(1) % 8 {
            _ if now - begin < MS * 500 => 23,
            0 => 10,
            1 => 6,
            _ => 8,
        };
        credit = (credit + best * eighths * 1_000 / 8).min(100_000_000);
        while (flow.under_way.len() as u64) < window && (credit >= 1_000_000 || best == 0) {
            credit = credit.saturating_sub(1_000_000);
            flow.send();
        }
        for rtt in flow.run(MS) {
            shortest = shortest.min(rtt);
        }
        // Its rate: what was delivered in the last round trip, ten times.
        total.push_back((now, flow.delivered));
        let span = shortest.max(MS * 10).min(Duration::from_secs(1));
        while total.get(1).is_some_and(|(at, _)| now - *at >= span) {
            total.pop_front();
        }
        if let Some((at, before)) = total.front().filter(|(at, _)| now - *at >= span) {
            rates.push_back((now, (flow.delivered - before) as u64 * 1_000_000 / (now - *at).as_micros()));
        }
        while rates.front().is_some_and(|(at, _)| now - *at > span * 10) {
            rates.pop_front();
        }
        if (flow.world.now - begin).as_micros().is_multiple_of(1_000_000) {
            result.push((flow.delivered - last) as u64 * LEN * 8 / 1_000_000);
            last = flow.delivered;
        }
    }
    flow.world.check_order();
    result
}

#[test]
fn a_sender_with_twice_its_shortest_round_trip_gets_both_after_it_has_measured() {
    let rates = bbr(&[Way::new(100, MS * 5, 0), Way::new(100, MS * 80, 0)], 26);
    assert!(rates[2..9].iter().all(|rate| *rate > 85), "the near link before: {rates:?}");
    assert!(rates[21..].iter().all(|rate| *rate > 160), "both: {rates:?}");
}

/// Longest delay of a packet \[ms\] and packets by the far link, at a constant rate over a near link of 20 Mbit/s and a
/// far one of 10, 50 ms behind.
fn constant(kbps: u64) -> (u64, u64) {
    let mut flow = Flow::new(&[Way::new(20, MS * 10, 0), Way::new(10, MS * 60, 0)]);
    let mut longest = Duration::ZERO;
    for _ in 0..30 * kbps * 1_000 / 8 / LEN {
        flow.send();
        flow.run(Duration::from_micros(LEN * 8_000 / kbps));
        longest = longest.max(flow.delay);
    }
    (longest.as_micros() / 1_000, flow.far())
}

#[test]
fn a_constant_rate_that_leaves_the_near_link_room_never_waits_for_the_far_one() {
    for kbps in [2_000, 10_000, 16_000] {
        let (longest, far) = constant(kbps);
        assert!(longest <= 25 && far == 0, "{kbps} kbit/s: {longest} ms, {far} by the far link");
    }
}

/// Delays \[ms\] of packets that come one by one after a flow of `kbps`, of three seconds, has been silent.
fn delays_after(kbps: u64, silence: u64) -> Vec<u64> {
    let mut flow = Flow::new(&[Way::new(20, MS * 10, 0), Way::new(10, MS * 60, 0)]);
    for _ in 0..3 * kbps * 1_000 / 8 / LEN {
        flow.send();
        flow.run(Duration::from_micros(LEN * 8_000 / kbps));
    }
    flow.run(MS * silence);
    let mut delay = || {
        let (begin, delivered) = (flow.world.now, flow.delivered);
        flow.send();
        while flow.delivered == delivered {
            flow.run(MS);
        }
        (flow.world.now - begin).as_micros() / 1_000
    };
    (0..4).map(|_| delay()).collect()
}

/// The end of a transfer is as fast as its begin, whatever it has filled.
#[test]
fn the_last_packets_of_a_flow_have_the_near_links_delay() {
    for (kbps, silence) in [(27_000, 150), (27_000, 2_600), (16_000, 150)] {
        let after = delays_after(kbps, silence);
        assert!(after.iter().all(|delay| (10..=12).contains(delay)), "{kbps} kbit/s, then {silence} ms: {after:?}");
    }
}
