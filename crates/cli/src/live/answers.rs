//! The final report of `airbraid up`: peers that have answered, their links and times, and the reasons of the others.

use super::ended;
use crate::print::{Ended, out};
use airbraid_live::daemon::{self, PeerReport, Question, Status};
use airbraid_sim::metric::Unit;
use std::time::Duration;

/// Interval of the checks.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for which a link is waited for after its peer has answered over another: two round trips of a slow one.
const GRACE: Duration = Duration::from_millis(500);
/// Largest number of peers in the report; a hub has thousands.
const SAID: usize = 8;

/// Waits for an answer of each peer that has an endpoint, over each open uplink, and reports the result. Silence is no
/// error: the daemon goes on trying.
///
/// # Errors
/// The daemon has ended.
pub fn wait(name: &str, patience: Duration) -> Result<(), Ended> {
    let looks = |time: Duration| time.as_millis() / PAUSE.as_millis();
    // Looks since all have answered.
    let mut since_all = 0;
    for look in 0..=looks(patience) {
        if patience.is_zero() {
            break;
        }
        let answer = daemon::ask(name, &Question::Status).map_err(ended)?;
        let status: Status = serde_json::from_str(&answer)
            .map_err(|error| Ended::Failed(format!("{name} speaks otherwise: {error}")))?;
        let called = || status.peers.iter().filter(|peer| peer.called);
        let is_heard = |peer: &PeerReport| peer.members.iter().all(|member| member.silent_s.is_some());
        let are_up = called().all(|peer| peer.up);
        since_all += u128::from(are_up);
        if are_up && called().all(is_heard) || since_all > looks(GRACE) || look == looks(patience) {
            return out(&said(&status));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

fn said(status: &Status) -> String {
    let mut text = String::new();
    for uplink in &status.uplinks {
        if let Some(remedy) = &uplink.remedy {
            text.push_str(&format!("uplink {}: {remedy}\n", uplink.name));
        }
    }
    let called: Vec<&PeerReport> = status.peers.iter().filter(|peer| peer.called).collect();
    for peer in called.iter().take(SAID) {
        text.push_str(&if peer.up { answered(peer) } else { silent(peer) });
    }
    let others = called.len().saturating_sub(SAID);
    if others > 0 {
        let up = called.iter().skip(SAID).filter(|peer| peer.up).count();
        text.push_str(&format!("and {up} of {others} others have answered\n"));
    }
    text
}

/// `hub answered over dsl, lte in 40 ms`.
fn answered(peer: &PeerReport) -> String {
    let names = |is_heard: bool| {
        let members = peer.members.iter().filter(|member| member.silent_s.is_some() == is_heard);
        members.map(|member| member.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("{} answered", peer.name);
    let (over, not_yet) = (names(true), names(false));
    if !over.is_empty() {
        text.push_str(&format!(" over {over}"));
    }
    if let Some(took) = peer.answered_s {
        // The digits of a stopwatch.
        text.push_str(&format!(" in {}", Unit::Second.show((took * 1e3).ceil() / 1e3)));
    }
    if !not_yet.is_empty() {
        text.push_str(&format!(", not yet over {not_yet}"));
    }
    text + "\n"
}

fn silent(peer: &PeerReport) -> String {
    let why = match (&peer.remedy, &peer.waits_for) {
        (Some(remedy), _) => remedy.clone(),
        (None, Some(what)) => format!("it waits for {what}"),
        (None, None) => "nothing has come back".to_owned(),
    };
    format!("{} has not answered, and the daemon goes on trying: {why}\n", peer.name)
}
