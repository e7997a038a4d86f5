//! The frames that were sent on one member and whose fate is not known, or was decided of late.
//!
//! Numbers are consecutive and used once. A frame stays for a while after it was held to be lost: if it comes after all,
//! the packet need not be sent again, and the member is known to reorder.

use super::store::PacketId;
use airbraid_units::{Instant, SeqNum};
use std::collections::VecDeque;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A packet.
    Packet(PacketId),
    /// A question.
    Probe,
}

/// What is known of a frame's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    OnTheWay,
    /// It has come.
    Acknowledged,
    /// It was held to be lost at this time.
    Lost(Instant),
}

/// A frame that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// Its length on the wire \[byte\].
    pub bytes: u32,
    /// How long it was expected to wait for those before it, and to be sent \[us\].
    pub due_us: u32,
    /// Bytes sent on this member up to and including this frame.
    pub total: u64,
    /// How often the member had had nothing to send before this frame.
    pub idles: u32,
    /// What it carries.
    pub content: Content,
    /// What became of it.
    pub fate: Fate,
}

/// The frames of one member.
#[derive(Debug)]
pub struct Ledger {
    /// The number of the first entry.
    first: SeqNum,
    entries: VecDeque<Sent>,
    on_the_way: u32,
    bytes_on_the_way: u64,
    total: u64,
}

impl Ledger {
    /// Nothing was sent; `first` is the first number.
    pub const fn new(first: SeqNum) -> Self {
        Self { first, entries: VecDeque::new(), on_the_way: 0, bytes_on_the_way: 0, total: 0 }
    }

    /// The number of the next frame.
    pub fn next(&self) -> SeqNum {
        self.first.plus(self.entries.len() as u32)
    }
    /// Frames on the way.
    pub const fn on_the_way(&self) -> u32 {
        self.on_the_way
    }
    /// Their bytes.
    pub const fn bytes_on_the_way(&self) -> u64 {
        self.bytes_on_the_way
    }

    /// Entries kept, decided ones among them.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A frame leaves now.
    pub fn push(&mut self, at: Instant, bytes: u32, due_us: u32, idles: u32, content: Content) -> SeqNum {
        let number = self.next();
        self.total += u64::from(bytes);
        self.on_the_way += 1;
        self.bytes_on_the_way += u64::from(bytes);
        let (total, fate) = (self.total, Fate::OnTheWay);
        self.entries.push_back(Sent { at, bytes, due_us, total, idles, content, fate });
        number
    }

    /// The entry of a number, if it is kept.
    pub fn get(&self, number: SeqNum) -> Option<&Sent> {
        let index = usize::try_from(number.distance_from(self.first)).ok()?;
        self.entries.get(index)
    }

    /// The numbers kept, the oldest first.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = (SeqNum, &Sent)> {
        self.entries.iter().enumerate().map(|(index, sent)| (self.first.plus(index as u32), sent))
    }

    /// Decides a frame's fate; gives the entry as it was if that changes anything.
    pub fn decide(&mut self, number: SeqNum, fate: Fate) -> Option<Sent> {
        let index = usize::try_from(number.distance_from(self.first)).ok()?;
        let entry = self.entries.get_mut(index)?;
        let before = *entry;
        match (before.fate, fate) {
            (Fate::OnTheWay, Fate::Acknowledged | Fate::Lost(_)) => {
                self.on_the_way -= 1;
                self.bytes_on_the_way -= u64::from(entry.bytes);
            }
            (Fate::Lost(_), Fate::Acknowledged) => {}
            _ => return None,
        }
        entry.fate = fate;
        Some(before)
    }

    /// The oldest frame on the way.
    pub fn oldest(&self) -> Option<&Sent> {
        self.entries.iter().find(|sent| sent.fate == Fate::OnTheWay)
    }

    /// Takes the oldest entry if its fate is decided, and was before `until` if it was lost.
    pub fn pop_decided(&mut self, until: Instant) -> Option<Sent> {
        let is_done = match self.entries.front()?.fate {
            Fate::OnTheWay => false,
            Fate::Acknowledged => true,
            Fate::Lost(at) => at < until,
        };
        if !is_done {
            return None;
        }
        self.first = self.first.next();
        self.entries.pop_front()
    }
}
