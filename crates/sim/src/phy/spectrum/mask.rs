//! Transmit spectra, and the part of a transmission that falls into a band of frequencies.
//!
//! A transmitter uses the whole of its spectral mask: within its channel OFDM is flat and DSSS has the spectrum of its
//! chips; outside, the power density is that of the mask to the offset where it reaches its floor, and nothing beyond.
//! So neighbouring channels disturb each other at least as much as those of a transmitter that the standard allows.
//! Receivers take their own band and nothing else of what arrives; their filters are not modelled.
//!
//! 802.11-2020, 16.3.7.5 (DSSS), 17.3.9.3 (OFDM), 19.3.18.1 (HT), 21.3.17.1 (VHT); 802.11ax-2021, 27.3.19.1 (HE);
//! 802.11be-2024, 36.3.20.1 (EHT).

use airbraid_mac::ppdu::Width;
use core::f64::consts::{LN_10, PI};

/// The spectrum of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// DSSS and CCK: chips of 11 MHz under a mask of 22 MHz.
    Dsss,
    /// OFDM with the symbol of 802.11a: also HT, VHT and duplicates of non-HT frames.
    Ofdm(Width),
    /// HE and EHT, whose tones reach closer to the edge.
    Dense(Width),
}

/// Chip rate of DSSS \[MHz\] (15.4.3).
const CHIP_RATE: f64 = 11.0;
/// Mask of DSSS: -30 dBr from 11 to 22 MHz, -50 dBr from there (16.3.7.5); it is followed to 33 MHz, half a width
/// further, as those of OFDM.
const DSSS_STEPS: [(f64, f64, f64); 2] = [(11.0, 22.0, -30.0), (22.0, 33.0, -50.0)];
/// Steps of the rule that integrates the main lobe of DSSS \[MHz\]: 0.05 are 1e-5 of its power.
const DSSS_STEP: f64 = 0.05;
/// Half of what a receiver of DSSS takes in \[MHz\].
const DSSS_HALF: f64 = 11.0;
/// Power of the main lobe of DSSS on one side, as `main_lobe` integrates it: every run of 802.11b needs it \[MHz\].
const DSSS_LOBE: f64 = 4.965_528_334_623_059;

impl Shape {
    /// Half of the band that a receiver of such a signal takes in \[MHz\].
    pub fn half_band_mhz(self) -> f64 {
        match self {
            Self::Dsss => DSSS_HALF,
            Self::Ofdm(width) | Self::Dense(width) => 0.5 * f64::from(width.mhz()),
        }
    }

    /// Offset from its centre beyond which it has no power \[MHz\].
    pub fn reach_mhz(self) -> f64 {
        3.0 * self.half_band_mhz()
    }

    /// The part of its power between two offsets from its centre \[MHz\]: 0 to 1.
    pub fn part(self, from: f64, to: f64) -> f64 {
        let reach = self.reach_mhz();
        self.power(from.max(-reach), to.min(reach)) / self.power(-reach, reach)
    }

    /// Its power between two offsets, in units of its peak density times a megahertz.
    fn power(self, from: f64, to: f64) -> f64 {
        // The spectrum is symmetric: each side is counted from the centre.
        self.one_side(to.max(0.0)) - self.one_side(from.max(0.0)) + self.one_side((-from).max(0.0))
            - self.one_side((-to).max(0.0))
    }

    /// Power from the centre to an offset.
    fn one_side(self, to: f64) -> f64 {
        match self {
            Self::Dsss => {
                let lobe = if to < DSSS_HALF { main_lobe(to) } else { DSSS_LOBE };
                let steps = DSSS_STEPS.iter().map(|(a, b, level)| (to.min(*b) - a).max(0.0) * linear(*level));
                lobe + steps.sum::<f64>()
            }
            Self::Ofdm(_) | Self::Dense(_) => {
                let corners = self.corners();
                let flat = to.min(corners[0].0);
                let slopes = corners.windows(2).map(|pair| slope(pair[0], pair[1], to));
                flat + slopes.sum::<f64>()
            }
        }
    }

    /// Offsets \[MHz\] and levels \[dBr\] between which the mask of OFDM is straight.
    fn corners(self) -> [(f64, f64); 4] {
        let (width, inner, outer) = match self {
            Self::Dense(width) => (width, 0.5, 0.5),
            Self::Ofdm(width) => (width, 1.0, 1.0),
            Self::Dsss => (Width::Mhz20, 1.0, 1.0),
        };
        let half = 0.5 * f64::from(width.mhz());
        // HE with 20 MHz begins to fall at 9.75 MHz (27.3.19.1), the wider ones half a megahertz before their edge.
        let inner = if self == Self::Dense(Width::Mhz20) { 0.25 } else { inner };
        [(half - inner, 0.0), (half + outer, -20.0), (2.0 * half, -28.0), (3.0 * half, -40.0)]
    }
}

/// Power of the chips' spectrum, (sin x / x)^2 with x = pi f / 11 MHz, from the centre to `to`.
fn main_lobe(to: f64) -> f64 {
    let steps = libm::ceil(to / DSSS_STEP);
    if steps < 1.0 {
        return 0.0;
    }
    let width = to / steps;
    (0..steps as u32)
        .map(|step| {
            let x = PI * width * (f64::from(step) + 0.5) / CHIP_RATE;
            let sinc = libm::sin(x) / x;
            sinc * sinc * width
        })
        .sum()
}

/// Power between two corners of a mask, up to the offset `to`: an exponential function, integrated.
fn slope((a, high): (f64, f64), (b, low): (f64, f64), to: f64) -> f64 {
    if to <= a {
        return 0.0;
    }
    let rate = (low - high) / (b - a) * LN_10 / 10.0;
    let length = to.min(b) - a;
    linear(high) * libm::expm1(rate * length) / rate
}

fn linear(db: f64) -> f64 {
    libm::pow(10.0, 0.1 * db)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_main_lobe_is_what_its_integral_gives() {
        assert_eq!(DSSS_LOBE.to_bits(), main_lobe(DSSS_HALF).to_bits(), "{:?}", main_lobe(DSSS_HALF));
    }

    fn shapes() -> Vec<Shape> {
        let widths = Width::ALL.into_iter();
        [Shape::Dsss].into_iter().chain(widths.flat_map(|width| [Shape::Ofdm(width), Shape::Dense(width)])).collect()
    }
    fn db(part: f64) -> f64 {
        10.0 * libm::log10(part)
    }

    /// The density by the mask, in decibels below its peak, without any integral.
    fn density(shape: Shape, offset: f64) -> f64 {
        let f = offset.abs();
        match shape {
            Shape::Dsss if f < 11.0 => {
                let x = PI * f / 11.0;
                if x < 1e-9 { 0.0 } else { 20.0 * libm::log10((libm::sin(x) / x).abs()) }
            }
            Shape::Dsss => {
                if f < 22.0 {
                    -30.0
                } else {
                    -50.0
                }
            }
            _ => {
                let corners = shape.corners();
                if f <= corners[0].0 {
                    return 0.0;
                }
                let pair = corners.windows(2).find(|pair| f < pair[1].0);
                pair.map_or(-40.0, |p| p[0].1 + (p[1].1 - p[0].1) * (f - p[0].0) / (p[1].0 - p[0].0))
            }
        }
    }

    #[test]
    fn parts_are_the_mask_summed_in_small_steps() {
        for shape in shapes() {
            let reach = shape.reach_mhz();
            let steps = 40_000;
            let width = 2.0 * reach / f64::from(steps);
            let power = |from: f64, to: f64| -> f64 {
                let centres = (0..steps).map(|step| -reach + width * (f64::from(step) + 0.5));
                centres.filter(|f| *f > from && *f < to).map(|f| linear(density(shape, f)) * width).sum()
            };
            let all = power(-reach, reach);
            for (from, to) in [(-10.0, 10.0), (5.0, 25.0), (10.0, 30.0), (-55.0, -35.0)] {
                let (ours, naive) = (shape.part(from, to), power(from, to) / all);
                assert!((ours - naive).abs() < 2e-3 * naive + 1e-9, "{shape:?} {from} to {to}: {ours}, not {naive}");
            }
        }
    }

    #[test]
    fn neighbours_of_20_mhz_get_what_the_masks_leave() {
        // OFDM: 20 MHz away in the band of the neighbour -10 to 10 MHz: between -20 and -28 dBr at its edge.
        let ofdm = Shape::Ofdm(Width::Mhz20);
        let next = db(ofdm.part(10.0, 30.0));
        assert!((-24.5..-22.0).contains(&next), "{next}");
        // 802.11b five numbers apart: the mask's -30 dBr in a third of the band; four numbers apart they overlap by
        // 2 MHz, where the chips have little left; one number apart nearly everything is common.
        let [one, four, five] = [5.0, 20.0, 25.0].map(|apart: f64| db(Shape::Dsss.part(apart - 11.0, apart + 11.0)));
        assert!((-1.0..-0.1).contains(&one), "{one}");
        assert!((-27.0..-22.0).contains(&four), "{four}");
        assert!((-32.0..-29.0).contains(&five), "{five}");
    }

    #[test]
    fn a_signal_is_nearly_whole_in_its_own_band() {
        for shape in shapes() {
            let half = shape.half_band_mhz();
            let own = shape.part(-half, half);
            assert!((0.98..1.0).contains(&own), "{shape:?}: {own}");
            assert!((shape.part(-1e4, 1e4) - 1.0).abs() < 1e-12);
            assert_eq!(shape.part(shape.reach_mhz(), 1e4), 0.0);
        }
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_symmetric(a in -700.0f64..700.0, b in 0.0f64..400.0, c in 0.0f64..400.0) {
            for shape in shapes() {
                let [first, second, both] =
                    [(a, a + b), (a + b, a + b + c), (a, a + b + c)].map(|(from, to)| shape.part(from, to));
                prop_assert!((first + second - both).abs() < 1e-4, "{shape:?}: {first} + {second} = {both}");
                prop_assert!(first >= -1e-12 && both <= 1.0 + 1e-12);
                prop_assert!((shape.part(-a - b, -a) - first).abs() < 1e-12);
            }
        }
    }
}
