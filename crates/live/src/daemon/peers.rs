//! All peers, and whose turn is next: a turn of the loop costs what is due, however many peers there are.
//!
//! Whoever changes a peer gets it from here; when it is due is noted at the next look at the agenda.

use super::peer::PeerState;
use airbraid_units::Instant;
use std::collections::BTreeSet;
use std::ops::{Deref, Index, IndexMut};

/// The peers, each in the place that it keeps.
#[derive(Debug, Default)]
pub struct Peers {
    all: Vec<PeerState>,
    /// When each is due, as in `agenda`; and whether it is among `touched`.
    noted: Vec<(Option<Instant>, bool)>,
    agenda: BTreeSet<(Instant, usize)>,
    /// Those that may have changed since the last look.
    touched: Vec<usize>,
}

impl Peers {
    /// Those of the file.
    pub fn new(peers: impl IntoIterator<Item = PeerState>) -> Self {
        let mut all = Self::default();
        peers.into_iter().for_each(|peer| all.push(peer));
        all
    }

    /// One more, in the next place.
    pub fn push(&mut self, peer: PeerState) {
        self.all.push(peer);
        self.noted.push((None, false));
        self.touch(self.all.len() - 1);
    }

    /// One, if there is such a place.
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

    /// Those that frames have come from that their tunnels have not got yet, in order.
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

    /// Those that are due, in order.
    pub fn due(&mut self, now: Instant) -> Vec<usize> {
        self.settle();
        let mut due: Vec<usize> = self.agenda.iter().take_while(|(at, _)| *at <= now).map(|(_, at)| *at).collect();
        due.sort_unstable();
        due
    }

    /// When the next of them is.
    pub fn next(&mut self) -> Option<Instant> {
        self.settle();
        self.agenda.first().map(|(at, _)| *at)
    }
}

/// To look at.
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
