//! The receive buffers. Each datagram begins in a buffer of the packets' pool, so that a packet stays where the kernel
//! has put it; a longer one, several datagrams in one, continues in a place of its own and is put together there.

use crate::daemon::inner::Summary;
use crate::daemon::packet::{IpPacket, Pool, Run};
use airbraid_units::Duration;
use nix::sys::time::{TimeSpec, TimeValLike};
use std::io::IoSliceMut;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::rc::Rc;

/// Datagrams, or runs of them, of one system call. Uplinks take turns: the most that one brings, 2 MB, is no more than
/// the packets that wait for those of another (2048).
pub(super) const BATCH: usize = 32;
/// Largest age of a datagram: a clock that was set in between adds no more than this.
const AGE_MAX: Duration = Duration::from_secs(1);
/// Longest datagram \[byte\].
const DATAGRAM_MAX: usize = 65_536;
/// Part of it that is received into a packet's buffer: all of an Ethernet's frame \[byte\].
const NEAR: usize = 2_048;
/// Distance of two datagrams' further buffers \[byte\]: a frame beyond a power of two, or they would all lie in the
/// same few sets of the processor's cache.
const STRIDE: usize = DATAGRAM_MAX + 2_112;

/// The receive buffers of all sockets. The default has none.
#[derive(Debug, Default)]
pub struct Room {
    pool: Pool,
    /// The first part of each: buffers with a single handle.
    near: Vec<Rc<Run>>,
    /// The further parts, behind space for the first.
    far: Vec<u8>,
    pub(super) heads: Vec<Head>,
    /// The time of day at which the last call came back.
    pub(super) seen_at: Option<TimeSpec>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub length: usize,
    pub from: SocketAddr,
    pub beside: Beside,
}

/// The control messages of a datagram.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside {
    pub to: Option<IpAddr>,
    pub tos: u8,
    /// Time of day of its arrival.
    pub stamp: Option<TimeSpec>,
    /// Length of the datagrams in it, but perhaps the last, if it is several.
    pub segment: Option<usize>,
}

impl Room {
    /// Room for as many datagrams as one system call gives, for packets of this pool.
    pub fn new(pool: &Pool) -> Self {
        Self {
            pool: pool.clone(),
            near: (0..BATCH).map(|_| pool.take(NEAR)).collect(),
            far: vec![0; BATCH * STRIDE],
            heads: Vec::with_capacity(BATCH),
            seen_at: None,
        }
    }

    /// The slices for the next `count` datagrams.
    pub(super) fn slices(&mut self, count: usize) -> Vec<[IoSliceMut<'_>; 2]> {
        let near = self.near.iter_mut().map(near);
        let both = near.zip(self.far.chunks_exact_mut(STRIDE)).take(count);
        both.map(|(near, far)| [near, &mut far[NEAR..DATAGRAM_MAX]].map(IoSliceMut::new)).collect()
    }

    /// The datagrams of the last call.
    pub fn datagrams(&mut self) -> impl Iterator<Item = Received<'_>> {
        let Self { pool, near: runs, far, heads, seen_at } = self;
        let pool = &*pool;
        let age = |stamp: TimeSpec| {
            let age = seen_at.map_or(0, |seen| seen.num_nanoseconds().saturating_sub(stamp.num_nanoseconds()).max(0));
            Duration::from_nanos(age.unsigned_abs()).min(AGE_MAX)
        };
        heads.iter().zip(runs.iter_mut().zip(far.chunks_exact_mut(STRIDE))).flat_map(move |(head, (run, far))| {
            let Beside { to, tos, stamp, segment } = head.beside;
            let (from, length, age) = (head.from, head.length, stamp.map_or(Duration::ZERO, age));
            let segment = segment.unwrap_or(DATAGRAM_MAX);
            // A datagram without a byte is none that anybody waits for.
            let (own, several) = if length <= segment.min(NEAR) {
                ((length > 0).then_some(Body::Own { run, length, pool }), &mut [][..])
            } else if length <= NEAR {
                (None, &mut near(run)[..length])
            } else {
                far[..NEAR].copy_from_slice(near(run));
                (None, &mut far[..length])
            };
            let several = several.chunks_mut(segment).map(move |bytes| Body::Part { bytes, pool });
            own.into_iter().chain(several).map(move |body| Received { from, to, tos, age, body })
        })
    }
}

/// The first part of a datagram's buffer.
fn near(run: &mut Rc<Run>) -> &mut [u8] {
    // Nobody else has it; if it were otherwise nothing would be received there.
    Rc::get_mut(run).map_or(&mut [], |run| &mut run.room()[..NEAR])
}

#[derive(Debug)]
pub struct Received<'a> {
    /// Source.
    pub from: SocketAddr,
    /// Destination, one of our addresses.
    pub to: Option<IpAddr>,
    /// Its TOS, or traffic class.
    pub tos: u8,
    /// Time since the kernel received it.
    pub age: Duration,
    pub body: Body<'a>,
}

#[derive(Debug)]
pub enum Body<'a> {
    /// A whole buffer of the pool.
    Own {
        run: &'a mut Rc<Run>,
        /// Length of the datagram \[byte\].
        length: usize,
        /// The pool of its replacement.
        pool: &'a Pool,
    },
    /// A part of a buffer.
    Part {
        bytes: &'a mut [u8],
        /// The pool of a buffer for it.
        pool: &'a Pool,
    },
}

impl Body<'_> {
    pub fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Own { run, length, .. } => {
                let length = *length;
                &mut near(run)[..length]
            }
            Self::Part { bytes, .. } => bytes,
        }
    }

    /// The packet in `range`, which `look` summarises, and may change; `None` if it returns `None`. It stays in its
    /// buffer if it can.
    pub fn into_packet(self, range: Range<usize>, look: impl FnOnce(&mut [u8]) -> Option<Summary>) -> Option<IpPacket> {
        match self {
            Self::Own { run, pool, .. } => pool.exchange(run, range, look),
            Self::Part { bytes, pool } => pool.packet(bytes.get(range)?, look),
        }
    }
}
