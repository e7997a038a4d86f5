//! The turns, limits and leads of the queue beside packets counted by hand.

use super::super::targets::Server;
use super::*;
use airbraid_units::Bytes;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);
const TARGET: Duration = Duration::from_millis(30);

/// Length of an acknowledgement.
const ACKNOWLEDGEMENT: u64 = 52;

/// A packet of a flow, of this length; whether it can be marked.
#[derive(Debug, PartialEq)]
struct Of(u16, u64, bool);

impl Packet for Of {
    fn len(&self) -> Bytes {
        Bytes::new(self.1)
    }
    fn flow_bucket(&self) -> u16 {
        self.0
    }
    fn can_be_marked(&self) -> bool {
        self.2
    }
    fn is_acknowledgement(&self) -> bool {
        self.1 == ACKNOWLEDGEMENT
    }
    fn supersedes(&self, _: &Self) -> bool {
        !self.2
    }
}

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A queue with as many packets of a length in each flow as is said, and room for 100.
fn with(flows: &[(u16, usize, u64)]) -> Queue<Of> {
    let mut queue = Queue::new(100, TARGET);
    for &(bucket, packets, len) in flows {
        (0..packets).for_each(|_| assert!(queue.add(at(0), Of(bucket, len, false)).0.is_none()));
    }
    queue
}

/// Takes packets; returns their flows and numbers there.
fn take(queue: &mut Queue<Of>, packets: usize, lead: Lead) -> Vec<(u16, u32)> {
    let taken = (0..packets).filter_map(|_| queue.take(at(0), 0, lead));
    taken.map(|waiting| (waiting.place.bucket, waiting.place.number)).collect()
}

#[test]
fn flows_take_turns_of_a_full_packet() {
    let mut queue = with(&[(1, 2, 1_514), (2, 4, 757)]);
    assert_eq!(take(&mut queue, 6, Lead::default()), [(1, 0), (2, 0), (2, 1), (1, 1), (2, 2), (2, 3)]);
    assert!(queue.is_empty() && queue.bytes() == 0 && queue.occupied() == 0);
}

#[test]
fn a_flow_that_has_just_begun_goes_before_the_others_once() {
    let mut queue = with(&[(1, 4, 1_514)]);
    assert_eq!(take(&mut queue, 1, Lead::default()), [(1, 0)]);
    queue.add(at(0), Of(2, 1_514, false));
    queue.add(at(0), Of(2, 1_514, false));
    assert_eq!(queue.next(at(0), 0).map(|packet| packet.0), Some(2));
    assert_eq!(take(&mut queue, 4, Lead::default()), [(2, 0), (1, 1), (2, 1), (1, 2)]);
}

#[test]
fn a_full_queue_takes_from_the_longest_flow_and_its_next_packet_has_that_number() {
    let mut queue = Queue::new(3, TARGET);
    for len in [400, 500, 600] {
        assert_eq!(queue.add(at(0), Of(1, len, false)).0.map(|(_, why)| why), None);
    }
    let (refused, mark) = queue.add(at(0), Of(2, 100, false));
    assert_eq!((refused.map(|(packet, why)| (packet.1, why)), mark), (Some((600, Refused::Full)), false));
    assert_eq!((queue.len(), queue.bytes(), queue.occupied()), (3, 1_000, 1_000 + 3 * ENTRY));
    assert_eq!(take(&mut queue, 2, Lead::default()), [(1, 0), (1, 1)]);
    queue.add(at(0), Of(1, 700, false));
    assert_eq!(take(&mut queue, 2, Lead::default()), [(1, 2), (2, 0)], "the turn of the first is not over");
}

#[test]
fn an_acknowledgement_takes_the_place_of_the_last_one_where_more_wait_than_leave_in_2_ms_and_it_tells_no_less() {
    // The nearer of two members carries two acknowledgements in 2 ms.
    let server = |arrival_us, rate| Server { arrival_us, rate, rtt_us: 0 };
    let mut queue = with(&[(1, 1, 1_514)]);
    queue.targets.set(TARGET, 0, &mut [server(0, 416_000), server(9_000, 8_000_000)].into_iter().collect());
    let ack = |flow, is_other| Of(flow, ACKNOWLEDGEMENT, is_other);
    let superseded = Some((ack(1, false), Refused::Superseded));
    // Data is no acknowledgement.
    assert_eq!(queue.add(at(0), ack(1, false)).0, None);
    assert_eq!(queue.add(at(0), ack(1, false)).0, superseded);
    assert_eq!(take(&mut queue, 2, Lead::default()), [(1, 0), (1, 1)]);
    // Three wait, however fast they came.
    assert!([(); 3].iter().all(|()| queue.add(at(0), ack(1, false)).0.is_none()));
    let (len, bytes, occupied) = (queue.len(), queue.bytes(), queue.occupied());
    assert_eq!(queue.add(at(0), ack(1, false)).0, superseded);
    assert_eq!((queue.len(), queue.bytes(), queue.occupied()), (len, bytes, occupied));
    // It tells something else, or is that of another flow.
    assert_eq!(queue.add(at(0), ack(1, true)).0, None);
    assert_eq!(queue.add(at(0), ack(2, false)).0, None);
    // As one of two flows that one has half of the rate.
    assert_eq!(queue.add(at(0), ack(2, false)).0, None);
    assert_eq!(queue.add(at(0), ack(2, false)).0.map(|(_, why)| why), Some(Refused::Superseded));
    let numbers = take(&mut queue, 9, Lead::default());
    assert_eq!(numbers, [(2, 0), (2, 1), (1, 2), (1, 3), (1, 4), (1, 5)]);
}

#[test]
fn where_no_rate_is_known_every_acknowledgement_waits() {
    let mut queue = with(&[(1, 9, ACKNOWLEDGEMENT)]);
    assert_eq!(queue.add(at(9), Of(1, ACKNOWLEDGEMENT, false)).0, None);
}

#[test]
fn a_limit_in_bytes_holds_from_the_packet_after_the_one_that_exceeds_it() {
    let mut queue = with(&[(1, 2, 500)]);
    queue.set_limit(1_000);
    assert!(queue.add(at(0), Of(1, 500, false)).0.is_none());
    assert_eq!(queue.add(at(0), Of(2, 500, false)).0.map(|(packet, _)| packet.0), Some(1));
    assert_eq!(queue.bytes(), 1_500);
}

#[test]
fn a_slower_member_takes_the_packet_that_the_faster_ones_would_reach_when_it_arrives() {
    let lead = |bytes| Lead { bytes, later: MS };
    let index = |bytes| take(&mut with(&[(1, 10, 1_000)]), 1, lead(bytes));
    assert_eq!([0, 1, 1_000, 1_001, 9_000].map(index), [0, 1, 1, 2, 9].map(|number| vec![(1, number)]));
    assert_eq!(index(9_001), [], "they would reach all of them before");
    // Two flows share the lead.
    let mut queue = with(&[(1, 3, 1_000), (2, 10, 1_000)]);
    assert_eq!(take(&mut queue, 2, lead(8_000)), [(2, 4), (2, 5)]);
    assert_eq!(queue.len(), 11);
}

proptest! {
    #[test]
    fn of_many_flows_it_takes_the_packet_that_the_faster_ones_would_take_then(
        flows in 1u16..80,
        packets in 1usize..6,
        ahead in 1usize..500,
    ) {
        let waiting: Vec<_> = (0..flows).map(|flow| (flow, packets, PACKET)).collect();
        let queue = || {
            let mut queue = Queue::new(1_000, TARGET);
            for &(bucket, packets, len) in &waiting {
                (0..packets).for_each(|_| assert!(queue.add(at(0), Of(bucket, len, false)).0.is_none()));
            }
            queue
        };
        let lead = Lead { bytes: (ahead as u64) * PACKET, later: MS };
        let by_the_faster = take(&mut queue(), ahead + 1, Lead::default());
        let by_the_slower = take(&mut queue(), 1, lead);
        prop_assert_eq!(by_the_slower.first(), by_the_faster.get(ahead));
    }
}

#[test]
fn each_of_200_flows_has_a_bucket_of_its_own_and_keeps_it() {
    let mut queue = Queue::new(1_000, TARGET);
    let flows: Vec<u16> = (1..=200u16).map(|flow| flow.wrapping_mul(40_503)).collect();
    let mut places = || -> Vec<u16> {
        for &flow in &flows {
            queue.add(at(0), Of(flow, 1_000, false));
        }
        flows.iter().map(|&flow| queue.bucket(at(0), &Of(flow, 52, false))).collect()
    };
    let first = places();
    let distinct: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!((distinct.len(), places()), (200, first.clone()));
}

#[test]
fn a_flow_whose_buckets_are_all_taken_shares_its_own_until_one_is_free() {
    let mut queue = Queue::new(100, TARGET);
    // All are open to the same eight, and the first of them is the own one of all.
    let place = |queue: &Queue<Of>, ms: u64, flow: u16| queue.bucket(at(ms), &Of(3 + flow * BUCKETS, 1, false));
    for flow in 0..8 {
        assert_eq!(place(&queue, 0, flow), 3 + flow * (BUCKETS / WAYS));
        queue.add(at(0), Of(3 + flow * BUCKETS, 1_000, false));
    }
    assert_eq!(place(&queue, 0, 8), 3);
    // Two packets of another one end the turns of the eight.
    for _ in 0..2 {
        queue.add(at(0), Of(100, 1_514, false));
    }
    assert_eq!(take(&mut queue, 10, Lead::default()).len(), 10);
    assert_eq!(place(&queue, 1_000, 8), 3, "they may go on");
    assert_eq!([place(&queue, 1_001, 8), place(&queue, 1_001, 5)], [3, 3 + 5 * (BUCKETS / WAYS)]);
    queue.add(at(1_001), Of(3 + 8 * BUCKETS, 1_000, false));
    assert_eq!(place(&queue, 1_001, 0), 3 + BUCKETS / WAYS, "another has its own now");
}

#[test]
fn a_slower_member_takes_a_packet_of_the_flow_that_has_had_least() {
    let mut queue = with(&[(1, 9, 1_514), (2, 9, 1_514)]);
    let lead = Lead { bytes: 4 * 1_514, later: MS };
    assert_eq!(take(&mut queue, 3, lead), [(1, 2), (2, 2), (1, 3)]);
    assert_eq!(take(&mut queue, 2, Lead::default()), [(2, 0), (1, 0)]);
}

#[test]
fn the_next_packet_of_a_flow_that_is_told_is_marked_or_dropped() {
    let told = |can_be_marked: bool| {
        let mut queue = with(&[(1, 10, 1_000)]);
        assert!(queue.take(at(91), 0, Lead::default()).is_some());
        assert!(queue.add(at(91), Of(2, 1_000, can_be_marked)).0.is_none(), "another flow");
        let (refused, mark) = queue.add(at(91), Of(1, 1_000, can_be_marked));
        let again = queue.add(at(91), Of(1, 1_000, can_be_marked));
        assert!(again.0.is_none() && !again.1, "one packet");
        (refused.map(|(_, why)| why), mark)
    };
    assert_eq!([told(false), told(true)], [(Some(Refused::Managed), false), (None, true)]);
}

#[test]
fn a_flow_begins_again_after_a_pause_of_more_than_a_second() {
    for (pause, sent) in [(1_000, 2_000), (1_001, 1_000)] {
        let mut queue = with(&[(1, 1, 1_000)]);
        queue.take(at(0), 0, Lead::default());
        queue.add(at(pause), Of(1, 1_000, false));
        queue.take(at(pause), 0, Lead::default());
        assert_eq!(queue.flows[1].sent, sent, "{pause} ms");
    }
}

#[test]
fn a_flow_that_was_never_told_may_wait_for_the_farthest_member() {
    // 100 ms later with 8 Mbit/s beside 8: worth it from 200,000 byte on, with 130 ms then.
    let server = |arrival_us| Server { arrival_us, rate: 8_000_000, rtt_us: 0 };
    let mut queue = with(&[(1, 60, 2_000)]);
    queue.targets.set(TARGET, 0, &mut [server(0), server(100_000)].into_iter().collect());
    let mut told = |ms: u64| {
        queue.take(at(ms), 0, Lead::default());
        std::mem::take(&mut queue.flows[1].control.due)
    };
    assert_eq!([91, 130, 131].map(&mut told), [0, 0, 1], "three targets of its own are 90 ms");
    // From then on it has its own 30 ms, and after a pause it begins again.
    assert_eq!(Patience::of(queue.targets.of(0, 1), queue.targets.longest(), true).target, TARGET);
    assert!(queue.flows[1].was_told);
    while queue.take(at(132), 0, Lead::default()).is_some() {}
    queue.add(at(1_001), Of(1, 1_000, false));
    assert!(!queue.flows[1].was_told);
}

#[test]
fn a_flow_needs_four_acknowledgements_of_a_round_trip_while_its_packets_wait_until_it_is_told_to_slow_down() {
    let server = |arrival_us| Server { arrival_us, rate: 8_000_000, rtt_us: 10_000 };
    let near = || [server(0)].into_iter().collect();
    let mut queue = with(&[(1, 10, 1_000)]);
    let paces = |queue: &Queue<Of>| {
        let us = |pace: AckPace| (pace.interval.as_micros(), pace.busy.as_micros());
        [1, 2].map(|bucket| us(queue.ack_pace(bucket)))
    };
    assert_eq!(paces(&queue), [(0, 0), (0, 0)], "the rates are not known: each passes");
    // 10,000 byte take 10 ms; the round trip is 10 ms, with 30 ms to spare.
    queue.targets.set(TARGET, 0, &mut near());
    assert_eq!(paces(&queue), [(12_500, 8_000), (10_000, 0)], "2 ms before the member is idle");
    // Another flow takes its turns between them.
    queue.add(at(0), Of(2, 1_000, false));
    assert_eq!(paces(&queue)[0], (15_000, 18_000));
    // The far member takes what the near one would deliver later: it has no part in what waits.
    queue.flows[1].sent = 1_000_000;
    queue.targets.set(TARGET, 0, &mut [server(0), server(50_000)].into_iter().collect());
    assert_eq!(paces(&queue)[0], (15_000, 18_000));
    queue.targets.set(TARGET, 0, &mut [Server { rate: 800_000, ..server(0) }].into_iter().collect());
    assert_eq!(paces(&queue)[0].1, 100_000, "108 ms: no timer may run out");
    queue.targets.set(TARGET, 0, &mut near());
    assert!(queue.take(at(41), 0, Lead::default()).is_some());
    assert_eq!(paces(&queue)[0], (0, 0), "it is told: more than its 40 ms");
    while queue.take(at(42), 0, Lead::default()).is_some() {}
    // After a pause it begins again.
    (0..3).for_each(|_| assert!(queue.add(at(1_001), Of(1, 1_000, false)).0.is_none()));
    assert_eq!(paces(&queue)[0], (10_750, 1_000));
}

#[test]
fn the_faster_members_carry_nothing_of_an_equalised_flow_before_its_first_packet_is_due() {
    // Eight Mbit/s carry a packet each millisecond; the other member is 50 ms later.
    let server = |arrival_us| Server { arrival_us, rate: 8_000_000, rtt_us: 0 };
    let lead = Lead { bytes: 50_000, later: MS * 50 };
    let mut queue = with(&[(1, 80, 1_000)]);
    queue.targets.set(TARGET, 0, &mut [server(0), server(50_000)].into_iter().collect());
    (queue.flows[1].equaliser, queue.flows[1].sent) = (Equaliser::on(), 1_000_000);
    let mut number = |ms: u64| queue.take(at(ms), 0, lead).map(|taken| taken.place.number);
    // All of a burst could wait for the faster one, which takes the first of it after 50 ms.
    assert_eq!([0, 10, 30, 50].map(&mut number), [Some(0), Some(11), Some(32), Some(53)]);
}

#[test]
fn a_flow_that_has_lost_its_last_packet_has_no_part_in_the_lead() {
    let mut queue = with(&[(1, 1, 2_000), (2, 10, 100)]);
    assert_eq!(queue.shorten().map(|packet| packet.1), Some(2_000));
    assert_eq!(take(&mut queue, 1, Lead { bytes: 800, later: MS }), [(2, 8)]);
}
