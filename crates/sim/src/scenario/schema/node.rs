//! `[[node]]`: hosts and routers with their positions, movement, radios and routes.

use super::radio_pool::RadioPool;
use super::{NODES_MAX, Names, RADIOS_MAX, erp, radio, spectrum};
use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, Context, View, quantity};
use crate::scenario::spec::{Host, Interface, Link, Mobility, Node, Position, Radio, Route, Trunk};
use crate::scenario::tree::{Data, Table, Value};
use airbraid_units::{Duration, Instant, Metres, Quantity, Speed};
use std::sync::Arc;

/// Reads all nodes but their routes, which name things that are read later.
pub(super) fn read(views: &[View<'_>], defaults: Option<&Table>) -> Vec<Node> {
    if let Some(view) = views.get(NODES_MAX) {
        let message = format!("{} nodes are more than a run may have", views.len());
        view.cx.complain(view.place, Complaint::new(message, format!("at most {NODES_MAX}")));
    }
    let mut pool = RadioPool::default();
    views.iter().take(NODES_MAX).map(|view| one(view, defaults, &mut pool)).collect()
}

fn one(view: &View<'_>, defaults: Option<&Table>, pool: &mut RadioPool) -> Node {
    let name = view.name();
    let position = view.optional("position", "the origin", place);
    let mobility = mobility(view);
    let radios = radios(view, defaults, pool);
    if position.is_none() && !radios.is_empty() && view.find("position").is_none() {
        let message = format!("node `{name}` has radios but no place");
        view.cx.complain(view.place, Complaint::new(message, "add position = [\"0 m\", \"0 m\"]"));
    }
    let position = position.unwrap_or_default();
    Node { name, position, mobility, radios, routes: Vec::new(), host: host(view) }
}

/// The role of the node in a lab.
fn host(view: &View<'_>) -> Host {
    let words = [("simulated", false), ("namespace", true)];
    let is_real = view.optional("host", "simulated", |value| reader::choose(value, &words)).unwrap_or(false);
    let words = [("trunk", Host::Trunk), ("radios", Host::Radios)];
    let why = "trunk: one interface";
    view.apply(is_real);
    let attach = view.optional("attach", why, |value| reader::choose(value, &words));
    view.apply(true);
    let message = || "`attach` says how a namespace is attached, and this node has none".to_owned();
    view.require(is_real || attach.is_none(), "attach", message, "add host = \"namespace\"");
    if is_real { attach.unwrap_or(Host::Trunk) } else { Host::Simulated }
}

/// Furthest place from the origin, in either direction: half of the way round the Earth. The plane is flat.
pub(super) const FURTHEST: Metres = Metres(2e7);

/// Complaint about a place beyond.
pub(super) const TOO_FAR: &str = "that is further than anything on Earth";

/// Fastest movement: that of light. \[m/s\]
const FASTEST: Speed = Speed(299_792_458.0);

/// A place: east and north of the origin.
fn place(value: &Value) -> Result<Position, Complaint> {
    let (x, y): (Metres, Metres) = pair(value)?;
    if x.0.abs().max(y.0.abs()) > FURTHEST.0 {
        return Err(Complaint::new(TOO_FAR, "write at most \"20000 km\""));
    }
    Ok(Position { x, y })
}

/// A velocity: towards east and north.
fn velocity(value: &Value) -> Result<(Speed, Speed), Complaint> {
    let (x, y): (Speed, Speed) = pair(value)?;
    if x.0.abs().max(y.0.abs()) > FASTEST.0 {
        return Err(Complaint::new("that is faster than light", "write for example [\"1.5 m/s\", \"0 m/s\"]"));
    }
    Ok((x, y))
}

/// Two quantities: east and north.
fn pair<Q: Quantity>(value: &Value) -> Result<(Q, Q), Complaint> {
    match reader::list(value)? {
        [x, y] => Ok((quantity(x)?, quantity(y)?)),
        other => {
            let message = format!("two values are needed, east and north; these are {}", other.len());
            Err(Complaint::new(message, format!("write [\"{0}\", \"{0}\"]", Q::EXAMPLE)))
        }
    }
}

fn mobility(view: &View<'_>) -> Mobility {
    let velocity = view.optional("velocity", "it stays", velocity);
    let waypoints = view.optional("waypoints", "it stays", reader::list);
    match (velocity, waypoints) {
        (None, None) => Mobility::Static,
        (Some((x, y)), None) => Mobility::Velocity { x, y },
        (None, Some(points)) => Mobility::Waypoints(self::waypoints(view, points)),
        (Some(_), Some(_)) => {
            view.complain(
                "waypoints",
                Complaint::new("`velocity` and `waypoints` contradict each other", "keep one of them"),
            );
            Mobility::Static
        }
    }
}

fn waypoints(view: &View<'_>, points: &[Value]) -> Vec<(Instant, Position)> {
    let mut read: Vec<(Instant, Position)> = Vec::with_capacity(points.len());
    for (i, point) in points.iter().enumerate() {
        let Data::Table(table) = &point.data else {
            let help = "write { at = \"10 s\", position = [\"0 m\", \"0 m\"] }";
            view.cx.complain(
                point.place,
                Complaint::new(format!("a waypoint is a table, this is {}", point.kind()), help),
            );
            continue;
        };
        let inner = View::new(view.cx, format!("{}.waypoints.{i}", view.path), point.place, Some(table));
        let at = inner.required("at", "\"10 s\"", quantity::<Duration>);
        let to = inner.required("position", "[\"0 m\", \"0 m\"]", place);
        if let (Some(at), Some(to)) = (at, to) {
            let at = Instant::ZERO.saturating_add(at);
            let ascends = read.last().is_none_or(|(before, _)| *before < at);
            inner.require(ascends, "at", || "the times of waypoints must ascend".to_owned(), "put them in order");
            read.push((at, to));
        }
        inner.finish();
    }
    read
}

/// Reads the radios of a node.
pub(super) fn radios(view: &View<'_>, defaults: Option<&Table>, pool: &mut RadioPool) -> Vec<Arc<Radio>> {
    let of_node = view.sub("radio");
    let of_node_table = view.find("radio").and_then(|f| match &f.value.data {
        Data::Table(table) => Some(table),
        _ => None,
    });
    check_defaults(of_node, defaults);
    let items = view.optional("radios", "none", reader::list).unwrap_or(&[]);
    if let Some(item) = items.get(RADIOS_MAX) {
        let message = format!("{} radios are more than a node may have", items.len());
        view.cx.complain(item.place, Complaint::new(message, format!("at most {RADIOS_MAX}")));
    }
    let mut names = Names::new("radio");
    let mut radios = Vec::with_capacity(items.len().min(RADIOS_MAX));
    for item in items.iter().take(RADIOS_MAX) {
        let (channel, table) = match &item.data {
            Data::Integer(_) => (reader::count(item), None),
            Data::Table(table) => (Ok(0), Some(table)),
            _ => {
                let help = "write a channel number, or { name = \"ch1\", channel = 1, ... }";
                (Err(Complaint::new(format!("a radio is a number or a table, this is {}", item.kind()), help)), None)
            }
        };
        match channel {
            Ok(channel) => {
                let read = || one_radio(view, item, channel, table, of_node_table, defaults);
                let is_plain = table.is_none() && of_node_table.is_none();
                let radio = if is_plain { pool.plain(view.cx, channel, read) } else { pool.shared(read()) };
                names.add(view.cx, &radio.name, item.place);
                radios.push(radio);
            }
            Err(complaint) => view.cx.complain(item.place, complaint),
        }
    }
    radios
}

/// Reads `[radio]` or a node's `radio` on its own, so that its errors are found once and its keys are known.
pub(super) fn check_defaults(view: View<'_>, defaults: Option<&Table>) {
    if view.is_present() {
        let mut view = view.over(defaults, "[radio]");
        let (_, mac, _) = radio::read(&mut view, None);
        radio::delivery_loss(&view);
        spectrum::read(&view, None, &mac);
        erp::read(&view, None, &mac);
        view.finish();
    }
}

fn one_radio(
    node: &View<'_>,
    item: &Value,
    channel: u32,
    table: Option<&Table>,
    of_node: Option<&Table>,
    defaults: Option<&Table>,
) -> Radio {
    // The path needs the name before the view is made that reports errors under it.
    let peeked = table.and_then(|t| t.get("name").or_else(|| t.get("channel"))).map(|v| match &v.data {
        Data::Text(name) => name.clone(),
        Data::Integer(n) => format!("ch{n}"),
        _ => "?".to_owned(),
    });
    let path = format!("{}.radios.{}", node.path, peeked.unwrap_or_else(|| format!("ch{channel}")));
    let mut view =
        View::new(node.cx, path, item.place, table).over(of_node, "the node's radio").over(defaults, "[radio]");
    let channel = match table {
        Some(_) if radio::is_slotted(&view) => {
            let message = || "a radio with virtual stations is on the channels of its access points".to_owned();
            view.require(view.find("channel").is_none(), "channel", message, "leave it out");
            0
        }
        Some(_) => view.required("channel", "1", reader::count).unwrap_or(0),
        None => {
            view.know("channel");
            channel
        }
    };
    let name = view.read("name", format!("ch{channel}"), "from the channel", reader::name);
    let delivery_loss = radio::delivery_loss(&view);
    let (radio, mac, link_layer) = radio::read(&mut view, Some(channel));
    let spectrum = spectrum::read(&view, Some(channel), &mac);
    let beside_dsss = erp::read(&view, Some(channel), &mac);
    view.finish();
    Radio { name, channel, spectrum, radio, mac, beside_dsss, link_layer, delivery_loss }
}

/// Reads the routes of each node but the first `placed`, when everything that they can name is known.
pub(super) fn read_routes(views: &[View<'_>], nodes: &mut [Node], placed: usize, trunks: &[Trunk], links: &[Link]) {
    let names: Vec<String> = nodes.iter().map(|n| n.name.clone()).collect();
    for (own, view) in (placed..nodes.len()).zip(views) {
        let Some(items) = view.optional("routes", "the path of fewest hops", reader::list) else { continue };
        let mut routes = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let Data::Table(table) = &item.data else {
                let help = "write { to = \"c\", via = \"b\" }";
                view.cx
                    .complain(item.place, Complaint::new(format!("a route is a table, this is {}", item.kind()), help));
                continue;
            };
            let inner = View::new(view.cx, format!("{}.routes.{i}", view.path), item.place, Some(table));
            let to = super::index_of(&inner, "to", "node", &names);
            let via = super::index_of(&inner, "via", "node", &names);
            let interface = interface(&inner, own, &nodes[own], trunks, links);
            if let (Some(to), Some(via)) = (to, via) {
                inner.require(to != own, "to", || "a node needs no route to itself".to_owned(), "leave it out");
                inner.require(via != own, "via", || "the next hop is another node".to_owned(), "name a neighbour");
                routes.push(Route { to, via, interface });
            }
            inner.finish();
        }
        nodes[own].routes = routes;
    }
}

/// `interface = "ch1"`, or the name of a trunk or link that ends at this node.
fn interface(view: &View<'_>, own: usize, node: &Node, trunks: &[Trunk], links: &[Link]) -> Option<Interface> {
    let mut all: Vec<(&str, Interface)> = Vec::new();
    all.extend(node.radios.iter().enumerate().map(|(i, r)| (r.name.as_str(), Interface::Radio(i))));
    let ends = |between: &[usize; 2]| between.contains(&own);
    let trunks = trunks.iter().enumerate().filter(|(_, t)| ends(&t.between()));
    all.extend(trunks.map(|(i, t)| (t.name(), Interface::Trunk(i))));
    let links = links.iter().enumerate().filter(|(_, l)| ends(&l.between));
    all.extend(links.map(|(i, l)| (l.name.as_str(), Interface::Link(i))));
    view.optional("interface", "the first that reaches the neighbour: trunk, radio, link", |value| {
        let given = reader::text(value)?;
        let found = all.iter().find(|(name, _)| *name == given).map(|(_, interface)| *interface);
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            let message = format!("node `{}` has no interface `{given}`", node.name);
            Complaint::new(message, crate::scenario::nearest::suggestion(&given, &names))
        })
    })
}

/// Radios as `[[at]]` and `[record]` name them: `node/radio`.
pub(super) fn find_radio(cx: &Context, value: &Value, nodes: &[Node]) -> Option<(usize, usize)> {
    let names: Vec<String> =
        nodes.iter().flat_map(|n| n.radios.iter().map(move |r| format!("{}/{}", n.name, r.name))).collect();
    let lookup = || {
        let given = reader::text(value)?;
        let found = nodes.iter().enumerate().find_map(|(n, node)| {
            let (name, radio) = given.split_once('/')?;
            let index = node.radios.iter().position(|r| r.name == radio)?;
            (node.name == name).then_some((n, index))
        });
        found.ok_or_else(|| {
            let names: Vec<&str> = names.iter().take(50).map(String::as_str).collect();
            let message = format!("there is no radio `{given}`");
            Complaint::new(message, crate::scenario::nearest::suggestion(&given, &names))
        })
    };
    lookup().map_err(|complaint: Complaint| cx.complain(value.place, complaint)).ok()
}
