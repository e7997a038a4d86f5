//! Transcripts of two ends: who sends what when.

use crate::session::world::{Channel, World};
use airbraid_engine::converge::session::{Input, PeerId};

#[test]
fn a_handshake_and_the_first_rekeying() {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(130_000);
    world.reads(
        "
        0.000 A sends initiation, 144 byte
        20.000 B installs key 1 as Responder
        20.000 B sends response, 80 byte
        40.000 A installs key 1 as Initiator
        40.000 A uses key 1
        40.000 A is up
        40.000 A tells Confirm with key 1
        60.000 B uses key 1
        60.000 B is up
        60.000 B tells Confirmed with key 1
        120040.000 A sends initiation, 144 byte
        120060.000 B installs key 2 as Responder
        120060.000 B sends response, 80 byte
        120080.000 A installs key 2 as Initiator
        120080.000 A uses key 2
        120080.000 A tells Confirm with key 2
        120100.000 B uses key 2
        120100.000 B tells Confirmed with key 2
        ",
    );
}

#[test]
fn the_second_message_is_lost() {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(10);
    world.channel.loss = 1_000;
    world.run(25);
    world.channel.loss = 0;
    world.run(1_000);
    world.reads(
        "
        0.000 A sends initiation, 144 byte
        20.000 B installs key 1 as Responder
        20.000 B sends response, 80 byte
        275.702 A sends initiation, 144 byte
        295.702 B installs key 2 as Responder
        295.702 B sends response, 80 byte
        315.702 A installs key 1 as Initiator
        315.702 A uses key 1
        315.702 A is up
        315.702 A tells Confirm with key 1
        335.702 B uses key 2
        335.702 B is up
        335.702 B tells Confirmed with key 2
        ",
    );
}

#[test]
fn a_key_that_is_not_renewed_expires() {
    let mut world = World::pair(1, Channel { delay: 20, ..Channel::default() });
    world.input(0, Some(Input::Connect(PeerId(0))));
    world.run(1_000);
    world.channel.loss = 1_000;
    let before = world.text.len();
    world.run(300_000);
    let after: String = world.text.split_off(before);
    let told: Vec<&str> = after.lines().filter(|line| !line.contains("sends initiation")).collect();
    let expected = [
        "213031.476 A has failed",
        "240020.000 B forgets key 1",
        "240020.000 B is down",
        "240040.000 A forgets key 1",
        "240040.000 A is down",
        "275112.237 B has failed",
    ];
    assert_eq!(told, expected);
}
