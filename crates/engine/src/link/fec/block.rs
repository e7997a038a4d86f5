//! The Reed-Solomon code of one block: up to 255 byte, the last of them parity; `parity` / 2 wrong ones are repaired.
//!
//! Systematic, generator (x - 1)(x - alpha)...(x - alpha^(parity - 1)); a block shorter than 255 byte is one whose first
//! bytes are zero and not sent. Decoding by Berlekamp and Massey, Chien and Forney (Blahut 2003, chapter 7). Nothing is
//! allocated for a block.

use super::field::{EXP, LOG, ORDER, div, mul, mul_power, power};
use crate::link::config::Refusal;
use crate::link::shape::PARITY_MAX;

/// The longest block \[byte\].
const LEN: usize = ORDER;
/// Rows of the table are whole runs of so many bytes, which a compiler takes at once.
const LANE: usize = 16;

/// More bytes of the block are wrong than the code repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncorrectable;

/// The code with one number of parity bytes, and its table: 256 rows.
#[derive(Clone, Debug)]
pub struct ReedSolomon {
    parity: usize,
    /// Length of a row: `parity`, rounded up to whole lanes.
    stride: usize,
    /// For each byte the product with the generator polynomial, its leading 1 left out, highest power first.
    rows: Vec<u8>,
}

impl ReedSolomon {
    /// The code with `parity` bytes of parity in each block.
    ///
    /// # Errors
    /// [`Refusal`] if that is odd, or leaves no byte for data.
    pub fn new(parity: u8) -> Result<Self, Refusal> {
        if !parity.is_multiple_of(2) {
            return Err(Refusal::OddParity(parity));
        }
        if parity > PARITY_MAX {
            return Err(Refusal::NoRoom { bytes: LEN as u16, parity });
        }
        let parity = usize::from(parity);
        let generator = generator(parity);
        let stride = parity.next_multiple_of(LANE);
        let mut rows = vec![0; 256 * stride];
        if parity > 0 {
            for (factor, row) in rows.chunks_exact_mut(stride).enumerate() {
                for (product, &coefficient) in row.iter_mut().zip(&generator[1..=parity]) {
                    *product = mul(factor as u8, coefficient);
                }
            }
        }
        Ok(Self { parity, stride, rows })
    }

    /// The number of parity bytes.
    pub fn parity(&self) -> u8 {
        self.parity as u8
    }

    /// Divides a block, highest power first, by the generator, and gives what remains.
    fn remainder(&self, block: &[u8]) -> [u8; LEN] {
        let mut work = [0; 2 * LEN + LANE];
        work[..block.len()].copy_from_slice(block);
        let data = block.len() - self.parity;
        for i in 0..data {
            let at = usize::from(work[i]) * self.stride;
            let row = &self.rows[at..at + self.stride];
            let rest = &mut work[i + 1..i + 1 + self.stride];
            for (rest, row) in rest.as_chunks_mut::<LANE>().0.iter_mut().zip(row.as_chunks::<LANE>().0) {
                *rest = (u128::from_ne_bytes(*rest) ^ u128::from_ne_bytes(*row)).to_ne_bytes();
            }
        }
        let mut remainder = [0; LEN];
        remainder[..self.parity].copy_from_slice(&work[data..block.len()]);
        remainder
    }

    /// Writes the parity of the block's data, which is all of it but the last `parity` bytes, into these.
    ///
    /// # Panics
    /// If the block is longer than 255 byte or shorter than its parity.
    pub fn encode(&self, block: &mut [u8]) {
        assert!((self.parity..=LEN).contains(&block.len()), "a block of {} byte", block.len());
        let data = block.len() - self.parity;
        block[data..].fill(0);
        let remainder = self.remainder(block);
        block[data..].copy_from_slice(&remainder[..self.parity]);
    }

    /// Repairs a block; gives how many bytes were wrong.
    ///
    /// # Errors
    /// [`Uncorrectable`] if no code word is near enough; the block is as it came. With more than `parity` / 2 wrong bytes
    /// it may also be repaired to another code word, for a fraction of about 1 / (parity / 2)! of full blocks.
    ///
    /// # Panics
    /// If the block is longer than 255 byte or shorter than its parity.
    pub fn decode(&self, block: &mut [u8]) -> Result<u8, Uncorrectable> {
        assert!((self.parity..=LEN).contains(&block.len()), "a block of {} byte", block.len());
        let remainder = self.remainder(block);
        let remainder = &remainder[..self.parity];
        if remainder.iter().all(|&byte| byte == 0) {
            return Ok(0);
        }
        let syndromes = syndromes(remainder);
        let (locator, degree) = locator(&syndromes[..self.parity]);
        if degree > self.parity / 2 {
            return Err(Uncorrectable);
        }
        let places = places(&locator[..=degree], block.len())?;
        let evaluator = evaluator(&syndromes, &locator, degree);
        for &place in &places[..degree] {
            let wrong = magnitude(&evaluator[..degree], &locator[..=degree], place);
            block[block.len() - 1 - usize::from(place)] ^= wrong;
        }
        Ok(degree as u8)
    }
}

/// The generator polynomial, highest power first.
fn generator(parity: usize) -> [u8; LEN + 1] {
    let mut generator = [0; LEN + 1];
    generator[0] = 1;
    for root in 0..parity {
        for i in (1..=root + 1).rev() {
            generator[i] ^= mul_power(generator[i - 1], root);
        }
    }
    generator
}

/// The remainder at each root of the generator, which is what the block is there.
fn syndromes(remainder: &[u8]) -> [u8; LEN] {
    let mut syndromes = [0; LEN];
    let roots = &mut syndromes[..remainder.len()];
    for &coefficient in remainder {
        for (root, syndrome) in roots.iter_mut().enumerate() {
            *syndrome = mul_power(*syndrome, root) ^ coefficient;
        }
    }
    syndromes
}

/// The shortest recurrence that makes the syndromes (Massey 1969), lowest power first, and its length.
fn locator(syndromes: &[u8]) -> ([u8; LEN + 1], usize) {
    let (mut current, mut previous) = ([0; LEN + 1], [0; LEN + 1]);
    (current[0], previous[0]) = (1, 1);
    let (mut degree, mut shift, mut last) = (0, 1, 1);
    for n in 0..syndromes.len() {
        let terms = current[1..=degree].iter().zip(syndromes[..n].iter().rev());
        let discrepancy = terms.fold(syndromes[n], |sum, (&a, &b)| sum ^ mul(a, b));
        if discrepancy == 0 {
            shift += 1;
            continue;
        }
        let before = current;
        let factor = div(discrepancy, last);
        for (a, &b) in current[shift..].iter_mut().zip(&previous[..=syndromes.len() - shift.min(syndromes.len())]) {
            *a ^= mul(factor, b);
        }
        if 2 * degree <= n {
            (degree, previous, last, shift) = (n + 1 - degree, before, discrepancy, 1);
        } else {
            shift += 1;
        }
    }
    (current, degree)
}

/// The places whose inverse is a root of the locator, counted from the end of the block (Chien 1964).
fn places(locator: &[u8], len: usize) -> Result<[u8; LEN], Uncorrectable> {
    let degree = locator.len() - 1;
    let (mut places, mut found) = ([0; LEN], 0);
    // Each term at alpha^-place, as a logarithm that goes down by its power from place to place.
    let mut logs = [0usize; LEN + 1];
    for (log, &coefficient) in logs.iter_mut().zip(locator) {
        *log = usize::from(LOG[usize::from(coefficient)]);
    }
    for place in 0..len {
        let mut sum = 0;
        for (power, (log, &coefficient)) in logs.iter_mut().zip(locator).enumerate() {
            if coefficient != 0 {
                sum ^= EXP[*log];
                *log = if *log < power { *log + ORDER - power } else { *log - power };
            }
        }
        if sum == 0 {
            let Some(free) = places.get_mut(found) else { return Err(Uncorrectable) };
            *free = place as u8;
            found += 1;
        }
    }
    if found == degree { Ok(places) } else { Err(Uncorrectable) }
}

/// Syndromes times locator, without the powers from `degree` on.
fn evaluator(syndromes: &[u8; LEN], locator: &[u8; LEN + 1], degree: usize) -> [u8; LEN] {
    let mut evaluator = [0; LEN];
    for (n, sum) in evaluator[..degree].iter_mut().enumerate() {
        *sum = (0..=n).fold(0, |sum, i| sum ^ mul(locator[i], syndromes[n - i]));
    }
    evaluator
}

/// By how much the byte at a place is wrong (Forney 1965).
fn magnitude(evaluator: &[u8], locator: &[u8], place: u8) -> u8 {
    let inverse = (ORDER - usize::from(place)) % ORDER;
    let at = |coefficients: &mut dyn Iterator<Item = (usize, u8)>| {
        coefficients.fold(0, |sum, (n, coefficient)| sum ^ mul_power(coefficient, inverse * n % ORDER))
    };
    let above = at(&mut evaluator.iter().copied().enumerate());
    // The derivative: odd powers alone, each one lower.
    let below =
        at(&mut locator.iter().copied().enumerate().skip(1).step_by(2).map(|(n, coefficient)| (n - 1, coefficient)));
    div(mul(above, power(usize::from(place))), below)
}
