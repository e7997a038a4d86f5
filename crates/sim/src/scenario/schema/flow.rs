//! `[[flow]]`: transfers with their ends, over TCP or UDP.

use super::node::find_radio;
use super::{FLOWS_MAX, Names, position};
use crate::scenario::error::Complaint;
use crate::scenario::mark::{MARKS, Mark};
use crate::scenario::reader::{self, View, choose, quantity};
use crate::scenario::spec::{Flow, Node, Slots, Transport};
use crate::scenario::tree::{Data, Value};
use airbraid_mac::edca::AccessCategory;
use airbraid_net::source::Source;
use airbraid_net::tcp::{Config, Profile, Variant};
use airbraid_units::{BitRate, Bytes, Duration, Instant};

const VARIANTS: [(&str, Variant); 5] = [
    ("reno", Variant::Reno),
    ("newreno", Variant::NewReno),
    ("sack", Variant::Sack),
    ("cubic", Variant::Cubic),
    ("bbr", Variant::Bbr),
];
const CATEGORIES: [(&str, AccessCategory); 4] = [
    ("vo", AccessCategory::Voice),
    ("vi", AccessCategory::Video),
    ("be", AccessCategory::BestEffort),
    ("bk", AccessCategory::Background),
];
const PROFILES: [(&str, Profile); 3] = [("rfc", Profile::Rfc), ("linux", Profile::Linux), ("bsd", Profile::Bsd)];
/// The largest payload of a UDP datagram over IPv4.
const UDP_MAX: u64 = 65_507;

pub(super) fn read(views: &[View<'_>], all: &[Node], slots: &[Slots]) -> Vec<Flow> {
    let nodes: Vec<String> = all.iter().map(|node| node.name.clone()).collect();
    if let Some(view) = views.get(FLOWS_MAX) {
        view.cx.complain(view.place, Complaint::new("these are too many flows", format!("at most {FLOWS_MAX}")));
    }
    let mut names = Names::new("flow");
    let mut flows = Vec::new();
    for view in views.iter().take(FLOWS_MAX) {
        let (flow, is_each) = one(view, &nodes);
        let via = via(view, &flow, all, slots);
        let flow = Flow { via, ..flow };
        let flows_of = if is_each { from_each(&flow, nodes.len()) } else { several(view, flow) };
        for flow in &flows_of {
            names.add(view.cx, &flow.name, view.place_of("name"));
        }
        flows.extend(flows_of);
    }
    flows
}

/// The access point that a flow is bound to: one of those of the host at either end.
fn via(view: &View<'_>, flow: &Flow, nodes: &[Node], slots: &[Slots]) -> Option<(usize, usize)> {
    let found = view.find("via");
    let Some(found) = found else {
        view.apply(!slots.is_empty());
        view.note("via", "-", None, "where there are several access points, the load balancer chooses");
        view.apply(true);
        return None;
    };
    let at = find_radio(view.cx, found.value, nodes)?;
    view.note("via", reader::text(found.value).unwrap_or_default(), Some(found), "");
    let ends = |slots: &&Slots| [flow.from, flow.to].contains(&slots.radio.0) && !flow.random_ends;
    let is_known = slots.iter().filter(ends).any(|slots| slots.access_points.contains(&at));
    let message = || "neither end of the flow has a virtual station there".to_owned();
    view.require(is_known, "via", message, "name one of the `access_points` of its [[slots]]");
    Some(at)
}

/// `count` flows like this one, with their numbers at the ends of their names; without it the one.
fn several(view: &View<'_>, flow: Flow) -> Vec<Flow> {
    let Some(count) = view.optional("count", "one, without a number in its name", reader::count) else {
        return vec![flow];
    };
    let some = (1..=FLOWS_MAX as u32).contains(&count);
    view.require(some, "count", || format!("there cannot be {count} flows"), &format!("1 to {FLOWS_MAX}"));
    let numbered = |number: u32| Flow { name: format!("{}{number}", flow.name), ..flow.clone() };
    (1..=count.clamp(1, FLOWS_MAX as u32)).map(numbered).collect()
}

/// A flow like this one from every node but that which it goes to, numbered in the order of nodes.
fn from_each(flow: &Flow, nodes: usize) -> Vec<Flow> {
    let others = (0..nodes).filter(|&node| node != flow.to);
    let numbered = |(n, from): (usize, usize)| Flow { name: format!("{}{}", flow.name, n + 1), from, ..flow.clone() };
    others.enumerate().map(numbered).collect()
}

/// An end: a node by its name, the first or the last of all, each but the other end, or any.
enum End {
    Node(usize),
    Each,
    Any,
}

fn end(view: &View<'_>, key: &'static str, nodes: &[String]) -> Option<End> {
    let example = nodes.first().map_or_else(|| "\"a-name\"".to_owned(), |n| format!("\"{n}\""));
    view.required(key, &example, |value| {
        let given = reader::text(value)?;
        match given.as_str() {
            name if nodes.iter().any(|node| node == name) => {}
            "random" => return Ok(End::Any),
            "each" if key == "from" => return Ok(End::Each),
            "first" if !nodes.is_empty() => return Ok(End::Node(0)),
            "last" if !nodes.is_empty() => return Ok(End::Node(nodes.len() - 1)),
            _ => {}
        }
        position(&given, "node", nodes).map(End::Node)
    })
}

/// The ends of a flow.
struct Ends {
    from: Option<usize>,
    to: Option<usize>,
    /// Whether both are drawn.
    is_random: bool,
    /// Whether there is a flow from each node.
    is_each: bool,
}

fn ends(view: &View<'_>, nodes: &[String]) -> Ends {
    let ends = (end(view, "from", nodes), end(view, "to", nodes));
    let is_random = matches!(ends, (Some(End::Any), Some(End::Any)));
    let half = matches!(ends, (Some(End::Any), Some(End::Node(_))) | (Some(_), Some(End::Any))) && !is_random;
    let is_each = matches!(ends.0, Some(End::Each));
    let alone = is_each && (nodes.len() < 2 || nodes.len() > FLOWS_MAX);
    view.require(!alone, "from", || format!("there are {} nodes", nodes.len()), &format!("2 to {FLOWS_MAX} nodes"));
    let twice = is_each && view.find("count").is_some();
    view.require(!twice, "count", || "each node has one flow".to_owned(), "remove it, or name one node as `from`");
    view.require(!half, "to", || "one end is drawn and the other is not".to_owned(), "write \"random\" for both");
    let lonely = is_random && nodes.len() < 2;
    view.require(!lonely, "from", || "there are no two nodes to draw".to_owned(), "add nodes");
    let index = |end: Option<End>| if let Some(End::Node(index)) = end { Some(index) } else { None };
    let (from, to) = (index(ends.0), index(ends.1));
    let loops = from.is_some() && from == to;
    view.require(!loops, "to", || "a flow goes from one node to another".to_owned(), "name two different nodes");
    Ends { from, to, is_random, is_each }
}

/// A flow, and whether it comes from each node.
fn one(view: &View<'_>, nodes: &[String]) -> (Flow, bool) {
    let name = view.name();
    let Ends { from, to, is_random, is_each } = ends(view, nodes);
    let start = view.quantity("start", Duration::ZERO, "at once");
    let stop = view.optional("stop", "never", quantity::<Duration>);
    let later = stop.is_none_or(|stop| stop > start);
    view.require(later, "stop", || "the flow stops before it starts".to_owned(), "give a later time");
    let (class, marked) = mark(view);
    let priority = access(view, marked);
    let flow = Flow {
        name,
        from: from.unwrap_or_default(),
        to: to.unwrap_or(usize::from(is_random)),
        random_ends: is_random,
        via: None,
        transport: transport(view),
        source: source(view),
        class,
        priority,
        deadline: view.optional("deadline", "none", quantity),
        start: Instant::ZERO.saturating_add(start),
        start_jitter: view.quantity("start_jitter", Duration::ZERO, "not later"),
        stop: stop.map(|stop| Instant::ZERO.saturating_add(stop)),
    };
    (flow, is_each)
}

/// The class and the user priority of a flow's DSCP.
fn mark(view: &View<'_>) -> Mark {
    let (mut mark, default) = (MARKS[0].1, MARKS[0].0);
    view.read("dscp", default.to_owned(), "best effort", |value| {
        mark = choose(value, &MARKS)?;
        reader::text(value)
    });
    mark
}

/// The user priority of a flow, by its access category or else by its DSCP.
fn access(view: &View<'_>, marked: u8) -> u8 {
    let by_dscp = AccessCategory::of_priority(marked);
    let category = view.choice("access", &CATEGORIES, by_dscp, "by `dscp` (RFC 8325)");
    if category == by_dscp { marked } else { category.priority() }
}

// --- source --------------------------------------------------------------------------------------------------------

fn source(view: &View<'_>) -> Source {
    const HELP: &str = "allowed: \"greedy\", { rate = \"4 Mbit/s\" }, { poisson = \"4 Mbit/s\" }, { file = \"10 MB\" }";
    let read = view.optional("source", "greedy: always something to send", |value| match &value.data {
        Data::Text(word) if word == "greedy" => Ok(Source::Greedy),
        Data::Table(table) => {
            let inner = View::new(view.cx, view.path_of("source"), value.place, Some(table));
            let rate = inner.optional("rate", "", positive_rate);
            let poisson = inner.optional("poisson", "", positive_rate);
            let size = inner.optional("file", "", positive_size);
            let given = ["rate", "poisson", "file"].iter().filter(|key| inner.find(key).is_some()).count();
            inner.finish();
            match (rate, poisson, size) {
                _ if given != 1 => Err(Complaint::new("a source has one of a rate, a mean rate and a file", HELP)),
                (Some(rate), ..) => Ok(Source::Constant { rate }),
                (_, Some(rate), _) => Ok(Source::Poisson { rate }),
                (.., Some(size)) => Ok(Source::File { size }),
                _ => Ok(Source::Greedy),
            }
        }
        Data::Text(word) if quantity::<BitRate>(value).is_ok() => {
            Err(Complaint::new("a rate alone is no source", format!("write {{ rate = \"{word}\" }}")))
        }
        Data::Text(word) if quantity::<Bytes>(value).is_ok() => {
            Err(Complaint::new("a size alone is no source", format!("write {{ file = \"{word}\" }}")))
        }
        _ => Err(Complaint::new("this source is not known", HELP)),
    });
    read.unwrap_or_default()
}

fn positive_rate(value: &Value) -> Result<BitRate, Complaint> {
    let rate: BitRate = quantity(value)?;
    if rate.as_bps() > 0 { Ok(rate) } else { Err(Complaint::new("a rate is above zero", "leave the flow out")) }
}

fn positive_size(value: &Value) -> Result<Bytes, Complaint> {
    let size: Bytes = quantity(value)?;
    if size > Bytes::ZERO { Ok(size) } else { Err(Complaint::new("a size is above zero", "leave the flow out")) }
}

// --- transport -----------------------------------------------------------------------------------------------------

fn transport(view: &View<'_>) -> Transport {
    const HELP: &str = "allowed: \"tcp\", \"udp\", { tcp = \"newreno\", ... }, { udp = \"1024 byte\" }";
    let inner = |place, table| View::new(view.cx, view.path_of("transport"), place, table);
    let udp = |view: &View<'_>| {
        let payload = view.read("udp", Bytes::new(1_024), "a payload", datagram);
        Transport::Udp { payload, header: Bytes::new(28) }
    };
    let Some(found) = view.find("transport") else { return Transport::Tcp(tcp(&inner(view.place, None))) };
    let value = found.value;
    let read = match &value.data {
        Data::Text(word) if word == "tcp" => Ok(Transport::Tcp(tcp(&inner(value.place, None)))),
        Data::Text(word) if word == "udp" => Ok(udp(&inner(value.place, None))),
        Data::Table(table) => {
            let inner = inner(value.place, Some(table));
            let transport = match (table.get("udp"), table.get("tcp")) {
                (Some(_), Some(_)) => Err(Complaint::new("a flow has one transport", HELP)),
                (Some(_), None) => Ok(udp(&inner)),
                (None, Some(_)) => Ok(Transport::Tcp(tcp(&inner))),
                // What else stands there are keys of TCP; without its name they might be a slip of any kind.
                (None, None) => Err(Complaint::new("the transport is not named", HELP)),
            };
            if transport.is_ok() {
                inner.finish();
            }
            transport
        }
        Data::Text(word) if VARIANTS.iter().any(|(name, _)| *name == word.to_lowercase()) => {
            let help = format!("write {{ tcp = \"{}\" }}", word.to_lowercase());
            Err(Complaint::new("this is a kind of TCP", help))
        }
        _ => Err(Complaint::new("this transport is not known", HELP)),
    };
    read.unwrap_or_else(|complaint| {
        view.complain("transport", complaint);
        Transport::Tcp(Config::default())
    })
}

fn datagram(value: &Value) -> Result<Bytes, Complaint> {
    let size: Bytes = quantity(value)?;
    if (1..=UDP_MAX).contains(&size.as_u64()) {
        return Ok(size);
    }
    Err(Complaint::new(format!("a datagram of {size} does not exist"), format!("1 to {UDP_MAX} byte")))
}

/// The variant, if it is known.
fn variant(view: &View<'_>) -> Option<Variant> {
    if view.find("tcp").is_some() {
        return view.optional("tcp", "", |value| choose(value, &VARIANTS));
    }
    let why = "newreno: what the papers' simulations ran";
    Some(view.choice("tcp", &VARIANTS, Variant::default(), why))
}

fn tcp(view: &View<'_>) -> Config {
    let known = variant(view);
    let variant = known.unwrap_or_default();
    let (usual, reason) = match variant {
        Variant::Bbr => (Profile::Linux, "linux: no other has bbr"),
        _ => (Profile::Rfc, "rfc: each mechanism as its RFC has it"),
    };
    let profile = view.choice("profile", &PROFILES, usual, reason);
    let linux = profile == Profile::Linux;
    let default = match profile {
        Profile::Rfc => Config { variant, ..Config::default() },
        Profile::Linux => Config::linux(variant),
        Profile::Bsd => Config::bsd(variant),
    };
    // Why a default is what it is.
    let why = |rfc: &'static str| match profile {
        Profile::Rfc => rfc,
        Profile::Linux => "linux profile",
        Profile::Bsd => "bsd profile",
    };
    let timestamps = view.flag("timestamps", default.timestamps, why("12 byte less a segment"));
    let full = if timestamps && linux { default.mss } else { Config::default().mss };
    let mss = view.quantity("mss", full, why("1500 byte of MTU less 40 byte of headers"));
    view.apply(view.find("window").is_some());
    let window = view.optional("window", "", reader::count);
    view.apply(true);
    let receive_buffer = receive_buffer(view, &default, mss, window);
    let config = Config {
        profile,
        variant,
        mss,
        initial_window: initial_window(view, default.initial_window, why("")),
        min_rto: view.quantity("min_rto", default.min_rto, why("RFC 6298")),
        max_rto: view.quantity("max_rto", default.max_rto, why("RFC 6298")),
        initial_rto: view.quantity("initial_rto", default.initial_rto, why("RFC 6298")),
        tick: view.quantity("tick", default.tick, why("no coarser than the clock")),
        ack_every: view.count("ack_every", default.ack_every, why("RFC 5681: every second segment")),
        ack_delay: view.quantity("delayed_ack", default.ack_delay, why("ns-2")),
        receive_buffer,
        send_buffer: view.quantity("send_buffer", default.send_buffer, why("1 MiB: not the limit")),
        window_scaling: view.flag("window_scaling", default.window_scaling, why("RFC 7323")),
        limited_transmit: view.flag("limited_transmit", default.limited_transmit, why("RFC 3042")),
        timestamps,
    };
    // What does not go with a variant that is not known is not told, too.
    if known.is_some() {
        check(view, &config);
    }
    config
}

/// `initial_window`, for which a profile may have its own default.
fn initial_window(view: &View<'_>, default: Option<u32>, why: &str) -> Option<u32> {
    match default {
        Some(segments) => Some(view.count("initial_window", segments, why)),
        None => view.optional("initial_window", "RFC 5681: 2 to 4 segments by their size", reader::count),
    }
}

/// `receive_buffer`, or `window` segments.
fn receive_buffer(view: &View<'_>, default: &Config, mss: Bytes, window: Option<u32>) -> Bytes {
    let Some(window) = window else {
        let why = match default.profile {
            Profile::Rfc => "the largest window without scaling",
            Profile::Linux => "linux profile",
            Profile::Bsd => "bsd profile",
        };
        return view.quantity("receive_buffer", default.receive_buffer, why);
    };
    let twice = view.find("receive_buffer").is_some();
    let message = || "`window` and `receive_buffer` say the same thing twice".to_owned();
    view.require(!twice, "window", message, "keep one of them");
    Bytes::new(u64::from(window).saturating_mul(mss.as_u64()))
}

/// Reports the connection's refusals at their keys.
fn check(view: &View<'_>, config: &Config) {
    if let Err(refusal) = config.check() {
        let key = if refusal.parameter == "receive_buffer" && view.find("window").is_some() {
            "window"
        } else {
            refusal.parameter
        };
        let message = format!("`{key}` must {}", refusal.must);
        view.complain(key, Complaint::new(message, "leave it out for the default"));
    }
}
