//! The Reed-Solomon code against a naive polynomial implementation, and the two codecs against each other.

use airbraid_engine::Stream;
use airbraid_engine::link::fec::{Account, BlockCodec, Codec, Decoded, ReedSolomon, crc32};
use airbraid_engine::link::{Refusal, Segment};
use airbraid_engine::packet::TrafficClass;
use airbraid_units::SeqNum;
use proptest::prelude::*;

/// The product in GF(256), by shifting and adding.
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = if a & 0x80 == 0 { a << 1 } else { a << 1 ^ 0x1d };
        b >>= 1;
    }
    product
}

/// Whether a block, highest power first, is zero at 1, x, ..., x^(parity - 1): a code word.
fn is_code_word(block: &[u8], parity: u8) -> bool {
    let mut root = 1;
    (0..parity).all(|_| {
        let value = block.iter().fold(0, |value, &byte| times(value, root) ^ byte);
        root = times(root, 2);
        value == 0
    })
}

/// `count` different places below `len`.
fn places(stream: &mut Stream, count: usize, len: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..len).collect();
    for i in 0..count {
        all.swap(i, i + stream.up_to((len - i - 1) as u32) as usize);
    }
    all.truncate(count);
    all
}

fn damage(stream: &mut Stream, block: &mut [u8], count: usize) {
    for place in places(stream, count, block.len()) {
        block[place] ^= 1 + stream.up_to(254) as u8;
    }
}

fn random(stream: &mut Stream, len: usize) -> Vec<u8> {
    (0..len).map(|_| stream.next_u64() as u8).collect()
}

proptest! {
    #[test]
    fn what_is_encoded_is_a_code_word(seed: u64, half in 0u8..=127, data in 1usize..255) {
        let parity = half * 2;
        let mut stream = Stream::new(seed, 0, "test.code");
        let data = data.min(255 - usize::from(parity));
        let plain = random(&mut stream, data);
        let mut block = plain.clone();
        block.resize(data + usize::from(parity), 0xaa);
        ReedSolomon::new(parity).unwrap().encode(&mut block);
        prop_assert!(block[..data] == plain);
        prop_assert!(is_code_word(&block, parity));
    }

    #[test]
    fn up_to_half_the_parity_is_repaired(seed: u64, half in 0u8..=127, data in 1usize..255, share in 0usize..=100) {
        let parity = half * 2;
        let mut stream = Stream::new(seed, 0, "test.code");
        let code = ReedSolomon::new(parity).unwrap();
        let len = data.min(255 - usize::from(parity)) + usize::from(parity);
        let mut sent = random(&mut stream, len);
        code.encode(&mut sent);
        let mut block = sent.clone();
        let wrong = usize::from(half) * share / 100;
        damage(&mut stream, &mut block, wrong);
        prop_assert_eq!(code.decode(&mut block), Ok(wrong as u8));
        prop_assert!(block == sent);
    }

    /// With more, it fails and leaves the block alone, or finds another code word within its reach.
    #[test]
    fn beyond_that_it_fails_or_finds_another(seed: u64, half in 1u8..=20, data in 1usize..255, more in 1usize..20) {
        let parity = half * 2;
        let mut stream = Stream::new(seed, 0, "test.code");
        let code = ReedSolomon::new(parity).unwrap();
        let len = data.min(255 - usize::from(parity)) + usize::from(parity);
        let mut sent = random(&mut stream, len);
        code.encode(&mut sent);
        let mut block = sent.clone();
        damage(&mut stream, &mut block, (usize::from(half) + more).min(len));
        let came = block.clone();
        match code.decode(&mut block) {
            Err(_) => prop_assert!(block == came),
            Ok(repaired) => {
                prop_assert!(is_code_word(&block, parity));
                let changed = block.iter().zip(&came).filter(|(a, b)| a != b).count();
                prop_assert!(changed == usize::from(repaired) && repaired <= half);
            }
        }
    }

    /// Real bytes and exact account decide alike, whatever is wrong.
    #[test]
    fn both_codecs_agree(
        seed: u64,
        half in 0u8..=42,
        count in 1u16..1_300,
        wrong in prop::collection::vec(0u16..60, 8),
    ) {
        let parity = half * 2;
        let (class, seq) = (TrafficClass::Bulk, SeqNum(1));
        let segment = Segment { class, seq, offset: 0, count, is_last: true, parity };
        let mut stream = Stream::new(seed, 0, "test.code");
        let data = random(&mut stream, usize::from(count));
        let mut codec = BlockCodec::default();
        let mut coded = Vec::new();
        codec.encode(&segment, &data, &mut coded);
        prop_assert_eq!(coded.len(), segment.coded_len() as usize);
        // Half of the cases at the edge of what can be repaired.
        let share = if seed % 2 == 0 { u16::from(half) + 2 } else { 60 };
        let mut wrong: Vec<u16> = wrong.iter().map(|wrong| wrong % share).collect();
        for (block, wrong) in coded.chunks_mut(255).zip(&mut wrong) {
            *wrong = (*wrong).min(block.len() as u16);
            damage(&mut stream, block, usize::from(*wrong));
        }
        let decoded = codec.decode(&segment, &mut coded);
        prop_assert_eq!(decoded, Account.decode(&segment, &mut wrong));
        if decoded != Decoded::Undecodable {
            prop_assert!(coded[..data.len()] == data);
        }
    }
}

/// Beyond t = 6 a full block is taken for another code word about once in 6! = 720 times (McEliece and Swanson 1986:
/// the share of all words that lie within 6 of a code word is 1.28 in a thousand here); the check catches each.
#[test]
fn miscorrections_are_as_many_as_expected_and_all_are_caught() {
    const BLOCKS: u32 = 200_000;
    let (parity, mut stream) = (12, Stream::new(1, 0, "test.miscorrection"));
    let code = ReedSolomon::new(parity).unwrap();
    let plain = random(&mut stream, 243);
    let mut sent = plain.clone();
    sent[239..].copy_from_slice(&crc32(&plain[..239]).to_be_bytes());
    sent.resize(255, 0);
    code.encode(&mut sent);
    let mut miscorrected = 0;
    for _ in 0..BLOCKS {
        let mut block = sent.clone();
        let wrong = 7 + stream.up_to(40) as usize;
        damage(&mut stream, &mut block, wrong);
        if code.decode(&mut block).is_ok() {
            miscorrected += 1;
            assert!(crc32(&block[..239]).to_be_bytes() != block[239..243], "a wrong block passes the check");
        }
    }
    // Words within 6 of a given code word, as a share of all with this syndrome: sum of C(255, i) 255^i over 256^12.
    let share = (0..=6).map(|i| (0..i).fold(1.0, |product, j| product * f64::from(255 - j) / f64::from(j + 1) * 255.0));
    let expected = f64::from(BLOCKS) * share.sum::<f64>() / (1u128 << 96) as f64;
    let deviation = (f64::from(miscorrected) - expected).abs();
    assert!(deviation < 5.0 * expected.sqrt(), "{miscorrected} miscorrected, {expected:.0} expected");
    let by_factorial = f64::from(BLOCKS) / 720.0;
    assert!((0.7..1.1).contains(&(f64::from(miscorrected) / by_factorial)), "{miscorrected} of {BLOCKS}");
}

#[test]
fn impossible_codes_are_refused() {
    assert_eq!(ReedSolomon::new(13).unwrap_err(), Refusal::OddParity(13));
    assert_eq!(ReedSolomon::new(255).unwrap_err(), Refusal::OddParity(255));
    assert!(ReedSolomon::new(254).is_ok());
}

#[test]
fn a_segment_of_another_length_or_code_does_not_decode() {
    let (class, seq) = (TrafficClass::Bulk, SeqNum(1));
    let segment = Segment { class, seq, offset: 0, count: 100, is_last: true, parity: 12 };
    let mut codec = BlockCodec::default();
    let mut coded = Vec::new();
    codec.encode(&segment, &[7; 100], &mut coded);
    assert_eq!(codec.decode(&segment, &mut coded[..115]), Decoded::Undecodable);
    assert_eq!(codec.decode(&Segment { parity: 13, ..segment }, &mut coded), Decoded::Undecodable);
    assert_eq!(codec.decode(&segment, &mut coded), Decoded::Intact { worst: 0 });
}
