//! Upper bounds that no arrangement exceeds, without a search over all of them, for
//! [`branch_and_bound`](super::branch_and_bound).
//!
//! A station alone: the time of the others, cut into as many gaps as it has slots, leaves one that is at least the
//! mean, and at least one that holds the mean number of slots, rounded up. Several stations together: let every slot of
//! the others be as short as the shortest of them and belong to nobody; any arrangement of all stations is one of these
//! too, with disconnections no longer, so the best of these is a bound for them.

use super::search::Search;
use super::{Arrangement, Layout, Objective};

/// Number of stations in one group: larger ones are too much to search.
const GROUP: usize = 3;

/// For each station a lower bound on its disconnection \[ns\].
pub(super) fn floors_ns(layout: &Layout) -> Vec<u64> {
    let stations = layout.stations();
    let slots = layout.slots();
    let mut sizes: Vec<(u64, usize)> = Vec::with_capacity(slots);
    for (i, station) in stations.iter().enumerate() {
        sizes.extend(std::iter::repeat_n((station.size_ns, i), station.count as usize));
    }
    sizes.sort_unstable();
    let idle = layout.idle().as_nanos();
    let busy: u64 = sizes.iter().map(|(size, _)| size).sum();
    let floor = |(i, station): (usize, &super::Station)| {
        let count = u64::from(station.count);
        let mean = (busy + idle - count * station.size_ns).div_ceil(count);
        let fewest = (slots - station.count as usize).div_ceil(station.count as usize);
        let shortest = sizes.iter().filter(|(_, owner)| *owner != i).take(fewest).map(|(size, _)| size).sum();
        mean.max(shortest).max(idle)
    };
    stations.iter().enumerate().map(floor).collect()
}

/// A bound on the worth of every arrangement: stations in groups, those that count most together, each group's best by
/// a search of at most `nodes` steps. `known` is an arrangement to begin with. Returns the bound and the steps.
pub(super) fn grouped(layout: &Layout, objective: &Objective, known: &Arrangement, nodes: u64) -> (u128, u64) {
    let floors = floors_ns(layout);
    let mut order: Vec<usize> = (0..floors.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(objective.term(*i, floors[*i])), *i));
    let groups: Vec<&[usize]> = order.chunks(GROUP).collect();
    let mut bound = 0_u128;
    let mut steps = 0;
    for group in &groups {
        let alone: u128 = group.iter().map(|i| objective.term(*i, floors[*i])).sum();
        if group.len() == 1 || layout.stations().len() <= group.len() {
            bound += alone;
            continue;
        }
        let relaxed = layout.relaxed(group);
        let part = objective.part(group);
        let mut floors: Vec<u64> = group.iter().map(|i| floors[*i]).collect();
        floors.push(0);
        // Others are the filler, which is the last.
        let member = |owner: &u8| group.iter().position(|i| *i == usize::from(*owner)).unwrap_or(group.len()) as u8;
        let owners: Vec<u8> = known.owners().iter().map(member).collect();
        let found = Search::new(&relaxed, &part, &floors).run(&Arrangement { owners }, nodes / groups.len() as u64);
        bound += found.bound.min(alone);
        steps += found.nodes;
    }
    (bound, steps)
}
