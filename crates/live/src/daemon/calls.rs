//! The history of the attempts to reach a peer, to explain why there is no session.

use airbraid_engine::trunk::Member;
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The attempts to reach a peer.
#[derive(Debug, Default)]
pub struct Calls {
    /// The time since which it has not answered.
    pub since: Option<Instant>,
    /// The uplink of its last answer, and the time that the answer took.
    pub answer: Option<(usize, Duration)>,
    /// An answer could not be opened.
    pub is_unopened: bool,
    /// Time of the first call that it made and, though answered, did not continue.
    pub not_confirmed: Option<Instant>,
    /// The word of the cause that was reported last.
    pub told: Option<&'static str>,
    /// Our silent members, the beginning of their silence, and the word reported of each.
    pub quiet: BTreeMap<Member, (Instant, Option<&'static str>)>,
}

impl Calls {
    /// The peer is called.
    pub fn called(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// The peer has answered over an uplink.
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
