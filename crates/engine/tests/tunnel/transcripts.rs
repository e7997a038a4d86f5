//! What goes over the links, as a person can read it.

use crate::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_units::Duration;

#[test]
fn a_loss_is_told_at_once_and_repaired_under_a_new_number() {
    let ms = Duration::from_millis;
    let mut world = World::new(usual(), &[Way::new(8, ms(5), 0), Way::new(8, ms(8), 0)], 1);
    world.run(ms(60));
    world.transcript = Some(String::new());
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.ways[0][0].loss = 1_000;
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.ways[0][0].loss = 0;
    world.give(0, 1_000, 0, TrafficClass::Bulk);
    world.run(ms(30));
    assert_eq!(world.delivered[0].iter().map(|token| token.id).collect::<Vec<_>>(), [0, 1, 2]);
    let transcript = world.transcript.unwrap_or_default();
    // Three at once on the faster member; the hole is told on both, and the packet is sent again under a new number.
    assert_eq!(
        transcript,
        "\
0.060 000 000  west  m0  packet 0   as 2 place 0
0.060 000 000  west  m0  packet 1   as 3 place 1  lost
0.060 000 000  west  m0  packet 2   as 4 place 2
0.068 195 000  east  m0  feedback m0 to 4 0:1 1:2, m1 to 1 0:1
0.068 195 000  east  m1  feedback m0 to 4 0:1 1:2, m1 to 1 0:1
0.073 282 000  west  m0  packet 1   as 5 place 1
"
    );
}
