//! The codec port through which frames are sealed: on real bytes by [`Aead`], on descriptors by [`Account`].

use super::material::Secret;
use super::message::{FRAME_HEADER_LEN, FRAME_OVERHEAD, FrameHeader, Suite, TAG_LEN};
use crate::wire::{WireError, emit_frame_header, parse_frame_header};
use airbraid_units::Bytes;
use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::fmt;
use std::hint::black_box;

/// The frame was not sealed by this key, or was changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAuthentic;

/// Seals frames and opens them.
pub trait Codec {
    type Key: fmt::Debug;
    /// A frame, with space for header and tag.
    type Frame: ?Sized;

    fn key(&self, suite: Suite, secret: &Secret) -> Self::Key;
    /// Writes the header and seals the bytes after it, in place.
    fn seal(&self, key: &Self::Key, header: &FrameHeader, frame: &mut Self::Frame);
    /// Reads the header.
    ///
    /// # Errors
    /// [`WireError`] if there is none, or no room for a tag.
    fn header(&self, frame: &Self::Frame) -> Result<FrameHeader, WireError>;
    /// Opens in place. A frame that is not authentic must not be used: its bytes are then garbage.
    ///
    /// # Errors
    /// [`NotAuthentic`] if anything is not as it was sealed.
    fn open(&self, key: &Self::Key, header: &FrameHeader, frame: &mut Self::Frame) -> Result<(), NotAuthentic>;
    /// The first sealed byte, if there is one: a control frame has no other.
    fn first_byte(&self, frame: &Self::Frame) -> Option<u8>;
    /// Length of header, sealed bytes and tag.
    fn length(&self, frame: &Self::Frame) -> Bytes;
}

/// An expanded key, wiped when it is dropped: `ring` wipes none.
#[derive(Debug)]
pub struct AeadKey(LessSafeKey);

impl AeadKey {
    fn new(algorithm: &'static Algorithm, bytes: &[u8; 32]) -> Self {
        let Ok(key) = UnboundKey::new(algorithm, bytes) else { panic!("both suites have keys of 32 bytes") };
        Self(LessSafeKey::new(key))
    }
}

impl Drop for AeadKey {
    fn drop(&mut self) {
        let algorithm = self.0.algorithm();
        // What it was made of is overwritten in place by as much.
        if let Ok(blank) = UnboundKey::new(algorithm, &[0; 32]) {
            self.0 = LessSafeKey::new(blank);
        }
        black_box(&self.0);
    }
}

/// Real sealing of real bytes: 12 bytes of header, the sealed bytes, 16 bytes of tag.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aead;

/// Unique under a key: counters are never used twice for a member.
fn nonce(header: &FrameHeader) -> Nonce {
    let [_, _, counter @ ..] = header.counter.to_be_bytes();
    let mut nonce = [0; 12];
    nonce[5] = header.member.0;
    nonce[6..].copy_from_slice(&counter);
    Nonce::assume_unique_for_key(nonce)
}

impl Codec for Aead {
    type Key = AeadKey;
    type Frame = [u8];

    fn key(&self, suite: Suite, secret: &Secret) -> AeadKey {
        let algorithm = match suite {
            Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
            Suite::Aes256Gcm => &AES_256_GCM,
        };
        AeadKey::new(algorithm, secret.bytes())
    }

    /// # Panics
    /// If the frame is shorter than header and tag, or longer than 64 GB.
    fn seal(&self, AeadKey(key): &AeadKey, header: &FrameHeader, frame: &mut [u8]) {
        assert!(frame.len() >= FRAME_OVERHEAD, "a frame has room for header and tag");
        let said = emit_frame_header(header);
        let (head, rest) = frame.split_at_mut(FRAME_HEADER_LEN);
        let (plain, tag) = rest.split_at_mut(rest.len() - TAG_LEN);
        head.copy_from_slice(&said);
        match key.seal_in_place_separate_tag(nonce(header), Aad::from(said), plain) {
            Ok(sealed) => tag.copy_from_slice(sealed.as_ref()),
            Err(_) => panic!("a frame is shorter than what an AEAD can seal"),
        }
    }

    fn header(&self, frame: &[u8]) -> Result<FrameHeader, WireError> {
        parse_frame_header(frame)
    }

    fn open(&self, AeadKey(key): &AeadKey, header: &FrameHeader, frame: &mut [u8]) -> Result<(), NotAuthentic> {
        let (said, sealed) = frame.split_first_chunk_mut::<FRAME_HEADER_LEN>().ok_or(NotAuthentic)?;
        key.open_in_place(nonce(header), Aad::from(*said), sealed).map(|_| ()).map_err(|_| NotAuthentic)
    }

    fn first_byte(&self, frame: &[u8]) -> Option<u8> {
        (frame.len() > FRAME_OVERHEAD).then(|| frame[FRAME_HEADER_LEN])
    }

    fn length(&self, frame: &[u8]) -> Bytes {
        Bytes::new(frame.len() as u64)
    }
}

/// The proof in a tag: this key has sealed a frame of this length with this header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    secret: Secret,
    header: FrameHeader,
    len: Bytes,
}

/// A frame without bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Length of header, sealed bytes and tag \[byte\].
    pub len: Bytes,
    /// The header; `None` where the bytes would not be one.
    pub header: Option<FrameHeader>,
    /// Whether a byte behind the header was changed since sealing.
    pub is_damaged: bool,
    /// The first sealed byte.
    pub first: Option<u8>,
    proof: Option<Box<Proof>>,
}

impl Descriptor {
    /// A frame to be sealed, of `len` bytes with header and tag; `first` is its first sealed byte.
    pub fn new(len: Bytes, first: Option<u8>) -> Self {
        Self { len, header: None, is_damaged: false, first, proof: None }
    }
}

/// The exact account: it opens a frame if the same key has sealed it and nothing has changed since.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account;

impl Codec for Account {
    type Key = Secret;
    type Frame = Descriptor;

    fn key(&self, _: Suite, secret: &Secret) -> Secret {
        secret.clone()
    }

    fn seal(&self, key: &Secret, header: &FrameHeader, frame: &mut Descriptor) {
        assert!(frame.len.as_u64() >= FRAME_OVERHEAD as u64, "a frame has room for header and tag");
        frame.header = Some(*header);
        frame.is_damaged = false;
        frame.proof = Some(Box::new(Proof { secret: key.clone(), header: *header, len: frame.len }));
    }

    fn header(&self, frame: &Descriptor) -> Result<FrameHeader, WireError> {
        if frame.len.as_u64() < FRAME_OVERHEAD as u64 {
            return Err(WireError::Truncated);
        }
        frame.header.ok_or(WireError::Malformed)
    }

    fn open(&self, key: &Secret, header: &FrameHeader, frame: &mut Descriptor) -> Result<(), NotAuthentic> {
        let is_proved = frame
            .proof
            .as_ref()
            .is_some_and(|proof| proof.secret == *key && proof.header == *header && proof.len == frame.len);
        if is_proved && !frame.is_damaged { Ok(()) } else { Err(NotAuthentic) }
    }

    fn first_byte(&self, frame: &Descriptor) -> Option<u8> {
        frame.first.filter(|_| frame.len.as_u64() > FRAME_OVERHEAD as u64)
    }

    fn length(&self, frame: &Descriptor) -> Bytes {
        frame.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of header and tag carries nothing; its first byte stands behind the header.
    #[test]
    fn a_frame_knows_its_length_and_its_first_byte() {
        let mut frame = vec![0; FRAME_OVERHEAD + 3];
        frame[FRAME_HEADER_LEN] = 7;
        assert_eq!((Aead.first_byte(&frame), Aead.length(&frame)), (Some(7), Bytes::new(FRAME_OVERHEAD as u64 + 3)));
        assert_eq!(Aead.first_byte(&frame[..FRAME_OVERHEAD + 1]), Some(7));
        assert_eq!(Aead.first_byte(&frame[..FRAME_OVERHEAD]), None);
        let described = Descriptor::new(Bytes::new(100), Some(9));
        assert_eq!((Account.first_byte(&described), Account.length(&described)), (Some(9), Bytes::new(100)));
    }
}
