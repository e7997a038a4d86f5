//! All peers, and two sorted indices: by the next timer, and by the address of a session. So no call has to visit every
//! peer.
//!
//! Whoever changes a peer gets it from here, and what follows from the change is noted at the next [`Roster::settle`].

use super::admission::Source;
use super::peer::Peer;
use super::service::PeerId;
use crate::machine::Wake;
use airbraid_units::Instant;
use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};

/// The indexed values of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct IndexedValues {
    wake: Option<Instant>,
    home: Option<Source>,
}

/// The peers, by [`PeerId`].
#[derive(Debug, Default)]
pub(super) struct Roster {
    peers: Vec<Peer>,
    noted: Vec<IndexedValues>,
    wakes: BTreeSet<(Instant, PeerId)>,
    homes: BTreeSet<(Source, PeerId)>,
    /// Peers that may have changed since the last settling.
    touched: Vec<PeerId>,
}

impl Roster {
    pub fn new(peers: impl IntoIterator<Item = Peer>) -> Self {
        let mut roster = Self::default();
        peers.into_iter().for_each(|peer| roster.push(peer));
        roster
    }

    pub fn len(&self) -> usize {
        self.peers.len()
    }

    pub fn push(&mut self, peer: Peer) {
        self.touch(self.peers.len());
        self.peers.push(peer);
        self.noted.push(IndexedValues::default());
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Peer> {
        self.peers.iter()
    }

    pub fn get(&self, place: usize) -> Option<&Peer> {
        self.peers.get(place)
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Peer> {
        if place < self.peers.len() {
            self.touch(place);
        }
        self.peers.get_mut(place)
    }

    fn touch(&mut self, place: usize) {
        let id = PeerId::at(place);
        if self.touched.last() != Some(&id) {
            self.touched.push(id);
        }
    }

    /// Indexes the changed peers.
    pub fn settle(&mut self) {
        let Self { peers, noted, wakes, homes, touched } = self;
        for id in touched.drain(..) {
            let (peer, noted) = (&peers[id.index()], &mut noted[id.index()]);
            let now = IndexedValues { wake: peer.wake().map(|wake| wake.at), home: peer.home().map(Source::of) };
            renew(wakes, id, noted.wake, now.wake);
            renew(homes, id, noted.home, now.home);
            *noted = now;
        }
    }

    /// Returns the peers with a timer that is due, by [`PeerId`].
    pub fn due(&mut self, now: Instant) -> Vec<PeerId> {
        self.settle();
        let due = self.wakes.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id);
        let mut due: Vec<PeerId> = due.collect();
        due.sort_unstable();
        due
    }

    /// The earliest timer of all, as of the last [`Self::settle`].
    pub fn wake(&self) -> Option<Wake> {
        let (_, id) = self.wakes.first()?;
        self.peers[id.index()].wake()
    }

    /// Whether a peer with a session was met here last, as of the last [`Self::settle`].
    pub fn is_home(&self, source: Source) -> bool {
        let mut here = self.homes.range((source, PeerId(0))..);
        here.next().is_some_and(|(home, _)| *home == source)
    }
}

/// Moves a peer from its old position in `sorted` to its new one.
fn renew<T: Copy + Ord>(sorted: &mut BTreeSet<(T, PeerId)>, id: PeerId, before: Option<T>, now: Option<T>) {
    if before == now {
        return;
    }
    if let Some(before) = before {
        sorted.remove(&(before, id));
    }
    if let Some(now) = now {
        sorted.insert((now, id));
    }
}

impl Index<usize> for Roster {
    type Output = Peer;
    fn index(&self, place: usize) -> &Peer {
        &self.peers[place]
    }
}

impl IndexMut<usize> for Roster {
    fn index_mut(&mut self, place: usize) -> &mut Peer {
        self.touch(place);
        &mut self.peers[place]
    }
}
