//! The gate: a host's check of a datagram before anything is stepped, or handed to another thread, for its sake. It
//! takes constant work, whatever the number of peers, and keeps no state that a stranger can make grow.

use super::cookie::Door;
use super::keyring::refusal;
use super::material::PublicKey;
use super::message::KeyId;
use super::stats::{Refusal, Stats};
use crate::wire::{SessionMessage, parse_session};
use airbraid_units::{Duration, Instant};
use std::collections::BTreeSet;

/// Time for which an answer to our message is accepted at least: the three attempts that are open at a time are sent
/// within 20 s.
const AWAITED: Duration = Duration::from_secs(30);

/// Refuses datagrams that [`super::Sessions`] would refuse without looking at a peer.
#[derive(Debug)]
pub struct Gate {
    door: Door,
    /// Key names of our first messages: those since a time, and those before. Bounded by the messages that this end
    /// sends.
    awaited: [BTreeSet<KeyId>; 2],
    since: Instant,
    stats: Stats,
}

impl Gate {
    /// A gate for the end with this public key.
    pub fn new(public: &PublicKey) -> Self {
        Self { door: Door::new(public), awaited: Default::default(), since: Instant::ZERO, stats: Stats::default() }
    }

    /// This end sends a handshake message: its answer is accepted.
    pub fn sent(&mut self, now: Instant, bytes: &[u8]) {
        let Ok(SessionMessage::Initiation(message)) = parse_session(bytes) else { return };
        if now.saturating_since(self.since) >= AWAITED {
            self.awaited[1] = std::mem::take(&mut self.awaited[0]);
            self.since = now;
        }
        self.awaited[0].insert(message.sender);
    }

    /// Whether a datagram that is no frame is worth a step of the machine.
    ///
    /// # Errors
    /// [`Refusal`], which is counted; nothing is to be answered.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let checked = self.look_at(bytes);
        if let Err(refusal) = checked {
            self.stats.refuse(refusal);
        }
        checked
    }

    fn look_at(&self, bytes: &[u8]) -> Result<(), Refusal> {
        let is_awaited = |name| self.awaited.iter().any(|names| names.contains(&name));
        match parse_session(bytes).map_err(refusal)? {
            SessionMessage::Initiation(message) => self.door.check_initiation(bytes, &message),
            SessionMessage::Response(message) if is_awaited(message.receiver) => {
                self.door.check_response(bytes, &message)
            }
            SessionMessage::StampReply(message) if is_awaited(message.receiver) => {
                self.door.check_stamp_reply(bytes, &message)
            }
            SessionMessage::CookieReply(message) if is_awaited(message.receiver) => Ok(()),
            SessionMessage::Response(_) | SessionMessage::StampReply(_) | SessionMessage::CookieReply(_) => {
                Err(Refusal::UnknownKey)
            }
            SessionMessage::Frame(_) => Err(Refusal::Malformed),
        }
    }

    /// Returns the counts of refusals.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}
