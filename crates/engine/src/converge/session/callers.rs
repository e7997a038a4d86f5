//! Callers that were refused, to explain why a session does not come up. It decides nothing.

use super::address::Address;
use super::material::PublicKey;
use super::stats::Refusal;
use airbraid_units::Instant;
use std::collections::VecDeque;

/// Number of remembered callers with a known key, and of those without: a flood of these drives out none of the former.
const KEPT: usize = 8;

/// A caller whose first message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub from: Address,
    /// The reason: [`Refusal::Stranger`], [`Refusal::UnknownPeer`].
    pub refusal: Refusal,
    /// Its static key, which it has proven to have; `None` where it called another key than ours.
    pub key: Option<PublicKey>,
    pub times: u64,
    /// Time of the last call.
    pub last: Instant,
}

/// The last callers that were refused.
#[derive(Debug, Default)]
pub struct Callers {
    known: VecDeque<Caller>,
    nameless: VecDeque<Caller>,
}

impl Callers {
    /// Notes a refusal. A key is one caller wherever it is, and so is an address without one.
    pub fn note(&mut self, now: Instant, from: Address, refusal: Refusal, key: Option<PublicKey>) {
        let list = if key.is_some() { &mut self.known } else { &mut self.nameless };
        let is_same = |caller: &&mut Caller| if key.is_some() { caller.key == key } else { caller.from == from };
        if let Some(caller) = list.iter_mut().find(is_same) {
            (caller.from, caller.refusal, caller.last) = (from, refusal, now);
            caller.times += 1;
            return;
        }
        if list.len() >= KEPT {
            list.pop_front();
        }
        list.push_back(Caller { from, refusal, key, times: 1, last: now });
    }

    /// All that are remembered.
    pub fn iter(&self) -> impl Iterator<Item = &Caller> {
        self.known.iter().chain(&self.nameless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_drives_out_no_key_and_costs_no_memory() {
        let mut callers = Callers::default();
        let at = |number: u32| {
            let mut bytes = [0; Address::LEN];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            Address(bytes)
        };
        let key = Some(PublicKey([7; 32]));
        for number in 0..1_000 {
            callers.note(Instant::ZERO, at(number % 2), Refusal::UnknownPeer, key);
            callers.note(Instant::ZERO, at(number), Refusal::Stranger, None);
        }
        let known: Vec<_> = callers.iter().filter(|caller| caller.key == key).collect();
        assert_eq!((known.len(), known[0].times, known[0].from), (1, 1_000, at(1)));
        assert_eq!(callers.iter().count(), 1 + KEPT);
    }
}
