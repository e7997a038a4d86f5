//! Transcripts of nodes that look for, use and lose routes, and the property that no routes form a loop.

mod field;

use super::{AodvConfig, Datagram, Doubt, DropReason, Hello, Input, Output, Repair, RepairWait};
use airbraid_engine::Machine;
use airbraid_units::{Duration, Instant};
use field::{Fate, Field, ms, node};
use proptest::prelude::*;

/// ns-2 without jitter.
fn ns2() -> AodvConfig {
    AodvConfig { jitter: Duration::ZERO, ..AodvConfig::ns2() }
}

/// RFC 3561 with the link layer's reports, believed at once, instead of hello messages, and without jitter.
fn rfc() -> AodvConfig {
    let doubt = Doubt { silent: 1, heard: 1 };
    AodvConfig { hello: None, doubt, jitter: Duration::ZERO, ..AodvConfig::rfc3561() }
}

/// RFC 3561 with hello messages at whole seconds.
fn punctual() -> AodvConfig {
    let hello = AodvConfig::rfc3561().hello.map(|hello| Hello { jitter: Duration::ZERO, ..hello });
    AodvConfig { hello, jitter: Duration::ZERO, ..AodvConfig::rfc3561() }
}

#[test]
fn rings_grow_until_the_destination_answers() {
    let mut field = Field::chain(rfc(), 4);
    field.send_at(ms(0), 0, 3, 1);
    field.run(ms(1_000));
    // RING_TRAVERSAL_TIME of the first ring: 2 * 40 ms * (1 + 2).
    field.reads(
        "
        0.000 A RREQ 0 for D/? by A/1, 0 hops to all, ttl 1
        240.000 A RREQ 1 for D/? by A/2, 0 hops to all, ttl 3
        241.000 B RREQ 1 for D/? by A/2, 1 hops to all, ttl 2
        242.000 C RREQ 1 for D/? by A/2, 2 hops to all, ttl 1
        243.000 D RREP D/0 for A, 0 hops, 6000 ms to C
        244.000 C RREP D/0 for A, 1 hops, 6000 ms to B
        245.000 B RREP D/0 for A, 2 hops, 6000 ms to A
        246.000 A sends 1 to B
        247.000 B sends 1 to C
        248.000 C sends 1 to D
        249.000 D has 1
    ",
    );
}

#[test]
fn a_search_for_nobody_doubles_its_patience_and_gives_up() {
    let mut field = Field::chain(rfc(), 2);
    field.send_at(ms(0), 0, 7, 1);
    field.run(ms(60_000));
    field.reads(
        "
        0.000 A RREQ 0 for H/? by A/1, 0 hops to all, ttl 1
        240.000 A RREQ 1 for H/? by A/2, 0 hops to all, ttl 3
        241.000 B RREQ 1 for H/? by A/2, 1 hops to all, ttl 2
        640.000 A RREQ 2 for H/? by A/3, 0 hops to all, ttl 5
        641.000 B RREQ 2 for H/? by A/3, 1 hops to all, ttl 4
        1200.000 A RREQ 3 for H/? by A/4, 0 hops to all, ttl 7
        1201.000 B RREQ 3 for H/? by A/4, 1 hops to all, ttl 6
        1920.000 A RREQ 4 for H/? by A/5, 0 hops to all, ttl 35
        1921.000 B RREQ 4 for H/? by A/5, 1 hops to all, ttl 34
        4720.000 A RREQ 5 for H/? by A/6, 0 hops to all, ttl 35
        4721.000 B RREQ 5 for H/? by A/6, 1 hops to all, ttl 34
        10320.000 A drops 1: NoRoute
    ",
    );
}

#[test]
fn ns2_searches_everywhere_at_once_for_whom_it_never_lost_looks_twice_a_second_and_rests_for_ten() {
    let mut field = Field::chain(ns2(), 2);
    field.send_at(ms(0), 0, 7, 1);
    field.send_at(ms(4_000), 0, 7, 2);
    field.run(ms(60_000));
    field.reads(
        "
        0.000 A RREQ 0 for H/? by A/2, 0 hops to all, ttl 30
        1.000 B RREQ 0 for H/? by A/2, 1 hops to all, ttl 29
        2000.000 A RREQ 1 for H/? by A/4, 0 hops to all, ttl 30
        2001.000 B RREQ 1 for H/? by A/4, 1 hops to all, ttl 29
        6000.000 A RREQ 2 for H/? by A/6, 0 hops to all, ttl 30
        6001.000 B RREQ 2 for H/? by A/6, 1 hops to all, ttl 29
        11500.000 A RREQ 3 for H/? by A/8, 0 hops to all, ttl 30
        11501.000 B RREQ 3 for H/? by A/8, 1 hops to all, ttl 29
        19000.000 A drops 1: NoRoute
        19000.000 A drops 2: NoRoute
    ",
    );
}

#[test]
fn ns2_searches_by_rings_for_whom_it_has_lost() {
    let mut field = Field::chain(ns2(), 3);
    field.send_at(ms(0), 0, 2, 1);
    field.link_at(ms(900), 0, 1, false);
    field.send_at(ms(1_000), 0, 2, 2);
    field.run(ms(900));
    field.transcript.clear();
    field.send_at(ms(1_100), 0, 2, 3);
    field.run(ms(3_500));
    // The route had two hops. The answer came after 4 ms, so that each hop has 2 ms for the next.
    field.reads(
        "
        1000.000 A sends 2 to B
        1002.000 A drops 2: LinkFailed
        1002.000 A has lost B
        1002.000 A RERR C/3 to all, ttl 1
        1100.000 A RREQ 1 for C/3 by A/4, 0 hops to all, ttl 4
        1500.000 A RREQ 2 for C/3 by A/6, 0 hops to all, ttl 6
        2000.000 A RREQ 3 for C/3 by A/8, 0 hops to all, ttl 8
        2500.000 A RREQ 4 for C/3 by A/10, 0 hops to all, ttl 30
        3000.000 A RREQ 5 for C/3 by A/12, 0 hops to all, ttl 30
        3500.000 A RREQ 6 for C/3 by A/14, 0 hops to all, ttl 30
    ",
    );
}

#[test]
fn a_node_that_knows_a_fresh_route_answers_and_tells_the_destination() {
    let mut field = Field::chain(rfc(), 4);
    field.send_at(ms(0), 1, 3, 1);
    field.run(ms(1_000));
    field.transcript.clear();
    field.send_at(ms(1_000), 0, 3, 2);
    field.run(ms(1_500));
    field.reads(
        "
        1000.000 A RREQ 0 for D/? by A/1, 0 hops to all, ttl 1
        1001.000 B RREP D/0 for A, 2 hops, 5243 ms to A
        1001.000 B RREP A/1 for D, 1 hops, 5520 ms to C
        1002.000 A sends 2 to B
        1002.000 C RREP A/1 for D, 2 hops, 5520 ms to D
        1003.000 B sends 2 to C
        1004.000 C sends 2 to D
        1005.000 D has 2
    ",
    );
    let back = field.nodes[3].route(field.now, node(0)).unwrap();
    assert_eq!((back.next_hop, back.hops), (node(2), 3));
}

#[test]
fn those_who_use_a_broken_route_are_told_and_nobody_else() {
    let mut field = Field::chain(AodvConfig { repair: None, ..rfc() }, 5);
    // E hears B as well, and uses no route through it.
    field.set_link(3, 4, false);
    field.set_link(1, 4, true);
    field.send_at(ms(0), 0, 3, 1);
    field.link_at(ms(900), 2, 3, false);
    field.send_at(ms(1_000), 0, 3, 2);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(1_100));
    field.reads(
        "
        1000.000 A sends 2 to B
        1001.000 B sends 2 to C
        1002.000 C sends 2 to D
        1004.000 C has lost D
        1004.000 C RERR D/1 to B
        1004.000 C drops 2: LinkFailed
        1005.000 B RERR D/1 to A
    ",
    );
    assert!(field.nodes[0].route(field.now, node(3)).is_none());
    let told = |node: &super::Aodv<u32>| (node.stats().rreq_sent, node.stats().rrep_sent, node.stats().rerr_sent);
    // A searched by two rings, through B and C; D answered.
    assert_eq!(
        field.nodes.iter().map(told).collect::<Vec<_>>(),
        [(2, 0, 0), (1, 1, 1), (1, 1, 1), (0, 1, 0), (1, 0, 0)]
    );
}

#[test]
fn a_broken_route_is_repaired_where_it_broke_and_a_detour_is_told() {
    let mut field = Field::chain(rfc(), 5);
    // C to D breaks; C, E, D is left.
    field.send_at(ms(0), 0, 3, 1);
    field.link_at(ms(900), 2, 3, false);
    field.link_at(ms(900), 2, 4, true);
    field.send_at(ms(1_000), 0, 3, 2);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(1_500));
    field.reads(
        "
        1000.000 A sends 2 to B
        1001.000 B sends 2 to C
        1002.000 C sends 2 to D
        1004.000 C has lost D
        1004.000 C RREQ 0 for D/1 by C/1, 0 hops to all, ttl 3
        1005.000 B RREQ 0 for D/1 by C/1, 1 hops to all, ttl 2
        1005.000 E RREQ 0 for D/1 by C/1, 1 hops to all, ttl 2
        1006.000 A RREQ 0 for D/1 by C/1, 2 hops to all, ttl 1
        1006.000 D RREP D/1 for C, 0 hops, 6000 ms to E
        1007.000 E RREP D/1 for C, 1 hops, 6000 ms to C
        1008.000 C RERR (kept) D/1 to B
        1008.000 C sends 2 to E
        1009.000 B RERR (kept) D/0 to A
        1009.000 E sends 2 to D
        1010.000 D has 2
    ",
    );
}

#[test]
fn a_repair_without_an_answer_tells_those_who_use_the_route() {
    let mut field = Field::chain(rfc(), 4);
    field.send_at(ms(0), 0, 3, 1);
    field.link_at(ms(900), 2, 3, false);
    field.send_at(ms(1_000), 0, 3, 2);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(1_500));
    field.reads(
        "
        1000.000 A sends 2 to B
        1001.000 B sends 2 to C
        1002.000 C sends 2 to D
        1004.000 C has lost D
        1004.000 C RREQ 0 for D/1 by C/1, 0 hops to all, ttl 3
        1005.000 B RREQ 0 for D/1 by C/1, 1 hops to all, ttl 2
        1006.000 A RREQ 0 for D/1 by C/1, 2 hops to all, ttl 1
        1404.000 C RERR D/1 to B
        1404.000 C drops 2: NoRoute
        1405.000 B RERR D/1 to A
    ",
    );
}

#[test]
fn a_packet_that_comes_during_a_repair_waits_for_it() {
    let mut field = Field::chain(rfc(), 5);
    field.send_at(ms(0), 0, 3, 1);
    field.link_at(ms(900), 2, 3, false);
    field.link_at(ms(900), 2, 4, true);
    field.send_at(ms(1_000), 0, 3, 2);
    // At C one millisecond before the answer, and at B while C knows nothing yet.
    field.send_at(ms(1_004), 0, 3, 3);
    field.send_at(ms(1_003), 0, 3, 4);
    field.run(ms(2_000));
    assert_eq!(field.delivered, [1, 2, 4, 3], "{}", field.transcript);
    assert!(field.dropped.is_empty(), "{:?}", field.dropped);
    let stats = |index: usize| (field.nodes[index].stats().searches, field.nodes[index].stats().repairs);
    assert_eq!([0, 1, 2].map(stats), [(1, 0), (0, 0), (1, 1)], "the source has looked once, C has repaired once");
}

#[test]
fn ns2_believes_no_neighbour_during_a_repair_and_any_after_it() {
    let mut field = Field::chain(ns2(), 6);
    field.send_at(ms(0), 0, 5, 1);
    field.link_at(ms(900), 3, 4, false);
    field.send_at(ms(1_000), 0, 5, 2);
    field.link_at(ms(1_004), 3, 4, true);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(60_000));
    // E is there again and knows a way, of the old number and no fewer hops. The repair ends as late after its failure
    // as that was due after the start; then C, whose way leads through D, is believed as well.
    field.reads(
        "
        1000.000 A sends 2 to B
        1001.000 B sends 2 to C
        1002.000 C sends 2 to D
        1003.000 D sends 2 to E
        1005.000 D RREQ 0 for F/2 by D/2, 0 hops to all, ttl 30
        1006.000 C RREP F/2 for D, 3 hops, 9996 ms to D
        1006.000 E RREP F/2 for D, 1 hops, 9008 ms to D
        3000.000 D RREQ 1 for F/2 by D/4, 0 hops to all, ttl 30
        3001.000 C RREP F/2 for D, 3 hops, 8001 ms to D
        3001.000 E RREP F/2 for D, 1 hops, 7013 ms to D
        7000.000 D RREQ 2 for F/2 by D/6, 0 hops to all, ttl 30
        7001.000 C RREP F/2 for D, 3 hops, 4001 ms to D
        7001.000 E RREP F/2 for D, 1 hops, 3013 ms to D
        7002.000 D sends 2 to C
        7003.000 C sends 2 to D
        7004.000 D sends 2 to E
        7005.000 E sends 2 to F
        7006.000 F has 2
    ",
    );
    assert!(field.loops > 0);
}

#[test]
fn ns2_repairs_with_what_the_destination_says() {
    let mut field = Field::chain(ns2(), 5);
    field.send_at(ms(0), 0, 4, 1);
    field.link_at(ms(900), 3, 4, false);
    field.send_at(ms(1_000), 0, 4, 2);
    field.link_at(ms(1_004), 3, 4, true);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(60_000));
    field.reads(
        "
        1000.000 A sends 2 to B
        1001.000 B sends 2 to C
        1002.000 C sends 2 to D
        1003.000 D sends 2 to E
        1005.000 D RREQ 0 for E/2 by D/2, 0 hops to all, ttl 30
        1006.000 C RREP E/2 for D, 2 hops, 9996 ms to D
        1006.000 E RREP E/4 for D, 0 hops, 10000 ms to D
        1007.000 D sends 2 to E
        1008.000 E has 2
    ",
    );
    assert_eq!(field.nodes.iter().map(|node| node.stats().repairs).collect::<Vec<_>>(), [0, 0, 0, 1, 0]);
}

#[test]
fn ns2_repairs_with_the_old_number_and_forms_a_circle() {
    let mut config = ns2();
    let wait = RepairWait::For(Duration::from_millis(150));
    config.repair = config.repair.map(|repair| Repair { wait, ..repair });
    let mut field = Field::chain(config, 4);
    field.send_at(ms(0), 0, 3, 1);
    field.link_at(ms(900), 2, 3, false);
    field.send_at(ms(1_000), 0, 3, 2);
    field.run(ms(8_000));
    assert!(field.loops > 0, "{}", field.transcript);
    assert_eq!(field.dropped, [(2, DropReason::TtlExpired)]);
}

#[test]
fn a_source_whose_own_link_broke_looks_for_another_way() {
    let mut field = Field::chain(rfc(), 2);
    field.send_at(ms(0), 0, 1, 1);
    field.link_at(ms(900), 0, 1, false);
    field.send_at(ms(1_000), 0, 1, 2);
    field.link_at(ms(1_100), 0, 1, true);
    field.run(ms(900));
    field.transcript.clear();
    field.run(ms(2_000));
    field.reads(
        "
        1000.000 A sends 2 to B
        1002.000 A has lost B
        1002.000 A RREQ 1 for B/1 by A/2, 0 hops to all, ttl 3
        1402.000 A RREQ 2 for B/1 by A/3, 0 hops to all, ttl 5
        1403.000 B RREP B/1 for A, 0 hops, 6000 ms to A
        1404.000 A sends 2 to B
        1405.000 B has 2
    ",
    );
}

#[test]
fn the_buffer_gives_up_its_oldest_packet_and_those_that_wait_too_long() {
    let mut config = rfc();
    (config.buffer_limit, config.buffer_timeout) = (2, Duration::from_millis(500));
    let mut field = Field::new(config, 2);
    for packet in 0..3 {
        field.send_at(ms(u64::from(packet)), 0, 1, packet);
    }
    field.run(ms(10_000));
    assert_eq!(
        field.dropped,
        [(0, DropReason::BufferFull), (1, DropReason::Expired), (2, DropReason::Expired)],
        "{}",
        field.transcript
    );
}

#[test]
fn no_more_requests_a_second_than_allowed() {
    let mut config = rfc();
    config.rreq_ratelimit = Some(3);
    let mut field = Field::new(config, 6);
    for to in 1..6 {
        field.send_at(ms(0), 0, to, to as u32);
    }
    field.run(ms(60_000));
    let sent: Vec<f64> = field.transcript.lines().filter(|line| line.contains("RREQ")).map(time).collect();
    assert!(sent.len() > 20 && sent.windows(4).all(|four| four[3] - four[0] >= 1_000.0), "{sent:?}");
    assert_eq!(field.dropped.len(), 5);
}

/// The time of a transcript's line \[ms\].
fn time(line: &str) -> f64 {
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_neighbour_that_says_hello_no_more_is_gone() {
    let mut field = Field::chain(punctual(), 2);
    field.send_at(ms(0), 0, 1, 1);
    field.send_at(ms(2_400), 0, 1, 2);
    field.link_at(ms(3_500), 0, 1, false);
    field.run(ms(20_000));
    field.reads(
        "
        0.000 A RREQ 0 for B/? by A/1, 0 hops to all, ttl 1
        1.000 B RREP B/0 for A, 0 hops, 6000 ms to A
        2.000 A sends 1 to B
        3.000 B has 1
        1000.000 A HELLO A/1 to all, ttl 1
        1000.000 B HELLO B/0 to all, ttl 1
        2000.000 A HELLO A/1 to all, ttl 1
        2000.000 B HELLO B/0 to all, ttl 1
        2400.000 A sends 2 to B
        2401.000 B has 2
        3000.000 A HELLO A/1 to all, ttl 1
        3000.000 B HELLO B/0 to all, ttl 1
        4000.000 A HELLO A/1 to all, ttl 1
        4000.000 B HELLO B/0 to all, ttl 1
        5000.000 A HELLO A/1 to all, ttl 1
        5000.000 B HELLO B/0 to all, ttl 1
        5001.000 A has lost B
        5001.000 B has lost A
    ",
    );
}

#[test]
fn a_hello_makes_a_neighbour_only_of_who_says_it_and_for_as_long_as_it_says() {
    let hello = |destination, lifetime| {
        let (hop_count, destination_sequence, originator) = (0, airbraid_units::SeqNum(3), destination);
        super::Message::Rrep(super::message::Rrep {
            hop_count,
            destination,
            destination_sequence,
            originator,
            lifetime,
        })
    };
    for (who, lifetime, is_known) in [(1, 2, true), (1, 0, false), (2, 2, false), (2, 0, false)] {
        let mut field = Field::chain(punctual(), 3);
        let message = hello(node(who), Duration::from_secs(lifetime));
        field.nodes[0].handle_input(ms(0), Input::Control { from: node(1), ttl: 1, message });
        let number = field.nodes[0].route(ms(1), node(1)).and_then(|route| route.sequence);
        assert_eq!(number.is_some(), is_known, "B says hello for {who}, {lifetime} s");
        assert!(field.nodes[0].route(ms(1), node(2)).is_none(), "C was not heard");
    }
}

#[test]
fn a_node_greets_while_packets_go_through_it_or_are_for_it() {
    // A sends to C by way of B until 10 s. D, beside C, has routes to all who greet, and nobody needs it.
    let mut field = Field::chain(punctual(), 4);
    for packet in 1..=20 {
        field.send_at(ms(500 * u64::from(packet)), 0, 2, packet);
    }
    field.run(ms(30_000));
    let last_of = |name: &str| {
        let hellos = field.transcript.lines().filter(|line| line.contains("HELLO") && line.contains(name));
        hellos.map(time).fold(0.0, f64::max)
    };
    for name in [" A HELLO", " B HELLO", " C HELLO"] {
        let last = last_of(name);
        assert!((10_000.0..=13_001.0).contains(&last), "{name} until {last} ms, packets until 10 s");
    }
    assert_eq!(last_of(" D HELLO"), 0.0, "{}", field.transcript);
}

#[test]
fn neighbours_do_not_greet_together() {
    let mut field = Field::chain(AodvConfig::rfc3561(), 4);
    for packet in 1..=20 {
        field.send_at(ms(1_000 * u64::from(packet)), 0, 3, packet);
    }
    field.run(ms(20_000));
    let hellos: Vec<(&str, f64)> = {
        let said = field.transcript.lines().filter(|line| line.contains("HELLO"));
        said.map(|line| (line.split(' ').nth(1).unwrap(), time(line))).collect()
    };
    assert!(hellos.len() > 10, "{}", field.transcript);
    assert!(hellos.windows(2).all(|two| two[1].1 > two[0].1), "two nodes greet at one instant: {hellos:?}");
    let of_b: Vec<f64> = hellos.iter().filter(|(who, _)| *who == "B").map(|(_, at)| *at).collect();
    assert!(of_b.windows(2).all(|two| two[1] - two[0] <= 1_000.0), "an interval is never longer: {of_b:?}");
}

#[test]
fn an_answer_that_is_no_news_is_passed_on() {
    let mut field = Field::chain(rfc(), 3);
    field.send_at(ms(0), 0, 2, 1);
    // A forgets its way; B still has as good a one as C tells of. C answers itself.
    field.reboot_at(ms(500), 0);
    field.run(ms(500));
    field.transcript.clear();
    let asks_c = super::Message::Rrep(super::message::Rrep {
        hop_count: 0,
        destination: node(2),
        destination_sequence: field.nodes[1].route(ms(500), node(2)).unwrap().sequence.unwrap(),
        originator: node(0),
        lifetime: Duration::from_secs(6),
    });
    let b = &mut field.nodes[1];
    b.handle_input(ms(501), Input::Control { from: node(2), ttl: 9, message: asks_c });
    let told = std::iter::from_fn(|| b.poll_output()).collect::<Vec<_>>();
    assert!(
        matches!(&told[..], [Output::Control { to: Some(to), message: super::Message::Rrep(rrep), .. }]
            if *to == node(0) && rrep.hop_count == 1),
        "{told:?}"
    );
}

#[test]
fn a_packet_that_the_link_layer_gave_up_is_sent_again_before_the_link_is_broken() {
    let doubt = Doubt { silent: 2, heard: 3 };
    let mut field = Field::chain(AodvConfig { doubt, ..rfc() }, 3);
    field.send_at(ms(0), 0, 2, 1);
    field.run(ms(1_000));
    field.transcript.clear();
    let b = &mut field.nodes[1];
    let datagram = Datagram { packet: 2, source: node(0), destination: node(2), ttl: 9, hops: 1 };
    let failed = Input::LinkFailed { next_hop: node(2), datagram: Some(datagram) };
    let mut fail = |between: Option<Input<u32>>| {
        b.handle_input(ms(1_001), failed.clone());
        let said: Vec<_> = std::iter::from_fn(|| b.poll_output()).collect();
        between.into_iter().for_each(|input| b.handle_input(ms(1_001), input));
        said
    };
    let again = vec![Output::Send { next_hop: node(2), datagram, again: true }];
    assert_eq!(fail(Some(Input::Acknowledged(node(2)))), again, "one is tolerated");
    assert_eq!(fail(Some(Input::Heard(node(2)))), again, "what was acknowledged begins again");
    assert_eq!(fail(None), again, "it was heard meanwhile");
    assert!(fail(None).contains(&Output::LinkBroken(node(2))), "the third in a row is too many, heard or not");
    assert!(b.route(ms(1_001), node(2)).is_none());
}

#[test]
fn a_node_that_reboots_forgets_routes_and_remembers_numbers() {
    let mut field = Field::chain(rfc(), 3);
    field.send_at(ms(0), 0, 2, 1);
    field.reboot_at(ms(500), 1);
    field.send_at(ms(600), 0, 2, 2);
    field.run(ms(500));
    field.transcript.clear();
    field.run(ms(590));
    assert!(field.nodes[1].route(field.now, node(2)).is_none());
    field.run(ms(2_000));
    field.reads(
        "
        600.000 A sends 2 to B
        601.000 B RERR C/1 to A
        601.000 B drops 2: NoRoute
    ",
    );
}

#[test]
fn a_packet_ends_with_its_hops_or_at_its_source() {
    let mut one = Field::chain(rfc(), 3);
    one.send_at(ms(0), 0, 2, 1);
    one.run(ms(1_000));
    for (source, ttl, reason) in [(0, 1, DropReason::TtlExpired), (1, 9, DropReason::Circled)] {
        let datagram = Datagram { packet: 2, source: node(source), destination: node(2), ttl, hops: 3 };
        let node_b = &mut one.nodes[1];
        node_b.handle_input(ms(1_000), Input::Forward { from: node(0), datagram });
        assert_eq!(node_b.poll_output(), Some(Output::Drop { datagram, reason }));
    }
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    assert_eq!((AodvConfig::rfc3561().check(), AodvConfig::ns2().check()), (Ok(()), Ok(())));
    let refused = |change: fn(&mut AodvConfig)| {
        let mut config = AodvConfig::rfc3561();
        change(&mut config);
        config.check().unwrap_err().parameter
    };
    assert_eq!(refused(|c| c.net_diameter = 0), "net_diameter");
    assert_eq!(refused(|c| c.ttl_increment = 0), "ttl_increment");
    assert_eq!(refused(|c| c.tick = Some(Duration::ZERO)), "tick");
    assert_eq!(refused(|c| c.rreq_ratelimit = Some(0)), "rreq_ratelimit");
}

#[derive(Clone, Debug)]
enum Happening {
    Send(usize, usize),
    Link(usize, usize, bool),
    Reboot(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let pair = (0usize..8, 0usize..8);
    prop_oneof![
        6 => pair.clone().prop_map(|(a, b)| Happening::Send(a, b)),
        4 => (pair, any::<bool>()).prop_map(|((a, b), up)| Happening::Link(a, b, up)),
        1 => (0usize..8).prop_map(Happening::Reboot),
    ]
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let one = prop_oneof![8 => Just(Fate::Arrives), 2 => Just(Fate::Lost), 1 => Just(Fate::Unacknowledged)];
    prop::collection::vec(one, 1..101)
}

/// Delays up to nearly a second: messages overtake each other and routes expire meanwhile.
fn delays() -> impl Strategy<Value = Vec<Duration>> {
    let one = prop_oneof![6 => 1u64..20, 2 => 1u64..900].prop_map(Duration::from_millis);
    prop::collection::vec(one, 1..97)
}

/// Plays `happenings` in a random field of `n` nodes, half a second apart on average, and then 200 s in which nothing
/// is lost; gives it with the number of packets.
fn play(
    config: AodvConfig,
    n: usize,
    links: &[bool],
    happenings: &[(u64, Happening)],
    fates: Vec<Fate>,
    delays: Vec<Duration>,
) -> (Field, u32) {
    let mut field = Field::new(config, n);
    (field.fates, field.delays) = (fates, delays);
    for a in 0..n {
        for b in 0..a {
            field.set_link(a, b, links[a * 8 + b]);
        }
    }
    let (mut at, mut packets) = (Instant::ZERO, 0);
    for (gap, happening) in happenings {
        at += Duration::from_millis(*gap);
        match *happening {
            Happening::Send(a, b) if a % n != b % n => {
                field.send_at(at, a % n, b % n, packets);
                packets += 1;
            }
            Happening::Link(a, b, up) if a % n != b % n => field.link_at(at, a % n, b % n, up),
            Happening::Reboot(a) => field.reboot_at(at, a % n),
            Happening::Send(..) | Happening::Link(..) => {}
        }
    }
    field.run(at);
    // A route that is found and never carries would be looked for as often.
    field.fates = vec![Fate::Arrives];
    field.run(at + Duration::from_secs(200));
    (field, packets)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Random fields, broken and new links, reboots, losses, late and overtaken messages: no loop at any instant, and
    /// each packet's fate is known.
    #[test]
    fn no_routes_ever_form_a_circle(
        n in 2usize..8,
        has_hello in any::<bool>(),
        links in prop::collection::vec(prop::bool::weighted(0.45), 64),
        happenings in prop::collection::vec((0u64..1_000, happening()), 1..80),
        fates in fates(),
        delays in delays(),
    ) {
        let hello = AodvConfig::rfc3561().hello.filter(|_| has_hello);
        let config = AodvConfig { hello, ..AodvConfig::rfc3561() };
        let (field, packets) = play(config, n, &links, &happenings, fates, delays);
        prop_assert_eq!(field.loops, 0, "{}", field.transcript);
        for packet in 0..packets {
            let is_delivered = field.delivered.contains(&packet);
            let is_dropped = field.dropped.iter().any(|&(dropped, _)| dropped == packet);
            prop_assert!(is_delivered || is_dropped, "{} is nowhere\n{}", packet, field.transcript);
        }
        prop_assert!(field.nodes.iter().all(|node| node.buffered() == 0));
    }

    /// ns-2's rules admit loops, which the field counts; a packet still ends somewhere.
    #[test]
    fn in_ns2_every_packet_is_accounted_for(
        n in 2usize..8,
        links in prop::collection::vec(prop::bool::weighted(0.45), 64),
        happenings in prop::collection::vec((0u64..1_000, happening()), 1..80),
        fates in fates(),
        delays in delays(),
    ) {
        let (field, packets) = play(AodvConfig::ns2(), n, &links, &happenings, fates, delays);
        for packet in 0..packets {
            let is_delivered = field.delivered.contains(&packet);
            let is_dropped = field.dropped.iter().any(|&(dropped, _)| dropped == packet);
            prop_assert!(is_delivered || is_dropped, "{} is nowhere\n{}", packet, field.transcript);
        }
    }
}
