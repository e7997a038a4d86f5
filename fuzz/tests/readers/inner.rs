//! Packets that programs and peers give the daemon: any bytes are answered, and nothing but the intended bytes is
//! changed.

use airbraid_live::daemon::offload::summary;
use airbraid_live::daemon::readers::{carry_mark, clamp_mss, is_acknowledgement, is_opening, too_big, without_padding};
use std::net::IpAddr;

#[test]
fn any_packet() {
    bolero::check!().with_type::<(u8, u8, u8, u16, [Vec<u8>; 3])>().for_each(|(first, protocol, outer, mtu, bytes)| {
        let mut bytes = bytes.concat();
        // By chance alone hardly any bytes would be a packet.
        if let Some(byte) = bytes.first_mut() {
            *byte = [0x45, 0x46, 0x60, 0x4f, *first][usize::from(first % 5)];
        }
        for at in [6, 9] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [6, 17, 1, 58, 0, *protocol][usize::from(protocol % 6)];
            }
        }
        let found = summary(&bytes);
        let (opens, acknowledges) = (is_opening(&bytes), is_acknowledgement(&bytes));
        assert!(found.is_some() || !opens && !acknowledges);
        assert!(found.is_none_or(|found| found.is_acknowledgement == acknowledges));
        assert!(without_padding(&bytes).is_none_or(|packet| packet.len() <= bytes.len() && summary(packet).is_some()));
        for from in ["10.0.0.1", "fd00::1"] {
            let from: IpAddr = from.parse().expect("an address");
            if let Some(answer) = too_big(&bytes, u32::from(*mtu), from) {
                // An answer is a packet to who has sent, never longer than what every path takes.
                assert!(answer.len() <= 1_280);
                let (answer, asked) = (summary(&answer).expect("a packet"), found.expect("what was answered"));
                assert_eq!((answer.source, answer.destination), (from, asked.source));
            }
        }
        let mut clamped = bytes.clone();
        if clamp_mss(&mut clamped, u32::from(*mtu)) {
            assert!(opens);
            let different = clamped.iter().zip(&bytes).filter(|(now, before)| now != before).count();
            assert!(different <= 4, "the MSS and the checksum");
            assert!(!clamp_mss(&mut clamped, u32::from(*mtu)), "once is enough");
        }
        let mut marked = bytes.clone();
        if !carry_mark(&mut marked, *outer) {
            assert_eq!(marked, bytes);
        }
        assert_eq!(marked.len(), bytes.len());
    });
}
