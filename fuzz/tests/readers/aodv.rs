//! AODV's messages: any bytes are answered, and accepted ones equal those that would be emitted.

use airbraid_net::aodv::wire::{emit, parse};

#[test]
fn any_message() {
    bolero::check!().with_type::<(u8, Vec<u8>)>().for_each(|(kind, bytes)| {
        let mut bytes = bytes.clone();
        // Kinds and lengths that exist are not found by chance.
        if let (true, Some(head)) = (kind & 0x80 != 0, bytes.first_chunk_mut::<4>()) {
            head[0] = kind % 4;
            (head[1], head[2]) = (head[1] & [0, 0x38, 0, 0x80][usize::from(kind % 4)], 0);
            if kind % 4 == 3 {
                head[3] %= 7;
            }
            let length = [bytes.len(), 24, 20, 4 + 8 * usize::from(bytes[3])][usize::from(kind % 4)];
            bytes.resize(length, *kind);
        }
        if let Ok(message) = parse(&bytes) {
            assert!(emit(&message) == bytes);
        }
    });
}
