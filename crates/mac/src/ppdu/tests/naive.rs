//! A model that sends bit by bit: slow, without a division, and without a line in common with the real one.

use super::super::{Choice, Coding, Format, Padding};

/// Coded bits and code rate of one subcarrier by MCS, written as the constellations are named.
fn modulation(mcs: u8) -> (u64, u64, u64) {
    let bits = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10, 12, 12][usize::from(mcs)];
    let (n, d) = match mcs {
        0 | 1 | 3 => (1, 2),
        5 => (2, 3),
        2 | 4 | 6 | 8 | 10 | 12 => (3, 4),
        _ => (5, 6),
    };
    (bits, n, d)
}

/// Airtime \[ns\] with convolutional code and training fields of the usual size, or `None` where this model has none.
pub(super) fn airtime_ns(choice: &Choice, coding: Coding, psdu: u64) -> Option<u64> {
    if coding == Coding::Ldpc || choice.padding != Padding::Us0 {
        return None;
    }
    let wide = choice.format == Format::He || choice.format == Format::Eht;
    let tones = match (wide, choice.width.mhz()) {
        (false, 20) => 52,
        (false, 40) => 108,
        (false, 80) => 234,
        (false, _) => 468,
        (true, _) => 234,
    };
    let (bits, n, d) = modulation(choice.mcs);
    let coded = tones * bits * u64::from(choice.streams);
    let data = coded * n / d;
    let tail = 6 * encoders(choice.format, coded, data, n, d);
    let (mut left, mut symbols) = ((16 + 8 * psdu + tail) as i64, 0);
    while left > 0 {
        left -= data as i64;
        symbols += 1;
    }
    let guard = choice.guard_interval.time().as_nanos();
    let mut end = symbols * (guard + if wide { 12_800 } else { 3_200 });
    while guard == 400 && !end.is_multiple_of(4_000) {
        end += 400;
    }
    Some(preamble(choice, guard) + end)
}

fn encoders(format: Format, coded: u64, data: u64, n: u64, d: u64) -> u64 {
    match format {
        Format::Ht if data / 4 > 300 => 2,
        Format::Vht => {
            let mut encoders = 1;
            while encoders * 2_160 < data || !coded.is_multiple_of(encoders * d) || !data.is_multiple_of(encoders * n) {
                encoders += 1;
            }
            encoders
        }
        _ => 1,
    }
}

fn preamble(choice: &Choice, guard: u64) -> u64 {
    let training: u64 = [1, 2, 4, 4, 6, 6, 8, 8][usize::from(choice.streams) - 1];
    let ltf = match guard {
        3_200 => 16_000,
        _ => 6_400 + guard,
    };
    match choice.format {
        Format::Ht => 32_000 + 4_000 * training,
        Format::Vht => 36_000 + 4_000 * training,
        Format::He => 36_000 + ltf * training,
        Format::Eht => 36_000 + if choice.mcs == 0 { 8_000 } else { 4_000 } + ltf * training,
    }
}
