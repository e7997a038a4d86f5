//! Channels by their numbers: centre, width, and the primary 20 MHz of a wide one.
//!
//! Operating classes of 802.11-2020, annex E (2.4 and 5 GHz), 802.11ax-2021 (6 GHz) and 802.11be-2024 (320 MHz), all
//! regions together: which of them a country allows is not asked. A centre is 2407, 5000 or 5950 MHz and 5 MHz times
//! the number, but for channel 14, and a wide channel has the number of its own centre (21.3.14, 27.3.23.2).

use airbraid_mac::ppdu::{Band, Width};
use std::fmt;

/// Width of the channels that a wide one is made of \[MHz\].
const UNIT: u32 = 20;
/// Distance of two channel numbers \[MHz\].
const NUMBERED: u32 = 5;
/// The most 20-MHz channels in one.
pub const UNITS_MAX: usize = 16;

/// A channel as somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub band: Band,
    pub width: Width,
    /// The number of the channel, or of its primary 20 MHz.
    pub number: u32,
    /// The number of the primary 20 MHz; `None`: `number` if it is one of 20 MHz, else the lowest of the channel.
    pub primary: Option<u32>,
    /// 40 MHz in 2.4 GHz, where `number` is always the primary: on which side the secondary lies. `None`: above up to
    /// channel 7, below from 8.
    pub secondary: Option<Side>,
}

/// A side of the primary channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Above,
    Below,
}

/// There is no such channel; the nearest that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoChannel {
    pub message: String,
    pub help: String,
}

/// A channel on which a station works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperatingChannel {
    /// Its number, which is that of its centre; 40 MHz in 2.4 GHz: of its primary.
    number: u32,
    /// Lower edge \[MHz\].
    low: u32,
    width: Width,
    /// Place of the primary 20 MHz, from the lowest.
    primary: u8,
}

impl OperatingChannel {
    /// The channel that is asked for.
    ///
    /// # Errors
    /// The band has no such channel, or the channel has no such primary.
    pub fn new(ask: Ask) -> Result<Self, NoChannel> {
        if (ask.band, ask.width) == (Band::Ghz2_4, Width::Mhz40) {
            return wide_in_2_4_ghz(ask);
        }
        let number = wide_number(&ask)?;
        let low = centre(ask.band, number) - ask.width.mhz() / 2;
        let lowest = number_of(ask.band, low + UNIT / 2);
        let is_of_20 = ask.width == Width::Mhz20 || numbers(ask.band, ask.width).all(|own| own != ask.number);
        let primary = ask.primary.unwrap_or(if is_of_20 { ask.number } else { lowest });
        let units = ask.width.mhz() / UNIT;
        let members: Vec<u32> = (0..units).map(|unit| lowest + unit * UNIT / NUMBERED).collect();
        let Some(place) = members.iter().position(|member| *member == primary) else {
            let nearest = nearest(members.iter().copied(), primary).unwrap_or(lowest);
            return Err(NoChannel {
                message: format!("channel {primary} is no 20 MHz of channel {number} with {} MHz", ask.width.mhz()),
                help: format!("its primary is one of {}; the nearest is {nearest}", list(&members)),
            });
        };
        Ok(Self { number, low, width: ask.width, primary: place as u8 })
    }

    /// A channel of DSSS (22 MHz, of which 20 are counted here) or of 20-MHz OFDM by its number alone, for standards
    /// without `band`; `None` if it has no frequency.
    pub fn of_20_mhz(number: u32, is_2_4_ghz: bool) -> Option<Self> {
        let centre = match (number, is_2_4_ghz) {
            (1..=14, true) => centre(Band::Ghz2_4, number),
            // Annex E counts these from 4 GHz: 4.92 to 4.98 GHz.
            (184..=196, false) => 4_000 + NUMBERED * number,
            (7..=177, false) => centre(Band::Ghz5, number),
            _ => return None,
        };
        Some(Self { number, low: centre - UNIT / 2, width: Width::Mhz20, primary: 0 })
    }

    pub const fn number(&self) -> u32 {
        self.number
    }
    pub const fn width(&self) -> Width {
        self.width
    }
    /// Number of 20-MHz channels.
    pub const fn units(&self) -> usize {
        (self.width.mhz() / UNIT) as usize
    }
    /// Lower edge \[MHz\].
    pub const fn low_mhz(&self) -> u32 {
        self.low
    }
    pub const fn centre_mhz(&self) -> u32 {
        self.low + self.width.mhz() / 2
    }
    /// Centre of the primary 20 MHz.
    pub const fn primary_centre_mhz(&self) -> u32 {
        self.low + self.primary as u32 * UNIT + UNIT / 2
    }
    /// Place of the primary 20 MHz, from the lowest.
    pub const fn primary(&self) -> usize {
        self.primary as usize
    }

    /// The part of this channel that a PPDU of `width` takes, which holds the primary: primary 20, 40, 80 or 160 MHz.
    /// Never wider than the channel.
    #[must_use]
    pub fn narrowed(&self, width: Width) -> Self {
        let width = width.min(self.width);
        let units = (width.mhz() / UNIT) as u8;
        // Aligned from the lower edge of the channel: the primary 40 of 80 MHz is one half of it, and so on.
        let first = self.primary / units * units;
        let low = self.low + u32::from(first) * UNIT;
        Self { number: self.number, low, width, primary: self.primary - first }
    }

    /// Places of the 20-MHz channels, from the lowest, of the primary channel of `width`.
    pub fn places_of_primary(&self, width: Width) -> core::ops::Range<usize> {
        let part = self.narrowed(width);
        let first = ((part.low - self.low) / UNIT) as usize;
        first..first + part.units()
    }
}

impl fmt::Display for OperatingChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel {}, {} MHz, {} MHz wide", self.number, self.centre_mhz(), self.width.mhz())
    }
}

/// Centre frequency of a number \[MHz\] (17.3.8.4.2, 27.3.23.2; channel 14 apart, annex E).
fn centre(band: Band, number: u32) -> u32 {
    match band {
        Band::Ghz2_4 if number == 14 => 2_484,
        Band::Ghz2_4 => 2_407 + NUMBERED * number,
        Band::Ghz5 => 5_000 + NUMBERED * number,
        Band::Ghz6 => 5_950 + NUMBERED * number,
    }
}

fn number_of(band: Band, centre_mhz: u32) -> u32 {
    match band {
        Band::Ghz2_4 if centre_mhz == 2_484 => 14,
        Band::Ghz2_4 => (centre_mhz - 2_407) / NUMBERED,
        Band::Ghz5 => (centre_mhz - 5_000) / NUMBERED,
        Band::Ghz6 => (centre_mhz - 5_950) / NUMBERED,
    }
}

/// The numbers of a band's channels of one width, ascending (annex E, operating classes 81 to 84 and 115 to 137).
pub fn numbers(band: Band, width: Width) -> impl Iterator<Item = u32> {
    // First, last and step of each run.
    let runs: &[(u32, u32, usize)] = match (band, width) {
        (Band::Ghz2_4, Width::Mhz20) => &[(1, 14, 1)],
        (Band::Ghz2_4, Width::Mhz40) => &[(1, 13, 1)],
        (Band::Ghz5, Width::Mhz20) => &[(36, 64, 4), (100, 144, 4), (149, 177, 4)],
        (Band::Ghz5, Width::Mhz40) => &[(38, 62, 8), (102, 142, 8), (151, 175, 8)],
        (Band::Ghz5, Width::Mhz80) => &[(42, 58, 16), (106, 138, 16), (155, 171, 16)],
        (Band::Ghz5, Width::Mhz160) => &[(50, 50, 1), (114, 114, 1), (163, 163, 1)],
        (Band::Ghz6, Width::Mhz20) => &[(1, 233, 4)],
        (Band::Ghz6, Width::Mhz40) => &[(3, 227, 8)],
        (Band::Ghz6, Width::Mhz80) => &[(7, 215, 16)],
        (Band::Ghz6, Width::Mhz160) => &[(15, 207, 32)],
        // 320 MHz has two overlapping sets, 31, 95, 159 and 63, 127, 191 (36.3.24.2).
        (Band::Ghz6, Width::Mhz320) => &[(31, 191, 32)],
        (Band::Ghz2_4, _) | (Band::Ghz5, Width::Mhz320) => &[],
    };
    runs.iter().flat_map(|(first, last, step)| (*first..=*last).step_by(*step))
}

/// The number of the channel of the asked width that has the number, or that holds the asked 20 MHz.
fn wide_number(ask: &Ask) -> Result<u32, NoChannel> {
    let (band, width) = (ask.band, ask.width);
    if numbers(band, width).next().is_none() {
        let widest = Width::ALL.into_iter().rfind(|width| numbers(band, *width).next().is_some());
        let widest = widest.unwrap_or(Width::Mhz20);
        return Err(NoChannel {
            message: format!("{} has no channels of {} MHz", band.name(), width.mhz()),
            help: format!("its widest have {} MHz", widest.mhz()),
        });
    }
    if numbers(band, width).any(|own| own == ask.number) {
        return Ok(ask.number);
    }
    let holds = |own: u32, unit: u32| {
        let (own, unit) = (centre(band, own), centre(band, unit));
        own.abs_diff(unit) < width.mhz() / 2
    };
    if numbers(band, Width::Mhz20).any(|own| own == ask.number)
        && let Some(own) = numbers(band, width).find(|own| holds(*own, ask.number))
    {
        return Ok(own);
    }
    // Numbers of wide channels and of their parts are both answers: the nearest is sought among all.
    let parts = numbers(band, Width::Mhz20).filter(|unit| numbers(band, width).any(|own| holds(own, *unit)));
    let known = nearest(numbers(band, width).chain(parts), ask.number).unwrap_or_default();
    let all: Vec<u32> = numbers(band, width).collect();
    let numbers = if all.len() <= 16 { format!(": {}", list(&all)) } else { String::new() };
    Err(NoChannel {
        message: format!("{} has no channel {} of {} MHz", band.name(), ask.number, width.mhz()),
        help: format!("the nearest is {known}; give a channel of this width or one of its 20 MHz{numbers}"),
    })
}

/// 40 MHz in 2.4 GHz, which have no numbers of their own (operating classes 83 and 84).
fn wide_in_2_4_ghz(ask: Ask) -> Result<OperatingChannel, NoChannel> {
    /// Distance of primary and secondary, in numbers.
    const SECONDARY: u32 = 4;
    let primary = ask.primary.unwrap_or(ask.number);
    if !(1..=13).contains(&primary) || primary != ask.number {
        return Err(NoChannel {
            message: format!("2.4 GHz has no 40 MHz with the primary channel {primary}"),
            help: format!("the nearest is {}; 1 to 13, and `channel` is the primary", ask.number.clamp(1, 13)),
        });
    }
    let side = ask.secondary.unwrap_or(if primary <= 7 { Side::Above } else { Side::Below });
    let low_number = match side {
        Side::Above if primary <= 9 => primary,
        Side::Below if primary >= 5 => primary - SECONDARY,
        Side::Above | Side::Below => {
            let (word, range) = if side == Side::Above { ("above", "1 to 9") } else { ("below", "5 to 13") };
            let nearest = if side == Side::Above { 9 } else { 5 };
            return Err(NoChannel {
                message: format!("no 20 MHz are left {word} channel {primary}"),
                help: format!("primary channels with their secondary {word} are {range}; the nearest is {nearest}"),
            });
        }
    };
    let low = centre(Band::Ghz2_4, low_number) - UNIT / 2;
    Ok(OperatingChannel { number: primary, low, width: Width::Mhz40, primary: u8::from(side == Side::Below) })
}

fn nearest(numbers: impl Iterator<Item = u32>, number: u32) -> Option<u32> {
    numbers.min_by_key(|own| (own.abs_diff(number), *own))
}

fn list(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(band: Band, width: Width, number: u32) -> Ask {
        Ask { band, width, number, primary: None, secondary: None }
    }
    fn channel(band: Band, width: Width, number: u32) -> OperatingChannel {
        OperatingChannel::new(ask(band, width, number)).unwrap()
    }

    #[test]
    fn centres_are_those_of_annex_e() {
        let known = [
            (Band::Ghz2_4, Width::Mhz20, 1, 2_412),
            (Band::Ghz2_4, Width::Mhz20, 14, 2_484),
            (Band::Ghz5, Width::Mhz20, 36, 5_180),
            (Band::Ghz5, Width::Mhz40, 38, 5_190),
            (Band::Ghz5, Width::Mhz80, 42, 5_210),
            (Band::Ghz5, Width::Mhz80, 155, 5_775),
            (Band::Ghz5, Width::Mhz160, 50, 5_250),
            (Band::Ghz6, Width::Mhz20, 1, 5_955),
            (Band::Ghz6, Width::Mhz20, 233, 7_115),
            (Band::Ghz6, Width::Mhz80, 7, 5_985),
            (Band::Ghz6, Width::Mhz160, 207, 6_985),
            (Band::Ghz6, Width::Mhz320, 31, 6_105),
            (Band::Ghz6, Width::Mhz320, 191, 6_905),
        ];
        for (band, width, number, centre) in known {
            assert_eq!(channel(band, width, number).centre_mhz(), centre, "{band:?} {number}");
        }
    }

    #[test]
    fn numbers_of_channels_are_as_many_as_the_bands_hold() {
        let count = |band| Width::ALL.map(|width| numbers(band, width).count());
        assert_eq!(count(Band::Ghz2_4), [14, 13, 0, 0, 0]);
        assert_eq!(count(Band::Ghz5), [28, 14, 7, 3, 0]);
        assert_eq!(count(Band::Ghz6), [59, 29, 14, 7, 6]);
    }

    #[test]
    fn a_wide_channel_is_found_by_each_of_its_20_mhz_which_is_then_the_primary() {
        for band in [Band::Ghz5, Band::Ghz6] {
            for width in Width::ALL {
                for number in numbers(band, width) {
                    let by_number = channel(band, width, number);
                    assert_eq!(by_number.primary(), 0);
                    for unit in 0..by_number.units() as u32 {
                        let part = number_of(band, by_number.low_mhz() + 10 + 20 * unit);
                        let asked = Ask { primary: Some(part), ..ask(band, width, number) };
                        let found = OperatingChannel::new(asked).unwrap();
                        assert_eq!((found.centre_mhz(), found.primary()), (by_number.centre_mhz(), unit as usize));
                        let by_part = channel(band, width, part);
                        assert_eq!(by_part.primary_centre_mhz(), centre(band, part), "{width:?} {part}");
                        assert!(width == Width::Mhz320 || by_part.centre_mhz() == by_number.centre_mhz());
                    }
                }
            }
        }
    }

    #[test]
    fn primary_parts_lie_in_each_other() {
        // Channel 50 with primary 52, the fifth of eight: primary 40 is 52 and 56, primary 80 is 52 to 64.
        let wide = channel(Band::Ghz5, Width::Mhz160, 52);
        assert_eq!((wide.number(), wide.primary()), (50, 4));
        let parts =
            [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160].map(|width| wide.places_of_primary(width));
        assert_eq!(parts, [4..5, 4..6, 4..8, 0..8]);
        assert_eq!(
            wide.narrowed(Width::Mhz80),
            OperatingChannel { number: 50, ..channel(Band::Ghz5, Width::Mhz80, 52) }
        );
        assert_eq!(wide.narrowed(Width::Mhz320), wide);
    }

    #[test]
    fn in_2_4_ghz_the_secondary_is_on_the_side_that_is_asked_for() {
        let [above, below] = [1, 13].map(|number| channel(Band::Ghz2_4, Width::Mhz40, number));
        assert_eq!((above.centre_mhz(), above.primary(), below.centre_mhz(), below.primary()), (2_422, 0, 2_462, 1));
        let of_6 = |side| OperatingChannel::new(Ask { secondary: Some(side), ..ask(Band::Ghz2_4, Width::Mhz40, 6) });
        assert_eq!([Side::Above, Side::Below].map(|side| of_6(side).unwrap().centre_mhz()), [2_447, 2_427]);
        let of_11 = OperatingChannel::new(Ask { secondary: Some(Side::Above), ..ask(Band::Ghz2_4, Width::Mhz40, 11) });
        assert!(of_11.unwrap_err().help.ends_with("the nearest is 9"));
    }

    #[test]
    fn channels_that_there_are_not_are_refused_with_the_nearest() {
        let refused = |band, width, number| OperatingChannel::new(ask(band, width, number)).unwrap_err();
        let wrong = refused(Band::Ghz5, Width::Mhz20, 37);
        assert_eq!(wrong.message, "5 GHz has no channel 37 of 20 MHz");
        assert!(wrong.help.starts_with("the nearest is 36;"), "{}", wrong.help);
        assert!(refused(Band::Ghz5, Width::Mhz80, 1).help.starts_with("the nearest is 36;"));
        assert!(refused(Band::Ghz5, Width::Mhz160, 144).help.starts_with("the nearest is 149;"));
        assert!(refused(Band::Ghz6, Width::Mhz20, 36).help.starts_with("the nearest is 37;"));
        assert_eq!(refused(Band::Ghz2_4, Width::Mhz80, 1).help, "its widest have 40 MHz");
        assert_eq!(refused(Band::Ghz5, Width::Mhz320, 50).help, "its widest have 160 MHz");
        let outside =
            OperatingChannel::new(Ask { primary: Some(52), ..ask(Band::Ghz5, Width::Mhz80, 42) }).unwrap_err();
        assert_eq!(outside.help, "its primary is one of 36, 40, 44, 48; the nearest is 48");
    }

    #[test]
    fn old_standards_have_frequencies_by_number() {
        let of = |number, is_2_4| OperatingChannel::of_20_mhz(number, is_2_4).map(|channel| channel.centre_mhz());
        assert_eq!([of(1, true), of(14, true), of(15, true)], [Some(2_412), Some(2_484), None]);
        assert_eq!([of(36, false), of(184, false), of(1, false)], [Some(5_180), Some(4_920), None]);
    }
}
