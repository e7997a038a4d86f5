//! What the messages of a handshake and the header of a frame say. Their bytes are in [`crate::wire`].

use crate::trunk::Member;

/// Names a key to the end that chose the name: it is in every frame and every answer that this end is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(pub u32);

/// With what frames are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// ChaCha20-Poly1305 (RFC 8439): as fast on every processor.
    ChaCha20Poly1305,
    /// AES-256-GCM (NIST SP 800-38D): two and a half times as fast on processors that have instructions for it.
    Aes256Gcm,
}

impl Suite {
    /// All, as numbered in messages.
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
    /// What the initiator calls the key that is to be.
    pub sender: KeyId,
    /// Ephemeral key, sealed static key, sealed time stamp.
    pub noise: [u8; 104],
    /// Shows that the sender knows whom it speaks to.
    pub mac: [u8; 16],
    /// Shows that the sender is where it says; zeros if it has no cookie.
    pub cookie_mac: [u8; 16],
}

/// The second message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// What the initiator calls the key.
    pub receiver: KeyId,
    /// Ephemeral key, sealed choice (version, suite, the responder's name of the key).
    pub noise: [u8; 56],
    /// Shows that the sender knows whom it speaks to.
    pub mac: [u8; 16],
}

/// What is sent instead of a response by an end that has too much to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieReply {
    /// What the initiator calls the key.
    pub receiver: KeyId,
    /// Of the sealing.
    pub nonce: [u8; 12],
    /// The cookie and its tag.
    pub sealed: [u8; 32],
}

/// What is sent instead of a response to an end whose clock was set back: its time stamp is not newer than one that it has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StampReply {
    /// What the initiator calls the key that it does not get.
    pub receiver: KeyId,
    /// Ephemeral key, sealed newest stamp. It is longer than that of a response, so that neither can be taken for the other.
    pub noise: [u8; 60],
    /// Shows that the sender knows whom it speaks to.
    pub mac: [u8; 16],
}

/// Whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The host's: a packet, a beacon, whatever is carried.
    Data,
    /// The session's own: one byte, a [`Control`].
    Control,
}

/// What the two ends tell each other of a key, sealed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// From the initiator: I have the key. Repeated until it is answered.
    Confirm,
    /// From the responder: so have I.
    Confirmed,
    /// From either: I go, and this key and all before it are worth nothing any more.
    Farewell,
}

impl Control {
    /// As a byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Confirm => 1,
            Self::Confirmed => 2,
            Self::Farewell => 3,
        }
    }
    /// From a byte.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Confirm),
            2 => Some(Self::Confirmed),
            3 => Some(Self::Farewell),
            _ => None,
        }
    }
}

/// Length of the header of a frame \[byte\]: what follows it is aligned to four bytes.
pub const FRAME_HEADER_LEN: usize = 12;
/// Length of the tag behind a frame \[byte\] (both suites).
pub const TAG_LEN: usize = 16;
/// What sealing adds to a frame \[byte\].
pub const FRAME_OVERHEAD: usize = FRAME_HEADER_LEN + TAG_LEN;

/// The header of a sealed frame. It is authenticated with the frame, and the nonce is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whose frame it is.
    pub kind: FrameKind,
    /// The member link that carries it.
    pub member: Member,
    /// The key, by the receiver's name.
    pub key: KeyId,
    /// How many frames this key has sealed for this member before; below 2^48.
    pub counter: u64,
}
