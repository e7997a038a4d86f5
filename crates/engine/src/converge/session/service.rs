//! The interface between [`super::Sessions`] and its host.

use super::config::PeerConfig;
use super::material::Secret;
use super::message::{Control, KeyId, Suite};
use airbraid_units::{Duration, Instant};

/// A place that datagrams come from and go to: the address of the other end, an IPv6 address or a mapped IPv4 one, and more that the
/// host writes: its port, an interface, and the address of this end that the other one knows, say. An answer goes to the whole of the
/// place that the question came from, so it leaves from the address that was asked. A cookie is good for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub [u8; Self::LEN]);

impl Address {
    /// Its length: two IPv6 addresses, a port, an interface \[byte\].
    pub const LEN: usize = 36;
}

impl Default for Address {
    fn default() -> Self {
        Self([0; Self::LEN])
    }
}

/// The index of a peer in the configuration, or in the order of [`Input::PeerAdded`]. It is never used again: 2^32 peers may come and
/// go in one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerId(pub u32);

impl PeerId {
    /// The peer at this place.
    ///
    /// # Panics
    /// If there are 2^32 peers or more.
    pub fn at(index: usize) -> Self {
        let Ok(index) = u32::try_from(index) else { panic!("fewer than 2^32 peers") };
        Self(index)
    }
    /// The peer's place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who began the handshake that made a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This end.
    Initiator,
    /// The other.
    Responder,
}

/// Whose clock was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This end's.
    Ours,
    /// The peer's.
    Theirs,
}

/// The keys that a handshake has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keypair {
    /// Whom it is shared with.
    pub peer: PeerId,
    /// What this end calls it: what frames that come have in their header.
    pub ours: KeyId,
    /// What the other end calls it: what goes into the header of frames that are sent.
    pub theirs: KeyId,
    /// Seals what is sent.
    pub send: Secret,
    /// Opens what comes.
    pub receive: Secret,
    /// With what.
    pub suite: Suite,
    /// The version of the protocol that both speak.
    pub version: u8,
    /// This end's part.
    pub role: Role,
    /// When it stops being good for anything.
    pub expires: Instant,
}

/// Everything the world tells it.
#[derive(Clone, Debug)]
pub enum Input {
    /// There is something to send, or to come: a session with this peer is wanted.
    Connect(PeerId),
    /// Where a peer may be now.
    Addresses(PeerId, Vec<Address>),
    /// There is one more peer; its [`PeerId`] is how many there were before.
    PeerAdded(PeerConfig),
    /// This end goes: the peer is told, by all keys that it may open with. It can be told more than once, as what tells it may be lost.
    Farewell(PeerId),
    /// A peer is one no more: its keys are forgotten, and it is not answered. Its place stays taken.
    PeerRemoved(PeerId),
    /// A datagram that is no frame.
    Datagram {
        /// Where it came from.
        from: Address,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// A frame was opened with this key for the first time.
    Confirmed(PeerId, KeyId),
    /// A control frame was opened with this key.
    Control(PeerId, KeyId, Control),
    /// The key in use has sealed many frames: make a new one.
    Spent(PeerId),
    /// So much time has passed that the host's clock has not counted: keys are older than they seem, and are replaced now.
    StoodStill(Duration),
    /// This end may be a copy, or what it was before: every key is forgotten, for another may seal with it, and new ones are made.
    Renew,
}

/// Everything it asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// Where to.
        to: Address,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// Frames that name this key can be opened from now on.
    Install(Box<Keypair>),
    /// Seal with this key from now on (by our name).
    Use(PeerId, KeyId),
    /// Seal this control frame with this key and send it.
    Control(PeerId, KeyId, Control),
    /// This key opens nothing any more.
    Forget(PeerId, KeyId),
    /// The peer has answered what was sent to this place.
    Answered(PeerId, Address),
    /// What answers in the place of the peer cannot be opened: it has another secret beside (`psk`), or somebody else says something.
    Unopened(PeerId),
    /// There is a session now, and was none.
    Up(PeerId),
    /// There is none any more.
    Down(PeerId),
    /// There is none any more, because the peer has said that it goes.
    Left(PeerId),
    /// A clock is so far behind one that the peer was shown earlier, and the handshake goes on all the same: our own, or the peer's.
    SetBack {
        /// The peer.
        peer: PeerId,
        /// Whose clock it is.
        whose: Whose,
        /// How far: this much older than the newest stamp was the one that was refused.
        by: Duration,
    },
    /// In this life the peer has been shown newer stamps than ours, by our key: another host has it.
    Shared(PeerId),
    /// The peer has not answered for as long as an attempt lasts.
    Failed(PeerId),
}
