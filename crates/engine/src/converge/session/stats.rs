//! Refusals and their counts.

use airbraid_units::named_enum;

named_enum! {
    /// Why a datagram or a frame was not accepted. None of these is answered, but for [`Self::NoCookie`] and
    /// [`Self::Replayed`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// There are fewer bytes than such a message has.
        Truncated = "truncated",
        /// It says what cannot be.
        Malformed = "malformed",
        /// It is of a version that this end does not speak, or offers none, or no suite.
        Version = "version",
        /// Its sender does not know whom it speaks to: the outer check does not hold.
        Stranger = "stranger",
        /// It does not show that it comes from where it says, and must: answered with a cookie, which is shorter.
        NoCookie = "nocookie",
        /// There are too many that have cookies, too, or too many of one peer, or more than wait for their turn.
        Overload = "overload",
        /// The static key that it shows is none of the peers'.
        UnknownPeer = "unknownpeer",
        /// It names no key that this end has (any more), and answers no message of its own.
        UnknownKey = "unknownkey",
        /// It is a frame of our own that came back.
        Reflected = "reflected",
        /// It was not sealed by the key that it names: changed on its way, by the wrong key, made up.
        Forged = "forged",
        /// It has come before. A first message whose stamp is older than the newest may be its peer's all the same,
        /// after a clock was set back: it is answered with the newest stamp.
        Replayed = "replayed",
        /// It is so old that nobody can tell whether it has come before.
        Stale = "stale",
        /// Its key's time is over.
        Expired = "expired",
    }
}

/// Counts of accepted and refused messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Handshake messages, or frames, accepted.
    pub accepted: u64,
    /// Handshake messages, or frames, sent.
    pub sent: u64,
    /// First messages of peers answered with the newest stamp.
    pub stamp_replies: u64,
    /// Such answers that were accepted: our clock was behind.
    pub set_back: u64,
    refused: [u64; Refusal::COUNT],
}

impl Stats {
    /// Number of refusals for this reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize]
    }
    /// Number of all refusals.
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }
    /// Returns the sum of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut refused = self.refused;
        refused.iter_mut().zip(other.refused).for_each(|(all, more)| *all += more);
        Self {
            accepted: self.accepted + other.accepted,
            sent: self.sent + other.sent,
            stamp_replies: self.stamp_replies + other.stamp_replies,
            set_back: self.set_back + other.set_back,
            refused,
        }
    }
    pub fn refuse(&mut self, refusal: Refusal) {
        self.refused[refusal as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_parts_add_up_for_each_reason() {
        let mut one = Stats { accepted: 1, sent: 2, stamp_replies: 3, set_back: 4, ..Stats::default() };
        let mut other = one.clone();
        one.refuse(Refusal::Forged);
        (0..3).for_each(|_| other.refuse(Refusal::Forged));
        other.refuse(Refusal::Stale);
        let sum = one.and(&other);
        assert_eq!((sum.accepted, sum.sent, sum.stamp_replies, sum.set_back), (2, 4, 6, 8));
        let refused = [Refusal::Forged, Refusal::Stale, Refusal::Expired].map(|reason| sum.refused(reason));
        assert_eq!((refused, sum.refused_total()), ([4, 1, 0], 5));
    }
}
