//! The received counters of one member link (RFC 6479: a ring of words, of which whole ones are cleared as it moves).

/// Words of 64 counters in the ring.
const WORDS: u64 = 64;
/// Largest distance of a frame behind the newest \[frames\]: 45 ms of a gigabit in full frames. The ring less the word
/// that is being filled.
pub const WINDOW: u64 = (WORDS - 1) * 64;

/// The counters of one member link under one key.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    /// One more than the newest.
    next: u64,
    seen: [u64; WORDS as usize],
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { next: 0, seen: [0; WORDS as usize] }
    }
}

/// The reason why a counter is not new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNew {
    /// It was received before.
    Repeated,
    /// It is [`WINDOW`] or more behind the newest.
    TooOld,
}

impl ReplayWindow {
    fn place(counter: u64) -> (usize, u64) {
        ((counter / 64 % WORDS) as usize, 1 << (counter % 64))
    }

    /// Checks whether a frame with this counter may be opened; returns whether it is the newest. Changes nothing: only
    /// authentic frames count.
    ///
    /// # Errors
    /// [`NotNew`] if it has come, or is too old to tell.
    pub fn check(&self, counter: u64) -> Result<bool, NotNew> {
        if counter >= self.next {
            return Ok(true);
        }
        if self.next - 1 - counter >= WINDOW {
            return Err(NotNew::TooOld);
        }
        let (word, bit) = Self::place(counter);
        if self.seen[word] & bit == 0 { Ok(false) } else { Err(NotNew::Repeated) }
    }

    /// Notes a counter that [`Self::check`] has accepted.
    pub fn commit(&mut self, counter: u64) {
        if counter >= self.next {
            // Words that the newest leaves behind, at most all of them; before the first one all are empty.
            let newest = self.next.checked_sub(1);
            let fresh = newest.map_or(0, |newest| (counter / 64 - newest / 64).min(WORDS));
            for step in 0..fresh {
                self.seen[((counter / 64 - step) % WORDS) as usize] = 0;
            }
            self.next = counter + 1;
        }
        let (word, bit) = Self::place(counter);
        self.seen[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a set of all received counters.
        #[test]
        fn as_a_set_of_all(
            steps in prop::collection::vec((prop_oneof![0u64..80, 0u64..5_000, 0u64..20_000], any::<bool>()), 1..400),
        ) {
            let (mut window, mut all, mut newest) = (ReplayWindow::default(), BTreeSet::new(), None::<u64>);
            for (distance, is_behind) in steps {
                let base = newest.unwrap_or(0);
                let counter = if is_behind { base.saturating_sub(distance) } else { base + distance };
                let expected = match newest {
                    Some(newest) if counter <= newest && newest - counter >= WINDOW => Err(NotNew::TooOld),
                    _ if all.contains(&counter) => Err(NotNew::Repeated),
                    newest => Ok(newest.is_none_or(|newest| counter > newest)),
                };
                prop_assert_eq!(window.check(counter), expected);
                if expected.is_ok() {
                    window.commit(counter);
                    all.insert(counter);
                    newest = newest.max(Some(counter));
                }
            }
        }
    }

    #[test]
    fn the_first_counter_of_all() {
        let mut window = ReplayWindow::default();
        assert_eq!(window.check(0), Ok(true));
        window.commit(0);
        assert_eq!(window.check(0), Err(NotNew::Repeated));
        assert_eq!(window.check(1), Ok(true));
    }

    #[test]
    fn the_last_counter_of_all() {
        let mut window = ReplayWindow::default();
        window.commit((1 << 48) - 1);
        assert_eq!(window.check((1 << 48) - 1), Err(NotNew::Repeated));
        assert_eq!(window.check((1 << 48) - 2), Ok(false));
        assert_eq!(window.check(0), Err(NotNew::TooOld));
    }
}
