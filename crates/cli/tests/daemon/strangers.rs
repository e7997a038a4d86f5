//! Strangers: a wrong key gets no answer, and replayed, changed or invented datagrams change nothing.

use crate::net::{Keys, Net};
use crate::turns::can_run;
use airbraid_live::namespace;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A socket inside a host.
fn socket(net: &Net, host: &str, at: &str) -> UdpSocket {
    let socket = namespace::inside(&net.namespace(host), || UdpSocket::bind(at)).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
}

/// Two hosts, the first of which goes to `endpoint` at the second; the far end has one socket for all interfaces.
fn hosts(test: &str, endpoint: &str, far_knows: impl Fn(&Keys) -> String) -> Net {
    let net = Net::new(test, &["near", "far"]);
    net.link("l0", ["near", "far"], ["10.9.0.1/24", "10.9.0.2/24"]);
    let (a, b) = (Keys::new(), Keys::new());
    let near = format!(
        "[interface]\naddress = [\"10.77.0.1/24\"]\nprivate_key = \"{{key}}\"\n[[uplink]]\nname = \"l0\"\n\
         [[peer]]\nname = \"far\"\npublic_key = \"{}\"\nendpoint = \"{endpoint}\"\nallowed = [\"10.77.0.2/32\"]\n",
        b.public
    );
    let far = format!(
        "[interface]\naddress = [\"10.77.0.2/24\"]\nprivate_key = \"{{key}}\"\nlisten = 5182\n\
         [[peer]]\nname = \"near\"\npublic_key = \"{}\"\nallowed = [\"10.77.0.1/32\"]\n",
        far_knows(&a)
    );
    net.site("near", &a, &near);
    net.site("far", &b, &far);
    net
}

#[test]
fn a_wrong_key_is_refused_and_not_answered() {
    if !can_run("a_wrong_key_is_refused_and_not_answered") {
        return;
    }
    let mut net = hosts("wrong", "10.9.0.2:5182", |_| Keys::new().public);
    net.up("far");
    net.up("near");
    let status =
        net.wait("far", "it has refused", |status| status["refused_handshakes"]["unknownpeer"].as_u64() > Some(1));
    assert_eq!(
        (&status["peers"][0]["up"], &status["uplinks"][0]["sent_datagrams"]),
        (&false.into(), &0.into()),
        "{status}"
    );
    assert_eq!(net.status("near").unwrap()["peers"][0]["up"], false);
    // Noise, and everything that a header can begin with: no answer either.
    let stranger = socket(&net, "near", "10.9.0.1:0");
    for kind in 0..=255u8 {
        for length in [1usize, 28, 52, 80, 144, 1_400] {
            stranger.send_to(&vec![kind; length], "10.9.0.2:5182").unwrap();
        }
    }
    assert!(stranger.recv_from(&mut [0; 2_048]).is_err());
    let status = net.status("far").unwrap();
    assert_eq!(status["uplinks"][0]["sent_datagrams"], 0, "{status}");
}

/// Stands between the two, and keeps all datagrams to the far end.
struct Relay {
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[expect(clippy::disallowed_methods, reason = "a relay of a test, outside any run")]
fn relay(net: &Net) -> Relay {
    let (outer, inner) = (socket(net, "far", "10.9.0.2:7000"), socket(net, "far", "127.0.0.1:7001"));
    let far: SocketAddr = "127.0.0.1:5182".parse().unwrap();
    let (heard, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let near = Arc::new(Mutex::new(None));
    let (outer, inner) = (Arc::new(outer), Arc::new(inner));
    let forth = {
        let (outer, inner, near, heard, stop) =
            (outer.clone(), inner.clone(), near.clone(), heard.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut room = [0; 65_536];
            while !stop.load(Ordering::Relaxed) {
                let Ok((length, from)) = outer.recv_from(&mut room) else { continue };
                *near.lock().unwrap() = Some(from);
                heard.lock().unwrap().push(room[..length].to_vec());
                inner.send_to(&room[..length], far).unwrap();
            }
        })
    };
    let back = {
        let stop = stop.clone();
        std::thread::spawn(move || {
            let mut room = [0; 65_536];
            while !stop.load(Ordering::Relaxed) {
                let Ok((length, _)) = inner.recv_from(&mut room) else { continue };
                let Some(near) = *near.lock().unwrap() else { continue };
                outer.send_to(&room[..length], near).unwrap();
            }
        })
    };
    Relay { heard, stop, threads: vec![forth, back] }
}

#[test]
fn what_is_repeated_or_changed_changes_nothing() {
    if !can_run("what_is_repeated_or_changed_changes_nothing") {
        return;
    }
    let mut net = hosts("replay", "10.9.0.2:7000", |a| a.public.clone());
    let relay = relay(&net);
    net.up("far");
    net.up("near");
    net.wait_members("near", 1);
    assert_eq!(net.ping("near", "10.77.0.2", 20, &[]), 20);
    let before = net.status("far").unwrap();
    let attacker = socket(&net, "near", "10.9.0.1:0");
    let heard = relay.heard.lock().unwrap().clone();
    assert!(heard.len() > 20);
    for datagram in &heard {
        attacker.send_to(datagram, "10.9.0.2:5182").unwrap();
        for bit in [0, 9, 20, 50, datagram.len() * 8 - 1] {
            let mut changed = datagram.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            attacker.send_to(&changed, "10.9.0.2:5182").unwrap();
        }
    }
    // A first message with a wrong cookie gets a right one (52 byte, kind 3), one that is older than the newest a stamp
    // that only its maker can read (84 byte, kind 6): shorter than what asked for it, and no more.
    let mut room = [0; 2_048];
    while let Ok((length, _)) = attacker.recv_from(&mut room) {
        assert!([(52, 0x13), (84, 0x16)].contains(&(length, room[0])), "an attacker was answered");
    }
    let after = net.wait("far", "it has seen all", |status| {
        let count = |key: &str| status["uplinks"][0][key].as_u64().unwrap();
        let of = |status: &serde_json::Value| status["uplinks"][0]["received_datagrams"].as_u64().unwrap();
        count("received_datagrams") >= of(&before) + 6 * heard.len() as u64
    });
    let peer = |status: &serde_json::Value| status["peers"][0].clone();
    for key in ["moves", "up", "foreign_packets", "received_packets"] {
        assert_eq!(peer(&after)[key], peer(&before)[key], "{key}");
    }
    assert_eq!(peer(&after)["members"][0]["remote"], peer(&before)["members"][0]["remote"]);
    assert!(after["refused_frames"]["replayed"].as_u64().unwrap() > 10, "{}", after["refused_frames"]);
    assert!(after["refused_frames"]["forged"].as_u64().unwrap() > 10, "{}", after["refused_frames"]);
    assert_eq!(net.ping("near", "10.77.0.2", 10, &[]), 10);
    relay.stop.store(true, Ordering::Relaxed);
    relay.threads.into_iter().for_each(|thread| thread.join().unwrap());
}
