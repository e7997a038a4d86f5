//! The Internet checksum: one's complement sums of 16-bit words (RFC 1071), and its update after a change of a word
//! (RFC 1624).

/// Number of bytes summed at once, in independent sums.
const STEP: usize = 32;

/// The sum of the big-endian words of `bytes` and of `start`, not yet complemented; an odd last byte is the high half
/// of a word.
pub fn sum(bytes: &[u8], start: u32) -> u32 {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let mut lanes = [0u128; STEP / 8];
    for step in steps {
        for (lane, word) in lanes.iter_mut().zip(step.as_chunks::<8>().0) {
            // A word and the carry of the one before: two instructions for eight bytes.
            *lane += u128::from(u64::from_ne_bytes(*word));
        }
    }
    // The sum of words in the machine's order is the sum in the other order with its bytes exchanged (RFC 1071, section
    // 2).
    let wide: u128 = lanes.iter().sum();
    let mut wide = (wide as u64 & 0xffff_ffff) + (wide as u64 >> 32) + (wide >> 64) as u64;
    while wide >> 16 != 0 {
        wide = (wide & 0xffff) + (wide >> 16);
    }
    let aligned = u32::from((wide as u16).to_be());
    let (pairs, last) = rest.as_chunks::<2>();
    let tail = pairs.iter().fold(0, |total, pair| total + u32::from(u16::from_be_bytes(*pair)));
    let odd = last.first().map_or(0, |last| u32::from(*last) << 8);
    u32::from(fold(start)) + aligned + tail + odd
}

/// A sum as 16 bit.
pub const fn fold(mut total: u32) -> u16 {
    while total >> 16 != 0 {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// The sum of the TCP and UDP pseudo header: addresses, as they stand in the header, protocol and length.
pub fn pseudo(addresses: &[u8], protocol: u8, length: usize) -> u32 {
    sum(addresses, u32::from(protocol) + (length as u32 & 0xffff) + (length as u32 >> 16))
}

/// Corrects the checksum at `at` after a change of a word that it covers (RFC 1624, equation 3).
pub fn adjust(packet: &mut [u8], at: usize, old: u16, new: u16) {
    let Some(field) = packet.get_mut(at..at + 2) else { return };
    let checksum = u16::from_be_bytes([field[0], field[1]]);
    let total = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    field.copy_from_slice(&(!fold(total)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 to the letter.
    fn naive(bytes: &[u8], start: u32) -> u16 {
        let words = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
        let mut total = u64::from(start) + words.sum::<u64>();
        while total >> 16 != 0 {
            total = (total & 0xffff) + (total >> 16);
        }
        total as u16
    }

    proptest! {
        #[test]
        fn as_word_by_word(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0u32..1 << 20) {
            prop_assert_eq!(fold(sum(&bytes, start)), naive(&bytes, start));
        }
    }

    #[test]
    fn the_longest_packet_does_not_overflow() {
        assert_eq!(fold(sum(&[0xff; 65_535], u32::MAX)), naive(&[0xff; 65_535], u32::MAX));
    }
}
