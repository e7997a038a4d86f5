//! `airbraid status`.

use super::arguments;
use super::daemon::named;
use super::ended;
use crate::columns::columns;
use crate::print::{Ended, out};
use airbraid_live::LabError;
use airbraid_live::daemon::{self, MemberReport, PeerReport, Question, Status, UplinkReport};
use airbraid_sim::metric::Unit;
use airbraid_units::BitRate;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::Duration;

/// Interval of `--watch`.
const PAUSE: Duration = Duration::from_secs(1);
/// Clears a terminal and goes to its upper left corner.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints the state of a daemon, or of all.
pub fn status(arguments: &arguments::Status) -> Result<(), Ended> {
    let all = daemon::names();
    let names = match &arguments.name {
        Some(name) => vec![name.clone()],
        None if all.len() > 1 => all,
        None => vec![named(None)?],
    };
    if arguments.json {
        return json(&names);
    }
    let mut before: BTreeMap<String, Status> = BTreeMap::new();
    loop {
        let text = reports(&names, &mut before)?;
        // A file or a pipe gets one report after the other.
        let lead = if !arguments.watch {
            ""
        } else if std::io::stdout().is_terminal() {
            CLEAR
        } else {
            "\n"
        };
        out(&format!("{lead}{text}"))?;
        if !arguments.watch {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
}

/// One object: the daemon's, or `daemons` with those of several that answer.
fn json(names: &[String]) -> Result<(), Ended> {
    let ask = |name: &String| daemon::ask(name, &Question::Status);
    if let [name] = names {
        return out(&(ask(name).map_err(ended)? + "\n"));
    }
    let answers: Vec<String> = names.iter().filter_map(|name| ask(name).ok()).collect();
    out(&format!("{{\"daemons\":[{}]}}\n", answers.join(",")))
}

/// The reports of daemons; `before` has their earlier states and gets these. Of several one may not answer.
fn reports(names: &[String], before: &mut BTreeMap<String, Status>) -> Result<String, Ended> {
    let (mut texts, mut refused) = (Vec::new(), Vec::new());
    for name in names {
        let answer = match daemon::ask(name, &Question::Status) {
            Ok(answer) => answer,
            Err(error) => {
                texts.push(silent(name, &error));
                refused.push(error);
                continue;
            }
        };
        let now: Status = serde_json::from_str(&answer)
            .map_err(|error| Ended::Failed(format!("{name} speaks otherwise: {error}")))?;
        texts.push(report(&now, before.get(name)));
        before.insert(name.clone(), now);
    }
    if refused.len() == names.len()
        && let Some(error) = refused.into_iter().next()
    {
        return Err(ended(error));
    }
    Ok(texts.join("\n"))
}

/// A daemon that does not answer: one that was killed has left something.
fn silent(name: &str, error: &LabError) -> String {
    match error {
        LabError::Input(_) => {
            format!("{name}: it is not up any more; `airbraid down {name}` puts right what it has left\n")
        }
        LabError::Failed(why) => format!("{name}: {why}\n"),
    }
}

fn report(now: &Status, before: Option<&Status>) -> String {
    let mut text = format!(
        "{}: {}, MTU {}, up for {}, pid {}\n  public key {}\n\n",
        now.name,
        now.interface,
        now.mtu_bytes,
        Unit::Second.show(now.uptime_s),
        now.pid,
        now.public_key
    );
    text.push_str(&offloads(now));
    text.push_str(&lateness(now));
    text.push_str(&columns(&uplinks(now, before)));
    for uplink in &now.uplinks {
        text.push_str(&because(&format!("{}: ", uplink.name), uplink.cause.as_ref(), uplink.remedy.as_ref()));
    }
    for conflict in &now.route_conflicts {
        let _ = writeln!(text, "  routes: {conflict}");
    }
    for peer in &now.peers {
        let earlier = before.and_then(|before| before.peers.iter().find(|other| other.name == peer.name));
        text.push('\n');
        text.push_str(&self::peer(peer, earlier, elapsed(now, before)));
    }
    for caller in &now.refused_callers {
        let ago = Unit::Second.show(caller.silent_s.floor());
        let _ = writeln!(text, "\n  {}: {} ({} times, the last {ago} ago)", caller.cause, caller.remedy, caller.times);
    }
    let refused: Vec<String> = now.refused_frames.iter().chain(&now.refused_handshakes).map(count).collect();
    if !refused.is_empty() {
        let _ = writeln!(text, "\n  refused: {}", refused.join(", "));
    }
    text
}

/// The reason why something does not work, where it is known.
fn because(what: &str, cause: Option<&String>, remedy: Option<&String>) -> String {
    cause.zip(remedy).map_or_else(String::new, |(cause, remedy)| format!("  {what}{cause}: {remedy}\n"))
}

/// The kernel's offloads, where some are missing.
fn offloads(now: &Status) -> String {
    let lacks: Vec<&str> = now.offloads.iter().filter(|(_, works)| !**works).map(|(what, _)| what.as_str()).collect();
    if lacks.is_empty() { String::new() } else { format!("  without offloads: {}\n\n", lacks.join(", ")) }
}

/// Lateness of the host, if there was any.
fn lateness(now: &Status) -> String {
    let worst = Unit::Second.show(now.counts.late_worst.as_secs_f64());
    let of = if now.counts.late_sends == 1 { "time" } else { "times" };
    if now.counts.late_sends == 0 {
        String::new()
    } else {
        format!("  the host was late {} {of}, by {worst} at worst\n\n", now.counts.late_sends)
    }
}

fn count((name, count): (&String, &u64)) -> String {
    format!("{} {count}", refusal(name))
}

/// A reason for refusing a message, in words; `--json` and metrics have the short names.
fn refusal(name: &str) -> &str {
    match name {
        "truncated" => "too short",
        "version" => "of another version",
        "stranger" => "meant for another key",
        "nocookie" => "without a cookie",
        "overload" => "too many at once",
        "unknownpeer" => "from an unknown peer",
        "unknownkey" => "under an unknown key",
        "reflected" => "our own, come back",
        "forged" => "forged or damaged",
        "replayed" => "repeated",
        "stale" => "too old",
        "expired" => "under an expired key",
        other => other,
    }
}

/// The time over which rates are computed: since the last call.
fn elapsed(now: &Status, before: Option<&Status>) -> f64 {
    (now.uptime_s - before.map_or(0.0, |before| before.uptime_s)).max(1e-3)
}

/// The rate since the last call; at a first call the bytes since the beginning, whose mean would say nothing of now.
fn rate(now: u64, before: Option<u64>, elapsed: f64) -> String {
    match before {
        Some(before) => Unit::BitPerSecond.show(now.saturating_sub(before) as f64 * 8.0 / elapsed),
        None => Unit::Byte.show(now as f64),
    }
}

fn head(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn uplinks(now: &Status, before: Option<&Status>) -> Vec<Vec<String>> {
    let elapsed = elapsed(now, before);
    // A column for radios, where there is one.
    let has_radio = now.uplinks.iter().any(|uplink| uplink.signal_dbm.is_some());
    let row = |uplink: &UplinkReport| {
        let mut earlier = before.into_iter().flat_map(|before| &before.uplinks);
        let earlier = earlier.find(|other| other.name == uplink.name);
        let signal = uplink.signal_dbm.map_or_else(|| "-".to_owned(), |dbm| format!("{dbm} dBm"));
        let what = [uplink.name.clone(), uplink.device.clone().unwrap_or_else(|| "-".to_owned()), uplink.state.clone()];
        let rest = [
            uplink.addresses.join(" "),
            rate(uplink.counts.sent_bytes, earlier.map(|other| other.counts.sent_bytes), elapsed),
            rate(uplink.counts.received_bytes, earlier.map(|other| other.counts.received_bytes), elapsed),
            uplink.counts.refused_datagrams.to_string(),
        ];
        what.into_iter().chain(has_radio.then_some(signal)).chain(rest).collect()
    };
    let (what, rest) = (["uplink", "interface", "state"], ["addresses", "sent", "received", "refused"]);
    let words: Vec<&str> = what.into_iter().chain(has_radio.then_some("signal")).chain(rest).collect();
    std::iter::once(head(&words)).chain(now.uplinks.iter().map(row)).collect()
}

fn peer(peer: &PeerReport, before: Option<&PeerReport>, elapsed: f64) -> String {
    let state = match (peer.up, peer.left_s, peer.silent_s) {
        (true, ..) => "up".to_owned(),
        (false, Some(left), _) => format!("down, left {} ago", Unit::Second.show(left)),
        (false, None, Some(silent)) => format!("down, silent for {}", Unit::Second.show(silent)),
        (false, None, None) => "down".to_owned(),
    };
    let sent = rate(peer.counts.sent_bytes, before.map(|other| other.counts.sent_bytes), elapsed);
    let received = rate(peer.counts.received_bytes, before.map(|other| other.counts.received_bytes), elapsed);
    let mut text = format!(
        "peer {}, {state}: sent {sent}, received {received}\n  queue {} packets, {} held for {} at most\n",
        peer.name,
        peer.trunk.queue_len,
        peer.trunk.held_len,
        Unit::Second.show(peer.trunk.hold_time.as_secs_f64())
    );
    if let Some(what) = &peer.waits_for {
        let _ = writeln!(text, "  waits for {what}");
    }
    if let Some(through) = &peer.through {
        let _ = writeln!(text, "  its packets go through {through}");
    }
    text.push_str(&identity(peer));
    text.push_str(&because("", peer.cause.as_ref(), peer.remedy.as_ref()));
    if !peer.members.is_empty() {
        text.push_str(&columns(&members(peer, before, elapsed)));
    }
    for member in &peer.members {
        text.push_str(&because(&format!("{}: ", member.name), member.cause.as_ref(), member.remedy.as_ref()));
    }
    let counts = [
        ("sent again", peer.trunk.counts.retransmissions),
        ("sent twice", peer.trunk.counts.duplicated),
        ("restored", peer.trunk.counts.restored),
        ("out of order", peer.trunk.counts.late),
        ("given up", peer.trunk.counts.holes),
        ("moved", peer.counts.moves),
        ("unvalidated", peer.counts.unvalidated),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}"));
    let said: Vec<String> =
        counts.chain(peer.drops.iter().map(|(name, count)| format!("dropped ({name}) {count}"))).collect();
    if !said.is_empty() {
        let _ = writeln!(text, "  {}", said.join(", "));
    }
    text
}

/// Irregularities of clocks and keys.
fn identity(peer: &PeerReport) -> String {
    let mut text = String::new();
    if let Some(clock) = &peer.clock_set_back {
        let of = if clock.whose == "ours" { "this host" } else { "the peer" };
        let _ = writeln!(text, "  the clock of {of} was set back by {}", Unit::Second.show(clock.by_s));
    }
    match peer.shared_key.as_deref() {
        Some("ours") => text.push_str("  another host uses the key of this one: each takes the other's session\n"),
        Some(_) => text.push_str("  another host uses the key of this peer: each takes the other's session\n"),
        None => {}
    }
    text
}

fn members(peer: &PeerReport, before: Option<&PeerReport>, elapsed: f64) -> Vec<Vec<String>> {
    let row = |member: &MemberReport| {
        let mut earlier = before.into_iter().flat_map(|before| &before.members);
        let earlier = earlier.find(|other| other.member == member.member);
        let counts = &member.counts;
        vec![
            member.name.clone(),
            member.remote.clone(),
            member.state.clone(),
            rate(counts.sent_bytes.as_u64(), earlier.map(|other| other.counts.sent_bytes.as_u64()), elapsed),
            rate(counts.received_bytes.as_u64(), earlier.map(|other| other.counts.received_bytes.as_u64()), elapsed),
            // Nothing was sent yet by which it could be measured.
            if counts.rate > BitRate::default() {
                Unit::BitPerSecond.show(counts.rate.as_bps() as f64)
            } else {
                "-".to_owned()
            },
            Unit::Second.show(counts.rtt_min.as_secs_f64()),
            Unit::Second.show(counts.rtt.as_secs_f64()),
            format!("{:.1} %", f64::from(counts.loss.0) / 1e4),
            counts.path_mtu.map_or_else(|| "-".to_owned(), |mtu| mtu.as_u64().to_string()),
            counts.in_flight.to_string(),
        ]
    };
    let words =
        ["link", "to", "state", "sent", "received", "can carry", "rtt least", "rtt", "loss", "path MTU", "in flight"];
    std::iter::once(head(&words)).chain(peer.members.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::converge::session::Refusal;

    #[test]
    fn every_refusal_is_said_in_words() {
        for one in Refusal::ALL {
            let words = refusal(one.name());
            assert!(words.contains(' ') || ["malformed", "repeated"].contains(&words), "{words}");
        }
    }
}
