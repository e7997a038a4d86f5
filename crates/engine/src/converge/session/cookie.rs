//! The proofs that a datagram must carry before anything costly is done for it: its sender knows our public key, and,
//! under load, it is at its claimed address (after WireGuard, Donenfeld 2017, sections 5.3 and 5.4.7).
//!
//! Nothing is kept for a sender: its cookie is a MAC of its address under a secret that changes.

use super::address::Address;
use super::material::{Entropy, PublicKey, Secret};
use super::message::{CookieReply, Initiation, KeyId, Response, StampReply};
use super::stats::Refusal;
use airbraid_units::{Duration, Instant};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::{digest, hmac};

/// A truncated HMAC-SHA-256, or a cookie.
pub(super) type Mac = [u8; 16];

fn short(tag: &hmac::Tag) -> Mac {
    let mut short = [0; 16];
    short.copy_from_slice(&tag.as_ref()[..16]);
    short
}

fn mac(key: &[u8], said: &[u8]) -> Mac {
    short(&hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), said))
}

/// Whether two are equal, in a time that does not tell where they differ.
fn is_equal(a: &Mac, b: &Mac) -> bool {
    a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A key that follows from the public key alone.
fn derived(purpose: &[u8], public: &PublicKey) -> [u8; 32] {
    let mut key = [0; 32];
    key.copy_from_slice(digest::digest(&digest::SHA256, &[purpose, &public.0].concat()).as_ref());
    key
}

/// Offset of the check, which covers the bytes before it.
const INITIATION_MAC_AT: usize = 112;
const RESPONSE_MAC_AT: usize = 64;

/// The keys that follow from a receiver's public key.
#[derive(Clone, Debug)]
pub(super) struct Door {
    /// Expanded once: expansion takes longer than use.
    mac: hmac::Key,
    cookie: [u8; 32],
}

impl Door {
    pub fn new(public: &PublicKey) -> Self {
        let mac = hmac::Key::new(hmac::HMAC_SHA256, &derived(b"airbraid mac", public));
        Self { mac, cookie: derived(b"airbraid cookie", public) }
    }
    /// The check over the bytes of a message.
    pub fn mac(&self, said: &[u8]) -> Mac {
        short(&hmac::sign(&self.mac, said))
    }
    fn knows(&self, said: &[u8], shown: &Mac) -> Result<(), Refusal> {
        if is_equal(&self.mac(said), shown) { Ok(()) } else { Err(Refusal::Stranger) }
    }
    /// Checks that the sender of a first message, which is all of `bytes`, knows our public key.
    pub fn check_initiation(&self, bytes: &[u8], message: &Initiation) -> Result<(), Refusal> {
        self.knows(&bytes[..INITIATION_MAC_AT], &message.mac)
    }
    /// The same for a second message.
    pub fn check_response(&self, bytes: &[u8], message: &Response) -> Result<(), Refusal> {
        self.knows(&bytes[..RESPONSE_MAC_AT], &message.mac)
    }
    /// The same for an answer to a first message with an old stamp.
    pub fn check_stamp_reply(&self, bytes: &[u8], message: &StampReply) -> Result<(), Refusal> {
        self.knows(&bytes[..bytes.len() - 16], &message.mac)
    }
    fn aead(&self) -> LessSafeKey {
        let Ok(key) = UnboundKey::new(&CHACHA20_POLY1305, &self.cookie) else { panic!("keys have 32 bytes") };
        LessSafeKey::new(key)
    }
    /// Seals a cookie for the sender of the message with this check.
    pub fn seal(&self, receiver: KeyId, nonce: [u8; 12], cookie: &Mac, shown: &Mac) -> CookieReply {
        let mut sealed = [0; 32];
        let (plain, tag) = sealed.split_at_mut(16);
        plain.copy_from_slice(cookie);
        let said = Aad::from([&receiver.0.to_be_bytes()[..], shown].concat());
        match self.aead().seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), said, plain) {
            Ok(made) => tag.copy_from_slice(made.as_ref()),
            Err(_) => panic!("a cookie is short"),
        }
        CookieReply { receiver, nonce, sealed }
    }
    /// The cookie in an answer to the message with this check.
    pub fn open(&self, reply: &CookieReply, shown: &Mac) -> Option<Mac> {
        let mut sealed = reply.sealed;
        let said = Aad::from([&reply.receiver.0.to_be_bytes()[..], shown].concat());
        let plain = self.aead().open_in_place(Nonce::assume_unique_for_key(reply.nonce), said, &mut sealed).ok()?;
        plain.first_chunk().copied()
    }
}

/// The check that proves a cookie.
pub(super) fn cookie_mac(cookie: &Mac, said: &[u8]) -> Mac {
    mac(cookie, said)
}

/// Makes cookies and verifies them, with the present secret and the one before.
#[derive(Debug)]
pub(super) struct Baker {
    life: Duration,
    since: Option<Instant>,
    secrets: [Option<Secret>; 2],
}

impl Baker {
    pub fn new(life: Duration) -> Self {
        Self { life, since: None, secrets: [None, None] }
    }

    fn renew(&mut self, now: Instant, entropy: &mut impl Entropy) {
        let age = self.since.map(|since| now.saturating_since(since));
        if age.is_some_and(|age| age < self.life) {
            return;
        }
        let before = self.secrets[0].take().filter(|_| age.is_some_and(|age| age < self.life * 2));
        self.secrets = [Some(Secret::draw(entropy)), before];
        self.since = Some(now);
    }

    /// Returns the cookie of an address.
    pub fn bake(&mut self, now: Instant, from: &Address, entropy: &mut impl Entropy) -> Mac {
        self.renew(now, entropy);
        self.secrets[0].as_ref().map_or([0; 16], |secret| mac(secret.bytes(), &from.0))
    }

    /// Returns whether this is the check of a sender at this address that has its cookie.
    pub fn is_good(
        &mut self,
        now: Instant,
        from: &Address,
        said: &[u8],
        shown: &Mac,
        entropy: &mut impl Entropy,
    ) -> bool {
        self.renew(now, entropy);
        let mut secrets = self.secrets.iter().flatten();
        secrets.any(|secret| is_equal(&cookie_mac(&mac(secret.bytes(), &from.0), said), shown))
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::Simulated;
    use super::*;
    use crate::random::Stream;

    #[test]
    fn a_cookie_is_good_for_its_address_and_for_a_while() {
        let mut entropy = Simulated(Stream::new(1, 0, "cookie"));
        let life = Duration::from_secs(120);
        let (mut baker, mut other) = (Baker::new(life), Baker::new(life));
        let (here, there) = (Address([1; Address::LEN]), Address([2; Address::LEN]));
        let start = Instant::ZERO + Duration::from_secs(5);
        let cookie = baker.bake(start, &here, &mut entropy);
        let shown = cookie_mac(&cookie, b"message");
        let mut good = |baker: &mut Baker, at: u64, from, said: &[u8]| {
            baker.is_good(start + Duration::from_secs(at), from, said, &shown, &mut entropy)
        };
        assert!(!good(&mut other, 0, &here, b"message"));
        assert!(!good(&mut baker, 0, &there, b"message"));
        assert!(!good(&mut baker, 0, &here, b"another"));
        assert!(good(&mut baker, 0, &here, b"message"));
        assert!(good(&mut baker, 120, &here, b"message"), "the secret before is still known");
        assert!(!good(&mut baker, 240, &here, b"message"));
    }
}
