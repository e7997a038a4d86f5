//! Whatever has happened: a few seconds after everything works again, a packet comes at once.
//!
//! Troubles come in any order, and several at a time: links that lose, die or become slower, members that go or are at
//! another place, hosts that sleep, are late or cannot send.

use crate::bonding::properties::{Step, mend, play_on, step};
use crate::bonding::world::{Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{BondInput, Moved};
use airbraid_units::Duration;
use proptest::prelude::*;

/// Time after which all must work again: that of a path that did not validate (3 s), and a second for what waited on a
/// link that has become slow.
const HEALED: Duration = Duration::from_secs(4);

#[derive(Clone, Debug)]
enum Trouble {
    Link(Step),
    /// A member of the second end is at another place, or is back.
    Move {
        member: usize,
        is_rebinding: bool,
    },
    Back {
        member: usize,
    },
    /// A time in which all that a host sends leaves late; packets come meanwhile.
    Late {
        end: usize,
        ms: u8,
    },
    Sleep {
        end: usize,
        ms: u8,
    },
    Refuse {
        member: Option<usize>,
    },
}

fn troubles(members: usize) -> impl Strategy<Value = Vec<Trouble>> {
    let one = prop_oneof![
        8 => step(members).prop_map(Trouble::Link),
        2 => (0..members, any::<bool>()).prop_map(|(member, is_rebinding)| Trouble::Move { member, is_rebinding }),
        1 => (0..members).prop_map(|member| Trouble::Back { member }),
        2 => (0..2usize, 1..250u8).prop_map(|(end, ms)| Trouble::Late { end, ms }),
        1 => (0..2usize, 1..250u8).prop_map(|(end, ms)| Trouble::Sleep { end, ms }),
        1 => prop::option::of(0..members).prop_map(|member| Trouble::Refuse { member }),
    ];
    prop::collection::vec(one, 1..40)
}

fn go_back(world: &mut World) {
    for end in 0..2 {
        for member in std::mem::take(&mut world.not_validated[end]) {
            world.step(end, Some(BondInput::MemberMoved { member, moved: Moved::Known }));
        }
    }
}

fn play(world: &mut World, troubles: &[Trouble]) {
    let ms = Duration::from_millis(1);
    for (number, trouble) in troubles.iter().enumerate() {
        match *trouble {
            Trouble::Link(ref step) => play_on(world, std::slice::from_ref(step)),
            Trouble::Move { member, is_rebinding } => {
                let moved = Moved::Unknown { token: [number as u8; 8], is_rebinding };
                world.moves.insert(Member(member as u8), moved);
            }
            Trouble::Back { member } => drop(world.moves.insert(Member(member as u8), Moved::Known)),
            Trouble::Late { end, ms: late } => {
                for tick in 0..late {
                    if tick % 4 == 0 {
                        (0..2).for_each(|end| world.give(end, 1_000, 0, TrafficClass::Bulk));
                    }
                    let since = world.now;
                    world.run(ms);
                    world.step(end, Some(BondInput::Late { since, until: since + ms }));
                }
            }
            Trouble::Sleep { end, ms } => world.sleep(end, Duration::from_millis(ms.into())),
            Trouble::Refuse { member } => world.refuses = member.map(|member| Member(member as u8)),
        }
        go_back(world);
    }
}

/// Everything works again for [`HEALED`]; then one packet each way comes within a second.
fn recovers(members: usize, troubles: &[Trouble], seed: u64) -> Result<(), TestCaseError> {
    let ms = Duration::from_millis;
    let ways = [Way::new(5, ms(2), 0), Way::new(20, ms(15), 20), Way::new(2, ms(60), 100)];
    let mut world = World::new(usual(), &ways[..members], seed);
    play(&mut world, troubles);
    mend(&mut world, members);
    let end = world.now + HEALED;
    while world.now < end {
        world.run(ms(100));
        go_back(&mut world);
    }
    for end in 0..2 {
        let id = world.given[end];
        world.give(end, 100, 9, TrafficClass::Bulk);
        world.run(ms(1_000));
        let has_come = world.delivered[end].iter().any(|packet| packet.id == id);
        prop_assert!(has_come, "from {} {:?} {:?}", end, world.ends[end].status(), world.ends[1 - end].status());
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_single_member_works_again(troubles in troubles(1), seed: u64) {
        recovers(1, &troubles, seed)?;
    }

    #[test]
    fn a_bond_works_again(troubles in troubles(3), seed: u64) {
        recovers(3, &troubles, seed)?;
    }
}
