//! CRC-32 (ISO 3309, IEEE 802.3 clause 3.2.9), eight bytes at a time.

const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[i][b]`: the effect of byte b on the sum, followed by i zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut i = 1;
    while i < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[i - 1][byte];
            tables[i][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        i += 1;
    }
    tables
}

/// The check of `bytes`.
pub fn crc32(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(!0, |sum, word| {
        let word = u64::from_le_bytes(*word) ^ u64::from(sum);
        let bytes = word.to_le_bytes();
        bytes.iter().zip(TABLES.iter().rev()).fold(0, |sum, (&byte, table)| sum ^ table[usize::from(byte)])
    });
    !rest.iter().fold(sum, |sum, &byte| sum >> 8 ^ TABLES[0][usize::from(sum as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_value_of_the_catalogues() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    proptest! {
        #[test]
        fn eight_at_a_time_is_bit_by_bit(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut sum = !0u32;
            for byte in &bytes {
                sum ^= u32::from(*byte);
                for _ in 0..8 {
                    sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
                }
            }
            prop_assert_eq!(crc32(&bytes), !sum);
        }
    }
}
