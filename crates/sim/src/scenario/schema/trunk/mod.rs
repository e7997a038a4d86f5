//! `[[trunk]]`, by what its members are: [`radios`], [`links`], or the links of [`multi_link`] devices.

mod links;
mod multi_link;
mod radios;

use crate::scenario::reader::View;
use crate::scenario::spec::{Link, Node, Trunk};

/// The kinds of members.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Radios,
    Links,
    MultiLink,
}

const KINDS: [(&str, Over); 3] = [("radios", Over::Radios), ("links", Over::Links), ("mld", Over::MultiLink)];

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
            Over::MultiLink => Trunk::MultiLink(multi_link::read(view, name, nodes, &names, &trunks)),
            Over::Links => Trunk::Links(links::read(view, name, &names, links, trunks.iter().filter_map(Trunk::links))),
        };
        if trunk.radios().is_some() {
            trunks.iter().filter_map(Trunk::multi_link).for_each(|other| multi_link::apart(view, other, &trunk));
        }
        trunks.push(trunk);
    }
    trunks
}
