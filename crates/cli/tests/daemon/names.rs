//! Endpoints by name: a name that is not found at the start is found later, and a peer that is gone is looked for
//! elsewhere.

use crate::net::{Keys, Net, airbraid, text};
use crate::turns::can_run;
use std::path::PathBuf;

/// The files of `/etc` that a namespace has instead of the machine's: its hosts, and a resolver that is not there.
pub struct Etc {
    pub folder: PathBuf,
}

impl Etc {
    pub fn of(net: &Net, host: &str) -> Self {
        let folder = PathBuf::from("/etc/netns").join(net.namespace(host));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("resolv.conf"), "nameserver 192.0.2.1\noptions timeout:1 attempts:1\n").unwrap();
        std::fs::write(folder.join("nsswitch.conf"), "hosts: files dns\n").unwrap();
        let etc = Self { folder };
        etc.hosts("");
        etc
    }

    pub fn hosts(&self, line: &str) {
        std::fs::write(self.folder.join("hosts"), format!("127.0.0.1 localhost\n{line}\n")).unwrap();
    }
}

impl Drop for Etc {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_dir("/etc/netns");
    }
}

#[test]
fn a_name_is_looked_up_until_it_is_found_and_again_when_its_peer_is_silent() {
    if !can_run("a_name_is_looked_up_until_it_is_found_and_again_when_its_peer_is_silent") {
        return;
    }
    let mut net = Net::new("names", &["near", "far"]);
    let etc = Etc::of(&net, "near");
    let (a, b) = (Keys::new(), Keys::new());
    net.link("l0", ["near", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    let file = |own: &str, other: &str, public: &str, more: &str| {
        format!(
            "[interface]\naddress = [\"10.77.0.{own}/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n[[uplink]]\nname = \"l0\"\n\
             [[peer]]\nname = \"other\"\npublic_key = \"{public}\"\nallowed = [\"10.77.0.{other}/32\"]\n{more}"
        )
    };
    net.site("near", &a, &file("1", "2", &b.public, "endpoint = \"far.example:5182\"\n"));
    net.site("far", &b, &file("2", "1", &a.public, ""));
    let check =
        net.exec("near", &[env!("CARGO_BIN_EXE_airbraid"), "up", "--check", &net.file("near").display().to_string()]);
    let said = text(&check.stderr);
    assert!(
        check.status.success() && said.contains("peer other: `far.example:5182` cannot be looked up now"),
        "{said}"
    );
    net.up("far");
    // It is up although nobody knows the name, and the interface is there.
    net.up("near");
    let is_said = |status: &serde_json::Value| {
        status["peers"][0]["waits_for"].as_str().is_some_and(|said| said.contains("address"))
    };
    let status = net.wait("near", "it says that it waits for the address", is_said);
    assert_eq!(status["peers"][0]["up"], false);
    let status = text(&airbraid(&["status", &net.daemon("near")]).stdout);
    assert!(status.contains("waits for the address of far.example:5182: "), "{status}");
    let status = text(&airbraid(&["status", &net.daemon("far")]).stdout);
    assert!(status.contains("waits for its first message: it comes to us"), "{status}");
    assert!(net.ip("near", "addr show air0").contains("10.77.0.1"));
    etc.hosts("10.9.0.2 far.example");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 5, &[]), 5);
    // The far end dies without a word, and comes back elsewhere: only the name knows.
    net.signal("far", "-KILL");
    net.ended("far");
    net.ip("far", "addr del 10.9.0.2/24 dev l0");
    net.ip("far", "addr add 10.9.0.3/24 dev l0");
    etc.hosts("10.9.0.3 far.example");
    net.up("far");
    // Somebody wants an answer: so silence is noticed.
    net.start("near", &["ping", "-i", "0.2", "10.77.0.2"]);
    let status = net.wait("near", "it is at the new address", |status| {
        status["peers"][0]["members"][0]["remote"] == "10.9.0.3:5182"
    });
    assert_eq!(status["uplinks"][0]["signal_dbm"], serde_json::Value::Null, "no radio, no signal");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 5, &[]), 5);
    let said = net.logs();
    let failures = said.lines().filter(|line| line.contains("cannot be looked up; it is tried again")).count();
    assert_eq!(failures, 1, "said once: {said}");
}
