//! The daemon's packets: bytes in pooled buffers, which machines pass around by handle and never read.
//!
//! The data of one read from the interface are one buffer; its segments are handles to it, and their headers are made
//! where they are sealed. A buffer goes back to its pool with its last handle: nothing is allocated for a packet once
//! the pool is warm.

use super::inner::{self, Summary};
use super::memory::Account;
use super::segment::Cut;
use airbraid_engine::{Packet, Share, TrafficClass};
use airbraid_units::Bytes;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Lengths of buffers, so that a short packet does not take a long one: an Ethernet's frame, a few segments, the
/// longest read \[byte\].
const SIZES: [usize; 3] = [2_048, 16_384, READ_MAX];
/// Largest number of buffers of each length that are kept for reuse: 8 MB, 2 MB, 16 MB. A gigabit a second in its queue
/// and under way for 40 ms is 80 runs; a new buffer of that length costs as much as sealing 10 kB.
const KEPT: [usize; 3] = [4_096, 128, 256];
/// The longest packet: IP's lengths have 16 bits \[byte\].
pub const READ_MAX: usize = 65_536;

/// Index in [`SIZES`] of the shortest buffer for this length.
fn fitting(length: usize) -> usize {
    SIZES.iter().position(|size| length <= *size).unwrap_or(SIZES.len() - 1)
}

/// The pool of buffers.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    free: Rc<RefCell<[Vec<Rc<Run>>; SIZES.len()]>>,
}

impl Pool {
    /// A buffer of at least `length` byte with a single handle.
    pub fn take(&self, length: usize) -> Rc<Run> {
        let size = fitting(length);
        let mut run = self.free.borrow_mut()[size].pop().unwrap_or_else(|| Rc::new(Run::new(size)));
        if let Some(run) = Rc::get_mut(&mut run) {
            run.pool = Some(self.clone());
        }
        run
    }

    /// A packet with a copy of these bytes, which `look` summarises, and may change; `None` if it returns `None`.
    pub fn packet(&self, bytes: &[u8], look: impl FnOnce(&mut [u8]) -> Option<Summary>) -> Option<IpPacket> {
        let mut run = self.take(bytes.len());
        let copy = &mut Rc::get_mut(&mut run)?.bytes[..bytes.len()];
        copy.copy_from_slice(bytes);
        let summary = look(copy)?;
        Some(self.run(run, 0..bytes.len(), &summary, None))
    }

    /// The packet in a buffer with a single handle, which `look` summarises, and may change; another buffer then takes
    /// its place. `None` if it returns `None`.
    pub fn exchange(
        &self,
        run: &mut Rc<Run>,
        range: Range<usize>,
        look: impl FnOnce(&mut [u8]) -> Option<Summary>,
    ) -> Option<IpPacket> {
        let own = Rc::get_mut(run)?;
        let size = own.size;
        let summary = look(own.bytes.get_mut(range.clone())?)?;
        let run = std::mem::replace(run, self.take(SIZES[size]));
        Some(self.run(run, range, &summary, None))
    }

    /// A buffer of `length` byte, zero before `fill` writes it: a repair symbol. One longer than any packet could not
    /// be sent: it is truncated.
    pub fn filled(&self, length: usize, fill: impl FnOnce(&mut [u8])) -> IpPacket {
        let (mut run, length) = (self.take(length), length.min(READ_MAX));
        if let Some(run) = Rc::get_mut(&mut run) {
            (run.start, run.length) = (0, length);
            (run.summary, run.cut, run.sent) = (None, None, None);
            run.bytes[..length].fill(0);
            fill(&mut run.bytes[..length]);
        }
        IpPacket { run: Some(run), first: 0, count: 1 }
    }

    /// The packet or run in a buffer of its own: a short one moves to a shorter buffer, and the first buffer is
    /// returned at the end.
    pub fn fit(&self, run: Rc<Run>, length: usize, summary: &Summary, cut: Option<Cut>) -> IpPacket {
        if fitting(length) == run.size {
            return self.run(run, 0..length, summary, cut);
        }
        let mut shorter = self.take(length);
        if let Some(own) = Rc::get_mut(&mut shorter) {
            own.bytes[..length].copy_from_slice(&run.bytes[..length]);
        }
        give_back(run);
        self.run(shorter, 0..length, summary, cut)
    }

    /// The packet in bytes of a buffer of its own, or the run of segments.
    fn run(&self, mut run: Rc<Run>, range: Range<usize>, summary: &Summary, cut: Option<Cut>) -> IpPacket {
        if let Some(run) = Rc::get_mut(&mut run) {
            (run.start, run.length) = (range.start, range.len());
            run.summary = Some(*summary);
            run.cut = cut;
            run.sent = None;
        }
        let count = cut.map_or(1, |cut| cut.count()) as u32;
        IpPacket { run: Some(run), first: 0, count }
    }
}

/// The bytes that a congestion mark changes: the TOS or traffic class, and IPv4's checksum.
pub type Beginning = [u8; BEGINNING];
/// Its length \[byte\].
pub const BEGINNING: usize = 12;

/// A buffer with a packet, or with a run of segments.
#[derive(Debug)]
pub struct Run {
    bytes: Vec<u8>,
    /// Offset and length of the packet.
    start: usize,
    length: usize,
    /// `None` before it is filled.
    summary: Option<Summary>,
    cut: Option<Cut>,
    /// Its beginning as it was sent, if a congestion mark was copied into it.
    sent: Option<Beginning>,
    /// Index in [`SIZES`].
    size: usize,
    /// `None` while it lies in the pool.
    pool: Option<Pool>,
    /// The peer's account that it is charged to.
    account: Option<Account>,
}

impl Run {
    fn new(size: usize) -> Self {
        Self {
            bytes: vec![0; SIZES[size]],
            start: 0,
            length: 0,
            summary: None,
            cut: None,
            sent: None,
            size,
            pool: None,
            account: None,
        }
    }

    /// All bytes of the buffer.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// Returns a buffer to the pool if this was its last handle.
fn give_back(mut run: Rc<Run>) {
    let Some(own) = Rc::get_mut(&mut run) else { return };
    let size = own.size;
    if let Some(account) = own.account.take() {
        account.give_back(SIZES[size]);
    }
    if let Some(pool) = own.pool.take() {
        let mut free = pool.free.borrow_mut();
        if free[size].len() < KEPT[size] {
            free[size].push(run);
        }
    }
}

/// An IP packet, or a run of segments: a handle to its bytes.
#[derive(Debug)]
pub struct IpPacket {
    /// `Some` until it is dropped.
    run: Option<Rc<Run>>,
    first: u32,
    count: u32,
}

impl IpPacket {
    fn own(&self) -> &Run {
        match &self.run {
            Some(run) => run,
            None => unreachable!("a packet has its bytes until it is dropped"),
        }
    }

    /// The bytes of one read, or of one received packet.
    pub fn bytes(&self) -> &[u8] {
        let run = self.own();
        &run.bytes[run.start..run.start + run.length]
    }

    pub fn summary(&self) -> Option<&Summary> {
        self.own().summary.as_ref()
    }

    /// The bytes, to be changed, where there is no other handle.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self.run.as_mut().and_then(Rc::get_mut) {
            Some(run) => &mut run.bytes[run.start..run.start + run.length],
            None => &mut [],
        }
    }

    /// Returns the pool of its buffer.
    pub fn pool(&self) -> Pool {
        self.own().pool.clone().unwrap_or_default()
    }

    /// Charges its buffer to a peer's account, until the last handle is gone.
    pub fn charge(&mut self, account: &Account) {
        let Some(run) = self.run.as_mut().and_then(Rc::get_mut) else { return };
        if run.account.is_none() {
            account.take(SIZES[run.size]);
            run.account = Some(account.clone());
        }
    }
    /// Returns the account that its buffer is charged to.
    pub fn account(&self) -> Option<&Account> {
        self.own().account.as_ref()
    }

    /// Remembers its beginning as it was sent, if that has changed.
    pub fn remember(&mut self, sent: Beginning) {
        if let Some(run) = self.run.as_mut().and_then(Rc::get_mut) {
            run.sent = (!run.bytes[run.start..].starts_with(&sent)).then_some(sent);
        }
    }
    /// Returns its beginning as it was sent, if that has changed.
    pub fn sent(&self) -> Option<&Beginning> {
        self.own().sent.as_ref()
    }
    /// Whether its bytes are those of one packet, and not of a run that has to be cut.
    pub fn is_whole(&self) -> bool {
        self.own().cut.is_none()
    }

    /// Appends the packet, or the first segment that it has, to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        match &self.own().cut {
            Some(cut) => cut.write(self.bytes(), self.first as usize, out),
            None => out.extend_from_slice(self.bytes()),
        }
    }

    fn segment_bytes(&self, index: u32) -> usize {
        let run = self.own();
        run.cut.map_or(run.length, |cut| cut.segment_len(index as usize))
    }
}

impl Drop for IpPacket {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            give_back(run);
        }
    }
}

impl Packet for IpPacket {
    fn len(&self) -> Bytes {
        let last = self.segment_bytes(self.first + self.count - 1);
        Bytes::new(if self.count == 1 {
            last
        } else {
            self.segment_bytes(self.first) * (self.count as usize - 1) + last
        } as u64)
    }
    fn class(&self) -> TrafficClass {
        self.own().summary.map_or(TrafficClass::Bulk, |summary| summary.class)
    }
    /// Its part of the buffer: a run's segments share one.
    fn footprint(&self) -> u64 {
        let run = self.own();
        let parts = run.cut.map_or(1, |cut| cut.count());
        (SIZES[run.size].div_ceil(parts) * self.count as usize) as u64
    }
    fn flow_bucket(&self) -> u16 {
        self.own().summary.map_or(0, |summary| summary.bucket)
    }
    fn is_acknowledgement(&self) -> bool {
        self.own().summary.is_some_and(|summary| summary.is_acknowledgement)
    }
    fn supersedes(&self, older: &Self) -> bool {
        self.flow_bucket() == older.flow_bucket() && inner::supersedes(self.bytes(), older.bytes())
    }
    fn service(&self) -> u8 {
        self.own().summary.map_or(0, |summary| summary.service)
    }
    fn segments(&self) -> u32 {
        self.count
    }
    fn segment_len(&self) -> Bytes {
        Bytes::new(self.segment_bytes(self.first) as u64)
    }
}

impl Share for IpPacket {
    fn share(&self) -> Self {
        Self { run: self.run.clone(), first: self.first, count: self.count }
    }
    fn segment(&self, index: u32) -> Self {
        Self { run: self.run.clone(), first: self.first + index, count: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn free(pool: &Pool) -> usize {
        pool.free.borrow().iter().map(Vec::len).sum()
    }

    fn summary() -> Summary {
        let nowhere = Ipv4Addr::UNSPECIFIED.into();
        Summary {
            source: nowhere,
            destination: nowhere,
            tos: 0,
            bucket: 7,
            class: TrafficClass::Bulk,
            is_acknowledgement: false,
            service: 0,
        }
    }

    #[test]
    fn a_packet_takes_its_buffer_with_it_and_leaves_another() {
        let pool = Pool::default();
        let mut place = pool.take(2_048);
        Rc::get_mut(&mut place).unwrap().room()[5..8].copy_from_slice(&[4, 5, 6]);
        assert!(pool.exchange(&mut place, 5..8, |_| None).is_none());
        let packet = pool.exchange(&mut place, 5..8, |_| Some(summary())).unwrap();
        assert_eq!((packet.bytes(), packet.len().as_u64(), free(&pool)), (&[4u8, 5, 6][..], 3, 0));
        // What is not in it is no packet.
        assert!(pool.exchange(&mut place, 2_048..2_049, |_| Some(summary())).is_none());
        drop(packet);
        give_back(place);
        assert_eq!(free(&pool), 2);
    }

    #[test]
    fn buffers_go_back_when_the_last_handle_is_gone() {
        let summary = summary();
        let pool = Pool::default();
        let packet = pool.packet(&[1, 2, 3], |_| Some(summary)).unwrap();
        let other = packet.share();
        drop(packet);
        assert_eq!((other.bytes(), free(&pool)), (&[1u8, 2, 3][..], 0));
        drop(other);
        assert_eq!(free(&pool), 1);
        assert_eq!(pool.packet(&[9], |_| Some(summary)).unwrap().bytes(), [9]);
        assert_eq!(free(&pool), 1);
        // What is read into a long buffer stays there if it is long, and no other is used up for it.
        let fit = |length| pool.fit(pool.take(READ_MAX), length, &summary, None);
        drop((fit(60_000), fit(60_000)));
        assert_eq!(free(&pool), 3);
        drop(fit(60_000));
        assert_eq!(free(&pool), 3);
        drop(fit(100));
        assert_eq!(free(&pool), 3);
        // One of middle length is another.
        let long = pool.packet(&[0; 3_000], |_| Some(summary)).unwrap();
        assert_eq!((free(&pool), long.len().as_u64(), long.flow_bucket()), (3, 3_000, 7));
    }
}
