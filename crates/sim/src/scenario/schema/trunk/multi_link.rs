//! A `[[trunk]]` of multi-link devices: the radios of two neighbours that are the links of each.

use super::{mode, radios};
use crate::scenario::reader::{Foreign, View};
use crate::scenario::schema::between;
use crate::scenario::spec::{Mac, MultiLinkTrunk, Node, Trunk};
use airbraid_mac::edca::RequestLink;

/// Keys that only a trunk above the MAC has.
static FOREIGN: Foreign =
    Foreign { keys: &["header", "select", "policy"], owner: "a trunk above the MAC", own: "a trunk of devices" };

/// Most links of a device: a link ID of 802.11be has four bits, and one value is reserved.
const LINKS_MAX: usize = 15;

/// Reads one trunk, behind `others` in the file; `counts` is the number of such trunks at each node.
pub(super) fn read(
    view: &View<'_>,
    name: String,
    (nodes, names): (&[Node], &[String]),
    (others, counts): (&[Trunk], &[usize]),
) -> MultiLinkTrunk {
    let ends = between(view, names);
    view.beside(&FOREIGN);
    let members = ends.map(|ends| radios::members(view, ends, nodes)).unwrap_or_default();
    let words = [("data", RequestLink::OfData), ("any", RequestLink::Any)];
    let why = "the link of the data";
    let request_link = view.choice("request_link", &words, RequestLink::OfData, why);
    let emlsr = mode::read(view, ends.unwrap_or_default(), nodes, counts);
    let trunk = MultiLinkTrunk { name, between: ends.unwrap_or_default(), members, request_link, emlsr };
    acknowledges(view, &trunk, nodes);
    others.iter().for_each(|other| apart(view, &trunk, other));
    trunk
}

/// The radios of a trunk, each with its node.
fn radios_of(trunk: &MultiLinkTrunk) -> impl Iterator<Item = (usize, usize)> {
    trunk.members.iter().flat_map(|member| [0, 1].map(|side| (trunk.between[side], member[side])))
}

/// A device acknowledges by blocks on all of its links.
fn acknowledges(view: &View<'_>, trunk: &MultiLinkTrunk, nodes: &[Node]) {
    let has_agreements = |(node, radio): (usize, usize)| match &nodes[node].radios[radio].mac {
        Mac::Edca(config) => config.aggregation.ampdu.is_some(),
        _ => false,
    };
    view.require(
        radios_of(trunk).all(has_agreements),
        "over",
        || format!("a link of trunk `{}` has no block acknowledgements", trunk.name),
        "give its radios standard = \"802.11n\" or newer, and leave their `ampdu` on",
    );
    view.require(
        trunk.members.len() <= LINKS_MAX,
        "members",
        || format!("{} links are too many", trunk.members.len()),
        "a device has at most 15",
    );
}

/// An access point's radios may lead to several devices; no two trunks lead to one, and none is above another.
pub(super) fn apart(view: &View<'_>, trunk: &MultiLinkTrunk, other: &Trunk) {
    if let Some(other) = other.multi_link() {
        agree(view, trunk, other);
    }
    let between = other.between();
    let is_parallel = between == trunk.between || between == [trunk.between[1], trunk.between[0]];
    let is_above = other.radios().is_some();
    let is_taken = radios_of(trunk).any(|(node, radio)| other.has_radio(node, radio));
    view.require(
        !((is_parallel || is_above) && is_taken),
        "members",
        || format!("trunks `{}` and `{}` use the same radios", other.name(), trunk.name),
        "give each trunk its own members",
    );
}

/// A device has one mode towards all.
fn agree(view: &View<'_>, trunk: &MultiLinkTrunk, other: &MultiLinkTrunk) {
    for side in 0..2 {
        let same_end = (0..2).find(|end| other.between[*end] == trunk.between[side]);
        view.require(
            same_end.is_none_or(|end| other.emlsr[end] == trunk.emlsr[side]),
            "mode",
            || format!("trunks `{}` and `{}` give a node two modes", other.name, trunk.name),
            "give it the same mode and delays in both",
        );
    }
}
