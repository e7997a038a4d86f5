//! A greedy sender over a path with random loss meets the square root formula of Mathis, Semke, Mahdavi and Ott (1997).

mod common;

use airbraid_engine::Stream;
use airbraid_net::tcp::{Config, Segment, SenderInput, Variant};
use airbraid_units::{Bytes, Duration, Instant};
use common::{Way, World};

/// Goodput \[bit/s\] over 100 ms with a loss of `p` in a million data segments.
fn goodput(variant: Variant, ack_every: u32, p: u32, seed: u64) -> f64 {
    let config = Config {
        variant,
        mss: Bytes::new(1_460),
        ack_every,
        min_rto: Duration::from_millis(200),
        receive_buffer: Bytes::new(1 << 20),
        ..Config::default()
    };
    let mut stream = Stream::new(seed, 0, "test.loss");
    let mut world = World::new(config, |_, way, _: &Segment| {
        let lost = way == Way::Data && stream.up_to(999_999) < p;
        if lost { Vec::new() } else { vec![Duration::from_millis(50)] }
    });
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::WriteForever));
    let span = Duration::from_secs(3_000);
    world.run_until(Instant::ZERO + span);
    world.delivered as f64 * 8.0 / span.as_secs_f64()
}

/// C * MSS / (RTT * sqrt(p)) \[bit/s\].
fn mathis(c: f64, p: f64) -> f64 {
    c * 1_460.0 * 8.0 / (0.1 * p.sqrt())
}

#[test]
fn meets_the_formula_with_delayed_acknowledgements() {
    for variant in [Variant::NewReno, Variant::Sack] {
        let ratio = goodput(variant, 2, 5_000, 7) / mathis(0.87, 0.005);
        println!("{variant:?}: {ratio:.3}");
        assert!((ratio - 1.0).abs() < 0.15, "{variant:?}: {ratio}");
    }
}

#[test]
fn meets_the_formula_with_an_acknowledgement_for_each_segment() {
    for variant in [Variant::NewReno, Variant::Sack] {
        let ratio = goodput(variant, 1, 5_000, 8) / mathis(1.22, 0.005);
        println!("{variant:?}: {ratio:.3}");
        assert!((ratio - 1.0).abs() < 0.15, "{variant:?}: {ratio}");
    }
}

/// Share of a 10 Mbit/s bottleneck with 20 ms of path and a queue of `queue` packets that the payload gets in 60 s.
fn utilisation(variant: Variant, queue: u64) -> f64 {
    // Back-to-back packets of 1500 byte.
    let service = Duration::from_micros(1_200);
    let config = Config { variant, mss: Bytes::new(1_460), receive_buffer: Bytes::new(1 << 20), ..Config::default() };
    let mut free_at = Instant::ZERO;
    let mut world = World::new(config, |now, way, _: &Segment| {
        if way == Way::Ack {
            return vec![Duration::from_millis(10)];
        }
        let start = free_at.max(now);
        if start.saturating_since(now) > service * (queue + 1) {
            return Vec::new();
        }
        free_at = start + service;
        vec![free_at.saturating_since(now) + Duration::from_millis(10)]
    });
    world.tell_sender(Some(SenderInput::Open));
    world.tell_sender(Some(SenderInput::WriteForever));
    world.run_until(Instant::ZERO + Duration::from_secs(60));
    world.delivered as f64 * 8.0 / 60.0 / (10e6 * 1_460.0 / 1_500.0)
}

#[test]
fn every_variant_fills_a_bottleneck_with_a_queue_of_its_delay_bandwidth_product() {
    // 20 ms at 10 Mbit/s are 17 packets: a halved window still fills the path.
    for variant in [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic] {
        let share = utilisation(variant, 25);
        println!("{variant:?}: {share:.4}");
        assert!((0.90..=1.0).contains(&share), "{variant:?}: {share}");
    }
}
