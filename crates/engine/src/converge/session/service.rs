//! The interface between [`super::Sessions`] and its host.

use super::address::Address;
use super::config::PeerConfig;
use super::material::Secret;
use super::message::{Control, KeyId, Suite};
use airbraid_units::{Duration, Instant};

/// The index of a peer in the configuration, or in the order of [`Input::PeerAdded`]. It is never reused: 2^32 peers
/// may come and go in one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerId(pub u32);

impl PeerId {
    /// # Panics
    /// If there are 2^32 peers or more.
    pub fn at(index: usize) -> Self {
        let Ok(index) = u32::try_from(index) else { panic!("fewer than 2^32 peers") };
        Self(index)
    }
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The side of the handshake that made a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Initiator,
    Responder,
}

/// The owner of a clock that was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Ours,
    Theirs,
}

/// The keys that a handshake has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keypair {
    /// The peer that shares it.
    pub peer: PeerId,
    /// This end's name for it, which received frames have in their header.
    pub ours: KeyId,
    /// The other end's name for it, which sent frames have in their header.
    pub theirs: KeyId,
    /// Seals sent frames.
    pub send: Secret,
    /// Opens received frames.
    pub receive: Secret,
    pub suite: Suite,
    /// The version of the protocol that both speak.
    pub version: u8,
    pub role: Role,
    /// The time at which it expires.
    pub expires: Instant,
}

/// Everything that the host tells the sessions.
#[derive(Clone, Debug)]
pub enum Input {
    /// There is something to send, or to receive: a session with this peer is wanted.
    Connect(PeerId),
    /// The possible addresses of a peer now.
    Addresses(PeerId, Vec<Address>),
    /// There is one more peer; its [`PeerId`] is the number of peers before.
    PeerAdded(PeerConfig),
    /// This end leaves: the peer is told, by all keys that it may open with. The host may repeat this, as the message
    /// may be lost.
    Farewell(PeerId),
    /// A peer is removed: its keys are forgotten, and it is not answered. Its index stays taken.
    PeerRemoved(PeerId),
    /// A datagram that is no frame.
    Datagram {
        /// Source.
        from: Address,
        bytes: Vec<u8>,
    },
    /// A frame was opened with this key for the first time.
    Confirmed(PeerId, KeyId),
    /// A control frame was opened with this key.
    Control(PeerId, KeyId, Control),
    /// The key in use has sealed many frames: make a new one.
    Spent(PeerId),
    /// Time has passed that the host's clock has not counted: keys are older than they seem, and are replaced now.
    StoodStill(Duration),
    /// This end may be a copy, or an earlier state of itself: every key is forgotten, for another host may seal with
    /// it, and new ones are made.
    Renew,
}

/// Everything that the sessions tell their host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// Destination.
        to: Address,
        bytes: Vec<u8>,
    },
    /// Frames that name this key can be opened from now on.
    Install(Box<Keypair>),
    /// Seal with this key from now on (by our name for it).
    Use(PeerId, KeyId),
    /// Seal this control frame with this key and send it.
    Control(PeerId, KeyId, Control),
    /// This key opens nothing any more.
    Forget(PeerId, KeyId),
    /// The peer has answered a message to this address.
    Answered(PeerId, Address),
    /// An answer in the place of the peer's cannot be opened: its sender has another pre-shared secret (`psk`), or is
    /// somebody else.
    Unopened(PeerId),
    /// A session has come up.
    Up(PeerId),
    /// The session has gone down.
    Down(PeerId),
    /// The session has gone down because the peer has left.
    Left(PeerId),
    /// A clock is behind one that the peer was shown earlier, and the handshake goes on all the same: our own, or the
    /// peer's.
    SetBack {
        peer: PeerId,
        /// The owner of the clock.
        whose: Whose,
        /// Difference of the refused stamp from the newest.
        by: Duration,
    },
    /// In this life the peer has been shown newer stamps than ours, by our key: another host has the key.
    Shared(PeerId),
    /// The peer has not answered for the duration of an attempt.
    Failed(PeerId),
}
