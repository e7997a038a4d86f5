//! Path validation of one member (RFC 9000, sections 8.2 and 9.3). The holder of a key may still write any source
//! address into its frames, so an address is not believed before a secret has come back from it.
//!
//! The host reports when the newest frame of a member came from another place ([`super::BondInput::MemberMoved`]), with
//! a random token. From then on the bond sends path challenges with it on that member, and in all frames together at
//! most [`AMPLIFICATION`] times as many bytes as have come from there. The limit ends when the token has come back on
//! the member, from that place. Acknowledgements on other members change nothing. Nothing is sent to a place from which
//! nothing came.

use super::frame::PathToken;
use super::path::Path;
use airbraid_units::{Duration, Instant};

/// Bytes that may be sent for each byte that came (RFC 9000, section 8.1).
pub const AMPLIFICATION: u64 = 3;
/// Time to the second challenge: two round trips of most paths;
const GAP_FIRST: Duration = Duration::from_millis(100);
/// it doubles up to this: one probe time-out before a round trip is known (RFC 9002, section 6.2.2).
const GAP_LAST: Duration = Duration::from_secs(1);
/// Time after which a path that has not answered is not the peer's: three probe time-outs (RFC 9000, section 8.2.4).
const PATIENCE: Duration = Duration::from_secs(3);

/// A path that is not validated.
#[derive(Debug)]
pub struct Trial {
    pub token: PathToken,
    /// Bytes that have come from there, and that were sent there, with what is around them.
    came: u64,
    sent: u64,
    challenge_at: Instant,
    gap: Duration,
    /// `None` once it has failed.
    until: Option<Instant>,
    /// The estimates of the path before, if it is measured from the beginning.
    pub before: Option<Box<Path>>,
}

/// The validation of a member's path, and the budget until then.
#[derive(Debug, Default)]
pub struct Validation {
    pub trial: Option<Trial>,
}

impl Validation {
    /// Whether the path is not validated.
    pub const fn is_on_trial(&self) -> bool {
        self.trial.is_some()
    }
    /// Whether it has not answered for too long.
    pub fn has_failed(&self) -> bool {
        self.trial.as_ref().is_some_and(|trial| trial.until.is_none())
    }
    /// Whether this many bytes may be sent.
    pub fn allows(&self, bytes: u64) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.sent + bytes <= AMPLIFICATION * trial.came)
    }
    /// Counts bytes that are sent.
    pub fn on_sent(&mut self, bytes: u64) {
        if let Some(trial) = &mut self.trial {
            trial.sent += bytes;
        }
    }
    /// Counts bytes that have come from there.
    pub fn on_came(&mut self, bytes: u64) {
        if let Some(trial) = &mut self.trial {
            trial.came += bytes;
        }
    }

    /// Begins with an unknown path. Estimates that are kept for the path before are kept on.
    pub fn begin(&mut self, now: Instant, token: PathToken, sent: u64) {
        let before = self.trial.take().and_then(|trial| trial.before);
        let until = Some(now.saturating_add(PATIENCE));
        self.trial = Some(Trial { token, came: 0, sent, challenge_at: now, gap: GAP_FIRST, until, before });
    }

    /// The next challenge, of this length, if it is due and may be sent.
    pub fn challenge(&mut self, now: Instant, length: u64) -> Option<PathToken> {
        let may_be = self.allows(length);
        let trial = self.trial.as_mut().filter(|trial| may_be && trial.challenge_at <= now)?;
        trial.challenge_at = now.saturating_add(trial.gap);
        trial.gap = (trial.gap * 2).min(GAP_LAST);
        Some(trial.token)
    }

    /// Whether it fails now.
    pub fn fail(&mut self, now: Instant) -> bool {
        let due = self.trial.as_mut().filter(|trial| trial.until.is_some_and(|until| until <= now));
        due.is_some_and(|trial| trial.until.take().is_some())
    }

    /// Time of its next step, with challenges of this length.
    pub fn wake(&self, length: u64) -> Option<Instant> {
        let trial = self.trial.as_ref()?;
        let challenge = self.allows(length).then_some(trial.challenge_at);
        challenge.into_iter().chain(trial.until).min()
    }
}
