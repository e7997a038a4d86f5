//! Cuts a packet that is too long for its peer into fragments, where its sender permits that: IPv4 without DF (RFC 791,
//! section 3.2).
//!
//! And IPv6 up to its least MTU of 1280 byte, which every link must carry (RFC 8200, section 5): over a path that takes
//! less inside, a packet goes as the fragments that its sender would have made of it (section 4.5), and its receiver
//! puts them together.

use super::checksum::{fold, sum};
use super::inner::{V4_HEADER, V6_HEADER};

/// IPv6's least MTU (RFC 8200, section 5) \[byte\].
pub const V6_LEAST: usize = 1_280;
/// Length of an IPv6 fragment header \[byte\], and its number (RFC 8200, section 4.5).
const FRAGMENT_HEADER: usize = 8;
const FRAGMENT: u8 = 44;
/// Headers that come before it: hop-by-hop options, routing, and those that may stand between them.
const BEFORE: [u8; 3] = [0, 43, 60];
/// Fragments begin at multiples of this \[byte\].
const UNIT: usize = 8;

/// The fragments of a packet, each of at most `mtu` byte; `None` if it must not be cut, or need not. Those of IPv6 get
/// this number.
pub fn fragments(packet: &[u8], mtu: usize, number: u32) -> Option<Vec<Vec<u8>>> {
    if packet.len() <= mtu {
        return None;
    }
    match packet.first()? >> 4 {
        4 => of_v4(packet, mtu),
        6 if packet.len() <= V6_LEAST => of_v6(packet, mtu, number),
        _ => None,
    }
}

/// The parts of a payload: offset, bytes, and whether more follow.
fn parts(payload: &[u8], room: usize) -> Option<impl Iterator<Item = (usize, &[u8], bool)>> {
    let most = room / UNIT * UNIT;
    let count = if most == 0 { return None } else { payload.len().div_ceil(most) };
    Some(payload.chunks(most).enumerate().map(move |(index, part)| (index * most / UNIT, part, index + 1 < count)))
}

fn of_v4(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let header = packet.get(..usize::from(packet[0] & 15) * 4).filter(|header| header.len() >= V4_HEADER)?;
    let word = u16::from_be_bytes([header[6], header[7]]);
    // DF.
    if word & 0x4000 != 0 {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let payload = packet.get(header.len()..length)?;
    let (first, is_followed) = (word & 0x1fff, word & 0x2000 != 0);
    let cut = parts(payload, mtu.checked_sub(header.len())?)?.map(|(at, part, is_more)| {
        let mut fragment = header.to_vec();
        let more = if is_more || is_followed { 0x2000 } else { 0 };
        fragment[2..4].copy_from_slice(&((header.len() + part.len()) as u16).to_be_bytes());
        fragment[6..8]
            .copy_from_slice(&((word & 0x8000) | more | (first.wrapping_add(at as u16) & 0x1fff)).to_be_bytes());
        if at > 0 {
            leave_out_options(&mut fragment[V4_HEADER..]);
        }
        fragment[10..12].fill(0);
        let checksum = !fold(sum(&fragment, 0));
        fragment[10..12].copy_from_slice(&checksum.to_be_bytes());
        fragment.extend_from_slice(part);
        fragment
    });
    Some(cut.collect())
}

/// Blanks the options that only the first fragment has (RFC 791, section 3.1).
fn leave_out_options(options: &mut [u8]) {
    let mut at = 0;
    while at < options.len() {
        let length = match options[at] {
            0 => return,
            1 => 1,
            _ => options.get(at + 1).map_or(usize::MAX, |length| usize::from(*length).max(2)),
        };
        let end = at.saturating_add(length).min(options.len());
        if options[at] & 0x80 == 0 {
            options[at..end].fill(1);
        }
        at = end;
    }
}

fn of_v6(packet: &[u8], mtu: usize, number: u32) -> Option<Vec<Vec<u8>>> {
    let (header, body) = packet.split_at_checked(V6_HEADER)?;
    let body = body.get(..usize::from(u16::from_be_bytes([header[4], header[5]])))?;
    if BEFORE.contains(&header[6]) {
        return None;
    }
    // A fragment is cut further, and stays one of its packet.
    let own = body.first_chunk::<FRAGMENT_HEADER>().filter(|_| header[6] == FRAGMENT);
    let (next, word, number, payload) = match own {
        Some(own) => {
            let number = u32::from_be_bytes([own[4], own[5], own[6], own[7]]);
            (own[0], u16::from_be_bytes([own[2], own[3]]), number, &body[FRAGMENT_HEADER..])
        }
        None => (header[6], 0, number, body),
    };
    let cut = parts(payload, mtu.checked_sub(V6_HEADER + FRAGMENT_HEADER)?)?.map(|(at, part, is_more)| {
        let mut fragment = header.to_vec();
        fragment[4..6].copy_from_slice(&((FRAGMENT_HEADER + part.len()) as u16).to_be_bytes());
        fragment[6] = FRAGMENT;
        fragment.extend([next, 0]);
        let more = u16::from(is_more) | word & 1;
        fragment.extend((((word >> 3).wrapping_add(at as u16)) << 3 | more).to_be_bytes());
        fragment.extend(number.to_be_bytes());
        fragment.extend_from_slice(part);
        fragment
    });
    Some(cut.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn v4(payload: &[u8], flags: u16, options: &[u8]) -> Vec<u8> {
        let header = V4_HEADER + options.len();
        let mut packet = vec![0x40 | (header / 4) as u8, 0];
        packet.extend(((header + payload.len()) as u16).to_be_bytes());
        packet.extend([7, 7]);
        packet.extend(flags.to_be_bytes());
        packet.extend([64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(options);
        packet.extend(payload);
        packet
    }

    fn v6(payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([17, 64]);
        packet.extend([0xfd; 32]);
        packet.extend(payload);
        packet
    }

    /// The reassembled payload of fragments, and their numbers.
    fn together(fragments: &[Vec<u8>]) -> (Vec<u8>, Vec<u32>) {
        let (mut payload, mut numbers) = (vec![], vec![]);
        for (index, fragment) in fragments.iter().enumerate() {
            let is_last = index + 1 == fragments.len();
            let (offset, more, body) = if fragment[0] >> 4 == 4 {
                let header = usize::from(fragment[0] & 15) * 4;
                assert_eq!(fold(sum(&fragment[..header], 0)), 0xffff);
                numbers.push(u32::from(fragment[4]));
                let word = u16::from_be_bytes([fragment[6], fragment[7]]);
                (usize::from(word & 0x1fff) * 8, word & 0x2000 != 0, &fragment[header..])
            } else {
                assert_eq!((fragment[6], fragment[40]), (44, 17));
                numbers.push(u32::from_be_bytes(fragment[44..48].try_into().unwrap()));
                let word = u16::from_be_bytes([fragment[42], fragment[43]]);
                (usize::from(word >> 3) * 8, word & 1 != 0, &fragment[48..])
            };
            assert_eq!((offset, more), (payload.len(), !is_last));
            payload.extend(body);
        }
        (payload, numbers)
    }

    proptest! {
        #[test]
        fn fragments_make_the_packet_again(length in 1usize..4_000, mtu in 68usize..1_500, again in 0usize..200) {
            let payload: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let packet = v4(&payload, 0, &[]);
            let Some(cut) = fragments(&packet, mtu, 9) else {
                prop_assert!(packet.len() <= mtu);
                return Ok(());
            };
            // A narrower path cuts them again.
            let narrower = mtu.saturating_sub(again).max(68);
            let twice: Vec<Vec<u8>> =
                cut.iter().flat_map(|one| fragments(one, narrower, 9).unwrap_or_else(|| vec![one.clone()])).collect();
            for (all, most) in [(&cut, mtu), (&twice, narrower)] {
                prop_assert!(all.iter().all(|one| one.len() <= most));
                let (whole, numbers) = together(all);
                prop_assert_eq!(&whole, &payload);
                prop_assert!(numbers.iter().all(|number| *number == 7));
            }
        }

        #[test]
        fn those_of_ipv6_too(length in 1usize..1_240, mtu in 400usize..1_280, again in 0usize..300) {
            let payload: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let packet = v6(&payload);
            let Some(cut) = fragments(&packet, mtu, 0x0102_0304) else {
                prop_assert!(packet.len() <= mtu);
                return Ok(());
            };
            let narrower = mtu - again;
            let twice: Vec<Vec<u8>> =
                cut.iter().flat_map(|one| fragments(one, narrower, 9).unwrap_or_else(|| vec![one.clone()])).collect();
            for all in [&cut, &twice] {
                let (whole, numbers) = together(all);
                prop_assert_eq!(&whole, &payload);
                prop_assert!(numbers.iter().all(|number| *number == 0x0102_0304));
            }
        }

        #[test]
        fn any_bytes_are_answered(
            first in prop_oneof![Just(0x45u8), Just(0x4f), Just(0x60), any::<u8>()],
            rest in prop::collection::vec(any::<u8>(), 0..300),
            mtu in 0usize..200,
        ) {
            let _ = fragments(&[&[first], &rest[..]].concat(), mtu, 1);
        }
    }

    #[test]
    fn what_must_not_be_cut_is_not() {
        assert_eq!(fragments(&v4(&[0; 800], 0x4000, &[]), 500, 1), None, "DF");
        assert_eq!(fragments(&v6(&[0; 1_300]), 500, 1), None, "its sender knows how");
        let mut hop_by_hop = v6(&[0; 900]);
        hop_by_hop[6] = 0;
        assert_eq!(fragments(&hop_by_hop, 500, 1), None);
    }

    #[test]
    fn options_of_the_first_fragment_stay_there() {
        // A timestamp (68), which is not copied, and a security option (130), which is.
        let packet = v4(&[0; 600], 0, &[68, 4, 5, 0, 130, 4, 1, 2]);
        let cut = fragments(&packet, 500, 1).unwrap();
        assert_eq!(cut[0][20..28], [68, 4, 5, 0, 130, 4, 1, 2]);
        assert_eq!(cut[1][20..28], [1, 1, 1, 1, 130, 4, 1, 2]);
    }
}
