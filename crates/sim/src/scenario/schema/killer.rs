//! `[[killer]]`: the effect of a packet killer on the frames between two radios.

use super::node::find_radio;
use crate::killer::environment::{ENVIRONMENTS, Environment};
use crate::killer::{Acts, Event, trace};
use crate::scenario::error::Complaint;
use crate::scenario::nearest::suggestion;
use crate::scenario::reader::{self, View, probability};
use crate::scenario::spec::{Killer, Mac, Node};
use crate::scenario::tree::{Data, Value};
use airbraid_units::{Duration, Instant};
use std::sync::Arc;

/// Largest trace file \[byte\].
const FILE_BYTES_MAX: u64 = 16_000_000;
/// Number of events of a list that only loses: a thousandth is off by one part in twelve at most.
const LOSSY_EVENTS: u32 = 60_000;
const ECKHARDT: &str = "Eckhardt 1998";

/// The point at which losses act.
#[derive(Clone, Copy, PartialEq)]
enum On {
    Input,
    Output,
    Both,
}

const PLACES: [(&str, On); 3] = [("input", On::Input), ("output", On::Output), ("both", On::Both)];

pub(super) fn read(views: &[View<'_>], nodes: &[Node]) -> Vec<Killer> {
    views.iter().map(|view| one(view, nodes)).collect()
}

fn one(view: &View<'_>, nodes: &[Node]) -> Killer {
    let name = view.name();
    let ends = ends(view, nodes);
    let (events, is_trace) = events(view);
    let why = if is_trace { "a trace acts everywhere" } else { "a pattern acts once" };
    let on = view.choice("on", &PLACES, if is_trace { On::Both } else { On::Input }, why);
    let both_ways = view.flag("both_ways", is_trace, why);
    let corrupt_both = view.flag("corrupt_both", false, "truncation and corruption act once, on the frames to `to`");
    let frames =
        view.choice("frames", &[("all", false), ("data", true)], false, "what has no data takes an event, too");
    let phases = [("random", true), ("zero", false)];
    let random_phase = view.choice("phase", &phases, true, "replications begin at different events");
    let start = view.quantity("start", Duration::ZERO, "at once");
    let (leaving, coming) = (on != On::Input, on != On::Output);
    // By direction: damage acts once, where the frame comes if it is looked at there; or everywhere.
    let output = Acts { loss: leaving, damage: leaving && (corrupt_both || !coming) };
    let input = Acts { loss: coming, damage: coming };
    let back = |acts: Acts| Acts { loss: acts.loss && both_ways, damage: acts.damage && corrupt_both };
    Killer {
        name,
        ends: ends.unwrap_or_default(),
        events,
        output: [output, back(output)],
        input: [input, back(input)],
        data_only: frames,
        random_phase,
        start: Instant::ZERO.saturating_add(start),
    }
}

/// The two radios, on one channel.
fn ends(view: &View<'_>, nodes: &[Node]) -> Option<[(usize, usize); 2]> {
    let end = |key: &'static str| {
        let value = view.required(key, "\"node/ch1\"", Ok::<&Value, Complaint>)?;
        find_radio(view.cx, value, nodes)
    };
    let ends = [end("from")?, end("to")?];
    let [a, b] = ends.map(|(node, radio)| &nodes[node].radios[radio]);
    let differ = ends[0].0 != ends[1].0;
    view.require(differ, "to", || "both ends are at the same node".to_owned(), "name radios of two nodes");
    let apart = || format!("the radios are on different channels: {} and {}", a.channel, b.channel);
    view.require(a.channel == b.channel, "to", apart, "a killer stands between radios that hear each other");
    let polled = [a, b].iter().all(|radio| matches!(radio.mac, Mac::Polled(_)));
    let message = || "a radio under DCF repeats what is lost by itself, and cannot tell damage from loss".to_owned();
    view.require(
        polled,
        "from",
        message,
        "give both radios mac = \"polled\", or an error model: error = { ber = 1e-5 }",
    );
    Some(ends)
}

/// The list of events, and whether it is a trace.
fn events(view: &View<'_>) -> (Arc<[Event]>, bool) {
    let wrong = |wrong: trace::Wrong| {
        let help = "events with commas between: ok x95, lost x5, truncated 200, corrupted 7";
        Complaint::new(format!("event {}: {}", wrong.line, wrong.what), help)
    };
    let pattern =
        view.optional("events", "by `trace`", |value| trace::read_pattern(&reader::text(value)?).map_err(wrong));
    let trace = view.optional("trace", "by `events`", |value| recorded(view, value));
    let given = view.find("events").is_some() as u8 + view.find("trace").is_some() as u8;
    let message = || "a killer has either `events` or a `trace`".to_owned();
    view.require(given == 1, "events", message, "write events = \"ok x95, lost x5\" or trace = \"walls\"");
    match (pattern, trace) {
        (Some(events), None) => (events.into(), false),
        (_, Some(events)) => (events, true),
        (None, None) => (Arc::new([Event::Fine]), false),
    }
}

/// `"walls"`, `{ place = "walls", seed = 2 }`, `{ loss = "10 %" }` or `{ file = "walls.trace" }`.
fn recorded(view: &View<'_>, value: &Value) -> Result<Arc<[Event]>, Complaint> {
    let Data::Table(table) = &value.data else {
        return place(&reader::text(value)?).map(|place| place.trace(1));
    };
    let inner = View::new(view.cx, view.path_of("trace"), value.place, Some(table));
    let named = inner.optional("place", "", |value| place(&reader::text(value)?));
    let loss = inner.optional("loss", "", probability);
    let seed = inner.count("seed", 1, "the place's first trace");
    let file = inner.optional("file", "", |value| from_file(&reader::text(value)?));
    let given = ["place", "loss", "file"].iter().filter(|key| table.get(key).is_some()).count();
    inner.finish();
    let lossy = loss.map(|loss| Environment::lossy(LOSSY_EVENTS, loss.get()));
    match (named.copied().or(lossy), file) {
        _ if given != 1 => {
            Err(Complaint::new("a trace is of a place, of a rate, or in a file", "write trace = \"walls\""))
        }
        (Some(place), _) => Ok(place.trace(u64::from(seed))),
        (_, Some(events)) => Ok(events.into()),
        // The complaint was made where the value stands.
        (None, None) => Ok(Arc::new([Event::Fine])),
    }
}

fn place(given: &str) -> Result<&'static Environment, Complaint> {
    Environment::named(given).ok_or_else(|| {
        let names: Vec<&str> = ENVIRONMENTS.iter().map(|place| place.name).collect();
        Complaint::new(format!("no trace is called `{given}`; {ECKHARDT} has five"), suggestion(given, &names))
    })
}

/// Reads a file, by its path from the working directory.
fn from_file(path: &str) -> Result<Vec<Event>, Complaint> {
    const HELP: &str = "docs/reference/traces.md says what a trace file looks like";
    let refuse = |message: String| Complaint::new(message, HELP);
    let size = std::fs::metadata(path).map_err(|e| refuse(format!("the trace {path} cannot be read: {e}")))?.len();
    if size > FILE_BYTES_MAX {
        return Err(refuse(format!("the trace {path} is too large: {size} byte")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| refuse(format!("the trace {path} cannot be read: {e}")))?;
    trace::read(&text).map_err(|wrong| refuse(format!("{path}, {wrong}")))
}
