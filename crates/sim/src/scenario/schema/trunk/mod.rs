//! `[[trunk]]`, by what its members are: [`radios`], [`links`], or the links of [`multi_link`] devices.

mod links;
mod mapping;
mod mode;
mod multi_link;
mod radios;

use crate::scenario::reader::View;
use crate::scenario::spec::{Link, Node, Trunk};
use crate::scenario::tree::{Data, Value};

/// The kinds of members.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Radios,
    Links,
    MultiLink,
}

const KINDS: [(&str, Over); 3] = [("radios", Over::Radios), ("links", Over::Links), ("mld", Over::MultiLink)];

/// Devices get the windows that their trunks give them.
pub(super) fn set_windows(trunks: &[Trunk], nodes: &mut [Node]) {
    for trunk in trunks.iter().filter_map(Trunk::multi_link) {
        multi_link::set_window(trunk, nodes);
    }
}

/// Reads all trunks, in the order of the file.
pub(super) fn read(views: &[View<'_>], nodes: &[Node], links: &[Link]) -> Vec<Trunk> {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut trunks: Vec<Trunk> = Vec::with_capacity(views.len());
    let counts = trunks_of_devices(views, &names);
    for view in views {
        let name = view.name();
        let trunk = match view.choice("over", &KINDS, Over::Radios, "each member is a channel") {
            Over::Radios => {
                Trunk::Radios(radios::read(view, name, nodes, &names, trunks.iter().filter_map(Trunk::radios)))
            }
            Over::MultiLink => Trunk::MultiLink(multi_link::read(view, name, (nodes, &names), (&trunks, &counts))),
            Over::Links => Trunk::Links(links::read(view, name, &names, links, trunks.iter().filter_map(Trunk::links))),
        };
        if trunk.radios().is_some() {
            trunks.iter().filter_map(Trunk::multi_link).for_each(|other| multi_link::apart(view, other, &trunk));
        }
        trunks.push(trunk);
    }
    trunks
}

/// The number of trunks of multi-link devices that end at each node, by what the file says; what is wrong in it is told
/// where it is read.
fn trunks_of_devices(views: &[View<'_>], names: &[String]) -> Vec<usize> {
    let text = |value: &Value, word: &str| matches!(&value.data, Data::Text(text) if text == word);
    let mut counts = vec![0; names.len()];
    for table in views.iter().filter_map(View::own_table) {
        let Some(Value { data: Data::List(ends), .. }) = table.get("between") else { continue };
        if table.get("over").is_some_and(|over| text(over, "mld")) {
            for (name, count) in names.iter().zip(&mut counts) {
                *count += usize::from(ends.iter().any(|end| text(end, name)));
            }
        }
    }
    counts
}
