//! The Reed-Solomon code of one block: up to 255 byte, the last of them parity; `parity` / 2 wrong ones are repaired.
//!
//! Systematic, generator (x - 1)(x - alpha)...(x - alpha^(parity - 1)); a block shorter than 255 byte is one whose
//! first bytes are zero and not sent. Decoding by Berlekamp and Massey, Chien and Forney (Blahut 2003, chapter 7).
//! Nothing is allocated for a block.

use super::field::{EXP, LOG, ORDER, div, mul, mul_power, power};
use crate::link::refusal::Refusal;
use crate::link::shape::PARITY_MAX;

/// The longest block \[byte\].
const LEN: usize = ORDER;
/// Length of a lane \[byte\]: rows of the table are whole lanes, each processed at once.
const LANE: usize = 16;

/// More bytes of the block are wrong than the code repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncorrectable;

/// The code with one number of parity bytes, and its table: 256 rows.
#[derive(Clone, Debug)]
pub struct ReedSolomon {
    parity: usize,
    /// Length of a row \[lanes of 16 byte\].
    lanes: usize,
    /// For each byte the product with the generator polynomial, its leading 1 left out, highest power first.
    rows: Vec<[u8; LANE]>,
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
        let lanes = parity.div_ceil(LANE);
        let mut rows = vec![[0; LANE]; 256 * lanes];
        for (index, lane) in rows.iter_mut().enumerate() {
            let (factor, from) = ((index / lanes) as u8, index % lanes * LANE);
            let coefficient = |i| if i < parity { generator[i + 1] } else { 0 };
            *lane = std::array::from_fn(|i| mul(factor, coefficient(from + i)));
        }
        Ok(Self { parity, lanes, rows })
    }

    /// The number of parity bytes.
    pub fn parity(&self) -> u8 {
        self.parity as u8
    }

    /// Divides a block, highest power first, by the generator, and returns the remainder.
    fn remainder(&self, block: &[u8]) -> [u8; LEN] {
        if self.lanes == 1 { self.divide_in_register(block) } else { self.divide_in_memory(block) }
    }

    /// For few parity bytes: one register is shifted through the block.
    fn divide_in_register(&self, block: &[u8]) -> [u8; LEN] {
        let (data, parity) = block.split_at(block.len() - self.parity);
        let register = data.iter().fold(0u128, |register, &byte| {
            let factor = byte ^ (register >> 120) as u8;
            register << 8 ^ u128::from_be_bytes(self.rows[usize::from(factor)])
        });
        let mut remainder = [0; LEN];
        for ((remainder, byte), parity) in remainder.iter_mut().zip(register.to_be_bytes()).zip(parity) {
            *remainder = byte ^ parity;
        }
        remainder
    }

    /// For many: the rows are added along a copy of the block.
    fn divide_in_memory(&self, block: &[u8]) -> [u8; LEN] {
        let mut work = [0; 2 * LEN + LANE];
        work[..block.len()].copy_from_slice(block);
        let data = block.len() - self.parity;
        for i in 0..data {
            let at = usize::from(work[i]) * self.lanes;
            let row = &self.rows[at..at + self.lanes];
            let rest = &mut work[i + 1..i + 1 + self.lanes * LANE];
            for (rest, row) in rest.as_chunks_mut::<LANE>().0.iter_mut().zip(row) {
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

    /// Repairs a block; returns the number of wrong bytes.
    ///
    /// # Errors
    /// [`Uncorrectable`] if no code word is near enough; the block is as it came. With more than `parity` / 2 wrong
    /// bytes it may also be repaired to another code word, for a fraction of about 1 / (parity / 2)! of full blocks.
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

/// The remainder at each root of the generator, which is the value of the block there.
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
    let (mut terms, mut count) = ([(0u8, 0u8); LEN + 1], 0);
    for (power, &coefficient) in locator.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0) {
        terms[count] = (LOG[usize::from(coefficient)], power as u8);
        count += 1;
    }
    for place in 0..len {
        let mut sum = 0;
        for (log, power) in &mut terms[..count] {
            sum ^= EXP[usize::from(*log)];
            let (lower, is_below) = log.overflowing_sub(*power);
            // Modulo 255, where the subtraction is modulo 256.
            *log = lower.wrapping_sub(u8::from(is_below));
        }
        if sum == 0 {
            // As many roots as its degree are all that it has.
            places[found] = place as u8;
            found += 1;
            if found == degree {
                break;
            }
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

/// The error value of the byte at a place (Forney 1965).
fn magnitude(evaluator: &[u8], locator: &[u8], place: u8) -> u8 {
    let inverse = (ORDER - usize::from(place)) % ORDER;
    let above = value(evaluator, inverse);
    // The derivative has the odd powers alone, each one lower: powers of the square.
    let square = 2 * inverse % ORDER;
    let mut exponent = 0;
    let below = locator[1..].iter().step_by(2).fold(0, |sum, &coefficient| {
        let term = mul_power(coefficient, exponent);
        exponent = add(exponent, square);
        sum ^ term
    });
    div(mul(above, power(usize::from(place))), below)
}

/// A polynomial, lowest power first, at alpha^i.
fn value(polynomial: &[u8], i: usize) -> u8 {
    let mut exponent = 0;
    polynomial.iter().fold(0, |sum, &coefficient| {
        let term = mul_power(coefficient, exponent);
        exponent = add(exponent, i);
        sum ^ term
    })
}

/// The sum of two exponents below the order.
fn add(a: usize, b: usize) -> usize {
    if a + b < ORDER { a + b } else { a + b - ORDER }
}
