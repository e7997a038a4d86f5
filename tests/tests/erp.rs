//! Cells with stations of several generations: 802.11b, which hears no OFDM, beside 802.11g, n and ax in 2.4 GHz, and
//! stations under DCF beside stations under EDCA. Expectations are times by hand, of 1472 byte of payload each.

use airbraid_sim::result::RunResult;
use airbraid_sim::scenario::Scenario;
use airbraid_tests::{goodput, run, spec};

/// Bits of one datagram.
const BITS: f64 = 1_472.0 * 8.0;

/// An access point, a station and one of 802.11b on a channel, a few metres apart.
fn cell(channel: u32, keys: &str, old: &str, flows: &[(&str, &str)]) -> String {
    let flow = |(from, to): &(&str, &str)| {
        format!(
            "[[flow]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ udp = \"1472 byte\" }}\n"
        )
    };
    let flows: String = flows.iter().map(flow).collect();
    format!(
        r#"
schema = 1
title = "Unlike stations"
question = "What does each get?"
node = [
  {{ name = "ap", position = ["0 m", "0 m"], radios = [{channel}] }},
  {{ name = "new", position = ["10 m", "0 m"], radios = [{channel}] }},
  {{ name = "old", position = ["0 m", "10 m"], radios = [{channel}], radio = {{ {old} }} }},
]
[run]
duration = "6.2 s"
warm_up = "200 ms"
[radio]
{keys}
{flows}
"#
    )
}

fn result(text: &str) -> RunResult {
    run(&spec(text)).result
}

const OLD: &str = r#"standard = "802.11b""#;

#[track_caller]
fn is_near(what: &str, expected: f64, measured: f64, tolerance: f64) {
    let deviation = measured / expected - 1.0;
    assert!(deviation.abs() <= tolerance, "{what}: {measured} is {:+.2} % off {expected}", deviation * 100.0);
}

/// The goodput of the station with OFDM alone, and what one exchange of `us` microseconds with `count` datagrams gives.
#[track_caller]
fn carries(what: &str, keys: &str, old: &str, (count, us): (f64, f64), tolerance: f64) {
    let measured = goodput(&result(&cell(6, keys, old, &[("new", "ap")])), "new");
    is_near(what, count * BITS / us, measured, tolerance);
}

/// DIFS 50, mean backoff 7.5 slots of 20, data of 57 symbols with the signal extension 254, SIFS 10, ACK at 24 Mbit/s
/// 34 us.
const EXCHANGE_G: f64 = 50.0 + 150.0 + 254.0 + 10.0 + 34.0;

#[test]
fn ofdm_beside_802_11b_pays_for_its_protection() {
    let g = r#"standard = "802.11g""#;
    carries("CTS to self", g, OLD, (1.0, 304.0 + 10.0 + EXCHANGE_G), 0.005);
    let with = |key: &str| format!("{g}\n{key}");
    carries("off", &with("protection = \"off\""), OLD, (1.0, EXCHANGE_G), 0.005);
    let announced = 352.0 + 10.0 + 304.0 + 10.0 + EXCHANGE_G;
    carries("RTS and CTS", &with("protection = \"rts_cts\""), OLD, (1.0, announced), 0.005);
    carries("RTS above a threshold", &with("rts_threshold = \"500 byte\""), OLD, (1.0, announced), 0.005);
    // The highest rate that all of 802.11b have for it, with a preamble that all of them have.
    let fast = r#"standard = "802.11b", preamble = "short", basic_rates = ["1 Mbit/s", "2 Mbit/s"]"#;
    carries("2 Mbit/s, short", g, fast, (1.0, 96.0 + 56.0 + 10.0 + EXCHANGE_G), 0.005);
    // A slot that is written stays.
    carries("slot", &with("slot = \"9 us\""), OLD, (1.0, 28.0 + 67.5 + EXCHANGE_G - 200.0 + 314.0), 0.005);
}

#[test]
fn without_802_11b_on_the_channel_nothing_changes() {
    let g = r#"standard = "802.11g""#;
    for old in [r#"standard = "802.11g""#, r#"standard = "802.11a""#] {
        carries("alone", g, old, (1.0, EXCHANGE_G - 200.0 + 28.0 + 67.5), 0.005);
    }
    // One that is asked for without any known 802.11b: slots stay short.
    let always = format!("{g}\nprotection = \"cts_to_self\"");
    carries("always", &always, g, (1.0, 314.0 + EXCHANGE_G - 200.0 + 28.0 + 67.5), 0.005);
}

/// AIFS 70, mean backoff 150, CTS and SIFS 314, an A-MPDU of 28 MPDUs in 5366, SIFS, block acknowledgement at 24 Mbit/s
/// in 38 us.
#[test]
fn an_a_mpdu_is_protected_as_a_whole() {
    let n = r#"standard = "802.11n""#;
    carries("802.11n", n, OLD, (28.0, 70.0 + 150.0 + 314.0 + 5_366.0 + 10.0 + 38.0), 0.01);
    // Thirteen exchanges of 288 us, less the last SIFS, behind one CTS in a TXOP of 4096 us.
    let txop = format!("{n}\nampdu = \"off\"\ntxop = {{ be = \"4096 us\" }}");
    carries("TXOP", &txop, OLD, (13.0, 70.0 + 150.0 + 314.0 + 13.0 * 288.0 - 10.0), 0.01);
}

/// Both ways data have 802.11b's rate: DIFS 50 and 15.5 slots of 20 us from the station, AIFS 70 or DIFS 50 and 7.5
/// slots to it, 1536 byte in 1309.1, SIFS and ACK at 1 Mbit/s.
#[test]
fn a_station_of_802_11b_speaks_with_one_of_any_standard_in_its_band() {
    let data = 1_309.1 + 10.0 + 304.0;
    for (standard, down) in [("802.11g", 50.0), ("802.11n", 70.0), ("802.11ax", 70.0), ("802.11be", 70.0)] {
        let keys = format!("standard = \"{standard}\"\nband = \"2.4 GHz\"");
        let keys = if standard == "802.11g" { "standard = \"802.11g\"".to_owned() } else { keys };
        let of = |from, to| result(&cell(6, &keys, OLD, &[(from, to)]));
        is_near("up", BITS / (50.0 + 310.0 + data), goodput(&of("old", "ap"), "old"), 0.005);
        is_near("down", BITS / (down + 150.0 + data), goodput(&of("ap", "old"), "ap"), 0.005);
    }
    // 40 MHz, of which the primary is the channel of 802.11b.
    let wide = "standard = \"802.11n\"\nband = \"2.4 GHz\"\nwidth = \"40 MHz\"";
    let of = |from, to| result(&cell(6, wide, OLD, &[(from, to)]));
    is_near("up, 40 MHz", BITS / (360.0 + data), goodput(&of("old", "ap"), "old"), 0.005);
    is_near("down, 40 MHz", BITS / (220.0 + data), goodput(&of("ap", "old"), "ap"), 0.005);
}

/// A station of 802.11b notices OFDM by its reservations alone: without them it speaks into it.
#[test]
fn who_hears_no_ofdm_speaks_into_it() {
    let keys = |protection: &str| format!("standard = \"802.11n\"\nprotection = \"{protection}\"");
    let of = |protection: &str| result(&cell(6, &keys(protection), OLD, &[("new", "ap"), ("old", "ap")]));
    let (safe, exposed) = (of("cts_to_self"), of("off"));
    let old = |result: &RunResult| goodput(result, "old");
    assert!(old(&safe) > 2.0 * old(&exposed), "{} and {} Mbit/s", old(&safe), old(&exposed));
    // With energy detection it waits, for the energy if not for the answer.
    let sensing = format!("{OLD}, energy_detect = \"-70 dBm\"");
    let sensing = result(&cell(6, &keys("off"), &sensing, &[("new", "ap"), ("old", "ap")]));
    assert!(old(&sensing) > 2.0 * old(&exposed), "{} and {} Mbit/s", old(&sensing), old(&exposed));
}

/// Stations under DCF and EDCA: DIFS or AIFS, 7.5 slots of 9 us, 1536 byte in 248, SIFS 16, ACK 28 us.
#[test]
fn stations_under_dcf_and_edca_exchange_data() {
    for standard in ["802.11n", "802.11ac", "802.11ax", "802.11be"] {
        let keys = format!("standard = \"{standard}\"\nband = \"5 GHz\"");
        let of = |from, to| result(&cell(36, &keys, r#"standard = "802.11a", frequency = "5180 MHz""#, &[(from, to)]));
        let data = 67.5 + 248.0 + 16.0 + 28.0;
        is_near("up", BITS / (34.0 + data), goodput(&of("old", "ap"), "old"), 0.005);
        is_near("down", BITS / (43.0 + data), goodput(&of("ap", "old"), "ap"), 0.005);
    }
}

/// The category of what goes to a station without QoS is best effort: voice has no shorter gap.
#[test]
fn a_station_without_qos_gets_no_category() {
    let old = r#"standard = "802.11a", frequency = "5180 MHz""#;
    let text = cell(36, "standard = \"802.11ax\"", old, &[("ap", "old")]);
    let voice = text.replace("udp = \"1472 byte\" }", "udp = \"1472 byte\" }\naccess = \"vo\"");
    assert_ne!(text, voice);
    let [plain, voice] = [text, voice].map(|text| goodput(&result(&text), "ap"));
    is_near("voice", plain, voice, 0.005);
}

/// TCP both ways between unlike stations delivers everything.
#[test]
fn tcp_between_dcf_and_edca_delivers() {
    let text = cell(6, "standard = \"802.11n\"", OLD, &[("ap", "old"), ("old", "new")]);
    let result = result(&text.replace("udp = \"1472 byte\"", "tcp = \"cubic\""));
    for name in ["ap", "old"] {
        assert!(goodput(&result, name) > 0.5, "{name} has {} Mbit/s", goodput(&result, name));
    }
}

#[test]
fn protection_without_ofdm_in_its_band_is_refused() {
    for (keys, channel) in
        [("standard = \"802.11b\"", 6), ("standard = \"802.11a\"", 36), ("standard = \"802.11ax\"", 36)]
    {
        let text = cell(channel, &format!("{keys}\nprotection = \"off\""), keys, &[("ap", "new")]);
        let refused = match Scenario::parse("test", &text).and_then(|scenario| scenario.plan()) {
            Ok(_) => panic!("{keys} is not refused"),
            Err(errors) => errors.to_string(),
        };
        assert!(refused.contains("`protection` is of OFDM in 2.4 GHz"), "{refused}");
    }
}
