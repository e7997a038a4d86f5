//! What a run gives: the facts that `--json` prints, one struct a table, units in the names.

use serde::Serialize;
use std::collections::BTreeMap;

/// The result of one run: one cell, one seed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    /// The seed of this replication.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// Events that the kernel processed.
    pub events: u64,
    /// Wall-clock time that the run took (measured by whoever started it; not part of any comparison).
    pub wall_s: f64,
    /// Processor time that the run took (likewise).
    pub cpu_s: f64,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// One for each direction of each trunk that carried something.
    pub trunks: Vec<TrunkResult>,
    /// One for each end of each trunk whose members are chosen among.
    pub selections: Vec<SelectionResult>,
    /// One for each end of each trunk over links.
    pub tunnels: Vec<TunnelResult>,
    /// One for each radio.
    pub macs: Vec<MacResult>,
    /// What AODV did on all nodes; null where it does not run.
    pub routing: Option<RoutingResult>,
    /// Everything together.
    pub total: TotalResult,
    /// One for each direction of each link.
    pub links: Vec<LinkResult>,
    /// One for each end of each link with local error control.
    pub link_layers: Vec<LinkLayerResult>,
    /// One for each radio with virtual stations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotsResult>,
    /// One for each packet killer.
    pub killers: Vec<KillerResult>,
    /// Packets dropped, by reason; reasons that did not occur are left out.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets: offered = delivered + dropped + in flight.
    pub packets: PacketAccount,
}

/// The account of all packets of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketAccount {
    /// Given to the network layer by transports.
    pub offered: u64,
    /// Given to a transport by the network layer.
    pub delivered: u64,
    /// Dropped, all reasons together.
    pub dropped: u64,
    /// Still somewhere when the run ended.
    pub in_flight: u64,
}

/// What one flow got.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowResult {
    /// Its name.
    pub name: String,
    /// `tcp` or `udp`.
    pub transport: &'static str,
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// Bytes given to the application, in bits a second of counted time.
    pub goodput_bps: f64,
    /// IP packets that carried them, headers included, likewise.
    pub ip_throughput_bps: f64,
    /// Bytes given to the application.
    pub delivered_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets that reached the receiving node.
    pub received_packets: u64,
    /// Segments that TCP sent again.
    pub retransmits: u64,
    /// Expiries of TCP's retransmission timer.
    pub timeouts: u64,
    /// Mean of the round-trip times that TCP's sender has measured; null where it has measured none, and for UDP.
    pub rtt_mean_s: Option<f64>,
    /// The most often that TCP sent one segment again.
    pub retransmits_most: u64,
    /// Segments that brought something new after what lies behind them in TCP's stream.
    pub out_of_order: u64,
    /// The longest time between two data packets; of a transfer that is not finished also since the last.
    pub idle_longest_s: f64,
    /// Seconds from the first packet to the last byte delivered, for a source that ends.
    pub completion_s: Option<f64>,
    /// The longest time without a byte for the application, from its first to its last; nothing before counted time.
    pub gap_longest_s: f64,
    /// Datagrams that came after one with a higher number.
    pub reordered: u64,
    /// By how many numbers the worst of them was late.
    pub reordering_extent: u64,
    /// Share of the data packets sent that came within the flow's deadline; null where it has none.
    pub on_time: Option<f64>,
    /// One-way delay of data packets, network layer to network layer; null where none arrived.
    pub delay_s: Option<DelayResult>,
    /// Values by interval.
    pub series: FlowSeries,
}

/// A distribution of delays \[s\].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DelayResult {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
    /// Median, to 1 %.
    pub p50: f64,
    /// 99th percentile, to 1 %.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// Values of a flow by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowSeries {
    /// The interval.
    pub interval_s: f64,
    /// Goodput in each.
    pub goodput_bps: Vec<f64>,
    /// Where in TCP's stream the last segment sent in each ends; empty unless `[record] sequence` asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequence_bytes: Vec<f64>,
}

/// What one direction of a trunk did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrunkResult {
    /// Its name.
    pub name: String,
    /// The sending end.
    pub from: String,
    /// The receiving end.
    pub to: String,
    /// Packets numbered and sent.
    pub sent: u64,
    /// Packets sent on each member, by the members' order.
    pub sent_by_member: Vec<u64>,
    /// Packets delivered by the resequencer.
    pub delivered: u64,
    /// Packets that came after their place had been given up.
    pub late: u64,
    /// Packets discarded as duplicates.
    pub duplicates: u64,
    /// Expiries of the reordering timer.
    pub timer_expiries: u64,
    /// Times the receiver began anew behind a restarted sender.
    pub resyncs: u64,
    /// Holes given up without waiting, their packets known to be lost (resequencer `fifo`).
    pub known_lost: u64,
    /// Markers sent (surplus round robin, resequencer `fifo`).
    pub markers: u64,
    /// Acknowledgements sent by the receiving end (JKM).
    pub acks: u64,
    /// Numbers asked for again by the receiving end, repetitions included (JKM).
    pub naks: u64,
    /// Packets sent again (JKM).
    pub resends: u64,
    /// Times a member was given up by the sending end (resequencer `fifo`).
    pub deaths: u64,
    /// Packets and markers that a full FIFO refused (surplus round robin).
    pub fifo_drops: u64,
    /// Time in which the receiving end held packets and waited for another member's (surplus round robin).
    pub blocked_s: f64,
    /// The longest such time between two deliveries.
    pub blocked_longest_s: f64,
    /// Mean time that a delivered packet waited for its turn.
    pub resequencing_delay_mean_s: f64,
    /// The reordering timer's value at the end.
    pub reorder_timer_s: f64,
    /// The reordering timer by interval.
    pub series: TrunkSeries,
}

/// Values of a trunk by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrunkSeries {
    /// The interval.
    pub interval_s: f64,
    /// The reordering timer's value at the end of each.
    pub reorder_timer_s: Vec<f64>,
}

/// What one end of a trunk over links did, and knows at the end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TunnelResult {
    /// Its name.
    pub name: String,
    /// The end's node.
    pub from: String,
    /// The other end's.
    pub to: String,
    /// Packets that it was given.
    pub offered: u64,
    /// Packets that it gave to its node.
    pub delivered: u64,
    /// Of these, out of order, behind a hole that it had given up.
    pub late: u64,
    /// Packets that had come before.
    pub duplicates: u64,
    /// Holes that it gave up.
    pub holes: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Packets sent on two members at once.
    pub duplicated: u64,
    /// Packets that repair symbols restored, of those that came.
    pub restored: u64,
    /// Packets dropped so that their flow slows down.
    pub managed: u64,
    /// How long a packet is held for those before it, at most.
    pub hold_time_s: f64,
    /// Its members, by number.
    pub members: Vec<TunnelMemberResult>,
}

/// What one end of a trunk over links did on a member, and knows of it at the end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TunnelMemberResult {
    /// The link.
    pub link: String,
    /// Packets sent, copies and repetitions among them.
    pub sent: u64,
    /// Bytes of all frames sent, with what is around them.
    pub sent_bytes: u64,
    /// Their share of what the end has sent on all its members.
    pub share: f64,
    /// Of these bytes, repetitions and copies.
    pub repeated_bytes: u64,
    /// Of these, repair symbols.
    pub repair_bytes: u64,
    /// Of these, feedback and probes.
    pub control_bytes: u64,
    /// Frames held to be lost.
    pub lost: u64,
    /// Frames held to be lost that had come.
    pub spurious: u64,
    /// Times it was suspected.
    pub suspicions: u64,
    /// Its rate, as measured.
    pub rate_bps: u64,
    /// The shortest round trip of late.
    pub rtt_min_s: f64,
    /// The longest packet that the link takes, as probes have found; none where it takes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_mtu_bytes: Option<u64>,
    /// Lengths that the link had carried, and then swallowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub black_holes: u64,
}

/// What one radio's MAC did.
#[derive(Clone, Debug, Serialize)]
pub struct MacResult {
    /// Its node.
    pub node: String,
    /// Its name within the node.
    pub radio: String,
    /// Its channel.
    pub channel: u32,
    /// Data frames sent, retries included.
    pub data_frames: u64,
    /// RTS frames sent.
    pub rts_frames: u64,
    /// Data frames sent again.
    pub retries: u64,
    /// MSDUs given up at the retry limit.
    pub retry_limit_drops: u64,
    /// MSDUs dropped because the interface queue was full.
    pub queue_drops: u64,
    /// Frames addressed to this radio that were lost by overlap with another.
    pub collisions: u64,
    /// Frames addressed to this radio that the channel's errors destroyed.
    pub channel_errors: u64,
    /// Data frames received again and discarded.
    pub duplicates: u64,
    /// Polls that nobody answered in time (polling).
    pub unanswered: u64,
    /// Handshakes completed as initiator (multi-channel MACs).
    pub handshakes: u64,
    /// Data frames sent as responder (Bi-MCMAC).
    pub reverse_frames: u64,
    /// Grants that came to nothing because no CRN followed (multi-channel MACs).
    pub void_grants: u64,
    /// Share of the time in which this radio transmitted.
    pub airtime: f64,
    /// Mean SNR of the frames that came without an error; absent unless `[record] snr` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_mean_db: Option<f64>,
    /// Its standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_std_db: Option<f64>,
    /// Values by interval; absent where there are none.
    #[serde(skip_serializing_if = "MacSeries::is_empty")]
    pub series: MacSeries,
}

/// Values of a radio by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MacSeries {
    /// The interval.
    pub interval_s: f64,
    /// Mean SNR of the frames of each that came without an error.
    pub snr_db: Vec<f64>,
}

impl MacSeries {
    /// Whether nothing was sampled.
    fn is_empty(&self) -> bool {
        self.snr_db.is_empty()
    }
}

/// What chose among the members of one trunk end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SelectionResult {
    /// The trunk's name.
    pub name: String,
    /// The sending end.
    pub from: String,
    /// The receiving end.
    pub to: String,
    /// Packets given to a member, or to the trunk where it stripes.
    pub sent: u64,
    /// Packets given to each member, by the members' order; those that the trunk gives are the trunk's.
    pub sent_by_member: Vec<u64>,
    /// The share of them that the first member got.
    pub first: f64,
    /// Packets that another member had not delivered.
    pub resent: u64,
    /// Changes of the members that packets take.
    pub switches: u64,
    /// Beacons sent.
    pub beacons: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Values by interval.
    pub series: SelectionSeries,
}

/// Values of a selection by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SelectionSeries {
    /// The interval.
    pub interval_s: f64,
    /// The share of the packets of each that the first member got; null where there were none.
    pub first: Vec<f64>,
}

/// What a radio with virtual stations did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SlotsResult {
    /// Its name.
    pub name: String,
    /// How often an access point has acknowledged that the station is awake.
    pub switches: u64,
    /// Mean time from when the null frame with PS=1 began to contend to the acknowledgement of the one with PS=0; null
    /// where there was no switch.
    pub switch_mean_s: Option<f64>,
    /// Null frames sent, retries included.
    pub null_frames: u64,
    /// Null frames given up.
    pub failed_nulls: u64,
    /// How often the station left without its access point having acknowledged that.
    pub unannounced: u64,
    /// MSDUs that had to make room at the end of a slot.
    pub returned: u64,
    /// Slots that were over before the access point had acknowledged that the station is awake.
    pub missed_slots: u64,
    /// Its access points.
    pub access_points: Vec<AccessPointResult>,
}

/// What an access point did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AccessPointResult {
    /// Its node.
    pub node: String,
    /// Its radio.
    pub radio: String,
    /// Flows that the station had over it at the end.
    pub flows: u64,
    /// MSDUs held because a station dozed.
    pub held: u64,
    /// MSDUs taken back because their station had said that it dozes.
    pub returned: u64,
    /// MSDUs given up because the buffer was full.
    pub buffer_drops: u64,
}

/// What AODV did, all nodes together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RoutingResult {
    /// Searches for routes begun, repairs among them.
    pub searches: u64,
    /// Searches that found nothing.
    pub searches_failed: u64,
    /// Local repairs begun.
    pub repairs: u64,
    /// Route requests sent, forwarded ones included.
    pub rreq_sent: u64,
    /// Route replies sent, forwarded ones and hello messages included.
    pub rrep_sent: u64,
    /// Route errors sent.
    pub rerr_sent: u64,
    /// Links held to be broken while a route used them.
    pub links_broken: u64,
    /// Messages that a MAC or its queue gave up.
    pub messages_lost: u64,
    /// Messages after which the next hops from their receiver formed a circle.
    pub loops: u64,
}

/// All flows and all radios together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TotalResult {
    /// Goodput of all flows.
    pub goodput_bps: f64,
    /// IP throughput of all flows.
    pub ip_throughput_bps: f64,
    /// Jain's index of the flows' IP throughputs: 1 if all are equal, one over their number if one has everything; null
    /// where nothing came.
    pub jain: Option<f64>,
    /// Flows that got nothing.
    pub starved: u64,
    /// Flows whose last byte came.
    pub completed: u64,
    /// Their mean time from start to last byte; null where there is none.
    pub completion_mean_s: Option<f64>,
    /// Data frames sent by all radios, retries included.
    pub data_frames: u64,
    /// MSDUs given up at the retry limit by all radios.
    pub retry_limit_drops: u64,
    /// Frames lost at the radio that they were for by overlap with another.
    pub collisions: u64,
}

impl TotalResult {
    /// The sums over all flows and radios.
    pub fn of(flows: &[FlowResult], macs: &[MacResult]) -> Self {
        let rates = flows.iter().map(|flow| flow.ip_throughput_bps);
        let (sum, squares) = rates.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let times: Vec<f64> = flows.iter().filter_map(|flow| flow.completion_s).collect();
        let completed = times.len() as u64;
        Self {
            goodput_bps: flows.iter().map(|flow| flow.goodput_bps).sum(),
            ip_throughput_bps: sum,
            jain: (squares > 0.0).then(|| sum * sum / (flows.len() as f64 * squares)),
            starved: flows.iter().filter(|flow| flow.delivered_bytes == 0).count() as u64,
            completed,
            completion_mean_s: (completed > 0).then(|| times.iter().sum::<f64>() / completed as f64),
            data_frames: macs.iter().map(|mac| mac.data_frames).sum(),
            retry_limit_drops: macs.iter().map(|mac| mac.retry_limit_drops).sum(),
            collisions: macs.iter().map(|mac| mac.collisions).sum(),
        }
    }
}

/// What one direction of a plain link did.
#[derive(Clone, Debug, Serialize)]
pub struct LinkResult {
    /// Its name.
    pub name: String,
    /// The sending end.
    pub from: String,
    /// The receiving end.
    pub to: String,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets dropped by the full queue.
    pub queue_drops: u64,
    /// Packets lost on the way.
    pub lost: u64,
    /// Packets longer than its MTU.
    #[serde(skip_serializing_if = "is_zero")]
    pub too_long: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What one end of a link with local error control did.
#[derive(Clone, Debug, Serialize)]
pub struct LinkLayerResult {
    /// Its node.
    pub node: String,
    /// The neighbour.
    pub peer: String,
    /// The radio, by its name within the node, or the plain link.
    pub radio: String,
    /// Packets that it took.
    pub accepted: u64,
    /// Packets that the neighbour has acknowledged.
    pub settled: u64,
    /// Packets that the full queue refused.
    pub queue_drops: u64,
    /// Packets that expired.
    pub expired: u64,
    /// Packets given up after the last retransmission.
    pub given_up: u64,
    /// Segments sent, repetitions among them.
    pub segments: u64,
    /// Segments sent whose first byte had been sent before.
    pub repetitions: u64,
    /// Bytes of packets in all segments sent.
    pub data_bytes: u64,
    /// Bytes of all segments sent, with checks and parity.
    pub coded_bytes: u64,
    /// Packets delivered to the layer above.
    pub delivered: u64,
    /// Segments that had come before.
    pub duplicates: u64,
    /// Segments that came truncated.
    pub truncated: u64,
    /// Segments that could not be decoded.
    pub undecodable: u64,
    /// Segments that came with repaired bytes.
    pub repaired: u64,
    /// Polls without an answer; over a plain link frames that are taken to be lost.
    pub lost: u64,
}

/// What a packet killer did, and what its list comes to.
#[derive(Clone, Debug, Serialize)]
pub struct KillerResult {
    /// Its name.
    pub name: String,
    /// Frames that left a radio and took an event there.
    pub frames: u64,
    /// Frames lost, at all its places together.
    pub lost: u64,
    /// Frames truncated; those too short to be cut are counted, too.
    pub truncated: u64,
    /// Frames corrupted.
    pub corrupted: u64,
    /// Events of the list.
    pub list_packets: u64,
    /// Bits that a receiver of packets of 1309 byte would get.
    pub list_bits: u64,
    /// Share of the packets that the list loses.
    pub list_loss: f64,
    /// Share of those not lost that it truncates.
    pub list_truncation: f64,
    /// Share of those not truncated that it corrupts.
    pub list_corruption: f64,
    /// Share of the bits received that are wrong.
    pub list_ber: f64,
    /// Wrong bits in a corrupted packet, on average.
    pub list_wrong_bits: f64,
}
