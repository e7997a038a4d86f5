//! A record of which of the last numbers have come, to distinguish a late packet from a duplicate.

use airbraid_units::SeqNum;

/// Numbers that are remembered, 4 KiB of bits: five seconds of ten channels of 802.11b (6000 packets of 1024 byte a
/// second), five times the longest reordering timer.
pub const WINDOW: u32 = 32_768;
const WORDS: usize = WINDOW as usize / 64;

/// A bit for each of the last [`WINDOW`] numbers up to and including the newest.
#[derive(Clone, Debug)]
pub struct ReceivedWindow {
    newest: SeqNum,
    bits: [u64; WORDS],
}

impl ReceivedWindow {
    /// Everything up to `newest` counts as received.
    pub fn new(newest: SeqNum) -> Self {
        Self { newest, bits: [u64::MAX; WORDS] }
    }

    fn place(number: SeqNum) -> (usize, u64) {
        let bit = number.0 % WINDOW;
        (bit as usize / 64, 1 << (bit % 64))
    }

    /// Moves the window forward to `newest`; the numbers that enter have not come.
    #[inline]
    fn advance(&mut self, newest: SeqNum) {
        let steps = newest.distance_from(self.newest).max(0) as u32;
        if steps >= WINDOW {
            self.bits = [0; WORDS];
        } else {
            for step in 1..=steps {
                let (word, bit) = Self::place(self.newest.plus(step));
                self.bits[word] &= !bit;
            }
        }
        if steps > 0 {
            self.newest = newest;
        }
    }

    /// Moves the window forward to `newest`, however far that is: what lies between has not come.
    pub fn leap(&mut self, newest: SeqNum) {
        if newest.0.wrapping_sub(self.newest.0) >= WINDOW {
            *self = Self { newest, bits: [0; WORDS] };
        } else {
            self.advance(newest);
        }
    }

    /// Marks the `count` numbers from `first` on; returns whether the first had not come before.
    /// It must not be forgotten.
    #[inline]
    pub fn insert_run(&mut self, first: SeqNum, count: u32) -> bool {
        self.advance(first.plus(count - 1));
        let (word, bit) = Self::place(first);
        let is_new = self.bits[word] & bit == 0;
        for step in 0..count {
            let (word, bit) = Self::place(first.plus(step));
            self.bits[word] |= bit;
        }
        is_new
    }

    /// Whether a number has come. It must not be forgotten; one newer than the newest has not.
    pub fn contains(&self, number: SeqNum) -> bool {
        let (word, bit) = Self::place(number);
        !number.is_after(self.newest) && self.bits[word] & bit != 0
    }

    /// Whether a number lies too far back to be remembered.
    pub fn is_forgotten(&self, number: SeqNum) -> bool {
        self.newest.distance_from(number) >= WINDOW as i32
    }
}
