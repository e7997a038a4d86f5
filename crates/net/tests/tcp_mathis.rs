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
