//! The result of a run, collected at its end.

use super::World;
use super::device::{MultiLinkDevice, Peer};
use super::flow::{Counts, Flow, Transport};
use super::id::{FlowId, Id, LinkDirection, LinkTrunkEnd, MultiLinkEnd, NodeId, RadioId, RadioTrunkEnd, StopAndWaitId};
use super::port::link::LinkPort;
use super::port::mac::RadioMac;
use super::port::radio::RadioPort;
use crate::metric::{Flat, Metrics};
use crate::result::{
    AccessPointResult, FlowResult, FlowSeries, LinkLayerResult, LinkResult, LinkTrunkMemberResult, LinkTrunkResult,
    MacResult, MacSeries, MemberSeries, MultiLinkCounts, MultiLinkMemberResult, MultiLinkTrunkResult, RadioTrunkResult,
    RunResult, SelectionResult, SelectionSeries, SlotsResult, TotalResult, TrunkResult, TrunkSeries,
};
use crate::scenario::spec;
use airbraid_engine::link::Stats;
use airbraid_engine::trunk::bonding::BondDropReason;
use airbraid_engine::trunk::paper::PaperCounts;
use airbraid_mac::service::MacStats;
use airbraid_units::{Duration, Instant};
use std::sync::Arc;

impl World<'_> {
    /// The facts of the run.
    ///
    /// # Panics
    /// If the account of packets does not balance: a fault of the simulator.
    pub fn result(&self) -> RunResult {
        let spec = self.spec;
        let mut result = RunResult {
            seed: self.seed,
            duration_s: spec.duration.as_secs_f64(),
            events: self.events,
            wall_s: 0.0,
            cpu_s: 0.0,
            flows: self.flow_results(),
            trunks: self.trunk_results(),
            selections: self.selection_results(),
            macs: self.mac_results(),
            routing: self.network.routers().map(|routers| routers.result()),
            total: TotalResult::default(),
            links: self.link_results(),
            link_layers: self.link_layer_results(),
            slots: self.slots_results(),
            killers: self.host.killers.as_ref().map(|killers| killers.results(spec)).unwrap_or_default(),
            drops: self.host.packets.drops(),
            packets: self.host.packets.account(),
        };
        result.total = TotalResult::of(&result.flows, &result.macs);
        result
    }

    fn name(&self, node: usize) -> String {
        self.spec.nodes[node].name.clone()
    }

    fn flow_results(&self) -> Vec<FlowResult> {
        let flows = self.flows.table.pairs().zip(&self.spec.flows);
        let result = |((id, flow), spec): ((FlowId, &Flow), &spec::Flow)| {
            let limits = self.limits(id);
            FlowResult {
                limited_by: limits.as_ref().map(|(shares, _)| Flat(*shares)),
                limits: limits.map(|(_, limits)| limits),
                ..self.flow_result(flow, spec)
            }
        };
        flows.map(result).collect()
    }

    fn flow_result(&self, flow: &Flow, spec: &spec::Flow) -> FlowResult {
        let counts = &flow.counts;
        let packets = counts.packets;
        let (transport, stats, before) = match &flow.transport {
            Transport::Tcp(connection) => ("tcp", *connection.sender.stats(), connection.before),
            Transport::Udp { .. } => ("udp", Default::default(), Default::default()),
        };
        // Counted time: from the start (or the end of the warm-up) to the stop, the completion or the end of the run.
        let from = spec.start.max(self.flows.warm_up);
        let until = counts.completed.or(spec.stop).unwrap_or(self.end).min(self.end);
        let seconds = until.saturating_since(from).as_secs_f64();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let interval = self.spec.record.interval.as_secs_f64();
        FlowResult {
            name: spec.name.clone(),
            transport,
            from: self.name(spec.from),
            to: self.name(spec.to),
            goodput_bps: rate(packets.delivered_bytes),
            ip_throughput_bps: rate(packets.ip_bytes),
            counts: Flat(packets),
            tcp: Flat(stats.since(&before)),
            rtt_mean_s: (stats.rtt_samples > before.rtt_samples).then(|| {
                (stats.rtt_sum - before.rtt_sum).as_secs_f64() / (stats.rtt_samples - before.rtt_samples) as f64
            }),
            segments: Flat(counts.segments),
            idle_longest_s: idle_longest(counts, until).as_secs_f64(),
            completion_s: counts.completed.map(|at| at.saturating_since(spec.start).as_secs_f64()),
            arrivals: Flat(counts.arrivals),
            on_time: counts
                .deadline
                .filter(|_| packets.sent_packets > 0)
                .map(|_| packets.on_time as f64 / packets.sent_packets as f64),
            delay_s: counts.delay.result(),
            series: FlowSeries {
                interval_s: interval,
                goodput_bps: counts.goodput.rates(self.end, 8.0),
                sequence_bytes: counts.sequences.clone(),
            },
            ..FlowResult::default()
        }
    }

    fn selection_results(&self) -> Vec<SelectionResult> {
        let result = |(end, spec): (RadioTrunkEnd, &spec::RadioTrunk)| {
            let select = self.ports.radio_trunks[end].selection()?;
            let stats = select.selector().stats();
            let all: u64 = select.sent().iter().sum();
            Some(SelectionResult {
                name: spec.name.clone(),
                from: self.name(spec.between[end.side()]),
                to: self.name(spec.between[end.peer().side()]),
                sent: stats.sent,
                sent_by_member: select.sent().to_vec(),
                first: if all > 0 { select.sent()[0] as f64 / all as f64 } else { 0.0 },
                counts: Flat(*stats),
                series: SelectionSeries {
                    interval_s: self.spec.record.interval.as_secs_f64(),
                    first: select.shares().to_vec(),
                },
            })
        };
        both_ends(self.spec.radio_trunks()).filter_map(result).collect()
    }

    fn trunk_results(&self) -> Vec<TrunkResult> {
        let radios = both_ends(self.spec.radio_trunks()).filter_map(|(end, spec)| self.radio_trunk_result(end, spec));
        let links = both_ends(self.spec.link_trunks()).map(|(end, spec)| self.link_trunk_result(end, spec));
        let devices =
            both_ends(self.spec.multi_link_trunks()).filter_map(|(end, spec)| self.multi_link_result(end, spec));
        let above = radios.map(TrunkResult::Radios).chain(links.map(TrunkResult::Links));
        above.chain(devices.map(TrunkResult::MultiLink)).collect()
    }

    fn radio_trunk_result(&self, end: RadioTrunkEnd, spec: &spec::RadioTrunk) -> Option<RadioTrunkResult> {
        let [here, there] = [end.side(), end.peer().side()];
        let peer = &self.ports.radio_trunks[end.peer()];
        let sent = self.ports.radio_trunks[end].trunk().sender_counts();
        let received = peer.trunk().receiver_counts();
        let waited = received.waited.as_secs_f64();
        (sent.sent > 0).then(|| RadioTrunkResult {
            name: spec.name.clone(),
            from: self.name(spec.between[here]),
            to: self.name(spec.between[there]),
            sent: sent.sent,
            sent_by_member: sent.sent_by_member.clone(),
            counts: Flat(PaperCounts::total([sent, received].into_iter())),
            blocked_s: peer.trunk().blocked(self.host.now).0.as_secs_f64(),
            blocked_longest_s: peer.trunk().blocked(self.host.now).1.as_secs_f64(),
            resequencing_delay_mean_s: if received.delivered > 0 { waited / received.delivered as f64 } else { 0.0 },
            reorder_timer_s: peer.trunk().hold_time().as_secs_f64(),
            series: TrunkSeries {
                interval_s: self.spec.record.interval.as_secs_f64(),
                reorder_timer_s: peer.hold_times().to_vec(),
            },
        })
    }

    fn link_trunk_result(&self, end: LinkTrunkEnd, spec: &spec::LinkTrunk) -> LinkTrunkResult {
        let port = &self.ports.link_trunks[end];
        let status = port.tunnel().status();
        let all_bytes: u64 = status.members.iter().map(|member| member.sent_bytes.as_u64()).sum();
        let members = status.members.iter().map(|member| LinkTrunkMemberResult {
            link: self.spec.links[spec.members[usize::from(member.member.0)].link].name.clone(),
            share: member.sent_bytes.as_u64() as f64 / all_bytes.max(1) as f64,
            counts: Flat(*member),
            series: port.samples(member.member).map_or_else(MemberSeries::default, |samples| MemberSeries {
                interval_s: self.spec.record.interval.as_secs_f64(),
                rate_bps: samples.rates.iter().map(|rate| rate.as_bps() as f64).collect(),
                control_bytes: samples.control.iter().map(|bytes| bytes.as_u64() as f64).collect(),
            }),
        });
        LinkTrunkResult {
            name: spec.name.clone(),
            from: self.name(spec.between[end.side()]),
            to: self.name(spec.between[end.peer().side()]),
            managed: status.counts.dropped[BondDropReason::Managed as usize],
            counts: Flat(status.counts),
            hold_time_s: status.hold_time.as_secs_f64(),
            members: members.collect(),
        }
    }

    /// The device at an end of a trunk, and its peer at the other.
    pub(super) fn multi_link_peer(&self, end: MultiLinkEnd) -> Option<(&MultiLinkDevice, &Peer)> {
        let devices = self.host.devices.iter();
        devices.flat_map(|device| device.peers.iter().map(move |peer| (device, peer))).find(|(_, peer)| peer.end == end)
    }

    fn multi_link_result(&self, end: MultiLinkEnd, spec: &spec::MultiLinkTrunk) -> Option<MultiLinkTrunkResult> {
        let (now, [here, there]) = (self.host.now, [end.side(), end.peer().side()]);
        let (_, peer) = self.multi_link_peer(end)?;
        let held = self.multi_link_peer(end.peer())?.1.held;
        let counts: Vec<MultiLinkCounts> = peer.ways.iter().map(|way| way.count.counts(now)).collect();
        let all = MultiLinkCounts::sum(counts.iter());
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let time = now.saturating_since(Instant::ZERO).max(Duration::from_nanos(1)).as_secs_f64();
        let radios = &self.spec.nodes[spec.between[here]].radios;
        let members =
            spec.members.iter().zip(&peer.ways).zip(&counts).map(|((member, way), counts)| MultiLinkMemberResult {
                link: radios[member[here]].name.clone(),
                share: share(counts.sent.as_u64(), all.sent.as_u64()),
                counts: Flat(*counts),
                retried: way.count.retried(),
                airtime: way.count.airtime().as_secs_f64() / time,
            });
        (all.mpdus > 0).then(|| MultiLinkTrunkResult {
            name: spec.name.clone(),
            from: self.name(spec.between[here]),
            to: self.name(spec.between[there]),
            counts: Flat(all),
            retried: share(all.retries, all.mpdus),
            delivered: held.delivered(),
            held_most: held.most(),
            resequencing_delay_mean_s: held.mean_wait().as_secs_f64(),
            members: members.collect(),
        })
    }

    pub(super) fn mac_results(&self) -> Vec<MacResult> {
        let radios = self.spec.nodes.iter().flat_map(|node| node.radios.iter().map(move |radio| (node, radio)));
        let time = self.host.now.saturating_since(Instant::ZERO).max(Duration::from_nanos(1)).as_secs_f64();
        let result = |((node, radio), (radio_id, port)): ((&spec::Node, &Arc<spec::Radio>), (_, &RadioPort))| {
            let stats = port.mac().stats();
            let [collisions, channel_errors] = port.losses();
            let snr = port.levels().and_then(|levels| levels.samples.as_ref()?.result());
            let counts =
                MacStats { collisions: collisions + self.host.medium.missed(radio_id), channel_errors, ..stats };
            MacResult {
                node: node.name.clone(),
                radio: radio.name.clone(),
                channel: radio.channel,
                counts: Flat(counts),
                multichannel: Flat(port.mac().multichannel().copied().unwrap_or_default()),
                edca: port.mac().edca().copied().map(Flat),
                agreements: port.mac().agreements().copied().map(Flat),
                airtime: stats.airtime.as_secs_f64() / time,
                snr_mean_db: snr.map(|(mean, ..)| mean),
                snr_std_db: snr.map(|(_, deviation, _)| deviation),
                series: MacSeries {
                    interval_s: self.spec.record.interval.as_secs_f64(),
                    snr_db: snr.map(|(.., means)| means.to_vec()).unwrap_or_default(),
                },
            }
        };
        radios.zip(self.ports.radios.pairs()).map(result).collect()
    }

    /// Those over radios, then those over plain links.
    fn link_layer_results(&self) -> Vec<LinkLayerResult> {
        let over_radio = |id: StopAndWaitId| {
            let radio = self.ports.stop_and_wait[id];
            let port = &self.ports.radios[radio];
            let RadioMac::Polled(polled) = port.mac() else { return None };
            let end = polled.ends.iter().find(|end| end.id == id)?;
            let node = port.node();
            let over = &self.spec.nodes[node.index()].radios[self.radio_map.place(node, radio)].name;
            let peer = self.ports.radios[RadioId::of(end.peer)].node();
            Some(self.link_layer_result([node, peer], over, end.stats()))
        };
        let over_link = |(direction, port): (LinkDirection, &LinkPort)| {
            let end = port.error_control()?;
            let over = &self.spec.links[direction.link()].name;
            Some(self.link_layer_result([end.node(), port.to()], over, end.stats()))
        };
        let radios = self.ports.stop_and_wait.ids().filter_map(over_radio);
        radios.chain(self.ports.links.pairs().filter_map(over_link)).collect()
    }

    fn slots_results(&self) -> Vec<SlotsResult> {
        let mac = |at| self.ports.radios[self.radio_map.id(at)].mac();
        let access_point = |at: (usize, usize), flows: u64| AccessPointResult {
            node: self.name(at.0),
            radio: self.spec.nodes[at.0].radios[at.1].name.clone(),
            flows,
            counts: Flat(mac(at).buffers().copied().unwrap_or_default()),
        };
        let result = |(index, slots): (usize, &spec::Slots)| {
            let counts = mac(slots.radio).switches().copied().unwrap_or_default();
            let flows = self.network.multihomed().into_iter().flat_map(|hosts| hosts.flows(index));
            SlotsResult {
                name: slots.name.clone(),
                switches: counts.switches,
                switch_mean_s: (counts.switches > 0).then(|| counts.switch_time.as_secs_f64() / counts.switches as f64),
                null_frames: mac(slots.radio).stats().null_frames,
                counts: Flat(counts),
                access_points: slots.access_points.iter().zip(flows).map(|(at, n)| access_point(*at, n)).collect(),
            }
        };
        self.spec.slots.iter().enumerate().map(result).collect()
    }

    fn link_layer_result(&self, [node, peer]: [NodeId; 2], over: &str, stats: &Stats) -> LinkLayerResult {
        LinkLayerResult {
            node: self.name(node.index()),
            peer: self.name(peer.index()),
            radio: over.to_owned(),
            counts: Flat(*stats),
        }
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let result = |(direction, port): (LinkDirection, &LinkPort)| {
            let spec = &self.spec.links[direction.link()];
            LinkResult {
                name: spec.name.clone(),
                from: self.name(spec.between[direction.side()]),
                to: self.name(spec.between[direction.peer().side()]),
                counts: Flat(*port.link().stats()),
            }
        };
        self.ports.links.pairs().map(result).collect()
    }
}

/// The ends of trunks of one kind, each with its trunk.
fn both_ends<'a, E: Id, T: 'a>(trunks: impl Iterator<Item = &'a T>) -> impl Iterator<Item = (E, &'a T)> {
    trunks.flat_map(|trunk| [trunk, trunk]).enumerate().map(|(end, trunk)| (E::from_index(end), trunk))
}

/// The longest time without a data packet; what is not finished was idle until now.
fn idle_longest(counts: &Counts, until: Instant) -> Duration {
    let since = counts.last_sent.filter(|_| counts.completed.is_none());
    counts.idle_longest.max(since.map_or(Duration::ZERO, |at| until.saturating_since(at)))
}
