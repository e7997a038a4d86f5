//! The same scenario and seed give the same bytes: twice, in debug and in release, alone and beside others.
//!
//! The golden files hold what a person can read: the frames of the first milliseconds, and the totals of the whole
//! run. `make test` compares the debug build with them, `make check` the release.
//! After a change that is meant: `UPDATE_GOLDEN=1 cargo test -p airbraid-tests --test golden`, and read the difference.

use airbraid_sim::{Recordings, RunOptions, TIMELINE};
use airbraid_tests::{root, spec_of_file};
use std::fmt::Write;

/// The lines of the timeline that the golden file shows.
const SHOWN: usize = 120;

/// FNV-1a, so that the golden file covers the whole timeline beside the lines that it shows.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The result of a run: the first frames, a digest of all, the facts.
fn transcript(file: &str, set: &[&str]) -> String {
    let mut all = vec!["run.duration=2 s", "run.warm_up=0 s"];
    all.extend(set);
    let spec = spec_of_file(file, &all);
    let recordings = Recordings { timeline: true, pcap: true, ..Recordings::default() };
    let options = RunOptions { recordings, ..RunOptions::default() };
    let output = airbraid_sim::run(&spec, spec.seed, options).unwrap();
    let timeline = std::str::from_utf8(output.file(TIMELINE).unwrap()).unwrap();
    let mut text = format!("{file} {}, the first {SHOWN} of {} lines\n\n", all.join(", "), timeline.lines().count());
    for line in timeline.lines().take(SHOWN) {
        text.push_str(line);
        text.push('\n');
    }
    let _ = writeln!(text, "\ndigest of the timeline: {:016x}", digest(timeline));
    for file in output.files.iter().filter(|file| file.is_capture()) {
        let (name, bytes) = (&file.name, file.bytes.as_ref().unwrap());
        let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        let _ = writeln!(text, "{name}: {} byte, digest {sum:016x}", bytes.len());
    }
    let _ = writeln!(text, "{}", serde_json::to_string_pretty(&output.result).unwrap());
    text
}

fn matches_golden(name: &str, file: &str, set: &[&str]) {
    let path = root().join("tests/golden").join(format!("{name}.txt"));
    let now = transcript(file, set);
    assert_eq!(now, transcript(file, set), "two runs of one seed differ");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(root().join("tests/golden")).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    for (number, (old, new)) in golden.lines().zip(now.lines()).enumerate() {
        assert_eq!(old, new, "{} differs from line {} on", path.display(), number + 1);
    }
    assert_eq!(golden.lines().count(), now.lines().count(), "{} has another length", path.display());
}

#[test]
fn local_error_control_in_a_place_called_table() {
    let set = ["killer.air.trace=\"table\"", "killer.air.corrupt_both=true", "radio.link_layer.policy=flex"];
    matches_golden("polled_table", "eckhardt1998/traces.toml", &set);
}

#[test]
fn one_channel_with_bit_errors() {
    matches_golden("one_channel_ber", "examples/one_channel.toml", &["radio.error={ ber = 1e-5 }"]);
}

#[test]
fn a_trunk_of_three_beside_another_pair() {
    matches_golden("trunk_shared", "validation/trunk_shared.toml", &[]);
}

#[test]
fn rts_with_hidden_stations() {
    matches_golden("eastbound", "validation/eastbound.toml", &[]);
}

#[test]
fn signals_by_sinr_from_a_moving_station() {
    let set = [
        "node.sender.velocity=[\"20 m/s\", \"0 m/s\"]",
        "radio.error=\"sinr\"",
        "radio.power=\"0 dBm\"",
        "radio.path_loss={ model = \"log_distance\", exponent = 3.0, reference = \"1 m\", loss = \"40 dB\" }",
    ];
    matches_golden("sinr_moving", "examples/one_channel.toml", &set);
}

#[test]
fn a_lossy_link() {
    matches_golden("lossy_link", "examples/lossy_link.toml", &[]);
}

/// Four nodes under Bi-MCMAC and AODV: the search for the route, handshakes on the control channel, data both ways.
#[test]
fn a_chain_under_bi_mcmac() {
    let set = ["radio.mac=\"bi_mcmac\"", "topology.count=4"];
    matches_golden("bi_mcmac", "kuang2004/chain.toml", &set);
}
