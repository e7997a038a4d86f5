//! A link to the nanosecond: rate, delay, queue, jitter, loss, and that every packet is accounted for.

use airbraid_engine::{Machine, Packet, step};
use airbraid_net::link::{DropReason, Link, LinkConfig, LinkInput, LinkOutput};
use airbraid_net::loss::Loss;
use airbraid_units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;

/// Not `Clone`, like the daemon's.
#[derive(Debug, PartialEq)]
struct Numbered(u32, u64);

impl Packet for Numbered {
    fn len(&self) -> Bytes {
        Bytes::new(self.1)
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

type Event = (u64, u32, Option<DropReason>);

fn plain() -> LinkConfig {
    LinkConfig {
        rate: Some(BitRate::from_kbps(8_000)),
        delay: Duration::from_millis(5),
        jitter: Duration::ZERO,
        reorder: false,
        queue_limit: 2,
        mtu: None,
        loss: Loss::None,
    }
}

/// Runs a link over timed inputs, ascending; returns the outputs with their times \[us\].
fn run(config: LinkConfig, seed: u64, inputs: Vec<(u64, LinkInput<Numbered>)>) -> Vec<Event> {
    let mut link = Link::new(config, seed, 0).unwrap();
    let mut events = Vec::new();
    let mut inputs = inputs.into_iter().peekable();
    loop {
        let wake = link.poll_timeout().map(|wake| wake.at);
        let input = inputs.peek().map(|(us, _)| Instant::ZERO + Duration::from_micros(*us));
        let Some(now) = wake.into_iter().chain(input).min() else { break };
        let input = if wake == Some(now) { None } else { inputs.next().map(|(_, input)| input) };
        step(&mut link, now, input, |output| {
            let us = now.as_nanos() / 1_000;
            events.push(match output {
                LinkOutput::Deliver(packet) => (us, packet.0, None),
                LinkOutput::Dropped(packet, reason) => (us, packet.0, Some(reason)),
            });
        });
        let stats = link.stats();
        let gone = stats.delivered + stats.dropped_queue + stats.dropped_loss + stats.dropped_down + stats.dropped_long;
        assert_eq!(stats.offered, gone + link.in_flight() as u64);
    }
    events
}

fn burst(n: u32, at_us: u64) -> Vec<(u64, LinkInput<Numbered>)> {
    (0..n).map(|i| (at_us, LinkInput::Packet(Numbered(i, 1_000)))).collect()
}

#[test]
fn what_is_longer_than_the_mtu_vanishes_and_takes_no_time() {
    let inputs = |len: u64| vec![(0, LinkInput::Packet(Numbered(0, len))), (0, LinkInput::Packet(Numbered(1, 1_000)))];
    let narrow = LinkConfig { mtu: Some(Bytes::new(1_300)), ..plain() };
    assert_eq!(run(narrow.clone(), 1, inputs(1_301)), [(0, 0, Some(DropReason::TooLong)), (6_000, 1, None)]);
    assert_eq!(run(narrow, 1, inputs(1_300)), [(6_300, 0, None), (7_300, 1, None)]);
}

#[test]
fn rate_delay_and_queue_are_exact() {
    // 8000 bit at 8 Mbit/s: 1 ms each. One in service, two waiting, the fourth and fifth find no room.
    let events = run(plain(), 0, burst(5, 0));
    let full = Some(DropReason::QueueFull);
    assert_eq!(events, [(0, 3, full), (0, 4, full), (6_000, 0, None), (7_000, 1, None), (8_000, 2, None)]);
}

#[test]
fn a_new_rate_counts_for_what_waits_and_not_for_what_is_being_sent() {
    let mut inputs = burst(3, 0);
    let half = LinkConfig { rate: Some(BitRate::from_kbps(4_000)), ..plain() };
    inputs.push((500, LinkInput::SetConfig(half)));
    // The first takes its 1 ms all the same, the others 2 ms each.
    assert_eq!(run(plain(), 0, inputs), [(6_000, 0, None), (8_000, 1, None), (10_000, 2, None)]);
}

#[test]
fn room_comes_when_serialisation_ends_not_when_the_packet_arrives() {
    let mut inputs = burst(3, 0);
    inputs.push((999, LinkInput::Packet(Numbered(7, 1_000))));
    inputs.push((1_000, LinkInput::Packet(Numbered(8, 1_000))));
    let events = run(plain(), 0, inputs);
    assert_eq!(events[0], (999, 7, Some(DropReason::QueueFull)));
    assert_eq!(events[4], (9_000, 8, None));
}

#[test]
fn a_link_tells_its_rate() {
    let mut link: Link<Numbered> = Link::new(plain(), 0, 0).unwrap();
    assert_eq!(link.rate(), Some(BitRate::from_kbps(8_000)));
    step(&mut link, Instant::ZERO, Some(LinkInput::SetConfig(LinkConfig { rate: None, ..plain() })), |_| {});
    assert_eq!(link.rate(), None);
}

#[test]
fn a_watched_queue_wakes_when_room_comes() {
    let mut link = Link::new(plain(), 0, 0).unwrap();
    link.watch_queue();
    let mut wake = None;
    for (_, input) in burst(3, 0) {
        wake = step(&mut link, Instant::ZERO, Some(input), |_| {});
    }
    let mut seen = Vec::new();
    while let Some(due) = wake {
        wake = step(&mut link, due.at, None, |_| {});
        seen.push((due.at.as_nanos() / 1_000, due.why, link.queue_len()));
    }
    let expected = [
        (1_000, "link.service", 1),
        (2_000, "link.service", 0),
        (6_000, "link.arrival", 0),
        (7_000, "link.arrival", 0),
        (8_000, "link.arrival", 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn without_rate_and_delay_a_packet_passes_at_once() {
    let config = LinkConfig { rate: None, delay: Duration::ZERO, queue_limit: 0, ..plain() };
    assert_eq!(run(config, 0, burst(3, 7)), [(7, 0, None), (7, 1, None), (7, 2, None)]);
}

#[test]
fn going_down_drops_what_is_held_and_what_comes() {
    let mut inputs = burst(3, 0);
    inputs.push((1_500, LinkInput::SetUp(false)));
    inputs.push((1_600, LinkInput::Packet(Numbered(7, 1_000))));
    inputs.push((2_000, LinkInput::SetUp(true)));
    inputs.push((2_000, LinkInput::Packet(Numbered(8, 1_000))));
    let down = Some(DropReason::LinkDown);
    let events = run(plain(), 0, inputs);
    assert_eq!(events, [(1_500, 0, down), (1_500, 1, down), (1_500, 2, down), (1_600, 7, down), (8_000, 8, None)]);
}

#[test]
fn new_parameters_count_from_the_next_serialisation_on() {
    let mut inputs = burst(2, 0);
    let faster = LinkConfig { rate: Some(BitRate::from_kbps(80_000)), ..plain() };
    inputs.push((500, LinkInput::SetConfig(faster)));
    assert_eq!(run(plain(), 0, inputs), [(6_000, 0, None), (6_100, 1, None)]);
}

#[test]
fn a_trace_loses_its_packets_and_gives_them_back() {
    let config = LinkConfig { loss: Loss::Trace(vec![false, true]), queue_limit: 9, ..plain() };
    let lost = Some(DropReason::Loss);
    assert_eq!(run(config, 0, burst(4, 0)), [(6_000, 0, None), (7_000, 1, lost), (8_000, 2, None), (9_000, 3, lost)]);
}

#[test]
fn jitter_keeps_the_order_unless_told_otherwise() {
    let config = LinkConfig { jitter: Duration::from_millis(10), queue_limit: 500, ..plain() };
    let ordered = run(config.clone(), 3, burst(400, 0));
    assert!(ordered.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0 <= pair[1].0));
    let shuffled = run(LinkConfig { reorder: true, ..config }, 3, burst(400, 0));
    assert!(shuffled.windows(2).all(|pair| pair[0].0 <= pair[1].0), "time never runs backwards");
    assert!(shuffled.windows(2).any(|pair| pair[0].1 > pair[1].1));
    let late = |event: &Event| event.0 - (6_000 + 1_000 * u64::from(event.1));
    let mean = shuffled.iter().map(late).sum::<u64>() as f64 / 400.0;
    assert!(shuffled.iter().all(|event| late(event) <= 10_000));
    // Uniform over 10 ms: mean 5 ms, standard deviation of the mean 0.144 ms; four of them.
    assert!((mean - 5_000.0).abs() < 600.0, "{mean}");
}

#[test]
fn a_seed_loses_the_same_packets_whatever_their_timing() {
    let lossy = LinkConfig { loss: Loss::Bernoulli(Probability::new(0.3).unwrap()), queue_limit: 500, ..plain() };
    let lost = |config: LinkConfig, seed| {
        let mut lost: Vec<_> =
            run(config, seed, burst(300, 0)).into_iter().filter(|e| e.2.is_some()).map(|e| e.1).collect();
        lost.sort_unstable();
        lost
    };
    let jittery = LinkConfig { jitter: Duration::from_millis(3), reorder: true, rate: None, ..lossy.clone() };
    assert_eq!(lost(lossy.clone(), 1), lost(jittery, 1));
    assert_ne!(lost(lossy.clone(), 1), lost(lossy, 2));
}

#[test]
fn what_cannot_work_is_refused() {
    let stopped = LinkConfig { rate: Some(BitRate::from_bps(0)), ..plain() };
    assert_eq!(Link::<Numbered>::new(stopped, 0, 0).unwrap_err().to_string(), "`rate` must be more than zero");
    let empty = LinkConfig { loss: Loss::Trace(Vec::new()), ..plain() };
    assert_eq!(Link::<Numbered>::new(empty.clone(), 0, 0).unwrap_err().parameter, "loss");
    // A running link ignores them.
    let mut inputs = vec![(0, LinkInput::SetConfig(empty))];
    inputs.extend(burst(1, 1));
    assert_eq!(run(plain(), 0, inputs), [(6_001, 0, None)]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Against a link that is computed packet by packet.
    #[test]
    fn equals_the_naive_queue(arrivals in prop::collection::vec((0u64..3_000, 1u64..2_000), 1..80), limit in 0u32..6) {
        let config = LinkConfig { queue_limit: limit, ..plain() };
        let (mut now, mut inputs, mut expected) = (0, Vec::new(), Vec::new());
        let mut starts: Vec<u64> = Vec::new();
        let mut free = 0;
        for (i, (gap, len)) in arrivals.into_iter().enumerate() {
            now += gap;
            inputs.push((now, LinkInput::Packet(Numbered(i as u32, len))));
            if starts.iter().filter(|&&start| start > now).count() >= limit as usize && free > now {
                expected.push((now, i as u32, Some(DropReason::QueueFull)));
                continue;
            }
            let start = free.max(now);
            starts.push(start);
            // One microsecond a byte.
            free = start + len;
            expected.push((free + 5_000, i as u32, None));
        }
        expected.sort_by_key(|event| (event.0, event.1));
        let mut events = run(config, 0, inputs);
        events.sort_by_key(|event| (event.0, event.1));
        prop_assert_eq!(events, expected);
    }
}
