//! The rates of a radio as interface selection counts them: each with the SNR from which on most full frames arrive,
//! and the cost of a frame beside its bits.

use super::mac::needed_snr;
use crate::models::wifi::{Access, Aggregation, Sender, Sending};
use crate::phy::{ErrorModel, ErrorRates};
use crate::scenario::spec::{Mac, Radio};
use airbraid_engine::converge::select::{MilliDb, RateStep};
use airbraid_mac::dcf::{ACK_SIZE, DcfConfig};
use airbraid_mac::edca::{AccessCategory, EdcaConfig, Vector};
use airbraid_mac::phy::Rate;
use airbraid_mac::rate_control::RateControl;
use airbraid_units::{BitRate, Bytes, Db, Duration};

/// A rate can be used from the SNR on at which so much of full frames arrives.
const USABLE: f64 = 0.9;
/// A full frame with its headers \[bit\].
const FULL_FRAME: u64 = 1_536 * 8;
/// A full packet.
const PACKET: Bytes = Bytes::new(1_500);
/// Header of an A-MSDU's subframe, LLC and padding to four bytes around a full packet.
const AMSDU_SUBFRAME: u64 = 1_500 + 14 + 8 + 2;
/// The range of signal-to-noise ratios in which a rate begins to be usable.
const LEVELS: [i32; 2] = [-30_000, 90_000];

/// The rates of a radio, the slowest first, and the cost of each frame beside its bits. Of EDCA the rates are those of
/// packets in the longest A-MPDUs, whose costs are in them. Other MACs have none.
pub(super) fn of(radio: &Radio) -> (Vec<RateStep>, Duration) {
    match &radio.mac {
        Mac::Dcf(config) => (dcf_steps(config, radio), overhead(config)),
        Mac::Edca(config) => (edca_steps(config, radio), Duration::ZERO),
        _ => Default::default(),
    }
}

/// The rate of each format of a radio under EDCA, as [`of`] counts it.
pub(super) fn by_format(radio: &Radio) -> Vec<(Vector, BitRate)> {
    let Mac::Edca(config) = &radio.mac else { return Vec::new() };
    config.data_formats(&config.data).into_iter().map(|f| (f, aggregated_rate(config, &f))).collect()
}

fn dcf_steps(config: &DcfConfig, radio: &Radio) -> Vec<RateStep> {
    let errors = ErrorRates::new();
    let is_by_sinr = radio.radio.error == ErrorModel::Sinr;
    let fixed = config.rate_control == RateControl::Fixed;
    let usable = config.data_rates().iter().filter(|rate| !fixed || rate.bit_rate == config.data_rate.bit_rate);
    let arrives = |modulation, milli_db: i32| {
        let level = Db(f64::from(milli_db) / 1_000.0 - radio.radio.implementation_loss.0);
        !is_by_sinr || errors.success(modulation, level.to_linear(), FULL_FRAME) >= USABLE
    };
    let step = |rate: &Rate| {
        // Success rises with the SNR: halve what lies between never and always.
        let [mut low, mut high] = LEVELS;
        while high - low > 1 {
            let middle = (low + high) / 2;
            if arrives(rate.modulation, middle) { high = middle } else { low = middle }
        }
        RateStep { from: MilliDb(high), rate: rate.bit_rate }
    };
    usable.map(step).collect()
}

/// Cost of each frame beside its bits: DIFS, the mean backoff, preamble, SIFS and the acknowledgement.
fn overhead(dcf: &DcfConfig) -> Duration {
    let phy = &dcf.phy;
    let backoff = phy.slot * u64::from(dcf.cw_min) / 2;
    let preamble = phy.frame_time(dcf.data_rate, Bytes::ZERO);
    phy.difs() + backoff + preamble + phy.sifs + phy.frame_time(dcf.control_rate, ACK_SIZE)
}

fn edca_steps(config: &EdcaConfig, radio: &Radio) -> Vec<RateStep> {
    let loss = libm::ceil(radio.radio.implementation_loss.0 * 1_000.0) as i32;
    let from = |vector: &Vector| match radio.radio.error {
        ErrorModel::Sinr => needed_snr(vector) * 10 + loss,
        _ => LEVELS[0],
    };
    let formats = config.data_formats(&config.data);
    let mut steps: Vec<RateStep> =
        formats.iter().map(|f| RateStep { from: MilliDb(from(f)), rate: aggregated_rate(config, f) }).collect();
    steps.sort_by_key(|step| step.rate);
    steps
}

/// Bits of full packets a second in the longest A-MPDUs of best effort, alone on the medium.
fn aggregated_rate(config: &EdcaConfig, vector: &Vector) -> BitRate {
    let limits = &config.aggregation;
    let function = &config.functions[AccessCategory::BestEffort.index()];
    let access = Access {
        aifsn: function.aifsn,
        cw_min: function.cw_min,
        cw_max: function.cw_max,
        reset_at: config.retry_limit,
    };
    let answer = config.answer_rate(vector);
    let sender = Sender {
        sending: match vector {
            Vector::Mode(mode) => Sending::Ppdu(*mode),
            Vector::NonHt(rate) => Sending::Ofdm(*rate),
        },
        phy: config.phy,
        packet: PACKET,
        llc: config.llc_header,
        header: config.data_header,
        amsdu: limits.amsdu.map_or(1, |longest| (longest.as_u64() / AMSDU_SUBFRAME).max(1)),
        aggregation: limits.ampdu.map(|bytes| Aggregation {
            bytes,
            frames: u64::from(limits.ampdu_frames),
            window: u64::from(limits.window),
        }),
        control: answer,
        response: answer,
        rts: config.rts_threshold.as_u64() < FULL_FRAME / 8,
        txop: function.txop,
    };
    BitRate::from_bps(sender.alone_bps(&access, PACKET.as_u64() * 8) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn steps(radio: &str) -> Vec<RateStep> {
        let text = format!(
            "schema = 1\ntitle = \"t\"\nquestion = \"?\"\n[run]\nduration = \"1 s\"\n[radio]\nstandard = \"802.11ax\"\n\
             band = \"5 GHz\"\nwidth = \"80 MHz\"\n{radio}\n[[node]]\nname = \"a\"\nposition = [\"0 m\", \"0 m\"]\n\
             radios = [36]\n"
        );
        let spec = Scenario::parse("test.toml", &text).unwrap().plan().unwrap().cells.swap_remove(0).spec;
        of(&spec.nodes[0].radios[0]).0
    }

    /// The saturated pair of docs/measurements/wifi-2026.md has 549 Mbit/s of 1472 in 1500 byte at MCS 11.
    #[test]
    fn a_rate_of_edca_is_what_full_aggregates_carry() {
        let fixed = steps("mcs = 11\nerror = \"sinr\"");
        assert_eq!(fixed.len(), 1);
        let expected = 549.2e6 * 1_500.0 / 1_472.0;
        assert!((fixed[0].rate.as_bps() as f64 / expected - 1.0).abs() < 0.01, "{:?}", fixed[0]);
        // The column LDPC of docs/models/wifi-errors.md.
        assert!((28_850..=29_000).contains(&fixed[0].from.0), "{:?}", fixed[0]);
        // One frame an access: 52 Mbit/s.
        let alone = steps("mcs = 11\nampdu = \"off\"")[0];
        assert!((alone.rate.as_bps() as f64 / (52.4e6 * 1_500.0 / 1_472.0) - 1.0).abs() < 0.01, "{alone:?}");
        assert_eq!(alone.from, MilliDb(LEVELS[0]), "without errors by SINR every level will do");
    }

    #[test]
    fn rate_control_offers_every_scheme_and_what_is_lost_in_the_radio_counts() {
        let every = steps("mcs = 11\nrate_control = \"minstrel\"\nerror = \"sinr\"");
        assert_eq!(every.len(), 12);
        assert!(every.windows(2).all(|pair| pair[0].rate < pair[1].rate && pair[0].from < pair[1].from), "{every:?}");
        let worse = steps("mcs = 11\nrate_control = \"minstrel\"\nerror = \"sinr\"\nimplementation_loss = \"2 dB\"");
        assert!(every.iter().zip(&worse).all(|(a, b)| b.from.0 - a.from.0 == 2_000 && a.rate == b.rate));
    }
}
