//! The frames on the links, for a person to read.

use crate::bonding::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_units::Duration;

#[test]
fn a_loss_is_told_at_once_and_repaired_under_a_new_number() {
    let ms = Duration::from_millis;
    let mut world = World::new(usual(), &[Way::new(8, ms(5), 0), Way::new(8, ms(8), 0)], 1);
    world.run(ms(500));
    assert_eq!(world.ends[0].status().members.iter().map(|member| member.lost).sum::<u64>(), 0);
    world.transcript = Some(String::new());
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.ways[0][0].loss = 1_000;
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.ways[0][0].loss = 0;
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.run(ms(50));
    assert_eq!(world.delivered[0].iter().map(|token| token.id).collect::<Vec<_>>(), [0, 1, 2]);
    let transcript = world.transcript.unwrap_or_default();
    // The hole is told at once, and the packet is sent again under a new number.
    assert_eq!(
        transcript,
        "\
0.500 000 000  west  m0  packet 0   as 7 place 0
0.500 000 000  west  m0  packet 1   as 8 place 1  lost
0.500 704 000  west  m0  packet 2   as 9 place 2
0.508 195 000  east  m0  feedback m0 to 9 0:1 1:7, m1 to 6 0:6
0.513 287 000  west  m0  packet 1   as 10 place 1
0.534 352 000  east  m0  feedback m0 to 10 0:2 1:7, m1 to 6 0:6
"
    );
}
