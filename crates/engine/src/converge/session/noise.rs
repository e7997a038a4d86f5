//! The two messages of the handshake, by `snow`: nothing here is about datagrams, timers or peers.
//!
//! `snow` is given the randomness of one ephemeral key and no source to draw more from. Its DH does not refuse points of
//! low order; with IKpsk2 they win nothing, as the key depends on `ss` between two configured static keys.

use super::material::{PublicKey, Secret};
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState};

/// The Noise protocol of the handshake.
pub const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
/// Where the pattern mixes the pre-shared key in: at the end of the second message.
const PSK_PLACE: u8 = 2;

/// What the initiator tells: its time stamp \[ns\].
pub(super) type Stamp = [u8; 8];
/// What the responder tells: version, suite, two zeros, its name of the key.
pub(super) type Chosen = [u8; 8];

/// The public half of a key.
///
/// # Panics
/// If `snow` was built without X25519.
pub fn public_key(secret: &Secret) -> PublicKey {
    let Some(mut dh) = DefaultResolver.resolve_dh(&DHChoice::Curve25519) else { panic!("built without X25519") };
    dh.set(secret.bytes());
    let mut public = [0; 32];
    public.copy_from_slice(dh.pubkey());
    PublicKey(public)
}

/// The keys of the two directions.
#[derive(Debug)]
pub(super) struct Split {
    pub from_initiator: Secret,
    pub from_responder: Secret,
}

/// Gives the algorithms of `snow`, and the randomness of one ephemeral key.
struct Injected(Secret);

/// Hands out its bytes once.
struct Drawn(Option<Secret>);

impl Random for Drawn {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        match self.0.take() {
            Some(drawn) if bytes.len() == 32 => bytes.copy_from_slice(drawn.bytes()),
            _ => return Err(Error::Rng),
        }
        Ok(())
    }
}

impl CryptoResolver for Injected {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Drawn(Some(self.0.clone()))))
    }
    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

fn builder(ephemeral: Secret) -> Result<Builder<'static>, Error> {
    Ok(Builder::with_resolver(PATTERN.parse()?, Box::new(Injected(ephemeral))))
}

fn split(state: &mut HandshakeState) -> Split {
    let (from_initiator, from_responder) = state.dangerously_get_raw_split();
    Split { from_initiator: Secret::new(from_initiator), from_responder: Secret::new(from_responder) }
}

/// A first message that was sent.
#[derive(Debug)]
pub(super) struct Sent(Box<HandshakeState>);

/// Makes the first message.
pub(super) fn initiate(
    local: &Secret,
    peer: &PublicKey,
    psk: &Secret,
    prologue: &[u8],
    ephemeral: Secret,
    stamp: Stamp,
) -> Result<(Sent, [u8; 104]), Error> {
    let mut state = builder(ephemeral)?
        .local_private_key(local.bytes())?
        .remote_public_key(&peer.0)?
        .psk(PSK_PLACE, psk.bytes())?
        .prologue(prologue)?
        .build_initiator()?;
    let mut message = [0; 104];
    let len = state.write_message(&stamp, &mut message)?;
    debug_assert_eq!(len, message.len(), "e, sealed s, sealed stamp");
    Ok((Sent(Box::new(state)), message))
}

impl Sent {
    /// Reads the second message. One that is not the answer changes nothing: the right one may still come.
    pub fn finish(&mut self, message: &[u8; 56]) -> Result<(Chosen, Split), Error> {
        let mut chosen = [0; 56];
        let len = self.0.read_message(message, &mut chosen)?;
        let chosen = *chosen[..len].first_chunk().ok_or(Error::Input)?;
        Ok((chosen, split(&mut self.0)))
    }
}

/// A first message that was read: its sender has shown that it has this static key.
pub(super) struct Heard {
    state: HandshakeState,
    pub peer: PublicKey,
    pub stamp: Stamp,
}

/// Reads a first message.
pub(super) fn hear(local: &Secret, prologue: &[u8], ephemeral: Secret, message: &[u8; 104]) -> Result<Heard, Error> {
    let mut state = builder(ephemeral)?.local_private_key(local.bytes())?.prologue(prologue)?.build_responder()?;
    let mut stamp = [0; 104];
    let len = state.read_message(message, &mut stamp)?;
    let stamp = *stamp[..len].first_chunk().ok_or(Error::Input)?;
    let peer = state.get_remote_static().and_then(|bytes| bytes.first_chunk()).copied().ok_or(Error::Input)?;
    Ok(Heard { state, peer: PublicKey(peer), stamp })
}

impl Heard {
    /// Makes the second message.
    pub fn answer(mut self, psk: &Secret, chosen: Chosen) -> Result<([u8; 56], Split), Error> {
        self.state.set_psk(usize::from(PSK_PLACE), psk.bytes())?;
        let mut message = [0; 56];
        let len = self.state.write_message(&chosen, &mut message)?;
        debug_assert_eq!(len, message.len(), "e, sealed choice");
        Ok((message, split(&mut self.state)))
    }
}
