//! What a run gives: the facts that `--json` prints, one struct a table, units in the names.

use serde::Serialize;
use std::collections::BTreeMap;

/// The result of one run: one cell, one seed.
#[derive(Clone, Debug, Serialize)]
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
    /// One for each radio.
    pub macs: Vec<MacResult>,
    /// One for each direction of each link.
    pub links: Vec<LinkResult>,
    /// One for each end of each link with local error control.
    pub link_layers: Vec<LinkLayerResult>,
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
#[derive(Clone, Debug, Serialize)]
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
    /// Seconds from the first packet to the last byte delivered, for a source that ends.
    pub completion_s: Option<f64>,
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
#[derive(Clone, Debug, Serialize)]
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
    /// Share of the time in which this radio transmitted.
    pub airtime: f64,
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
}

/// What one end of a link with local error control did.
#[derive(Clone, Debug, Serialize)]
pub struct LinkLayerResult {
    /// Its node.
    pub node: String,
    /// The neighbour.
    pub peer: String,
    /// The radio, by its name within the node.
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
    /// Polls without an answer.
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
