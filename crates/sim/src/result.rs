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
