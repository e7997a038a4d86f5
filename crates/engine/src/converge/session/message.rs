//! The fields of handshake messages and of a frame's header. Their bytes are in [`crate::wire`].

use crate::trunk::Member;

/// Names a key to the end that chose the name: it is in every frame and every answer to this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub u32);

/// The cipher suite of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// ChaCha20-Poly1305 (RFC 8439): as fast on every processor.
    ChaCha20Poly1305,
    /// AES-256-GCM (NIST SP 800-38D): two and a half times as fast on processors that have instructions for it.
    Aes256Gcm,
}

impl Suite {
    /// All suites, as numbered in messages.
    pub const ALL: [Self; 2] = [Self::ChaCha20Poly1305, Self::Aes256Gcm];

    /// Its bit in an offer.
    pub const fn bit(self) -> u8 {
        match self {
            Self::ChaCha20Poly1305 => 1,
            Self::Aes256Gcm => 2,
        }
    }
}

/// The first message of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initiation {
    /// The oldest and the newest version of the protocol that the initiator speaks.
    pub versions: (u8, u8),
    /// Bits of the [`Suite`]s that it can use.
    pub suites: u8,
    /// The initiator's name for the future key.
    pub sender: KeyId,
    /// Ephemeral key, sealed static key, sealed time stamp.
    pub noise: [u8; 104],
    /// Proves that the sender knows the receiver's public key.
    pub mac: [u8; 16],
    /// Proves that the sender is at its claimed address; zeros without a cookie.
    pub cookie_mac: [u8; 16],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The initiator's name for the key.
    pub receiver: KeyId,
    /// Ephemeral key, sealed choice (version, suite, the responder's name for the key).
    pub noise: [u8; 56],
    /// Proves that the sender knows the receiver's public key.
    pub mac: [u8; 16],
}

/// The message that an end under load sends instead of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieReply {
    /// The initiator's name for the key.
    pub receiver: KeyId,
    /// The nonce of the sealing.
    pub nonce: [u8; 12],
    /// The cookie and its tag.
    pub sealed: [u8; 32],
}

/// The message sent instead of a response to an end whose clock was set back: its time stamp is not newer than one that
/// it has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StampReply {
    /// The initiator's name for the key that it does not get.
    pub receiver: KeyId,
    /// Ephemeral key, sealed newest stamp. It is longer than that of a response, so that neither can be taken for the
    /// other.
    pub noise: [u8; 60],
    /// Proves that the sender knows the receiver's public key.
    pub mac: [u8; 16],
}

/// The owner of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The host's: a packet, a beacon, any payload.
    Data,
    /// The session's own: one byte, a [`Control`].
    Control,
}

/// The messages between the two ends about a key, sealed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// From the initiator: I have the key. Retransmitted until it is answered.
    Confirm,
    /// From the responder: I have it, too.
    Confirmed,
    /// From either: I leave, and this key and all before it are void.
    Farewell,
}

impl Control {
    pub const fn byte(self) -> u8 {
        match self {
            Self::Confirm => 1,
            Self::Confirmed => 2,
            Self::Farewell => 3,
        }
    }
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Confirm),
            2 => Some(Self::Confirmed),
            3 => Some(Self::Farewell),
            _ => None,
        }
    }
}

/// Length of the header of a frame \[byte\]: the bytes after it are aligned to four.
pub const FRAME_HEADER_LEN: usize = 12;
/// Length of the tag behind a frame \[byte\] (both suites).
pub const TAG_LEN: usize = 16;
/// Length that sealing adds to a frame \[byte\].
pub const FRAME_OVERHEAD: usize = FRAME_HEADER_LEN + TAG_LEN;

/// The header of a sealed frame. It is authenticated with the frame, and the nonce is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    pub kind: FrameKind,
    /// The member link that carries it.
    pub member: Member,
    /// The key, by the receiver's name.
    pub key: KeyId,
    /// Number of frames that this key has sealed for this member before; below 2^48.
    pub counter: u64,
}
