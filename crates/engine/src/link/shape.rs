//! The length of a segment on the air and its code: whole blocks of 255 byte, the last one shortened.

use super::refusal::Refusal;

/// Length of a Reed-Solomon block over GF(256), parity included \[byte\].
pub const BLOCK_LEN: u16 = 255;
/// Length of the CRC-32 inside the coded data, which detects a wrong repair \[byte\].
pub const CHECK_LEN: u16 = 4;
/// Largest parity of a block: even, with at least one byte of data \[byte\].
pub const PARITY_MAX: u8 = 254;

/// The largest length of a segment on the air, and its code: the decision of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    bytes: u16,
    parity: u8,
}

impl Shape {
    /// Segments of at most `bytes` on the air, of which `parity` in each block of 255 repair `parity` / 2 wrong ones.
    ///
    /// # Errors
    /// [`Refusal`] if the parity is odd, or leaves a block, or the segment, no byte for data.
    pub const fn new(bytes: u16, parity: u8) -> Result<Self, Refusal> {
        let shape = Self { bytes, parity };
        if !parity.is_multiple_of(2) {
            Err(Refusal::OddParity(parity))
        } else if shape.room() <= CHECK_LEN {
            Err(Refusal::NoRoom { bytes, parity })
        } else {
            Ok(shape)
        }
    }

    /// The same for a constant of this crate.
    pub(crate) const fn constant(bytes: u16, parity: u8) -> Self {
        match Self::new(bytes, parity) {
            Ok(shape) => shape,
            Err(_) => panic!("no such shape"),
        }
    }

    /// Largest length of the coded segment on the air \[byte\].
    pub const fn bytes(self) -> u16 {
        self.bytes
    }
    /// Parity of each block \[byte\].
    pub const fn parity(self) -> u8 {
        self.parity
    }
    /// Number of wrong bytes of a block that the code repairs.
    pub const fn strength(self) -> u8 {
        self.parity / 2
    }

    /// Space beside the parity, the check included \[byte\]. A rest that is not longer than its parity stays unused.
    const fn room(self) -> u16 {
        let parity = self.parity as u16;
        let rest = self.bytes % BLOCK_LEN;
        self.bytes / BLOCK_LEN * (BLOCK_LEN - parity) + rest.saturating_sub(parity)
    }

    /// Bytes of a packet that fit into one such segment; at least 1.
    pub const fn capacity(self) -> u16 {
        self.room() - CHECK_LEN
    }
}

/// Number of blocks of `count` bytes of a packet and their check, with this parity in each.
pub(crate) const fn blocks(count: u16, parity: u8) -> u32 {
    (count as u32 + CHECK_LEN as u32).div_ceil(BLOCK_LEN as u32 - parity as u32)
}

/// Their length on the air \[byte\].
pub(crate) const fn coded_len(count: u16, parity: u8) -> u32 {
    count as u32 + CHECK_LEN as u32 + blocks(count, parity) * parity as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shapes_of_the_paper() {
        let capacity = |bytes, parity| Shape::new(bytes, parity).unwrap().capacity();
        assert_eq!(capacity(1_275, 0), 1_271, "BOLD");
        assert_eq!(capacity(1_275, 12), 5 * 243 - 4, "LIGHT");
        assert_eq!(capacity(255, 84), 171 - 4, "ROBUST");
        assert_eq!(capacity(300, 84), 171 - 4, "45 byte do not hold 84 of parity");
    }

    #[test]
    fn odd_shapes_are_refused() {
        assert_eq!(Shape::new(1_275, 13), Err(Refusal::OddParity(13)));
        assert_eq!(Shape::new(0, 0), Err(Refusal::NoRoom { bytes: 0, parity: 0 }));
        assert_eq!(Shape::new(4, 0), Err(Refusal::NoRoom { bytes: 4, parity: 0 }));
        assert_eq!(Shape::new(255, 254), Err(Refusal::NoRoom { bytes: 255, parity: 254 }));
        assert_eq!(Shape::new(100, 100), Err(Refusal::NoRoom { bytes: 100, parity: 100 }));
        assert!(Shape::new(1_275, 254).is_ok(), "one byte of data in each of five blocks");
    }

    proptest! {
        #[test]
        fn capacity_is_the_most_that_fits(bytes: u16, half in 0u8..=127) {
            let parity = half * 2;
            if let Ok(shape) = Shape::new(bytes, parity) {
                let capacity = shape.capacity();
                prop_assert!(coded_len(capacity, parity) <= u32::from(bytes));
                if let Some(more) = capacity.checked_add(1) {
                    prop_assert!(coded_len(more, parity) > u32::from(bytes));
                }
            }
        }
    }

    #[test]
    fn parity_repairs_half_as_many_bytes_and_is_in_each_block() {
        assert_eq!([0, 2, 84].map(|parity| Shape::new(1_275, parity).unwrap().strength()), [0, 1, 42]);
        // With the check 171 byte fill a block of 255 with 84 of parity; one more begins another.
        assert_eq!([1, 167, 168].map(|count| coded_len(count, 84)), [89, 255, 340]);
    }
}
