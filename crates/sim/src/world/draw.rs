//! The random draws before a run: places of nodes, ends and starts of flows.
//!
//! All of it comes from streams of its own, so that every MAC and every number of flows sees the same network and the
//! same first flows on a seed.

use super::id::RadioId;
use super::medium::Medium;
use super::radio_map::RadioMap;
use super::together::Together;
use crate::phy::distance;
use crate::scenario::spec::{Mobility, Position, Scattered, Spec, Wander};
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant, Metres};
use std::borrow::Cow;

/// Number of draws of a pair of nodes until a path joins them.
const TRIES: u32 = 1_000;
/// Largest number of places of a node; then it stays: a node that fast is everywhere.
const WAYPOINTS_MAX: usize = 100_000;

/// `spec` with everything in its place that it leaves to the run of `seed`.
pub fn drawn(spec: &Spec, seed: u64) -> Cow<'_, Spec> {
    let leaves = |flow: &crate::scenario::spec::Flow| flow.random_ends || !flow.start_jitter.is_zero();
    if spec.scattered.is_none() && !spec.flows.iter().any(leaves) {
        return Cow::Borrowed(spec);
    }
    let mut spec = spec.clone();
    if let Some(Scattered { count, area, wander }) = spec.scattered {
        let end = Instant::ZERO.saturating_add(spec.warm_up).saturating_add(spec.duration);
        for (index, node) in spec.nodes.iter_mut().take(count).enumerate() {
            node.position = somewhere(area, &mut Stream::new(seed, index as u64, "topology.position"));
            if let Some(wander) = wander {
                let mut random = Stream::new(seed, index as u64, "topology.waypoints");
                node.mobility = Mobility::Waypoints(way(wander, node.position, area, end, &mut random));
            }
        }
    }
    let is_random = spec.flows.iter().any(|flow| flow.random_ends);
    let parts = if is_random { parts(&spec, seed) } else { Vec::new() };
    for (index, flow) in spec.flows.iter_mut().enumerate() {
        if flow.random_ends {
            (flow.from, flow.to) = pair(&parts, &mut Stream::new(seed, index as u64, "topology.ends"));
        }
        if !flow.start_jitter.is_zero() {
            let mut random = Stream::new(seed, index as u64, "flow.start");
            let wait = flow.start_jitter.as_nanos() as f64 * uniform(&mut random);
            flow.start = flow.start.saturating_add(Duration::from_nanos(wait as u64));
        }
    }
    Cow::Owned(spec)
}

fn somewhere(area: Position, random: &mut Stream) -> Position {
    Position { x: Metres(area.x.0 * uniform(random)), y: Metres(area.y.0 * uniform(random)) }
}

/// Where a node goes from `start` until `end`, and when it is there.
fn way(wander: Wander, start: Position, area: Position, end: Instant, random: &mut Stream) -> Vec<(Instant, Position)> {
    let (mut now, mut at, mut points) = (Instant::ZERO, start, Vec::new());
    while now < end && points.len() < WAYPOINTS_MAX {
        let to = somewhere(area, random);
        let walk = Duration::from_nanos((distance(at, to).0 / wander.speed.0 * 1e9) as u64);
        (now, at) = (now.saturating_add(walk), to);
        points.push((now, at));
        if !wander.pause.is_zero() {
            now = now.saturating_add(wander.pause);
            points.push((now, at));
        }
    }
    points
}

/// Two different nodes of one part, if there is such a pair.
fn pair(parts: &[usize], random: &mut Stream) -> (usize, usize) {
    let last = parts.len().saturating_sub(1) as u32;
    let mut any = (0, last as usize);
    for _ in 0..TRIES {
        any = (random.up_to(last) as usize, random.up_to(last) as usize);
        if any.0 != any.1 && parts[any.0] == parts[any.1] {
            return any;
        }
    }
    // The network has no edge. Both ends differ, and what is sent finds no route.
    if any.0 == any.1 { (any.0, (any.0 + 1) % parts.len().max(1)) } else { any }
}

/// For each node the number of its part of the network: within a part, paths of radios join all, both ways.
fn parts(spec: &Spec, seed: u64) -> Vec<usize> {
    let mut medium = Medium::new(spec, seed);
    let radio_map = RadioMap::new(spec);
    // A node is in the network by its first radio.
    let with_radio = spec.nodes.iter().enumerate().filter(|(_, node)| !node.radios.is_empty());
    let first: Vec<(usize, RadioId)> = with_radio.map(|(node, _)| (node, radio_map.id((node, 0)))).collect();
    let reached: Vec<Vec<RadioId>> = first.iter().map(|(_, radio)| medium.reached_by(*radio)).collect();
    let mut together = Together::new(spec.nodes.len());
    for ((node, radio), there) in first.iter().zip(&reached) {
        for other in there {
            if let Ok(place) = first.binary_search_by_key(other, |(_, first)| *first)
                && reached[place].binary_search(radio).is_ok()
            {
                together.join(*node, first[place].0);
            }
        }
    }
    together.numbered()
}

/// Uniform in \[0, 1), 53 bits.
fn uniform(random: &mut Stream) -> f64 {
    (random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
}
