//! Families of metrics: what can stand before the last dot of a name, and which metrics may follow.

use super::{Declared, Metrics, Unit};
use crate::result::{
    AccessPointResult, FlowResult, KillerResult, LinkLayerResult, LinkResult, LinkTrunkMemberResult, LinkTrunkResult,
    MacResult, MultiLinkMemberResult, MultiLinkTrunkResult, PacketAccount, RadioTrunkResult, RoutingResult,
    SelectionResult, SlotsResult, TotalResult,
};
use crate::scenario::spec::Spec;

/// Metrics of things of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The first part of a name: `flow`.
    pub word: &'static str,
    /// The parts between it and the metric.
    pub steps: &'static [Step],
    /// The things, in a few words.
    pub of: &'static str,
    /// The metrics.
    pub declared: fn() -> Vec<&'static Declared>,
}

/// A part of a name that the scenario gives.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its place holder: `NAME`.
    pub shown: &'static str,
    /// The thing that it names.
    pub what: &'static str,
    /// Its possible names in a scenario, given the parts before it.
    pub names: fn(&Spec, &[&str]) -> Vec<String>,
}

impl Family {
    /// Returns the family's form: `trunk.NAME.FROM`.
    pub fn path(&self) -> String {
        let steps = self.steps.iter().map(|step| step.shown);
        std::iter::once(self.word).chain(steps).collect::<Vec<_>>().join(".")
    }
}

const fn step(shown: &'static str, what: &'static str, names: fn(&Spec, &[&str]) -> Vec<String>) -> Step {
    Step { shown, what, names }
}

fn sums<T: Metrics>() -> Vec<&'static Declared> {
    T::declared().into_iter().filter(|declared| declared.is_sum()).collect()
}

fn node(spec: &Spec, index: usize) -> String {
    spec.nodes[index].name.clone()
}

fn ends(spec: &Spec, between: [usize; 2]) -> Vec<String> {
    between.map(|index| node(spec, index)).to_vec()
}

const FLOW: Step = step("NAME", "flow", |spec, _| spec.flows.iter().map(|flow| flow.name.clone()).collect());
const RADIO_TRUNK: Step =
    step("NAME", "trunk", |spec, _| spec.radio_trunks().map(|trunk| trunk.name.clone()).collect());
const RADIO_TRUNK_END: Step = step("FROM", "end", |spec, before| {
    spec.radio_trunks().filter(|trunk| trunk.name == before[0]).flat_map(|trunk| ends(spec, trunk.between)).collect()
});
const LINK_TRUNK: Step = step("NAME", "trunk", |spec, _| spec.link_trunks().map(|trunk| trunk.name.clone()).collect());
const LINK_TRUNK_END: Step = step("FROM", "end", |spec, before| {
    spec.link_trunks().filter(|trunk| trunk.name == before[0]).flat_map(|trunk| ends(spec, trunk.between)).collect()
});
const LINK_TRUNK_MEMBER: Step = step("LINK", "member", |spec, before| {
    let members = spec.link_trunks().filter(|trunk| trunk.name == before[0]).flat_map(|trunk| &trunk.members);
    members.map(|member| spec.links[member.link].name.clone()).collect()
});
const DEVICE_TRUNK: Step =
    step("NAME", "trunk", |spec, _| spec.multi_link_trunks().map(|trunk| trunk.name.clone()).collect());
const DEVICE_TRUNK_END: Step = step("FROM", "end", |spec, before| {
    let trunks = spec.multi_link_trunks().filter(|trunk| trunk.name == before[0]);
    trunks.flat_map(|trunk| ends(spec, trunk.between)).collect()
});
const DEVICE_TRUNK_MEMBER: Step = step("RADIO", "member", |spec, before| {
    let trunks = spec.multi_link_trunks().filter(|trunk| trunk.name == before[0]);
    let radios = trunks.flat_map(|trunk| {
        let sides = (0..2).filter(|side| node(spec, trunk.between[*side]) == before[1]);
        sides.flat_map(move |side| trunk.members.iter().map(move |member| (trunk.between[side], member[side])))
    });
    radios.map(|(node, radio)| spec.nodes[node].radios[radio].name.clone()).collect()
});
const SELECTION: Step = step("NAME", "trunk with `select`", |spec, _| {
    spec.radio_trunks().filter(|trunk| trunk.select.is_some()).map(|trunk| trunk.name.clone()).collect()
});
const LINK: Step = step("NAME", "link", |spec, _| spec.links.iter().map(|link| link.name.clone()).collect());
const LINK_END: Step = step("FROM", "end", |spec, before| {
    spec.links.iter().filter(|link| link.name == before[0]).flat_map(|link| ends(spec, link.between)).collect()
});
const NODE: Step = step("NODE", "node", |spec, _| spec.nodes.iter().map(|node| node.name.clone()).collect());
const PEER: Step = step("PEER", "node", |spec, _| spec.nodes.iter().map(|node| node.name.clone()).collect());
const RADIO: Step = step("RADIO", "radio", |spec, before| {
    let nodes = spec.nodes.iter().filter(|node| node.name == before[0]);
    nodes.flat_map(|node| node.radios.iter().map(|radio| radio.name.clone())).collect()
});
const SLOTS: Step = step("NAME", "slots", |spec, _| spec.slots.iter().map(|slots| slots.name.clone()).collect());
const ACCESS_POINT: Step = step("NODE", "access point", |spec, before| {
    let slots = spec.slots.iter().filter(|slots| slots.name == before[0]);
    slots.flat_map(|slots| slots.access_points.iter().map(|(host, _)| node(spec, *host))).collect()
});
const ACCESS_POINT_RADIO: Step = step("RADIO", "radio", |spec, before| {
    let points = spec.slots.iter().filter(|slots| slots.name == before[0]).flat_map(|slots| &slots.access_points);
    let of_host = points.filter(|(host, _)| spec.nodes[*host].name == before[1]);
    of_host.map(|(host, radio)| spec.nodes[*host].radios[*radio].name.clone()).collect()
});
const KILLER: Step = step("NAME", "killer", |spec, _| spec.killers.iter().map(|killer| killer.name.clone()).collect());

const fn family(
    word: &'static str,
    steps: &'static [Step],
    of: &'static str,
    declared: fn() -> Vec<&'static Declared>,
) -> Family {
    Family { word, steps, of, declared }
}

/// All families. A name may belong to one of several with the same form, according to what the scenario has.
pub static FAMILIES: [Family; 19] = [
    family("flow", &[FLOW], "a flow", FlowResult::declared),
    family("trunk", &[RADIO_TRUNK], "a trunk over radios, both directions together", sums::<RadioTrunkResult>),
    family(
        "trunk",
        &[RADIO_TRUNK, RADIO_TRUNK_END],
        "the direction of a trunk over radios that the node FROM sends",
        RadioTrunkResult::declared,
    ),
    family("trunk", &[LINK_TRUNK], "a trunk over links, both ends together", sums::<LinkTrunkResult>),
    family(
        "trunk",
        &[LINK_TRUNK, LINK_TRUNK_END],
        "the end of a trunk over links at the node FROM",
        LinkTrunkResult::declared,
    ),
    family(
        "trunk",
        &[LINK_TRUNK, LINK_TRUNK_END, LINK_TRUNK_MEMBER],
        "the member LINK of that end, as it sends on it",
        LinkTrunkMemberResult::declared,
    ),
    family(
        "trunk",
        &[DEVICE_TRUNK],
        "a trunk of multi-link devices, both directions together",
        sums::<MultiLinkTrunkResult>,
    ),
    family(
        "trunk",
        &[DEVICE_TRUNK, DEVICE_TRUNK_END],
        "the direction of a trunk of multi-link devices that the node FROM sends",
        MultiLinkTrunkResult::declared,
    ),
    family(
        "trunk",
        &[DEVICE_TRUNK, DEVICE_TRUNK_END, DEVICE_TRUNK_MEMBER],
        "the link of that direction on which the radio RADIO sends",
        MultiLinkMemberResult::declared,
    ),
    family(
        "select",
        &[SELECTION, RADIO_TRUNK_END],
        "the choice among a trunk's members at the node FROM",
        SelectionResult::declared,
    ),
    family("link", &[LINK, LINK_END], "the direction of a plain link that the node FROM sends", LinkResult::declared),
    family("mac", &[NODE, RADIO], "a radio's MAC", MacResult::declared),
    family(
        "link_layer",
        &[NODE, PEER],
        "local error control at NODE towards PEER, over a polled radio or a plain link",
        LinkLayerResult::declared,
    ),
    family("slots", &[SLOTS], "a radio with virtual stations", SlotsResult::declared),
    family(
        "slots",
        &[SLOTS, ACCESS_POINT, ACCESS_POINT_RADIO],
        "one of its access points",
        AccessPointResult::declared,
    ),
    family("killer", &[KILLER], "a packet killer, and what its list comes to", KillerResult::declared),
    family("packets", &[], "all packets", PacketAccount::declared),
    family("routing", &[], "AODV on all nodes", RoutingResult::declared),
    family("total", &[], "all flows and radios together", TotalResult::declared),
];

/// The unit of a metric by its full name, such as `flow.download.goodput_bps`; a number where there is no such metric.
pub fn unit_of(name: &str) -> Unit {
    let mut parts = name.split('.');
    let (word, key) = (parts.next(), parts.next_back());
    let of_word = FAMILIES.iter().filter(|family| Some(family.word) == word);
    let found = of_word.flat_map(|family| (family.declared)()).find(|declared| Some(declared.key) == key);
    found.map_or(Unit::Count, |declared| declared.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_the_unit_that_it_was_declared_with() {
        assert_eq!(unit_of("flow.download.goodput_bps"), Unit::BitPerSecond);
        assert_eq!(unit_of("mac.sender.ch1.airtime"), Unit::Share);
        assert_eq!(unit_of("flow.download.retransmits"), Unit::Count);
    }
}
