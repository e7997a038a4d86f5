//! The keys in use: sealing and opening, which need no step of a machine.
//!
//! Which key is used, and until when, is decided by [`super::Sessions`]. A nonce never repeats: a key counts for each
//! member what it has sealed, and keeps the count for as long as it lives, whatever becomes of the member.

use super::codec::Codec;
use super::message::{Control, FrameHeader, FrameKind, KeyId};
use super::replay::{NotNew, ReplayWindow};
use super::service::{Keypair, PeerId, Role};
use super::stats::{Refusal, Stats};
use super::wiped::burn;
use crate::trunk::Member;
use crate::wire::WireError;
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shift to the unit of 2 KiB: a frame counts as one for every 2 KiB begun. The limits of the AEAD grow with the blocks
/// that a key has sealed, not with the frames (RFC 9001, appendix B.1.1: `2 (q l)^2 / 2^128` for `q` packets of `l`
/// blocks).
const UNIT_BITS: u32 = 11;

/// Limits on the use of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of 2 KiB after which a new key is requested.
    pub spent: u64,
    /// Units of 2 KiB after which it seals no more.
    pub exhausted: u64,
}

impl Default for Limits {
    fn default() -> Self {
        // AES-GCM may seal 2^28 packets of at most 2 KiB, or 2^23 of 64 KiB, if nobody is to tell it from chance with
        // an advantage of more than 2^-57 (RFC 9001, appendix B.1.1). A quarter of that, and as much again for the
        // handshake: 75 s of 10 Gbit/s in frames of 1.4 kB.
        Self { spent: 1 << 26, exhausted: 1 << 27 }
    }
}

/// A frame was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its header, as written.
    pub header: FrameHeader,
    /// The key has reached [`Limits::spent`]: tell the machine. Set once for each key.
    pub is_spent: bool,
}

/// The number of one frame, and the key that seals it: with its header, once, wherever that is done.
#[derive(Debug)]
pub struct Reserved<K> {
    pub header: FrameHeader,
    pub key: Arc<K>,
    /// As [`Sealed::is_spent`].
    pub is_spent: bool,
}

/// The reason why a frame was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealRefusal {
    /// There is no key for this peer, or not the named one.
    NoKey,
    /// The key has expired.
    Expired,
    /// The key has reached [`Limits::exhausted`].
    Exhausted,
}

/// A frame was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    pub peer: PeerId,
    pub header: FrameHeader,
    /// It is the first with this key: tell the machine.
    pub is_first: bool,
    /// It is the newest on this member: its source address is the peer's.
    pub is_newest: bool,
    /// The control message, if the frame is the session's own: tell the machine.
    pub control: Option<Control>,
}

#[derive(Debug)]
struct Entry<K> {
    peer: PeerId,
    theirs: KeyId,
    role: Role,
    send: Arc<K>,
    receive: K,
    expires: Instant,
    has_opened: bool,
    /// Next numbers, by member.
    counters: Box<[u64; 256]>,
    /// Units sealed.
    total: u64,
    /// By member; created by the first authentic frame on it.
    windows: BTreeMap<Member, Box<ReplayWindow>>,
}

/// All keys of one end, and the counts of their use.
#[derive(Debug)]
pub struct Keyring<C: Codec> {
    codec: C,
    limits: Limits,
    /// By our names for keys.
    entries: BTreeMap<KeyId, Entry<C::Key>>,
    /// The key to seal with, by peer.
    current: BTreeMap<PeerId, KeyId>,
    /// Names chosen by others.
    theirs: BTreeSet<KeyId>,
    stats: Stats,
}

impl<C: Codec> Keyring<C> {
    pub fn new(codec: C) -> Self {
        Self::with_limits(codec, Limits::default())
    }
    /// An empty ring whose keys have these limits.
    pub fn with_limits(codec: C, limits: Limits) -> Self {
        let (entries, current, theirs) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { codec, limits, entries, current, theirs, stats: Stats::default() }
    }

    /// Returns the counts of sealed, opened and refused frames.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Whether frames can be sealed for this peer.
    pub fn has_key(&self, peer: PeerId) -> bool {
        self.current.contains_key(&peer)
    }

    /// Adds a key; it opens frames from now on.
    pub fn install(&mut self, keys: &Keypair) {
        self.theirs.insert(keys.theirs);
        let entry = Entry {
            peer: keys.peer,
            theirs: keys.theirs,
            role: keys.role,
            send: Arc::new(self.codec.key(keys.suite, &keys.send)),
            receive: self.codec.key(keys.suite, &keys.receive),
            expires: keys.expires,
            has_opened: false,
            counters: Box::new([0; 256]),
            total: 0,
            windows: BTreeMap::new(),
        };
        self.entries.insert(keys.ours, entry);
        // What it takes to make keys ready is deep in the stack.
        burn();
    }

    /// Seals with this key from now on.
    pub fn use_key(&mut self, peer: PeerId, key: KeyId) {
        if self.entries.get(&key).is_some_and(|entry| entry.peer == peer) {
            self.current.insert(peer, key);
        }
    }

    /// Seals from now on with a key that has opened its first frame and not sealed one before: this proves that the
    /// other end has it, and the machine will confirm it.
    pub fn use_shown(&mut self, peer: PeerId, key: KeyId) {
        if self.entries.get(&key).is_some_and(|entry| entry.role == Role::Responder && entry.total == 0) {
            self.use_key(peer, key);
        }
    }

    /// Ages all keys by time that the host's clock has not counted.
    pub fn age(&mut self, span: Duration) {
        self.entries.values_mut().for_each(|entry| entry.expires = entry.expires.saturating_sub(span));
    }

    pub fn forget_all(&mut self) {
        self.entries.clear();
        self.current.clear();
        self.theirs.clear();
    }

    pub fn forget(&mut self, key: KeyId) {
        if let Some(entry) = self.entries.remove(&key) {
            self.theirs.remove(&entry.theirs);
            if self.current.get(&entry.peer) == Some(&key) {
                self.current.remove(&entry.peer);
            }
        }
    }

    /// Seals a frame of data for a peer and writes its header.
    ///
    /// # Errors
    /// [`SealRefusal`] if there is no key that may; the frame is as it was.
    pub fn seal(
        &mut self,
        now: Instant,
        peer: PeerId,
        member: Member,
        frame: &mut C::Frame,
    ) -> Result<Sealed, SealRefusal> {
        let &key = self.current.get(&peer).ok_or(SealRefusal::NoKey)?;
        self.seal_with(now, key, FrameKind::Data, member, frame)
    }

    /// Reserves the number of a frame of data for a peer, `length` with header and tag, which the host seals later with
    /// [`Codec::seal`]; the number is used up.
    ///
    /// # Errors
    /// [`SealRefusal`] if there is no key that may.
    pub fn reserve(
        &mut self,
        now: Instant,
        peer: PeerId,
        member: Member,
        length: Bytes,
    ) -> Result<Reserved<C::Key>, SealRefusal> {
        let &key = self.current.get(&peer).ok_or(SealRefusal::NoKey)?;
        let (_, key, Sealed { header, is_spent }) = self.count(now, key, FrameKind::Data, member, length)?;
        Ok(Reserved { header, key: Arc::clone(key), is_spent })
    }

    /// Seals a control frame, whose byte `frame` holds, with a key that need not be in use.
    ///
    /// # Errors
    /// [`SealRefusal`] if that is not possible.
    pub fn seal_control(
        &mut self,
        now: Instant,
        key: KeyId,
        member: Member,
        frame: &mut C::Frame,
    ) -> Result<Sealed, SealRefusal> {
        self.seal_with(now, key, FrameKind::Control, member, frame)
    }

    fn seal_with(
        &mut self,
        now: Instant,
        key: KeyId,
        kind: FrameKind,
        member: Member,
        frame: &mut C::Frame,
    ) -> Result<Sealed, SealRefusal> {
        let length = self.codec.length(frame);
        let (codec, key, sealed) = self.count(now, key, kind, member, length)?;
        codec.seal(key, &sealed.header, frame);
        Ok(sealed)
    }

    /// The next number of a member, with its key.
    fn count(
        &mut self,
        now: Instant,
        key: KeyId,
        kind: FrameKind,
        member: Member,
        length: Bytes,
    ) -> Result<(&C, &Arc<C::Key>, Sealed), SealRefusal> {
        let Self { codec, limits, entries, stats, .. } = self;
        let entry = entries.get_mut(&key).ok_or(SealRefusal::NoKey)?;
        if now >= entry.expires {
            return Err(SealRefusal::Expired);
        }
        if entry.total >= limits.exhausted {
            return Err(SealRefusal::Exhausted);
        }
        let counter = &mut entry.counters[usize::from(member.0)];
        let header = FrameHeader { kind, member, key: entry.theirs, counter: *counter };
        // First counted, then sealed: whatever happens, never twice.
        *counter += 1;
        let before = entry.total;
        entry.total += (length.as_u64() + (1 << UNIT_BITS) - 1) >> UNIT_BITS;
        stats.sent += 1;
        let is_spent = before < limits.spent && entry.total >= limits.spent;
        Ok((codec, &entry.send, Sealed { header, is_spent }))
    }

    /// Opens a frame in place.
    ///
    /// # Errors
    /// [`Refusal`], which is counted; nothing is to be answered.
    pub fn open(&mut self, now: Instant, frame: &mut C::Frame) -> Result<Opened, Refusal> {
        let opened = self.try_open(now, frame);
        match opened {
            Ok(_) => self.stats.accepted += 1,
            Err(refusal) => self.stats.refuse(refusal),
        }
        opened
    }

    fn try_open(&mut self, now: Instant, frame: &mut C::Frame) -> Result<Opened, Refusal> {
        let header = self.codec.header(frame).map_err(refusal)?;
        let Some(entry) = self.entries.get_mut(&header.key) else {
            let is_ours = self.theirs.contains(&header.key);
            return Err(if is_ours { Refusal::Reflected } else { Refusal::UnknownKey });
        };
        if now >= entry.expires {
            return Err(Refusal::Expired);
        }
        // What the header says is not believed before the frame is opened; a look costs nothing.
        let newness = entry.windows.get(&header.member).map_or(Ok(true), |window| window.check(header.counter));
        let is_newest = newness.map_err(|not_new| match not_new {
            NotNew::Repeated => Refusal::Replayed,
            NotNew::TooOld => Refusal::Stale,
        })?;
        self.codec.open(&entry.receive, &header, frame).map_err(|_| Refusal::Forged)?;
        entry.windows.entry(header.member).or_default().commit(header.counter);
        let control = match header.kind {
            FrameKind::Data => None,
            FrameKind::Control => {
                let byte = self.codec.first_byte(frame).and_then(Control::from_byte);
                Some(byte.ok_or(Refusal::Malformed)?)
            }
        };
        let is_first = !std::mem::replace(&mut entry.has_opened, true);
        Ok(Opened { peer: entry.peer, header, is_first, is_newest, control })
    }
}

/// The refusal for bytes that are no message.
pub(super) fn refusal(error: WireError) -> Refusal {
    match error {
        WireError::Truncated => Refusal::Truncated,
        WireError::Version(_) => Refusal::Version,
        WireError::Kind(_) | WireError::Malformed | WireError::Check => Refusal::Malformed,
    }
}
