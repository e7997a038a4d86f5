//! Kinds of stations, by what they can receive, and the format and window that two of them have in common: what both
//! learn from each other's HT, VHT, HE and EHT Capabilities when they associate (802.11-2020, 9.4.2 and 10.25.2).

use super::config::{AggregationConfig, AgreementSetup, EdcaConfig, reference_rate, window_max};
use super::frames::Vector;
use crate::dcf::DcfConfig;
use crate::frame::Address;
use crate::phy::OFDM_RATES;
use crate::ppdu::{Choice, Mode};
use std::sync::Arc;

/// A kind of stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// The format in which it sends: its standard, the width of its channel and its streams are those that it can
    /// receive; it can receive every MCS of the standard.
    pub data: Vector,
    /// The longest window of its agreements; 0: it has none, for it has no A-MPDUs. One that is asked by frames says so
    /// itself.
    pub window: u16,
    /// Whether it has QoS; a station under DCF has not: its data are of best effort, one by one.
    pub has_qos: bool,
}

/// The kind of each station that others may send to.
#[derive(Clone, Debug, Default)]
pub struct Kinds(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    kinds: Vec<Kind>,
    /// By address the place of its kind, plus one; 0: not known.
    of: Vec<u16>,
}

impl Kind {
    /// The kind of a station.
    pub fn of(config: &EdcaConfig) -> Self {
        let AggregationConfig { ampdu, setup, window, .. } = config.aggregation;
        let has_none = ampdu.is_none() && setup == AgreementSetup::Given;
        Self { data: config.data, window: if has_none { 0 } else { window }, has_qos: true }
    }

    /// The kind of a station under DCF.
    pub fn of_dcf(config: &DcfConfig) -> Self {
        Self { data: Vector::NonHt(config.data_rate), window: 0, has_qos: false }
    }

    /// The format of data from `own` to this kind: the older of both standards, the narrower channel, the fewer
    /// streams. What that does not have, such as a high MCS or a guard interval, is the next lower or the usual one. To
    /// a station of 802.11b data go at the rate at which that one sends.
    pub fn format_from(&self, own: &Vector) -> Vector {
        let (mine, theirs) = match (own, &self.data) {
            (_, Vector::NonHt(rate)) if !rate.modulation.is_ofdm() => return self.data,
            (Vector::Mode(own), Vector::Mode(peer)) => (own.choice(), peer.choice()),
            (Vector::Mode(own), Vector::NonHt(_)) => return Vector::NonHt(reference_rate(own)),
            (Vector::NonHt(_), _) => return *own,
        };
        let format = mine.format.min(theirs.format);
        let (width, streams) = (mine.width.min(theirs.width), mine.streams.min(theirs.streams));
        let wanted = Choice { format, width, streams, ..*mine };
        let usual = Choice::new(format);
        let plain = Choice { band: mine.band, rules: mine.rules, width, streams, ..usual };
        let both = |mcs| [Choice { mcs, ..wanted }, Choice { mcs, ..plain }];
        let found = (0..=mine.mcs).rev().flat_map(both).find_map(|choice| Mode::new(choice).ok());
        found.map_or(Vector::NonHt(OFDM_RATES[0]), Vector::Mode)
    }

    /// The window of agreements between `own` and this kind; 0: none, for one of both has no A-MPDUs.
    pub fn window_with(&self, own: &Self) -> u16 {
        match self.format_from(&own.data) {
            Vector::NonHt(_) => 0,
            format => own.window.min(self.window).min(window_max(&format)),
        }
    }
}

impl Kinds {
    /// The kinds of stations.
    pub fn new(stations: impl Iterator<Item = (Address, Kind)>) -> Self {
        let mut known = Known::default();
        for (address, kind) in stations {
            let place = known.kinds.iter().position(|other| *other == kind).unwrap_or_else(|| {
                known.kinds.push(kind);
                known.kinds.len() - 1
            });
            let index = address.0 as usize;
            if index >= known.of.len() {
                known.of.resize(index + 1, 0);
            }
            known.of[index] = place as u16 + 1;
        }
        Self(Arc::new(known))
    }

    /// All of them, by place.
    pub fn all(&self) -> &[Kind] {
        &self.0.kinds
    }
    /// The stations, each with its kind.
    pub fn stations(&self) -> impl Iterator<Item = (Address, &Kind)> {
        let places = (0..).map(Address).zip(&self.0.of);
        places.filter_map(|(address, place)| Some((address, &self.0.kinds[usize::from(*place).checked_sub(1)?])))
    }
    /// Whether a station has QoS; one that is not known has.
    pub fn has_qos(&self, address: Address) -> bool {
        self.place_of(address).is_none_or(|place| self.0.kinds[place].has_qos)
    }
    /// The place of a station's kind; `None`: it is not known, and taken for one like the sender.
    #[inline]
    pub fn place_of(&self, address: Address) -> Option<usize> {
        let place = self.0.of.get(address.0 as usize)?;
        usize::from(*place).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppdu::{Band, Format, GuardInterval, Width};
    use proptest::prelude::*;

    fn mode(format: Format, width: Width, mcs: u8, streams: u8) -> Vector {
        Vector::Mode(Mode::new(Choice { width, mcs, streams, ..Choice::new(format) }).unwrap())
    }
    fn kind(data: Vector) -> Kind {
        Kind { data, window: window_max(&data), has_qos: true }
    }
    fn shown(vector: &Vector) -> (Format, u32, u8, u8) {
        let Vector::Mode(mode) = vector else { panic!("{vector:?}") };
        let choice = mode.choice();
        (choice.format, choice.width.mhz(), choice.mcs, choice.streams)
    }

    #[test]
    fn two_stations_have_the_older_standard_the_narrower_channel_and_the_fewer_streams_in_common() {
        let be = mode(Format::Eht, Width::Mhz160, 13, 4);
        let cases = [
            (mode(Format::He, Width::Mhz80, 0, 2), (Format::He, 80, 11, 2), 256),
            // 802.11ac has no MCS 9 in 20 MHz with one stream.
            (mode(Format::Vht, Width::Mhz20, 0, 1), (Format::Vht, 20, 8, 1), 64),
            (mode(Format::Ht, Width::Mhz40, 0, 3), (Format::Ht, 40, 7, 3), 64),
            (mode(Format::Eht, Width::Mhz20, 0, 4), (Format::Eht, 20, 13, 4), 1_024),
        ];
        for (peer, expected, window) in cases {
            let peer = kind(peer);
            assert_eq!(shown(&peer.format_from(&be)), expected);
            assert_eq!(peer.window_with(&kind(be)), window);
            // The MCS of the other way is that of the other end.
            assert_eq!(shown(&kind(be).format_from(&peer.data)), shown(&peer.data));
            assert_eq!(kind(be).window_with(&peer), window);
        }
    }

    #[test]
    fn with_a_station_of_802_11a_there_is_no_agreement_and_a_rate_of_like_modulation() {
        let ax = mode(Format::He, Width::Mhz80, 11, 2);
        let old = kind(Vector::NonHt(OFDM_RATES[2]));
        assert_eq!(old.format_from(&ax), Vector::NonHt(OFDM_RATES[7]));
        assert_eq!(old.format_from(&mode(Format::He, Width::Mhz80, 1, 2)), Vector::NonHt(OFDM_RATES[2]));
        assert_eq!(kind(ax).format_from(&old.data), old.data);
        assert_eq!([old.window_with(&kind(ax)), kind(ax).window_with(&old)], [0, 0]);
    }

    #[test]
    fn a_guard_interval_that_the_older_standard_does_not_have_is_the_usual_one() {
        let choice = Choice { guard_interval: GuardInterval::Ns3200, ..Choice::new(Format::He) };
        let ax = Vector::Mode(Mode::new(choice).unwrap());
        let Vector::Mode(to_old) = kind(mode(Format::Ht, Width::Mhz20, 7, 1)).format_from(&ax) else { panic!() };
        assert_eq!(to_old.choice().guard_interval, GuardInterval::Ns800);
        let Vector::Mode(to_new) = kind(mode(Format::Eht, Width::Mhz20, 7, 1)).format_from(&ax) else { panic!() };
        assert_eq!(to_new.choice().guard_interval, GuardInterval::Ns3200);
    }

    proptest! {
        /// Towards its own kind a station changes nothing, and the window is the same from both ends.
        #[test]
        fn what_two_have_in_common_is_no_more_than_either_has(
            (a, b) in (any_kind(), any_kind()),
        ) {
            prop_assert_eq!(a.format_from(&a.data), a.data);
            prop_assert_eq!(a.window_with(&b), b.window_with(&a));
            let [to_b, to_a] = [b.format_from(&a.data), a.format_from(&b.data)].map(|vector| shown(&vector));
            let [own, other] = [&a.data, &b.data].map(shown);
            prop_assert_eq!((to_b.0, to_b.1, to_b.3), (to_a.0, to_a.1, to_a.3));
            prop_assert!(to_b.0 <= own.0 && to_b.0 <= other.0 && to_b.1 == own.1.min(other.1));
            prop_assert!(to_b.2 <= own.2 && to_b.3 == own.3.min(other.3));
        }
    }

    fn any_kind() -> impl Strategy<Value = Kind> {
        let formats = [Format::Ht, Format::Vht, Format::He, Format::Eht];
        let wide = prop_oneof![Just(Width::Mhz20), Just(Width::Mhz40), Just(Width::Mhz80), Just(Width::Mhz160)];
        (0..4usize, wide, 0..14u8, 1..9u8, 1..1_025u16).prop_filter_map("no such mode", move |(f, width, mcs, n, w)| {
            let choice = Choice { width, mcs, streams: n, band: Band::Ghz5, ..Choice::new(formats[f]) };
            let data = Vector::Mode(Mode::new(choice).ok()?);
            Some(Kind { data, window: w.min(window_max(&data)), has_qos: true })
        })
    }

    #[test]
    fn stations_of_one_kind_share_a_place() {
        let [a, b] = [kind(mode(Format::He, Width::Mhz20, 5, 1)), kind(mode(Format::Ht, Width::Mhz20, 5, 1))];
        let kinds = Kinds::new([(Address(0), a), (Address(3), b), (Address(1), a)].into_iter());
        assert_eq!(kinds.all(), [a, b]);
        let places = [0, 1, 2, 3, 9].map(|address| kinds.place_of(Address(address)));
        assert_eq!(places, [Some(0), Some(0), None, Some(1), None]);
    }
}
