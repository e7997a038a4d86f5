//! Path validation of one member (RFC 9000, sections 8.2 and 9.3): whoever holds a key may still write any source address into its
//! frames, so an address is not believed before a secret has come back from it.
//!
//! The host says when the newest frame of a member came from another place ([`super::Input::MemberMoved`]), with a token that nobody can
//! guess. From then on the tunnel sends path challenges with it on that member, and at most [`AMPLIFICATION`] times as many bytes, of all
//! frames together, as have come from there. The limit ends when the token has come back on the member, from that place. What other members
//! acknowledge changes nothing. Nothing is ever sent for a place from which nothing came.

use super::coded::Coded;
use super::frame::{Frame, PathToken};
use super::path::Path;
use super::sender::Sender;
use super::{Moved, Output};
use crate::trunk::Member;
use airbraid_units::{BitRate, Bytes, Duration, Instant};

/// So many bytes are sent for each that came (RFC 9000, section 8.1).
pub const AMPLIFICATION: u64 = 3;
/// A challenge is repeated after this: two round trips of most paths,
const GAP_FIRST: Duration = Duration::from_millis(100);
/// and then after twice as long, but never longer: one probe time-out before a round trip is known (RFC 9002, section 6.2.2).
const GAP_LAST: Duration = Duration::from_secs(1);
/// A path that has not answered by then is not the peer's: three probe time-outs (RFC 9000, section 8.2.4).
const PATIENCE: Duration = Duration::from_secs(3);

/// A path that is not validated.
#[derive(Debug)]
struct Trial {
    token: PathToken,
    /// Bytes that have come from there, and that were sent there, with what is around them.
    came: u64,
    sent: u64,
    challenge_at: Instant,
    gap: Duration,
    /// None once it has failed.
    until: Option<Instant>,
    /// What was known of the path before, if that was measured anew.
    before: Option<Box<Path>>,
}

/// Whether a member's path is validated, and what may be sent if it is not.
#[derive(Debug, Default)]
pub struct Validation {
    trial: Option<Trial>,
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
    /// Whether so many bytes may be sent.
    pub fn allows(&self, bytes: u64) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.sent + bytes <= AMPLIFICATION * trial.came)
    }
    /// So many bytes are sent.
    pub fn on_sent(&mut self, bytes: u64) {
        if let Some(trial) = &mut self.trial {
            trial.sent += bytes;
        }
    }
    /// So many bytes have come from there.
    pub fn on_came(&mut self, bytes: u64) {
        if let Some(trial) = &mut self.trial {
            trial.came += bytes;
        }
    }

    /// The path is another, of which nothing is known. What was held for the one before it is held for this.
    fn begin(&mut self, now: Instant, token: PathToken, sent: u64) {
        let before = self.trial.take().and_then(|trial| trial.before);
        let until = Some(now.saturating_add(PATIENCE));
        self.trial = Some(Trial { token, came: 0, sent, challenge_at: now, gap: GAP_FIRST, until, before });
    }

    /// The next challenge, of this length, if it is due and may be sent.
    fn challenge(&mut self, now: Instant, length: u64) -> Option<PathToken> {
        let may_be = self.allows(length);
        let trial = self.trial.as_mut().filter(|trial| may_be && trial.challenge_at <= now)?;
        trial.challenge_at = now.saturating_add(trial.gap);
        trial.gap = (trial.gap * 2).min(GAP_LAST);
        Some(trial.token)
    }

    /// Whether it fails now.
    fn fail(&mut self, now: Instant) -> bool {
        let due = self.trial.as_mut().filter(|trial| trial.until.is_some_and(|until| until <= now));
        due.is_some_and(|trial| trial.until.take().is_some())
    }

    /// When something of it is due, with challenges of this length.
    fn wake(&self, length: u64) -> Option<Instant> {
        let trial = self.trial.as_ref()?;
        let challenge = self.allows(length).then_some(trial.challenge_at);
        challenge.into_iter().chain(trial.until).min()
    }
}

impl<P: Coded> Sender<P> {
    /// A member's newest frame came from another place.
    pub(super) fn on_moved(&mut self, now: Instant, member: Member, moved: Moved) {
        let Some(index) = self.index_of(member) else { return };
        match moved {
            Moved::Unknown { token, is_rebinding } => {
                let end = &mut self.members[index];
                let is_first = !end.validation.is_on_trial();
                // What has left before anything came went there, too.
                let is_new = end.counted.received_bytes == Bytes::ZERO;
                let sent = if is_new { end.counted.sent_bytes.as_u64() } else { 0 };
                end.validation.begin(now, token, sent);
                if is_rebinding {
                    return;
                }
                // Another address is another path: what it carries is found out anew (RFC 9000, section 9.4).
                let fresh = Path::new(end.config.rate_cap.map(BitRate::as_bps));
                let known = std::mem::replace(&mut end.path, fresh);
                end.path.begin_with(end.ledger.next());
                end.begin(now);
                if let Some(trial) = end.validation.trial.as_mut().filter(|_| is_first) {
                    trial.before = Some(Box::new(known));
                }
            }
            Moved::Known => self.on_known(now, index),
        }
    }

    /// A member is where it was before, or where it was of late: that is validated.
    fn on_known(&mut self, now: Instant, index: usize) {
        let end = &mut self.members[index];
        let has_failed = end.validation.has_failed();
        let Some(trial) = end.validation.trial.take() else { return };
        if has_failed || trial.before.is_some() {
            end.begin(now);
        }
        if let Some(before) = trial.before {
            end.path = *before;
            end.path.resume(now);
        }
    }

    /// A challenge was answered on a member.
    pub(super) fn on_path_response(&mut self, now: Instant, index: usize, token: PathToken) {
        let end = &mut self.members[index];
        if end.validation.trial.as_ref().is_none_or(|trial| trial.token != token) {
            self.counts.strange += 1;
            return;
        }
        if end.validation.has_failed() {
            end.begin(now);
        }
        end.validation.trial = None;
        self.outputs.push_back(Output::Validated(end.id));
    }

    /// Sends the challenges that are due, and gives up the paths that have not answered.
    pub(super) fn validate_due(&mut self, now: Instant) {
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if !end.validation.is_on_trial() {
                continue;
            }
            let length = end.challenge_len();
            if let Some(token) = end.validation.challenge(now, length) {
                self.send_control(index, Frame::PathChallenge(token));
            }
            let end = &mut self.members[index];
            if end.validation.fail(now) {
                self.outputs.push_back(Output::NotValidated(end.id));
                self.suspect(now, index);
            }
        }
    }
}

impl super::member::MemberEnd {
    /// Length of a challenge on the wire.
    fn challenge_len(&self) -> u64 {
        self.on_wire(Bytes::new(crate::wire::TUNNEL_PATH_LEN as u64))
    }
    /// When its validation wants to go on.
    pub fn validation_at(&self) -> Option<Instant> {
        self.validation.wake(self.challenge_len())
    }
}
