//! Modulation and code rate of each MCS, the same for HT, VHT, HE and EHT (19.5, 21.5, 27.5 and 36.5).

/// The part of the coded bits that carries data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRate {
    pub numerator: u8,
    pub denominator: u8,
}

/// Coded bits a subcarrier, numerator and denominator of the code rate, by MCS.
const TABLE: [(u8, u8, u8); 14] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
    (12, 3, 4),
    (12, 5, 6),
];

/// Coded bits a subcarrier and code rate of an MCS that a format has.
pub(super) fn modulation(mcs: u8) -> (u8, CodeRate) {
    let (bits, numerator, denominator) = TABLE[usize::from(mcs)];
    (bits, CodeRate { numerator, denominator })
}
