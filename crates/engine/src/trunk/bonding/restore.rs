//! The packets of one member that a repair symbol may need, and the symbols that wait for more.
//!
//! Packets of a member are kept only while symbols come on it: the newest [`REACH`] numbers. A symbol of a group that
//! lacks too many frames waits for more.

use super::coded::Coded;
use super::flow_seq::FlowSeq;
use super::frame::{BondHeader, RepairHeader};
use super::memory::Work;
use airbraid_units::{Duration, Instant, SeqNum};

/// Numbers that are kept: four groups of the largest kind, because links may reorder frames.
pub const REACH: usize = 1_024;
/// Largest number of waiting symbols: some groups of the usual kind, or two of the largest.
const WAITING_MAX: usize = 256;
/// Memory of the table for each number \[byte\].
const SLOT: u64 = 64;
/// Time after the last symbol for which packets are kept: several times as long as a sender relies on it
/// ([`super::group`]).
const LISTENING: Duration = Duration::from_secs(60);

/// The content of a number.
#[derive(Debug)]
enum Kept<K> {
    Nothing,
    /// The packet, and its memory \[byte\].
    Packet(SeqNum, K, u64),
    /// None: it was restored.
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

/// The result of an arrival.
#[derive(Debug)]
pub struct RestoreOutcome<P: Coded> {
    /// Restored packets.
    pub restored: Vec<(FlowSeq, P)>,
    /// Symbols that are used up.
    pub spent: Vec<P::Symbol>,
    /// Number of results that were no packets.
    pub failed: u64,
}

impl<P: Coded> Default for RestoreOutcome<P> {
    fn default() -> Self {
        Self { restored: Vec::new(), spent: Vec::new(), failed: 0 }
    }
}

/// The kept packets and symbols of one member.
#[derive(Debug)]
pub struct Restorer<P: Coded> {
    came: Vec<Kept<P::Kept>>,
    /// The first number that was kept.
    since: SeqNum,
    newest: SeqNum,
    waiting: Vec<Waiting<P::Symbol>>,
    /// Memory of all of it \[byte\].
    occupied: u64,
    heard_at: Instant,
}

impl<P: Coded> Restorer<P> {
    /// The first symbol has come, under this number.
    pub fn new(now: Instant, number: SeqNum) -> Self {
        let came = (0..REACH).map(|_| Kept::Nothing).collect();
        Self { came, since: number, newest: number, waiting: Vec::new(), occupied: REACH as u64 * SLOT, heard_at: now }
    }

    /// Whether there may be more symbols.
    pub fn is_listening(&self, now: Instant) -> bool {
        now.saturating_since(self.heard_at) < LISTENING
    }

    /// Memory of all of it \[byte\].
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Entries in use.
    pub fn kept(&self) -> usize {
        self.came.iter().filter(|came| !matches!(came, Kept::Nothing)).count() + self.waiting.len()
    }

    /// The symbols that wait.
    pub fn into_symbols(self) -> Vec<P::Symbol> {
        self.waiting.into_iter().map(|one| one.symbol).collect()
    }

    fn place(number: SeqNum) -> usize {
        number.0 as usize % REACH
    }

    /// The content of a number, if it has come.
    fn get(&self, number: SeqNum) -> Option<&Kept<P::Kept>> {
        let came = &self.came[Self::place(number)];
        match came {
            Kept::Packet(of, ..) | Kept::Restored(of) if *of == number => Some(came),
            _ => None,
        }
    }

    /// Keeps a packet that has come.
    pub fn on_packet(&mut self, now: Instant, header: BondHeader, packet: &P, work: &mut Work) -> RestoreOutcome<P> {
        let number = header.number;
        let mut outcome = RestoreOutcome::default();
        if self.newest.distance_from(number) >= REACH as i32 || self.get(number).is_some() {
            return outcome;
        }
        if number.is_after(self.newest) {
            self.newest = number;
        }
        let footprint = packet.footprint();
        self.occupied += footprint;
        self.put(number, Kept::Packet(number, packet.keep(header.place), footprint));
        let is_of = |one: &Waiting<P::Symbol>| (0..i32::from(one.sources)).contains(&number.distance_from(one.first));
        if let Some(group) = self.waiting.iter().find(|one| is_of(one)).map(|one| (one.first, one.sources)) {
            self.restore(now, group, work, &mut outcome);
        }
        outcome
    }

    /// Takes a symbol that has come with this number.
    pub fn on_symbol(
        &mut self,
        now: Instant,
        number: SeqNum,
        header: RepairHeader,
        symbol: P::Symbol,
        work: &mut Work,
    ) -> RestoreOutcome<P> {
        let mut outcome = RestoreOutcome::default();
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
    fn forget(&mut self, outcome: &mut RestoreOutcome<P>) {
        let newest = self.newest;
        let is_old = |one: &mut Waiting<P::Symbol>| newest.distance_from(one.first) >= REACH as i32 / 2;
        let before = outcome.spent.len();
        outcome.spent.extend(self.waiting.extract_if(.., is_old).map(|one| one.symbol));
        if self.waiting.len() >= WAITING_MAX {
            outcome.spent.push(self.waiting.remove(0).symbol);
        }
        self.occupied -= outcome.spent[before..].iter().map(P::symbol_footprint).sum::<u64>();
    }

    /// Stores the content of a number; the one whose slot it takes is forgotten.
    fn put(&mut self, number: SeqNum, came: Kept<P::Kept>) {
        if let Kept::Packet(_, _, footprint) = std::mem::replace(&mut self.came[Self::place(number)], came) {
            self.occupied -= footprint;
        }
    }

    /// Restores the missing packets of a group, if there are enough symbols; drops the symbols of a complete group.
    fn restore(
        &mut self,
        now: Instant,
        (first, sources): (SeqNum, u8),
        work: &mut Work,
        outcome: &mut RestoreOutcome<P>,
    ) {
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
                Some(Kept::Packet(_, kept, _)) => Some(kept),
                _ => None,
            })
            .collect();
        // A group is restored once, and no honest sender's groups overlap: restored packets are not kept for others.
        let is_sound = kept.iter().filter(|kept| kept.is_none()).count() == missing.len();
        let products = u64::from(sources) * missing.len() as u64 * longest;
        if is_sound && !missing.is_empty() && work.take(now, products) {
            outcome.restored = P::restore(&kept, &mut symbols[..missing.len()]);
            outcome.failed = (missing.len() - outcome.restored.len()) as u64;
            for number in missing {
                self.put(number, Kept::Restored(number));
            }
        } else {
            outcome.failed = missing.len() as u64;
        }
        outcome.spent.extend(symbols.into_iter().map(|(_, symbol)| symbol));
    }
}
