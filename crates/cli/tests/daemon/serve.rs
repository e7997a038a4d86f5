//! The daemon on its host: its clients, its dropped privileges, its files.

use crate::net::{Keys, Net, airbraid, text};
use crate::root::skip;
use crate::turns::can_run;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const NET_ADMIN: u64 = 1 << 12;
const NET_BIND_SERVICE: u64 = 1 << 10;

/// A host with a daemon's file, which has one peer that never comes.
fn alone(test: &str, interface: &str, peer: &str) -> Net {
    let net = Net::new(test, &["near"]);
    net.site("near", &Keys::new(), &file(interface, peer));
    net
}

fn file(interface: &str, peer: &str) -> String {
    let public = Keys::new().public;
    format!(
        "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n{interface}\n\
         [[peer]]\nname = \"secret-name\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.2/32\"]\n{peer}\n"
    )
}

/// Processor time that a process has used.
fn used(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let behind = stat.rsplit(") ").next().unwrap();
    let ticks: u64 = behind.split(' ').skip(11).take(2).map(|number| number.parse::<u64>().unwrap()).sum();
    // `sysconf(_SC_CLK_TCK)` is 100 on every Linux that this runs on.
    Duration::from_millis(ticks * 10)
}

/// A field of `/proc/PID/task/*/status`, for each thread.
fn of_threads(pid: u32, field: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let read = |path: PathBuf| std::fs::read_to_string(path.join("status")).ok();
    let texts: Vec<String> = threads.filter_map(|thread| read(thread.path())).collect();
    let value = |text: &String| {
        let line = text.lines().find(|line| line.starts_with(&format!("{field}:"))).map(str::to_owned);
        line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
    };
    texts.iter().map(value).collect()
}

fn metrics(net: &Net, at: &str) -> String {
    let done = net.exec("near", &["curl", "-s", "-m", "10", &format!("http://{at}/metrics")]);
    text(&done.stdout)
}

#[test]
fn a_hundred_silent_connections_neither_spin_the_loop_nor_keep_anybody_out() {
    if !can_run("a_hundred_silent_connections_neither_spin_the_loop_nor_keep_anybody_out") {
        return;
    }
    let mut net = alone("idle", "metrics = \"127.0.0.1:9518\"", "");
    net.up("near");
    let crowd = "for i in $(seq 100); do exec {fd}<>/dev/tcp/127.0.0.1/9518; done; echo all; exec sleep 60";
    let mut crowd = net.command("near", &["bash", "-c", crowd]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 4];
    std::io::Read::read_exact(crowd.stdout.as_mut().unwrap(), &mut said).unwrap();
    let (pid, before) = (net.pid("near"), used(net.pid("near")));
    std::thread::sleep(Duration::from_secs(3));
    let spent = used(pid) - before;
    assert!(spent < Duration::from_millis(300), "{spent:?} of 3 s");
    // It took as long as the silent ones were borne, which was ten seconds.
    let status = ["timeout", "2", env!("CARGO_BIN_EXE_airbraid"), "status", &net.daemon("near")];
    assert!(net.exec("near", &status).status.success(), "no answer within 2 s");
    assert!(metrics(&net, "127.0.0.1:9518").contains("airbraid_uptime_seconds"));
    let _ = crowd.kill();
    let _ = crowd.wait();
}

#[test]
fn metrics_name_peers_to_this_host_and_not_to_others() {
    if !can_run("metrics_name_peers_to_this_host_and_not_to_others") {
        return;
    }
    let cases = [
        ("metrics = \"127.0.0.1:9518\"", "127.0.0.1:9518", true),
        ("metrics = \"10.9.0.1:9518\"", "10.9.0.1:9518", false),
        ("metrics = \"10.9.0.1:9518\"\nmetrics_names = true", "10.9.0.1:9518", true),
        ("metrics = \"127.0.0.1:9518\"\nmetrics_names = false", "127.0.0.1:9518", false),
    ];
    let mut net = alone("called", "", "");
    net.ip("near", "addr add 10.9.0.1/32 dev lo");
    for (keys, at, is_named) in cases {
        net.site("near", &Keys::new(), &file(keys, ""));
        net.up("near");
        let page = metrics(&net, at);
        assert!(page.contains("airbraid_peer_up{peer="), "{page}");
        assert_eq!(page.contains("secret-name"), is_named, "{keys}: {page}");
        assert_eq!(page.contains("airbraid_peer_up{peer=\"1\"}"), !is_named, "{keys}: {page}");
        assert!(airbraid(&["down", &net.daemon("near")]).status.success());
        net.ended("near");
    }
}

#[test]
fn without_a_service_manager_one_capability_is_left_and_every_thread_is_confined() {
    if !can_run("without_a_service_manager_one_capability_is_left_and_every_thread_is_confined") {
        return;
    }
    let name = "dns = [\"10.77.0.53\"]\nthreads = true";
    let mut net = alone("confined", name, "endpoint = \"nobody.example:5182\"");
    let own = Path::new("/etc/netns").join(net.namespace("near"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
    net.up("near");
    let pid = net.pid("near");
    let hex = |set: u64| format!("{set:016x}");
    let wanted = [
        ("CapEff", hex(NET_ADMIN)),
        ("CapPrm", hex(NET_ADMIN)),
        ("CapBnd", hex(NET_ADMIN)),
        ("CapInh", hex(0)),
        ("CapAmb", hex(0)),
        ("NoNewPrivs", "1".to_owned()),
        ("Seccomp", "2".to_owned()),
    ];
    for (field, value) in wanted {
        let found = of_threads(pid, field);
        assert!(found.len() >= 2, "the daemon's own thread, and the one that looks up names");
        assert!(found.iter().all(|found| *found == value), "{field}: {found:?}");
    }
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    // Not dumpable: root that may not trace processes, and has no less than the daemon, does not look into it.
    let peeks = ["setpriv", "--bounding-set=-all,+net_admin", "--inh-caps=-all", "cat"];
    let peek = |what: &str| net.exec("near", &[&peeks[..], &[what]].concat());
    assert!(peek("/proc/self/environ").status.success());
    assert!(!peek(&format!("/proc/{pid}/environ")).status.success());

    // It works: it reads its file again, opens sockets, and may not read what it did not begin with.
    assert!(airbraid(&["link", "any", "off", "--daemon", &net.daemon("near")]).status.success());
    assert!(airbraid(&["link", "any", "on", "--daemon", &net.daemon("near")]).status.success());
    net.wait("near", "the uplink is open again", |status| status["uplinks"][0]["state"] == "open");
    let reload = |net: &Net| airbraid(&["reload", &net.daemon("near")]);
    let done = reload(&net);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let before = std::fs::read_to_string(net.file("near")).unwrap();
    let other = std::env::temp_dir().join(format!("airbraid-other-{}", std::process::id()));
    std::fs::create_dir_all(&other).unwrap();
    let psk = other.join("psk");
    std::fs::write(&psk, Keys::new().private).unwrap();
    std::fs::set_permissions(&psk, std::fs::Permissions::from_mode(0o600)).unwrap();
    let with_psk = before.clone() + &format!("preshared_key = \"{}\"\n", psk.display());
    std::fs::write(net.file("near"), with_psk).unwrap();
    let refused = reload(&net);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("in the folders that it began with"), "{}", text(&refused.stderr));
    std::fs::remove_dir_all(&other).unwrap();
    std::fs::write(net.file("near"), before).unwrap();

    // And it puts right what it has changed.
    let resolv = |net: &Net| text(&net.exec("near", &["cat", "/etc/resolv.conf"]).stdout);
    assert!(resolv(&net).contains("nameserver 10.77.0.53"));
    net.signal("near", "-TERM");
    assert!(net.ended("near").success());
    assert_eq!(resolv(&net), "nameserver 127.0.0.1\n", "{}", net.logs());
    assert!(!net.logs().contains("not confined"), "{}", net.logs());
}

#[test]
fn a_low_port_is_listened_on_or_it_is_said_why_not() {
    if !can_run("a_low_port_is_listened_on_or_it_is_said_why_not") {
        return;
    }
    let mut net = Net::new("low", &["near"]);
    net.site("near", &Keys::new(), &file("", "").replace("5182", "443"));
    net.up("near");
    let both = format!("{:016x}", NET_ADMIN | NET_BIND_SERVICE);
    assert!(of_threads(net.pid("near"), "CapEff").iter().all(|found| *found == both));
    assert!(text(&net.exec("near", &["ss", "-Huln", "sport", "=", ":443"]).stdout).contains(":443"));
    net.signal("near", "-TERM");
    assert!(net.ended("near").success());
    let file = net.file("near").display().to_string();
    // As under the unit.
    let words = ["setpriv", "--bounding-set=-all,+net_admin", "--inh-caps=-all", env!("CARGO_BIN_EXE_airbraid"), "up"];
    let refused = net.exec("near", &[&words[..], &[&file, "--foreground"]].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("CAP_NET_BIND_SERVICE"), "{}", text(&refused.stderr));
    let check = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "up", "--check", &file]);
    assert!(text(&check.stderr).contains("CAP_NET_BIND_SERVICE"), "{}", text(&check.stderr));
}

#[test]
fn the_control_socket_is_never_anybody_elses() {
    if !can_run("the_control_socket_is_never_anybody_elses") {
        return;
    }
    let mut net = alone("socket", "", "");
    std::fs::create_dir_all("/run/airbraid").unwrap();
    let watch = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
    watch.add_watch("/run/airbraid", AddWatchFlags::IN_CREATE | AddWatchFlags::IN_ATTRIB).unwrap();
    let file = net.file("near").display().to_string();
    let line = format!("umask 0; exec {} up {file} --foreground", env!("CARGO_BIN_EXE_airbraid"));
    net.start("near", &["bash", "-c", &line]);
    net.wait("near", "it answers", |_| true);
    let socket = format!("{}.sock", net.daemon("near"));
    let events = watch.read_events().unwrap();
    let of_socket: Vec<_> =
        events.iter().filter(|event| event.name.as_ref().is_some_and(|name| *name == *socket)).collect();
    assert_eq!(of_socket.len(), 1, "it is made as it stays: {of_socket:?}");
    let mode = std::fs::metadata(Path::new("/run/airbraid").join(&socket)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_status_without_a_name_is_that_of_all_daemons_and_tells_of_one_that_was_killed() {
    if !can_run("the_status_without_a_name_is_that_of_all_daemons_and_tells_of_one_that_was_killed") {
        return;
    }
    let (mut one, mut other) = (alone("first", "", ""), alone("second", "", ""));
    one.up("near");
    other.up("near");
    let said = || text(&airbraid(&["status"]).stdout);
    for name in [one.daemon("near"), other.daemon("near")] {
        assert!(said().contains(&format!("{name}: ")), "{}", said());
    }
    let json: serde_json::Value = serde_json::from_slice(&airbraid(&["status", "--json"]).stdout).unwrap();
    assert!(json["daemons"].as_array().unwrap().len() >= 2, "{json}");
    let pid = other.pid("near").to_string();
    assert!(other.exec("near", &["kill", "-9", &pid]).status.success());
    std::thread::sleep(Duration::from_millis(300));
    let killed = format!("{0}: it is not up any more; `airbraid down {0}` puts right", other.daemon("near"));
    assert!(said().contains(&killed), "{}", said());
    assert!(airbraid(&["down", &other.daemon("near")]).status.success());
}

#[test]
fn the_log_of_a_daemon_in_the_background_is_bounded() {
    if !can_run("the_log_of_a_daemon_in_the_background_is_bounded") {
        return;
    }
    let net = alone("log", "", "");
    let file = net.file("near");
    let log = Path::new("/run/airbraid").join(format!("{}.log", net.daemon("near")));
    let done = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "up", &file.display().to_string()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    // A file that is wrong at length is told at length, each time that it is read.
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, before + &format!("[{}]\n", "x".repeat(40_000))).unwrap();
    let pid = net.status("near").unwrap()["pid"].to_string();
    let (mut longest, aside) = (0, log.with_extension("log.1"));
    // A slow host reads it less often.
    for _ in (0..4_000).take_while(|number| *number < 200 || !aside.exists()) {
        assert!(net.exec("near", &["kill", "-HUP", &pid]).status.success());
        std::thread::sleep(Duration::from_millis(10));
        longest = longest.max(std::fs::metadata(&log).map_or(0, |log| log.len()));
    }
    let all = [&log, &aside].map(|path| std::fs::read_to_string(path).unwrap_or_default()).concat();
    let lines = all.lines().filter(|line| line.contains("not reloaded")).count();
    assert!((1..=60).contains(&lines), "{lines} lines of one kind in a few seconds");
    assert!(aside.exists() && longest < (1 << 20) + 200_000, "{longest}");
    assert!(airbraid(&["down", &net.daemon("near")]).status.success());
    assert!(!log.exists() && !aside.exists(), "a daemon that has ended leaves no log");
}

#[test]
fn a_service_manager_hears_that_the_loop_turns_for_as_long_as_it_does() {
    if !can_run("a_service_manager_hears_that_the_loop_turns_for_as_long_as_it_does") {
        return;
    }
    let mut net = alone("watchdog", "", "");
    let place = net.folder.join("notify");
    let manager = UnixDatagram::bind(&place).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let file = net.file("near").display().to_string();
    let told = [format!("NOTIFY_SOCKET={}", place.display()), "WATCHDOG_USEC=1000000".to_owned()];
    net.start("near", &["env", &told[0], &told[1], env!("CARGO_BIN_EXE_airbraid"), "up", &file, "--foreground"]);
    let hear = || {
        let mut room = [0; 64];
        manager.recv(&mut room).map(|length| text(&room[..length])).unwrap_or_default()
    };
    assert_eq!(hear(), "READY=1");
    for _ in 0..3 {
        assert_eq!(hear(), "WATCHDOG=1");
    }
    let pid = net.status("near").unwrap()["pid"].to_string();
    assert!(net.exec("near", &["kill", "-STOP", &pid]).status.success());
    manager.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    while !hear().is_empty() {}
    manager.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    assert_eq!(hear(), "", "who does not work says nothing");
    assert!(net.exec("near", &["kill", "-CONT", &pid]).status.success());
    assert_eq!(hear(), "WATCHDOG=1");
}

#[test]
fn what_cannot_run_is_counted_or_fails() {
    let binary = std::env::current_exe().unwrap();
    let list = std::env::temp_dir().join(format!("airbraid-skipped-{}", std::process::id()));
    if !can_run("what_cannot_run_is_counted_or_fails") {
        return;
    }
    // As a user who is nobody: the test binary runs one test that needs root.
    let run = |list: &Path, required: &str| {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&binary);
        command.args(["--exact", "over_ipv6_too"]).env("AIRBRAID_SKIPPED", list);
        command.env("AIRBRAID_REQUIRE_ROOT_TESTS", required).output().unwrap()
    };
    std::fs::write(&list, "").unwrap();
    std::fs::set_permissions(&list, std::fs::Permissions::from_mode(0o666)).unwrap();
    let skipped = run(&list, "");
    if text(&skipped.stderr).contains("ermission denied") {
        skip("what_cannot_run_is_counted_or_fails", "nobody may not run what was built");
        return;
    }
    assert!(skipped.status.success(), "{}", text(&skipped.stdout));
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "over_ipv6_too\tit needs root\n");
    assert!(text(&skipped.stderr).contains("skipped: over_ipv6_too: it needs root"));
    for (list, required, says) in [(&*list, "1", "cannot be skipped"), (Path::new(""), "", "cannot run here")] {
        let failed = run(list, required);
        assert!(!failed.status.success());
        assert!(text(&failed.stdout).contains(says), "{}", text(&failed.stdout));
    }
    std::fs::remove_file(&list).unwrap();
}
