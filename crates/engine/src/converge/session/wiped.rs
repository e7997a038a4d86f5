//! The handshake library's secrets, wiped after use.
//!
//! `snow` wipes nothing by itself: a state holds the static and the ephemeral key, the pre-shared key and the chaining
//! key from which the session's keys follow. Here it works with [`Wiping`] algorithms, whose keys are wiped when they
//! are dropped; [`State`] overwrites what is the library's own; [`burn`] overwrites what its calls, and those of the
//! primitives below it, have left on the stack.

use super::material::Secret;
use curve25519_dalek::montgomery::MontgomeryPoint;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState};
use std::fmt;
use std::hint::black_box;
use std::ops::{Deref, DerefMut};
use zeroize::{Zeroize, Zeroizing};

/// Length of the stack that is overwritten \[words of 8 byte\]: 16 KiB, twice the measured use of a handshake's calls.
const STACK: usize = 2_048;
/// Length of a BLAKE2s block \[byte\].
const BLOCK: usize = 64;

/// Overwrites the remains of earlier calls on the stack below the caller (as libgcrypt's `_gcry_burn_stack`).
#[inline(never)]
pub(super) fn burn() {
    let mut stack = [0u64; STACK];
    stack.zeroize();
    black_box(&stack);
}

/// The algorithms of the handshake, and the randomness of one ephemeral key: the library draws none of its own.
pub(super) struct Wiping(pub Secret);

/// Hands out its bytes once.
struct OneTimeKey(Option<Secret>);

impl Random for OneTimeKey {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        match self.0.take() {
            Some(drawn) if bytes.len() == 32 => bytes.copy_from_slice(drawn.bytes()),
            _ => return Err(Error::Rng),
        }
        Ok(())
    }
}

impl CryptoResolver for Wiping {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(OneTimeKey(Some(self.0.clone()))))
    }
    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        matches!(choice, DHChoice::Curve25519).then(|| -> Box<dyn Dh> { Box::<X25519>::default() })
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        Some(Box::new(WipedHash(DefaultResolver.resolve_hash(choice)?)))
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        Some(Box::new(WipedCipher(DefaultResolver.resolve_cipher(choice)?)))
    }
}

/// A key of X25519 (RFC 7748) and its public half.
#[derive(Default)]
pub(super) struct X25519 {
    secret: Zeroizing<[u8; 32]>,
    public: [u8; 32],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }
    fn pub_len(&self) -> usize {
        32
    }
    fn priv_len(&self) -> usize {
        32
    }
    fn set(&mut self, secret: &[u8]) {
        self.secret.copy_from_slice(secret);
        self.public = MontgomeryPoint::mul_base_clamped(*self.secret).to_bytes();
    }
    fn generate(&mut self, random: &mut dyn Random) -> Result<(), Error> {
        random.try_fill_bytes(&mut *self.secret)?;
        self.public = MontgomeryPoint::mul_base_clamped(*self.secret).to_bytes();
        Ok(())
    }
    fn pubkey(&self) -> &[u8] {
        &self.public
    }
    fn privkey(&self) -> &[u8] {
        &*self.secret
    }
    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let public = *public.first_chunk().ok_or(Error::Dh)?;
        let shared = Zeroizing::new(MontgomeryPoint(public).mul_clamped(*self.secret).to_bytes());
        out.get_mut(..32).ok_or(Error::Dh)?.copy_from_slice(&*shared);
        Ok(())
    }
}

/// Forgets its key when it is dropped.
struct WipedCipher(Box<dyn Cipher>);

impl Cipher for WipedCipher {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn set(&mut self, key: &[u8; 32]) {
        self.0.set(key);
    }
    fn encrypt(&self, nonce: u64, said: &[u8], plain: &[u8], out: &mut [u8]) -> usize {
        self.0.encrypt(nonce, said, plain, out)
    }
    fn decrypt(&self, nonce: u64, said: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        self.0.decrypt(nonce, said, sealed, out)
    }
}

impl Drop for WipedCipher {
    fn drop(&mut self) {
        self.0.set(&[0; 32]);
        black_box(&*self.0);
    }
}

/// Forgets its hashed input when it is dropped: keys go through it block by block.
struct WipedHash(Box<dyn Hash>);

impl Hash for WipedHash {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn block_len(&self) -> usize {
        self.0.block_len()
    }
    fn hash_len(&self) -> usize {
        self.0.hash_len()
    }
    fn reset(&mut self) {
        self.0.reset();
    }
    fn input(&mut self, data: &[u8]) {
        self.0.input(data);
    }
    fn result(&mut self, out: &mut [u8]) {
        self.0.result(out);
    }
}

impl Drop for WipedHash {
    fn drop(&mut self) {
        // A reset leaves the last block where it is.
        self.0.reset();
        self.0.input(&[0; BLOCK]);
        self.0.reset();
        black_box(&*self.0);
    }
}

/// The state of a handshake. It stays at its place in memory, where it is overwritten when it is dropped.
pub(super) struct State(Box<HandshakeState>);

impl State {
    /// Takes a state in which there is no secret of its own yet.
    pub fn new(state: HandshakeState) -> Self {
        Self(Box::new(state))
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

impl Deref for State {
    type Target = HandshakeState;
    fn deref(&self) -> &HandshakeState {
        &self.0
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut HandshakeState {
        &mut self.0
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Ok(blank) = blank() {
            *self.0 = blank;
        }
        black_box(&*self.0);
        burn();
    }
}

/// A state without any key.
fn blank() -> Result<HandshakeState, Error> {
    Builder::with_resolver(super::PATTERN.parse()?, Box::new(Blank)).local_private_key(&[])?.build_responder()
}

/// Algorithms that do nothing.
struct Blank;

impl CryptoResolver for Blank {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(OneTimeKey(None)))
    }
    fn resolve_dh(&self, _: &DHChoice) -> Option<Box<dyn Dh>> {
        Some(Box::new(Self))
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

impl Dh for Blank {
    fn name(&self) -> &'static str {
        "25519"
    }
    fn pub_len(&self) -> usize {
        32
    }
    fn priv_len(&self) -> usize {
        32
    }
    fn set(&mut self, _: &[u8]) {}
    fn generate(&mut self, _: &mut dyn Random) -> Result<(), Error> {
        Err(Error::Rng)
    }
    fn pubkey(&self) -> &[u8] {
        &[0; 32]
    }
    fn privkey(&self) -> &[u8] {
        &[]
    }
    fn dh(&self, _: &[u8], _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Dh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(byte: u8) -> Wiping {
        Wiping(Secret::new([byte; 32]))
    }

    /// The randomness of one key of 32 byte, once.
    #[test]
    fn an_ephemeral_key_is_drawn_once() {
        let mut random = resolver(7).resolve_rng().unwrap();
        let mut drawn = [0; 32];
        assert!(random.try_fill_bytes(&mut drawn).is_ok() && drawn == [7; 32]);
        assert!(random.try_fill_bytes(&mut drawn).is_err());
        for length in [0, 31, 33] {
            let mut random = resolver(7).resolve_rng().unwrap();
            let mut other = vec![0; length];
            assert!(random.try_fill_bytes(&mut other).is_err() && other.iter().all(|byte| *byte == 0), "{length}");
        }
    }

    /// Both ends come to one secret, which is the library's own for the same keys.
    #[test]
    fn keys_agree_as_the_librarys_do() {
        let key = |byte: u8| {
            let mut key = resolver(0).resolve_dh(&DHChoice::Curve25519).unwrap();
            key.set(&[byte; 32]);
            key
        };
        let (alice, bob) = (key(1), key(2));
        let mut theirs = DefaultResolver.resolve_dh(&DHChoice::Curve25519).unwrap();
        theirs.set(&[1; 32]);
        assert_eq!((alice.name(), alice.pub_len(), alice.priv_len()), ("25519", 32, 32));
        assert_eq!((alice.pubkey(), alice.privkey()), (theirs.pubkey(), &[1; 32][..]));
        let mut shared = [[0; 32]; 3];
        assert!(alice.dh(bob.pubkey(), &mut shared[0]).is_ok() && bob.dh(alice.pubkey(), &mut shared[1]).is_ok());
        assert!(theirs.dh(bob.pubkey(), &mut shared[2]).is_ok());
        assert!(shared[0] != [0; 32] && shared[0] == shared[1] && shared[1] == shared[2]);
        assert!(alice.dh(&bob.pubkey()[..31], &mut shared[0]).is_err(), "no key");
        assert!(alice.dh(bob.pubkey(), &mut [0; 31]).is_err(), "no room");
        let mut drawn = key(1);
        assert!(drawn.generate(&mut *resolver(9).resolve_rng().unwrap()).is_ok());
        assert_eq!((drawn.pubkey(), drawn.privkey()), (key(9).pubkey(), &[9; 32][..]));
        assert!(resolver(0).resolve_dh(&DHChoice::Curve448).is_none());
    }

    /// The wrapped algorithms are the library's own.
    #[test]
    fn what_is_wiped_computes_as_the_library_does() {
        let ours = resolver(0);
        let mut hash = ours.resolve_hash(&HashChoice::Blake2s).unwrap();
        let mut theirs = DefaultResolver.resolve_hash(&HashChoice::Blake2s).unwrap();
        assert_eq!((hash.name(), hash.block_len(), hash.hash_len()), ("BLAKE2s", 64, 32));
        let digest = |hash: &mut Box<dyn Hash>| {
            hash.input(b"something before");
            hash.reset();
            hash.input(b"abc");
            let mut out = [0; 32];
            hash.result(&mut out);
            out
        };
        assert_eq!(digest(&mut hash), digest(&mut theirs));
        let mut cipher = ours.resolve_cipher(&CipherChoice::ChaChaPoly).unwrap();
        let mut theirs = DefaultResolver.resolve_cipher(&CipherChoice::ChaChaPoly).unwrap();
        assert_eq!(cipher.name(), "ChaChaPoly");
        let seal = |cipher: &mut Box<dyn Cipher>| {
            cipher.set(&[3; 32]);
            let mut out = [0; 21];
            assert_eq!(cipher.encrypt(5, b"said", b"plain", &mut out), 21);
            out
        };
        let sealed = seal(&mut cipher);
        assert_eq!(sealed, seal(&mut theirs));
        let mut plain = [0; 5];
        assert_eq!(cipher.decrypt(5, b"said", &sealed, &mut plain).ok(), Some(5));
        assert_eq!(&plain, b"plain");
        assert!(cipher.decrypt(6, b"said", &sealed, &mut plain).is_err());
    }
}
