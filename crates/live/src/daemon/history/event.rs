//! Events: what has changed between two looks, with its cause. A look comes once a second.
//!
//! It compares reports, as `airbraid status` shows them, and knows nothing else of the daemon.

use crate::daemon::status::{MemberReport, PeerReport, UplinkReport};
use airbraid_engine::trunk::bonding::MemberState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Longest text of an event \[byte\]: the remedies of causes have up to some 300.
const TEXT_MAX: usize = 480;

/// Something that has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Time of day \[s since 1970\].
    pub time_s: u32,
    /// A word for programs: `link-down`. `docs/reference/daemon.md` lists them.
    pub what: String,
    /// The peer, the uplink or the link that it is about; of a link the name, and its peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// A sentence for people.
    pub text: String,
    /// The cause as a word, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl Event {
    /// An event of the daemon as a whole.
    pub fn new(time_s: u32, what: &str, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        let end = (0..=TEXT_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        Self { time_s, what: what.to_owned(), text, ..Self::default() }
    }

    fn because(mut self, cause: Option<&String>) -> Self {
        self.cause = cause.cloned();
        self
    }
}

#[derive(Debug)]
struct SeenUplink {
    state: String,
    cause: Option<String>,
    remedy: Option<String>,
}

#[derive(Debug)]
struct SeenMember {
    name: String,
    uplink: String,
    remote: String,
    state: String,
    /// Time of day at which it came into this state \[s since 1970\].
    since_s: u32,
    suspicions: u64,
    cause: Option<String>,
}

#[derive(Debug, Default)]
struct SeenPeer {
    is_up: bool,
    cause: Option<String>,
    shared_key: Option<String>,
    members: BTreeMap<u8, SeenMember>,
}

/// The state at the last look.
#[derive(Debug, Default)]
pub struct Watch {
    uplinks: BTreeMap<String, SeenUplink>,
    peers: BTreeMap<String, SeenPeer>,
}

impl Watch {
    /// Looks at the uplinks, before the peers, whose links may be gone with one.
    pub fn look_at_uplinks(&mut self, time_s: u32, reports: &[UplinkReport]) -> Vec<Event> {
        let mut events = Vec::new();
        for report in reports {
            let name = &report.name;
            let now =
                SeenUplink { state: report.state.clone(), cause: report.cause.clone(), remedy: report.remedy.clone() };
            let before = self.uplinks.insert(name.clone(), now);
            let is_same = before.is_some_and(|before| before.state == report.state && before.cause == report.cause);
            if is_same {
                continue;
            }
            let device = report.device.as_deref().unwrap_or("all interfaces");
            let why = report.remedy.as_ref().map_or_else(String::new, |remedy| format!(": {remedy}"));
            let (what, text) = match report.state.as_str() {
                "open" => ("uplink-open", format!("uplink {name} is open on {device}{why}")),
                "off" => ("uplink-off", format!("uplink {name} is switched off")),
                _ => ("uplink-away", format!("uplink {name} is away{why}")),
            };
            let event = Event::new(time_s, what, text).because(report.cause.as_ref());
            events.push(Event { uplink: Some(name.clone()), ..event });
        }
        events
    }

    /// Looks at a peer and its links.
    pub fn look_at_peer(&mut self, time_s: u32, report: &PeerReport) -> Vec<Event> {
        let seen = self.peers.entry(report.name.clone()).or_default();
        let mut events = of_session(time_s, seen, report);
        let mut before = std::mem::take(&mut seen.members);
        for member in &report.members {
            let earlier = before.remove(&member.member);
            events.extend(of_member(time_s, earlier.as_ref(), member));
            let is_same = earlier.as_ref().is_some_and(|earlier| earlier.state == member.state);
            let since_s = earlier.filter(|_| is_same).map_or(time_s, |earlier| earlier.since_s);
            seen.members.insert(member.member, SeenMember::new(member, since_s));
        }
        for gone in before.into_values() {
            events.push(of_gone(time_s, &gone, self.uplinks.get(&gone.uplink)));
        }
        events.into_iter().map(|event| Event { peer: Some(report.name.clone()), ..event }).collect()
    }

    /// Forgets peers that are not among these any more.
    pub fn keep_peers(&mut self, names: &BTreeSet<&str>) {
        self.peers.retain(|name, _| names.contains(name.as_str()));
    }
}

impl SeenMember {
    fn new(report: &MemberReport, since_s: u32) -> Self {
        Self {
            name: report.name.clone(),
            uplink: report.uplink.clone(),
            remote: report.remote.clone(),
            state: report.state.clone(),
            since_s,
            suspicions: report.counts.suspicions,
            cause: report.cause.clone(),
        }
    }
}

/// The events of a peer's session.
fn of_session(time_s: u32, seen: &mut SeenPeer, report: &PeerReport) -> Vec<Event> {
    let name = &report.name;
    let mut events = Vec::new();
    let was_up = std::mem::replace(&mut seen.is_up, report.up);
    let cause_before = std::mem::replace(&mut seen.cause, report.cause.clone());
    let shared_before = std::mem::replace(&mut seen.shared_key, report.shared_key.clone());
    if report.up && !was_up {
        let how = match report.answered_s.filter(|_| report.called) {
            Some(took) => format!("it answered after {}", seconds(took)),
            None if report.called => "it answered".to_owned(),
            None => "it called".to_owned(),
        };
        events.push(Event::new(time_s, "session-up", format!("session with {name}: {how}")));
    }
    if was_up && !report.up {
        let why = match (report.left_s, report.silent_s) {
            (Some(_), _) => "it said that it leaves".to_owned(),
            (None, Some(silent)) => format!("nothing has come from it for {}", seconds(silent)),
            (None, None) => {
                report.waits_for.as_ref().map_or_else(|| "it has ended".to_owned(), |what| format!("waits for {what}"))
            }
        };
        events.push(Event::new(time_s, "session-down", format!("no session with {name}: {why}")));
    }
    if let (Some(cause), Some(remedy)) = (&report.cause, &report.remedy)
        && cause_before.as_ref() != Some(cause)
    {
        events.push(Event::new(time_s, "cause", format!("{name}: {remedy}")).because(Some(cause)));
    }
    if let Some(whose) = report.shared_key.as_deref().filter(|_| shared_before.is_none()) {
        let of = if whose == "ours" { "this one" } else { "the peer" };
        let text = format!("another host uses the key of {of}: each takes the other's session");
        events.push(Event::new(time_s, "key-shared", text));
    }
    events
}

/// The events of a link that is there.
fn of_member(time_s: u32, before: Option<&SeenMember>, report: &MemberReport) -> Vec<Event> {
    let name = &report.name;
    let why = report.remedy.as_ref().map_or_else(String::new, |remedy| format!(": {remedy}"));
    let mut events = Vec::new();
    let is = |state: MemberState| report.state == state.name();
    let was = |state: MemberState| before.is_some_and(|before| before.state == state.name());
    if before.is_none_or(|before| before.state != report.state) {
        if is(MemberState::Active) {
            let down = before.map(|before| time_s.saturating_sub(before.since_s));
            let text = match down {
                Some(down) if was(MemberState::Suspected) => {
                    format!("{name} works again, after {}", seconds(f64::from(down)))
                }
                _ => format!("{name} works, to {}", report.remote),
            };
            events.push(Event::new(time_s, "link-up", text));
        } else if is(MemberState::Suspected) {
            let silent = report.silent_s.map_or_else(String::new, |silent| format!(" for {}", seconds(silent)));
            let text = format!("{name} is down: nothing has come back{silent}{why}");
            events.push(Event::new(time_s, "link-down", text).because(report.cause.as_ref()));
        } else if is(MemberState::Exhausted) {
            let quota = report.quota_bytes.map_or_else(String::new, |quota| format!(" of {quota} byte"));
            events.push(Event::new(time_s, "quota-spent", format!("{name} has carried its quota{quota}")));
        } else if before.is_none() {
            events.push(Event::new(time_s, "link-new", format!("{name} is tried, to {}", report.remote)));
        }
    }
    if let Some(before) = before {
        if is(MemberState::Active) && was(MemberState::Active) && report.counts.suspicions > before.suspicions {
            let text = format!("{name} was silent for less than a second, and works again");
            events.push(Event::new(time_s, "link-down", text));
        }
        if before.remote != report.remote {
            let text = format!("{name}: the peer has moved from {} to {}", before.remote, report.remote);
            events.push(Event::new(time_s, "link-moved", text));
        }
        // A link that is down says it already.
        let is_told = events.iter().any(|event| event.cause.is_some());
        if report.cause.is_some() && before.cause != report.cause && !is_told {
            events.push(Event::new(time_s, "cause", format!("{name}{why}")).because(report.cause.as_ref()));
        }
    }
    events.into_iter().map(|event| Event { link: Some(name.clone()), ..event }).collect()
}

/// The event of a link that is no more.
fn of_gone(time_s: u32, gone: &SeenMember, uplink: Option<&SeenUplink>) -> Event {
    let uplink = uplink.filter(|uplink| uplink.state != "open");
    let why = match uplink.map(|uplink| (uplink.state.as_str(), &uplink.remedy)) {
        Some(("off", _)) => format!(": uplink {} is switched off", gone.uplink),
        Some((_, Some(remedy))) => format!(": {remedy}"),
        Some((state, None)) => format!(": uplink {} is {state}", gone.uplink),
        None => String::new(),
    };
    let event = Event::new(time_s, "link-gone", format!("{} is gone{why}", gone.name));
    let event = event.because(uplink.and_then(|uplink| uplink.cause.as_ref()));
    Event { link: Some(gone.name.clone()), ..event }
}

/// A time for people, with the digits of a stopwatch.
fn seconds(time: f64) -> String {
    match time {
        ..1.0 => format!("{:.0} ms", (time * 1e3).ceil()),
        ..120.0 => format!("{time:.0} s"),
        ..7_200.0 => format!("{:.0} min", time / 60.0),
        _ => format!("{:.0} h", time / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(state: MemberState, remote: &str) -> MemberReport {
        MemberReport {
            uplink: "lte".to_owned(),
            name: "lte".to_owned(),
            remote: remote.to_owned(),
            state: state.name().to_owned(),
            ..MemberReport::default()
        }
    }

    fn peer(up: bool, members: Vec<MemberReport>) -> PeerReport {
        PeerReport { name: "hub".to_owned(), up, members, ..PeerReport::default() }
    }

    fn uplink(state: &str, remedy: Option<&str>) -> UplinkReport {
        UplinkReport {
            name: "lte".to_owned(),
            state: state.to_owned(),
            cause: remedy.map(|_| "device-down".to_owned()),
            remedy: remedy.map(str::to_owned),
            ..UplinkReport::default()
        }
    }

    fn words(events: &[Event]) -> Vec<&str> {
        events.iter().map(|event| event.what.as_str()).collect()
    }

    #[test]
    fn a_link_that_goes_down_and_comes_back_is_told_with_the_cause_and_the_time() {
        let mut watch = Watch::default();
        let mut active = peer(true, vec![member(MemberState::Active, "192.0.2.1:5182")]);
        active.called = true;
        active.answered_s = Some(0.04);
        let begun = watch.look_at_peer(10, &active);
        assert_eq!(words(&begun), ["session-up", "link-up"]);
        assert_eq!(begun[0].text, "session with hub: it answered after 40 ms");
        assert_eq!((begun[1].peer.as_deref(), begun[1].link.as_deref()), (Some("hub"), Some("lte")));
        assert_eq!(watch.look_at_peer(11, &active), []);
        let mut silent = member(MemberState::Suspected, "192.0.2.1:5182");
        silent.silent_s = Some(1.2);
        let down = watch.look_at_peer(12, &peer(true, vec![silent.clone()]));
        assert_eq!(words(&down), ["link-down"]);
        assert_eq!(down[0].text, "lte is down: nothing has come back for 1 s");
        // The network's answer comes later.
        silent.cause = Some("unreachable".to_owned());
        silent.remedy = Some("a router says no".to_owned());
        let why = watch.look_at_peer(14, &peer(true, vec![silent.clone()]));
        assert_eq!(words(&why), ["cause"]);
        assert_eq!((why[0].text.as_str(), why[0].cause.as_deref()), ("lte: a router says no", Some("unreachable")));
        assert_eq!(watch.look_at_peer(15, &peer(true, vec![silent])), []);
        let back = watch.look_at_peer(57, &active);
        assert_eq!(back[0].text, "lte works again, after 45 s");
    }

    #[test]
    fn a_link_whose_uplink_is_gone_names_the_uplinks_cause() {
        let mut watch = Watch::default();
        watch.look_at_uplinks(1, &[uplink("open", None)]);
        watch.look_at_peer(1, &peer(true, vec![member(MemberState::Active, "192.0.2.1:5182")]));
        let away = watch.look_at_uplinks(2, &[uplink("away", Some("lte is down or has no carrier"))]);
        assert_eq!((words(&away), away[0].cause.as_deref()), (vec!["uplink-away"], Some("device-down")));
        let gone = watch.look_at_peer(2, &peer(true, Vec::new()));
        assert_eq!(gone[0].text, "lte is gone: lte is down or has no carrier");
        assert_eq!(gone[0].cause.as_deref(), Some("device-down"));
    }

    #[test]
    fn what_lasts_less_than_a_second_shows_in_the_counts() {
        let mut watch = Watch::default();
        let mut active = member(MemberState::Active, "192.0.2.1:5182");
        watch.look_at_peer(1, &peer(true, vec![active.clone()]));
        active.counts.suspicions = 1;
        let events = watch.look_at_peer(2, &peer(true, vec![active]));
        assert_eq!(events[0].text, "lte was silent for less than a second, and works again");
    }

    #[test]
    fn a_peer_that_moves_leaves_or_is_silent_is_told_as_such() {
        let mut watch = Watch::default();
        watch.look_at_peer(1, &peer(true, vec![member(MemberState::Active, "192.0.2.1:5182")]));
        let moved = watch.look_at_peer(2, &peer(true, vec![member(MemberState::Active, "198.51.100.7:99")]));
        assert_eq!(moved[0].text, "lte: the peer has moved from 192.0.2.1:5182 to 198.51.100.7:99");
        let mut left = peer(false, Vec::new());
        left.left_s = Some(0.1);
        let events = watch.look_at_peer(3, &left);
        assert_eq!(words(&events), ["session-down", "link-gone"]);
        assert_eq!(events[0].text, "no session with hub: it said that it leaves");
        watch.look_at_peer(4, &peer(true, Vec::new()));
        let mut silent = peer(false, Vec::new());
        silent.silent_s = Some(30.0);
        assert_eq!(watch.look_at_peer(5, &silent)[0].text, "no session with hub: nothing has come from it for 30 s");
    }

    #[test]
    fn a_spent_quota_is_an_event() {
        let mut watch = Watch::default();
        watch.look_at_peer(1, &peer(true, vec![member(MemberState::Active, "192.0.2.1:5182")]));
        let mut spent = member(MemberState::Exhausted, "192.0.2.1:5182");
        spent.quota_bytes = Some(1_000);
        let events = watch.look_at_peer(2, &peer(true, vec![spent]));
        assert_eq!(
            (words(&events), events[0].text.as_str()),
            (vec!["quota-spent"], "lte has carried its quota of 1000 byte")
        );
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let event = Event::new(1, "cause", "ü".repeat(400));
        assert_eq!(event.text, "ü".repeat(TEXT_MAX / 2));
    }
}
