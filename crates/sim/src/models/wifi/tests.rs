use super::*;
use airbraid_mac::phy::{OFDM_RATES, Phy, Preamble, Standard};
use airbraid_mac::ppdu::{Choice, Format, Mode, Rules, Width};
use airbraid_units::{Bytes, Duration};

/// Best effort (table 9-155); the failure after seven in a row resets the window (10.23.2.2).
const BEST_EFFORT: Access = Access { aifsn: 3, cw_min: 15, cw_max: 1023, reset_at: Some(8) };
const BACKGROUND: Access = Access { aifsn: 7, ..BEST_EFFORT };
const VIDEO: Access = Access { aifsn: 2, cw_min: 7, cw_max: 15, ..BEST_EFFORT };
const VOICE: Access = Access { aifsn: 2, cw_min: 3, cw_max: 7, ..BEST_EFFORT };
/// A UDP payload of 1472 byte.
const BITS: u64 = 1_472 * 8;

/// The rate of control frames that answer a data MCS: 24 Mbit/s, 6 with MCS 0.
fn control(mcs: u8) -> airbraid_mac::phy::Rate {
    OFDM_RATES[if mcs == 0 { 0 } else { 4 }]
}

fn sender(format: Format, width: Width, mcs: u8, ampdu: u64, window: u64) -> Sender {
    let mode = Mode::new(Choice { width, mcs, rules: Rules::Ns3, ..Choice::new(format) }).unwrap();
    let aggregation = (ampdu > 0).then_some(Aggregation { bytes: Bytes::new(ampdu), frames: window, window });
    Sender {
        sending: Sending::Ppdu(mode),
        phy: Phy::new(Standard::Dot11a, Preamble::Long),
        packet: Bytes::new(1_500),
        llc: Bytes::new(8),
        header: Bytes::new(30),
        amsdu: 1,
        aggregation,
        control: control(mcs),
        response: control(mcs),
        rts: false,
        txop: Duration::ZERO,
    }
}

/// The closed form that was printed beside ns-3.44's measurement of one saturated sender: MPDUs, PPDU \[us\], goodput
/// \[Mbit/s\].
#[test]
fn one_sender_has_the_goodput_that_others_compute() {
    use Format::{He, Ht, Vht};
    let rows = [
        (Ht, Width::Mhz20, 3, 0, 64, 1, 512.0, 17.67),
        (Ht, Width::Mhz20, 3, 8_191, 64, 5, 2_412.0, 22.91),
        (Ht, Width::Mhz20, 3, 65_535, 64, 11, 5_264.0, 23.89),
        (Ht, Width::Mhz20, 7, 0, 64, 1, 228.0, 30.79),
        (Ht, Width::Mhz20, 7, 8_191, 64, 5, 988.0, 51.36),
        (Ht, Width::Mhz20, 7, 65_535, 64, 28, 5_360.0, 59.75),
        (Vht, Width::Mhz80, 9, 0, 64, 1, 68.0, 52.93),
        (Vht, Width::Mhz80, 9, 65_535, 64, 42, 1_368.0, 324.00),
        (Vht, Width::Mhz80, 9, 1_048_575, 64, 64, 2_064.0, 339.11),
        (He, Width::Mhz20, 7, 0, 256, 1, 193.6, 33.83),
        (He, Width::Mhz20, 7, 6_500_631, 256, 37, 5_361.6, 78.82),
        (He, Width::Mhz80, 11, 0, 256, 1, 71.2, 52.18),
        (He, Width::Mhz80, 11, 65_535, 256, 42, 914.4, 457.57),
        (He, Width::Mhz80, 11, 6_500_631, 256, 256, 5_320.8, 549.39),
        (He, Width::Mhz160, 11, 0, 256, 1, 57.6, 55.52),
        (He, Width::Mhz160, 11, 6_500_631, 256, 256, 2_682.4, 1_058.18),
    ];
    for (format, width, mcs, ampdu, window, mpdus, us, goodput) in rows {
        let sender = sender(format, width, mcs, ampdu, window);
        let exchange = sender.exchange();
        let what = format!("{format:?} {width:?} {mcs} {ampdu}");
        assert_eq!((exchange.mpdus, exchange.data.as_nanos() as f64 / 1e3), (mpdus, us), "{what}");
        let ours = sender.alone_bps(&BEST_EFFORT, BITS) / 1e6;
        assert!((ours - goodput).abs() < 0.01, "{what}: {ours} Mbit/s beside {goodput}");
    }
}

#[test]
fn a_txop_has_the_frames_that_others_count() {
    // 802.11a at 54 Mbit/s, 4.096 ms: 13 frames, 36.88 Mbit/s.
    let old = Sender {
        sending: Sending::Ofdm(OFDM_RATES[7]),
        txop: Duration::from_micros(4_096),
        ..sender(Format::Ht, Width::Mhz20, 7, 0, 64)
    };
    assert_eq!(old.exchange().exchanges, 13);
    assert!((old.alone_bps(&BEST_EFFORT, BITS) / 1e6 - 36.88).abs() < 0.01);
    // The A-MPDU is cut to the TXOP: 18 MPDUs in 3.52 ms.
    let new = Sender { txop: Duration::from_micros(3_520), ..sender(Format::Ht, Width::Mhz20, 7, 65_535, 64) };
    assert_eq!((new.exchange().exchanges, new.exchange().mpdus), (1, 18));
    // A shorter A-MPDU fills the rest of a TXOP.
    let wide = Sender { txop: Duration::from_micros(3_000), ..sender(Format::He, Width::Mhz80, 11, 65_535, 256) };
    let exchange = wide.exchange();
    assert!(exchange.success <= wide.txop && exchange.packets > exchange.exchanges.saturating_sub(1) * exchange.mpdus);
}

fn cell(stations: Vec<(Access, Exchange)>, repair: Repair) -> Cell {
    let phy = Phy::new(Standard::Dot11a, Preamble::Long);
    let station =
        |(access, exchange): (Access, Exchange)| Station { access, aifs: access.aifs(&phy), exchange, repair };
    Cell {
        stations: stations.into_iter().map(station).collect(),
        slot: phy.slot,
        turnaround: phy.turnaround,
        countdown: Countdown::Edca,
        captures: false,
        after_error: Duration::ZERO,
    }
}

fn goodputs(cell: &Cell) -> Vec<f64> {
    let time = Duration::from_secs(200);
    let results = simulate(cell, time, 1);
    results.iter().map(|result| (result.packets * BITS) as f64 / time.as_secs_f64() / 1e6).collect()
}

/// Bianchi and a slot-by-slot Monte Carlo beside ns-3.44, 20 MHz, MCS 7: stations, A-MPDUs, RTS, request; goodput by
/// Bianchi and by Monte Carlo \[Mbit/s\].
#[test]
fn n_stations_have_the_goodput_that_others_compute() {
    use Format::{He, Ht};
    let rows = [
        (He, 2, false, false, 35.37, 34.88),
        (He, 2, false, true, 28.63, 28.36),
        (He, 2, true, false, 74.93, 74.38),
        (He, 2, true, true, 77.93, 77.87),
        (He, 10, false, false, 32.19, 32.35),
        (He, 10, false, true, 29.04, 29.05),
        (He, 10, true, false, 61.76, 61.96),
        (He, 20, false, false, 29.90, 30.14),
        (He, 20, true, false, 56.05, 56.26),
        (Ht, 5, false, false, 30.56, 30.51),
        (Ht, 5, true, false, 51.19, 51.24),
    ];
    for (format, n, aggregates, rts, bianchi, monte_carlo) in rows {
        let window = if format == He { 256 } else { 64 };
        let bytes = if format == He { 6_500_631 } else { 65_535 };
        let base = sender(format, Width::Mhz20, 7, if aggregates { bytes } else { 0 }, window);
        let sender = Sender { rts, ..base };
        let exchange = sender.exchange();
        let aifs = BEST_EFFORT.aifs(&sender.phy);
        let bits = (exchange.packets * BITS) as f64;
        let point = fixed_point(&BEST_EFFORT, n);
        let success = exchange.success + aifs;
        let ours = throughput_bps(point, n, sender.phy.slot, (bits, success), exchange.lost + aifs) / 1e6;
        let what = format!("{format:?}, {n} stations, A-MPDU {aggregates}, RTS {rts}");
        assert!((ours / bianchi - 1.0).abs() < 0.001, "{what}: Bianchi {ours} beside {bianchi}");
        let stations = vec![(BEST_EFFORT, exchange); n as usize];
        let ours: f64 = goodputs(&cell(stations, Repair::Again)).iter().sum();
        assert!((ours / monte_carlo - 1.0).abs() < 0.01, "{what}: {ours} beside {monte_carlo}");
    }
}

#[test]
fn a_request_after_a_lost_acknowledgement_costs_what_others_compute() {
    for (n, goodput) in [(2, 73.53), (10, 56.74), (20, 47.59)] {
        let exchange = sender(Format::He, Width::Mhz20, 7, 6_500_631, 256).exchange();
        let ours: f64 = goodputs(&cell(vec![(BEST_EFFORT, exchange); n], Repair::Request)).iter().sum();
        assert!((ours / goodput - 1.0).abs() < 0.02, "{n} stations: {ours} beside {goodput}");
    }
}

#[test]
fn categories_share_as_others_compute() {
    let single = sender(Format::He, Width::Mhz20, 7, 0, 256).exchange();
    let most = sender(Format::He, Width::Mhz20, 7, 6_500_631, 256).exchange();
    let rows = [
        (VOICE, BEST_EFFORT, single, 39.25, 1.06),
        (VIDEO, BEST_EFFORT, single, 29.95, 7.23),
        (BEST_EFFORT, BACKGROUND, most, 54.42, 21.15),
        (BEST_EFFORT, BEST_EFFORT, single, 17.32, 17.56),
    ];
    for (a, b, exchange, first, second) in rows {
        let ours = goodputs(&cell(vec![(a, exchange), (b, exchange)], Repair::Again));
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() < 0.03 * theirs + 0.1;
        assert!(near(ours[0], first) && near(ours[1], second), "{a:?}, {b:?}: {ours:?} beside {first}, {second}");
    }
}
