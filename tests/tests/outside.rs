//! Packets from outside take the same way as those from inside: whatever stands at a node, they enter it by the one
//! door.

use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::mark;
use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{Delivery, External, NodeId, PayloadHandle, World};
use airbraid_tests::{spec, spec_of_file};
use airbraid_units::{Duration, Instant};

/// A packet of 1,000 byte from the first node to the second.
fn packet(index: usize) -> External {
    let [from, to] = [0, 1].map(NodeId::new);
    let handle = PayloadHandle::new(index);
    External {
        handle,
        from,
        to,
        via: None,
        len: 1_000,
        bucket: 0,
        mark: mark::of_code_point(0),
        is_acknowledgement: false,
    }
}

/// Sends `count` packets, one in 10 ms: how many come in two seconds more.
fn carry(spec: &Spec, count: usize) -> usize {
    let mut world = World::new(spec, 1, None).unwrap();
    world.open_to_outside();
    for index in 0..count {
        world.run_until(Instant::ZERO + Duration::from_millis(1_000 + 10 * index as u64), &mut |_| {});
        world.inject(&packet(index));
    }
    world.run_until(Instant::ZERO + Duration::from_millis(3_000 + 10 * count as u64), &mut |_| {});
    let mut deliveries: Vec<Delivery> = Vec::new();
    world.take_deliveries(&mut deliveries);
    world.result();
    deliveries.len()
}

#[test]
fn packets_from_outside_take_the_member_that_selection_chooses() {
    let text = "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"10 s\"\n\
        [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\nradios = [1, 6]\n\
        [[node]]\nname = \"b\"\nposition = [\"10 m\", \"0 m\"]\nradios = [1, 6]\n\
        [[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n[trunk.select]\n";
    assert_eq!(carry(&spec(text), 50), 50);
}

#[test]
fn they_find_routes_on_demand_and_wait_for_them() {
    let spec = spec_of_file("kuang2004/chain.toml", &["topology.count=2", "radio.mac=\"dcf\""]);
    let mut world = World::new(&spec, 1, None).unwrap();
    world.run_until(Instant::ZERO + Duration::from_millis(1), &mut |_| {});
    for index in 0..3 {
        world.inject(&packet(index));
    }
    // They wait in AODV's buffer.
    let (mut deliveries, mut released) = (Vec::new(), Vec::new());
    world.take_deliveries(&mut deliveries);
    world.take_released(&mut released);
    assert_eq!((deliveries.len(), released.len()), (0, 0));
    world.run_until(Instant::ZERO + Duration::from_secs(2), &mut |_| {});
    world.take_deliveries(&mut deliveries);
    assert_eq!(deliveries.len(), 3);
}

/// Packets of 1,500 byte offered at once to a radio whose queue has `queue`: how many come, and the results.
fn burst(radio: &str, queue: u32, count: usize) -> (usize, RunResult) {
    let text = format!(
        "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"10 s\"\n[radio]\n{radio}\nqueue = {queue}\n\
        [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\nradios = [36]\n\
        [[node]]\nname = \"b\"\nposition = [\"3 m\", \"0 m\"]\nradios = [36]\n"
    );
    let spec = spec(&text);
    let mut world = World::new(&spec, 1, None).unwrap();
    world.open_to_outside();
    world.run_until(Instant::ZERO + Duration::from_millis(1), &mut |_| {});
    for index in 0..count {
        world.inject(&External { len: 1_500, ..packet(index) });
    }
    world.run_until(Instant::ZERO + Duration::from_secs(1), &mut |_| {});
    let mut deliveries: Vec<Delivery> = Vec::new();
    world.take_deliveries(&mut deliveries);
    (deliveries.len(), world.result())
}

#[test]
fn a_burst_waits_in_the_radios_queue_and_fills_its_aggregates() {
    let radio = "standard = \"802.11ax\"\nband = \"5 GHz\"\nwidth = \"20 MHz\"\nmcs = 7\nstreams = 1\nedca = true";
    let (came, result) = burst(radio, 200, 150);
    assert_eq!(came, 150);
    // 64 MPDUs of 1,500 byte take 11 ms, and a PPDU at most 5.484 ms: they fit into some five.
    let sent = result.macs[0].counts.data_frames;
    assert!((1..=6).contains(&sent), "{sent} PPDUs of 150 packets");
}

#[test]
fn what_the_radios_queue_does_not_hold_is_dropped_there_and_counted() {
    let of_dcf = "standard = \"802.11a\"\nrate = \"6 Mbit/s\"";
    let of_edca = "standard = \"802.11ax\"\nband = \"5 GHz\"\nwidth = \"20 MHz\"\nmcs = 7\nstreams = 1\nedca = true";
    for radio in [of_dcf, of_edca] {
        let (came, result) = burst(radio, 20, 50);
        let dropped: u64 = result.drops.values().sum();
        assert_eq!(came as u64 + dropped, 50, "{radio}: {:?}", result.drops);
        // One that is being sent may stand beside those that wait.
        assert!((20..=21).contains(&came), "{radio}: {came}");
        assert!(result.drops.keys().all(|reason| reason.ends_with("queue_full")), "{:?}", result.drops);
    }
}
