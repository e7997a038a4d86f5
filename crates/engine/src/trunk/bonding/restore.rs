//! The packets of one member that a repair symbol may need, and the symbols that wait for more.
//!
//! Nothing is kept of a member before a symbol has come on it, nor long after the last. What has come is kept by its number, the newest
//! [`REACH`]; a symbol of a group of which more is missing than can be restored waits for what comes.

use super::coded::Coded;
use super::flow_seq::Place;
use super::frame::{Header, RepairHeader};
use super::memory::Work;
use airbraid_units::{Duration, Instant, SeqNum};

/// What is kept reaches so many numbers back: four groups of the largest kind, because links may exchange frames.
pub const REACH: usize = 1_024;
/// Symbols that wait, at most: some groups of the usual kind, or two of the largest.
const WAITING_MAX: usize = 256;
/// What the table takes for each number \[byte\].
const SLOT: u64 = 64;
/// What is kept is kept for so long after the last symbol: several times as long as a sender relies on it ([`super::group`]).
const LISTENING: Duration = Duration::from_secs(60);

/// What has come under a number.
#[derive(Debug)]
enum Came<K> {
    Nothing,
    /// The packet, and what it occupies \[byte\].
    Packet(SeqNum, K, u64),
    /// Nothing: it was restored.
    Restored(SeqNum),
}

/// A symbol that waits.
#[derive(Debug)]
struct Waiting<S> {
    first: SeqNum,
    sources: u8,
    index: u8,
    symbol: S,
}

/// What follows from what has come.
#[derive(Debug)]
pub struct Outcome<P: Coded> {
    /// Packets that are restored.
    pub restored: Vec<(Place, P)>,
    /// Symbols that are of no more use.
    pub spent: Vec<P::Symbol>,
    /// Packets that came out as none.
    pub failed: u64,
}

impl<P: Coded> Default for Outcome<P> {
    fn default() -> Self {
        Self { restored: Vec::new(), spent: Vec::new(), failed: 0 }
    }
}

/// What is kept of one member.
#[derive(Debug)]
pub struct Restorer<P: Coded> {
    came: Vec<Came<P::Kept>>,
    /// Nothing before this number was kept.
    since: SeqNum,
    newest: SeqNum,
    waiting: Vec<Waiting<P::Symbol>>,
    /// What all of it occupies \[byte\].
    occupied: u64,
    heard_at: Instant,
}

impl<P: Coded> Restorer<P> {
    /// The first symbol has come, under this number.
    pub fn new(now: Instant, number: SeqNum) -> Self {
        let came = (0..REACH).map(|_| Came::Nothing).collect();
        Self { came, since: number, newest: number, waiting: Vec::new(), occupied: REACH as u64 * SLOT, heard_at: now }
    }

    /// Whether there may be more symbols.
    pub fn is_listening(&self, now: Instant) -> bool {
        now.saturating_since(self.heard_at) < LISTENING
    }

    /// What all of it occupies \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Entries in use.
    pub fn kept(&self) -> usize {
        self.came.iter().filter(|came| !matches!(came, Came::Nothing)).count() + self.waiting.len()
    }

    /// The symbols that wait.
    pub fn into_symbols(self) -> Vec<P::Symbol> {
        self.waiting.into_iter().map(|one| one.symbol).collect()
    }

    fn place(number: SeqNum) -> usize {
        number.0 as usize % REACH
    }

    /// What has come under a number; none if nothing has.
    fn get(&self, number: SeqNum) -> Option<&Came<P::Kept>> {
        let came = &self.came[Self::place(number)];
        match came {
            Came::Packet(of, ..) | Came::Restored(of) if *of == number => Some(came),
            _ => None,
        }
    }

    /// A packet has come.
    pub fn on_packet(&mut self, now: Instant, header: Header, packet: &P, work: &mut Work) -> Outcome<P> {
        let number = header.number;
        let mut outcome = Outcome::default();
        if self.newest.distance_from(number) >= REACH as i32 || self.get(number).is_some() {
            return outcome;
        }
        if number.is_after(self.newest) {
            self.newest = number;
        }
        let footprint = packet.footprint();
        self.occupied += footprint;
        self.put(number, Came::Packet(number, packet.keep(header.place), footprint));
        let is_of = |one: &Waiting<P::Symbol>| (0..i32::from(one.sources)).contains(&number.distance_from(one.first));
        if let Some(group) = self.waiting.iter().find(|one| is_of(one)).map(|one| (one.first, one.sources)) {
            self.restore(now, group, work, &mut outcome);
        }
        outcome
    }

    /// A symbol has come, under this number.
    pub fn on_symbol(
        &mut self,
        now: Instant,
        number: SeqNum,
        header: RepairHeader,
        symbol: P::Symbol,
        work: &mut Work,
    ) -> Outcome<P> {
        let mut outcome = Outcome::default();
        self.heard_at = now;
        if number.is_after(self.newest) {
            self.newest = number;
        }
        let first = SeqNum(number.0.wrapping_sub(u32::from(header.index) + u32::from(header.sources)));
        let is_in_reach = !first.is_before(self.since) && self.newest.distance_from(first) < REACH as i32;
        let is_same =
            |one: &Waiting<P::Symbol>| (one.first, one.sources, one.index) == (first, header.sources, header.index);
        if !is_in_reach || self.waiting.iter().any(is_same) {
            outcome.spent.push(symbol);
            return outcome;
        }
        self.forget(&mut outcome);
        self.occupied += P::symbol_footprint(&symbol);
        self.waiting.push(Waiting { first, sources: header.sources, index: header.index, symbol });
        self.restore(now, (first, header.sources), work, &mut outcome);
        outcome
    }

    /// Gives up the symbols of groups that lie too far back, and the oldest if there are too many.
    fn forget(&mut self, outcome: &mut Outcome<P>) {
        let newest = self.newest;
        let is_old = |one: &mut Waiting<P::Symbol>| newest.distance_from(one.first) >= REACH as i32 / 2;
        let before = outcome.spent.len();
        outcome.spent.extend(self.waiting.extract_if(.., is_old).map(|one| one.symbol));
        if self.waiting.len() >= WAITING_MAX {
            outcome.spent.push(self.waiting.remove(0).symbol);
        }
        self.occupied -= outcome.spent[before..].iter().map(P::symbol_footprint).sum::<u64>();
    }

    /// Something has come under a number: what had under the one that lies there is forgotten.
    fn put(&mut self, number: SeqNum, came: Came<P::Kept>) {
        if let Came::Packet(_, _, footprint) = std::mem::replace(&mut self.came[Self::place(number)], came) {
            self.occupied -= footprint;
        }
    }

    /// Restores what is missing of a group, if there are enough symbols of it; if nothing is missing they are of no use.
    fn restore(&mut self, now: Instant, (first, sources): (SeqNum, u8), work: &mut Work, outcome: &mut Outcome<P>) {
        let numbers = (0..u32::from(sources)).map(|step| first.plus(step));
        let missing: Vec<SeqNum> = numbers.clone().filter(|number| self.get(*number).is_none()).collect();
        let is_of = |one: &Waiting<P::Symbol>| (one.first, one.sources) == (first, sources);
        if self.waiting.iter().filter(|one| is_of(one)).count() < missing.len() {
            return;
        }
        let all = self.waiting.extract_if(.., |one| is_of(one)).map(|one| (one.index, one.symbol));
        let mut symbols: Vec<(u8, P::Symbol)> = all.collect();
        self.occupied -= symbols.iter().map(|(_, symbol)| P::symbol_footprint(symbol)).sum::<u64>();
        let longest = symbols.iter().map(|(_, symbol)| P::symbol_len(symbol).as_u64()).max().unwrap_or(0);
        let kept: Vec<Option<&P::Kept>> = numbers
            .map(|number| match self.get(number) {
                Some(Came::Packet(_, kept, _)) => Some(kept),
                _ => None,
            })
            .collect();
        // A group is restored once, and no honest sender's groups overlap: what was restored before is not there to restore others from.
        let is_sound = kept.iter().filter(|kept| kept.is_none()).count() == missing.len();
        let products = u64::from(sources) * missing.len() as u64 * longest;
        if is_sound && !missing.is_empty() && work.take(now, products) {
            outcome.restored = P::restore(&kept, &mut symbols[..missing.len()]);
            outcome.failed = (missing.len() - outcome.restored.len()) as u64;
            for number in missing {
                self.put(number, Came::Restored(number));
            }
        } else {
            outcome.failed = missing.len() as u64;
        }
        outcome.spent.extend(symbols.into_iter().map(|(_, symbol)| symbol));
    }
}
