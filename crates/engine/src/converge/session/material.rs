//! Keys, and the source of their randomness.

use crate::random::Stream;
use std::fmt;
use zeroize::Zeroize;

/// A host's source of randomness for keys: the operating system's in the daemon, a stream in the simulator.
pub trait Entropy {
    /// Fills `bytes` with numbers that no other can guess.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// A source for simulations, which must be repeatable. **Not for keys that are to be secret**: the stream can be
/// computed.
#[derive(Clone, Debug)]
pub struct Simulated(pub Stream);

impl Entropy for Simulated {
    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next_u64().to_be_bytes()[..chunk.len()]);
        }
    }
}

/// 32 secret bytes: never printed, wiped when dropped. They stay at one place in memory, so that moving the value
/// leaves no copies behind.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<[u8; 32]>);

impl Secret {
    /// The secret with these bytes.
    pub fn new(mut bytes: [u8; 32]) -> Self {
        let mut secret = Self(Box::new([0; 32]));
        secret.0.copy_from_slice(&bytes);
        bytes.zeroize();
        secret
    }
    /// Draws a new secret.
    pub fn draw(entropy: &mut impl Entropy) -> Self {
        let mut secret = Self(Box::new([0; 32]));
        entropy.fill(&mut secret.0[..]);
        secret
    }
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The public half of an X25519 key: the name of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);
