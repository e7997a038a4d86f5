//! A `[[trunk]]` over radios: the radios of two neighbours that form it, and its policy.

use crate::scenario::error::Complaint;
use crate::scenario::reader::{self, View};
use crate::scenario::schema::{between, policy, position, select, standard_name};
use crate::scenario::spec::{Mac, Node, Radio, RadioTrunk};
use crate::scenario::tree::Value;
use airbraid_engine::trunk::paper::{Distributor, Fifo, Method, PaperPolicy};

/// Reads one trunk, of which `others` of its kind stand before it in the file.
pub(super) fn read<'o>(
    view: &View<'_>,
    name: String,
    nodes: &[Node],
    names: &[String],
    others: impl Iterator<Item = &'o RadioTrunk>,
) -> RadioTrunk {
    let ends = between(view, names);
    let members = ends.map(|ends| members(view, ends, nodes)).unwrap_or_default();
    let policy = policy::paper::read(view.sub("policy"));
    let (header, why) = policy::paper::header(&policy);
    let header = view.quantity("header", header, why);
    let small = header.as_u64() <= 1_024;
    view.require(small, "header", || format!("a header of {header} is too long"), "at most 1024 byte");
    given_back(view, &members, ends.unwrap_or_default(), nodes, &policy);
    held(view, &members, ends.unwrap_or_default(), nodes, &policy);
    let select = select::read(view, &members, ends.unwrap_or_default(), nodes);
    let trunk = RadioTrunk { name, between: ends.unwrap_or_default(), members, header, policy, select };
    shared(view, &trunk, others);
    trunk
}

/// A packet that is to go by another member must be given up by its own.
fn given_back(view: &View<'_>, members: &[[usize; 2]], ends: [usize; 2], nodes: &[Node], policy: &PaperPolicy) {
    let has_resends = matches!(policy.resequencer.method, Method::Fifo(Fifo { resends: 1.., .. }));
    let mut radios = members.iter().flat_map(|pair| [(ends[0], pair[0]), (ends[1], pair[1])]);
    let keeper = radios.find(|(node, radio)| nodes[*node].radios[*radio].mac.keeps_mpdus());
    let Some((node, radio)) = keeper.filter(|_| has_resends) else { return };
    let (node, radio) = (&nodes[node].name, &nodes[node].radios[radio].name);
    let message =
        format!("radio `{node}/{radio}` never gives back a packet: it sends MPDUs of A-MPDUs again without limit");
    let help = "give it a `block_ack_retry_limit`, such as 4, or leave `resends` out";
    view.complain("policy", Complaint::new(message, help));
}

/// A radio must have space for all that the trunk gives it at once: one frame in service, the others in its queue.
fn held(view: &View<'_>, members: &[[usize; 2]], ends: [usize; 2], nodes: &[Node], policy: &PaperPolicy) {
    let radios = members.iter().flat_map(|pair| [(ends[0], pair[0]), (ends[1], pair[1])]);
    let queues = radios.map(|(node, radio)| {
        let radio = &nodes[node].radios[radio];
        radio.link_layer.map_or(radio.mac.queue_limit(), |link| link.bulk.queue_limit)
    });
    let markers = match policy.distributor {
        // One behind each turn, of at least this number of packets of 1500 byte.
        Distributor::Srr(srr) => policy.member_limit / (srr.quantum / 1_500).max(1) + 1,
        _ => 0,
    };
    let Some(least) = queues.min() else { return };
    let frames = policy.member_limit.saturating_add(markers);
    let message = || format!("the trunk gives a radio up to {frames} frames at once, and one has a queue of {least}");
    let help = "give the radios longer queues, or the policy a smaller `member_queue`";
    view.require(frames <= least.saturating_add(1), "policy", message, help);
}

/// Two trunks between the same nodes cannot share a radio: its queue serves one neighbour's trunk.
fn shared<'o>(view: &View<'_>, trunk: &RadioTrunk, others: impl Iterator<Item = &'o RadioTrunk>) {
    for other in others {
        let same = other.between == trunk.between;
        let crossed = other.between[0] == trunk.between[1] && other.between[1] == trunk.between[0];
        let taken = trunk.members.iter().any(|m| {
            (same && other.members.iter().any(|o| o[0] == m[0] || o[1] == m[1]))
                || (crossed && other.members.iter().any(|o| o[0] == m[1] || o[1] == m[0]))
        });
        let message =
            || format!("trunks `{}` and `{}` use the same radios between the same nodes", other.name, trunk.name);
        view.require(!taken, "members", message, "give each trunk its own members");
    }
}

/// The members that are named, or every channel that both ends share.
pub(super) fn members(view: &View<'_>, ends: [usize; 2], nodes: &[Node]) -> Vec<[usize; 2]> {
    let [a, b] = ends.map(|i| &nodes[i]);
    if let Some(given) = view.optional("members", "every channel that both ends share", reader::list) {
        if given.is_empty() {
            view.complain("members", Complaint::new("a trunk has at least one member", "name radios, or leave it out"));
        }
        let mut members: Vec<[usize; 2]> = Vec::new();
        for item in given {
            match member(item, a, b) {
                Ok(m) if members.iter().any(|o| o[0] == m[0] || o[1] == m[1]) => {
                    view.cx.complain(item.place, Complaint::new("a radio is a member once", "leave the second out"));
                }
                Ok(m) => members.push(m),
                Err(complaint) => view.cx.complain(item.place, complaint),
            }
        }
        return members;
    }
    let mut members: Vec<[usize; 2]> = Vec::new();
    for (i, radio) in a.radios.iter().enumerate() {
        let mut peers = b.radios.iter().enumerate();
        let free = |j: usize| members.iter().all(|m| m[1] != j);
        if let Some((j, _)) = peers.find(|(j, peer)| can_hear(radio, peer).is_ok() && free(*j)) {
            members.push([i, j]);
        }
    }
    if members.is_empty() {
        let message = format!("the ends of this trunk share no channel: {}; {}", channels(a), channels(b));
        let help = match (a.radios.is_empty(), b.radios.is_empty()) {
            (true, true) => "write over = \"links\" for a trunk over [[link]]s, or give both nodes radios",
            _ => "give both nodes radios on the same channels",
        };
        view.complain("between", Complaint::new(message, help));
    }
    members
}

fn channels(node: &Node) -> String {
    if node.radios.is_empty() {
        return format!("`{}` has no radio", node.name);
    }
    let channels: Vec<String> = node.radios.iter().map(|r| r.channel.to_string()).collect();
    format!("`{}` has {}", node.name, channels.join(", "))
}

/// `"ch1"`: the radios of this name at both ends; `["ch1", "up"]`: one at either end.
fn member(item: &Value, a: &Node, b: &Node) -> Result<[usize; 2], Complaint> {
    let names = match reader::list(item) {
        Ok([x, y]) => [reader::text(x)?, reader::text(y)?],
        Ok(_) => return Err(Complaint::new("a pair of radios is needed", "write [\"radio here\", \"radio there\"]")),
        Err(_) => [reader::text(item)?, reader::text(item)?],
    };
    let index = |node: &Node, name: &str| {
        let radios: Vec<String> = node.radios.iter().map(|r| r.name.clone()).collect();
        position(name, &format!("radio of `{}`", node.name), &radios)
    };
    let pair = [index(a, &names[0])?, index(b, &names[1])?];
    can_hear(&a.radios[pair[0]], &b.radios[pair[1]])?;
    Ok(pair)
}

fn can_hear(a: &Radio, b: &Radio) -> Result<(), Complaint> {
    if !a.shares_channel(b) {
        let message = match (a.primary_mhz(), b.primary_mhz()) {
            (Some(x), Some(y)) if a.channel == b.channel => {
                format!("the primary channels of the radios are different: {x} and {y} MHz")
            }
            _ => format!("the radios are on different channels: {} and {}", a.channel, b.channel),
        };
        return Err(Complaint::new(message, "a member has the same channel at both ends"));
    }
    let (x, y) = match (&a.mac, &b.mac) {
        (Mac::Dcf(x), Mac::Dcf(y)) => (x, y),
        (Mac::Multichannel(_), Mac::Multichannel(_)) | (Mac::Edca(_), Mac::Edca(_)) => return Ok(()),
        (Mac::Polled(x), Mac::Polled(y)) if x.role != y.role => return Ok(()),
        (Mac::Polled(_), Mac::Polled(_)) => {
            let message = "neither of the radios polls the other, or both would";
            return Err(Complaint::new(message, "give the one role = \"master\", the other role = \"slave\""));
        }
        (Mac::AccessPoint(_) | Mac::Slotted(_), _) | (_, Mac::AccessPoint(_) | Mac::Slotted(_)) => {
            let message = "a trunk needs members that are there, and a station that dozes is not";
            return Err(Complaint::new(message, "give both radios mac = \"dcf\""));
        }
        _ => {
            let message = "the radios have different medium access";
            return Err(Complaint::new(message, "give both the same `mac`"));
        }
    };
    if x.phy.standard != y.phy.standard {
        let names = [x, y].map(|d| standard_name(d.phy.standard));
        let message = format!("the radios speak different standards: {} and {}", names[0], names[1]);
        return Err(Complaint::new(message, "a member has the same standard at both ends"));
    }
    Ok(())
}
