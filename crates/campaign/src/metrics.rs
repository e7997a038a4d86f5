//! Every number of a run under the name that summaries and `[expect]` use.

use airbraid_sim::result::{
    FlowResult, KillerResult, LinkLayerResult, LinkResult, MacResult, RoutingResult, RunResult, TotalResult,
    TrunkResult,
};

/// The metrics of `run`, in a fixed order; a number that the run does not have (the delay of nothing) is left out.
pub fn of(run: &RunResult) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    for flow in &run.flows {
        self::flow(flow, &mut out);
    }
    trunks(&run.trunks, &mut out);
    for link in &run.links {
        self::link(link, &mut out);
    }
    for mac in &run.macs {
        self::mac(mac, &mut out);
    }
    link_layers(&run.link_layers, &mut out);
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
    out.extend(counts.map(|(name, n)| (format!("packets.{name}"), n as f64)));
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
    put("gap_longest_s", flow.gap_longest_s);
    put("reordered", flow.reordered as f64);
    put("reordering_extent", flow.reordering_extent as f64);
    if let Some(share) = flow.on_time {
        put("on_time", share);
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
    out.extend(counts.map(|(name, n)| (format!("routing.{name}"), n as f64)));
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

/// Counts of both directions together under the trunk's name, and everything of each direction under its sender's.
fn trunks(trunks: &[TrunkResult], out: &mut Vec<(String, f64)>) {
    for (i, trunk) in trunks.iter().enumerate() {
        if trunks[..i].iter().all(|t| t.name != trunk.name) {
            let both = trunks[i..].iter().filter(|t| t.name == trunk.name);
            let sums = both.map(counts).reduce(|a, b| std::array::from_fn(|k| (a[k].0, a[k].1 + b[k].1)));
            let sums = sums.into_iter().flatten();
            out.extend(sums.map(|(name, n)| (format!("trunk.{}.{name}", trunk.name), n as f64)));
        }
        let path = format!("trunk.{}.{}", trunk.name, trunk.from);
        out.extend(counts(trunk).map(|(name, n)| (format!("{path}.{name}"), n as f64)));
        out.push((format!("{path}.blocked_s"), trunk.blocked_s));
        out.push((format!("{path}.blocked_longest_s"), trunk.blocked_longest_s));
        out.push((format!("{path}.resequencing_delay_mean_s"), trunk.resequencing_delay_mean_s));
        out.push((format!("{path}.reorder_timer_s"), trunk.reorder_timer_s));
    }
}

fn counts(trunk: &TrunkResult) -> [(&'static str, u64); 13] {
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
}

/// Counts of all radios between the same nodes together.
fn link_layers(ends: &[LinkLayerResult], out: &mut Vec<(String, f64)>) {
    let is_same = |a: &LinkLayerResult, b: &LinkLayerResult| a.node == b.node && a.peer == b.peer;
    for (i, end) in ends.iter().enumerate() {
        if ends[..i].iter().all(|other| !is_same(other, end)) {
            let all = ends[i..].iter().filter(|other| is_same(other, end)).map(link_layer);
            let sums = all.reduce(|a, b| std::array::from_fn(|k| (a[k].0, a[k].1 + b[k].1)));
            let path = format!("link_layer.{}.{}", end.node, end.peer);
            out.extend(sums.into_iter().flatten().map(|(name, n)| (format!("{path}.{name}"), n as f64)));
        }
    }
}

fn link_layer(end: &LinkLayerResult) -> [(&'static str, u64); 15] {
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
