//! A systematic code against erasures (RFC 6363's words: source, repair): of `k` source symbols and any number of
//! repair symbols any `k` restore the sources.
//!
//! Repair `i` is the sum of `c(i, j)` times source `j` over GF(256), with `c(i, j) = 1 / (x_i + y_j)`, `x_i = 255 - i`
//! and `y_j = j`: a Cauchy matrix, of which each square part has an inverse that can be written down (Blömer, Kalfane,
//! Karp, Karpinski, Luby and Zuckerman 1995). A source symbol that is shorter than another is one that ends in zeros.
//! Nothing here knows what a symbol stands for.

use super::field::{div, mul};

/// Largest number of sources and repairs of a group together: as many as `x` and `y` that differ.
pub const SYMBOLS_MAX: usize = 255;
/// Number of bytes processed at once: two registers of SSE2, which every x86-64 has.
const LANE: usize = 32;

/// The coefficient of a source in a repair; `repair + source` is below 255.
pub fn coefficient(repair: u8, source: u8) -> u8 {
    div(1, (255 - repair) ^ source)
}

/// The product with x.
const fn double(byte: u8) -> u8 {
    // The sign is the power that falls out: x^8 = x^4 + x^3 + x^2 + 1.
    (byte << 1) ^ (0x1d & ((byte as i8) >> 7) as u8)
}

/// Adds `factor` times `bytes` to the beginning of `sum`, which is as long at least.
///
/// By doubling, all bytes of a lane at once: a compiler makes vectors of it, which a table of products does not become
/// without instructions that not every processor has.
pub fn accumulate(sum: &mut [u8], factor: u8, bytes: &[u8]) {
    let (lanes, rest) = bytes.as_chunks::<LANE>();
    let (sums, sums_rest) = sum[..bytes.len()].as_chunks_mut::<LANE>();
    let masks: [u8; 8] = std::array::from_fn(|bit| if factor >> bit & 1 == 1 { 0xff } else { 0 });
    for (sum, lane) in sums.iter_mut().zip(lanes) {
        let mut power = *lane;
        for mask in masks {
            for (sum, byte) in sum.iter_mut().zip(&mut power) {
                *sum ^= *byte & mask;
                *byte = double(*byte);
            }
        }
    }
    for (sum, byte) in sums_rest.iter_mut().zip(rest) {
        *sum ^= mul(factor, *byte);
    }
}

/// The inverse of the coefficients of these sources in these repairs, as many of the one as of the other and none
/// twice: source `a` is the sum over `b` of element `a * n + b` times repair `b`, from which all other sources have
/// been taken away.
pub fn inverse(repairs: &[u8], sources: &[u8]) -> Vec<u8> {
    let x = |repair: u8| 255 - repair;
    let product = |terms: &mut dyn Iterator<Item = u8>| terms.fold(1, mul);
    let rows: Vec<u8> = repairs
        .iter()
        .map(|&b| {
            let above = product(&mut sources.iter().map(|&a| x(b) ^ a));
            let below = product(&mut repairs.iter().filter(|&&other| other != b).map(|&other| x(b) ^ x(other)));
            div(above, below)
        })
        .collect();
    let mut inverse = Vec::with_capacity(rows.len() * rows.len());
    for &a in sources {
        let above = product(&mut repairs.iter().map(|&b| x(b) ^ a));
        let below = product(&mut sources.iter().filter(|&&other| other != a).map(|&other| a ^ other));
        let column = div(above, below);
        inverse.extend(repairs.iter().zip(&rows).map(|(&b, &row)| mul(div(row, x(b) ^ a), column)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lanes_are_what_the_field_says() {
        let bytes: Vec<u8> = (0..=255).chain(0..7).collect();
        for factor in 0..=255 {
            let mut sum = vec![0xa5; bytes.len() + 3];
            accumulate(&mut sum, factor, &bytes);
            let naive = bytes.iter().map(|&byte| 0xa5 ^ mul(factor, byte)).chain([0xa5; 3]);
            assert!(naive.eq(sum.iter().copied()), "factor {factor}");
        }
    }

    /// Solves for the lost symbols by Gauss and Jordan's elimination, a byte at a time.
    fn eliminate(mut rows: Vec<Vec<u8>>) -> Vec<u8> {
        let n = rows.len();
        for pivot in 0..n {
            let found = (pivot..n).find(|&row| rows[row][pivot] != 0).expect("every part of the matrix has an inverse");
            rows.swap(pivot, found);
            let scale = rows[pivot][pivot];
            rows[pivot].iter_mut().for_each(|value| *value = div(*value, scale));
            for row in (0..n).filter(|&row| row != pivot) {
                let factor = rows[row][pivot];
                let taken = rows[pivot].clone();
                rows[row].iter_mut().zip(taken).for_each(|(value, taken)| *value ^= mul(factor, taken));
            }
        }
        rows.iter().map(|row| row[n]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn any_k_of_them_restore_the_sources(
            (sources, repairs, lost) in prop::collection::vec(any::<u8>(), 1..=254).prop_flat_map(|sources| {
                let most = 255 - sources.len();
                let lost = prop::sample::subsequence(
                    (0..sources.len() as u8).collect::<Vec<_>>(),
                    0..=sources.len().min(most),
                );
                (Just(sources), lost).prop_flat_map(move |(sources, lost)| {
                    let repairs = prop::sample::subsequence((0..most as u8).collect::<Vec<_>>(), lost.len());
                    (Just(sources), repairs, Just(lost))
                })
            })
        ) {
            let repair = |index: u8| {
                let mut sum = [0];
                sources
                    .iter()
                    .enumerate()
                    .for_each(|(j, &byte)| accumulate(&mut sum, coefficient(index, j as u8), &[byte]));
                sum[0]
            };
            let left = |index: u8| {
                let came = sources.iter().enumerate().filter(|(j, _)| !lost.contains(&(*j as u8)));
                came.fold(repair(index), |sum, (j, &byte)| sum ^ mul(coefficient(index, j as u8), byte))
            };
            let left: Vec<u8> = repairs.iter().map(|&index| left(index)).collect();
            let expected: Vec<u8> = lost.iter().map(|&j| sources[usize::from(j)]).collect();
            let restored: Vec<u8> = inverse(&repairs, &lost)
                .chunks(lost.len().max(1))
                .map(|row| row.iter().zip(&left).fold(0, |sum, (&a, &b)| sum ^ mul(a, b)))
                .collect();
            prop_assert_eq!(&restored, &expected);
            let rows = repairs
                .iter()
                .zip(&left)
                .map(|(&i, &left)| lost.iter().map(|&j| coefficient(i, j)).chain([left]).collect());
            prop_assert_eq!(eliminate(rows.collect()), expected);
        }
    }
}
