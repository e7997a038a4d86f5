//! The status as Prometheus reads it (text format 0.0.4).

use super::status::{MemberReport, PeerReport, Status, UplinkReport};
use std::fmt::Write as _;

/// The metrics of a daemon. Peers have their names where `has_names` says so, otherwise the numbers of their places in the file: who
/// reaches the port is not asked who he is.
pub fn text(mut status: Status, has_names: bool) -> String {
    if !has_names {
        for (place, peer) in (1..).zip(&mut status.peers) {
            let place: usize = place;
            peer.name = place.to_string();
        }
    }
    let status = &status;
    let mut page = Page::default();
    page.family("airbraid_uptime_seconds", "gauge", "Time since the daemon began.");
    page.value(&[], status.uptime_s);
    page.family("airbraid_mtu_bytes", "gauge", "The longest packet of the interface.");
    page.value(&[("interface", &status.interface)], f64::from(status.mtu_bytes));
    page.family("airbraid_offload", "gauge", "Whether the kernel takes and gives many packets at once.");
    for (what, works) in &status.offloads {
        page.value(&[("what", what)], f64::from(u8::from(*works)));
    }
    page.family("airbraid_unroutable_packets_total", "counter", "Packets that no peer is behind.");
    page.value(&[], status.unroutable_packets as f64);
    page.family("airbraid_late_sends_total", "counter", "How often the host was stopped before it could send.");
    page.value(&[], status.late_sends as f64);
    for (what, counts) in [("handshake", &status.refused_handshakes), ("frame", &status.refused_frames)] {
        page.family(&format!("airbraid_refused_{what}s_total"), "counter", "What was refused, by reason.");
        for (reason, count) in counts {
            page.value(&[("reason", reason)], *count as f64);
        }
    }
    uplinks(&mut page, &status.uplinks);
    peers(&mut page, &status.peers);
    members(&mut page, &status.peers);
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    name: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        name.clone_into(&mut self.name);
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, labels: &[(&str, &str)], value: f64) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{labels} {value}", self.name);
    }
}

/// A family: its name, its kind, what it is, and where it is found.
type Family<T> = (&'static str, &'static str, &'static str, fn(&T) -> f64);

/// Families of things of one kind, each with its labels.
fn families<T>(page: &mut Page, of: &str, families: &[Family<T>], things: &[(Vec<(&str, &str)>, &T)]) {
    for (name, kind, help, read) in families {
        page.family(&format!("airbraid_{of}_{name}"), kind, help);
        for (labels, thing) in things {
            page.value(labels, read(thing));
        }
    }
}

fn uplinks(page: &mut Page, uplinks: &[UplinkReport]) {
    let table: [Family<UplinkReport>; 6] = [
        ("open", "gauge", "Whether the uplink can be used.", |uplink| f64::from(u8::from(uplink.state == "open"))),
        ("sent_datagrams_total", "counter", "Datagrams sent.", |uplink| uplink.sent_datagrams as f64),
        ("sent_bytes_total", "counter", "Their bytes.", |uplink| uplink.sent_bytes as f64),
        ("received_datagrams_total", "counter", "Datagrams received.", |uplink| uplink.received_datagrams as f64),
        ("received_bytes_total", "counter", "Their bytes.", |uplink| uplink.received_bytes as f64),
        ("refused_datagrams_total", "counter", "Datagrams that the kernel did not take.", |uplink| {
            uplink.refused_datagrams as f64
        }),
    ];
    let things: Vec<_> = uplinks.iter().map(|uplink| (vec![("uplink", uplink.name.as_str())], uplink)).collect();
    families(page, "uplink", &table, &things);
    let radios = || uplinks.iter().filter_map(|uplink| Some((&uplink.name, uplink.signal_dbm?)));
    if radios().next().is_some() {
        page.family("airbraid_uplink_signal_dbm", "gauge", "How well its radio hears the access point.");
        for (name, dbm) in radios() {
            page.value(&[("uplink", name)], f64::from(dbm));
        }
    }
}

fn peers(page: &mut Page, peers: &[PeerReport]) {
    let table: [Family<PeerReport>; 14] = [
        ("up", "gauge", "Whether there is a session in which something has come within 30 s.", |peer| {
            f64::from(u8::from(peer.up))
        }),
        ("mtu_bytes", "gauge", "The longest packet for the peer.", |peer| f64::from(peer.mtu_bytes)),
        ("sent_packets_total", "counter", "Packets to the peer.", |peer| peer.sent_packets as f64),
        ("sent_bytes_total", "counter", "Their bytes.", |peer| peer.sent_bytes as f64),
        ("received_packets_total", "counter", "Packets from the peer.", |peer| peer.received_packets as f64),
        ("received_bytes_total", "counter", "Their bytes.", |peer| peer.received_bytes as f64),
        ("queue_bytes", "gauge", "Bytes that wait to be sent.", |peer| peer.queue_bytes as f64),
        ("held_packets", "gauge", "Packets that wait for those before them.", |peer| peer.held_packets as f64),
        ("hold_time_seconds", "gauge", "How long they wait, at most.", |peer| peer.hold_time_s),
        ("retransmissions_total", "counter", "Packets sent again.", |peer| peer.retransmissions as f64),
        ("duplicated_total", "counter", "Packets sent on two members at once.", |peer| peer.duplicated as f64),
        ("restored_total", "counter", "Packets that repair symbols restored.", |peer| peer.restored as f64),
        ("late_total", "counter", "Packets delivered out of order.", |peer| peer.late as f64),
        ("moves_total", "counter", "Times that a member has moved.", |peer| peer.moves as f64),
    ];
    let things: Vec<_> = peers.iter().map(|peer| (vec![("peer", peer.name.as_str())], peer)).collect();
    families(page, "peer", &table, &things);
    page.family("airbraid_peer_drops_total", "counter", "Packets dropped, by reason.");
    for peer in peers {
        for (reason, count) in &peer.drops {
            page.value(&[("peer", &peer.name), ("reason", reason)], *count as f64);
        }
    }
}

fn members(page: &mut Page, peers: &[PeerReport]) {
    let table: [Family<MemberReport>; 15] = [
        ("active", "gauge", "Whether the member link works.", |member| f64::from(u8::from(member.state == "active"))),
        ("rate_bits_per_second", "gauge", "What it carries, as measured.", |member| member.rate_bps as f64),
        ("rtt_min_seconds", "gauge", "The shortest round trip of late.", |member| member.rtt_min_s),
        ("rtt_seconds", "gauge", "Smoothed round trip.", |member| member.rtt_s),
        ("queue_delay_seconds", "gauge", "How long its own queue is.", |member| member.queue_delay_s),
        ("loss_ratio", "gauge", "Share of frames lost of late.", |member| member.loss),
        ("in_flight_frames", "gauge", "Frames on the way.", |member| f64::from(member.in_flight)),
        ("sent_bytes_total", "counter", "Bytes of all frames sent.", |member| member.sent_bytes as f64),
        ("repeated_bytes_total", "counter", "Of these, sent again or twice.", |member| member.repeated_bytes as f64),
        ("repair_bytes_total", "counter", "Of these, repair symbols.", |member| member.repair_bytes as f64),
        ("received_bytes_total", "counter", "Bytes of all frames received.", |member| member.received_bytes as f64),
        ("lost_frames_total", "counter", "Frames held to be lost.", |member| member.lost_frames as f64),
        ("path_mtu_bytes", "gauge", "The longest IP packet that the path carries; 0 before it is known.", |member| {
            f64::from(member.path_mtu_bytes.unwrap_or(0))
        }),
        ("black_holes_total", "counter", "Lengths that the path had carried, and then swallowed.", |member| {
            member.black_holes as f64
        }),
        ("suspicions_total", "counter", "Times it was suspected to be dead.", |member| member.suspicions as f64),
    ];
    let every = || peers.iter().flat_map(|peer| peer.members.iter().map(move |member| (peer, member)));
    let numbers: Vec<String> = every().map(|(_, member)| member.member.to_string()).collect();
    let labelled = every().zip(&numbers).map(|((peer, member), number)| {
        let labels = [
            ("peer", peer.name.as_str()),
            ("uplink", member.uplink.as_str()),
            ("link", member.name.as_str()),
            ("member", number.as_str()),
        ];
        (labels.to_vec(), member)
    });
    families(page, "member", &table, &labelled.collect::<Vec<_>>());
}
