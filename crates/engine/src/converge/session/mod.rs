//! Link security: it authenticates the other end, and protects traffic from being read, changed or replayed by others.
//!
//! After Noise (revision 34) with the pattern IKpsk2 and the message flow of WireGuard (Donenfeld 2017, section 5);
//! what differs, and why, is in `docs/decisions/0006-link-security.md`. The paper's own proposal (section 4.2: a master
//! key and three messages) is superseded.
//!
//! Use by a host:
//!
//! 1. One [`Sessions`] holds the identity of this end and its [`PeerConfig`]s. Datagrams whose first byte says that
//!    they are of a handshake go in as [`Input::Datagram`], what comes out is sent. A host that has other work on the
//!    same thread asks a [`Gate`] first, which refuses at a constant price what is not worth a step.
//! 2. One [`Keyring`] has the keys. The host carries [`Output::Install`], [`Output::Use`] and [`Output::Forget`] to it,
//!    and seals and opens frames with it, without a step of the machine.
//! 3. The ring's findings go back: [`Opened::is_first`] as [`Input::Confirmed`], control frames as [`Input::Control`],
//!    [`Sealed::is_spent`] as [`Input::Spent`]. A peer that moved is told by [`Opened::is_newest`]: authenticated, and
//!    not an old frame that came by another way.
//! 4. [`Input::Farewell`] tells a peer that this end goes, [`Output::Left`] that the peer has gone.
//!
//! Work on bytes goes through the port [`Codec`]: [`Aead`] seals buffers, [`Account`] descriptors; a test holds
//! them together. Randomness for keys comes from the host's [`Entropy`]; it never draws any of its own, has no clock,
//! and never answers a datagram with more bytes than it brought.

mod address;
mod admission;
mod callers;
mod codec;
mod config;
mod cookie;
mod gate;
mod keyring;
mod material;
mod message;
mod noise;
mod peer;
mod replay;
mod roster;
mod service;
mod sessions;
mod stamps;
mod stats;
mod wiped;

pub use address::Address;
pub use callers::{Caller, Callers};
pub use codec::{Account, Aead, AeadKey, Codec, Descriptor, Proof};
pub use config::{Config, PeerConfig, Timing};
pub use gate::Gate;
pub use keyring::{Keyring, Limits, Opened, Reserved, SealRefusal, Sealed};
pub use material::{Entropy, PublicKey, Secret, Simulated};
pub use message::{
    Control, CookieReply, FRAME_HEADER_LEN, FRAME_OVERHEAD, FrameHeader, FrameKind, Initiation, KeyId, Response,
    StampReply, Suite, TAG_LEN,
};
pub use noise::public_key;
pub use replay::{ReplayWindow, WINDOW};
pub use service::{Input, Keypair, Output, PeerId, Role, Whose};
pub use sessions::Sessions;
pub use stats::{Refusal, Stats};

/// The Noise protocol of the handshake.
pub const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
