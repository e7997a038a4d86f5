//! The lab as a user types it, as root: traffic passes as the scenario says, and nothing is left behind.
//!
//! Where there is no root or no TUN the tests fail, unless a list counts them as skipped (`root/mod.rs`).

mod root;

use root::can_run;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

fn root_of_repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_airbraid"));
    command.current_dir(root_of_repository()).args(arguments);
    command
}

fn airbraid(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a lab called `name` and returns its result.
fn lab(name: &str, file: &str, arguments: &[&str]) -> Value {
    let name = format!("{name}-{}", std::process::id());
    let done = airbraid(&[&["lab", file, "--json", "--name", &name], arguments].concat());
    assert!(left_of(&name).is_empty(), "left behind: {:?}", left_of(&name));
    assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stderr), text(&done.stdout));
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    let packets = |key: &str| result["packets"][key].as_u64().unwrap();
    assert_eq!(packets("offered"), packets("delivered") + packets("dropped") + packets("in_flight"));
    result
}

/// The remains of a lab.
fn left_of(name: &str) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for folder in ["/run/netns", "/etc/netns", "/run/airbraid"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        left.extend(entries.flatten().map(|e| e.path()).filter(|p| p.to_string_lossy().contains(name)));
    }
    left
}

fn output<'a>(result: &'a Value, node: &str) -> &'a str {
    let commands = result["commands"].as_array().unwrap();
    commands.iter().find(|command| command["node"] == node).unwrap()["stdout"].as_str().unwrap()
}

const LINK: &str = "scenarios/lab/link.toml";

#[test]
fn a_ping_takes_the_delay_of_the_link() {
    if !can_run("a_ping_takes_the_delay_of_the_link") {
        return;
    }
    let arguments = ["--exec", "sender=ping -c 10 -i 0.05 -q receiver", "--set", "link.wan.delay=20 ms"];
    let result = lab("ping", LINK, &arguments);
    let said = output(&result, "sender");
    let times = said.lines().find_map(|line| line.strip_prefix("rtt min/avg/max/mdev = ")).unwrap();
    let least: f64 = times.split('/').next().unwrap().parse().unwrap();
    assert!((40.0..41.0).contains(&least), "{said}");
}

/// Sends two hundred datagrams at once, and counts the arrivals.
const BURST: [&str; 2] = [
    "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, \
     socket.SO_SNDBUF, 1 << 22); [s.sendto(bytes(972), (\"receiver\", 7000)) for i in range(200)]; time.sleep(6)",
    "import socket, signal, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind((\"\", 7000)); n = [0]; \
     signal.signal(signal.SIGTERM, lambda *a: (print(n[0]), sys.exit())); \
     exec(\"while True:\\n s.recv(2000)\\n n[0] += 1\")",
];

#[test]
fn a_burst_finds_the_queue_as_long_as_it_is() {
    if !can_run("a_burst_finds_the_queue_as_long_as_it_is") {
        return;
    }
    let [send, count] = BURST.map(|script| format!("python3 -c '{script}'"));
    let (send, count) = (format!("sender={send}"), format!("receiver={count}"));
    // A packet takes 160 ms, the burst far less: one on the way, and the rest waits.
    let settings = ["--set", "link.wan.rate=50 kbit/s", "--set", "link.wan.queue=20"];
    let result = lab("burst", LINK, &[&["--exec", &send, "--exec", &count], &settings[..]].concat());
    assert_eq!(output(&result, "receiver").trim(), "21", "{result}");
    assert_eq!(result["drops"]["link_queue_full"], 179);
}

#[test]
fn the_same_seed_loses_the_same_packets() {
    if !can_run("the_same_seed_loses_the_same_packets") {
        return;
    }
    let lost = |name: &str| {
        let set = ["--set", "link.wan.loss=20 %", "--seed", "3"];
        // It waits for the last answer no longer than two round trips: those after the hundredth are time for the
        // others.
        let arguments = [&["--exec", "sender=ping -c 400 -i 0.005 receiver"], &set[..]].concat();
        let result = lab(name, LINK, &arguments);
        let numbers = output(&result, "sender").lines().filter_map(|line| {
            let number = line.split("icmp_seq=").nth(1)?;
            number.split(' ').next()?.parse::<u32>().ok()
        });
        let mut numbers: Vec<u32> = numbers.filter(|&number| number <= 100).collect();
        numbers.sort_unstable();
        numbers
    };
    let first = lost("seed-a");
    assert!((40..90).contains(&first.len()), "{first:?}");
    assert_eq!(first, lost("seed-b"));
}

#[test]
fn a_file_arrives_intact_over_the_trunk() {
    if !can_run("a_file_arrives_intact_over_the_trunk") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("airbraid-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<u8> = (0..1_000_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    std::fs::write(folder.join("sent"), &bytes).unwrap();
    let path = folder.display();
    let serve = format!("sender=python3 -m http.server --directory {path} 80");
    let fetch = format!("receiver=curl -sS --retry 5 --retry-connrefused -o {path}/got http://sender/sent");
    let result = lab("curl", "scenarios/lab/trunk.toml", &["--exec", &fetch, "--exec", &serve]);
    assert_eq!(std::fs::read(folder.join("got")).unwrap().len(), bytes.len(), "{result}");
    assert!(std::fs::read(folder.join("got")).unwrap() == bytes);
    assert!(result["trunks"][0]["sent_by_member"].as_array().unwrap().iter().all(|n| n.as_u64() > Some(100)));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn each_radio_is_an_interface_if_it_is_asked_for() {
    if !can_run("each_radio_is_an_interface_if_it_is_asked_for") {
        return;
    }
    let ping = "sender=ip -4 -o addr && ping -c 2 -i 0.2 -I ch1 receiver-ch1 && ping -c 2 -i 0.2 -I ch6 receiver-ch6";
    let result = lab("radios", "scenarios/lab/radios.toml", &["--exec", ping]);
    for address in ["10.1.0.1/8", "10.2.0.1/16", "10.3.0.1/16"] {
        assert!(output(&result, "sender").contains(address), "{result}");
    }
    let frames = |place: usize| result["macs"][place]["data_frames"].as_u64().unwrap();
    assert_eq!([0, 1, 2].map(|radio| frames(radio) > 0), [true, true, false]);
}

#[test]
fn a_host_may_change_its_address_on_a_link() {
    if !can_run("a_host_may_change_its_address_on_a_link") {
        return;
    }
    let moves = "near=ip addr flush dev l1 && ip addr add 10.2.9.9/16 dev l1 && ping -c 3 -i 0.3 -q -I l1 10.2.0.2";
    let result = lab("moves", "scenarios/live/lab-s1.toml", &["--exec", moves]);
    let said = output(&result, "near");
    assert!(said.contains("3 received"), "{said}");
}

/// Sends two hundred datagrams of 1,000 byte at once, as packets.
const DATAGRAMS: &str = "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
                         s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22); \
                         [s.sendto(bytes(972), (\"laptop\", 7000)) for i in range(200)]' && sleep 2";

#[test]
fn packets_that_wait_leave_in_long_aggregates() {
    if !can_run("packets_that_wait_leave_in_long_aggregates") {
        return;
    }
    // 20 MHz and MCS 3: 1,000 byte take a quarter of a millisecond, and up to 22 of them share a PPDU.
    let settings = ["--set", "radio.width=20 MHz", "--set", "radio.mcs=3"];
    let send = format!("ap={DATAGRAMS}");
    let result = lab("aggregates", "scenarios/lab/wifi6.toml", &[&["--exec", &send], &settings[..]].concat());
    let [mpdus, ppdus] = ["mpdus", "data_frames"].map(|key| result["macs"][0][key].as_u64().unwrap());
    assert!(mpdus >= 200, "{result}");
    // Two or three packets ahead of the medium, as once, would be 70 or more.
    assert!(ppdus <= 45, "{mpdus} MPDUs in {ppdus} PPDUs");
}

#[test]
fn a_multi_link_device_is_one_interface_over_all_its_links() {
    if !can_run("a_multi_link_device_is_one_interface_over_all_its_links") {
        return;
    }
    let file = "scenarios/lab/mld.toml";
    for mode in ["str", "emlsr"] {
        let send = format!("ap={}", DATAGRAMS.replace("laptop", "station"));
        let set = format!("trunk.air.mode={mode}");
        let result = lab(&format!("mld-{mode}"), file, &["--exec", &send, "--set", &set]);
        assert_eq!(result["interfaces"].as_array().unwrap().len(), 2);
        assert_eq!(result["interfaces"][1]["received_packets"].as_u64(), Some(200), "{result}");
        let trunk = &result["trunks"][0];
        let sent: Vec<u64> =
            trunk["members"].as_array().unwrap().iter().map(|member| member["mpdus"].as_u64().unwrap()).collect();
        assert!(sent.len() == 2 && sent.iter().sum::<u64>() >= 200 && sent.iter().all(|n| *n > 0), "{mode}: {sent:?}");
    }
    let done = airbraid(&["lab", file, "--set", "node.ap.attach=radios", "--exec", "ap=true"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("trunk `air` ends there: leave the trunk out"), "{}", text(&done.stderr));
}

#[test]
fn the_dscp_of_a_packet_gives_its_access_category() {
    if !can_run("the_dscp_of_a_packet_gives_its_access_category") {
        return;
    }
    let ping = "ap=ping -c 2 -i 0.2 -Q 0xb8 laptop && ping -c 2 -i 0.2 -Q 0x20 laptop";
    let result = lab("dscp", "scenarios/lab/wifi6.toml", &["--exec", ping]);
    let airtime = |category: &str| result["macs"][0][format!("airtime_{category}_s")].as_f64().unwrap();
    assert_eq!(
        ["bk", "be", "vi", "vo"].map(|category| airtime(category) > 0.0),
        [true, false, false, true],
        "{result}"
    );
}

/// Writes a scenario of these nodes and flows, with radios of 802.11be.
fn scenario(name: &str, nodes: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("airbraid-{name}-{}.toml", std::process::id()));
    let head = "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n[run]\nduration = \"20 s\"\n[radio]\nstandard = \"802.11be\"\n\
                band = \"5 GHz\"\nwidth = \"20 MHz\"\nmcs = 3\n";
    std::fs::write(&place, format!("{head}{nodes}")).unwrap();
    place
}

#[test]
fn a_channel_number_is_another_network_in_each_band() {
    if !can_run("a_channel_number_is_another_network_in_each_band") {
        return;
    }
    let node = |name: &str, x: u32| {
        format!(
            "[[node]]\nname = \"{name}\"\nhost = \"namespace\"\nattach = \"radios\"\nposition = [\"{x} m\", \"0 m\"]\nradios = [\
             {{ name = \"two\", channel = 1, band = \"2.4 GHz\" }}, {{ name = \"six\", channel = 1, band = \"6 GHz\" }}]\n"
        )
    };
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\n";
    let file = scenario("bands", &format!("{}{}{flow}", node("a", 0), node("b", 5)));
    let ping = "a=ip -4 -o addr && ping -c 2 -i 0.2 b-two && ping -c 3 -i 0.2 b-six";
    let result = lab("bands", file.to_str().unwrap(), &["--exec", ping]);
    let said = output(&result, "a");
    assert!(said.contains("10.1.0.1/8") && said.contains("10.2.0.1/16"), "{said}");
    let received = |place: usize| result["interfaces"][place]["received_packets"].as_u64();
    assert_eq!([received(2), received(3)], [Some(2), Some(3)], "{result}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_simulated_station_talks_to_a_real_host() {
    if !can_run("a_simulated_station_talks_to_a_real_host") {
        return;
    }
    let node = |name: &str, host: &str, x: u32| {
        format!("[[node]]\nname = \"{name}\"\n{host}position = [\"{x} m\", \"0 m\"]\nradios = [36]\n")
    };
    let nodes = [("a", "host = \"namespace\"\n", 0), ("b", "host = \"namespace\"\n", 5), ("old", "", 9)];
    let nodes: String = nodes.map(|(name, host, x)| node(name, host, x)).concat();
    let flow = |name: &str, from: &str, to: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\nsource = {{ rate = \"1 Mbit/s\" }}\n"
        )
    };
    let flows = [flow("noise", "old", "a"), flow("back", "b", "old"), flow("programs", "a", "b")].concat();
    let file = scenario("old", &format!("{nodes}{flows}"));
    let result = lab("old", file.to_str().unwrap(), &["--exec", "a=ping -c 5 -i 0.2 b"]);
    let flows = result["flows"].as_array().unwrap();
    assert_eq!(flows.iter().map(|flow| flow["name"].as_str().unwrap()).collect::<Vec<_>>(), ["noise", "back"]);
    assert!(flows.iter().all(|flow| flow["delivered_bytes"].as_u64() > Some(10_000)), "{result}");
    // The programs see nothing of it.
    assert_eq!(result["interfaces"][0]["received_packets"].as_u64(), Some(5), "{result}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn captures_hold_the_packets_of_the_hosts() {
    if !can_run("captures_hold_the_packets_of_the_hosts") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("airbraid-lab-pcap-{}", std::process::id()));
    let out = folder.display().to_string();
    let arguments = ["--exec", "sender=ping -c 2 -i 0.2 -p 5ca1ab1e receiver-ch1", "--pcap", "--out", &out];
    lab("pcap", "scenarios/lab/radios.toml", &arguments);
    let capture = std::fs::read(folder.join("run.pcapng")).unwrap();
    assert!(capture.windows(8).any(|bytes| bytes == [0x5c, 0xa1, 0xab, 0x1e, 0x5c, 0xa1, 0xab, 0x1e]));
    assert!(folder.join("summary.json").is_file());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_killed_lab_leaves_is_cleaned() {
    if !can_run("what_a_killed_lab_leaves_is_cleaned") {
        return;
    }
    let name = format!("killed-{}", std::process::id());
    let arguments = ["lab", LINK, "--name", &name, "--json", "--exec", "sender=sleep 60"];
    let mut child = command(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let is_there = || left_of(&name).len() == 5;
    for _ in 0..100 {
        if is_there() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(is_there(), "{:?}", left_of(&name));
    let again = airbraid(&arguments);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("exists already"), "{}", text(&again.stderr));
    child.kill().unwrap();
    child.wait().unwrap();
    let cleaned = airbraid(&["lab", "--clean"]);
    assert_eq!(cleaned.status.code(), Some(0), "{}", text(&cleaned.stderr));
    assert!(text(&cleaned.stdout).contains(&format!("{name}: removed 2 namespaces")), "{}", text(&cleaned.stdout));
    assert!(left_of(&name).is_empty());
}

#[test]
fn a_lab_that_cannot_be_says_why_and_makes_nothing() {
    if !can_run("a_lab_that_cannot_be_says_why_and_makes_nothing") {
        return;
    }
    let name = format!("wrong-{}", std::process::id());
    let cases: [(&[&str], i32, &str); 8] = [
        (&["--exec", "sender=no-such-program -x"], 2, "the command of `sender` does not exist: no-such-program"),
        (&["--exec", "sendr=ping"], 2, "there is no node `sendr`; allowed: sender, receiver"),
        (&["--exec", "ping"], 2, "write NODE=COMMAND"),
        (&["--exec", "sender:http=true"], 2, "`http` is no port: 1 to 65535"),
        (&["--exec", "sender:0=true"], 2, "`0` is no port"),
        (&["--shell", "nobody"], 2, "there is no node `nobody`"),
        (&["--max-lateness", "1"], 2, "--max-lateness 1"),
        (&["--exec", "sender=false", "--json"], 1, ""),
    ];
    for (arguments, status, message) in cases {
        let done = airbraid(&[&["lab", LINK, "--name", &name], arguments].concat());
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(message), "{message}\n  is not in\n{said}");
        assert!(left_of(&name).is_empty(), "{:?}", left_of(&name));
    }
    let done = airbraid(&["lab", "scenarios/examples/one_channel.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("add host = \"namespace\""));
}

#[test]
fn a_client_waits_for_a_server_that_is_slow_to_listen() {
    if !can_run("a_client_waits_for_a_server_that_is_slow_to_listen") {
        return;
    }
    let server = "receiver:8080=sleep 4; exec python3 -m http.server 8080 --bind 10.0.0.2 --directory scenarios/lab";
    let arguments = ["--exec", "sender=curl -sS http://receiver:8080/link.toml", "--exec", server];
    let result = lab("slow", LINK, &arguments);
    let file = std::fs::read_to_string(root_of_repository().join(LINK)).unwrap();
    assert_eq!(output(&result, "sender"), file);
}

/// Writes a program for the shell; returns its path and its output file.
fn program(name: &str, text: &str) -> [PathBuf; 2] {
    use std::os::unix::fs::PermissionsExt;
    let place = |kind| std::env::temp_dir().join(format!("airbraid-{name}-{}.{kind}", std::process::id()));
    std::fs::write(place("sh"), text).unwrap();
    std::fs::set_permissions(place("sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    [place("sh"), place("out")]
}

#[test]
fn a_shell_is_on_its_host_and_ends_the_lab() {
    if !can_run("a_shell_is_on_its_host_and_ends_the_lab") {
        return;
    }
    let name = format!("shell-{}", std::process::id());
    let [shell, wrote] = program("shell", "#!/bin/sh\nip -br address >\"$WROTE\"\nping -c 1 receiver >>\"$WROTE\"\n");
    let arguments = ["lab", LINK, "--name", &name, "--shell", "sender", "--duration", "60 s"];
    let done = command(&arguments).env("SHELL", &shell).env("WROTE", &wrote).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let said = std::fs::read_to_string(&wrote).unwrap();
    assert!(said.contains("air0") && said.contains("10.0.0.1") && said.contains("1 received"), "{said}");
    assert!(left_of(&name).is_empty());
    for path in [shell, wrote] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn without_a_tun_device_or_without_root_the_lab_says_so_and_makes_nothing() {
    if !can_run("without_a_tun_device_or_without_root_the_lab_says_so_and_makes_nothing") {
        return;
    }
    let name = format!("poor-{}", std::process::id());
    let run = |wrapper: &[&str]| {
        let mut wrapped = Command::new(wrapper[0]);
        wrapped.current_dir(root_of_repository()).args(&wrapper[1..]);
        wrapped.args([env!("CARGO_BIN_EXE_airbraid"), "lab", LINK, "--name", &name, "--exec", "sender=true"]);
        let done = wrapped.output().unwrap();
        (done.status.code(), text(&done.stderr))
    };
    let hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /dev/net && exec \"$0\" \"$@\""];
    let (status, said) = run(&hidden);
    assert!(matches!(status, Some(1 | 2)) && said.contains("/dev/net/tun"), "{status:?} {said}");
    let (status, said) = run(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    // 126, 127: the others' files may not be read by nobody here, and then there is nothing to be seen.
    if !matches!(status, Some(126 | 127)) {
        assert!(matches!(status, Some(1 | 2)) && said.contains("root"), "{status:?} {said}");
    }
    assert!(left_of(&name).is_empty(), "{:?}", left_of(&name));
}
