//! 802.11n and later on the air: errors MPDU by MPDU, rate control, channels that overlap, and wide channels of which a
//! part is busy.

use airbraid_sim::result::RunResult;
use airbraid_tests::{goodput, run, spec};
use std::fmt::Write;

/// A saturated pair of 802.11ax with 80 MHz at a distance, on a path of exponent 3 in 5.2 GHz: 61.2 dB of SNR at a
/// metre. `keys` are more keys of both radios.
fn pair(distance: f64, duration: &str, keys: &str) -> String {
    format!(
        r#"
schema = 1
title = "A pair"
question = "What does it carry?"
[run]
duration = "{duration}"
warm_up = "0.5 s"
[radio]
standard = "802.11ax"
width = "80 MHz"
power = "20 dBm"
frequency = "5.2 GHz"
path_loss = {{ model = "log_distance", exponent = 3 }}
error = "sinr"
{keys}
[[node]]
name = "ap"
position = ["0 m", "0 m"]
radios = [36]
[[node]]
name = "station"
position = ["{distance} m", "0 m"]
radios = [36]
[[flow]]
name = "down"
from = "ap"
to = "station"
transport = {{ udp = "1472 byte" }}
source = "greedy"
"#
    )
}

fn result(text: &str) -> RunResult {
    run(&spec(text)).result
}

/// The goodput of the best MCS that is kept, and that under a rate control.
fn beside_the_best(distance: f64, duration: &str, keys: &str, control: &str) -> (f64, f64) {
    let fixed = |mcs: u8| goodput(&result(&pair(distance, duration, &format!("mcs = {mcs}\n{keys}"))), "down");
    let best = (0..12).map(fixed).fold(0.0, f64::max);
    let controlled = pair(distance, duration, &format!("rate_control = \"{control}\"\n{keys}"));
    (best, goodput(&result(&controlled), "down"))
}

#[test]
fn minstrel_carries_nine_tenths_of_the_best_mcs_at_any_distance_and_ideal_more() {
    for distance in [4.0, 9.0, 17.0, 31.0, 52.0, 74.0] {
        for (control, least) in [("minstrel", 0.9), ("ideal", 0.95)] {
            let (best, ours) = beside_the_best(distance, "2 s", "", control);
            println!("{distance} m: best MCS {best:.1} Mbit/s, {control} {ours:.1}, {:.3}", ours / best);
            assert!(ours >= least * best, "{control} at {distance} m: {ours} of {best} Mbit/s");
        }
    }
}

#[test]
fn on_a_path_that_fades_slowly_minstrel_beats_every_mcs_that_is_kept() {
    let fading = "shadowing = { deviation = \"4 dB\", time = \"2 s\" }";
    let (best, ours) = beside_the_best(20.0, "8 s", fading, "minstrel");
    println!("best MCS {best:.1} Mbit/s, minstrel {ours:.1}");
    assert!(ours > 0.95 * best, "{ours} of {best} Mbit/s");
}

/// The same pair, with a saturated neighbour of 20 MHz on channel 44, in the secondary 40 MHz.
fn beside_a_neighbour(keys: &str) -> RunResult {
    let mut text = pair(5.0, "2 s", keys);
    text.push_str(
        r#"
[[node]]
name = "other"
position = ["0 m", "8 m"]
radios = [{ channel = 44, width = "20 MHz", mcs = 4 }]
[[node]]
name = "its_station"
position = ["5 m", "8 m"]
radios = [{ channel = 44, width = "20 MHz", mcs = 4 }]
[[flow]]
name = "beside"
from = "other"
to = "its_station"
transport = { udp = "1472 byte" }
source = "greedy"
"#,
    );
    result(&text)
}

#[test]
fn beside_a_neighbour_in_the_secondary_channel_dynamic_bandwidth_takes_the_half_and_static_takes_turns() {
    let alone = goodput(&result(&pair(5.0, "2 s", "mcs = 7")), "down");
    let [dynamic, turns] = ["dynamic", "static"].map(|bandwidth| {
        let both = beside_a_neighbour(&format!("mcs = 7\nbandwidth = \"{bandwidth}\""));
        (goodput(&both, "down"), goodput(&both, "beside"))
    });
    println!("alone {alone:.1}, dynamic {dynamic:.1?}, static {turns:.1?} Mbit/s");
    // The neighbour is seldom idle: 40 of 80 MHz, all the time; and it hardly notices.
    assert!(dynamic.0 > 0.38 * alone && dynamic.0 < 0.55 * alone, "{dynamic:?} of {alone} Mbit/s");
    assert!(turns.0 > 0.2 * alone && turns.0 < 0.6 * alone, "{turns:?} of {alone} Mbit/s");
    assert!(turns.1 < 0.75 * dynamic.1, "a static neighbour keeps the medium from it: {turns:?}, not {dynamic:?}");
}

#[test]
fn interference_in_the_middle_of_a_ppdu_takes_the_mpdus_under_it() {
    // A pair that hears nobody else sends a short frame every 20 ms, over A-MPDUs of 5.4 ms and 47 MPDUs. The access
    // point does not hear it, and at its station the SINR falls from 13 to 2 dB, of which MCS 2 needs 5.
    let mut text = pair(40.0, "4 s", "mcs = 2");
    let deaf = "mcs = 0, power = \"5 dBm\", sensitivity = \"-60 dBm\", carrier_sense = \"-60 dBm\"";
    let _ = write!(
        text,
        r#"
[[node]]
name = "close"
position = ["55 m", "0 m"]
radios = [{{ channel = 36, {deaf} }}]
[[node]]
name = "closer"
position = ["58 m", "0 m"]
radios = [{{ channel = 36, {deaf} }}]
[[flow]]
name = "short"
from = "close"
to = "closer"
transport = {{ udp = "100 byte" }}
source = {{ rate = "40 kbit/s" }}
"#
    );
    let result = result(&text);
    let Some(mac) = result.macs.iter().find(|mac| mac.node == "ap") else { panic!("there is an access point") };
    let (retries, ppdus) = (mac.counts.retries as f64, mac.counts.data_frames as f64);
    // A quarter of the PPDUs is hit, and loses the two to four MPDUs under a frame and its ACK. Were a PPDU lost as a
    // whole, there would be a dozen retries each.
    println!("{retries} retries of {ppdus} PPDUs");
    assert!(retries > 0.3 * ppdus && retries < 2.0 * ppdus, "{retries} retries of {ppdus} PPDUs");
}

/// Two saturated cells of 802.11b in one room; the second on another channel.
fn two_cells(channel: u32, keys: &str) -> RunResult {
    let text = format!(
        r#"
schema = 1
title = "Two cells"
question = "Do they disturb each other?"
[run]
duration = "2 s"
[radio]
standard = "802.11b"
rate = "11 Mbit/s"
error = "sinr"
power = "15 dBm"
frequency = "2.4 GHz"
path_loss = {{ model = "log_distance", exponent = 3 }}
{keys}
[[node]]
name = "a"
position = ["0 m", "0 m"]
radios = [1]
[[node]]
name = "b"
position = ["10 m", "0 m"]
radios = [1]
[[node]]
name = "c"
position = ["0 m", "10 m"]
radios = [{channel}]
[[node]]
name = "d"
position = ["10 m", "10 m"]
radios = [{channel}]
[[flow]]
name = "first"
from = "a"
to = "b"
transport = {{ udp = "1472 byte" }}
source = "greedy"
[[flow]]
name = "second"
from = "c"
to = "d"
transport = {{ udp = "1472 byte" }}
source = "greedy"
"#
    );
    result(&text)
}

#[test]
fn cells_of_802_11b_take_turns_on_one_channel_collide_on_the_next_and_are_apart_from_five_on() {
    let total = |channel, keys: &str| {
        let result = two_cells(channel, keys);
        goodput(&result, "first") + goodput(&result, "second")
    };
    let [same, next, third, apart] = [1, 2, 3, 6].map(|channel| total(channel, ""));
    println!("channel 1: {same:.2}, 2: {next:.2}, 3: {third:.2}, 6: {apart:.2} Mbit/s");
    assert!(next < 0.75 * same, "on channels 1 and 2 nobody waits for the other: {next}, on one {same}");
    assert!(apart > 1.9 * same, "on 1 and 6 both have all: {apart}, on one {same}");
    // Without overlap they have it on any two channels; energy detection makes them wait.
    let ignored = total(2, "overlap = \"ignored\"");
    assert!(ignored > 1.9 * same, "{ignored}");
    let waiting = total(2, "energy_detect = \"-76 dBm\"");
    println!("ignored: {ignored:.2}, with energy detection {waiting:.2} Mbit/s");
    assert!(waiting > 0.8 * same && waiting < 1.2 * same, "with energy detection {waiting}, on one channel {same}");
}

#[test]
fn channels_that_there_are_not_are_refused_with_the_nearest() {
    use airbraid_sim::scenario::Scenario;
    let refused = |from: &str, to: &str| {
        let text = pair(5.0, "1 s", "mcs = 0").replace(from, to);
        let plan = Scenario::parse("test", &text).and_then(|scenario| scenario.plan());
        plan.map(|_| ()).unwrap_err().to_string()
    };
    let wrong = refused("radios = [36]", "radios = [37]");
    assert!(wrong.contains("5 GHz has no channel 37 of 80 MHz") && wrong.contains("the nearest is 36"), "{wrong}");
    let wrong = refused("radios = [36]", "radios = [{ channel = 36, primary = 52 }]");
    assert!(wrong.contains("its primary is one of 36, 40, 44, 48"), "{wrong}");
    let wrong = refused("radios = [36]", "radios = [{ channel = 36, rate_control = \"arf\" }]");
    assert!(wrong.contains("write \"minstrel\" or \"ideal\""), "{wrong}");
}

/// An access point that nobody asks for anything sends its beacons, from the first interval of 102.4 ms on.
#[test]
fn an_idle_access_point_sends_beacons() {
    let text =
        pair(10.0, "2 s", "beacons = true").replace("source = \"greedy\"", "source = \"greedy\"\nstart = \"2 s\"");
    let run = run(&spec(&text));
    for edca in run.result.macs.iter().filter_map(|mac| mac.edca.as_ref()) {
        assert!((19..=20).contains(&edca.beacons), "{} beacons in 2 s", edca.beacons);
    }
}

/// A pair over which a neighbour sends that it does not hear; `radios` are those of the station.
fn beneath_a_neighbour(mcs: u8, radios: &str) -> RunResult {
    let deaf = "mcs = 0, power = \"5 dBm\", sensitivity = \"-60 dBm\", carrier_sense = \"-60 dBm\"";
    result(&format!(
        r#"
schema = 1
title = "A pair"
question = "Does a radio that has nothing to do change anything?"
node = [
  {{ name = "close", position = ["55 m", "0 m"], radios = [{{ channel = 36, {deaf} }}] }},
  {{ name = "closer", position = ["58 m", "0 m"], radios = [{{ channel = 36, {deaf} }}] }},
  {{ name = "ap", position = ["0 m", "0 m"], radios = [36] }},
  {{ name = "station", position = ["40 m", "0 m"], radios = {radios} }},
]
flow = [
  {{ name = "down", from = "ap", to = "station", transport = {{ tcp = "cubic" }} }},
  {{ name = "short", from = "close", to = "closer", transport = {{ udp = "100 byte" }}, source = {{ poisson = "40 kbit/s" }} }},
]
[run]
duration = "3 s"
[radio]
standard = "802.11ax"
width = "80 MHz"
mcs = {mcs}
power = "20 dBm"
frequency = "5.2 GHz"
path_loss = {{ model = "log_distance", exponent = 3 }}
error = "sinr"
"#
    ))
}

#[test]
fn mpdus_that_go_up_as_they_end_are_judged_as_those_that_go_up_together() {
    // A second radio makes the station hear of MPDUs as they end. It is never used.
    for mcs in [1, 2, 3] {
        let [together, early] =
            ["[36]", "[36, { name = \"spare\", channel = 149 }]"].map(|radios| beneath_a_neighbour(mcs, radios));
        let sent = |result: &RunResult| {
            let Some(mac) = result.macs.iter().find(|mac| mac.node == "ap") else { panic!("there is an access point") };
            (mac.counts.data_frames, mac.counts.retries)
        };
        println!("MCS {mcs}: {:?} PPDUs, and MPDUs that went again", sent(&together));
        assert!(sent(&together).1 > 50, "nothing is lost: {:?}", sent(&together));
        assert_eq!(sent(&together), sent(&early), "MCS {mcs}");
    }
}

#[test]
fn an_mpdu_leaves_by_a_link_before_its_ppdu_has_ended() {
    // An A-MPDU of three takes 4.4 ms, and a packet of it 1.2 ms on the link, where one may wait. Of three that came at
    // once the last would find no room.
    let result = result(
        r#"
schema = 1
title = "Over the air and on by wire"
question = "When does a packet go on?"
node = [
  { name = "station", position = ["0 m", "0 m"], radios = [36] },
  { name = "ap", position = ["5 m", "0 m"], radios = [36] },
  { name = "server", position = ["9 m", "0 m"] },
]
[run]
duration = "2 s"
[radio]
standard = "802.11ax"
width = "20 MHz"
mcs = 0
[[link]]
name = "wire"
between = ["ap", "server"]
rate = "10 Mbit/s"
delay = "1 ms"
queue = 1
[[flow]]
name = "up"
from = "station"
to = "server"
transport = { udp = "1472 byte" }
source = "greedy"
"#,
    );
    let Some(link) = result.links.iter().find(|link| link.from == "ap") else { panic!("there is a link") };
    assert_eq!(link.counts.dropped_queue, 0);
    assert!(goodput(&result, "up") > 7.5, "{} Mbit/s", goodput(&result, "up"));
}

/// Two saturated stations collide, block acknowledgements get lost, and the requests for them must come where data of
/// the lowest format do.
#[test]
fn rate_control_carries_both_directions_at_any_distance() {
    for distance in [4.0, 31.0, 52.0, 74.0] {
        for control in ["minstrel", "ideal"] {
            let (best, _) = beside_the_best(distance, "1.5 s", "", control);
            let up = "[[flow]]\nname = \"up\"\nfrom = \"station\"\nto = \"ap\"\ntransport = { udp = \"1472 byte\" }\n\
                      source = \"greedy\"\n";
            let both = result(&(pair(distance, "1.5 s", &format!("rate_control = \"{control}\"")) + up));
            let sum = goodput(&both, "down") + goodput(&both, "up");
            assert!(sum >= 0.85 * best, "{control} at {distance} m: {sum} both ways, {best} one way");
        }
    }
}
