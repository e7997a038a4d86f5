//! What has become of the attempts to reach a peer, for those who ask why there is no session.

use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The attempts to reach a peer.
#[derive(Debug, Default)]
pub struct Calls {
    /// Since when it has not answered.
    pub since: Option<Instant>,
    /// Over which uplink it answered last, and how long that took.
    pub answer: Option<(usize, Duration)>,
    /// An answer could not be opened.
    pub is_unopened: bool,
    /// It has called, was answered, and has not come back since this.
    pub not_confirmed: Option<Instant>,
    /// The word of the cause that was told last.
    pub told: Option<&'static str>,
    /// Our members on which nothing comes, since when, and the word that was told of each.
    pub quiet: BTreeMap<Member, (Instant, Option<&'static str>)>,
}

impl Calls {
    /// It is called.
    pub fn called(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// It has answered over an uplink.
    pub fn answered(&mut self, now: Instant, uplink: usize) {
        self.is_unopened = false;
        if let Some(since) = self.since.take() {
            self.answer = Some((uplink, now.saturating_since(since)));
        }
    }

    /// There is a session.
    pub fn is_up(&mut self) {
        (self.since, self.not_confirmed, self.is_unopened, self.told) = (None, None, false, None);
    }
}
