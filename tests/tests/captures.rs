//! Wireshark reads what `--pcap` writes: every example, a trunk of three, a tunnel, sealed frames, polled radios. By
//! tshark with the dissector that the command installs; where it is not installed, the tests are skipped and counted.

#[path = "../src/skip.rs"]
mod skip;

use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{CAPTURE, Recordings, RunOptions, RunOutput};
use airbraid_tests::{root, spec_of_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Severity "error" of a note of Wireshark's expert.
const ERROR: u32 = 0x0080_0000;

/// Tells the directories of one process apart.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A run's captures, in a directory that goes with it.
struct Captured {
    dir: PathBuf,
    output: RunOutput,
    name: String,
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A row of tshark: the values of some fields, separated by tabulators.
type Row = Vec<String>;

impl Captured {
    fn of(name: &str, spec: &Spec) -> Self {
        let options =
            RunOptions { recordings: Recordings { pcap: true, ..Recordings::default() }, ..RunOptions::default() };
        let output = airbraid_sim::run(spec, spec.seed, options).unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("airbraid-captures-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for file in &output.files {
            std::fs::write(dir.join(&file.name), file.bytes.as_ref().unwrap()).unwrap();
        }
        Self { dir, output, name: name.to_owned() }
    }

    fn of_file(file: &str, set: &[&str]) -> Self {
        let all: Vec<&str> = ["run.warm_up=0 s", "run.duration=1 s"].into_iter().chain(set.iter().copied()).collect();
        Self::of(file, &spec_of_file(file, &all))
    }

    /// The values of fields of each packet of a file that fits a filter.
    fn fields(&self, file: &str, filter: &str, fields: &[&str]) -> Vec<Row> {
        let dissector = root().join("crates/cli/src/wireshark/airbraid.lua");
        let mut tshark = Command::new("tshark");
        tshark.arg("-X").arg(format!("lua_script:{}", dissector.display()));
        tshark.arg("-r").arg(self.dir.join(file)).args(["-o", "ip.check_checksum:TRUE", "-T", "fields"]);
        if !filter.is_empty() {
            tshark.args(["-Y", filter]);
        }
        fields.iter().for_each(|field| {
            tshark.args(["-e", field]);
        });
        let done = tshark.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && !said.contains("Lua: "), "{} {file}: {said}", self.name);
        let text = String::from_utf8(done.stdout).unwrap();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    /// All files one behind the other in one, whose name is returned: tshark takes a third of a second to start.
    fn joined(&self) -> &'static str {
        let joined = "all.pcapng";
        let files = self.output.files.iter().map(|file| self.dir.join(&file.name));
        let done =
            Command::new("mergecap").arg("-a").arg("-w").arg(self.dir.join(joined)).args(files).output().unwrap();
        assert!(done.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&done.stderr));
        joined
    }

    /// Packets by the protocols in them, and those of a host's connections, after a check of their order and of all
    /// that Wireshark notes.
    fn check(&self) -> BTreeMap<String, usize> {
        let fields = [
            "frame.number",
            "frame.interface_name",
            "frame.protocols",
            "frame.time_delta",
            "_ws.expert.severity",
            "_ws.expert.message",
        ];
        let mut protocols = BTreeMap::new();
        let mut beginnings = 1;
        for row in self.fields(self.joined(), "", &fields) {
            let [number, interface, stack, delta, severities, message] = &row[..] else { panic!("{row:?}") };
            let place = format!("{}, packet {number} of all, {interface}, {stack}", self.name);
            // Time goes back where another file begins.
            beginnings += usize::from(delta.starts_with('-'));
            assert!(beginnings <= self.output.files.len(), "{place}: before the one in front");
            let worst = severities.split(',').filter_map(|one| one.parse::<u32>().ok()).max();
            // A frame that was received with errors is one in Wireshark, too.
            let is_fine = worst.is_none_or(|worst| worst < ERROR) || message == "Bad checksum [should be 0x";
            assert!(is_fine, "{place}: {message}");
            let is_known = !stack.contains("malformed") && !stack.contains("user_dlt");
            let is_data = stack.ends_with(":data") && !stack.ends_with("udp:data") && !stack.ends_with("tcp:data");
            assert!(is_known && !is_data, "{place}");
            *protocols.entry(stack.clone()).or_default() += 1;
        }
        assert!(!protocols.is_empty(), "{}: nothing was captured", self.name);
        protocols
    }

    /// The capture of a host says of its connections what the run's results say.
    fn check_connections(&self, node: &str, flow: &str) {
        let file = format!("ip-{node}.pcapng");
        let lost = |kind: &str| self.fields(&file, &format!("tcp.analysis.{kind}"), &["frame.number"]).len();
        assert_eq!(lost("ack_lost_segment"), 0, "{} {file}: segments that were not captured", self.name);
        let facts = self.output.result.flows.iter().find(|one| one.name == flow).unwrap();
        // What arrives may have gaps.
        assert!(facts.from != node || lost("lost_segment") == 0, "{} {file}: gaps in what was sent", self.name);
        let sent =
            self.fields(&file, "tcp.srcport >= 49152 && tcp.len > 0", &["tcp.len", "tcp.seq", "tcp.ack", "tcp.nxtseq"]);
        let end: u64 = sent.iter().map(|row| row[3].parse().unwrap_or(0)).max().unwrap();
        let acknowledged = self.fields(&file, "tcp.dstport >= 49152", &["tcp.ack"]);
        let last: u64 = acknowledged.iter().map(|row| row[0].parse().unwrap()).max().unwrap();
        // Relative numbers begin with 1.
        assert!(last > 1 && last <= end, "{}: {last} is acknowledged of {end}", self.name);
        let delivered = facts.counts.0.delivered_bytes;
        assert!(last - 1 <= delivered, "{}: {} acknowledged, {delivered} delivered", self.name, last - 1);
        assert!(delivered - (last - 1) < delivered / 10 + 65_536, "{}: {delivered} delivered, {last}", self.name);
    }
}

/// Whether tshark is there.
fn has_tshark(test: &str) -> bool {
    let is_there = Command::new("tshark").arg("--version").output().is_ok();
    if !is_there {
        skip::skip(test, "tshark is not installed (Debian: apt-get install tshark)");
    }
    is_there
}

fn examples() -> Vec<String> {
    let read = std::fs::read_dir(root().join("scenarios/examples")).unwrap();
    let files: BTreeSet<String> = read.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.into_iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "toml")).collect()
}

fn has(protocols: &BTreeMap<String, usize>, end: &str) -> bool {
    protocols.keys().any(|stack| stack.ends_with(end))
}

#[test]
fn every_example_is_decoded_without_a_complaint() {
    if !has_tshark("captures of the examples") {
        return;
    }
    let examples = examples();
    assert!(examples.len() >= 8, "{examples:?}");
    for example in examples {
        let file = format!("examples/{example}");
        let text = std::fs::read_to_string(root().join("scenarios").join(&file)).unwrap();
        // Flows begin within the first second, where not all at once.
        let duration = if text.contains("start_jitter") { "run.duration=1 s" } else { "run.duration=500 ms" };
        Captured::of_file(&file, &[duration]).check();
    }
}

#[test]
fn a_trunk_of_three_shows_its_connection_above_it_and_on_each_radio() {
    if !has_tshark("captures of a trunk") {
        return;
    }
    let captured = Captured::of_file("bench/trunk-of-three.toml", &[]);
    let protocols = captured.check();
    assert!(has(&protocols, "wlan:llc:airbraid:ip:tcp"), "{protocols:?}");
    captured.check_connections("sender", "download");
    captured.check_connections("receiver", "download");
    let rows = captured.fields(CAPTURE, "tcp", &["frame.interface_name"]);
    let interfaces: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let expected = ["sender/ch1", "sender/ch5", "sender/ch9", "sender/air"];
    assert!(expected.iter().all(|name| interfaces.contains(name)), "{interfaces:?}");
    // Each packet has a number of its own on the trunk, the same at both ends.
    let numbers = |direction: u8| -> BTreeSet<Row> {
        let data = "airbraid.number && wlan.ta == 02:00:00:00:00:00 && !(radiotap.flags.badfcs == 1)";
        let filter = format!("{data} && frame.packet_flags_direction == {direction}");
        captured.fields(CAPTURE, &filter, &["airbraid.number"]).into_iter().collect()
    };
    let (sent, heard) = (numbers(2), numbers(1));
    assert!(heard.len() > 100 && heard.is_subset(&sent), "{} of {} were heard", heard.len(), sent.len());
}

#[test]
fn markers_and_acknowledgements_of_a_trunk_have_names() {
    if !has_tshark("captures of markers") {
        return;
    }
    let fifo = "{ distributor = \"round_robin\", resequencer = { method = \"fifo\" } }";
    for policy in ["{ distributor = \"srr\" }", "{ distributor = \"jkm\" }", fifo] {
        // Losses at the end of a burst are what the markers of the method `fifo` are for.
        let set = [&format!("trunk.air.policy={policy}"), "radio.error={ ber = 5e-5 }"];
        let captured = Captured::of_file("bench/trunk-of-three.toml", &set);
        let protocols = captured.check();
        assert!(has(&protocols, "ip:airbraid_control"), "{policy}: {protocols:?}");
    }
}

#[test]
fn a_tunnel_shows_its_connection_above_it_and_on_each_link() {
    if !has_tshark("captures of a tunnel") {
        return;
    }
    let captured = Captured::of_file("live/s1.toml", &[]);
    let protocols = captured.check();
    assert!(has(&protocols, "ip:udp:airbraid_tunnel:ip:tcp"), "{protocols:?}");
    captured.check_connections("server", "download");
    captured.check_connections("client", "download");
}

#[test]
fn sealed_frames_and_beacons_of_selection_are_decoded() {
    if !has_tshark("captures of sealed frames") {
        return;
    }
    let set = ["trunk.ucl.select={ measure = \"ett\", threshold = \"25 dB\", seal = true }"];
    let captured = Captured::of_file("sanchez2006/walk.toml", &set);
    let protocols = captured.check();
    assert!(has(&protocols, "wlan:llc:airbraid:ip:tcp"), "{protocols:?}");
    let beacons = captured.fields(CAPTURE, "airbraid.beacon_number", &["airbraid.key"]);
    assert!(!beacons.is_empty() && beacons.iter().all(|row| row[0] == "0"), "{} beacons", beacons.len());
    captured.check_connections("fixed", "download");
}

#[test]
fn beacons_of_a_multi_link_device_tell_its_address_and_their_link() {
    if !has_tshark("captures of multi-link devices") {
        return;
    }
    let beacons = |members: &str| {
        let members = format!("sweep.trunk.air.members=[{members}]");
        let set = ["node.ap.radio.beacons=true", "run.duration=120 ms", &members];
        let captured = Captured::of_file("mlo/two_links.toml", &set);
        captured.check();
        // The element as bytes: dissectors before Wireshark 4.2 do not know it.
        let sent = "wlan.fc.type_subtype == 8 && frame.packet_flags_direction == 2";
        let rows = captured.fields(CAPTURE, sent, &["frame.interface_name", "wlan.ext_tag.data", "frame.len"]);
        rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect::<BTreeSet<_>>()
    };
    // Control, length, address of the device, link ID, change count, number of links at once less one.
    let element = |link: u8, others: u8| format!("30010b0200000000ff{link:02x}00{others:02x}00");
    let of = |radio: &str, element: String| (format!("ap/{radio}"), element);
    let all = [of("ch36", element(0, 2)), of("six", element(1, 2)), of("two", element(2, 2))];
    assert_eq!(beacons("[\"ch36\", \"six\", \"two\"]"), BTreeSet::from(all));
    // A radio that is no link does not count; its beacons have no such element.
    let some = [of("ch36", String::new()), of("six", element(0, 1)), of("two", element(1, 1))];
    assert_eq!(beacons("[\"six\", \"two\"]"), BTreeSet::from(some));
}

#[test]
fn the_frames_of_an_agreement_are_decoded() {
    if !has_tshark("captures of agreements") {
        return;
    }
    let fields = "wlan.fixed.action_code wlan.fixed.dialog_token wlan.fixed.status_code wlan.fixed.baparams.amsdu \
                  wlan.fixed.baparams.policy wlan.fixed.baparams.tid wlan.fixed.baparams.buffersize \
                  wlan.fixed.batimeout wlan.fixed.ssc.sequence wlan.tag.number frame.len";
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // Each in the form in which all versions print it: numbers in hexadecimal, flags as words.
    let plain = |value: &String| match value.as_str() {
        "True" => "1".to_owned(),
        value => {
            value.strip_prefix("0x").map_or(value.to_owned(), |hex| u64::from_str_radix(hex, 16).unwrap().to_string())
        }
    };
    let sent = |file: &str, set: &[&str]| {
        let captured = Captured::of_file(file, set);
        captured.check();
        let filter = "wlan.fixed.category_code == 3 && frame.packet_flags_direction == 2 && wlan.fc.retry == 0";
        let rows = captured.fields(CAPTURE, filter, &fields);
        let rows = rows.iter().map(|row| row.iter().map(plain).collect::<Vec<_>>().join(" "));
        rows.collect::<BTreeSet<String>>()
    };
    let short = "run.duration=60 ms";
    // 37 byte behind a radiotap header of 22 byte; A-MSDUs, immediate, TID 0, a window of 256, no timeout.
    let [request, response] = ["0 1  1 1 0 256 0 0  59", "1 1 0 1 1 0 256 0   59"].map(str::to_owned);
    let plain_station = sent("wifi/agreements.toml", &[short, "sweep.radio.block_ack_setup=[\"frames\"]"]);
    // The access point answers each station with its token, which is the first of all.
    assert_eq!(plain_station, BTreeSet::from([request, response]));
    // A window of 1024 takes the extension.
    let [request, response] = ["0 1  1 1 0 0 0 0 159 62", "1 1 0 1 1 0 0 0  159 62"].map(str::to_owned);
    let set = [short, "radio.block_ack_setup=frames", "sweep.trunk.air.members=[[\"ch36\", \"six\"]]"];
    assert_eq!(sent("mlo/two_links.toml", &set), BTreeSet::from([request, response]));
}

#[test]
fn messages_of_aodv_have_names() {
    if !has_tshark("captures of AODV") {
        return;
    }
    let captured = Captured::of_file("examples/chain_aodv.toml", &[]);
    captured.check();
    let rows = captured.fields(CAPTURE, "aodv", &["aodv.type", "aodv.orig_ip", "aodv.dest_ip"]);
    let kinds: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert!(kinds.contains("1") && kinds.contains("2"), "{kinds:?}");
    assert!(rows.iter().all(|row| row[2].starts_with("10.0.0.")), "addresses are those of nodes: {:?}", rows[0]);
}

#[test]
fn local_error_control_and_polled_radios_are_decoded() {
    if !has_tshark("captures of local error control") {
        return;
    }
    let set = ["link.wan.link_layer=selective_repeat", "link.wan.loss=1 %"];
    let repaired = Captured::of_file("examples/repaired_link.toml", &set).check();
    assert!(has(&repaired, "airbraid_link:ip:tcp"), "{repaired:?}");
    let polled = Captured::of_file("eckhardt1998/wireless.toml", &[]).check();
    assert!(polled.keys().any(|stack| stack.starts_with("airbraid_link")), "{polled:?}");
}
