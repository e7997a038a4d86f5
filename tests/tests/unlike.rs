//! Stations of unlike standards, widths, streams and windows in one cell: each gets what it can receive.

use airbraid_sim::result::RunResult;
use airbraid_tests::{goodput, run, spec};

/// An access point and a station a metre apart, each with its keys; `flow` goes from the one to the other.
fn pair(ap: &str, station: &str, down: bool) -> String {
    let (from, to) = if down { ("ap", "station") } else { ("station", "ap") };
    format!(
        r#"
schema = 1
title = "Unlike stations"
question = "What does each get?"
node = [
  {{ name = "ap", position = ["0 m", "0 m"], radios = [36], radio = {{ {ap} }} }},
  {{ name = "station", position = ["1 m", "0 m"], radios = [36], radio = {{ {station} }} }},
]
flow = [{{ name = "data", from = "{from}", to = "{to}", transport = {{ udp = "1472 byte" }} }}]
[run]
duration = "1.2 s"
warm_up = "200 ms"
[radio]
eifs = false
"#
    )
}

fn result(text: &str) -> RunResult {
    run(&spec(text)).result
}

fn carried(ap: &str, station: &str, down: bool) -> f64 {
    goodput(&result(&pair(ap, station, down)), "data")
}

/// Asserts that one sends to the other what two stations of that kind send to each other.
#[track_caller]
fn is_as(unlike: f64, alike: f64) {
    assert!((unlike / alike - 1.0).abs() < 0.02, "{unlike} is not {alike}");
}

#[test]
fn an_access_point_sends_to_an_older_station_in_its_format() {
    let new = r#"standard = "802.11ax""#;
    for old in [r#"standard = "802.11n""#, r#"standard = "802.11ac""#] {
        is_as(carried(new, old, true), carried(old, old, true));
        is_as(carried(new, old, false), carried(old, old, false));
    }
    let old = r#"standard = "802.11a", edca = true"#;
    is_as(carried(new, old, true), carried(old, old, true));
    let very_new = r#"standard = "802.11be""#;
    is_as(carried(very_new, new, true), carried(new, new, true));
}

#[test]
fn an_access_point_sends_to_a_narrow_station_in_its_channel() {
    let of = |width: u32| format!(r#"standard = "802.11ax", width = "{width} MHz""#);
    for (wide, narrow) in [(80, 20), (160, 40), (40, 20)] {
        for more in ["", r#", rts_threshold = "0 byte""#] {
            let [wide, narrow] = [wide, narrow].map(|width| of(width) + more);
            is_as(carried(&wide, &narrow, true), carried(&narrow, &narrow, true));
            is_as(carried(&wide, &narrow, false), carried(&narrow, &narrow, false));
        }
        let stubborn = of(wide) + r#", bandwidth = "static""#;
        is_as(carried(&stubborn, &of(narrow), true), carried(&of(narrow), &of(narrow), true));
    }
}

/// The signal-to-noise ratio of what a narrow station sends is that in its own channel.
#[test]
fn rate_control_by_signals_goes_by_the_channel_that_both_have() {
    let of = |width: u32| {
        let path = r#"path_loss = { model = "log_distance", exponent = 5 }, power = "0 dBm""#;
        format!(r#"standard = "802.11ax", width = "{width} MHz", error = "sinr", rate_control = "ideal", {path}"#)
    };
    let far = |ap: u32| {
        let text = pair(&of(ap), &of(20), true).replace(r#"["1 m", "0 m"]"#, r#"["5 m", "0 m"]"#);
        goodput(&result(&text), "data")
    };
    let alike = far(20);
    assert!((20.0..110.0).contains(&alike), "{alike} Mbit/s are an end of the scale");
    is_as(far(80), alike);
}

#[test]
fn a_station_with_one_antenna_gets_one_stream() {
    let of = |streams: u32| format!(r#"standard = "802.11ax", streams = {streams}"#);
    is_as(carried(&of(4), &of(1), true), carried(&of(1), &of(1), true));
    is_as(carried(&of(4), &of(2), false), carried(&of(2), &of(2), false));
}

#[test]
fn the_shorter_window_of_both_ends_holds() {
    let of = |window: u32| format!(r#"standard = "802.11ax", block_ack_window = {window}"#);
    for down in [true, false] {
        is_as(carried(&of(8), &of(256), down), carried(&of(8), &of(8), down));
        is_as(carried(&of(256), &of(8), down), carried(&of(8), &of(8), down));
    }
}

/// An agreement has two ends: with a station without A-MPDUs there is none, and nothing is handed up out of order.
#[test]
fn a_station_without_a_mpdus_gets_single_ones() {
    let on = r#"standard = "802.11ax", error = { ber = 1e-5 }"#;
    let off = format!(r#"{on}, ampdu = "off""#);
    for down in [true, false] {
        for ends in [[on, &off], [&off, on]] {
            let result = result(&pair(ends[0], ends[1], down));
            is_as(goodput(&result, "data"), carried(&off, &off, down));
            assert_eq!(result.flows[0].arrivals.0.reordered, 0);
        }
    }
}

/// A device in EMLSR mode that sends and receives all it can: neither direction starves.
#[test]
fn a_device_with_one_radio_is_called_as_often_as_it_calls() {
    let radios = r#"radios = [36, { name = "six", channel = 37, band = "6 GHz" }]"#;
    let text = format!(
        r#"
schema = 1
title = "One radio, both ways"
question = "Does the access point get its turns?"
node = [
  {{ name = "ap", position = ["0 m", "0 m"], {radios} }},
  {{ name = "station", position = ["1 m", "0 m"], {radios} }},
]
flow = [
  {{ name = "up", from = "station", to = "ap", transport = {{ udp = "1472 byte" }} }},
  {{ name = "down", from = "ap", to = "station", transport = {{ udp = "1472 byte" }} }},
]
[run]
duration = "3.2 s"
warm_up = "200 ms"
[radio]
standard = "802.11be"
width = "80 MHz"
queue = 8000
[[trunk]]
name = "air"
between = ["ap", "station"]
over = "mld"
mode = "emlsr"
"#
    );
    let result = result(&text);
    let [up, down] = ["up", "down"].map(|flow| goodput(&result, flow));
    assert!(up + down > 550.0, "{up} and {down}");
    assert!(up.min(down) > up.max(down) / 3.0, "{up} and {down}");
}

/// The last arrival at the station `old` before each of its transmissions, and its age \[ns\].
fn waits(timeline: &str) -> Vec<(String, u64)> {
    let (mut waits, mut last) = (Vec::new(), None);
    for line in timeline.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.get(..3).and_then(|at| at.concat().replace('.', "").parse::<u64>().ok()) else { continue };
        match words[3..] {
            ["old/ch36", "TX", ..] => waits.extend(last.take().map(|(text, since)| (text, at - since))),
            ["old/ch36", "RX", ..] => last = Some((words[4..9].join(" "), at)),
            _ => {}
        }
    }
    waits
}

/// A station of 802.11a hears PPDUs of 802.11ax, and not their answers: it waits for as long as L-SIG tells and then
/// for EIFS, 94 us, one of 802.11ax as their Duration field says: SIFS, a block acknowledgement of 32 us, AIFS.
#[test]
fn a_receiver_that_does_not_know_a_format_waits_for_eifs() {
    let text = |old: &str| {
        format!(
            r#"
schema = 1
title = "Old beside new"
question = "Does it defer to what it cannot read?"
node = [
  {{ name = "far", position = ["-200 m", "0 m"], radios = [36] }},
  {{ name = "new", position = ["0 m", "0 m"], radios = [36] }},
  {{ name = "old", position = ["200 m", "0 m"], radios = [36], radio = {{ {old} }} }},
  {{ name = "sink", position = ["300 m", "0 m"], radios = [36], radio = {{ {old} }} }},
]
flow = [
  {{ name = "data", from = "new", to = "far", transport = {{ udp = "1472 byte" }} }},
  {{ name = "other", from = "old", to = "sink", transport = {{ udp = "1472 byte" }} }},
]
[run]
duration = "2 s"
[radio]
standard = "802.11ax"
ampdu = "20000 byte"
frequency = "5.18 GHz"
reception_range = "250 m"
carrier_sense_range = "250 m"
[record]
timeline = true
"#
        )
    };
    let behind_new = |old: &str| {
        let output = run(&spec(&text(old)));
        let waits = waits(std::str::from_utf8(output.file("timeline.txt").unwrap()).unwrap());
        waits.into_iter().filter(|(text, _)| text.ends_with("<- new/ch36")).collect::<Vec<_>>()
    };
    let old = behind_new(r#"standard = "802.11a""#);
    assert!(old.len() > 20 && old.iter().all(|(text, wait)| text.contains("RX err") && *wait >= 94_000), "{old:?}");
    let new = behind_new(r#"standard = "802.11ax", mcs = 7"#);
    assert!(new.len() > 20 && new.iter().all(|(text, _)| text.contains("RX ok")), "{new:?}");
}
