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

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: PathToken = [7; 8];
    /// Length of a challenge on the wire \[byte\].
    const LEN: u64 = 65;

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn begun(came: u64) -> Validation {
        let mut validation = Validation::default();
        validation.begin(at(1_000), TOKEN, 0);
        validation.on_came(came);
        validation
    }

    #[test]
    fn three_bytes_may_be_sent_for_each_that_came() {
        let mut validation = Validation::default();
        assert!(validation.allows(u64::MAX) && !validation.is_on_trial(), "a validated path has no limit");
        validation.on_sent(1);
        validation.begin(at(1_000), TOKEN, 100);
        assert!(!validation.allows(0), "100 byte went there before anything came");
        validation.on_came(40);
        assert!(validation.allows(20) && !validation.allows(21));
        validation.on_sent(15);
        validation.on_came(1);
        assert!(validation.allows(8) && !validation.allows(9));
    }

    #[test]
    fn challenges_come_at_growing_gaps_up_to_a_second_for_three_seconds() {
        let mut validation = begun(1_000);
        let mut gaps = vec![];
        let mut due = at(1_000);
        while let Some(token) = validation.challenge(due, LEN) {
            assert_eq!((token, validation.challenge(due, LEN)), (TOKEN, None));
            let next = validation.wake(LEN).expect("it is on trial");
            gaps.push((next - due).as_micros() / 1_000);
            due = next;
        }
        // 0.1, 0.2, 0.4, 0.8 and 1 s; the end is 0.5 s after that.
        assert_eq!((gaps, due), (vec![100, 200, 400, 800, 1_000, 500], at(4_000)));
        assert!(!validation.fail(at(3_999)) && !validation.has_failed());
        assert!(validation.fail(at(4_000)) && validation.has_failed());
        assert!(!validation.fail(at(4_000)), "once");
    }

    #[test]
    fn nothing_is_due_but_the_end_where_no_challenge_is_allowed() {
        let mut validation = begun(21);
        assert_eq!((validation.challenge(at(1_000), LEN), validation.wake(LEN)), (None, Some(at(4_000))));
        validation.on_came(1);
        assert_eq!(validation.wake(LEN), Some(at(1_000)));
    }

    #[test]
    fn a_further_place_keeps_the_estimates_of_the_validated_one() {
        let mut validation = begun(0);
        validation.trial.as_mut().expect("it is on trial").before = Some(Box::new(Path::new(Some(123_456))));
        validation.begin(at(2_000), [8; 8], 0);
        let trial = validation.trial.expect("it is on trial");
        assert_eq!((trial.token, trial.before.map(|before| before.rate())), ([8; 8], Some(123_456)));
    }
}
