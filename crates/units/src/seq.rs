//! Sequence numbers that wrap: serial number arithmetic of RFC 1982 on 32 bits.
//!
//! There is deliberately no `Ord`: a number that wraps has no order, only a distance, and the words below say which
//! question is asked.

use std::fmt;

/// A 32-bit sequence number that wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNum(pub u32);

impl SeqNum {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
    /// The number `n` after this one.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
    /// The number before this one.
    #[must_use]
    pub const fn prev(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }
    /// Distance from `other` to `self`; negative if `self` is before it. At a distance of exactly 2^31 the answer is
    /// "before".
    pub const fn distance_from(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
    /// Whether this number comes before `other`.
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }
    /// Whether this number comes after `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }
}

impl fmt::Display for SeqNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_survives_the_wrap(start: u32, step in 1u32..0x7fff_ffff) {
            let (a, b) = (SeqNum(start), SeqNum(start).plus(step));
            prop_assert!(a.is_before(b) && b.is_after(a) && !b.is_before(a));
            prop_assert_eq!(b.distance_from(a), step as i32);
            prop_assert_eq!(a.next().prev(), a);
        }
    }
}
