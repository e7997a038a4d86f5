//! The two messages of the handshake, by `snow`: nothing here is about datagrams, timers or peers.
//!
//! `snow` is given the randomness of one ephemeral key and no source to draw more from. Its DH does not refuse points
//! of low order; with IKpsk2 they win nothing, as the key depends on `ss` between two configured static keys. Its
//! secrets are wiped as [`super::wiped`] says.

use super::PATTERN;
use super::material::{PublicKey, Secret};
use super::wiped::{State, Wiping, X25519, burn};
use snow::types::Dh;
use snow::{Builder, Error};
use zeroize::Zeroize;

/// The message after which the pattern mixes the pre-shared key in: the second.
const PSK_PLACE: usize = 2;

/// The initiator's payload: its time stamp \[ns\].
pub(super) type Stamp = [u8; 8];
/// The responder's payload: version, suite, two zeros, its name for the key.
pub(super) type Chosen = [u8; 8];
/// The responder's other payload: four zeros, the newest stamp. No version is zero, and the length differs.
type Newest = [u8; 12];

/// The public half of a key.
pub fn public_key(secret: &Secret) -> PublicKey {
    let mut key = X25519::default();
    key.set(secret.bytes());
    let mut public = [0; 32];
    public.copy_from_slice(key.pubkey());
    drop(key);
    burn();
    PublicKey(public)
}

/// The keys of the two directions.
#[derive(Debug)]
pub(super) struct Split {
    pub from_initiator: Secret,
    pub from_responder: Secret,
}

fn builder(ephemeral: Secret) -> Result<Builder<'static>, Error> {
    Ok(Builder::with_resolver(PATTERN.parse()?, Box::new(Wiping(ephemeral))))
}

fn split(state: &mut State) -> Split {
    let (mut from_initiator, mut from_responder) = state.dangerously_get_raw_split();
    let split = Split { from_initiator: Secret::new(from_initiator), from_responder: Secret::new(from_responder) };
    from_initiator.zeroize();
    from_responder.zeroize();
    split
}

/// A first message that was sent.
#[derive(Debug)]
pub(super) struct Sent(State);

/// Makes the first message.
pub(super) fn initiate(
    local: &Secret,
    peer: &PublicKey,
    psk: &Secret,
    prologue: &[u8],
    ephemeral: Secret,
    stamp: Stamp,
) -> Result<(Sent, [u8; 104]), Error> {
    let builder = builder(ephemeral)?.local_private_key(local.bytes())?.remote_public_key(&peer.0)?;
    let mut state = State::new(builder.prologue(prologue)?.build_initiator()?);
    state.set_psk(PSK_PLACE, psk.bytes())?;
    let mut message = [0; 104];
    let len = state.write_message(&stamp, &mut message)?;
    debug_assert_eq!(len, message.len(), "e, sealed s, sealed stamp");
    burn();
    Ok((Sent(state), message))
}

impl Sent {
    /// Reads the second message. A message that is not the answer changes nothing: the right one may still arrive.
    pub fn finish(&mut self, message: &[u8; 56]) -> Result<(Chosen, Split), Error> {
        let mut chosen = [0; 56];
        let len = self.0.read_message(message, &mut chosen)?;
        let chosen = *chosen[..len].first_chunk().ok_or(Error::Input)?;
        let split = split(&mut self.0);
        burn();
        Ok((chosen, split))
    }

    /// Reads a second message with the newest stamp. A message that is not the answer changes nothing, as with
    /// [`Self::finish`].
    pub fn told(&mut self, message: &[u8; 60]) -> Result<Stamp, Error> {
        let mut newest = [0; 60];
        let len = self.0.read_message(message, &mut newest)?;
        burn();
        match *newest[..len].first_chunk::<12>().ok_or(Error::Input)? {
            [0, 0, 0, 0, ref stamp @ ..] => Ok(*stamp),
            _ => Err(Error::Input),
        }
    }
}

/// A first message that was read: its sender has proven that it has this static key.
pub(super) struct ReadInitiation {
    state: State,
    pub peer: PublicKey,
    pub stamp: Stamp,
}

/// Reads a first message.
pub(super) fn hear(
    local: &Secret,
    prologue: &[u8],
    ephemeral: Secret,
    message: &[u8; 104],
) -> Result<ReadInitiation, Error> {
    let builder = builder(ephemeral)?.local_private_key(local.bytes())?;
    let mut state = State::new(builder.prologue(prologue)?.build_responder()?);
    let mut stamp = [0; 104];
    let len = state.read_message(message, &mut stamp)?;
    let stamp = *stamp[..len].first_chunk().ok_or(Error::Input)?;
    let peer = state.get_remote_static().and_then(|bytes| bytes.first_chunk()).copied().ok_or(Error::Input)?;
    burn();
    Ok(ReadInitiation { state, peer: PublicKey(peer), stamp })
}

impl ReadInitiation {
    /// Makes the second message.
    pub fn answer(mut self, psk: &Secret, chosen: Chosen) -> Result<([u8; 56], Split), Error> {
        let mut message = [0; 56];
        self.write(psk, &chosen, &mut message)?;
        let split = split(&mut self.state);
        burn();
        Ok((message, split))
    }

    /// Makes a second message with the newest stamp. It gives no key.
    pub fn refuse(mut self, psk: &Secret, newest: Stamp) -> Result<[u8; 60], Error> {
        let mut said: Newest = [0; 12];
        said[4..].copy_from_slice(&newest);
        let mut message = [0; 60];
        self.write(psk, &said, &mut message)?;
        Ok(message)
    }

    fn write(&mut self, psk: &Secret, said: &[u8], message: &mut [u8]) -> Result<(), Error> {
        self.state.set_psk(PSK_PLACE, psk.bytes())?;
        let len = self.state.write_message(said, message)?;
        debug_assert_eq!(len, message.len(), "e, sealed words");
        Ok(())
    }
}
