//! `[[exec]]`: the commands that a lab runs in the namespaces of its nodes.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::spec::{Exec, Host, Node};
use airbraid_units::Duration;

pub(super) fn read(views: &[View<'_>], nodes: &[Node]) -> Vec<Exec> {
    views.iter().map(|view| one(view, nodes)).collect()
}

fn one(view: &View<'_>, nodes: &[Node]) -> Exec {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let node = super::index_of(view, "node", "node", &names);
    let is_host = node.is_none_or(|node| nodes[node].host != Host::Simulated);
    let message = || "a simulated node runs no commands".to_owned();
    view.require(is_host, "node", message, "add host = \"namespace\" to the node");
    let command = view.required("command", "\"iperf3 -s -1\"", reader::text).unwrap_or_default();
    let message = || "the command is empty".to_owned();
    view.require(!command.trim().is_empty() || view.find("command").is_none(), "command", message, "write one");
    let exec = Exec {
        node: node.unwrap_or_default(),
        command,
        start: view.quantity("start", Duration::ZERO, "at once"),
        ready: view.optional("ready", "any port", |value| {
            let port = u16::try_from(reader::integer(value, 65_535)?).unwrap_or_default();
            if port > 0 { Ok(port) } else { Err(Complaint::new("there is no port 0", "write 1 to 65535")) }
        }),
    };
    view.check_keys();
    exec
}
