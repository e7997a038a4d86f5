//! `[[trunk]]`, by what its members are: [`radios`] or [`links`].

mod links;
mod radios;

use crate::scenario::reader::View;
use crate::scenario::spec::{Link, Node, Trunk};

/// The kinds of members.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Radios,
    Links,
}

const KINDS: [(&str, Over); 2] = [("radios", Over::Radios), ("links", Over::Links)];

/// Reads all trunks, in the order of the file.
pub(super) fn read(views: &[View<'_>], nodes: &[Node], links: &[Link]) -> Vec<Trunk> {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut trunks: Vec<Trunk> = Vec::with_capacity(views.len());
    for view in views {
        let name = view.name();
        let trunk = match view.choice("over", &KINDS, Over::Radios, "each member is a channel") {
            Over::Radios => {
                Trunk::Radios(radios::read(view, name, nodes, &names, trunks.iter().filter_map(Trunk::radios)))
            }
            Over::Links => Trunk::Links(links::read(view, name, &names, links, trunks.iter().filter_map(Trunk::links))),
        };
        trunks.push(trunk);
    }
    trunks
}
