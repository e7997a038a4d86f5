//! A whole office behind a gateway, in seven namespaces: a host of its LAN, the office with two uplinks behind two
//! providers that translate addresses, the Internet's router, the hub, and a server on the Internet.
//!
//! ```text
//! pc --- office === ispa, ispb === core --- hub
//!                                    `----- web
//! ```

use crate::names::Etc;
use crate::net::{Keys, Net, airbraid, text};
use crate::turns::can_run;
use airbraid_live::namespace;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

/// The hub's addresses on the Internet: what a server sees of who comes through the tunnel.
pub const HUB: [&str; 2] = ["198.51.100.7", "2001:db8:7::7"];
/// The server's, and one that the office excepts from the tunnel.
pub const WEB: [&str; 2] = ["203.0.113.9", "2001:db8:9::9"];
const EXCEPTED: &str = "203.0.113.200";
/// The first provider's address on the Internet.
const PROVIDER: &str = "198.18.1.2";

/// Runs `nft` with rules in a host.
pub fn nft(net: &Net, host: &str, rules: &str) {
    let file = net.folder.join(format!("{host}.nft"));
    std::fs::write(&file, rules).unwrap();
    let done = net.exec(host, &["nft", "-f", &file.display().to_string()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
}

fn forward(net: &Net, host: &str) {
    let done = net.exec(host, &["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
}

/// Addresses of IPv6 on a link, beside those of IPv4.
fn six(net: &Net, link: &str, ends: [(&str, &str); 2]) {
    for (host, address) in ends {
        net.ip(host, &format!("addr add {address} dev {link} nodad"));
    }
}

/// The hosts and the links, without a daemon.
pub fn internet(test: &str) -> Net {
    let net = Net::new(test, &["pc", "office", "ispa", "ispb", "core", "hub", "web"]);
    net.link("lan0", ["pc", "office"], ["192.168.1.2/24", "192.168.1.1/24"]);
    six(&net, "lan0", [("pc", "fd01::2/64"), ("office", "fd01::1/64")]);
    net.ip("pc", "route add default via 192.168.1.1");
    net.ip("pc", "route add default via fd01::1");
    for (number, (isp, uplink)) in (1..).zip([("ispa", "dsl"), ("ispb", "lte")]) {
        net.link(uplink, ["office", isp], [&format!("10.{number}.0.2/24"), &format!("10.{number}.0.1/24")]);
        let up = format!("up{number}");
        net.link(&up, [isp, "core"], [&format!("198.18.{number}.2/24"), &format!("198.18.{number}.1/24")]);
        net.ip(isp, &format!("route add default via 198.18.{number}.1"));
        net.ip("office", &format!("route add default via 10.{number}.0.1 metric {number}00"));
        forward(&net, isp);
        let rule = format!("chain o {{ type nat hook postrouting priority 100; oifname \"{up}\" masquerade; }}");
        nft(&net, isp, &format!("table ip t {{\n{rule}\n}}"));
    }
    net.link("eth0", ["hub", "core"], [&format!("{}/24", HUB[0]), "198.51.100.1/24"]);
    six(&net, "eth0", [("hub", &format!("{}/64", HUB[1])), ("core", "2001:db8:7::1/64")]);
    net.link("web0", ["web", "core"], [&format!("{}/24", WEB[0]), "203.0.113.1/24"]);
    six(&net, "web0", [("web", &format!("{}/64", WEB[1])), ("core", "2001:db8:9::1/64")]);
    net.ip("web", &format!("addr add {EXCEPTED}/24 dev web0"));
    for (host, by) in [("hub", ["198.51.100.1", "2001:db8:7::1"]), ("web", ["203.0.113.1", "2001:db8:9::1"])] {
        by.iter().for_each(|by| drop(net.ip(host, &format!("route add default via {by}"))));
    }
    forward(&net, "core");
    net
}

/// The files of the office and the hub; more of the office's.
pub fn sites(net: &Net, more: &str) {
    let (office, hub) = (Keys::new(), Keys::new());
    let file = format!(
        "[interface]\naddress = [\"10.77.0.2/24\", \"fd77::2/64\"]\nprivate_key = \"{{key}}\"\n\
         [[uplink]]\nname = \"dsl\"\n[[uplink]]\nname = \"lte\"\n[gateway]\nlan = [\"lan0\"]\n\
         [[peer]]\nname = \"hub\"\npublic_key = \"{}\"\nendpoint = \"{}:5182\"\nallowed = [\"0.0.0.0/0\", \"::/0\"]\n\
         except = [\"203.0.113.128/25\"]\n{more}",
        hub.public, HUB[0]
    );
    net.site("office", &office, &file);
    let behind = "\"10.77.0.2/32\", \"fd77::2/128\", \"192.168.1.0/24\", \"fd01::/64\"";
    let file = format!(
        "[interface]\naddress = [\"10.77.0.1/24\", \"fd77::1/64\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n[gateway]\n\
         [[peer]]\nname = \"office\"\npublic_key = \"{}\"\nallowed = [{behind}]\n",
        office.public
    );
    net.site("hub", &hub, &file);
}

/// A server that tells each caller the address that it sees, by TCP on port 80; and every name server's question the
/// address of the server, on port 53.
#[expect(clippy::disallowed_methods, reason = "a server of a test, outside any run")]
pub fn serve(net: &Net) {
    let name = net.namespace("web");
    let listening = std::sync::Arc::new(std::sync::Barrier::new(2));
    let ready = std::sync::Arc::clone(&listening);
    std::thread::spawn(move || {
        namespace::enter(&name).unwrap();
        let listener = TcpListener::bind("[::]:80").unwrap();
        let questions = UdpSocket::bind("[::]:53").unwrap();
        std::thread::spawn(move || answer_names(&questions));
        ready.wait();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let from = stream.peer_addr().unwrap().ip().to_canonical();
            let _ = stream.write_all(from.to_string().as_bytes());
        }
    });
    listening.wait();
}

/// Each question is answered by one record: the server's own address.
fn answer_names(socket: &UdpSocket) {
    let mut room = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut room) {
        let is_v4 = room[..length].windows(4).any(|bytes| bytes == [0, 1, 0, 1]);
        let mut answer = room[..length].to_vec();
        // An answer, without error; further records of the question (EDNS) are dropped.
        (answer[2], answer[3]) = (0x81, 0x80);
        let end = 12 + answer[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
        answer.truncate(end);
        answer[6..12].copy_from_slice(&[0, u8::from(is_v4), 0, 0, 0, 0]);
        if is_v4 {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 9]);
        }
        let _ = socket.send_to(&answer, from);
    }
}

/// The address that the server sees of a host that comes to it; empty where nothing comes back within 3 s.
pub fn seen_of(net: &Net, host: &str, to: &str) -> String {
    let at: SocketAddr = if to.contains(':') { format!("[{to}]:80") } else { format!("{to}:80") }.parse().unwrap();
    namespace::inside(&net.namespace(host), || {
        let mut seen = String::new();
        let patience = Duration::from_secs(3);
        if let Ok(mut stream) = TcpStream::connect_timeout(&at, patience) {
            let _ = stream.set_read_timeout(Some(patience)).and_then(|()| stream.read_to_string(&mut seen).map(drop));
        }
        seen
    })
    .unwrap()
}

/// Everything that a gateway may change on a host.
fn state_of(net: &Net, host: &str) -> String {
    let mut all = String::new();
    for words in ["rule", "-6 rule", "route show table all", "-6 route show table all"] {
        let _ = writeln!(all, "--- {words}\n{}", net.ip(host, words));
    }
    let _ = writeln!(all, "--- nft\n{}", text(&net.exec(host, &["nft", "list", "ruleset"]).stdout));
    let settings = text(&net.exec(host, &["sysctl", "-a", "-r", "^net\\.ipv[46]\\.(conf|ip_forward)"]).stdout);
    all += &settings;
    // The kernel checks its link-local addresses for duplicates first (RFC 4862): they come when they come.
    all.lines().filter(|line| !line.contains("fe80::")).map(|line| format!("{line}\n")).collect()
}

/// The host is as before: each line that differs is told.
fn assert_as_before(net: &Net, host: &str, before: &str) {
    let after = state_of(net, host);
    let differs: Vec<String> = {
        let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line)).map(|l| format!("- {l}"));
        let new = after.lines().filter(|line| !before.lines().any(|other| other == *line)).map(|l| format!("+ {l}"));
        gone.chain(new).collect()
    };
    assert!(differs.is_empty(), "{host}: {}", differs.join("\n"));
}

/// The office's host reaches the server through the hub, by both families.
fn assert_through_hub(net: &Net, when: &str) {
    for (family, seen) in WEB.iter().zip(HUB) {
        assert_eq!(seen_of(net, "pc", family), seen, "{when}\n{}", net.logs());
    }
}

#[test]
fn an_office_behind_two_uplinks_reaches_the_internet_through_its_hub() {
    if !can_run("an_office_behind_two_uplinks_reaches_the_internet_through_its_hub") {
        return;
    }
    let mut net = internet("gateway");
    sites(&net, "");
    serve(&net);
    let etc = Etc::of(&net, "pc");
    std::fs::write(etc.folder.join("resolv.conf"), format!("nameserver {}\n", WEB[0])).unwrap();
    let before = ["office", "hub"].map(|host| state_of(&net, host));
    assert_eq!(seen_of(&net, "office", WEB[0]), PROVIDER, "without the daemon the office goes by its first provider");

    net.up("hub");
    net.up("office");
    net.wait_members("office", 2);
    assert_through_hub(&net, "the first time");
    assert_eq!(seen_of(&net, "pc", EXCEPTED), PROVIDER, "an exception goes as without the daemon\n{}", net.logs());
    assert_eq!(seen_of(&net, "office", EXCEPTED), PROVIDER, "for the office itself, too");
    let named = text(&net.exec("pc", &["getent", "ahostsv4", "web.example"]).stdout);
    assert!(named.starts_with(WEB[0]), "a name is looked up through the tunnel: {named}\n{}", net.logs());
    // Strangers begin nothing: neither through the hub into the office, nor through the office into the tunnel.
    net.ip("core", &format!("route add 192.168.1.0/24 via {}", HUB[0]));
    assert_eq!(net.ping("core", "192.168.1.2", 1, &["-W", "1"]), 0);
    assert_eq!(net.ping("hub", "192.168.1.2", 1, &[]), 1, "the hub itself may\n{}", net.logs());

    // Each end is restarted, and the other does not notice but by the pause.
    net.signal("hub", "-TERM");
    net.ended("hub");
    assert_as_before(&net, "hub", &before[1]);
    net.up("hub");
    net.wait_members("office", 2);
    assert_through_hub(&net, "after the hub's restart");
    let done = airbraid(&["down", &net.daemon("office")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    net.ended("office");
    assert_as_before(&net, "office", &before[0]);
    net.up("office");
    net.wait_members("office", 2);
    assert_through_hub(&net, "after the office's restart");

    // Killed, and put right by whoever comes next.
    for (host, before) in ["office", "hub"].into_iter().zip(&before) {
        net.signal(host, "-KILL");
        net.ended(host);
        let done = net.exec(host, &[env!("CARGO_BIN_EXE_airbraid"), "down", &net.daemon(host)]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_as_before(&net, host, before);
    }
}

/// Starts `airbraid pair` at the hub; returns it and its line.
fn offered(net: &Net, more: &[&str]) -> (Child, String) {
    let (folder, name) = (net.folder.join("hub").display().to_string(), net.daemon("hub"));
    let words = [env!("CARGO_BIN_EXE_airbraid"), "pair", "--folder", &folder, "--name", &name, "--address", HUB[0]];
    let mut command = net.command("hub", &[&words[..], more].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with("airbraid1:")).unwrap_or_default();
    (child, line)
}

/// Runs `airbraid pair --join` at the office.
fn joined(net: &Net, line: &str, name: &str, more: &[&str]) -> Output {
    let (folder, name) = (net.folder.join("office").display().to_string(), net.daemon(name));
    let words = [env!("CARGO_BIN_EXE_airbraid"), "pair", "--join", "--folder", &folder, "--name", &name, "--json"];
    let mut command = net.command("office", &[&words[..], more].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Whether any process was called with this text, or any log of ours has it.
fn is_seen(net: &Net, text_of_it: &str) -> bool {
    let is_in = |path: PathBuf| std::fs::read(path).is_ok_and(|bytes| text(&bytes).contains(text_of_it));
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let own = net.daemon("");
    let logs = std::fs::read_dir("/run/airbraid").unwrap().flatten().map(|entry| entry.path());
    let logs =
        logs.filter(|path| path.display().to_string().contains(&own) && path.extension().is_some_and(|e| e == "log"));
    processes.chain(logs).any(is_in)
}

#[test]
fn two_commands_make_a_tunnel_and_two_undo_it() {
    if !can_run("two_commands_make_a_tunnel_and_two_undo_it") {
        return;
    }
    let net = internet("pair");
    serve(&net);
    let before = ["office", "hub"].map(|host| state_of(&net, host));

    // A line that nobody uses leaves nothing.
    let (child, unused) = offered(&net, &["--for", "1"]);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("nobody has come in time"), "{}", text(&done.stderr));
    assert_as_before(&net, "hub", &before[1]);

    let (mut child, line) = offered(&net, &[]);
    let secret = &line["airbraid1:".len()..][..40];
    assert!(!is_seen(&net, secret));
    let uplinks =
        ["--uplink", "dsl", "--uplink", "lte", "--lan", "lan0", "--test", "0.2", "--except", "203.0.113.128/25"];
    let done = joined(&net, &line, "office", &uplinks);
    if !done.status.success() {
        let _ = child.kill();
    }
    let offer = text(&child.wait_with_output().unwrap().stderr);
    assert!(done.status.success(), "{}\nhub: {}\n{}", text(&done.stderr), offer, net.logs());
    assert!(!is_seen(&net, secret));
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    for (place, uplink) in ["dsl", "lte"].into_iter().enumerate() {
        let tested = &said["uplinks"][place];
        assert_eq!(tested["name"], uplink, "{said}");
        assert!(
            tested["speed"]["down_bps"].as_f64() > Some(1e6) && tested["speed"]["rtt_s"].as_f64() > Some(0.0),
            "{said}"
        );
    }
    assert_through_hub(&net, "after pairing");
    assert_eq!(seen_of(&net, "pc", EXCEPTED), PROVIDER);

    // Neither line is worth anything any more.
    for line in [&line, &unused] {
        let again = joined(&net, line, "again", &["--uplink", "dsl", "--wait", "1"]);
        assert_eq!(again.status.code(), Some(1), "{}", text(&again.stdout));
        assert!(text(&again.stderr).contains("does not answer"), "{}", text(&again.stderr));
    }
    assert_through_hub(&net, "after somebody tried an old line");
    for (host, name) in [("office", "office"), ("hub", "office")] {
        let folder = net.folder.join(host).display().to_string();
        let undone =
            net.exec(host, &[env!("CARGO_BIN_EXE_airbraid"), "unpair", &net.daemon(name), "--folder", &folder]);
        assert!(undone.status.success(), "{}", text(&undone.stderr));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "no file and no key is left");
    }
    for (host, before) in ["office", "hub"].into_iter().zip(&before) {
        assert_as_before(&net, host, before);
    }
}

#[test]
fn commands_are_run_when_all_is_there_and_before_all_goes_and_after_a_kill() {
    if !can_run("commands_are_run_when_all_is_there_and_before_all_goes_and_after_a_kill") {
        return;
    }
    let more =
        "post_up = [\"ip link show $AIRBRAID_INTERFACE > FOLDER/up\"]\npre_down = [\"ip link show > FOLDER/down\"]";
    let mut net = crate::pair("commands", 1, more, "");
    let (file, folder) = (net.file("near"), net.folder.clone());
    let written = std::fs::read_to_string(&file).unwrap().replace("FOLDER", &folder.display().to_string());
    std::fs::write(&file, &written).unwrap();
    let has = |what: &str| std::fs::read_to_string(folder.join(what)).unwrap_or_default().contains("air0");
    net.up("near");
    assert!(has("up") && !has("down"), "{}", net.logs());
    net.signal("near", "-TERM");
    net.ended("near");
    assert!(has("down"), "the interface is still there then\n{}", net.logs());
    std::fs::remove_file(folder.join("down")).unwrap();
    net.up("near");
    net.signal("near", "-KILL");
    net.ended("near");
    let is_run = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        folder.join("down").exists()
    });
    assert!(is_run, "{}", net.logs());
    // One that fails ends it, and nothing stays.
    std::fs::write(&file, written.replace("ip link show $AIRBRAID_INTERFACE", "exit 7; true")).unwrap();
    let words = [env!("CARGO_BIN_EXE_airbraid"), "up", &file.display().to_string(), "--foreground"];
    let done = net.exec("near", &words);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("post_up `exit 7; true"), "{}", text(&done.stderr));
    assert!(!net.ip("near", "link show").contains("air0"));
}

#[test]
fn a_quota_stays_spent_over_a_restart_until_its_month_is_over() {
    if !can_run("a_quota_stays_spent_over_a_restart_until_its_month_is_over") {
        return;
    }
    let mut net = crate::pair("quota", 2, "", "");
    let file = net.file("near");
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, written.replace("name = \"l1\"\n", "name = \"l1\"\nquota = \"8 MB\"\n")).unwrap();
    net.up("far");
    net.up("near");
    net.wait_members("near", 2);
    crate::serve(&mut net);
    // The other uplink is away, or it might carry all of it.
    net.ip("near", "link set l0 down");
    net.wait_members("near", 1);
    net.exec("near", &["ping", "-f", "-s", "1300", "-c", "6000", "-w", "10", "10.77.0.2"]);
    let is_spent = |status: &serde_json::Value| status["uplinks"][1]["cause"] == "quota-spent";
    let status = net.wait("near", "the quota is spent", is_spent);
    let used = status["uplinks"][1]["month_bytes"].as_u64().unwrap();
    assert!(used >= 8_000_000, "{used} byte, both ways together");
    net.ip("near", "link set l0 up");
    net.wait_members("near", 1);
    net.wait_members("far", 1);
    crate::carries(&net, 4);
    let status = net.status("near").unwrap();
    let more = status["uplinks"][1]["month_bytes"].as_u64().unwrap() - used;
    assert!(is_spent(&status) && more < 20_000, "{more} byte more, where farewells are enough");
    net.signal("near", "-TERM");
    net.ended("near");
    net.up("near");
    let status = net.wait("near", "it is spent still", is_spent);
    assert!(status["uplinks"][1]["month_bytes"].as_u64() >= Some(used), "{status}");
    net.signal("near", "-TERM");
    net.ended("near");
    // A month later.
    let months = format!("/var/lib/airbraid/{}.months", net.daemon("near"));
    let noted = std::fs::read_to_string(&months).unwrap();
    let month = noted.split('"').find(|part| part.len() == 10 && part.contains('-')).unwrap();
    std::fs::write(&months, noted.replace(month, "2020-01-01")).unwrap();
    net.up("near");
    net.wait_members("near", 2);
}

#[test]
fn outside_its_hours_an_uplink_is_not_used() {
    if !can_run("outside_its_hours_an_uplink_is_not_used") {
        return;
    }
    let mut net = crate::pair("hours", 2, "", "");
    let file = net.file("near");
    // Now, and a time that is far from now at whatever hour this runs.
    let written = std::fs::read_to_string(&file).unwrap();
    let hours = |hours: &str| {
        let with = format!("name = \"l1\"\nhours = [{hours}]\n");
        std::fs::write(&file, written.replace("name = \"l1\"\n", &with)).unwrap();
    };
    let now = text(&net.exec("near", &["date", "+%H"]).stdout).trim().parse::<u32>().unwrap();
    let far = (now + 12) % 24;
    hours(&format!("\"{far:02}:00-{far:02}:30\""));
    net.up("far");
    net.up("near");
    net.wait("near", "l1 rests", |status| status["uplinks"][1]["cause"] == "outside-hours");
    net.wait_members("near", 1);
    hours("\"00:00-24:00\"");
    net.signal("near", "-HUP");
    net.wait_members("near", 2);
}
