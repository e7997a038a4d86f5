//! The format of the next data PPDU to each peer: one for all, or by rate control.

use super::Edca;
use super::config::{Bandwidth, EdcaConfig, ampdu_max};
use super::frames::Vector;
use super::share::Share;
use crate::frame::Address;
use crate::phy::{HR_DSSS_RATES, OFDM_RATES, Rate};
use crate::ppdu::{Choice, Mode, PPDU_TIME_MAX, Width};
use crate::rate_control::RateControl;
use crate::rate_control::ideal::{Ideal, Need};
use crate::rate_control::minstrel::{Candidate, Chain, Minstrel};
use airbraid_engine::{Packet, Stream};
use airbraid_units::{Bytes, Duration, Instant};
use std::collections::BTreeMap;

/// MPDU of 1500 byte IP with LLC, QoS header, FCS and delimiter, by which rates are compared.
const USUAL_MPDU: Bytes = Bytes::new(1_544);
/// Slots of AIFS and the mean backoff of best effort without collisions: 3 + 15 / 2.
const ACCESS_SLOTS: u64 = 10;

/// A format in which data may be sent, with what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Grade {
    pub vector: Vector,
    pub ack_time: Duration,
    pub block_ack_time: Duration,
    /// The longest PSDU by aPPDUMaxTime and by the limit of A-MPDUs.
    pub psdu_max: u64,
    /// The longest A-MSDU; `None`: none.
    pub amsdu_max: Option<u64>,
}

/// The choice for the next PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pick {
    /// Place of the format among the grades.
    pub grade: usize,
    /// Whether it probes: one MPDU is enough.
    pub is_probe: bool,
    /// The share of its link in the window; `None`: the whole.
    pub share: Option<Share>,
    /// Number of the MPDUs that wait that its link delivers before others could; `None`: any.
    pub first_here: Option<u32>,
}

/// The rate control of a station.
#[derive(Clone, Debug)]
pub(super) enum Rates {
    /// The first grade.
    Fixed,
    Minstrel {
        minstrel: Minstrel,
        /// The chain of the exchange under way, and its failures so far.
        chains: BTreeMap<Address, (Chain, u32)>,
    },
    Ideal(Ideal),
}

impl Grade {
    fn new(config: &EdcaConfig, vector: Vector, window: u16) -> Self {
        let ampdu = config.aggregation.ampdu.map_or(0, Bytes::as_u64);
        let ampdu = match &vector {
            Vector::Mode(mode) => ampdu.min(ampdu_max(mode.choice().format).as_u64()),
            Vector::NonHt(_) => ampdu,
        };
        Self {
            vector,
            ack_time: config.ack_time(&vector),
            block_ack_time: config.block_ack_time(&vector, window),
            psdu_max: config.longest_psdu(&vector, PPDU_TIME_MAX).min(ampdu),
            amsdu_max: config.amsdu_max(&vector),
        }
    }

    /// The same formats in primary channels of the half of the station's width, a quarter and so on, each in the order
    /// of the first; a format that the standard does not have there is the next lower one, and one that is no wider
    /// stays as it is.
    pub fn add_narrower(grades: &mut Vec<Self>, config: &EdcaConfig, window: u16) {
        if config.bandwidth == Bandwidth::Static {
            return;
        }
        let whole: Vec<Self> = grades.clone();
        for width in Width::ALL.into_iter().rev().filter(|width| *width < config.width()) {
            grades.extend(whole.iter().map(|grade| grade.narrowed(config, width, window)));
        }
    }

    fn narrowed(&self, config: &EdcaConfig, width: Width, window: u16) -> Self {
        let Vector::Mode(mode) = &self.vector else { return self.clone() };
        let choice = *mode.choice();
        if choice.width <= width {
            return self.clone();
        }
        let mut below = (0..=choice.mcs).rev().map(|mcs| Mode::new(Choice { width, mcs, ..choice }));
        let found = below.find_map(Result::ok);
        found.map_or_else(|| self.clone(), |mode| Self::new(config, Vector::Mode(mode), window))
    }

    /// The formats of a station towards those that have `data` and a window with it.
    pub fn all(config: &EdcaConfig, data: &Vector, window: u16) -> Vec<Self> {
        config.data_formats(data).into_iter().map(|vector| Self::new(config, vector, window)).collect()
    }

    /// Cost of its frames, for comparing rates.
    fn candidate(&self, config: &EdcaConfig) -> Candidate {
        let phy = &config.phy;
        let empty = config.data_time(&self.vector, Bytes::new(1));
        let overhead = phy.sifs * 2 + phy.slot * ACCESS_SLOTS + self.block_ack_time + empty;
        Candidate { overhead, mpdu: self.vector.rate().bit_rate.time_for(USUAL_MPDU) }
    }
}

impl EdcaConfig {
    /// The formats of data towards stations that have `data`: without rate control that one, else all that are below it
    /// in MCS or streams, too, and it the last.
    pub fn data_formats(&self, data: &Vector) -> Vec<Vector> {
        match (data, self.rate_control) {
            (_, RateControl::Fixed) => vec![*data],
            (Vector::NonHt(highest), _) => {
                let all: &[Rate] = if highest.modulation.is_ofdm() { &OFDM_RATES } else { &HR_DSSS_RATES };
                let below = all.iter().filter(|rate| rate.bit_rate <= highest.bit_rate);
                below.map(|rate| Vector::NonHt(*rate)).collect()
            }
            (Vector::Mode(mode), _) => {
                let highest = *mode.choice();
                let choices = (1..=highest.streams)
                    .flat_map(|streams| (0..=highest.mcs).map(move |mcs| Choice { mcs, streams, ..highest }));
                choices.filter_map(|choice| Mode::new(choice).ok()).map(Vector::Mode).collect()
            }
        }
    }
}

impl<P: Packet + Copy> Edca<P> {
    /// The format that rate control finds best towards a neighbour, and the share of MPDUs that come through in it
    /// \[thousandths\].
    pub fn best_format(&self, to: Address) -> Option<(Vector, u32)> {
        let family = self.planner.formats.family(to);
        let (grade, share) = self.rates[family].best(to)?;
        Some((self.planner.formats.families().nth(family)?.get(grade)?.vector, share))
    }
}

impl Rates {
    /// The rate control that the configuration asks for; `needs` are the signal-to-noise ratios of the grades \[1/100
    /// dB\].
    pub fn new(config: &EdcaConfig, grades: &[Grade], needs: &[i32], random: Stream) -> Self {
        match config.rate_control {
            RateControl::Minstrel => {
                let candidates = grades.iter().map(|grade| grade.candidate(config)).collect();
                Self::Minstrel { minstrel: Minstrel::new(candidates, random), chains: BTreeMap::new() }
            }
            RateControl::Ideal => {
                let need = |(grade, snr_cdb): (&Grade, &i32)| Need {
                    snr_cdb: *snr_cdb,
                    bps: grade.vector.rate().bit_rate.as_bps(),
                };
                Self::Ideal(Ideal::new(grades.iter().zip(needs).map(need).collect()))
            }
            RateControl::Fixed | RateControl::Arf { .. } | RateControl::Periodic { .. } => Self::Fixed,
        }
    }

    /// The format of the next PPDU to a peer.
    #[inline]
    pub fn pick(&mut self, now: Instant, to: Address) -> Pick {
        match self {
            Self::Fixed => Pick::default(),
            Self::Ideal(ideal) => Pick { grade: ideal.rate(to), ..Pick::default() },
            Self::Minstrel { minstrel, chains } => {
                let (chain, failures) = chains.entry(to).or_insert_with(|| (minstrel.chain(now, to), 0));
                Pick { grade: chain.rate(*failures), is_probe: chain.is_probe && *failures == 0, ..Pick::default() }
            }
        }
    }

    /// The format of the highest expected throughput to a peer, and the share of MPDUs that come through in it
    /// \[thousandths\], where rate control learns it from these.
    pub fn best(&self, to: Address) -> Option<(usize, u32)> {
        match self {
            Self::Minstrel { minstrel, .. } => minstrel.best(to),
            Self::Fixed | Self::Ideal(_) => None,
        }
    }

    /// A PPDU with `sent` MPDUs went to a peer, and `acknowledged` of them were acknowledged.
    pub fn on_result(&mut self, to: Address, grade: usize, sent: u32, acknowledged: u32) {
        let Self::Minstrel { minstrel, chains } = self else { return };
        minstrel.on_result(to, grade, sent, acknowledged);
        let Some((chain, failures)) = chains.get_mut(&to) else { return };
        *failures += 1;
        let all: u32 = chain.stages.iter().map(|(_, tries)| tries).sum();
        if acknowledged > 0 || *failures >= all {
            chains.remove(&to);
        }
    }

    /// A frame of a peer came with this signal-to-noise ratio.
    pub fn on_signal(&mut self, from: Address, snr_cdb: i32) {
        if let Self::Ideal(ideal) = self {
            ideal.on_signal(from, snr_cdb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppdu::Band;

    /// 802.11a at 54 Mbit/s: two SIFS of 16, ten slots of 9, 32 us for 32 byte at 24 Mbit/s, 24 for an empty PPDU.
    #[test]
    fn a_rate_costs_its_access_its_answer_and_its_preamble() {
        let config = EdcaConfig::new(Vector::NonHt(OFDM_RATES[7]), Band::Ghz5);
        let Candidate { overhead, mpdu } = Grade::all(&config, &config.data, 64)[0].candidate(&config);
        assert_eq!(overhead, Duration::from_micros(32 + 90 + 32 + 24));
        assert_eq!(mpdu.as_micros(), 1_544 * 8 / 54);
    }
}
