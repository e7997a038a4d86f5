//! The account as facts: places get their names, and the time of a busy device is divided among whom it served.

use super::super::World;
use super::super::id::{FlowId, MultiLinkEnd, NodeId, RadioId};
use super::super::packet::DropReason;
use super::flow::{Blame, FlowAccount};
use super::{Device, Usage};
use crate::limits::{Cause, FlowLimits, Limit, LimitShares, OnTheWay, line};
use crate::scenario::spec::{Mac, Slots, Transport};
use airbraid_units::Duration;

impl World<'_> {
    /// The limits of a flow: shares by cause, and by place.
    pub(in super::super) fn limits(&self, flow: FlowId) -> Option<(LimitShares, FlowLimits)> {
        let account = self.host.account.as_deref()?;
        let own = &account.flows[flow];
        let all =
            own.blames.iter().map(|(_, [time, _])| *time).fold(Duration::ZERO, |sum, time| sum + time).as_secs_f64();
        let (mut shares, mut causes) = (LimitShares::default(), Vec::<Limit>::new());
        if let Some(gap) = &own.gap {
            shares.limited_by_route = 1.0;
            let limit =
                Limit { cause: Cause::Route.name(), share: 1.0, idle: 1.0, detail: gap.clone(), ..Limit::default() };
            return Some((shares, spoken(FlowLimits { causes: vec![limit], ..FlowLimits::default() })));
        }
        if own.busy.iter().any(|(device, _)| matches!(device, Device::MultiLink(_))) {
            shares.limited_by_block_ack_window = Some(0.0);
        }
        for (blame, [time, idle]) in own.blames.iter().filter(|_| all > 0.0) {
            for (cause, at, part) in self.divided(flow, *blame) {
                let share = part * time.as_secs_f64() / all;
                if share <= 0.0 {
                    continue;
                }
                *shares.of(cause) += share;
                let access_point = (cause == Cause::Slots).then(|| self.access_point(flow, blame.at)).flatten();
                let place = access_point.or(at.map(|at| self.place(at))).unwrap_or_default();
                let detail = self.detail(flow, own, cause, *blame);
                let idle = part * idle.as_secs_f64() / all;
                match causes.iter_mut().find(|other| (other.cause, &other.place) == (cause.name(), &place)) {
                    Some(other) => (other.share, other.idle) = (other.share + share, other.idle + idle),
                    None => causes.push(Limit { cause: cause.name(), place, share, idle, detail }),
                }
            }
        }
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        let way = own.busy.iter().map(|(device, [span, busy])| OnTheWay {
            place: self.place(*device),
            busy: busy.as_secs_f64() / span.as_secs_f64().max(f64::MIN_POSITIVE),
        });
        Some((shares, spoken(FlowLimits { text: String::new(), causes, way: way.collect() })))
    }

    /// A busy device served the flow, the flow again, and others: the parts of each.
    fn divided(&self, flow: FlowId, blame: Blame) -> Vec<(Cause, Option<Device>, f64)> {
        let (Cause::Busy, Some(at)) = (blame.cause, blame.at) else { return vec![(blame.cause, blame.at, 1.0)] };
        if let Device::MultiLink(end) = at {
            return self.divided_links(flow, end);
        }
        let parts = self.divided_device(flow, at).into_iter();
        parts.map(|(cause, part)| (cause, blame.at, part)).collect()
    }

    fn divided_device(&self, flow: FlowId, at: Device) -> Vec<(Cause, f64)> {
        let others = self.part_of_others(flow, at);
        let radios = self.radios_of(at);
        if radios.is_empty() {
            return vec![(Cause::Rate, 1.0 - others), (Cause::OtherFlows, others)];
        }
        let (retries, frames) = radios.iter().fold((0, 0), |(retries, frames), radio| {
            let mac = self.ports.radios[*radio].mac();
            let stats = mac.stats();
            // Under EDCA an MPDU is sent again, and not the PPDU.
            let sent = mac.edca().map_or(stats.data_frames, |counts| counts.mpdus);
            (retries + stats.retries, frames + sent)
        });
        let again = retries as f64 / frames.max(1) as f64;
        let away = self.away(flow, at);
        let own = (1.0 - away) * (1.0 - others);
        vec![
            (Cause::Airtime, own * (1.0 - again)),
            (Cause::OtherFlows, (1.0 - away) * others),
            (Cause::Retries, own * again),
            (Cause::Slots, away),
        ]
    }

    /// The same of a trunk of multi-link devices: each link has a part by its rate, and was busy or stood still.
    fn divided_links(&self, flow: FlowId, end: MultiLinkEnd) -> Vec<(Cause, Option<Device>, f64)> {
        let Some((device, peer)) = self.multi_link_peer(end) else { return Vec::new() };
        let busy = self.counted_busy(flow, Device::MultiLink(end)).as_secs_f64().max(f64::MIN_POSITIVE);
        let rates: Vec<f64> = device.links_to(peer).map(|link| self.rate(link)).collect();
        let all = rates.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let links = device.links_to(peer).zip(&peer.ways).zip(rates);
        let parts = links.flat_map(|((link, way), rate)| {
            let at = Device::Radio(link);
            let still = (way.count.counted_stalled(self.host.now).as_secs_f64() / busy).min(1.0);
            let (others, again) = (self.part_of_others(flow, at), way.count.retried());
            let own = (1.0 - still) * (1.0 - others);
            [
                (Cause::Airtime, own * (1.0 - again)),
                (Cause::OtherFlows, (1.0 - still) * others),
                (Cause::Retries, own * again),
                (Cause::BlockAckWindow, still),
            ]
            .map(|(cause, part)| (cause, Some(at), part * rate / all))
        });
        parts.collect()
    }

    /// Counted time in which a device on a flow's way was busy.
    fn counted_busy(&self, flow: FlowId, device: Device) -> Duration {
        let busy = self.host.account.iter().flat_map(|account| &account.flows[flow].busy);
        busy.filter(|(other, _)| *other == device)
            .map(|(_, [_, busy])| *busy)
            .fold(Duration::ZERO, |sum, one| sum + one)
    }

    /// Bit rate of a radio under EDCA \[bit/s\].
    fn rate(&self, radio: RadioId) -> f64 {
        let node = self.ports.radios[radio].node();
        let spec = &self.spec.nodes[node.index()].radios[self.radio_map.place(node, radio)];
        match &spec.mac {
            Mac::Edca(config) => config.data.rate().bit_rate.as_bps() as f64,
            _ => 0.0,
        }
    }

    /// The part of other flows in the use of a device: of a radio's medium in the airtime of all frames that it senses.
    pub(super) fn part_of_others(&self, flow: FlowId, at: Device) -> f64 {
        let Some(account) = self.host.account.as_deref() else { return 0.0 };
        let add = |[own, others]: [u64; 2], usage: &Usage| [own + usage.of(flow), others + usage.others(flow)];
        let [own, others] = match at {
            Device::Radio(_) | Device::RadioTrunk(_) | Device::MultiLink(_) => {
                let radios = self.radios_of(at).into_iter();
                let sensed = radios.flat_map(|radio| std::iter::once(radio).chain(self.host.medium.sensed_by(radio)));
                sensed.filter_map(|radio| account.airtimes.get(radio)).fold([0, 0], add)
            }
            Device::Link(link) => account.links.get(link).into_iter().fold([0, 0], add),
            Device::LinkTrunk(end) => account.bonds.get(end).into_iter().fold([0, 0], add),
            Device::Node(_) => [0, 0],
        };
        others as f64 / (own + others).max(1) as f64
    }

    /// The radios that a device is.
    fn radios_of(&self, device: Device) -> Vec<RadioId> {
        match device {
            Device::Radio(radio) => vec![radio],
            Device::RadioTrunk(end) => self.ports.radio_trunks[end].radios().collect(),
            Device::MultiLink(end) => {
                self.multi_link_peer(end).into_iter().flat_map(|(device, peer)| device.links_to(peer)).collect()
            }
            Device::Node(_) | Device::LinkTrunk(_) | Device::Link(_) => Vec::new(),
        }
    }

    /// The share of the time in which a station with several access points is not at the one of a flow, whose radio it
    /// is or the access point's.
    fn away(&self, flow: FlowId, device: Device) -> f64 {
        let Some((slots, place)) = self.slots_of(flow, device) else { return 0.0 };
        1.0 - slots.shares_ns[place] as f64 / slots.shares_ns.iter().sum::<u64>().max(1) as f64
    }

    /// The access point's node.
    fn access_point(&self, flow: FlowId, device: Option<Device>) -> Option<String> {
        let (slots, place) = self.slots_of(flow, device?)?;
        Some(self.spec.nodes[slots.access_points[place].0].name.clone())
    }

    /// The slots of a station and the place of the flow's access point among them, if the device is a radio of either.
    fn slots_of(&self, flow: FlowId, device: Device) -> Option<(&Slots, usize)> {
        let Device::Radio(radio) = device else { return None };
        let id = |at: &(usize, usize)| self.radio_map.id(*at);
        let via = self.spec.flows[flow.index()].via;
        self.spec.slots.iter().find_map(|slots| {
            let is_station = id(&slots.radio) == radio;
            let is_its = |at: &(usize, usize)| id(at) == radio || (is_station && via == Some(*at));
            Some((slots, slots.access_points.iter().position(is_its)?))
        })
    }

    pub(in super::super) fn place(&self, device: Device) -> String {
        let name = |node: NodeId| self.spec.nodes[node.index()].name.as_str();
        match device {
            Device::Node(node) => format!("node {}", name(node)),
            Device::Radio(radio) => {
                let node = self.ports.radios[radio].node();
                let place = self.radio_map.place(node, radio);
                let own = &self.spec.nodes[node.index()].radios;
                if own.len() > 1 {
                    format!("radio {} of {}", own[place].name, name(node))
                } else {
                    format!("{}'s radio", name(node))
                }
            }
            Device::Link(link) => {
                let spec = &self.spec.links[link.link()];
                let [from, to] = [link.side(), link.peer().side()].map(|side| name(NodeId::new(spec.between[side])));
                format!("link {}, {from} to {to}", spec.name)
            }
            Device::LinkTrunk(end) => {
                let trunk = self.spec.link_trunks().nth(end.index() / 2);
                trunk.map_or_else(String::new, |trunk| {
                    of_trunk(&trunk.name, name(NodeId::new(trunk.between[end.side()])))
                })
            }
            Device::MultiLink(end) => {
                let trunk = self.spec.multi_link_trunks().nth(end.index() / 2);
                trunk.map_or_else(String::new, |trunk| {
                    of_trunk(&trunk.name, name(NodeId::new(trunk.between[end.side()])))
                })
            }
            Device::RadioTrunk(end) => {
                let trunk = self.spec.radio_trunks().nth(end.index() / 2);
                trunk.map_or_else(String::new, |trunk| {
                    of_trunk(&trunk.name, name(NodeId::new(trunk.between[end.side()])))
                })
            }
        }
    }

    fn detail(&self, flow: FlowId, own: &FlowAccount, cause: Cause, blame: Blame) -> String {
        match cause {
            Cause::ReceiveWindow => match self.spec.flows[flow.index()].transport {
                Transport::Tcp(config) => config.receive_buffer.to_string(),
                Transport::Udp { .. } => String::new(),
            },
            Cause::Losses | Cause::Queue => {
                let here = own.losses.iter().filter(|lost| Some(lost.at) == blame.at);
                let count = here.map(|lost| lost.count).sum::<u64>();
                let reason = blame.reason.map_or("", |reason| reason.name()).replace('_', " ");
                format!("{reason}: {count}")
            }
            Cause::Route => route_words(blame.reason).to_owned(),
            _ => String::new(),
        }
    }
}

/// The limits with their line.
fn spoken(limits: FlowLimits) -> FlowLimits {
    FlowLimits { text: line(&[&limits]), ..limits }
}

/// A missing route in words.
fn route_words(reason: Option<DropReason>) -> &'static str {
    match reason {
        Some(DropReason::HopLimit | DropReason::Circled) => "the routes form a circle",
        Some(DropReason::RouteTimeout | DropReason::RouteBufferFull) => "the search took too long",
        Some(DropReason::LinkBroken) => "a link of the route broke",
        Some(DropReason::AddressUnknown) => "a neighbour's address was not found",
        _ => "none was known",
    }
}

fn of_trunk(trunk: &str, node: &str) -> String {
    format!("trunk {trunk} at {node}")
}
