//! `[topology]`: nodes placed by a rule, `n1`, `n2`, ... by rows; those of `[[node]]` follow.

use super::radio_pool::RadioPool;
use super::{NODES_MAX, node};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{View, quantity};
use crate::scenario::spec::{Host, Mobility, Node, Position, Scattered, Wander};
use crate::scenario::tree::{Data, Table, Value};
use airbraid_units::{Duration, Metres, Speed};

/// The arrangement of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Chain,
    Grid,
    /// The first in the middle, the others around it at one distance.
    Circle,
    Random,
}

const SHAPES: [(&str, Shape); 4] =
    [("chain", Shape::Chain), ("grid", Shape::Grid), ("circle", Shape::Circle), ("random", Shape::Random)];

/// The nodes, and the area over which each run scatters them by its seed, if it does.
pub(super) fn read(view: View<'_>, defaults: Option<&Table>) -> (Vec<Node>, Option<Scattered>) {
    if !view.is_present() {
        return (Vec::new(), None);
    }
    let shape = view.required("shape", "\"chain\"", |value| crate::scenario::reader::choose(value, &SHAPES));
    let shape = shape.unwrap_or(Shape::Chain);
    let radios = node::radios(&view, defaults, &mut RadioPool::default());
    let by_count = shape != Shape::Grid;
    let (columns, rows) = match shape {
        Shape::Grid => (needed(&view, "columns"), needed(&view, "rows")),
        Shape::Chain | Shape::Circle | Shape::Random => (needed(&view, "count"), 1),
    };
    let count = columns as usize * rows as usize;
    let key = if by_count { "count" } else { "columns" };
    let message = || format!("{count} nodes are more than a run may have");
    view.require(count <= NODES_MAX, key, message, &format!("at most {NODES_MAX}"));
    let spacing = match shape {
        Shape::Random => Metres(0.0),
        Shape::Circle => view.required("radius", "\"10 m\"", length).unwrap_or(Metres(1.0)),
        Shape::Chain | Shape::Grid => view.required("spacing", "\"250 m\"", length).unwrap_or(Metres(1.0)),
    };
    let area = (shape == Shape::Random).then(|| view.required("area", "[\"500 m\", \"500 m\"]", area)).flatten();
    let wander = if shape == Shape::Random { wander(&view) } else { None };
    let place = |index: usize| match shape {
        Shape::Circle => on_circle(index, count, spacing),
        Shape::Chain | Shape::Grid | Shape::Random => Position {
            x: Metres(spacing.0 * (index % columns as usize) as f64),
            y: Metres(spacing.0 * (index / columns as usize) as f64),
        },
    };
    let node = |index: usize| Node {
        name: format!("n{}", index + 1),
        position: place(index),
        mobility: Mobility::Static,
        radios: radios.clone(),
        routes: Vec::new(),
        host: Host::Simulated,
    };
    view.finish();
    let nodes: Vec<Node> = (0..count.min(NODES_MAX)).map(node).collect();
    let scattered = area.map(|area| Scattered { count: nodes.len(), area, wander });
    (nodes, scattered)
}

/// The place of node `index` of `count`: the middle, then evenly spaced around it, the first to the east.
fn on_circle(index: usize, count: usize, radius: Metres) -> Position {
    if index == 0 {
        return Position { x: Metres(0.0), y: Metres(0.0) };
    }
    let angle = 2.0 * std::f64::consts::PI * (index - 1) as f64 / (count - 1) as f64;
    Position { x: Metres(radius.0 * libm::cos(angle)), y: Metres(radius.0 * libm::sin(angle)) }
}

fn wander(view: &View<'_>) -> Option<Wander> {
    let speed = view.optional("speed", "they stay", quantity::<Speed>);
    let pause = view.optional("pause", "none", quantity::<Duration>);
    let moves = || "only nodes that move rest".to_owned();
    view.require(speed.is_some() || pause.is_none(), "pause", moves, "give a `speed` as well");
    let speed = speed?;
    let is_speed = speed.0 >= 0.01 && speed.0 <= 1_000.0;
    let message = || "this is no speed of a node".to_owned();
    view.require(is_speed, "speed", message, "from \"0.01 m/s\" to \"1000 m/s\"");
    is_speed.then_some(Wander { speed, pause: pause.unwrap_or(Duration::ZERO) })
}

fn needed(view: &View<'_>, key: &'static str) -> u32 {
    let count = view.required(key, "10", crate::scenario::reader::count).unwrap_or(1);
    view.require(count > 0, key, || "there must be a node".to_owned(), "write 1 or more");
    count.max(1)
}

fn length(value: &Value) -> Result<Metres, Complaint> {
    let span: Metres = quantity(value)?;
    if span.0 > node::FURTHEST.0 {
        return Err(Complaint::new(node::TOO_FAR, "write for example \"250 m\""));
    }
    if span.0 > 0.0 {
        Ok(span)
    } else {
        Err(Complaint::new("a distance between nodes is above zero", "write for example \"250 m\""))
    }
}

fn area(value: &Value) -> Result<Position, Complaint> {
    match &value.data {
        Data::List(sides) if sides.len() == 2 => Ok(Position { x: length(&sides[0])?, y: length(&sides[1])? }),
        _ => Err(Complaint::new("an area has two sides", "write [\"500 m\", \"500 m\"]")),
    }
}
