//! The batch of a socket, with its sealing and sending: on the daemon's own thread, or on one beside it, so that a host
//! with processors to spare has the tunnel on one and each uplink's sealing and sending on another.
//!
//! A frame's number is counted where it is put here, and its key goes with it: a number is used once, whoever seals.
//! Loads leave a socket in the order in which they were given; so a load goes by the daemon's own thread only while the
//! other has none.

use super::socket::{Batch, Outgoing, Outlet, Refused, Socket};
use super::tag::{Refusal, Tag};
use crate::clock::Clock;
use airbraid_engine::converge::session::{Aead, Codec, FrameHeader, Reserved};
use airbraid_units::{Duration, Instant};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// The key that seals a frame.
pub type Key = <Aead as Codec>::Key;
/// Largest number of loads that wait for the other thread: then the daemon waits for it, as if it sealed itself. A
/// megabyte, 3 ms of 3 Gbit/s.
const WAITING: usize = 8;
/// Lateness above which a datagram says nothing of its link: half of the shortest measurement of a rate.
const LATE: Duration = Duration::from_millis(5);
/// Shortest load for another thread, whose wake-up takes as long as sealing 50 kB \[byte\].
const SHORT: usize = 1 << 14;

/// The written state of a datagram.
#[derive(Debug)]
pub enum Written {
    /// Nothing was written: it cannot be sent.
    Nothing,
    /// It is complete.
    Whole,
    /// A frame that is to be sealed.
    Unsealed(Reserved<Key>),
}

/// A frame that is still to be sealed.
#[derive(Debug)]
struct Unsealed {
    header: FrameHeader,
    range: (usize, usize),
    /// Index of its key.
    key: usize,
}

/// Datagrams for one socket, some of which are still to be sealed.
#[derive(Debug, Default)]
pub struct SendLoad {
    /// Frames are sealed when the load is sent; otherwise at once, while they are in the processor's nearest cache.
    is_deferred: bool,
    batch: Batch<Tag>,
    unsealed: Vec<Unsealed>,
    keys: Vec<Arc<Key>>,
    /// The time at which the first of it was to leave.
    asked: Instant,
}

/// The time in which a host was not awake to send: from the first datagram that left too late until the last of them
/// had left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateSpan(pub Option<(Instant, Instant)>);

impl LateSpan {
    /// A datagram that was to leave at `asked` left at `left`.
    pub fn add(&mut self, asked: Instant, left: Instant) {
        if left.saturating_since(asked) > LATE {
            let (since, until) = self.0.unwrap_or((asked, left));
            self.0 = Some((since.min(asked), until.max(left)));
        }
    }
}

impl SendLoad {
    /// An empty one, for a thread to seal.
    pub fn deferred() -> Self {
        Self { is_deferred: true, ..Self::default() }
    }

    /// Appends a datagram that is to leave now and that `write` writes; returns whether it did. `made` builds its entry
    /// from its range.
    pub fn add(
        &mut self,
        now: Instant,
        write: impl FnOnce(&mut Vec<u8>) -> Written,
        made: impl FnOnce((usize, usize)) -> Outgoing<Tag>,
    ) -> bool {
        let start = self.batch.bytes.len();
        let written = write(&mut self.batch.bytes);
        let range = (start, self.batch.bytes.len());
        match written {
            Written::Nothing => {
                self.batch.bytes.truncate(start);
                return false;
            }
            Written::Whole => {}
            Written::Unsealed(Reserved { header, key, .. }) if !self.is_deferred => {
                Aead.seal(&key, &header, &mut self.batch.bytes[start..]);
            }
            Written::Unsealed(Reserved { header, key, .. }) => {
                if self.keys.last().is_none_or(|last| !Arc::ptr_eq(last, &key)) {
                    self.keys.push(key);
                }
                self.unsealed.push(Unsealed { header, range, key: self.keys.len() - 1 });
            }
        }
        if self.batch.datagrams.is_empty() {
            self.asked = now;
        }
        self.batch.datagrams.push(made(range));
        true
    }

    /// Datagrams and bytes.
    pub fn len(&self) -> (usize, usize) {
        (self.batch.datagrams.len(), self.batch.bytes.len())
    }

    fn send(&mut self, outlet: &mut Outlet, refused: impl FnMut(Outgoing<Tag>, Refused)) {
        for Unsealed { header, range, key } in self.unsealed.drain(..) {
            Aead.seal(&self.keys[key], &header, &mut self.batch.bytes[range.0..range.1]);
        }
        self.keys.clear();
        outlet.send(&mut self.batch, refused);
    }
}

/// A load that has been sent.
#[derive(Debug)]
struct Done {
    load: SendLoad,
    refused: Vec<Refusal>,
    left: Instant,
}

/// A thread that seals and sends loads.
#[derive(Debug)]
pub struct Lane {
    /// The queue to it; `None` when it is to end.
    given: Option<SyncSender<SendLoad>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    /// Number of loads that have not come back.
    out: usize,
    spare: Vec<SendLoad>,
}

impl Lane {
    /// Starts a thread for a socket.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn new(socket: &Socket, clock: Clock) -> std::io::Result<Self> {
        let ((given, loads), (finished, done)) = (sync_channel(WAITING), channel());
        let end = socket.end();
        let work = move || work(Outlet::new(end), clock, &loads, &finished);
        let thread = Some(std::thread::Builder::new().name("uplink".to_owned()).spawn(work)?);
        Ok(Self { given: Some(given), done, thread, out: 0, spare: Vec::new() })
    }

    /// Whether it has work, or something to report.
    pub fn is_busy(&self) -> bool {
        self.out > 0
    }

    /// Collects its refusals, and the times at which it sent too late.
    pub fn collect(&mut self, refused: &mut Vec<Refusal>, late: &mut LateSpan) {
        while let Ok(done) = self.done.try_recv() {
            self.out -= 1;
            late.add(done.load.asked, done.left);
            self.spare.push(done.load);
            refused.extend(done.refused);
        }
    }

    /// Gives it a load, if that is worth it or must be to keep the order; `load` is empty then. Returns whether it has
    /// taken it.
    pub fn take(&mut self, load: &mut SendLoad) -> bool {
        let Some(given) = self.given.as_ref().filter(|_| self.is_busy() || load.len().1 >= SHORT) else { return false };
        let full = std::mem::replace(load, self.spare.pop().unwrap_or_else(SendLoad::deferred));
        match given.send(full) {
            Ok(()) => {
                self.out += 1;
                true
            }
            Err(failed) => {
                *load = failed.0;
                (self.given, self.out) = (None, 0);
                false
            }
        }
    }
}

impl Drop for Lane {
    /// Waits until the socket is closed: another may take its port.
    fn drop(&mut self) {
        self.given = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut outlet: Outlet, clock: Clock, loads: &Receiver<SendLoad>, finished: &Sender<Done>) {
    while let Ok(mut load) = loads.recv() {
        let mut refused = Vec::new();
        load.send(&mut outlet, |datagram, why| refused.push((datagram, why)));
        if finished.send(Done { load, refused, left: clock.now() }).is_err() {
            return;
        }
    }
}

/// Seals and sends a load on this thread.
pub fn send(load: &mut SendLoad, socket: &mut Socket, clock: Clock, refused: &mut Vec<Refusal>, late: &mut LateSpan) {
    load.send(socket.outlet(), |datagram, why| refused.push((datagram, why)));
    late.add(load.asked, clock.now());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::packet::Pool;
    use crate::daemon::socket::Room;
    use airbraid_engine::converge::session::{
        FRAME_HEADER_LEN, KeyId, Keypair, Keyring, PeerId, Role, Secret, Suite, TAG_LEN,
    };
    use airbraid_engine::trunk::Member;
    use airbraid_units::Bytes;
    use std::net::{Ipv4Addr, SocketAddr};

    /// Both directions by one key each.
    fn rings() -> [Keyring<Aead>; 2] {
        [(1u8, 2u8), (2, 1)].map(|(send, receive)| {
            let mut ring = Keyring::new(Aead);
            ring.install(&Keypair {
                peer: PeerId(0),
                ours: KeyId(receive.into()),
                theirs: KeyId(send.into()),
                suite: Suite::Aes256Gcm,
                send: Secret::new([send; 32]),
                receive: Secret::new([receive; 32]),
                version: 1,
                role: if send == 1 { Role::Initiator } else { Role::Responder },
                expires: Instant::MAX,
            });
            ring.use_key(PeerId(0), KeyId(receive.into()));
            ring
        })
    }

    #[test]
    fn what_a_thread_seals_arrives_in_order_between_what_the_daemon_seals() {
        let [mut near, mut far] = rings();
        let mut here = Socket::open((None, 0), true, 0, true).unwrap();
        let mut there = Socket::open((None, 0), true, 0, true).unwrap();
        let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), there.port().unwrap());
        let clock = Clock::start();
        let (mut lane, mut load) = (Lane::new(&here, clock).unwrap(), SendLoad::deferred());
        let (mut refused, mut late) = (Vec::new(), LateSpan::default());
        let (mut room, mut seen, mut by_thread) = (Room::new(&Pool::default()), Vec::new(), 0);
        let mut sent = 0u32;
        // Long loads, and short ones behind them.
        for count in [40, 1, 30, 2, 1, 40, 3].repeat(4) {
            for _ in 0..count {
                let write = |out: &mut Vec<u8>| {
                    out.extend([0; FRAME_HEADER_LEN]);
                    out.extend(sent.to_be_bytes());
                    out.extend([0x5a; 1_000]);
                    out.extend([0; TAG_LEN]);
                    near.reserve(Instant::ZERO, PeerId(0), Member(0), Bytes::new(1_032))
                        .map_or(Written::Nothing, Written::Unsealed)
                };
                let tag = Tag { peer: 0, frame: None, is_probe: false };
                assert!(load.add(clock.now(), write, |range| Outgoing {
                    to,
                    source: None,
                    tos: 0,
                    range,
                    is_probe: false,
                    tag
                }));
                sent += 1;
            }
            lane.collect(&mut refused, &mut late);
            if lane.take(&mut load) {
                by_thread += 1;
            } else {
                send(&mut load, &mut here, clock, &mut refused, &mut late);
            }
            assert_eq!(load.len(), (0, 0));
            while seen.len() < sent as usize {
                there.receive(&mut room).unwrap();
                for mut came in room.datagrams() {
                    let frame = came.body.bytes();
                    assert!(far.open(Instant::ZERO, frame).unwrap().is_newest);
                    let number = frame[FRAME_HEADER_LEN..].first_chunk::<4>().unwrap();
                    seen.push(u32::from_be_bytes(*number));
                }
                if by_thread % 2 == 0 {
                    // The next load meets those before it.
                    break;
                }
            }
        }
        while seen.len() < sent as usize {
            there.receive(&mut room).unwrap();
            for mut came in room.datagrams() {
                let frame = came.body.bytes();
                far.open(Instant::ZERO, frame).unwrap();
                seen.push(u32::from_be_bytes(*frame[FRAME_HEADER_LEN..].first_chunk::<4>().unwrap()));
            }
        }
        assert_eq!(seen, (0..sent).collect::<Vec<_>>());
        assert!(by_thread >= 12, "{by_thread} by the thread");
        while lane.is_busy() {
            lane.collect(&mut refused, &mut late);
        }
        assert!(refused.is_empty());
    }
}
