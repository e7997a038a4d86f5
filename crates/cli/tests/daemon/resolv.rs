//! `/etc/resolv.conf` without systemd's resolver: whatever happens to the daemon, the machine or the file, the earlier
//! text is restored, or kept where a person finds it.

use crate::names::Etc;
use crate::net::{Keys, Net, text};
use crate::turns::can_run;
use std::path::{Path, PathBuf};

const BEFORE: &str = "# by hand\nsearch example\nnameserver 192.0.2.1\n";

/// A host whose daemon sets a name server, which never answers.
fn host(test: &str) -> (Net, Etc) {
    let net = Net::new(test, &["near"]);
    let etc = Etc::of(&net, "near");
    write(&etc, BEFORE);
    site(&net, "near", "air0", 1);
    (net, etc)
}

fn site(net: &Net, daemon: &str, interface: &str, number: u8) {
    let (own, other) = (Keys::new(), Keys::new());
    let file = format!(
        "[interface]\nname = \"{interface}\"\naddress = [\"10.77.{number}.1/24\"]\nprivate_key = \"{{key}}\"\ndns = [\"10.77.0.53\"]\n\
         [[peer]]\nname = \"other\"\npublic_key = \"{}\"\nallowed = [\"10.77.{number}.2/32\"]\nendpoint = \"192.0.2.9:5182\"\n",
        other.public
    );
    net.site(daemon, &own, &file);
}

/// In place: the file is mounted over the host's.
fn write(etc: &Etc, content: &str) {
    std::fs::write(etc.folder.join("resolv.conf"), content).unwrap();
}

fn read(etc: &Etc) -> String {
    std::fs::read_to_string(etc.folder.join("resolv.conf")).unwrap()
}

fn copy(net: &Net) -> PathBuf {
    Path::new("/var/lib/airbraid").join(format!("{}.resolv", net.daemon("near")))
}

fn kill(net: &mut Net) {
    net.signal("near", "-KILL");
    net.ended("near");
}

/// The effect of a power loss on a daemon's files: those in memory are gone.
fn lose_power(net: &mut Net) {
    kill(net);
    let name = net.daemon("near");
    for file in std::fs::read_dir("/run/airbraid").unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with(&name) {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
}

fn down(net: &Net) -> String {
    let done = net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "down", &net.daemon("near")]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    text(&done.stderr)
}

#[test]
fn name_servers_survive_a_loss_of_power() {
    if !can_run("name_servers_survive_a_loss_of_power") {
        return;
    }
    let (mut net, etc) = host("power");
    net.up("near");
    assert!(read(&etc).contains("nameserver 10.77.0.53"), "{}", read(&etc));
    assert_eq!(std::fs::read_to_string(copy(&net)).unwrap(), BEFORE);
    lose_power(&mut net);
    assert!(read(&etc).contains("nameserver 10.77.0.53"));
    // The machine boots, and the daemon begins as if it never had.
    net.up("near");
    assert!(read(&etc).contains("nameserver 10.77.0.53"));
    assert_eq!(
        std::fs::read_to_string(copy(&net)).unwrap(),
        BEFORE,
        "its own file is never kept as the one from before"
    );
    down(&net);
    assert_eq!(read(&etc), BEFORE);
    assert!(!copy(&net).exists());
    // Without being begun again `down` is enough.
    net.ended("near");
    net.up("near");
    lose_power(&mut net);
    assert!(down(&net).contains("is put right"));
    assert_eq!(read(&etc), BEFORE);
    assert!(!copy(&net).exists());
}

#[test]
fn a_list_of_name_servers_that_was_cut_off_is_put_back() {
    if !can_run("a_list_of_name_servers_that_was_cut_off_is_put_back") {
        return;
    }
    let (mut net, etc) = host("cut");
    for left in [0, 7, 40] {
        net.up("near");
        kill(&mut net);
        let whole = read(&etc);
        write(&etc, &whole[..left]);
        down(&net);
        assert_eq!(read(&etc), BEFORE, "{left} byte were left");
        assert!(!copy(&net).exists());
    }
}

#[test]
fn name_servers_of_somebody_else_stay() {
    if !can_run("name_servers_of_somebody_else_stay") {
        return;
    }
    let (mut net, etc) = host("else");
    net.up("near");
    kill(&mut net);
    let newer = "nameserver 192.0.2.77\n";
    write(&etc, newer);
    down(&net);
    assert_eq!(read(&etc), newer);
    assert!(!copy(&net).exists(), "plainly newer: the copy is of no use");
    // Nobody can tell what this is: it stays, and so does the copy.
    net.up("near");
    kill(&mut net);
    write(&etc, "search elsewhere.example\n");
    down(&net);
    assert_eq!(read(&etc), "search elsewhere.example\n");
    assert_eq!(std::fs::read_to_string(copy(&net)).unwrap(), newer);
    // The next one keeps what is there now, and leaves the older copy.
    net.up("near");
    net.signal("near", "-TERM");
    assert!(net.ended("near").success(), "{}", net.logs());
    assert_eq!(read(&etc), "search elsewhere.example\n");
    let older = copy(&net).with_extension("resolv.before");
    assert_eq!(std::fs::read_to_string(&older).unwrap(), newer);
    std::fs::remove_file(older).unwrap();
}

#[test]
fn one_daemon_sets_name_servers() {
    if !can_run("one_daemon_sets_name_servers") {
        return;
    }
    let (mut net, etc) = host("both");
    site(&net, "second", "air1", 2);
    net.up("near");
    net.up_in("near", "second");
    let log = std::fs::read_to_string(net.folder.join("second.log")).unwrap();
    assert!(log.contains(&format!("the daemon {} has set name servers already", net.daemon("near"))), "{log}");
    net.signal("second", "-TERM");
    assert!(net.ended("second").success());
    assert!(read(&etc).contains("nameserver 10.77.0.53"), "the other's stay while it runs");
    down(&net);
    assert_eq!(read(&etc), BEFORE);
}
