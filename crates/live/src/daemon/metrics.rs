//! The status as Prometheus reads it (text format 0.0.4).

use super::status::{MemberReport, PeerReport, Status, UplinkReport};
use airbraid_engine::trunk::bonding::MemberState;
use airbraid_sim::metric::{Declared, Metrics, Value};
use std::fmt::Write as _;

/// The metrics of a daemon. Peers have their names where `has_names` says so, otherwise the numbers of their places in
/// the file: who reaches the port is not asked who he is.
pub fn text(mut status: Status, has_names: bool) -> String {
    if !has_names {
        for (place, peer) in (1..).zip(&mut status.peers) {
            let place: usize = place;
            peer.name = place.to_string();
        }
    }
    let status = &status;
    let mut page = Page::default();
    families(&mut page, "", &[(Vec::new(), status)]);
    page.family("airbraid_mtu_bytes", "gauge", "The longest packet of the interface.");
    page.value(&[("interface", &status.interface)], f64::from(status.mtu_bytes));
    page.family("airbraid_offload", "gauge", "Whether the kernel takes and gives many packets at once.");
    for (what, works) in &status.offloads {
        page.value(&[("what", what)], f64::from(u8::from(*works)));
    }
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

/// Labels of a value.
type Labels<'a> = Vec<(&'a str, &'a str)>;

#[derive(Default)]
struct Page {
    text: String,
    name: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        name.clone_into(&mut self.name);
        let help = help.replace('\\', "\\\\");
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, labels: &[(&str, &str)], value: f64) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{labels} {value}", self.name);
    }
}

/// Returns the name of the family of a metric: `airbraid_member_rtt_seconds`.
pub fn family(of: &str, declared: &Declared) -> String {
    let total = if declared.is_sum() { "_total" } else { "" };
    format!("airbraid_{of}{}{}{total}", declared.name(), declared.unit.prometheus())
}

/// Writes the declared metrics of things of one kind, each with its labels; a family that no thing has is left out.
fn families<T: Metrics>(page: &mut Page, of: &str, things: &[(Labels<'_>, &T)]) {
    let values = |thing: &T| {
        let mut values = Vec::new();
        thing.each(&mut |_, value| values.push(value.map(Value::as_f64)));
        values
    };
    let rows: Vec<Vec<Option<f64>>> = things.iter().map(|(_, thing)| values(thing)).collect();
    for (place, declared) in T::declared().into_iter().enumerate() {
        if !things.is_empty() && rows.iter().all(|row| row[place].is_none()) {
            continue;
        }
        let kind = if declared.is_sum() { "counter" } else { "gauge" };
        page.family(&family(of, declared), kind, &declared.text());
        for ((labels, _), row) in things.iter().zip(&rows) {
            row[place].iter().for_each(|value| page.value(labels, *value));
        }
    }
}

/// Writes whether each thing works.
fn works<T>(page: &mut Page, name: &str, help: &str, things: &[(Labels<'_>, &T)], works: impl Fn(&T) -> bool) {
    page.family(name, "gauge", help);
    for (labels, thing) in things {
        page.value(labels, f64::from(u8::from(works(thing))));
    }
}

fn uplinks(page: &mut Page, uplinks: &[UplinkReport]) {
    let things: Vec<_> = uplinks.iter().map(|uplink| (vec![("uplink", uplink.name.as_str())], uplink)).collect();
    works(page, "airbraid_uplink_open", "Whether the uplink can be used.", &things, |uplink| uplink.state == "open");
    families(page, "uplink_", &things);
}

fn peers(page: &mut Page, peers: &[PeerReport]) {
    let things: Vec<_> = peers.iter().map(|peer| (vec![("peer", peer.name.as_str())], peer)).collect();
    families(page, "peer_", &things);
    page.family("airbraid_peer_drops_total", "counter", "Packets dropped, by reason.");
    for peer in peers {
        for (reason, count) in &peer.drops {
            page.value(&[("peer", &peer.name), ("reason", reason)], *count as f64);
        }
    }
}

fn members(page: &mut Page, peers: &[PeerReport]) {
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
    let things: Vec<_> = labelled.collect();
    let is_active = |member: &MemberReport| member.state == MemberState::Active.name();
    works(page, "airbraid_member_active", "Whether the member link works.", &things, is_active);
    families(page, "member_", &things);
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_sim::metric::{renew, rows};
    use std::collections::BTreeSet;
    use std::path::Path;

    fn table<T: Metrics>(what: &str, of: &str) -> String {
        let rows = rows(&T::declared(), |declared| format!("`{}` | `{}`", declared.key, family(of, declared)));
        format!("\n### {what}\n\n| `--json` | Prometheus | unit | description |\n|---|---|---|---|\n{rows}")
    }

    #[test]
    fn the_reference_has_every_metric_of_the_daemon() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/status.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let tables = [
            table::<Status>("The daemon", ""),
            table::<UplinkReport>("An uplink (label `uplink`)", "uplink_"),
            table::<PeerReport>("A peer (label `peer`)", "peer_"),
            table::<MemberReport>("A member link (labels `peer`, `uplink`, `link`, `member`)", "member_"),
        ];
        let now = renew(&page, &(tables.concat() + "\n")).expect("the page has both markers");
        if std::env::var_os("AIRBRAID_RENEW").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert!(page == now, "docs/reference/status.md is old: `make reference` renews it");
        }
    }

    /// Every family that a daemon can have.
    fn exported() -> BTreeSet<String> {
        fn of<T: Metrics>(of: &'static str) -> impl Iterator<Item = String> {
            T::declared().into_iter().map(move |declared| family(of, declared))
        }
        let declared = of::<Status>("").chain(of::<UplinkReport>("uplink_")).chain(of::<PeerReport>("peer_"));
        let page = text(Status::default(), true);
        let written = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        declared.chain(of::<MemberReport>("member_")).chain(written.map(str::to_owned)).collect()
    }

    #[test]
    fn the_dashboard_asks_for_metrics_that_there_are() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/grafana/airbraid.json");
        let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let exported = exported();
        let panels = dashboard["panels"].as_array().unwrap();
        let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
        let asked = targets.map(|target| target["expr"].as_str().unwrap());
        let listed =
            dashboard["templating"]["list"].as_array().unwrap().iter().map(|list| list["query"].as_str().unwrap());
        let mut named = BTreeSet::new();
        for text in asked.chain(listed) {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for name in words.filter(|word| word.starts_with("airbraid_")) {
                assert!(exported.contains(name), "no daemon has {name}: {text}");
                named.insert(name);
            }
        }
        assert!(named.len() > 20, "{named:?}");
    }

    #[test]
    fn a_status_that_was_written_is_read_with_all_its_numbers() {
        let mut member = MemberReport { member: 1, uplink: "dsl".to_owned(), ..MemberReport::default() };
        member.counts.sent = 7;
        let mut peer = PeerReport { name: "hub".to_owned(), up: true, members: vec![member], ..PeerReport::default() };
        peer.counts.received_bytes = 8;
        peer.trunk.counts.holes = 9;
        let status = Status { name: "site".to_owned(), uptime_s: 1.5, peers: vec![peer], ..Status::default() };
        let json = serde_json::to_string(&status).unwrap();
        for part in [r#""uptime_s":1.5"#, r#""sent_packets":7"#, r#""received_bytes":8"#, r#""holes":9"#] {
            assert_eq!(json.matches(part).count(), 1, "{part}: {json}");
        }
        let read: Status = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        let page = text(read, false);
        let line = "airbraid_member_sent_packets_total{peer=\"1\",uplink=\"dsl\",link=\"\",member=\"1\"} 7\n";
        assert!(page.contains(line) && page.contains("airbraid_peer_up{peer=\"1\"} 1\n"), "{page}");
    }
}
