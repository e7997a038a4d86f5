//! A `[[trunk]]` of multi-link devices: the radios of two neighbours that are the links of each.

use super::{mapping, mode, radios};
use crate::scenario::reader::{self, Foreign, View};
use crate::scenario::schema::between;
use crate::scenario::spec::{Mac, MultiLinkTrunk, Node, Trunk};
use airbraid_mac::edca::{EdcaConfig, RequestLink, WINDOW_MAX, window_max};
use std::sync::Arc;

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
    let between = ends.unwrap_or_default();
    let mode::Modes { emlsr, single, pairs, medium_sync } = mode::read(view, between, (nodes, &members), counts);
    let has_one_awake = single.iter().any(Option::is_some);
    let allocation = mapping::allocation(view);
    let follows_ns3 = edca_of(between, &members, nodes).any(EdcaConfig::follows_ns3);
    let request_link = request_link(view, has_one_awake, follows_ns3);
    let radio = |member: &[usize; 2]| nodes[between[0]].radios[member[0]].name.clone();
    let tids = mapping::tids(view, &members.iter().map(radio).collect::<Vec<_>>());
    if has_one_awake {
        mode::over_any_link(view, allocation, &tids);
    }
    let window = window(view, between, &members, nodes);
    let trunk = MultiLinkTrunk {
        name,
        between,
        members,
        request_link,
        emlsr,
        single,
        pairs,
        medium_sync,
        allocation,
        tids,
        window,
    };
    acknowledges(view, &trunk, nodes);
    side_by_side(view, &trunk, nodes);
    others.iter().for_each(|other| apart(view, &trunk, other));
    trunk
}

/// The link on which an end asks for a block acknowledgement.
fn request_link(view: &View<'_>, has_one_awake: bool, follows_ns3: bool) -> RequestLink {
    let words = [("none", RequestLink::None), ("data", RequestLink::OfData), ("any", RequestLink::Any)];
    if !has_one_awake && follows_ns3 {
        return view.choice("request_link", &words, RequestLink::OfData, "the link of the data, as in ns-3");
    }
    if !has_one_awake {
        return view.choice("request_link", &words, RequestLink::None, "the MPDUs go again, on any link");
    }
    let request_link = view.choice("request_link", &words, RequestLink::Any, "one radio has one scoreboard");
    let message = || "one link is awake at a time, and the request goes on that one".to_owned();
    view.require(request_link == RequestLink::Any, "request_link", message, "leave it out, or say \"any\"");
    request_link
}

/// The configurations of the radios of a trunk that have block acknowledgements.
fn edca_of<'a>(
    between: [usize; 2],
    members: &'a [[usize; 2]],
    nodes: &'a [Node],
) -> impl Iterator<Item = &'a EdcaConfig> {
    let macs = members.iter().flat_map(move |member| [0, 1].map(|side| &nodes[between[side]].radios[member[side]].mac));
    macs.filter_map(|mac| match mac {
        Mac::Edca(config) => Some(&**config),
        _ => None,
    })
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

/// The links of a device are on channels of their own: two on one would be one medium, for which they would compete.
fn side_by_side(view: &View<'_>, trunk: &MultiLinkTrunk, nodes: &[Node]) {
    let radio = |member: &[usize; 2]| &nodes[trunk.between[0]].radios[member[0]];
    for (place, member) in trunk.members.iter().enumerate() {
        let own = radio(member);
        if let Some(other) = trunk.members[..place].iter().map(radio).find(|other| own.overlaps(other)) {
            let message = || format!("links `{}` and `{}` are on channels that overlap", other.name, own.name);
            view.require(false, "members", message, "give each link a channel of its own");
        }
    }
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

/// The window of the agreements, if the trunk gives one.
fn window(view: &View<'_>, between: [usize; 2], members: &[[usize; 2]], nodes: &[Node]) -> Option<u16> {
    let window = view.optional("block_ack_window", "that of the radios", reader::count)?;
    let longest = edca_of(between, members, nodes).map(|config| window_max(&config.data)).min();
    let longest = u32::from(longest.unwrap_or(WINDOW_MAX));
    let message = || format!("a device of these radios has no window of {window} MPDUs");
    view.require((1..=longest).contains(&window), "block_ack_window", message, &format!("1 to {longest}"));
    Some(window.clamp(1, longest) as u16)
}

/// The radios of a trunk get the window that it gives, or else the least of theirs: an agreement is for all links.
pub(super) fn set_window(trunk: &MultiLinkTrunk, nodes: &mut [Node]) {
    let own = |(node, radio): (usize, usize)| match &nodes.get(node)?.radios[radio].mac {
        Mac::Edca(config) => Some(config.aggregation.window),
        _ => None,
    };
    let Some(window) = trunk.window.or_else(|| radios_of(trunk).filter_map(own).min()) else { return };
    for (node, radio) in radios_of(trunk) {
        let radio = nodes.get_mut(node).map(|node| &mut node.radios[radio]);
        let is_other = |mac: &Mac| matches!(mac, Mac::Edca(config) if config.aggregation.window != window);
        if let Some(radio) = radio.filter(|radio| is_other(&radio.mac))
            && let Mac::Edca(config) = &mut Arc::make_mut(radio).mac
        {
            let aggregation = &mut config.aggregation;
            if aggregation.ampdu_frames == u32::from(aggregation.window) {
                aggregation.ampdu_frames = u32::from(window);
            }
            aggregation.window = window;
        }
    }
}

/// A device has one mode towards all, and one window.
fn agree(view: &View<'_>, trunk: &MultiLinkTrunk, other: &MultiLinkTrunk) {
    for side in 0..2 {
        let same_end = (0..2).find(|end| other.between[*end] == trunk.between[side]);
        view.require(
            same_end.is_none_or(|end| {
                let is_coupled = |trunk: &MultiLinkTrunk, side: usize| !trunk.pairs[side].is_empty();
                let is_alike = (other.emlsr[end], other.single[end]) == (trunk.emlsr[side], trunk.single[side]);
                is_alike && is_coupled(other, end) == is_coupled(trunk, side)
            }),
            "mode",
            || format!("trunks `{}` and `{}` give a node two modes", other.name, trunk.name),
            "give it the same mode and delays in both",
        );
        view.require(
            same_end.is_none() || trunk.single[side].is_none(),
            "mode",
            || format!("trunks `{}` and `{}` end at a device of which one link is awake", other.name, trunk.name),
            "give it one access point",
        );
        view.require(
            same_end.is_none() || other.window == trunk.window,
            "block_ack_window",
            || format!("trunks `{}` and `{}` give a node two windows", other.name, trunk.name),
            "give both the same",
        );
    }
}
