//! Every number of a run under the name that summaries and `[expect]` use.

use airbraid_sim::result::{
    FlowResult, KillerResult, LinkLayerResult, LinkResult, MacResult, RoutingResult, RunResult, SelectionResult,
    SlotsResult, TotalResult, TrunkResult, TunnelResult,
};

/// The metrics of `run`, in a fixed order; a number that the run does not have (the delay of nothing) is left out.
pub fn of(run: &RunResult) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for flow in &run.flows {
        self::flow(flow, &mut out);
    }
    sums(&run.trunks, |trunk| format!("trunk.{}", trunk.name), counts, &mut out);
    for trunk in &run.trunks {
        direction(trunk, &mut out);
    }
    sums(&run.tunnels, |end| format!("tunnel.{}", end.name), tunnel_counts, &mut out);
    for end in &run.tunnels {
        tunnel(end, &mut out);
    }
    run.selections.iter().for_each(|selection| self::selection(selection, &mut out));
    for link in &run.links {
        self::link(link, &mut out);
    }
    for mac in &run.macs {
        self::mac(mac, &mut out);
    }
    let ends = |end: &LinkLayerResult| format!("link_layer.{}.{}", end.node, end.peer);
    sums(&run.link_layers, ends, link_layer, &mut out);
    for slots in &run.slots {
        self::slots(slots, &mut out);
    }
    for killer in &run.killers {
        self::killer(killer, &mut out);
    }
    let packets = &run.packets;
    let counts = [
        ("offered", packets.offered),
        ("delivered", packets.delivered),
        ("dropped", packets.dropped),
        ("in_flight", packets.in_flight),
    ];
    put_counts("packets", counts, &mut out);
    if let Some(routing) = &run.routing {
        self::routing(routing, &mut out);
    }
    total(&run.total, &mut out);
    out.extend(run.drops.iter().map(|(reason, n)| (format!("drops.{reason}"), *n as f64)));
    out
}

fn flow(flow: &FlowResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, x: f64| out.push((format!("flow.{}.{name}", flow.name), x));
    put("goodput_bps", flow.goodput_bps);
    put("ip_throughput_bps", flow.ip_throughput_bps);
    put("delivered_bytes", flow.delivered_bytes as f64);
    put("sent_packets", flow.sent_packets as f64);
    put("received_packets", flow.received_packets as f64);
    put("retransmits", flow.retransmits as f64);
    put("timeouts", flow.timeouts as f64);
    put("retransmits_most", flow.retransmits_most as f64);
    put("out_of_order", flow.out_of_order as f64);
    put("idle_longest_s", flow.idle_longest_s);
    put("gap_longest_s", flow.gap_longest_s);
    put("reordered", flow.reordered as f64);
    put("reordering_extent", flow.reordering_extent as f64);
    if let Some(share) = flow.on_time {
        put("on_time", share);
    }
    if let Some(seconds) = flow.rtt_mean_s {
        put("rtt_mean_s", seconds);
    }
    if let Some(seconds) = flow.completion_s {
        put("completion_s", seconds);
    }
    if let Some(delay) = &flow.delay_s {
        put("delay_min_s", delay.min);
        put("delay_mean_s", delay.mean);
        put("delay_std_s", delay.std);
        put("delay_p50_s", delay.p50);
        put("delay_p99_s", delay.p99);
        put("delay_max_s", delay.max);
    }
}

fn slots(slots: &SlotsResult, out: &mut Vec<(String, f64)>) {
    let counts = [
        ("switches", slots.switches),
        ("null_frames", slots.null_frames),
        ("failed_nulls", slots.failed_nulls),
        ("unannounced", slots.unannounced),
        ("returned", slots.returned),
        ("missed_slots", slots.missed_slots),
    ];
    put_counts(&format!("slots.{}", slots.name), counts, out);
    out.extend(slots.switch_mean_s.map(|seconds| (format!("slots.{}.switch_mean_s", slots.name), seconds)));
    for point in &slots.access_points {
        let path = format!("slots.{}.{}.{}", slots.name, point.node, point.radio);
        let counts = [
            ("flows", point.flows),
            ("held", point.held),
            ("returned", point.returned),
            ("buffer_drops", point.buffer_drops),
        ];
        put_counts(&path, counts, out);
    }
}

fn routing(routing: &RoutingResult, out: &mut Vec<(String, f64)>) {
    let counts = [
        ("searches", routing.searches),
        ("searches_failed", routing.searches_failed),
        ("repairs", routing.repairs),
        ("rreq_sent", routing.rreq_sent),
        ("rrep_sent", routing.rrep_sent),
        ("rerr_sent", routing.rerr_sent),
        ("links_broken", routing.links_broken),
        ("messages_lost", routing.messages_lost),
        ("loops", routing.loops),
    ];
    put_counts("routing", counts, out);
}

fn total(total: &TotalResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, x: f64| out.push((format!("total.{name}"), x));
    put("goodput_bps", total.goodput_bps);
    put("ip_throughput_bps", total.ip_throughput_bps);
    if let Some(index) = total.jain {
        put("jain", index);
    }
    put("starved", total.starved as f64);
    put("completed", total.completed as f64);
    if let Some(seconds) = total.completion_mean_s {
        put("completion_mean_s", seconds);
    }
    put("data_frames", total.data_frames as f64);
    put("retry_limit_drops", total.retry_limit_drops as f64);
    put("collisions", total.collisions as f64);
}

/// A name and how often.
type Count = (&'static str, u64);

fn put_counts(path: &str, counts: impl IntoIterator<Item = Count>, out: &mut Vec<(String, f64)>) {
    out.extend(counts.into_iter().map(|(name, n)| (format!("{path}.{name}"), n as f64)));
}

/// Sums of `counts` over all members of each group, under the group's path, in the order of their first members.
fn sums<T, const N: usize>(
    all: &[T],
    path: impl Fn(&T) -> String,
    counts: impl Fn(&T) -> [Count; N],
    out: &mut Vec<(String, f64)>,
) {
    let paths: Vec<String> = all.iter().map(path).collect();
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            continue;
        }
        let group = (i..all.len()).filter(|&k| paths[k] == *path).map(|k| counts(&all[k]));
        let sums = group.reduce(|a, b| std::array::from_fn(|k| (a[k].0, a[k].1 + b[k].1)));
        put_counts(path, sums.into_iter().flatten(), out);
    }
}

/// What each direction has alone, under its sender's name.
fn direction(trunk: &TrunkResult, out: &mut Vec<(String, f64)>) {
    let path = format!("trunk.{}.{}", trunk.name, trunk.from);
    put_counts(&path, counts(trunk), out);
    out.push((format!("{path}.blocked_s"), trunk.blocked_s));
    out.push((format!("{path}.blocked_longest_s"), trunk.blocked_longest_s));
    out.push((format!("{path}.resequencing_delay_mean_s"), trunk.resequencing_delay_mean_s));
    out.push((format!("{path}.reorder_timer_s"), trunk.reorder_timer_s));
}

fn counts(trunk: &TrunkResult) -> [Count; 13] {
    [
        ("sent", trunk.sent),
        ("delivered", trunk.delivered),
        ("late", trunk.late),
        ("duplicates", trunk.duplicates),
        ("timer_expiries", trunk.timer_expiries),
        ("resyncs", trunk.resyncs),
        ("known_lost", trunk.known_lost),
        ("markers", trunk.markers),
        ("acks", trunk.acks),
        ("naks", trunk.naks),
        ("resends", trunk.resends),
        ("deaths", trunk.deaths),
        ("fifo_drops", trunk.fifo_drops),
    ]
}

/// What one end of a trunk over links has alone, and what it sent on each member.
fn tunnel(end: &TunnelResult, out: &mut Vec<(String, f64)>) {
    let path = format!("tunnel.{}.{}", end.name, end.from);
    put_counts(&path, tunnel_counts(end), out);
    out.push((format!("{path}.hold_time_s"), end.hold_time_s));
    let all_bytes: u64 = end.members.iter().map(|member| member.sent_bytes).sum();
    for member in &end.members {
        let path = format!("{path}.{}", member.link);
        out.push((format!("{path}.share"), member.sent_bytes as f64 / all_bytes.max(1) as f64));
        let counts = [
            ("sent", member.sent),
            ("lost", member.lost),
            ("spurious", member.spurious),
            ("suspicions", member.suspicions),
        ];
        put_counts(&path, counts, out);
        out.push((format!("{path}.rate_bps"), member.rate_bps as f64));
        out.push((format!("{path}.rtt_min_s"), member.rtt_min_s));
    }
}

fn tunnel_counts(end: &TunnelResult) -> [Count; 9] {
    [
        ("offered", end.offered),
        ("delivered", end.delivered),
        ("late", end.late),
        ("duplicates", end.duplicates),
        ("holes", end.holes),
        ("retransmissions", end.retransmissions),
        ("duplicated", end.duplicated),
        ("restored", end.restored),
        ("managed", end.managed),
    ]
}

fn link(link: &LinkResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, n: u64| out.push((format!("link.{}.{}.{name}", link.name, link.from), n as f64));
    put("delivered", link.delivered);
    put("queue_drops", link.queue_drops);
    put("lost", link.lost);
}

fn mac(mac: &MacResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, x: f64| out.push((format!("mac.{}.{}.{name}", mac.node, mac.radio), x));
    put("data_frames", mac.data_frames as f64);
    put("rts_frames", mac.rts_frames as f64);
    put("retries", mac.retries as f64);
    put("retry_limit_drops", mac.retry_limit_drops as f64);
    put("queue_drops", mac.queue_drops as f64);
    put("collisions", mac.collisions as f64);
    put("channel_errors", mac.channel_errors as f64);
    put("duplicates", mac.duplicates as f64);
    put("unanswered", mac.unanswered as f64);
    put("handshakes", mac.handshakes as f64);
    put("reverse_frames", mac.reverse_frames as f64);
    put("void_grants", mac.void_grants as f64);
    put("airtime", mac.airtime);
    if let Some((mean, deviation)) = mac.snr_mean_db.zip(mac.snr_std_db) {
        put("snr_mean_db", mean);
        put("snr_std_db", deviation);
    }
}

fn selection(selection: &SelectionResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, x: f64| out.push((format!("select.{}.{}.{name}", selection.name, selection.from), x));
    put("sent", selection.sent as f64);
    put("resent", selection.resent as f64);
    put("switches", selection.switches as f64);
    put("beacons", selection.beacons as f64);
    put("dropped", selection.dropped as f64);
    put("first", selection.first);
}

fn link_layer(end: &LinkLayerResult) -> [Count; 15] {
    [
        ("accepted", end.accepted),
        ("settled", end.settled),
        ("queue_drops", end.queue_drops),
        ("expired", end.expired),
        ("given_up", end.given_up),
        ("segments", end.segments),
        ("repetitions", end.repetitions),
        ("data_bytes", end.data_bytes),
        ("coded_bytes", end.coded_bytes),
        ("delivered", end.delivered),
        ("duplicates", end.duplicates),
        ("truncated", end.truncated),
        ("undecodable", end.undecodable),
        ("repaired", end.repaired),
        ("lost", end.lost),
    ]
}

fn killer(killer: &KillerResult, out: &mut Vec<(String, f64)>) {
    let mut put = |name: &str, x: f64| out.push((format!("killer.{}.{name}", killer.name), x));
    put("frames", killer.frames as f64);
    put("lost", killer.lost as f64);
    put("truncated", killer.truncated as f64);
    put("corrupted", killer.corrupted as f64);
    put("list_packets", killer.list_packets as f64);
    put("list_bits", killer.list_bits as f64);
    put("list_loss", killer.list_loss);
    put("list_truncation", killer.list_truncation);
    put("list_corruption", killer.list_corruption);
    put("list_ber", killer.list_ber);
    put("list_wrong_bits", killer.list_wrong_bits);
}
