//! Strangers with a public key alone, who send as much as they can: a hub, its client, and the strangers' messages.
//!
//! Tests (`load.rs`) and measurements (`benches/strangers.rs`) use it.

use crate::net::{Keys, Net, airbraid};
use airbraid_engine::converge::session::{
    Address, Config, Input, Output, PeerConfig, PeerId, PublicKey, Secret, Sessions, Simulated, Suite, Timing,
};
use airbraid_engine::{Stream, step};
use airbraid_live::daemon::{Question, ask};
use airbraid_live::namespace;
use serde_json::Value;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The hub's address for strangers.
const HUB: &str = "10.9.1.2:5182";

#[expect(clippy::disallowed_methods, reason = "a measurement of a test, outside any run")]
pub fn now() -> Instant {
    Instant::now()
}

/// A hub, a client whose uplink is off, and strangers who have all of 10.66.0.0/16.
pub fn hub(test: &str, more_peers: usize) -> (Net, Keys) {
    let net = Net::new(test, &["near", "far", "out"]);
    net.link("l0", ["near", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    net.link("l1", ["out", "far"], ["10.9.1.1/24", "10.9.1.2/24"]);
    net.ip("out", "route add local 10.66.0.0/16 dev lo");
    net.ip("far", "route add 10.66.0.0/16 via 10.9.1.1");
    let (near, far) = (Keys::new(), Keys::new());
    net.site(
        "near",
        &near,
        &format!(
            "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l0\"\nstate = \"off\"\n\
             [[peer]]\nname = \"far\"\npublic_key = \"{}\"\nendpoint = \"10.9.0.2:5182\"\nallowed = [\"10.77.0.2/32\"]\n",
            far.public
        ),
    );
    let mut file = "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{key}\"\nlisten = 5182\n".to_owned();
    let mut peer = |name: &str, key: &str, allowed: &str| {
        let _ = write!(file, "[[peer]]\nname = \"{name}\"\npublic_key = \"{key}\"\nallowed = [\"{allowed}\"]\n");
    };
    peer("near", &near.public, "10.77.0.1/32");
    for number in 0..more_peers {
        let prefix = format!("10.78.{}.{}/32", number / 256, number % 256);
        peer(&format!("p{number}"), &Keys::new().public, &prefix);
    }
    net.site("far", &far, &file);
    (net, far)
}

/// Starts the hub: with the command to be measured, if that is another.
pub fn start_hub(net: &mut Net) {
    match std::env::var("AIRBRAID_BINARY") {
        Ok(binary) => {
            let file = net.file("far").display().to_string();
            net.start("far", &[&binary, "up", &file, "--foreground"]);
            net.wait("far", "it answers", |_| true);
        }
        Err(_) => net.up("far"),
    }
}

/// The public key in base64, as bytes.
fn public_of(keys: &Keys) -> PublicKey {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = keys.public.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let bits: Vec<bool> = sextets.flat_map(|six| (0..6).rev().map(move |bit| six >> bit & 1 == 1)).collect();
    let mut key = [0; 32];
    for (at, bit) in bits.into_iter().take(256).enumerate() {
        key[at / 8] |= u8::from(bit) << (7 - at % 8);
    }
    PublicKey(key)
}

/// The answer of one stranger to an input.
fn told(stranger: &mut Sessions<Simulated>, input: Input) -> Option<Vec<u8>> {
    let mut sent = None;
    step(stranger, airbraid_units::Instant::ZERO, Some(input), |output| {
        if let Output::Transmit { bytes, .. } = output {
            sent = Some(bytes);
        }
    });
    sent
}

/// A source, and its first message: true to the public key, by an unknown key.
struct Source {
    socket: UdpSocket,
    stranger: Sessions<Simulated>,
    message: Vec<u8>,
}

fn sources(net: &Net, hub: &Keys, count: u32) -> Vec<Source> {
    let public = public_of(hub);
    let source = |number: u32| {
        let config = Config {
            identity: Secret::new([7; 32]),
            peers: vec![PeerConfig { public, psk: Secret::new([0; 32]), addresses: vec![Address([0; Address::LEN])] }],
            suites: Suite::ALL.to_vec(),
            epoch_ns: 1,
            timing: Timing::default(),
        };
        let stream = |purpose| Stream::new(5, u64::from(number), purpose);
        let mut stranger = Sessions::new(config, Simulated(stream("entropy")), stream("jitter"));
        let message = told(&mut stranger, Input::Connect(PeerId(0))).unwrap();
        let own = SocketAddr::new(Ipv4Addr::from(0x0a42_0001 + number).into(), 0);
        let socket = UdpSocket::bind(own).unwrap();
        socket.connect(HUB).unwrap();
        socket.set_nonblocking(true).unwrap();
        Source { socket, stranger, message }
    };
    namespace::inside(&net.namespace("out"), || (0..count).map(source).collect()).unwrap()
}

/// The messages of strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    WithoutCookies,
    WithCookies,
    /// Now with, now without: neither way in is left free.
    Both,
}

/// The first messages of `count` sources.
pub fn messages(net: &Net, hub: &Keys, count: u32, kind: Kind) -> Vec<(UdpSocket, Vec<u8>)> {
    let mut sources = sources(net, hub, count);
    let without: Vec<Vec<u8>> = sources.iter().map(|source| source.message.clone()).collect();
    if kind != Kind::WithoutCookies {
        get_cookies(&mut sources);
    }
    let mut shots = Vec::new();
    for (source, without) in sources.into_iter().zip(without) {
        if kind == Kind::Both {
            shots.push((source.socket.try_clone().unwrap(), without));
        }
        shots.push((source.socket, source.message));
    }
    shots
}

/// Every source asks for a cookie, and shows it from then on.
fn get_cookies(sources: &mut [Source]) {
    let mut room = [0; 256];
    let end = now() + Duration::from_secs(20);
    loop {
        let without: Vec<&mut Source> = sources.iter_mut().filter(|source| source.message[128..] == [0; 16]).collect();
        if without.is_empty() {
            return;
        }
        assert!(now() < end, "{} sources have got no cookie", without.len());
        for source in without {
            // At this rate it is busy, and asks for cookies.
            let _ = source.socket.send(&source.message);
            while let Ok(length) = source.socket.recv(&mut room) {
                let from = Address([0; Address::LEN]);
                let reply = Input::Datagram { from, bytes: room[..length].to_vec() };
                source.message = told(&mut source.stranger, reply).unwrap_or_else(|| source.message.clone());
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A flood is even, so that no other gets in between two bursts.
pub const EVENLY: Duration = Duration::ZERO;
/// Or some dozens at a time: the cost of each is then above that of waking up.
const IN_BURSTS: Duration = Duration::from_millis(3);

/// Sends at a rate until it is dropped.
pub struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    begin: Instant,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[expect(clippy::disallowed_methods, reason = "a stranger of a test, outside any run")]
pub fn flood(shots: Vec<(UdpSocket, Vec<u8>)>, rate: u64, pause: Duration) -> Flood {
    let (stop, sent, begin) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), now());
    let work = {
        let (stop, sent) = (stop.clone(), sent.clone());
        move || {
            let mut room = [0; 256];
            let mut shots = shots.iter().cycle();
            while !stop.load(Ordering::Relaxed) {
                let due = begin.elapsed().as_micros() as u64 * rate / 1_000_000;
                // What a host that was not awake has missed is not made up for at once.
                let before = sent.load(Ordering::Relaxed).max(due.saturating_sub(rate / 50));
                for (socket, message) in shots.by_ref().take((due - before.min(due)) as usize) {
                    let _ = socket.send(message);
                    let _ = socket.recv(&mut room);
                }
                sent.store(due.max(before), Ordering::Relaxed);
                if pause.is_zero() {
                    std::thread::yield_now();
                } else {
                    std::thread::sleep(pause);
                }
            }
        }
    };
    Flood { stop, sent, begin, thread: Some(std::thread::spawn(work)) }
}

impl Flood {
    pub fn rate(&self) -> f64 {
        self.sent.load(Ordering::Relaxed) as f64 / self.begin.elapsed().as_secs_f64()
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn status(net: &Net, host: &str) -> Value {
    ask(&net.daemon(host), &Question::Status).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Time that a client needs from its start to a session; `None` above `longest`.
pub fn connects(net: &mut Net, longest: Duration) -> Option<Duration> {
    net.up("near");
    ask(&net.daemon("near"), &Question::Link("l0".to_owned(), true)).unwrap();
    let begin = now();
    let took = loop {
        let is_up = status(net, "near")["peers"][0]["up"] == true;
        if is_up || begin.elapsed() > longest {
            break is_up.then(|| begin.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    airbraid(&["down", &net.daemon("near")]);
    net.ended("near");
    took
}

/// Processor time of a process \[ns\].
pub fn cpu_ns(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0)
    };
    tasks.filter_map(Result::ok).map(of).sum()
}

/// Waits until a process takes less than a twentieth of a processor.
fn wait_idle(pid: u32) {
    let period = Duration::from_millis(200);
    for _ in 0..100 {
        let before = cpu_ns(pid);
        std::thread::sleep(period);
        if u128::from(cpu_ns(pid) - before) < period.as_nanos() / 20 {
            return;
        }
    }
    panic!("process {pid} does not rest");
}

pub fn received(status: &Value) -> u64 {
    let uplinks = status["uplinks"].as_array().into_iter().flatten();
    uplinks.filter_map(|uplink| uplink["received_datagrams"].as_u64()).sum()
}

/// Cost of a datagram of garbage at the hub \[ns\].
pub fn garbage_costs(test: &str, peers: usize, garbage: &[u8]) -> f64 {
    let (mut net, far) = hub(test, peers);
    start_hub(&mut net);
    let pid = status(&net, "far")["pid"].as_u64().unwrap() as u32;
    let source = sources(&net, &far, 1).remove(0);
    // The beginning of a hub with many peers is long, and so is its answer: their cost is not that of the garbage.
    let count = received(&status(&net, "far"));
    wait_idle(pid);
    let cpu = cpu_ns(pid);
    let flood = flood(vec![(source.socket, garbage.to_vec())], 20_000, IN_BURSTS);
    std::thread::sleep(Duration::from_millis(1_500));
    drop(flood);
    std::thread::sleep(Duration::from_millis(200));
    let cpu = cpu_ns(pid) - cpu;
    let count = received(&status(&net, "far")) - count;
    assert!(count > 5_000, "{count} datagrams arrived");
    cpu as f64 / count as f64
}
