//! Airtimes beside published ones, the standard's printed rates, a naive model, and properties.

mod naive;
mod properties;
mod published;

use super::*;

pub(super) fn width(mhz: u32) -> Width {
    Width::ALL.into_iter().find(|width| width.mhz() == mhz).unwrap()
}

pub(super) fn guard(ns: u64) -> GuardInterval {
    GuardInterval::ALL.into_iter().find(|guard| guard.time().as_nanos() == ns).unwrap()
}

/// A mode by format, MCS, width \[MHz\], streams and guard interval \[ns\].
fn choice(format: Format, mcs: u8, mhz: u32, streams: u8, guard_ns: u64) -> Choice {
    let band = if mhz == 320 { Band::Ghz6 } else { Band::Ghz5 };
    Choice { band, width: width(mhz), mcs, streams, guard_interval: guard(guard_ns), ..Choice::new(format) }
}

fn mode(format: Format, mcs: u8, mhz: u32, streams: u8, guard_ns: u64) -> Mode {
    Mode::new(choice(format, mcs, mhz, streams, guard_ns)).unwrap()
}

fn ns(mode: &Mode, psdu: u64) -> u64 {
    mode.airtime(Bytes::new(psdu)).as_nanos()
}

#[test]
fn by_ns3s_rules_every_published_duration_is_exact() {
    for (format, mcs, mhz, guard_ns, psdu, published) in published::ROWS {
        let choice = Choice { rules: Rules::Ns3, ..choice(format, mcs, mhz, 1, guard_ns) };
        let ours = ns(&Mode::new(choice).unwrap(), psdu);
        assert_eq!(ours, published, "{format:?} {mcs} {mhz} MHz {guard_ns} ns {psdu} byte");
    }
}

/// Each difference from a published duration is one of the four that docs/models/wifi-phy.md names.
#[test]
fn by_the_standard_a_published_duration_differs_by_named_fields_only() {
    let mut equal = 0;
    for (format, mcs, mhz, guard_ns, psdu, published) in published::ROWS {
        let ours = ns(&mode(format, mcs, mhz, 1, guard_ns), psdu);
        let training = match guard_ns {
            800 => -800,
            3_200 => 8_000,
            _ => 0,
        };
        let signal = match (format, mcs, mhz) {
            (Format::Eht, 0, 80 | 160) => -4_000,
            (Format::Eht, 0, 320) => -12_000,
            _ => 0,
        };
        let expected = match format {
            Format::Ht | Format::Vht => {
                let preamble = if format == Format::Vht { 40_000 } else { 36_000 };
                let symbols = published - 36_000;
                preamble + if guard_ns == 400 { symbols.div_ceil(4_000) * 4_000 } else { symbols }
            }
            Format::He | Format::Eht => published.checked_add_signed(training + signal).unwrap(),
        };
        assert_eq!(ours, expected, "{format:?} {mcs} {mhz} MHz {guard_ns} ns {psdu} byte");
        equal += usize::from(ours == published);
    }
    assert_eq!(equal, 20, "the number that docs/models/wifi-phy.md gives");
}

#[test]
fn rates_are_those_that_the_standard_prints() {
    use Format::{Eht, He, Ht, Vht};
    // Mbit/s in tenths, as 19.5, 21.5, 27.5 and 36.5 round them.
    let printed = [
        (Ht, 0, 20, 1, 800, 65),
        (Ht, 7, 20, 1, 800, 650),
        (Ht, 7, 20, 1, 400, 722),
        (Ht, 7, 40, 1, 400, 1_500),
        (Ht, 7, 40, 4, 800, 5_400),
        (Ht, 7, 40, 4, 400, 6_000),
        (Vht, 8, 20, 1, 800, 780),
        (Vht, 9, 20, 3, 400, 2_889),
        (Vht, 9, 40, 1, 400, 2_000),
        (Vht, 9, 80, 1, 800, 3_900),
        (Vht, 9, 80, 1, 400, 4_333),
        (Vht, 9, 160, 8, 400, 69_333),
        (He, 0, 20, 1, 3_200, 73),
        (He, 11, 20, 1, 800, 1_434),
        (He, 11, 40, 1, 1_600, 2_708),
        (He, 11, 80, 1, 800, 6_005),
        (He, 9, 80, 1, 800, 4_804),
        (He, 11, 160, 1, 800, 12_010),
        (He, 11, 160, 8, 800, 96_078),
        (Eht, 13, 20, 1, 800, 1_721),
        (Eht, 13, 80, 1, 800, 7_206),
        (Eht, 12, 320, 1, 3_200, 22_050),
        (Eht, 13, 320, 1, 800, 28_824),
        (Eht, 13, 320, 8, 800, 230_588),
    ];
    for (format, mcs, mhz, streams, guard_ns, tenths) in printed {
        let rate = mode(format, mcs, mhz, streams, guard_ns).data_rate().as_bps();
        assert_eq!((rate + 50_000) / 100_000, tenths, "{format:?} {mcs} {mhz} {streams} {guard_ns}");
    }
}

#[test]
fn preambles_are_the_sums_of_their_fields() {
    let us = |format, streams, guard_ns| mode(format, 1, 20, streams, guard_ns).preamble().as_nanos();
    assert_eq!([1, 2, 3, 4].map(|n| us(Format::Ht, n, 800)), [36_000, 40_000, 48_000, 48_000]);
    assert_eq!([1, 2, 4, 6, 8].map(|n| us(Format::Vht, n, 800)), [40_000, 44_000, 52_000, 60_000, 68_000]);
    assert_eq!([800, 1_600, 3_200].map(|g| us(Format::He, 1, g)), [43_200, 44_000, 52_000]);
    assert_eq!([1, 2, 3, 8].map(|n| us(Format::Eht, n, 800)), [47_200, 54_400, 68_800, 97_600]);
    assert_eq!(mode(Format::Eht, 0, 20, 1, 800).preamble().as_nanos(), 51_200);
    let sizes = Ltf::ALL.map(|ltf| Choice { ltf: Some(ltf), ..choice(Format::He, 1, 20, 1, 800) });
    assert_eq!(sizes.map(|c| Mode::new(c).unwrap().preamble().as_nanos()), [40_000, 43_200, 49_600]);
}

#[test]
fn each_band_has_its_signal_extension() {
    for format in [Format::Ht, Format::He, Format::Eht] {
        let high = choice(format, 7, 20, 1, 800);
        let low = Mode::new(Choice { band: Band::Ghz2_4, ..high }).unwrap();
        assert_eq!(ns(&low, 1_536), ns(&Mode::new(high).unwrap(), 1_536) + 6_000, "{format:?}");
    }
}

/// 20 MHz, MCS 0: a symbol has 117 data bits and a segment 30; a PSDU of 1, 4, 8 and 11 byte takes 30, 54, 86 and 110.
#[test]
fn the_packet_extension_follows_the_last_symbol() {
    let us = |format, padding| {
        let mode = Mode::new(Choice { padding, ..choice(format, 0, 20, 1, 800) }).unwrap();
        [1, 4, 8, 11].map(|psdu| mode.parts(Bytes::new(psdu)).packet_extension.as_nanos() / 1_000)
    };
    assert_eq!(us(Format::He, Padding::Us0), [0, 0, 0, 0]);
    assert_eq!(us(Format::He, Padding::Us8), [0, 0, 4, 8]);
    assert_eq!(us(Format::He, Padding::Us16), [4, 8, 12, 16]);
    assert_eq!(us(Format::Eht, Padding::Us20), [8, 12, 16, 20]);
}

/// Worked by hand from 19.3.11.7.5 with table 19-16.
#[test]
fn ldpc_adds_a_symbol_where_too_much_parity_would_be_punctured() {
    let parts = |format, mcs, psdu| {
        let choice = Choice { coding: Some(Coding::Ldpc), ..choice(format, mcs, 20, 1, 800) };
        let parts = Mode::new(choice).unwrap().parts(Bytes::new(psdu));
        (parts.symbols, parts.has_ldpc_extra)
    };
    // HT MCS 0: 128 bits in 5 symbols of 52 coded bits. One codeword of 648: 196 shortened, 192 punctured of 324.
    assert_eq!(parts(Format::Ht, 0, 14), (6, true));
    // HT MCS 7: 12304 bits in 48 symbols of 312. 8 codewords of 1944: 656 shortened, none punctured.
    assert_eq!(parts(Format::Ht, 7, 1_536), (48, false));
    // VHT pads to 260 bits of 520 first: 648 and 64 shortened, 64 punctured: a fifth of the parity, little shortened.
    assert_eq!(parts(Format::Vht, 0, 30), (11, true));
}

/// N_ES of VHT where tables 21-30 to 21-61 have more than the rate alone would ask for.
#[test]
fn encoders_are_as_many_as_divide_the_bits() {
    let cases = [
        (80, 2, 7, 3),
        (80, 7, 7, 6),
        (80, 8, 7, 6),
        (80, 7, 8, 6),
        (160, 7, 4, 6),
        (160, 8, 5, 8),
        (160, 7, 6, 8),
        (160, 4, 7, 6),
        (160, 5, 7, 7),
        (160, 7, 7, 9),
        (160, 8, 7, 12),
        (160, 9, 7, 12),
        (20, 0, 1, 1),
        (160, 9, 8, 12),
    ];
    for (mhz, mcs, streams, encoders) in cases {
        let mode = mode(Format::Vht, mcs, mhz, streams, 800);
        let found = vht::encoders(mode.choice(), mode.bits.coded, mode.bits.data);
        assert_eq!(found, encoders, "{mhz} MHz, MCS {mcs}, {streams} streams");
    }
    assert_eq!([864, 1_200, 1_296, 2_160].map(ht::encoders), [1, 1, 2, 2]);
}

#[test]
fn bcc_is_the_default_where_the_standard_has_it() {
    let coding = |format, mcs, mhz, streams| mode(format, mcs, mhz, streams, 800).coding();
    assert_eq!([coding(Format::He, 9, 20, 4), coding(Format::Vht, 9, 160, 8)], [Coding::Bcc; 2]);
    let beyond = [coding(Format::He, 10, 20, 4), coding(Format::He, 9, 20, 5), coding(Format::Eht, 0, 40, 1)];
    assert_eq!(beyond, [Coding::Ldpc; 3]);
}

#[test]
fn a_ppdu_is_never_longer_than_the_standard_allows() {
    let slow = mode(Format::Ht, 0, 20, 1, 800);
    // 5484 us: 36 us of preamble, 1362 symbols of 26 bits, 22 bits of service and tail.
    assert_eq!(slow.longest_psdu(), Bytes::new((1_362 * 26 - 22) / 8));
    assert!(slow.checked_parts(slow.longest_psdu()).is_ok());
    let refused = slow.checked_parts(slow.longest_psdu() + Bytes::new(1)).unwrap_err();
    assert!(refused.to_string().contains("at most 4423 byte fit"), "{refused}");
    assert!(slow.checked_parts(Bytes::ZERO).is_err());
    let fast = mode(Format::Ht, 7, 40, 4, 400);
    assert_eq!(fast.longest_psdu(), Bytes::new(65_535));
    assert!(fast.checked_parts(Bytes::new(65_536)).unwrap_err().to_string().contains("1 to 65535"));
}

#[test]
fn combinations_that_the_standard_lacks_are_refused_with_what_is_near() {
    use Format::{Eht, He, Ht, Vht};
    let cases = [
        (choice(Vht, 9, 20, 1, 800), "near are MCS 8, or 3 and 6 streams, or 40 MHz"),
        (choice(Vht, 6, 80, 3, 800), "802.11ac has no MCS 6 at 80 MHz with 3 streams (802.11-2020, 21.5)"),
        (choice(Vht, 9, 160, 3, 800), "MCS 8"),
        (choice(Ht, 0, 80, 1, 800), "802.11n has no width of 80 MHz: it has 20 MHz and 40 MHz"),
        (choice(He, 0, 320, 1, 800), "802.11ax has no width of 320 MHz"),
        (choice(Ht, 15, 20, 1, 800), "its MCS 15 is MCS 7 with 2 streams"),
        (choice(Vht, 10, 20, 1, 800), "0 to 9; 802.11ax has it"),
        (choice(Eht, 14, 20, 1, 800), "0 to 13; the duplicate"),
        (choice(Ht, 0, 20, 5, 800), "1 to 4"),
        (choice(He, 0, 20, 0, 800), "1 to 8"),
        (choice(He, 0, 20, 1, 400), "it has 800 ns, 1600 ns and 3200 ns"),
        (choice(Vht, 0, 20, 1, 1_600), "it has 400 ns and 800 ns"),
        (Choice { band: Band::Ghz2_4, ..choice(Vht, 0, 20, 1, 800) }, "it works in 5 GHz"),
        (Choice { band: Band::Ghz6, ..choice(Ht, 0, 20, 1, 800) }, "it works in 2.4 GHz and 5 GHz"),
        (Choice { band: Band::Ghz2_4, ..choice(He, 0, 80, 1, 800) }, "20 and 40 MHz"),
        (Choice { band: Band::Ghz5, ..choice(Eht, 0, 320, 1, 800) }, "6 GHz"),
        (Choice { coding: Some(Coding::Bcc), ..choice(He, 0, 40, 1, 800) }, "else ldpc"),
        (Choice { ltf: Some(Ltf::X1), ..choice(Eht, 0, 40, 1, 800) }, "it has 2x and 4x"),
        (Choice { ltf: Some(Ltf::X4), ..choice(He, 0, 40, 1, 1_600) }, "it has 2x"),
        (Choice { ltf: Some(Ltf::X4), ..choice(Ht, 0, 40, 1, 800) }, "one size"),
        (Choice { padding: Padding::Us8, ..choice(Vht, 0, 40, 1, 800) }, "802.11ax and 802.11be have"),
        (Choice { padding: Padding::Us20, ..choice(He, 0, 40, 1, 800) }, "0, 8 or 16 us"),
    ];
    for (choice, said) in cases {
        let refused = Mode::new(choice).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn parts_have_their_names() {
    assert_eq!(Format::ALL.map(Format::name), ["802.11n", "802.11ac", "802.11ax", "802.11be"]);
    assert_eq!(Band::ALL.map(Band::name), ["2.4 GHz", "5 GHz", "6 GHz"]);
    assert_eq!([Coding::Bcc, Coding::Ldpc].map(Coding::name), ["bcc", "ldpc"]);
    assert_eq!(Ltf::ALL.map(Ltf::name), ["1x", "2x", "4x"]);
    assert_eq!(Padding::ALL.map(|padding| padding.time().as_nanos()), [0, 8_000, 16_000, 20_000]);
    assert_eq!(Width::ALL.map(Width::mhz), [20, 40, 80, 160, 320]);
}
