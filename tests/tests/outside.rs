//! Packets from outside take the same way as those from inside: whatever stands at a node, they enter it by the one
//! door.

use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{Delivery, External, FreeSpace, NodeId, PayloadHandle, World};
use airbraid_tests::{spec, spec_of_file};
use airbraid_units::{Duration, Instant};

/// A packet of 1,000 byte from the first node to the second.
fn packet(index: usize) -> External {
    let [from, to] = [0, 1].map(NodeId::new);
    let handle = PayloadHandle::new(index);
    External { handle, from, to, via: None, len: 1_000, bucket: 0, is_acknowledgement: false }
}

/// Sends `count` packets, one in 10 ms: how many come in two seconds more, and how full the first queue was before
/// each.
fn carry(spec: &Spec, count: usize) -> (usize, Vec<FreeSpace>) {
    let mut world = World::new(spec, 1, None).unwrap();
    world.open_to_outside();
    let mut spaces = Vec::new();
    for index in 0..count {
        world.run_until(Instant::ZERO + Duration::from_millis(1_000 + 10 * index as u64), &mut |_| {});
        spaces.extend(world.free_space_for(&packet(index)));
        world.inject(&packet(index));
    }
    world.run_until(Instant::ZERO + Duration::from_millis(3_000 + 10 * count as u64), &mut |_| {});
    let mut deliveries: Vec<Delivery> = Vec::new();
    world.take_deliveries(&mut deliveries);
    world.result();
    (deliveries.len(), spaces)
}

#[test]
fn packets_from_outside_take_the_member_that_selection_chooses() {
    let text = "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"10 s\"\n\
        [[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\nradios = [1, 6]\n\
        [[node]]\nname = \"b\"\nposition = [\"10 m\", \"0 m\"]\nradios = [1, 6]\n\
        [[trunk]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\n[trunk.select]\n";
    let (delivered, spaces) = carry(&spec(text), 50);
    assert_eq!(delivered, 50);
    assert_eq!(spaces.len(), 50);
    assert!(spaces.iter().all(|space| space.is_there() && space.is_device), "{spaces:?}");
}

#[test]
fn they_find_routes_on_demand_and_wait_for_them() {
    let spec = spec_of_file("kuang2004/chain.toml", &["topology.count=2", "radio.mac=\"dcf\""]);
    let mut world = World::new(&spec, 1, None).unwrap();
    world.run_until(Instant::ZERO + Duration::from_millis(1), &mut |_| {});
    for index in 0..3 {
        world.inject(&packet(index));
    }
    // They wait in AODV's buffer: a driver from outside sees that.
    assert!(world.free_space_for(&packet(3)).is_some_and(|space| space.waiting >= 3));
}
