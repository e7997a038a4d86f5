//! GF(256): the field of the code, by tables of powers and logarithms.
//!
//! The primitive polynomial is x^8 + x^4 + x^3 + x^2 + 1 and alpha = x, as in most Reed-Solomon codes over bytes.

/// The primitive polynomial, its x^8 included.
const POLYNOMIAL: u16 = 0x11d;
/// The order of alpha: alpha^255 = 1.
pub const ORDER: usize = 255;

const fn tables() -> ([u8; 2 * ORDER], [u8; 256]) {
    let (mut exp, mut log) = ([0; 2 * ORDER], [0; 256]);
    let (mut power, mut i) = (1u16, 0);
    while i < ORDER {
        exp[i] = power as u8;
        exp[i + ORDER] = power as u8;
        log[power as usize] = i as u8;
        power <<= 1;
        if power >= 256 {
            power ^= POLYNOMIAL;
        }
        i += 1;
    }
    (exp, log)
}

const TABLES: ([u8; 2 * ORDER], [u8; 256]) = tables();
/// alpha^i, twice over, so that the sum of two logarithms is an index.
pub static EXP: [u8; 2 * ORDER] = TABLES.0;
/// The logarithm of a number that is not zero.
pub static LOG: [u8; 256] = TABLES.1;

#[inline]
pub fn mul(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 { 0 } else { EXP[usize::from(LOG[usize::from(a)]) + usize::from(LOG[usize::from(b)])] }
}

/// The quotient; `b` is not zero.
#[inline]
pub fn div(a: u8, b: u8) -> u8 {
    debug_assert!(b != 0, "division by zero");
    if a == 0 { 0 } else { EXP[usize::from(LOG[usize::from(a)]) + ORDER - usize::from(LOG[usize::from(b)])] }
}

/// alpha to a power below 255.
#[inline]
pub fn power(i: usize) -> u8 {
    EXP[i]
}

/// The product with alpha^i, i below 255.
#[inline]
pub fn mul_power(a: u8, i: usize) -> u8 {
    if a == 0 { 0 } else { EXP[usize::from(LOG[usize::from(a)]) + i] }
}
