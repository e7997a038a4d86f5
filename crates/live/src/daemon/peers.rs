//! All peers, and the next to be served: a turn of the loop costs as much as is due, for any number of peers.
//!
//! Whoever changes a peer gets it from here; when it is due is noted at the next look at the agenda.

use super::peer::PeerState;
use airbraid_units::Instant;
use std::collections::BTreeSet;
use std::ops::{Deref, Index, IndexMut};

/// The peers, each with a fixed index.
#[derive(Debug, Default)]
pub struct Peers {
    all: Vec<PeerState>,
    /// The due time of each, as in `agenda`; and whether it is among `touched`.
    noted: Vec<(Option<Instant>, bool)>,
    agenda: BTreeSet<(Instant, usize)>,
    /// Peers that may have changed since the last call.
    touched: Vec<usize>,
}

impl Peers {
    /// The peers of the file.
    pub fn new(peers: impl IntoIterator<Item = PeerState>) -> Self {
        let mut all = Self::default();
        peers.into_iter().for_each(|peer| all.push(peer));
        all
    }

    /// Adds a peer, with the next index.
    pub fn push(&mut self, peer: PeerState) {
        self.all.push(peer);
        self.noted.push((None, false));
        self.touch(self.all.len() - 1);
    }

    /// The peer of an index, if there is one.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut PeerState> {
        if place < self.all.len() {
            self.touch(place);
        }
        self.all.get_mut(place)
    }

    fn touch(&mut self, place: usize) {
        if !std::mem::replace(&mut self.noted[place].1, true) {
            self.touched.push(place);
        }
    }

    /// Peers with frames that their tunnels have not got yet, in order.
    pub fn with_frames(&self) -> Vec<usize> {
        let mut those: Vec<usize> =
            self.touched.iter().copied().filter(|at| !self.all[*at].frames.is_empty()).collect();
        those.sort_unstable();
        those
    }

    fn settle(&mut self) {
        let Self { all, noted, agenda, touched } = self;
        touched.retain(|&place| {
            let (before, is_touched) = &mut noted[place];
            let due = all[place].due();
            if *before != due {
                before.map(|at| agenda.remove(&(at, place)));
                due.map(|at| agenda.insert((at, place)));
                *before = due;
            }
            *is_touched = !all[place].frames.is_empty();
            *is_touched
        });
    }

    /// Peers that are due, in order.
    pub fn due(&mut self, now: Instant) -> Vec<usize> {
        self.settle();
        let mut due: Vec<usize> = self.agenda.iter().take_while(|(at, _)| *at <= now).map(|(_, at)| *at).collect();
        due.sort_unstable();
        due
    }

    /// The time at which the next of them is due.
    pub fn next(&mut self) -> Option<Instant> {
        self.settle();
        self.agenda.first().map(|(at, _)| *at)
    }
}

/// Read access.
impl Deref for Peers {
    type Target = [PeerState];
    fn deref(&self) -> &[PeerState] {
        &self.all
    }
}

impl Index<usize> for Peers {
    type Output = PeerState;
    fn index(&self, place: usize) -> &PeerState {
        &self.all[place]
    }
}

impl IndexMut<usize> for Peers {
    fn index_mut(&mut self, place: usize) -> &mut PeerState {
        self.touch(place);
        &mut self.all[place]
    }
}
