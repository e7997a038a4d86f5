//! Whether LDPC needs more coded bits than the data alone would take (802.11-2020, 19.3.11.7.5, steps a to d).

use super::mcs::CodeRate;

/// Codewords of a PPDU.
struct Codewords {
    count: u64,
    /// Bits of each.
    length: u64,
}

/// Number and length of codewords (table 19-16) for `payload` data bits in `available` coded bits.
fn codewords(payload: u64, available: u64, code: CodeRate) -> Codewords {
    let (numerator, denominator) = (u64::from(code.numerator), u64::from(code.denominator));
    // N_avbits >= N_pld + bits * (1 - R)
    let has_spare = |bits: u64| denominator * available >= denominator * payload + bits * (denominator - numerator);
    let (count, length) = match available {
        0..=648 => (1, if has_spare(912) { 1_296 } else { 648 }),
        649..=1_296 => (1, if has_spare(1_464) { 1_944 } else { 1_296 }),
        1_297..=1_944 => (1, 1_944),
        1_945..=2_592 => (2, if has_spare(2_916) { 1_944 } else { 1_296 }),
        _ => ((payload * denominator).div_ceil(1_944 * numerator), 1_944),
    };
    Codewords { count, length }
}

/// Whether too many parity bits would be punctured, so that a symbol or a segment of one is added (step d).
pub(super) fn needs_extra(payload: u64, available: u64, code: CodeRate) -> bool {
    let (numerator, denominator) = (u64::from(code.numerator), u64::from(code.denominator));
    let Codewords { count, length } = codewords(payload, available, code);
    let bits = count * length;
    let shortened = (bits * numerator / denominator).saturating_sub(payload);
    let punctured = bits.saturating_sub(available + shortened);
    let parity = bits * (denominator - numerator);
    // Tenths of the parity bits, both sides times the denominator of the code rate.
    let share = 10 * denominator * punctured;
    // N_shrt < 1.2 N_punc R / (1 - R)
    let is_little_shortened = 10 * shortened * (denominator - numerator) < 12 * punctured * numerator;
    (share > parity && is_little_shortened) || share > 3 * parity
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides of each line of table 19-16, with rate 1/2: payload, available bits, codewords, their length.
    #[test]
    fn codewords_are_those_of_the_table() {
        let cases = [
            (192, 648, 1, 1_296),
            (193, 648, 1, 648),
            (564, 1_296, 1, 1_944),
            (565, 1_296, 1, 1_296),
            (900, 1_297, 1, 1_944),
            (900, 1_944, 1, 1_944),
            (1_134, 2_592, 2, 1_944),
            (1_135, 2_592, 2, 1_296),
            (1_944, 2_593, 2, 1_944),
            (1_945, 4_000, 3, 1_944),
        ];
        let code = CodeRate { numerator: 1, denominator: 2 };
        for (payload, available, count, length) in cases {
            let found = codewords(payload, available, code);
            assert_eq!((found.count, found.length), (count, length), "{payload} in {available}");
        }
    }

    /// Five codewords of 1944 bits with rate 1/2: 4860 data bits, less those that are shortened, and as many of parity.
    /// Of these more than a tenth must be punctured, and fewer than 1.2 times as many bits shortened.
    #[test]
    fn a_symbol_is_added_where_much_is_punctured_and_little_shortened() {
        let needs = |punctured: u64, shortened: u64| {
            let code = CodeRate { numerator: 1, denominator: 2 };
            needs_extra(4_860 - shortened, 9_720 - punctured - shortened, code)
        };
        assert!(!needs(486, 0) && needs(487, 0), "a tenth of 4860");
        assert!(needs(490, 587) && !needs(490, 588), "1.2 times 490");
    }

    /// One codeword of 1296 bits with rate 1/2: three tenths of 648 are 194.4.
    #[test]
    fn a_symbol_is_added_where_very_much_is_punctured() {
        let needs = |punctured: u64, payload: u64| {
            let code = CodeRate { numerator: 1, denominator: 2 };
            let available = 648 + payload - punctured;
            assert!(codewords(payload, available, code).length == 1_296);
            needs_extra(payload, available, code)
        };
        // 448 bits are shortened: more than 1.2 times what is punctured.
        assert!(!needs(194, 200) && needs(195, 200));
    }
}
