//! The map of a cell as it stood in the first replication: nodes with their ranges and ways, and what joins them.

use super::number::rounded;
use crate::stored::Stored;
use airbraid_sim::drawn;
use airbraid_sim::phy::mobility::position_at;
use airbraid_sim::phy::path_loss::{Antenna, Transmitter, threshold_power};
use airbraid_sim::scenario::spec::{Mobility, Node, Position, Radio, Spec};
use airbraid_units::{Duration, Instant};
use serde_json::{Value, json};

/// Largest number of places of a node's way that are drawn.
const PLACES_MAX: usize = 500;

/// A length or time of the map, to seven digits: a metre in a thousand kilometres.
fn number(x: f64) -> Value {
    rounded(x, 7)
}

/// The map.
pub fn map(result: &Stored, index: usize) -> Value {
    let seed = result.cells[index].runs.first().and_then(|run| run.get("seed")?.as_u64());
    let Some(cell) = result.plan.cells.get(index) else { return Value::Null };
    let spec = &*drawn(&cell.spec, seed.unwrap_or(cell.spec.seed));
    let has_radios = spec.nodes.iter().any(|node| !node.radios.is_empty());
    let edge = |kind: &str, name: &str, ends: [usize; 2]| json!([kind, name, ends[0], ends[1]]);
    let mut edges: Vec<Value> = spec.links.iter().map(|link| edge("link", &link.name, link.between)).collect();
    edges.extend(spec.trunks.iter().map(|trunk| edge("trunk", trunk.name(), trunk.between())));
    for slots in &spec.slots {
        let points = slots.access_points.iter().map(|(point, _)| edge("access", &slots.name, [slots.radio.0, *point]));
        edges.extend(points);
    }
    edges.extend(spec.flows.iter().map(|flow| edge("flow", &flow.name, [flow.from, flow.to])));
    json!({
        "seed": seed,
        "placed": has_radios,
        "nodes": spec.nodes.iter().enumerate().map(|(at, node)| of_node(spec, at, node)).collect::<Vec<_>>(),
        "edges": edges,
        "members": members(spec),
    })
}

fn of_node(spec: &Spec, at: usize, node: &Node) -> Value {
    let is_access_point = spec.slots.iter().any(|slots| slots.access_points.iter().any(|(point, _)| *point == at));
    json!({
        "name": node.name,
        "x": number(node.position.x.0),
        "y": number(node.position.y.0),
        "way": way(node, spec.duration),
        "ap": is_access_point,
        "radios": node.radios.iter().map(|radio| of_radio(radio)).collect::<Vec<_>>(),
    })
}

/// A radio with the distances \[m\] at which one like it can decode its frames and senses its carrier; null where every
/// distance is within.
fn of_radio(radio: &Radio) -> Value {
    let transmitter = Transmitter::new(&radio.radio);
    let range = |threshold| transmitter.range(Antenna::of(&radio.radio), threshold_power(&radio.radio, threshold)).0;
    json!([radio.name, radio.channel, number(range(radio.radio.reception)), number(range(radio.radio.carrier_sense))])
}

/// The places \[s, m, m\] between which a node moves in straight lines; empty where it stays.
fn way(node: &Node, duration: Duration) -> Value {
    let end = Instant::ZERO + duration;
    let point = |at: Instant, place: Position| json!([number(at.as_secs_f64()), number(place.x.0), number(place.y.0)]);
    let last = || point(end, position_at(node.position, &node.mobility, end));
    match &node.mobility {
        Mobility::Static => json!([]),
        Mobility::Velocity { .. } => json!([point(Instant::ZERO, node.position), last()]),
        Mobility::Waypoints(points) => {
            let within = points.iter().take_while(|(at, _)| *at < end).count();
            let begin = std::iter::once(point(Instant::ZERO, node.position));
            let shown = points.iter().take(within.min(PLACES_MAX)).map(|(at, place)| point(*at, *place));
            // A way with more places ends where the last one that is shown is.
            begin.chain(shown).chain((within <= PLACES_MAX).then(last)).collect()
        }
    }
}

/// The members of each trunk, as text.
fn members(spec: &Spec) -> Value {
    let of_radios = spec.trunks.iter().filter(|trunk| trunk.links().is_none()).map(|trunk| {
        let radio = |member: &[usize; 2]| spec.nodes[trunk.between()[0]].radios[member[0]].name.clone();
        (trunk.name().to_owned(), trunk.radio_members().iter().map(radio).collect::<Vec<_>>().join(", "))
    });
    let of_links = spec.link_trunks().map(|trunk| {
        let link = |member: &airbraid_sim::scenario::spec::LinkMember| spec.links[member.link].name.clone();
        (trunk.name.clone(), trunk.members.iter().map(link).collect::<Vec<_>>().join(", "))
    });
    of_radios.chain(of_links).map(|(name, members)| json!([name, members])).collect()
}
