//! A row for each metric, in the order of a summary.

use super::{Metric, Name, Read, Unit};
use crate::result::{
    AccessPointResult, FlowResult, KillerResult, LinkLayerResult, LinkResult, MacResult, PacketAccount, RoutingResult,
    SelectionResult, SlotsResult, TotalResult, TrunkResult, TunnelMemberResult, TunnelResult,
};

const fn count<T>(name: &'static str, read: fn(&T) -> u64) -> Metric<T> {
    sum(name, name, Unit::Count, read)
}
const fn sum<T>(name: &'static str, key: &'static str, unit: Unit, read: fn(&T) -> u64) -> Metric<T> {
    Metric { name: Name { name, key, unit }, read: Read::Count(read) }
}
const fn number<T>(name: &'static str, key: &'static str, unit: Unit, read: fn(&T) -> f64) -> Metric<T> {
    Metric { name: Name { name, key, unit }, read: Read::Number(read) }
}
const fn optional<T>(name: &'static str, key: &'static str, unit: Unit, read: fn(&T) -> Option<f64>) -> Metric<T> {
    Metric { name: Name { name, key, unit }, read: Read::Optional(read) }
}

/// Metrics of a flow: `flow.NAME.METRIC`.
pub static FLOW: [Metric<FlowResult>; 22] = [
    number("goodput", "goodput_bps", Unit::BitPerSecond, |of| of.goodput_bps),
    number("ip_throughput", "ip_throughput_bps", Unit::BitPerSecond, |of| of.ip_throughput_bps),
    sum("delivered", "delivered_bytes", Unit::Byte, |of| of.delivered_bytes),
    count("sent_packets", |of| of.sent_packets),
    count("received_packets", |of| of.received_packets),
    count("retransmits", |of| of.retransmits),
    count("timeouts", |of| of.timeouts),
    count("retransmits_most", |of| of.retransmits_most),
    count("out_of_order", |of| of.out_of_order),
    number("idle_longest", "idle_longest_s", Unit::Second, |of| of.idle_longest_s),
    number("gap_longest", "gap_longest_s", Unit::Second, |of| of.gap_longest_s),
    count("reordered", |of| of.reordered),
    count("reordering_extent", |of| of.reordering_extent),
    optional("on_time", "on_time", Unit::Share, |of| of.on_time),
    optional("rtt_mean", "rtt_mean_s", Unit::Second, |of| of.rtt_mean_s),
    optional("completion", "completion_s", Unit::Second, |of| of.completion_s),
    optional("delay_min", "delay_min_s", Unit::Second, |of| of.delay_s.map(|delay| delay.min)),
    optional("delay_mean", "delay_mean_s", Unit::Second, |of| of.delay_s.map(|delay| delay.mean)),
    optional("delay_std", "delay_std_s", Unit::Second, |of| of.delay_s.map(|delay| delay.std)),
    optional("delay_p50", "delay_p50_s", Unit::Second, |of| of.delay_s.map(|delay| delay.p50)),
    optional("delay_p99", "delay_p99_s", Unit::Second, |of| of.delay_s.map(|delay| delay.p99)),
    optional("delay_max", "delay_max_s", Unit::Second, |of| of.delay_s.map(|delay| delay.max)),
];
/// Metrics of a trunk, both directions together: `trunk.NAME.METRIC`.
pub static TRUNK: [Metric<TrunkResult>; 13] = [
    count("sent", |of| of.sent),
    count("delivered", |of| of.delivered),
    count("late", |of| of.late),
    count("duplicates", |of| of.duplicates),
    count("timer_expiries", |of| of.timer_expiries),
    count("resyncs", |of| of.resyncs),
    count("known_lost", |of| of.known_lost),
    count("markers", |of| of.markers),
    count("acks", |of| of.acks),
    count("naks", |of| of.naks),
    count("resends", |of| of.resends),
    count("deaths", |of| of.deaths),
    count("fifo_drops", |of| of.fifo_drops),
];
/// More metrics of one direction of a trunk: `trunk.NAME.FROM.METRIC`, FROM the sending node, and those of [`TRUNK`].
pub static TRUNK_DIRECTION: [Metric<TrunkResult>; 4] = [
    number("blocked", "blocked_s", Unit::Second, |of| of.blocked_s),
    number("blocked_longest", "blocked_longest_s", Unit::Second, |of| of.blocked_longest_s),
    number("resequencing_delay_mean", "resequencing_delay_mean_s", Unit::Second, |of| of.resequencing_delay_mean_s),
    number("reorder_timer", "reorder_timer_s", Unit::Second, |of| of.reorder_timer_s),
];
/// Metrics of a trunk over links, both ends together: `tunnel.NAME.METRIC`.
pub static TUNNEL: [Metric<TunnelResult>; 9] = [
    count("offered", |of| of.offered),
    count("delivered", |of| of.delivered),
    count("late", |of| of.late),
    count("duplicates", |of| of.duplicates),
    count("holes", |of| of.holes),
    count("retransmissions", |of| of.retransmissions),
    count("duplicated", |of| of.duplicated),
    count("restored", |of| of.restored),
    count("managed", |of| of.managed),
];
/// More metrics of one end of it: `tunnel.NAME.FROM.METRIC`, FROM its node, and those of [`TUNNEL`].
pub static TUNNEL_END: [Metric<TunnelResult>; 1] =
    [number("hold_time", "hold_time_s", Unit::Second, |of| of.hold_time_s)];
/// Metrics of what one end sends on a member: `tunnel.NAME.FROM.LINK.METRIC`, LINK the member.
pub static TUNNEL_MEMBER: [Metric<TunnelMemberResult>; 9] = [
    number("share", "share", Unit::Share, |of| of.share),
    count("sent", |of| of.sent),
    count("lost", |of| of.lost),
    count("spurious", |of| of.spurious),
    count("suspicions", |of| of.suspicions),
    number("rate", "rate_bps", Unit::BitPerSecond, |of| of.rate_bps as f64),
    number("rtt_min", "rtt_min_s", Unit::Second, |of| of.rtt_min_s),
    count("path_mtu", |of| of.path_mtu_bytes.unwrap_or(0)),
    count("black_holes", |of| of.black_holes),
];
/// Metrics of a radio: `mac.NODE.RADIO.METRIC`.
pub static MAC: [Metric<MacResult>; 15] = [
    count("data_frames", |of| of.data_frames),
    count("rts_frames", |of| of.rts_frames),
    count("retries", |of| of.retries),
    count("retry_limit_drops", |of| of.retry_limit_drops),
    count("queue_drops", |of| of.queue_drops),
    count("collisions", |of| of.collisions),
    count("channel_errors", |of| of.channel_errors),
    count("duplicates", |of| of.duplicates),
    count("unanswered", |of| of.unanswered),
    count("handshakes", |of| of.handshakes),
    count("reverse_frames", |of| of.reverse_frames),
    count("void_grants", |of| of.void_grants),
    number("airtime", "airtime", Unit::Share, |of| of.airtime),
    optional("snr_mean", "snr_mean_db", Unit::Decibel, |of| of.snr_mean_db),
    optional("snr_std", "snr_std_db", Unit::Decibel, |of| of.snr_std_db),
];
/// Metrics of what chooses among the members of one end of a trunk: `select.NAME.FROM.METRIC`, FROM its node.
pub static SELECT: [Metric<SelectionResult>; 6] = [
    count("sent", |of| of.sent),
    count("resent", |of| of.resent),
    count("switches", |of| of.switches),
    count("beacons", |of| of.beacons),
    count("dropped", |of| of.dropped),
    number("first", "first", Unit::Share, |of| of.first),
];
/// Metrics of AODV on all nodes: `routing.METRIC`.
pub static ROUTING: [Metric<RoutingResult>; 9] = [
    count("searches", |of| of.searches),
    count("searches_failed", |of| of.searches_failed),
    count("repairs", |of| of.repairs),
    count("rreq_sent", |of| of.rreq_sent),
    count("rrep_sent", |of| of.rrep_sent),
    count("rerr_sent", |of| of.rerr_sent),
    count("links_broken", |of| of.links_broken),
    count("messages_lost", |of| of.messages_lost),
    count("loops", |of| of.loops),
];
/// Metrics of all flows and radios together: `total.METRIC`.
pub static TOTAL: [Metric<TotalResult>; 9] = [
    number("goodput", "goodput_bps", Unit::BitPerSecond, |of| of.goodput_bps),
    number("ip_throughput", "ip_throughput_bps", Unit::BitPerSecond, |of| of.ip_throughput_bps),
    optional("jain", "jain", Unit::Share, |of| of.jain),
    count("starved", |of| of.starved),
    count("completed", |of| of.completed),
    optional("completion_mean", "completion_mean_s", Unit::Second, |of| of.completion_mean_s),
    count("data_frames", |of| of.data_frames),
    count("retry_limit_drops", |of| of.retry_limit_drops),
    count("collisions", |of| of.collisions),
];
/// Metrics of one direction of a link: `link.NAME.FROM.METRIC`, FROM the sending node.
pub static LINK: [Metric<LinkResult>; 4] = [
    count("delivered", |of| of.delivered),
    count("queue_drops", |of| of.queue_drops),
    count("lost", |of| of.lost),
    count("too_long", |of| of.too_long),
];
/// Metrics of one end of a link with local error control: `link_layer.NODE.PEER.METRIC`; of several radios together.
pub static LINK_LAYER: [Metric<LinkLayerResult>; 15] = [
    count("accepted", |of| of.accepted),
    count("settled", |of| of.settled),
    count("queue_drops", |of| of.queue_drops),
    count("expired", |of| of.expired),
    count("given_up", |of| of.given_up),
    count("segments", |of| of.segments),
    count("repetitions", |of| of.repetitions),
    sum("data", "data_bytes", Unit::Byte, |of| of.data_bytes),
    sum("coded", "coded_bytes", Unit::Byte, |of| of.coded_bytes),
    count("delivered", |of| of.delivered),
    count("duplicates", |of| of.duplicates),
    count("truncated", |of| of.truncated),
    count("undecodable", |of| of.undecodable),
    count("repaired", |of| of.repaired),
    count("lost", |of| of.lost),
];
/// Metrics of a radio with virtual stations: `slots.NAME.METRIC`.
pub static SLOTS: [Metric<SlotsResult>; 7] = [
    count("switches", |of| of.switches),
    count("null_frames", |of| of.null_frames),
    count("failed_nulls", |of| of.failed_nulls),
    count("unannounced", |of| of.unannounced),
    count("returned", |of| of.returned),
    count("missed_slots", |of| of.missed_slots),
    optional("switch_mean", "switch_mean_s", Unit::Second, |of| of.switch_mean_s),
];
/// Metrics of one of its access points: `slots.NAME.NODE.RADIO.METRIC`.
pub static ACCESS_POINT: [Metric<AccessPointResult>; 4] = [
    count("flows", |of| of.flows),
    count("held", |of| of.held),
    count("returned", |of| of.returned),
    count("buffer_drops", |of| of.buffer_drops),
];
/// Metrics of a packet killer: `killer.NAME.METRIC`.
pub static KILLER: [Metric<KillerResult>; 11] = [
    count("frames", |of| of.frames),
    count("lost", |of| of.lost),
    count("truncated", |of| of.truncated),
    count("corrupted", |of| of.corrupted),
    count("list_packets", |of| of.list_packets),
    count("list_bits", |of| of.list_bits),
    number("list_loss", "list_loss", Unit::Share, |of| of.list_loss),
    number("list_truncation", "list_truncation", Unit::Share, |of| of.list_truncation),
    number("list_corruption", "list_corruption", Unit::Share, |of| of.list_corruption),
    number("list_ber", "list_ber", Unit::Share, |of| of.list_ber),
    number("list_wrong_bits", "list_wrong_bits", Unit::Count, |of| of.list_wrong_bits),
];
/// Metrics of all packets: `packets.METRIC`.
pub static PACKETS: [Metric<PacketAccount>; 4] = [
    count("offered", |of| of.offered),
    count("delivered", |of| of.delivered),
    count("dropped", |of| of.dropped),
    count("in_flight", |of| of.in_flight),
];
