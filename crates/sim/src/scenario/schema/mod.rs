//! The keys of a scenario: one file for each table, each reading into its part of the resolved scenario.
//!
//! Errors are noted in the context and reading goes on, so that all of them are found; the result is used only if
//! there were none.

mod change;
mod edca;
mod erp;
mod exec;
mod flow;
mod killer;
mod link;
mod link_layer;
mod medium_access;
mod multichannel;
mod node;
mod path_loss;
pub(crate) mod policy;
mod polled;
mod power_save;
mod radio;
mod radio_pool;
mod routing;
mod run;
mod select;
mod slots;
mod spectrum;
mod standard;
mod survey;
mod topology;
mod trunk;

pub(crate) use erp::is_dsss;
use medium_access::small;
pub(crate) use standard::standard_name;

use super::error::Complaint;
use super::nearest::suggestion;
use super::reader::{self, Context, View};
use super::source::Span;
use super::spec::Spec;
use super::tree::{Data, Table};
use std::collections::BTreeSet;

/// Largest number of nodes: a run keeps for each pair whether they hear each other.
pub(crate) const NODES_MAX: usize = 4_096;
/// Largest number of radios in one node.
pub(crate) const RADIOS_MAX: usize = 64;
/// Largest number of flows.
pub(crate) const FLOWS_MAX: usize = 16_384;

/// Reads the whole scenario but `[sweep]` and `[expect]`.
pub(crate) fn read(cx: &Context, root: &Table, whole: Span) -> Spec {
    let top = View::new(cx, "", whole, Some(root));
    let schema = top.find("schema");
    if schema.is_none() {
        cx.complain(whole, Complaint::new("`schema` is missing", "begin the file with schema = 1"));
    }
    top.choice_of_numbers("schema", &[1]);
    let title = top.required("title", "\"what it is called\"", reader::text).unwrap_or_default();
    let question = question(&top);
    let run = run::read(top.sub("run"));
    let defaults = radio_defaults(&top);
    node::check_defaults(top.sub("radio"), None);

    let node_views = top.tables("node");
    let (mut nodes, scattered) = topology::read(top.sub("topology"), defaults);
    let placed = nodes.len();
    nodes.extend(node::read(&node_views, defaults));
    let node_names: Vec<String> = nodes.iter().map(|n| n.name.clone()).collect();
    unique(cx, "node", &node_views, &node_names, placed);
    if nodes.is_empty() {
        cx.complain(
            whole,
            Complaint::new("the scenario has no node", "add two [[node]] tables and a [[flow]] between them"),
        );
    }

    let link_views = top.tables("link");
    let links = link::read(&link_views, &node_names);
    unique(cx, "link", &link_views, &links.iter().map(|l| l.name.clone()).collect::<Vec<_>>(), 0);
    let trunk_views = top.tables("trunk");
    let trunks = trunk::read(&trunk_views, &nodes, &links);
    trunk::set_windows(&trunks, &mut nodes);
    unique(cx, "trunk", &trunk_views, &trunks.iter().map(|t| t.name().to_owned()).collect::<Vec<_>>(), 0);
    node::read_routes(&node_views, &mut nodes, placed, &trunks, &links);
    let routing = routing::read(&top);
    routing::check(&top, &routing, &nodes, trunk_views.len(), links.len());
    let slot_views = top.tables("slots");
    let slots = slots::read(&slot_views, &nodes);
    unique(cx, "slots", &slot_views, &slots.iter().map(|s| s.name.clone()).collect::<Vec<_>>(), 0);
    slots::check(&top, &nodes, &slots);
    edca::check(&top, &nodes);
    erp::settle(&top, &mut nodes);
    let killer_views = top.tables("killer");
    let killers = killer::read(&killer_views, &nodes);
    unique(cx, "killer", &killer_views, &killers.iter().map(|k| k.name.clone()).collect::<Vec<_>>(), 0);
    let flow_views = top.tables("flow");
    let flows = flow::read(&flow_views, &nodes, &slots);
    let changes = change::read(&top.tables("at"), &nodes, &links);
    let execs = exec::read(&top.tables("exec"), &nodes);
    let record = run::record(top.sub("record"), &nodes, run.duration);

    let views = node_views.into_iter().chain(link_views).chain(trunk_views).chain(slot_views);
    views.chain(killer_views).chain(flow_views).for_each(View::finish);
    // Read by `plan`, which knows the cells and the metrics.
    top.know("sweep");
    top.know("expect");
    top.finish();
    let run::RunTable { duration, warm_up, seed, replications } = run;
    Spec {
        title,
        question,
        duration,
        warm_up,
        seed,
        replications,
        nodes,
        scattered,
        routing,
        trunks,
        links,
        slots,
        killers,
        flows,
        changes,
        record,
        execs,
    }
}

/// The first name of `question`: still read, with a warning.
pub(crate) const QUESTION_BEFORE: &str = "asks";

/// The question that the scenario answers.
fn question(top: &View<'_>) -> String {
    let is_there = |key| top.own_table().is_some_and(|table| table.get(key).is_some());
    let is_old = is_there(QUESTION_BEFORE) && !is_there("question");
    let key = if is_old { QUESTION_BEFORE } else { "question" };
    top.required(key, "\"the question that it answers?\"", reader::text).unwrap_or_default()
}

fn radio_defaults<'a>(top: &View<'a>) -> Option<&'a Table> {
    match top.find("radio").map(|f| &f.value.data) {
        Some(Data::Table(table)) => Some(table),
        _ => None,
    }
}

impl View<'_> {
    /// A number out of `allowed`.
    fn choice_of_numbers(&self, key: &'static str, allowed: &[u32]) {
        self.optional(key, "", |value| {
            let n = reader::count(value)?;
            let list: Vec<String> = allowed.iter().map(u32::to_string).collect();
            let unknown = || Complaint::new(format!("{key} {n} is not known"), format!("allowed: {}", list.join(", ")));
            if allowed.contains(&n) { Ok(()) } else { Err(unknown()) }
        });
    }
}

/// Names that must differ, of things that are no tables.
struct Names {
    what: &'static str,
    seen: BTreeSet<String>,
}

impl Names {
    fn new(what: &'static str) -> Self {
        Self { what, seen: BTreeSet::new() }
    }
    fn add(&mut self, cx: &Context, name: &str, place: Span) {
        if !name.is_empty() && !self.seen.insert(name.to_owned()) {
            let message = format!("two {}s are called `{name}`", self.what);
            cx.complain(place, Complaint::new(message, "give each its own name"));
        }
    }
}

/// Names that differ; the first `placed` are those of no table.
fn unique(cx: &Context, what: &'static str, views: &[View<'_>], names: &[String], placed: usize) {
    let mut seen = Names::new(what);
    seen.seen.extend(names[..placed].iter().cloned());
    for (view, name) in views.iter().zip(&names[placed..]) {
        seen.add(cx, name, view.place_of("name"));
    }
}

/// The index in `names` of the value of `key`, which must be there.
fn index_of(view: &View<'_>, key: &'static str, what: &str, names: &[String]) -> Option<usize> {
    let example = names.first().map_or_else(|| "\"a-name\"".to_owned(), |n| format!("\"{n}\""));
    view.required(key, &example, |value| position(&reader::text(value)?, what, names))
}

fn position(given: &str, what: &str, names: &[String]) -> Result<usize, Complaint> {
    names.iter().position(|n| n == given).ok_or_else(|| {
        let mut shown: Vec<&str> = names.iter().take(50).map(String::as_str).collect();
        shown.dedup();
        Complaint::new(format!("no {what} is called `{given}`"), suggestion(given, &shown))
    })
}

/// The indices of two different nodes.
fn between(view: &View<'_>, nodes: &[String]) -> Option<[usize; 2]> {
    view.required("between", "[\"a\", \"b\"]", |value| {
        let [a, b] = reader::list(value)? else {
            return Err(Complaint::new("two ends are needed", "write [\"a\", \"b\"]"));
        };
        let ends = [position(&reader::text(a)?, "node", nodes)?, position(&reader::text(b)?, "node", nodes)?];
        if ends[0] == ends[1] {
            return Err(Complaint::new("both ends are the same node", "name two different nodes"));
        }
        Ok(ends)
    })
}
