//! `routing`: the choice of paths where no route is written.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{View, choose};
use crate::scenario::spec::{AodvRouting, Mac, Node, Routing};
use crate::scenario::tree::Data;
use airbraid_net::aodv::{AodvConfig, Flavour};

const PROTOCOLS: [(&str, bool); 2] = [("static", false), ("aodv", true)];
const CONSTANTS: [(&str, Flavour); 2] = [("rfc3561", Flavour::Rfc3561), ("ns2", Flavour::Ns2)];

/// Reads `routing = "aodv"`, or a table with its settings.
pub(super) fn read(top: &View<'_>) -> Routing {
    let read = top.optional("routing", "static: paths of fewest hops", |value| match &value.data {
        Data::Table(table) => {
            let view = View::new(top.cx, top.path_of("routing"), value.place, Some(table));
            let aodv = view.choice("protocol", &PROTOCOLS, true, "what has settings");
            let settings = settings(&view);
            view.finish();
            Ok(if aodv { Routing::Aodv(settings) } else { Routing::Static })
        }
        _ => {
            let aodv = choose(value, &PROTOCOLS)
                .map_err(|_| Complaint::new("this routing is not known", "allowed: \"static\", \"aodv\", { ... }"))?;
            Ok(if aodv { Routing::Aodv(defaults(Flavour::Rfc3561)) } else { Routing::Static })
        }
    });
    read.unwrap_or_default()
}

/// The defaults of a flavour: ns-2's messages overtake in the queue, and a broken link empties it.
const fn defaults(flavour: Flavour) -> AodvRouting {
    match flavour {
        Flavour::Rfc3561 => {
            AodvRouting { config: AodvConfig::rfc3561(), overtakes: false, purges: false, resolves: false }
        }
        Flavour::Ns2 => AodvRouting { config: AodvConfig::ns2(), overtakes: true, purges: true, resolves: false },
    }
}

fn settings(view: &View<'_>) -> AodvRouting {
    let flavour = view.choice("constants", &CONSTANTS, Flavour::Rfc3561, "RFC 3561, section 10");
    let mut settings = defaults(flavour);
    let why = if flavour == Flavour::Ns2 { "ns-2" } else { "RFC 3561" };
    if !view.flag("hello", settings.config.hello.is_some(), why) {
        settings.config.hello = None;
    } else if settings.config.hello.is_none() {
        settings.config.hello = AodvConfig::rfc3561().hello;
    }
    if !view.flag("local_repair", settings.config.repair.is_some(), why) {
        settings.config.repair = None;
    }
    settings.overtakes = view.flag("overtake", settings.overtakes, why);
    settings.purges = view.flag("purge", settings.purges, why);
    settings.resolves = view.flag("arp", settings.resolves, "addresses are known");
    settings
}

/// AODV finds routes over radios that can speak to any neighbour, one a node.
pub(super) fn check(top: &View<'_>, routing: &Routing, nodes: &[Node], trunks: usize, links: usize) {
    if *routing == Routing::Static {
        return;
    }
    let help = "write the routes, or leave `routing` out";
    for node in nodes.iter().filter(|node| node.radios.len() != 1) {
        let message = format!("AODV uses one radio a node, and `{}` has {}", node.name, node.radios.len());
        top.complain("routing", Complaint::new(message, help));
    }
    let is_polled = |node: &&Node| node.radios.iter().any(|radio| matches!(radio.mac, Mac::Polled(_)));
    if let Some(node) = nodes.iter().find(is_polled) {
        let message = format!("AODV asks all neighbours at once, and the polled radio of `{}` cannot", node.name);
        top.complain("routing", Complaint::new(message, help));
    }
    let comes_and_goes =
        |node: &&Node| node.radios.iter().any(|radio| matches!(radio.mac, Mac::AccessPoint(_) | Mac::Slotted(_)));
    if let Some(node) = nodes.iter().find(comes_and_goes) {
        let message = format!("AODV asks who is there, and `{}` serves stations that doze or dozes itself", node.name);
        top.complain("routing", Complaint::new(message, help));
    }
    let message = || "AODV sees neither trunks nor links".to_owned();
    top.require(trunks == 0 && links == 0, "routing", message, help);
}
