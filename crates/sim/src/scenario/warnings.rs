//! Warnings about settings that the author may not have meant: `explain` shows them, nothing is refused.

use super::frequency::Frequency;
use super::schema::is_dsss;
use super::spec::{Mac, Mobility, Node, Radio, RadioTrunk, Spec, Transport};
use crate::phy::Threshold;
use airbraid_engine::converge::select::Spread;
use airbraid_engine::trunk::paper::PaperPolicy;
use airbraid_mac::erp::Protection;
use airbraid_mac::phy::Standard;
use airbraid_units::{Bytes, Duration};
use std::collections::BTreeSet;

/// Channels of 802.11b and g are 5 MHz apart and 20 to 22 MHz wide.
const OVERLAP_CHANNELS: u32 = 5;
/// The last channel of 802.11b (in Japan) and, as this simulator counts, of 802.11g.
const LAST_CHANNEL: u32 = 14;
/// Largest transmission power that is not remarked on \[dBm\]: 1 W, what FCC 15.247 and 15.407 allow a transmitter of
/// 2.4 and 5.8 GHz.
const POWER_MAX: f64 = 30.0;
/// Channels of 5 MHz that 802.11a has somewhere (802.11-2020, annex E): 5.0, 5.2 to 5.3, 5.5 to 5.7, 5.8 and 4.9 GHz.
const CHANNELS_5_GHZ: [std::ops::RangeInclusive<u32>; 5] = [7..=16, 34..=64, 100..=144, 149..=177, 184..=196];
/// The longest MSDU (802.11-2020, table 9-25).
const MSDU_MAX: Bytes = Bytes::new(2_304);
/// LLC and SNAP.
const LLC_HEADER: Bytes = Bytes::new(8);
/// Headers of IPv4 and TCP without options.
const TCP_HEADERS: Bytes = Bytes::new(40);
/// Largest ratio of frequencies that count as one: the centres of a wide channel and of its parts differ by up to 3 %.
const FREQUENCY_RATIO: f64 = 1.1;
/// Largest number of nodes whose pairs are checked.
const NODES_MAX: usize = 512;

/// The warnings of one cell.
pub(crate) fn of(spec: &Spec) -> Vec<String> {
    let mut warnings = Vec::new();
    overlaps(spec, &mut warnings);
    strong(spec, &mut warnings);
    foreign_channels(spec, &mut warnings);
    ofdm_on_14(spec, &mut warnings);
    long_packets(spec, &mut warnings);
    beside_dsss(spec, &mut warnings);
    unusual_access(spec, &mut warnings);
    unlike_errors(spec, &mut warnings);
    idle_policies(spec, &mut warnings);
    if spec.nodes.len() <= NODES_MAX {
        unlike_frequencies(spec, &mut warnings);
        unreachable(spec, &mut warnings);
        same_place(spec, &mut warnings);
    }
    if spec.flows.is_empty() {
        warnings.push("there is no [[flow]]: nothing will be sent".to_owned());
    }
    for flow in &spec.flows {
        if flow.start.as_nanos() >= spec.duration.as_nanos() {
            warnings.push(format!("flow `{}` starts when the run is over", flow.name));
        }
    }
    for change in spec.changes.iter().filter(|change| change.at.as_nanos() >= spec.duration.as_nanos()) {
        let at = Duration::from_nanos(change.at.as_nanos());
        warnings.push(format!("[[at]] {at} is when the run of {} is over: it changes nothing", spec.duration));
    }
    warnings
}

/// Policies of trunks that choose one member for each packet: nothing is striped, and nothing restores an order.
fn idle_policies(spec: &Spec, warnings: &mut Vec<String>) {
    let chooses = |trunk: &&RadioTrunk| trunk.select.is_some_and(|select| select.policy.spread == Spread::Choose);
    for trunk in spec.radio_trunks().filter(chooses).filter(|trunk| trunk.policy != PaperPolicy::default()) {
        let name = &trunk.name;
        warnings.push(format!(
            "trunk `{name}`: [trunk.policy] changes nothing where `select` chooses one member; write spread = \"all\" there to \
             stripe"
        ));
    }
}

/// Every radio with its name as `[[at]]` writes it.
fn radios(spec: &Spec) -> impl Iterator<Item = (String, &Radio)> {
    spec.nodes.iter().flat_map(|node| node.radios.iter().map(move |r| (format!("{}/{}", node.name, r.name), &**r)))
}

/// The first of several names, and the number of the others.
fn first_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first, others @ ..] => format!("`{first}` (and {} more)", others.len()),
    }
}

/// Radios that shout.
fn strong(spec: &Spec, warnings: &mut Vec<String>) {
    let strong: Vec<(String, &Radio)> = radios(spec).filter(|(_, radio)| radio.radio.power.0 > POWER_MAX).collect();
    let Some((_, radio)) = strong.first() else { return };
    let names: Vec<String> = strong.iter().map(|(name, _)| name.clone()).collect();
    warnings.push(format!(
        "radio {} transmits with {}, more than the {POWER_MAX} dBm (1 W) that are allowed; ranges that are given as \
         distances stay as they are",
        first_of(&names),
        radio.radio.power
    ));
}

/// Radios of the 5-GHz standard on channels that it does not have.
fn foreign_channels(spec: &Spec, warnings: &mut Vec<String>) {
    let is_there = |channel: u32| CHANNELS_5_GHZ.iter().any(|range| range.contains(&channel));
    let is_5_ghz = |radio: &Radio| radio.mac.dcf().is_some_and(|dcf| dcf.phy.standard == Standard::Dot11a);
    let channels: BTreeSet<u32> = radios(spec)
        .map(|(_, radio)| radio)
        .filter(|r| is_5_ghz(r) && !is_there(r.channel))
        .map(|r| r.channel)
        .collect();
    if channels.is_empty() {
        return;
    }
    let list: Vec<String> = channels.iter().map(u32::to_string).collect();
    warnings.push(format!(
        "802.11a has no channel {} (it has 36 to 64, 100 to 144, 149 to 177): it is taken as one more that no other \
         disturbs",
        list.join(", ")
    ));
}

/// OFDM on the channel that is for DSSS and CCK alone.
fn ofdm_on_14(spec: &Spec, warnings: &mut Vec<String>) {
    let is_there = |radio: &Radio| {
        let standard = radio.mac.phy().map(|phy| phy.standard);
        radio.channel == LAST_CHANNEL && standard == Some(Standard::Dot11g)
    };
    let names: Vec<String> = radios(spec).filter(|(_, radio)| is_there(radio)).map(|(name, _)| name).collect();
    if !names.is_empty() {
        warnings.push(format!(
            "radio {} is on channel {LAST_CHANNEL}, which is for 802.11b alone, and in Japan only; 1 to 13 are for all",
            first_of(&names)
        ));
    }
}

/// Packets that no host would give to a radio in one piece.
fn long_packets(spec: &Spec, warnings: &mut Vec<String>) {
    let has_radio = |node: usize| spec.nodes[node].radios.iter().any(|radio| radio.mac.phy().is_some());
    for flow in spec.flows.iter().filter(|flow| has_radio(flow.from) || has_radio(flow.to)) {
        let packet = match &flow.transport {
            Transport::Udp { payload, header } => *payload + *header,
            Transport::Tcp(tcp) => tcp.mss + TCP_HEADERS,
        };
        if packet + LLC_HEADER > MSDU_MAX {
            warnings.push(format!(
                "flow `{}`: packets of {packet} are longer than an MSDU of 802.11 may be ({MSDU_MAX} with LLC); \
                 hosts cut them, a radio here sends each in one MPDU",
                flow.name
            ));
        }
    }
}

/// Radios with OFDM that have their channel with one of 802.11b.
fn beside_dsss(spec: &Spec, warnings: &mut Vec<String>) {
    let all: Vec<(String, &Radio)> = radios(spec).collect();
    let mixed = all.iter().filter_map(|(name, radio)| Some((name, *radio, radio.mac.non_erp()?)));
    let beside = mixed.filter_map(|(name, radio, non_erp)| {
        let (older, _) = all.iter().find(|(_, other)| is_dsss(other) && radio.shares_channel(other))?;
        Some((name.clone(), older, non_erp.protection))
    });
    let beside: Vec<(String, &String, Option<Protection>)> = beside.collect();
    for protection in [Some(Protection::CtsToSelf), Some(Protection::RtsCts), None] {
        let alike: Vec<&(String, &String, _)> = beside.iter().filter(|(_, _, of)| *of == protection).collect();
        let Some((_, older, _)) = alike.first() else { continue };
        let names: Vec<String> = alike.iter().map(|(name, _, _)| name.clone()).collect();
        let what = match protection {
            Some(Protection::CtsToSelf) => "reserves the medium by a CTS to itself",
            Some(Protection::RtsCts) => "reserves the medium by RTS and CTS",
            None => "reserves nothing (protection = \"off\")",
        };
        warnings.push(format!(
            "radio {} has its channel with `{older}` of 802.11b, which hears no OFDM: before OFDM it {what}, its slot is \
             20 us, and what goes to `{older}` or to all is DSSS",
            first_of(&names)
        ));
    }
}

/// Parameters of the medium access that the standard does not have, or not for every station.
fn unusual_access(spec: &Spec, warnings: &mut Vec<String>) {
    let is_early = |radio: &Radio| match &radio.mac {
        Mac::Edca(config) => !config.beacons && config.functions.iter().any(|function| function.aifsn == 1),
        _ => false,
    };
    let early: Vec<String> = radios(spec).filter(|(_, radio)| is_early(radio)).map(|(name, _)| name).collect();
    if !early.is_empty() {
        warnings.push(format!(
            "radio {} has an AIFSN of 1, which only access points may have (802.11-2020, 9.4.2.28; others 2 to 15): if it \
             is one, say so by beacons = true",
            first_of(&early)
        ));
    }
    let is_power = |window: u32| (window + 1).is_power_of_two();
    let is_odd = |radio: &Radio| match &radio.mac {
        Mac::Dcf(dcf) => !(is_power(dcf.cw_min) && is_power(dcf.cw_max)),
        _ => false,
    };
    let odd: Vec<String> = radios(spec).filter(|(_, radio)| is_odd(radio)).map(|(name, _)| name).collect();
    if !odd.is_empty() {
        let radio = first_of(&odd);
        warnings.push(format!("radio {radio} has a contention window that is not 2^n - 1, as all of 802.11 are"));
    }
}

/// Radios of one channel whose errors differ: a reader may expect those of the sender.
fn unlike_errors(spec: &Spec, warnings: &mut Vec<String>) {
    let mut told = BTreeSet::new();
    let all: Vec<(String, &Radio)> = radios(spec).collect();
    for (name, radio) in &all {
        let other = all.iter().find(|(_, o)| o.channel == radio.channel && o.radio.error != radio.radio.error);
        if let Some((other, _)) = other
            && told.insert(radio.channel)
        {
            warnings.push(format!(
                "radios `{name}` and `{other}` on channel {} have different `error`: that of the receiving radio counts",
                radio.channel
            ));
        }
    }
}

/// Radios of one channel whose paths are computed for different frequencies: each hears the other as loud as that one's
/// says. The older standards have that of ns-2 by default.
fn unlike_frequencies(spec: &Spec, warnings: &mut Vec<String>) {
    let all: Vec<(String, &Radio)> = radios(spec).collect();
    let frequency = |radio: &Radio| radio.radio.frequency_hz;
    for (place, (name, radio)) in all.iter().enumerate() {
        let is_unlike = |(_, other): &&(String, &Radio)| {
            let ratio = frequency(radio) / frequency(other);
            radio.overlaps(other) && !(1.0 / FREQUENCY_RATIO..=FREQUENCY_RATIO).contains(&ratio)
        };
        if let Some((other_name, other)) = all[..place].iter().find(is_unlike) {
            warnings.push(format!(
                "radios `{other_name}` and `{name}` share a channel, but their paths are those of {} and {}: each hears \
                 the other differently; give all of them one `frequency`",
                Frequency(frequency(other)),
                Frequency(frequency(radio))
            ));
            return;
        }
    }
}

/// Radios of the 2.4-GHz standards on channels that there are not, or that overlap.
fn overlaps(spec: &Spec, warnings: &mut Vec<String>) {
    let channels: BTreeSet<u32> = spec.radios().filter_map(in_2_4_ghz).collect();
    let channels: Vec<u32> = channels.into_iter().collect();
    let unknown: Vec<String> = channels.iter().filter(|&&c| c > LAST_CHANNEL).map(u32::to_string).collect();
    if !unknown.is_empty() {
        warnings.push(format!(
            "802.11b and g end at channel {LAST_CHANNEL}; {} is taken as one more that no other channel disturbs",
            unknown.join(", ")
        ));
    }
    for is_modelled in [true, false] {
        let is_meant = |radio: &&Radio| radio.spectrum.is_some() == is_modelled;
        let of_kind = spec.radios().filter(is_meant).filter_map(in_2_4_ghz);
        let channels: Vec<u32> = of_kind.collect::<BTreeSet<u32>>().into_iter().collect();
        let pairs = channels.windows(2).filter(|w| w[1] - w[0] < OVERLAP_CHANNELS);
        let pairs: Vec<String> = pairs.map(|w| format!("{} and {}", w[0], w[1])).collect();
        let outcome = if is_modelled {
            "overlap: they disturb each other (overlap = \"ignored\" leaves that out)"
        } else {
            "overlap in reality; in the model they do not hear each other"
        };
        if !pairs.is_empty() {
            let apart = 5 * (OVERLAP_CHANNELS - 1);
            warnings.push(format!("channels {} are {apart} MHz apart or less and {outcome}", pairs.join(", ")));
        }
    }
}

fn in_2_4_ghz(radio: &Radio) -> Option<u32> {
    is_in_2_4_ghz(radio.mac.dcf()?.phy.standard).then_some(radio.channel)
}

fn is_in_2_4_ghz(standard: Standard) -> bool {
    matches!(standard, Standard::Dot11b | Standard::Dot11g)
}

fn same_place(spec: &Spec, warnings: &mut Vec<String>) {
    for (i, a) in spec.nodes.iter().enumerate() {
        let near = |b: &&Node| b.position == a.position && !a.radios.is_empty() && !b.radios.is_empty();
        if let Some(b) = spec.nodes[..i].iter().find(near) {
            warnings.push(format!("nodes `{}` and `{}` stand at the same place", b.name, a.name));
        }
    }
}

/// Flows without a path at the start.
fn unreachable(spec: &Spec, warnings: &mut Vec<String>) {
    for flow in &spec.flows {
        let mut seen = vec![false; spec.nodes.len()];
        seen[flow.from] = true;
        let mut front = vec![flow.from];
        while let Some(at) = front.pop() {
            for (next, seen) in seen.iter_mut().enumerate() {
                if !*seen && neighbours(spec, at, next) {
                    *seen = true;
                    front.push(next);
                }
            }
        }
        if !seen[flow.to] {
            let (from, to) = (&spec.nodes[flow.from].name, &spec.nodes[flow.to].name);
            let name = &flow.name;
            warnings.push(format!(
                "flow `{name}`: no path leads from `{from}` to `{to}` at the start{}",
                hint(spec, flow.from, flow.to)
            ));
        }
    }
}

fn neighbours(spec: &Spec, a: usize, b: usize) -> bool {
    let joined = |between: &[usize; 2]| between.contains(&a) && between.contains(&b);
    spec.links.iter().any(|l| joined(&l.between))
        || spec.slots.iter().any(|slots| {
            let serves = |x, y| slots.radio.0 == x && slots.access_points.iter().any(|at| at.0 == y);
            serves(a, b) || serves(b, a)
        })
        || spec.nodes[a].radios.iter().any(|x| spec.nodes[b].radios.iter().any(|y| hears(spec, (a, x), (b, y))))
}

/// Whether `b` can receive `a`, as far as ranges tell; thresholds given as powers count as met.
fn hears(spec: &Spec, (a, x): (usize, &Radio), (b, y): (usize, &Radio)) -> bool {
    let speak = match (&x.mac, &y.mac) {
        (Mac::Dcf(x), Mac::Dcf(y)) => is_in_2_4_ghz(x.phy.standard) == is_in_2_4_ghz(y.phy.standard),
        (Mac::Dcf(dcf), Mac::Edca(_)) | (Mac::Edca(_), Mac::Dcf(dcf)) => dcf.phy.standard != Standard::Fhss,
        (Mac::Polled(x), Mac::Polled(y)) => x.role != y.role,
        (Mac::Edca(_), Mac::Edca(_)) => true,
        (Mac::Multichannel(_), Mac::Multichannel(_)) => true,
        _ => false,
    };
    let near = match y.radio.reception {
        Threshold::Range(range) => distance(&spec.nodes[a], &spec.nodes[b]) <= range.0,
        Threshold::Power(_) => true,
    };
    x.shares_channel(y) && speak && near
}

fn distance(a: &Node, b: &Node) -> f64 {
    libm::hypot(a.position.x.0 - b.position.x.0, a.position.y.0 - b.position.y.0)
}

fn hint(spec: &Spec, a: usize, b: usize) -> &'static str {
    let moves = spec.nodes.iter().any(|n| n.mobility != Mobility::Static);
    let deaf = spec.nodes[a].radios.is_empty() || spec.nodes[b].radios.is_empty();
    match (moves, deaf) {
        (_, true) => " (an end has no radio)",
        (true, _) => " (nodes move: one may come)",
        _ => "",
    }
}
