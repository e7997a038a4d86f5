//! Codes that correct: any block is answered, small damage is repaired, and symbols restored for a peer are bytes that
//! it has sent.

use airbraid_engine::link::fec::ReedSolomon;
use std::sync::LazyLock;

const PARITIES: [u8; 4] = [2, 8, 16, 32];
static CODES: LazyLock<Vec<ReedSolomon>> =
    LazyLock::new(|| PARITIES.into_iter().map(|parity| ReedSolomon::new(parity).expect("even and small")).collect());

#[test]
fn any_block() {
    bolero::check!().with_type::<(u8, [Vec<u8>; 4])>().for_each(|(which, bytes)| {
        let code = &CODES[usize::from(*which) % CODES.len()];
        let mut block = bytes.concat();
        block.truncate(255);
        if block.len() < usize::from(code.parity()) {
            return;
        }
        let before = block.clone();
        match code.decode(&mut block) {
            // What it is repaired to is a code word, near enough.
            Ok(repaired) => {
                assert!(repaired <= code.parity() / 2);
                let different = before.iter().zip(&block).filter(|(before, now)| before != now).count();
                assert_eq!(different, usize::from(repaired));
                assert_eq!(code.decode(&mut block), Ok(0));
            }
            Err(_) => assert_eq!(block, before),
        }
    });
}

#[test]
fn damaged_blocks() {
    bolero::check!().with_type::<(u8, [Vec<u8>; 3], Vec<(u8, u8)>)>().for_each(|(which, bytes, damage)| {
        let code = &CODES[usize::from(*which) % CODES.len()];
        let mut block = bytes.concat();
        block.resize(block.len() + usize::from(code.parity()), 0);
        code.encode(&mut block);
        let sent = block.clone();
        for (place, bits) in damage.iter().take(usize::from(code.parity()) / 2) {
            let place = usize::from(*place) % block.len();
            block[place] ^= bits;
        }
        assert!(code.decode(&mut block).is_ok());
        assert_eq!(block, sent);
    });
}
