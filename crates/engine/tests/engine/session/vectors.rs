//! Test vectors: fixed keys and fixed randomness give these bytes. They were computed from the specification of Noise
//! (revision 34), RFC 7748, RFC 8439 and SP 800-38D with other implementations of the primitives (Python's
//! `cryptography` and `hashlib`), not with `snow` or `ring`.

use crate::session::world::{address, config, frame};
use airbraid_engine::converge::session::{
    Aead, Entropy, Input, Keypair, Keyring, Output, PATTERN, PeerId, Secret, Sessions, Suite,
};
use airbraid_engine::trunk::Member;
use airbraid_engine::{Machine, Stream, step};
use airbraid_units::Instant;

/// Message 1: static keys 32 x 01 to 32 x 02, ephemeral key 00, 01, ... 1f, name 01020304, stamp 1.7e18.
const FIRST: &str = "\
    11010103010203048f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f28166253f7b0051f\
    1bb691e6dea8b960e074818cff7e2046b58c6c85fd412433475b093a30f352a5ede34368282cb33edd164a7257740e6e\
    82be4ae8adc38dc47a2606a9b6cede154a5e3a4397fae40b8a6e2c7eb7a0f89300000000000000000000000000000000";
/// Message 2: ephemeral key 20, 21, ... 3f, pre-shared key 32 x 09, name 0a0b0c0d, suite 2.
const SECOND: &str = "\
    1200000001020304358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd1662541e3488f6fe6ceac4\
    7df8c12d5049028f27f02f3e4c96b279b1da1dfe4864298a14fb1fa580aed56c";
/// The key of the initiator's frames.
const FROM_INITIATOR: &str = "\
    1a3d87da32c4b4c8b20de8bdeaead83bdb8949aab1d6bb99256b1951f36cb585";
/// The key of the responder's frames.
const FROM_RESPONDER: &str = "\
    3c30391a6b8c12bb9f51055eae0b4b7e33e4ff01472efc7aa1b0d76a6fad91b0";
/// `airbraid` on member 7 from the initiator, by AES-256-GCM.
const AES_FRAME: &str = "\
    14070a0b0c0d000000000000fd06d4f898e457228965ac90e38d6533ec44531b627d95a4";
/// `airbraid` on member 3 from the responder, by ChaCha20-Poly1305 under the same keys.
const CHACHA_FRAME: &str = "\
    140301020304000000000000a01a590041598206e252c77034364d94dedc2f202e323d91";

/// Hands out what it was given.
#[derive(Debug)]
struct Fixed(Vec<u8>);

impl Entropy for Fixed {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.drain(..bytes.len()).collect::<Vec<_>>());
    }
}

fn end(number: u8, other: u8, entropy: Vec<u8>) -> Sessions<Fixed> {
    let mut config = config(number, &[other]);
    config.peers[0].psk = Secret::new([9; 32]);
    Sessions::new(config, Fixed(entropy), Stream::new(1, 0, "jitter"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn drive(end: &mut Sessions<Fixed>, input: Input) -> (Vec<Vec<u8>>, Vec<Keypair>) {
    let (mut sent, mut keys) = (vec![], vec![]);
    step(end, Instant::ZERO, Some(input), |output| match output {
        Output::Transmit { bytes, .. } => sent.push(bytes),
        Output::Install(installed) => keys.push(*installed),
        _ => {}
    });
    (sent, keys)
}

#[test]
fn handshake_and_frames() {
    assert_eq!(PATTERN, "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s");
    let mut initiator = end(0, 1, [&[1, 2, 3, 4][..], &(0..32).collect::<Vec<u8>>()].concat());
    let mut responder = end(1, 0, [&(32..64).collect::<Vec<u8>>()[..], &[10, 11, 12, 13]].concat());
    let datagram = |from, bytes: &Vec<u8>| Input::Datagram { from: address(from), bytes: bytes.clone() };
    let (first, _) = drive(&mut initiator, Input::Connect(PeerId(0)));
    assert_eq!(hex(&first[0]), FIRST);
    let (second, theirs) = drive(&mut responder, datagram(0, &first[0]));
    assert_eq!(hex(&second[0]), SECOND);
    let (_, ours) = drive(&mut initiator, datagram(1, &second[0]));
    for (keys, send, receive) in
        [(&ours[0], FROM_INITIATOR, FROM_RESPONDER), (&theirs[0], FROM_RESPONDER, FROM_INITIATOR)]
    {
        assert_eq!((hex(keys.send.bytes()), hex(keys.receive.bytes())), (send.to_owned(), receive.to_owned()));
        assert_eq!((keys.version, keys.suite), (1, Suite::Aes256Gcm));
    }
    for (keys, suite, member, expected) in
        [(&ours[0], Suite::Aes256Gcm, 7, AES_FRAME), (&theirs[0], Suite::ChaCha20Poly1305, 3, CHACHA_FRAME)]
    {
        let mut ring = Keyring::new(Aead);
        ring.install(&Keypair { suite, ..keys.clone() });
        ring.use_key(PeerId(0), keys.ours);
        let mut bytes = frame(b"airbraid");
        ring.seal(Instant::ZERO, PeerId(0), Member(member), &mut bytes).unwrap();
        assert_eq!(hex(&bytes), expected);
    }
    assert!(initiator.poll_output().is_none());
}
