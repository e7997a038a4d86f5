//! Namespaces with links between them and daemons in them, for one test; all are gone when it ends, however it does.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn airbraid(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_airbraid")).args(arguments).output().unwrap()
}

/// A pair of keys, in base64.
pub struct Keys {
    pub private: String,
    pub public: String,
}

impl Keys {
    pub fn new() -> Self {
        let private = airbraid_live::daemon::keys::generate().to_string();
        let public = airbraid_live::daemon::keys::public_of(&private).unwrap();
        Self { private, public }
    }
}

/// The namespaces, files and processes of a test.
pub struct Net {
    name: String,
    pub folder: PathBuf,
    namespaces: Vec<String>,
    children: Vec<(String, Child)>,
}

impl Net {
    /// With these namespaces, each with its loopback.
    ///
    /// # Panics
    /// If another test has the same name: it would have the same namespaces and files at the same time.
    pub fn new(test: &str, hosts: &[&str]) -> Self {
        static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let is_first = NAMES.lock().unwrap().insert(test.to_owned());
        assert!(is_first, "two tests are called {test}");
        let name = format!("{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(format!("airbraid-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut net = Self { name, folder, namespaces: Vec::new(), children: Vec::new() };
        for host in hosts {
            let namespace = net.namespace(host);
            run(&["ip", "netns", "add", &namespace]);
            net.namespaces.push(namespace);
            net.ip(host, "link set lo up");
        }
        net
    }

    pub fn namespace(&self, host: &str) -> String {
        format!("ab-{}-{host}", self.name)
    }

    /// `ip` inside a host.
    pub fn ip(&self, host: &str, words: &str) -> String {
        let namespace = self.namespace(host);
        let words: Vec<&str> = words.split_whitespace().collect();
        run(&[&["ip", "-n", &namespace], &words[..]].concat())
    }

    /// A link between two hosts, with the same name at both, and addresses.
    pub fn link(&self, name: &str, ends: [&str; 2], addresses: [&str; 2]) {
        let [a, b] = ends.map(|end| self.namespace(end));
        run(&["ip", "link", "add", name, "netns", &a, "type", "veth", "peer", "name", name, "netns", &b]);
        for (end, address) in ends.into_iter().zip(addresses) {
            self.ip(end, &format!("addr add {address} dev {name}"));
        }
        // Both first have their addresses: the carrier comes with the second end.
        ends.into_iter().for_each(|end| drop(self.ip(end, &format!("link set {name} up"))));
    }

    /// Runs a command in a host and waits for it.
    pub fn exec(&self, host: &str, words: &[&str]) -> Output {
        self.command(host, words).output().unwrap()
    }

    pub fn command(&self, host: &str, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(host)]).args(words);
        command
    }

    /// Starts a command in a host; it is ended with the test.
    pub fn start(&mut self, host: &str, words: &[&str]) {
        let child = self.command(host, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.children.push((words.join(" "), child));
    }

    /// The name of a host's daemon.
    pub fn daemon(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    pub fn file(&self, host: &str) -> PathBuf {
        self.folder.join(format!("{}.toml", self.daemon(host)))
    }

    /// Writes a daemon's file and key: `{key}` in the text is the key file.
    pub fn site(&self, host: &str, keys: &Keys, text: &str) {
        let key = self.folder.join(format!("{host}.key"));
        std::fs::write(&key, &keys.private).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let text = text.replace("{key}", &key.display().to_string());
        std::fs::write(self.file(host), format!("schema = 1\n{text}")).unwrap();
    }

    /// Starts a host's daemon and waits until it answers.
    pub fn up(&mut self, host: &str) {
        self.up_in(host, host);
    }

    /// Starts a daemon with another name than its host's.
    pub fn up_in(&mut self, place: &str, host: &str) {
        let log = std::fs::File::create(self.folder.join(format!("{host}.log"))).unwrap();
        let file = self.file(host).display().to_string();
        let words = [env!("CARGO_BIN_EXE_airbraid"), "up", &file, "--foreground"];
        let child = self.command(place, &words).env("AIRBRAID_LOG", "debug").stdout(Stdio::null()).stderr(log).spawn();
        self.children.push((self.daemon(host), child.unwrap()));
        self.wait(host, "it answers", |_| true);
    }

    /// The process of a host's daemon.
    pub fn pid(&self, host: &str) -> u32 {
        let name = self.daemon(host);
        self.children.iter().rev().find(|(other, _)| *other == name).unwrap().1.id()
    }

    pub fn signal(&self, host: &str, signal: &str) {
        run(&["kill", signal, &self.pid(host).to_string()]);
    }

    /// Waits for the end of a host's daemon; returns its status.
    pub fn ended(&mut self, host: &str) -> std::process::ExitStatus {
        let name = self.daemon(host);
        let place = self.children.iter().rposition(|(other, _)| *other == name).unwrap();
        self.children.remove(place).1.wait().unwrap()
    }

    pub fn status(&self, host: &str) -> Option<Value> {
        let done = airbraid(&["status", &self.daemon(host), "--json"]);
        done.status.success().then(|| serde_json::from_slice(&done.stdout).unwrap())
    }

    /// Waits until the status of a host's daemon fulfils `is_so`.
    pub fn wait(&self, host: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = None;
        for _ in 0..400 {
            last = self.status(host);
            if let Some(status) = last.as_ref().filter(|status| is_so(status)) {
                return status.clone();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{host}: waited in vain until {what}: {last:?}\n{}", self.logs());
    }

    /// Waits until `count` members of a host's daemon, all peers together, work.
    pub fn wait_members(&self, host: &str, count: usize) -> Value {
        self.wait(host, &format!("{count} members are active"), |status| active(status) == count)
    }

    pub fn logs(&self) -> String {
        let mut all = String::new();
        for namespace in &self.namespaces {
            let host = namespace.rsplit('-').next().unwrap();
            let log = std::fs::read_to_string(self.folder.join(format!("{host}.log"))).unwrap_or_default();
            let _ = writeln!(all, "--- {host}\n{log}");
        }
        all
    }

    /// Number of `count` pings, sent at once, that are answered within 3 s.
    pub fn ping(&self, host: &str, to: &str, count: u32, more: &[&str]) -> u32 {
        let count = count.to_string();
        // Where one was answered it waits no longer for the others than an interval, whatever `-W` says.
        let words = [&["ping", "-n", "-c", &count, "-l", &count, "-i", "3", "-W", "3", to], more].concat();
        let said = text(&self.exec(host, &words).stdout);
        let got = said.split(" received").next().and_then(|before| before.rsplit(' ').next());
        got.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{said}\n{}", self.logs()))
    }
}

/// Members that work.
pub fn active(status: &Value) -> usize {
    let peers = status["peers"].as_array().unwrap();
    let members = peers.iter().flat_map(|peer| peer["members"].as_array().unwrap());
    members.filter(|member| member["state"] == "active").count()
}

fn run(words: &[&str]) -> String {
    let done = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

impl Drop for Net {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let own = format!("{}-", self.name);
        for left in airbraid_live::daemon::names().into_iter().filter(|name| name.starts_with(&own)) {
            let _ = airbraid(&["down", &left]);
        }
        // What a daemon that was killed had kept aside belonged to a file of its namespace, which goes as well.
        for kept in std::fs::read_dir("/var/lib/airbraid").into_iter().flatten().flatten() {
            if kept.file_name().to_string_lossy().starts_with(&own) {
                let _ = std::fs::remove_file(kept.path());
            }
        }
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "delete", namespace]).output();
            let _ = std::fs::remove_dir_all(Path::new("/etc/netns").join(namespace));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
