//! A second model of the airtime: slow, by counting, and without a line in common with the real one.

use super::super::{Choice, Coding, Format};

/// The bits of one symbol, and of a quarter of one where the format has quarters.
struct Bits {
    coded: u64,
    data: u64,
    coded_quarter: u64,
    data_quarter: u64,
    /// Numerator and denominator of the code rate.
    rate: (u64, u64),
}

/// Airtime \[ns\] in 5 or 6 GHz with training fields of the usual size.
pub(super) fn airtime_ns(choice: &Choice, coding: Coding, psdu: u64) -> u64 {
    let wide = choice.format == Format::He || choice.format == Format::Eht;
    let bits = bits(choice, wide);
    let tail = if coding == Coding::Bcc { 6 * encoders(choice.format, &bits) } else { 0 };
    let needed = 16 + 8 * psdu + tail;
    let (symbols, quarters) = fill(&bits, needed, wide);
    let (symbols, quarters) = match coding {
        Coding::Bcc => (symbols, quarters),
        Coding::Ldpc => repaired(choice.format, &bits, needed, symbols, quarters),
    };
    let guard = choice.guard_interval.time().as_nanos();
    let mut end = symbols * (guard + if wide { 12_800 } else { 3_200 });
    while guard == 400 && !end.is_multiple_of(4_000) {
        end += 400;
    }
    let padding = choice.padding.time().as_nanos();
    let extension = if wide { padding.saturating_sub([12_000, 8_000, 4_000, 0][quarters as usize - 1]) } else { 0 };
    preamble(choice, guard) + end + extension
}

fn bits(choice: &Choice, wide: bool) -> Bits {
    let width = choice.width.mhz();
    let (tones, quarter) = match (wide, width) {
        (false, 20) => (52, 0),
        (false, 40) => (108, 0),
        (false, 80) => (234, 0),
        (false, _) => (468, 0),
        (true, 20) => (234, 60),
        (true, 40) => (468, 120),
        (true, 80) => (980, 240),
        (true, 160) => (1_960, 492),
        (true, _) => (3_920, 984),
    };
    let each = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10, 12, 12][usize::from(choice.mcs)] * u64::from(choice.streams);
    let (n, d) = match choice.mcs {
        0 | 1 | 3 => (1, 2),
        5 => (2, 3),
        2 | 4 | 6 | 8 | 10 | 12 => (3, 4),
        _ => (5, 6),
    };
    let (coded, coded_quarter) = (tones * each, quarter * each);
    Bits { coded, data: coded * n / d, coded_quarter, data_quarter: coded_quarter * n / d, rate: (n, d) }
}

/// Symbols, and quarters of the last one: all four where the format has none.
fn fill(bits: &Bits, needed: u64, wide: bool) -> (u64, u64) {
    let (mut left, mut symbols) = (needed, 1);
    while left > bits.data {
        left -= bits.data;
        symbols += 1;
    }
    let quarters = (1..4).find(|n| wide && left <= n * bits.data_quarter).unwrap_or(4);
    (symbols, quarters)
}

/// The same with what LDPC adds.
fn repaired(format: Format, bits: &Bits, needed: u64, symbols: u64, quarters: u64) -> (u64, u64) {
    let before = symbols - 1;
    let (payload, available) = match (format, quarters) {
        (Format::Ht, _) => (needed, symbols * bits.coded),
        (_, 4) => (symbols * bits.data, symbols * bits.coded),
        (_, n) => (before * bits.data + n * bits.data_quarter, before * bits.coded + n * bits.coded_quarter),
    };
    if !is_punctured_too_much(payload, available, bits.rate) {
        (symbols, quarters)
    } else if quarters < 4 {
        (symbols, quarters + 1)
    } else {
        (symbols + 1, if format == Format::He || format == Format::Eht { 1 } else { 4 })
    }
}

/// 19.3.11.7.5 in fractions of bits.
fn is_punctured_too_much(payload: u64, available: u64, (n, d): (u64, u64)) -> bool {
    let (rate, pld, avbits) = (n as f64 / d as f64, payload as f64, available as f64);
    // Table 19-16: the most available bits, codewords, the shorter and the longer, spare bits for the longer.
    let table = [(648, 1, 648, 1_296, 912.0), (1_296, 1, 1_296, 1_944, 1_464.0), (1_944, 1, 1_944, 1_944, 0.0)];
    let last = (2_592, 2, 1_296, 1_944, 2_916.0);
    let line = table.into_iter().chain([last]).find(|line| available <= line.0);
    let (count, length) = match line {
        Some((_, count, short, long, spare)) => {
            let needed = pld + spare * (1.0 - rate);
            (count, if avbits >= needed - 1e-6 { long } else { short })
        }
        None => ((1..).find(|count| count * 1_944 * n >= payload * d).unwrap(), 1_944),
    };
    let all = (count * length) as f64;
    let shortened = (all * rate - pld).max(0.0).round();
    let punctured = (all - avbits - shortened).max(0.0);
    let parity = all * (1.0 - rate);
    let is_little_shortened = shortened < 1.2 * punctured * rate / (1.0 - rate) - 1e-6;
    (punctured > 0.1 * parity + 1e-6 && is_little_shortened) || punctured > 0.3 * parity + 1e-6
}

fn encoders(format: Format, bits: &Bits) -> u64 {
    let (n, d) = bits.rate;
    match format {
        Format::Ht if bits.data / 4 > 300 => 2,
        Format::Vht => {
            let mut encoders = 1;
            while encoders * 2_160 < bits.data
                || !bits.coded.is_multiple_of(encoders * d)
                || !bits.data.is_multiple_of(encoders * n)
            {
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
