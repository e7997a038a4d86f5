//! Properties over every mode: a naive model, order by size and width, LDPC's cost.

use super::super::*;
use super::naive;
use proptest::prelude::*;

/// Any choice of parts, whether the standard has it or not.
fn choices() -> impl Strategy<Value = Choice> {
    let parts = (0..4_usize, 0..5_usize, 0..14_u8, 1..9_u8, 0..4_usize, 0..4_usize, any::<bool>());
    parts.prop_map(|(format, width, mcs, streams, guard, padding, is_ldpc)| {
        let format = Format::ALL[format];
        let width = Width::ALL[width];
        Choice {
            band: if width == Width::Mhz320 { Band::Ghz6 } else { Band::Ghz5 },
            width,
            mcs,
            streams,
            guard_interval: GuardInterval::ALL[guard],
            coding: is_ldpc.then_some(Coding::Ldpc),
            padding: Padding::ALL[padding],
            ..Choice::new(format)
        }
    })
}

fn modes() -> impl Strategy<Value = Mode> {
    choices().prop_filter_map("the standard lacks it", |choice| Mode::new(choice).ok())
}

/// PSDU sizes \[byte\], half of them so short that codewords and segments are cut.
fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![1..400_u64, 1..20_000_u64]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, max_global_rejects: 200_000, ..ProptestConfig::default() })]

    #[test]
    fn a_naive_model_agrees(mode in modes(), psdu in sizes()) {
        let naive = naive::airtime_ns(mode.choice(), mode.coding(), psdu);
        prop_assert_eq!(mode.airtime(Bytes::new(psdu)).as_nanos(), naive);
    }

    #[test]
    fn more_bytes_never_take_less_time(mode in modes(), psdu in sizes()) {
        prop_assert!(mode.airtime(Bytes::new(psdu)) <= mode.airtime(Bytes::new(psdu + 1)));
    }

    /// LDPC's extra symbol is the exception: one long, much punctured codeword can cost more than a short one.
    #[test]
    fn more_width_never_takes_more_time_but_for_an_extra_symbol_of_ldpc(mode in modes(), psdu in sizes()) {
        let choice = *mode.choice();
        for width in Width::ALL.into_iter().filter(|width| *width > choice.width) {
            let band = if width == Width::Mhz320 { Band::Ghz6 } else { choice.band };
            let Ok(wider) = Mode::new(Choice { width, band, ..choice }) else { continue };
            let (narrow, wide) = (mode.parts(Bytes::new(psdu)), wider.parts(Bytes::new(psdu)));
            prop_assert!(wide.symbols <= narrow.symbols + u64::from(wide.has_ldpc_extra), "{:?} {:?}", narrow, wide);
            if choice.padding == Padding::Us0 && !wide.has_ldpc_extra {
                prop_assert!(wide.total() <= narrow.total(), "{:?} {:?}", narrow, wide);
            }
        }
    }

    #[test]
    fn ldpc_asks_for_at_most_one_symbol(mode in modes(), psdu in sizes()) {
        let parts = mode.parts(Bytes::new(psdu));
        let least = (16 + 8 * psdu).div_ceil(mode.bits_per_symbol());
        prop_assert!(parts.symbols >= least && parts.symbols <= least + 1, "{:?}", parts);
    }

    #[test]
    fn the_longest_psdu_is_the_last_that_fits(mode in modes()) {
        let longest = mode.longest_psdu();
        prop_assert!(mode.checked_parts(longest).is_ok());
        prop_assert!(mode.checked_parts(longest + Bytes::new(1)).is_err());
    }
}
