//! Parts of a scenario that have nothing to do with each other: radios that never hear one another, and no link, trunk
//! or flow between them. They can be played side by side, and what comes of it is the same to the byte: each machine
//! has random numbers of its own, and nothing else is shared.

use super::medium::Medium;
use super::radio_map::RadioMap;
use super::share::Share;
use super::together::Together;
use crate::scenario::spec::{Mobility, Spec};

/// For each node the number of its part, from 0 on; all are in one where parts cannot be told.
///
/// Where radios move or what they hear varies, everything may come to hear everything. Packet killers count frames of
/// all, and hosts with several access points choose by the flows of all.
pub fn parts(spec: &Spec, seed: u64) -> Vec<usize> {
    let mut together = Together::new(spec.nodes.len());
    let radios = || spec.nodes.iter().flat_map(|node| &node.radios);
    let is_static = spec.nodes.iter().all(|node| node.mobility == Mobility::Static)
        && radios().all(|radio| radio.radio.shadowing.is_none());
    if !is_static || !spec.killers.is_empty() || !spec.slots.is_empty() {
        return vec![0; spec.nodes.len()];
    }
    let (map, mut medium) = (RadioMap::new(spec), Medium::new(spec, seed));
    let node_of: Vec<usize> =
        spec.nodes.iter().enumerate().flat_map(|(node, own)| vec![node; own.radios.len()]).collect();
    for (node, own) in spec.nodes.iter().enumerate() {
        for radio in (0..own.radios.len()).map(|place| map.id((node, place))) {
            medium.disturbed_by(radio).for_each(|other| together.join(node, node_of[other.index()]));
        }
    }
    spec.links.iter().for_each(|link| together.join(link.between[0], link.between[1]));
    spec.trunks.iter().for_each(|trunk| together.join(trunk.between()[0], trunk.between()[1]));
    spec.flows.iter().for_each(|flow| together.join(flow.from, flow.to));
    together.numbered()
}

/// Divides the parts of a scenario among up to `count` worlds of about the same load; fewer where there are fewer parts
/// with something to do.
pub fn shares(spec: &Spec, parts: &[usize], count: usize) -> Vec<Share> {
    let mut loads = vec![0; parts.iter().max().map_or(0, |last| last + 1)];
    for flow in &spec.flows {
        loads[parts[flow.from]] += 1;
    }
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by_key(|part| std::cmp::Reverse(loads[*part]));
    let busy = loads.iter().filter(|load| **load > 0).count();
    let mut sums = vec![0; count.min(busy).max(1)];
    let mut share_of = vec![0; loads.len()];
    for part in order {
        let least = (0..sums.len()).min_by_key(|share| sums[*share]).unwrap_or(0);
        (share_of[part], sums[least]) = (least, sums[least] + loads[part]);
    }
    let nodes = |share: usize| parts.iter().map(|part| share_of[*part] == share).collect();
    (0..sums.len()).map(|share| Share::of(nodes(share))).collect()
}
