//! The result of a run: the facts that `--json` prints, one struct a table, units in the names.

mod multi_link;

use crate::killer::trace::Summary;
use crate::limits::{FlowLimits, LimitShares};
use crate::metric::Flat;
use airbraid_engine::converge::select;
use airbraid_engine::link;
use airbraid_engine::trunk::bonding::{BondCounts, MemberStatus};
use airbraid_engine::trunk::paper::PaperCounts;
use airbraid_mac::edca::{AgreementStats, EdcaStats};
use airbraid_mac::multichannel::MultichannelStats;
use airbraid_mac::power_save::{BufferStats, SwitchStats};
use airbraid_mac::service::MacStats;
use airbraid_net::aodv::AodvStats;
use airbraid_net::link::LinkStats;
use airbraid_net::tcp::SenderStats;
use airbraid_units::{Duration, metrics};
pub use multi_link::{MultiLinkCounts, MultiLinkMemberResult, MultiLinkTrunkResult};
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
    /// One for each direction of each trunk over radios that carried something, then one for each end of each trunk
    /// over links, then one for each direction of each trunk of multi-link devices that carried something.
    pub trunks: Vec<TrunkResult>,
    /// One for each end of each trunk whose members are chosen among.
    pub selections: Vec<SelectionResult>,
    /// One for each radio.
    pub macs: Vec<MacResult>,
    /// Result of AODV on all nodes; null where it does not run.
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

metrics! {
    /// The account of all packets of a run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct PacketAccount {
        /// Given to the network layer by transports.
        pub offered: u64 = sum,
        /// Given to a transport by the network layer.
        pub delivered: u64 = sum,
        /// Dropped, all reasons together.
        pub dropped: u64 = sum,
        /// Still somewhere when the run ended.
        pub in_flight: u64 = sum,
    }
}

metrics! {
    /// Result of one flow.
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
        pub goodput_bps: f64 = gauge,
        /// IP packets that brought new bytes, headers included, likewise.
        pub ip_throughput_bps: f64 = gauge,
        /// Counts of its packets.
        #[serde(flatten)]
        pub counts: Flat<FlowCounts> = part,
        /// Counts of TCP's sender; zero for UDP.
        #[serde(flatten)]
        pub tcp: Flat<SenderStats> = part,
        /// Mean of the round-trip times that TCP's sender has measured; null where it has measured none, and for UDP.
        pub rtt_mean_s: Option<f64> = gauge @ 2,
        /// Counts of TCP's segments; zero for UDP.
        #[serde(flatten)]
        pub segments: Flat<SegmentCounts> = part,
        /// The longest time between two data packets; of a transfer that is not finished also since the last.
        pub idle_longest_s: f64 = gauge,
        /// Seconds from the first packet to the last byte delivered, for a source that ends.
        pub completion_s: Option<f64> = gauge @ 3,
        /// Counts of what the application got.
        #[serde(flatten)]
        pub arrivals: Flat<ArrivalCounts> = part,
        /// Share of the data packets sent that came within the flow's deadline; null where it has none.
        pub on_time: Option<f64> = gauge @ 1,
        /// One-way delay of data packets, network layer to network layer; null where none arrived.
        pub delay_s: Option<DelayResult> = part,
        /// Shares of the time by cause; absent where no account was kept.
        #[serde(flatten)]
        pub limited_by: Option<Flat<LimitShares>> = part,
        /// The same with places; likewise.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limits: Option<FlowLimits>,
        /// Values by interval.
        pub series: FlowSeries,
    }
}

metrics! {
    /// Counters of a flow's packets, from the end of the warm-up on.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct FlowCounts {
        /// Bytes given to the application.
        pub delivered_bytes: u64 = sum,
        /// Data packets sent, retransmissions included.
        pub sent_packets: u64 = sum,
        /// Data packets that reached the receiving node.
        pub received_packets: u64 = sum,
        /// Bytes of the IP packets that carried what was delivered.
        pub ip_bytes: u64,
        /// Data packets that came within the flow's deadline.
        pub on_time: u64,
    }
}

metrics! {
    /// Counters of a flow's TCP segments.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SegmentCounts {
        /// The most often that TCP sent one segment again.
        pub retransmits_most: u32 = sum,
        /// Segments that brought something new after what lies behind them in TCP's stream.
        pub out_of_order: u64 = sum,
    }
}

metrics! {
    /// Counters of what a flow's application got.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct ArrivalCounts {
        /// The longest time without a byte for the application, from its first to its last; nothing before counted
        /// time.
        pub gap_longest: Duration = gauge "gap_longest_s",
        /// Datagrams that came after one with a higher number.
        pub reordered: u64 = sum,
        /// By how many numbers the worst of them was late.
        pub reordering_extent: u64 = sum,
    }
}

metrics! {
    /// A distribution of one-way delays \[s\].
    #[derive(Clone, Copy, Debug, Default, Serialize)]
    pub struct DelayResult {
        /// Smallest one-way delay of a data packet, network layer to network layer.
        pub min: f64 = gauge "delay_min_s" @ 4,
        /// Mean of these delays.
        pub mean: f64 = gauge "delay_mean_s" @ 4,
        /// Their standard deviation.
        pub std: f64 = gauge "delay_std_s" @ 4,
        /// Their median, to 1 %.
        pub p50: f64 = gauge "delay_p50_s" @ 4,
        /// Their 99th percentile, to 1 %.
        pub p99: f64 = gauge "delay_p99_s" @ 4,
        /// Largest of these delays.
        pub max: f64 = gauge "delay_max_s" @ 4,
    }
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

/// One direction, or one end, of a trunk: JSON has all kinds in one list.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum TrunkResult {
    /// A direction of a trunk over radios.
    Radios(RadioTrunkResult),
    /// An end of a trunk over links.
    Links(LinkTrunkResult),
    /// A direction of a trunk of multi-link devices.
    MultiLink(MultiLinkTrunkResult),
}

impl TrunkResult {
    /// Returns it if it is over radios.
    pub const fn radios(&self) -> Option<&RadioTrunkResult> {
        match self {
            Self::Radios(trunk) => Some(trunk),
            Self::Links(_) | Self::MultiLink(_) => None,
        }
    }
    /// Returns it if it is over links.
    pub const fn links(&self) -> Option<&LinkTrunkResult> {
        match self {
            Self::Radios(_) | Self::MultiLink(_) => None,
            Self::Links(trunk) => Some(trunk),
        }
    }
    /// Returns it if its ends are multi-link devices.
    pub const fn multi_link(&self) -> Option<&MultiLinkTrunkResult> {
        match self {
            Self::Radios(_) | Self::Links(_) => None,
            Self::MultiLink(trunk) => Some(trunk),
        }
    }
}

metrics! {
    /// One direction of a trunk over radios.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct RadioTrunkResult {
        /// Its name.
        pub name: String,
        /// The sending end.
        pub from: String,
        /// The receiving end.
        pub to: String,
        /// Packets numbered and sent.
        pub sent: u64 = sum,
        /// Packets sent on each member, by the members' order.
        pub sent_by_member: Vec<u64>,
        /// The other counts of both ends.
        #[serde(flatten)]
        pub counts: Flat<PaperCounts> = part,
        /// Time in which the receiving end held packets and waited for another member's (surplus round robin).
        pub blocked_s: f64 = gauge,
        /// The longest such time between two deliveries.
        pub blocked_longest_s: f64 = gauge,
        /// Mean time that a delivered packet waited for its turn.
        pub resequencing_delay_mean_s: f64 = gauge,
        /// The reordering timer's value at the end.
        pub reorder_timer_s: f64 = gauge,
        /// The reordering timer by interval.
        pub series: TrunkSeries,
    }
}

/// Values of a trunk by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrunkSeries {
    /// The interval.
    pub interval_s: f64,
    /// The reordering timer's value at the end of each.
    pub reorder_timer_s: Vec<f64>,
}

metrics! {
    /// One end of a trunk over links.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LinkTrunkResult {
        /// Its name.
        pub name: String,
        /// The end's node.
        pub from: String,
        /// The other end's.
        pub to: String,
        /// Counts of the end.
        #[serde(flatten)]
        pub counts: Flat<BondCounts> = part,
        /// Packets dropped so that their flow slows down.
        pub managed: u64 = sum,
        /// Longest time that a packet is held for those before it, at the end of the run.
        pub hold_time_s: f64 = gauge,
        /// Its members, by number.
        pub members: Vec<LinkTrunkMemberResult>,
    }
}

metrics! {
    /// One member of an end of a trunk over links.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LinkTrunkMemberResult {
        /// The link.
        pub link: String,
        /// Share of the bytes that the end has sent on all its members.
        pub share: f64 = gauge,
        /// Counts and estimates of the member.
        #[serde(flatten)]
        pub counts: Flat<MemberStatus> = part,
        /// Values by interval; absent unless `[record] members` asks for them.
        #[serde(skip_serializing_if = "MemberSeries::is_empty")]
        pub series: MemberSeries,
    }
}

/// Values of a member of a trunk over links by interval, each at the interval's end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemberSeries {
    /// The interval.
    pub interval_s: f64,
    /// Rate that the link carries, as measured.
    pub rate_bps: Vec<f64>,
    /// Bytes of the frames sent with feedback and probes so far.
    pub control_bytes: Vec<f64>,
}

impl MemberSeries {
    fn is_empty(&self) -> bool {
        self.rate_bps.is_empty()
    }
}

metrics! {
    /// Result of one radio's MAC.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct MacResult {
        /// Its node.
        pub node: String,
        /// Its name within the node.
        pub radio: String,
        /// Its channel.
        pub channel: u32,
        /// Counts of every MAC.
        #[serde(flatten)]
        pub counts: Flat<MacStats> = part,
        /// Counts of multi-channel MACs; zero for others.
        #[serde(flatten)]
        pub multichannel: Flat<MultichannelStats> = part,
        /// Counts of EDCA; absent for others.
        #[serde(flatten)]
        pub edca: Option<Flat<EdcaStats>> = part,
        /// Counts of the setup of agreements; absent where they are there from the beginning.
        #[serde(flatten)]
        pub agreements: Option<Flat<AgreementStats>> = part,
        /// Share of the time in which this radio transmitted.
        pub airtime: f64 = gauge,
        /// Mean SNR of the frames that came without an error; absent unless `[record] snr` asks for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub snr_mean_db: Option<f64> = gauge,
        /// Its standard deviation.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub snr_std_db: Option<f64> = gauge,
        /// Values by interval; absent where there are none.
        #[serde(skip_serializing_if = "MacSeries::is_empty")]
        pub series: MacSeries,
    }
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

metrics! {
    /// Result of interface selection at one trunk end.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct SelectionResult {
        /// The trunk's name.
        pub name: String,
        /// The sending end.
        pub from: String,
        /// The receiving end.
        pub to: String,
        /// Packets given to a member, or to the trunk where it stripes.
        pub sent: u64 = sum,
        /// Packets given to each member, by the members' order; those that the trunk gives are the trunk's.
        pub sent_by_member: Vec<u64>,
        /// The share of them that the first member got.
        pub first: f64 = gauge @ 1,
        /// The selector's other counts.
        #[serde(flatten)]
        pub counts: Flat<select::Stats> = part,
        /// Values by interval.
        pub series: SelectionSeries,
    }
}

/// Values of a selection by interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SelectionSeries {
    /// The interval.
    pub interval_s: f64,
    /// The share of the packets of each that the first member got; null where there were none.
    pub first: Vec<f64>,
}

metrics! {
    /// Result of a radio with virtual stations.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct SlotsResult {
        /// Its name.
        pub name: String,
        /// Number of times that an access point has acknowledged that the station is awake.
        pub switches: u64 = sum,
        /// Mean time from when the null frame with PS=1 began to contend to the acknowledgement of the one with PS=0;
        /// null where there was no switch.
        pub switch_mean_s: Option<f64> = gauge @ 1,
        /// Null frames sent, retries included.
        pub null_frames: u64 = sum,
        /// The station's other counts.
        #[serde(flatten)]
        pub counts: Flat<SwitchStats> = part,
        /// Its access points.
        pub access_points: Vec<AccessPointResult>,
    }
}

metrics! {
    /// Result of an access point.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct AccessPointResult {
        /// Its node.
        pub node: String,
        /// Its radio.
        pub radio: String,
        /// Flows that the station had over it at the end.
        pub flows: u64 = sum,
        /// Counts of its buffers.
        #[serde(flatten)]
        pub counts: Flat<BufferStats> = part,
    }
}

metrics! {
    /// Result of AODV, all nodes together.
    #[derive(Clone, Copy, Debug, Default, Serialize)]
    pub struct RoutingResult {
        /// Counts of all routers together.
        #[serde(flatten)]
        pub counts: Flat<AodvStats> = part,
        /// Messages that a MAC or its queue gave up.
        pub messages_lost: u64 = sum,
        /// Messages after which the next hops from their receiver formed a circle.
        pub loops: u64 = sum,
    }
}

metrics! {
    /// All flows and all radios together.
    #[derive(Clone, Copy, Debug, Default, Serialize)]
    pub struct TotalResult {
        /// Goodput of all flows.
        pub goodput_bps: f64 = gauge,
        /// IP throughput of all flows.
        pub ip_throughput_bps: f64 = gauge,
        /// Jain's index of the flows' IP throughputs: 1 if all are equal, one over their number if one has everything;
        /// null where nothing came.
        pub jain: Option<f64> = gauge,
        /// Flows that got nothing.
        pub starved: u64 = sum,
        /// Flows whose last byte came.
        pub completed: u64 = sum,
        /// Their mean time from start to last byte; null where there is none.
        pub completion_mean_s: Option<f64> = gauge,
        /// Data frames sent by all radios, retries included.
        pub data_frames: u64 = sum,
        /// MSDUs given up at the retry limit by all radios.
        pub retry_limit_drops: u64 = sum,
        /// Frames lost at the radio that they were for by overlap with another.
        pub collisions: u64 = sum,
    }
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
            starved: flows.iter().filter(|flow| flow.counts.delivered_bytes == 0).count() as u64,
            completed,
            completion_mean_s: (completed > 0).then(|| times.iter().sum::<f64>() / completed as f64),
            data_frames: macs.iter().map(|mac| mac.counts.data_frames).sum(),
            retry_limit_drops: macs.iter().map(|mac| mac.counts.retry_limit_drops).sum(),
            collisions: macs.iter().map(|mac| mac.counts.collisions).sum(),
        }
    }
}

metrics! {
    /// Result of one direction of a plain link.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LinkResult {
        /// Its name.
        pub name: String,
        /// The sending end.
        pub from: String,
        /// The receiving end.
        pub to: String,
        /// Counts of the link.
        #[serde(flatten)]
        pub counts: Flat<LinkStats> = part,
    }
}

metrics! {
    /// Result of one end of a link with local error control.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LinkLayerResult {
        /// Its node.
        pub node: String,
        /// The neighbour.
        pub peer: String,
        /// The radio, by its name within the node, or the plain link.
        pub radio: String,
        /// Counts of the end, both classes together.
        #[serde(flatten)]
        pub counts: Flat<link::Stats> = part,
    }
}

metrics! {
    /// Result of a packet killer, and the statistics of its list.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct KillerResult {
        /// Its name.
        pub name: String,
        /// Its counts.
        #[serde(flatten)]
        pub counts: Flat<KillerCounts> = part,
        /// The statistics of its list.
        #[serde(flatten)]
        pub list: Flat<Summary> = part,
    }
}

metrics! {
    /// Counters of a packet killer.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct KillerCounts {
        /// Frames that left a radio and took an event there.
        pub frames: u64 = sum,
        /// Frames lost, at all its places together.
        pub lost: u64 = sum,
        /// Frames truncated; those too short to be cut are counted, too.
        pub truncated: u64 = sum,
        /// Frames corrupted.
        pub corrupted: u64 = sum,
    }
}
