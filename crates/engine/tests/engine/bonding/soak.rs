//! A day and a half of links that come, go, lose and change, in virtual time: what is kept in memory does not grow.

use crate::bonding::world::{Way, World, usual};
use airbraid_engine::{Stream, TrafficClass};
use airbraid_units::Duration;

#[test]
fn links_that_flap_for_a_day_and_a_half_leave_nothing_behind() {
    let ms = Duration::from_millis;
    let ways = [Way::new(5, ms(2), 0), Way::new(20, ms(20), 20), Way::new(1, ms(80), 50)];
    let mut world = World::new(usual(), &ways, 1);
    let mut chance = Stream::new(1, 0, "soak");
    let mut most = [0; 36];
    for hour in &mut most {
        for _ in 0..900 {
            // Four seconds: a burst each way, a change, silence.
            let end = chance.up_to(1) as usize;
            for _ in 0..chance.up_to(24) {
                let class = if chance.up_to(9) == 0 { TrafficClass::RealTime } else { TrafficClass::Bulk };
                world.give(end, 60 + u64::from(chance.up_to(1_300)), chance.up_to(600) as u16, class);
            }
            world.run(ms(u64::from(chance.up_to(200))));
            let member = chance.up_to(2) as usize;
            match chance.up_to(5) {
                0 => world.ways[chance.up_to(1) as usize][member].is_up = false,
                1 => (0..2).for_each(|end| world.ways[end][member].loss = 0),
                2 => (0..2).for_each(|end| world.ways[end][member].delay = ms(2)),
                3 => (0..2).for_each(|end| world.ways[end][member].delay = ms(150)),
                4 => (0..2).for_each(|end| world.ways[end][member].loss = 300),
                _ => (0..2).for_each(|end| world.ways[end].iter_mut().for_each(|way| way.is_up = true)),
            }
            *hour = world.ends.iter().map(|end| end.status().kept).max().unwrap_or(0).max(*hour);
            world.run(ms(3_800));
            // The host's books are not the tunnel's memory.
            world.delivered.iter_mut().for_each(Vec::clear);
            world.ended.iter_mut().for_each(|ended| ended.clear());
        }
    }
    // What was given up is remembered up to a limit, which a day reaches; then nothing grows.
    let early = most[..24].iter().max().unwrap_or(&0);
    let late = most[24..].iter().max().unwrap_or(&0);
    assert!(*late <= early + early / 4 && *late < 5_000, "{most:?}");
}
