//! Why something was refused, and how often.

/// Why a datagram or a frame was not accepted. None of these is answered, but for [`Self::NoCookie`] and
/// [`Self::Replayed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are fewer bytes than such a message has.
    Truncated,
    /// It says what cannot be.
    Malformed,
    /// It is of a version that this end does not speak, or offers none, or no suite.
    Version,
    /// Its sender does not know whom it speaks to: the outer check does not hold.
    Stranger,
    /// It does not show that it comes from where it says, and must: answered with a cookie, which is shorter.
    NoCookie,
    /// There are too many that have cookies, too, or too many of one peer, or more than wait for their turn.
    Overload,
    /// The static key that it shows is none of the peers'.
    UnknownPeer,
    /// It names no key that this end has (any more), and answers no message of its own.
    UnknownKey,
    /// It is a frame of our own that came back.
    Reflected,
    /// It was not sealed by the key that it names: changed on its way, by the wrong key, made up.
    Forged,
    /// It has come before. A first message whose stamp is older than the newest may be its peer's all the same, after a clock was set
    /// back: it is answered with the newest stamp.
    Replayed,
    /// It is so old that nobody can tell whether it has come before.
    Stale,
    /// Its key's time is over.
    Expired,
}

impl Refusal {
    /// All of them, in order.
    pub const ALL: [Self; 13] = [
        Self::Truncated,
        Self::Malformed,
        Self::Version,
        Self::Stranger,
        Self::NoCookie,
        Self::Overload,
        Self::UnknownPeer,
        Self::UnknownKey,
        Self::Reflected,
        Self::Forged,
        Self::Replayed,
        Self::Stale,
        Self::Expired,
    ];
}

/// What has been accepted and refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Handshake messages, or frames, that were accepted.
    pub accepted: u64,
    /// Handshake messages, or frames, that were sent.
    pub sent: u64,
    /// First messages of peers that were answered with the newest stamp.
    pub stamp_replies: u64,
    /// Such answers that were believed: our clock was behind.
    pub set_back: u64,
    refused: [u64; Refusal::ALL.len()],
}

impl Stats {
    /// How many were refused for this reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize]
    }
    /// How many were refused.
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }
    /// What two have counted.
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
    /// Counts one that is not accepted.
    pub fn refuse(&mut self, refusal: Refusal) {
        self.refused[refusal as usize] += 1;
    }
}
