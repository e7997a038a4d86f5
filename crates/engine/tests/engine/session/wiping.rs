//! Dropped secrets are nowhere in memory: Linux shows a process its own.

use crate::session::world::{Channel, World, config};
use airbraid_engine::Stream;
use airbraid_engine::converge::session::{Input, PeerId, Secret, Simulated, public_key};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The mask of the patterns that are searched, so that they are in memory only while they are used.
const MASK: u8 = 0xa5;
/// So much of a secret says that it is it [byte].
const LEN: usize = 16;
/// Of memory [byte].
const PAGE: u64 = 4_096;

fn masked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ MASK).collect()
}

/// Number of occurrences of each masked pattern in memory.
fn found(masked: &[Vec<u8>]) -> Vec<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let mut counts = vec![0; masked.len()];
    // Page by page, and the beginning of the next, into one place: what is found is not copied to where it would be
    // found again.
    let mut page = [0; PAGE as usize + LEN - 1];
    let own = page.as_ptr() as u64;
    let own = own - PAGE - LEN as u64..own + PAGE + LEN as u64;
    for line in maps.lines().filter(|line| line.contains(" rw-p ")) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
        for at in (from..to).step_by(PAGE as usize).filter(|at| !own.contains(at)) {
            let length = page.len().min((to - at) as usize);
            if memory.read_exact_at(&mut page[..length], at).is_err() {
                continue;
            }
            for (masked, count) in masked.iter().zip(&mut counts) {
                let is_it = |window: &&[u8]| window.iter().zip(masked).all(|(byte, masked)| byte ^ MASK == *masked);
                *count += page[..length].windows(LEN).filter(is_it).count();
            }
            page.fill(0);
        }
    }
    counts
}

fn draw(seed: u64) -> Secret {
    Secret::draw(&mut Simulated(Stream::new(seed, 0, "wiping")))
}

/// A handshake, a second one, frames both ways, and the end of it all; gives the secrets, masked.
#[inline(never)]
fn sessions() -> Vec<Vec<u8>> {
    let (identity, psk) = (draw(1), draw(2));
    let mut secrets: Vec<_> = [&identity, &psk].map(|secret| masked(secret.bytes())).into();
    let (mut near, mut far) = (config(0, &[1]), config(1, &[0]));
    far.peers[0].public = public_key(&identity);
    near.identity = identity;
    (near.peers[0].psk, far.peers[0].psk) = (psk.clone(), psk);
    let mut world = World::of(7, Channel { delay: 20, ..Channel::default() }, vec![(near, vec![1]), (far, vec![0])]);
    world.input(0, Some(Input::Connect(PeerId(0))));
    assert!(world.run(1_000).is_up());
    world.input(0, Some(Input::Spent(PeerId(0))));
    world.run(2_000);
    assert!(world.data(0, 0, b"x") && world.data(1, 0, b"y"));
    world.run(3_000);
    for keys in &world.ends[0].keys {
        secrets.extend([&keys.send, &keys.receive].map(|secret| masked(secret.bytes())));
    }
    secrets
}

#[test]
fn nothing_secret_is_left_in_memory() {
    let mut secrets = sessions();
    assert_eq!(secrets.len(), 6);
    let canary = std::hint::black_box(Box::new([0x3c; 32]));
    secrets.push(masked(&*canary));
    let counts = found(&secrets);
    assert!(counts[6] > 0, "what is there is found");
    assert_eq!(counts[..6], [0; 6], "identity, shared key, keys of two sessions");
}
