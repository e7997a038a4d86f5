//! The packets inside, as far as the daemon reads and writes them: addresses, the flow, its class, DSCP and ECN, the
//! MSS of TCP's first segments, and answers to packets that are too long.
//!
//! Packets come from programs and from peers: nothing here trusts a length, and what is no packet is told by `None`.
//! Sources: RFC 791, RFC 8200, RFC 9293 (section 3.7.1), RFC 6040, RFC 2474, RFC 3246, RFC 4594, RFC 1191, RFC 4443.

use super::checksum::{adjust, fold, sum};
use airbraid_engine::TrafficClass;
use std::net::IpAddr;

/// Numbers of protocols (IANA).
pub const TCP: u8 = 6;
/// Number of UDP (IANA).
pub const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMP6: u8 = 58;
/// Length of an IPv4 header without options \[byte\].
pub const V4_HEADER: usize = 20;
/// Length of an IPv6 header \[byte\].
pub const V6_HEADER: usize = 40;
/// Length of a TCP header without options \[byte\].
const TCP_HEADER: usize = 20;
/// Longest quotation in an ICMP error, so that no path is too narrow for it: 576 byte in all (RFC 1812, section
/// 4.3.2.3), and the 1280 byte of IPv6 (RFC 4443, section 2.4).
const V4_ERROR: usize = 576;
const V6_ERROR: usize = 1_280;

/// The fields of a packet that the daemon uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// The DSCP and ECN byte: TOS, traffic class.
    pub tos: u8,
    /// A small number that the packets of a flow share, in both directions.
    pub bucket: u16,
    /// The class of the flow.
    pub class: TrafficClass,
    /// Whether it is a TCP segment that only acknowledges.
    pub is_acknowledgement: bool,
    /// Number of its service; 0 for none.
    pub service: u8,
}

/// Reads a packet; `None` if it is no valid IP packet.
pub fn summary(packet: &[u8]) -> Option<Summary> {
    let (header, protocol) = header(packet)?;
    let (source, destination, tos) = match packet[0] >> 4 {
        4 => (v4(packet, 12)?.into(), v4(packet, 16)?.into(), packet[1]),
        _ => (v6(packet, 8)?.into(), v6(packet, 24)?.into(), packet[0] << 4 | packet[1] >> 4),
    };
    let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
    let is_whole = !is_later_fragment(packet);
    let ports = if is_whole && matches!(protocol, TCP | UDP) { packet.get(header..header + 4) } else { None };
    let ports = ports.unwrap_or_default();
    let (from, to) = (addresses.split_at(addresses.len() / 2), ports.split_at(ports.len() / 2));
    let mut ends = [(from.0, to.0), (from.1, to.1)];
    ends.sort_unstable();
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = ends.iter().flat_map(|(address, port)| address.iter().chain(*port)).fold(0x811c_9dc5, mix);
    let hash = mix(hash, &protocol);
    let (bucket, is_acknowledgement) = ((hash ^ (hash >> 16)) as u16, is_acknowledgement(packet));
    Some(Summary { source, destination, tos, bucket, class: class(tos), is_acknowledgement, service: 0 })
}

/// The protocol of a packet, and the ports of one that shows them; `None` if it is no valid IP packet.
pub fn ports(packet: &[u8]) -> Option<(u8, Option<[u16; 2]>)> {
    let (header, protocol) = header(packet)?;
    let are_there = matches!(protocol, TCP | UDP) && !is_later_fragment(packet);
    let bytes = packet.get(header..).and_then(|rest| rest.first_chunk::<4>()).filter(|_| are_there);
    Some((protocol, bytes.map(|&[a, b, c, d]| [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])))
}

/// The packet at the beginning of these bytes, by its header's length, if only zeros follow.
pub fn without_padding(bytes: &[u8]) -> Option<&[u8]> {
    header(bytes)?;
    let word = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let length = if bytes[0] >> 4 == 4 { word(2) } else { V6_HEADER + word(4) };
    let (packet, padding) = bytes.split_at_checked(length)?;
    (header(packet).is_some() && padding.iter().all(|&byte| byte == 0)).then_some(packet)
}

fn v4(packet: &[u8], at: usize) -> Option<[u8; 4]> {
    packet.get(at..at + 4)?.try_into().ok()
}

fn v6(packet: &[u8], at: usize) -> Option<[u8; 16]> {
    packet.get(at..at + 16)?.try_into().ok()
}

/// The length of the header and the protocol behind it; IPv6's further headers are not read.
fn header(packet: &[u8]) -> Option<(usize, u8)> {
    match packet.first()? >> 4 {
        4 => {
            let length = usize::from(packet[0] & 15) * 4;
            (length >= V4_HEADER && packet.len() >= length).then(|| (length, packet[9]))
        }
        6 => (packet.len() >= V6_HEADER).then(|| (V6_HEADER, packet[6])),
        _ => None,
    }
}

/// Whether it is an IPv4 fragment but the first: it has no ports.
fn is_later_fragment(packet: &[u8]) -> bool {
    packet[0] >> 4 == 4 && (packet[6] & 0x1f != 0 || packet[7] != 0)
}

/// The class of a DSCP: EF and VOICE-ADMIT, CS4 to CS7, AF4x (telephony, conferencing, network control) are real-time.
fn class(tos: u8) -> TrafficClass {
    match tos >> 2 {
        32 | 34 | 36 | 38 | 40 | 44 | 46 | 48 | 56 => TrafficClass::RealTime,
        _ => TrafficClass::Bulk,
    }
}

/// Whether it opens a TCP connection, and so may have an MSS option.
pub fn is_opening(packet: &[u8]) -> bool {
    let flags = |at: usize| packet.get(at + 13).is_some_and(|flags| flags & 2 != 0);
    matches!(header(packet), Some((at, TCP)) if !is_later_fragment(packet) && flags(at))
}

/// Whether it is a TCP segment without data, SYN, FIN, RST and URG.
pub fn is_acknowledgement(packet: &[u8]) -> bool {
    let Some((header, TCP)) = header(packet).filter(|_| !is_later_fragment(packet)) else { return false };
    // The flags but those of ECN (RFC 9293, section 3.1): ACK alone.
    matches!(packet.get(header + 12..header + 14), Some(&[offset, flags])
        if flags & 0x3f == 0x10 && packet.len() == header + usize::from(offset >> 4) * 4)
}

/// Whether a pure acknowledgement tells all that an older one tells: of the same connection, of more bytes, with the
/// same marks and flags, without a gap or what arrived twice (SACK, RFC 2018).
pub fn supersedes(newer: &[u8], older: &[u8]) -> bool {
    let tcp = |packet: &[u8]| header(packet).filter(|_| is_acknowledgement(packet)).map(|(at, _)| at);
    let (Some(new), Some(old)) = (tcp(newer), tcp(older)) else { return false };
    let number = |packet: &[u8], tcp: usize| v4(packet, tcp + 8).map_or(0, u32::from_be_bytes);
    let advance = number(newer, new).wrapping_sub(number(older, old)).cast_signed();
    advance > 0 && told(newer, new) == told(older, old) && !has_sack(&newer[new..]) && !has_sack(&older[old..])
}

/// Returns what acknowledgements of a row have in common: version and TOS, addresses, ports, flags with the offset.
fn told(packet: &[u8], tcp: usize) -> [&[u8]; 4] {
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    [&packet[..2], &packet[addresses], &packet[tcp..tcp + 4], &packet[tcp + 12..tcp + 14]]
}

/// Whether a TCP header has the option of selective acknowledgements, or options that are none.
fn has_sack(tcp: &[u8]) -> bool {
    let mut options = tcp.get(TCP_HEADER..).unwrap_or_default();
    loop {
        match *options {
            [] | [0, ..] => return false,
            [1, ref rest @ ..] => options = rest,
            [5, ..] | [_] => return true,
            [_, length, ..] => match options.get(usize::from(length).max(2)..) {
                Some(rest) => options = rest,
                None => return true,
            },
        }
    }
}

/// Lowers the MSS in a TCP SYN, so that segments fit into `mtu` byte with their headers. Returns whether it had to.
pub fn clamp_mss(packet: &mut [u8], mtu: u32) -> bool {
    let Some((header, _)) = header(packet).filter(|_| is_opening(packet)) else { return false };
    let Some(tcp) = packet.get(header..).filter(|tcp| tcp.len() >= TCP_HEADER) else { return false };
    let options = usize::from(tcp[12] >> 4) * 4;
    if options < TCP_HEADER || tcp.len() < options {
        return false;
    }
    let ip = if packet[0] >> 4 == 4 { V4_HEADER } else { V6_HEADER };
    let most = u16::try_from((mtu as usize).saturating_sub(ip + TCP_HEADER)).unwrap_or(u16::MAX);
    let mut at = header + TCP_HEADER;
    let end = header + options;
    while at < end {
        match (packet[at], packet.get(at + 1).copied()) {
            (0, _) => return false,
            (1, _) => at += 1,
            (2, Some(4)) if at + 4 <= end => {
                let old = u16::from_be_bytes([packet[at + 2], packet[at + 3]]);
                if old <= most {
                    return false;
                }
                packet[at + 2..at + 4].copy_from_slice(&most.to_be_bytes());
                // A word at an odd place is summed with its bytes exchanged.
                let [old, new] =
                    if (at - header).is_multiple_of(2) { [old, most] } else { [old.swap_bytes(), most.swap_bytes()] };
                adjust(packet, header + 16, old, new);
                return true;
            }
            (_, Some(length)) if length >= 2 => at += usize::from(length),
            _ => return false,
        }
    }
    false
}

/// The TOS of the outer header for a packet of this TOS: the same (RFC 6040, section 4.1, normal mode; RFC 2983, the
/// uniform model).
pub const fn outer_tos(tos: u8) -> u8 {
    tos
}

/// Copies a congestion mark from the outer header into the packet (RFC 6040, section 4.2). Returns false if the packet
/// must be dropped: it cannot be marked.
pub fn carry_mark(packet: &mut [u8], outer: u8) -> bool {
    let Some(&first) = packet.first() else { return true };
    let (word_at, shift) = if first >> 4 == 4 { (0, 0) } else { (0, 4) };
    let Some(old) = packet.get(word_at..word_at + 2).map(|word| u16::from_be_bytes([word[0], word[1]])) else {
        return true;
    };
    let inner = (old >> shift & 3) as u8;
    let new_mark = match (inner, outer & 3) {
        (0, 3) => return false,
        (1 | 2, 3) => 3,
        // ECT(1) outside an ECT(0): the weaker mark of a marking scheme with two levels.
        (2, 1) => 1,
        _ => return true,
    };
    let new = old & !(3 << shift) | new_mark << shift;
    packet[word_at..word_at + 2].copy_from_slice(&new.to_be_bytes());
    if first >> 4 == 4 {
        adjust(packet, 10, old, new);
    }
    true
}

/// The ICMP error that tells the sender of a packet that only `mtu` byte fit, from `from`; `None` if such a packet gets
/// no answer: it may be fragmented on its way, or is an ICMP error itself.
pub fn too_big(packet: &[u8], mtu: u32, from: IpAddr) -> Option<Vec<u8>> {
    let (header, protocol) = header(packet)?;
    match (packet[0] >> 4, from) {
        (4, IpAddr::V4(from)) => {
            let may_fragment = packet[6] & 0x40 == 0;
            let is_error = protocol == ICMP && !matches!(packet.get(header), Some(0 | 8 | 13 | 14));
            if may_fragment || is_error || is_later_fragment(packet) {
                return None;
            }
            let quoted = &packet[..packet.len().min(V4_ERROR - V4_HEADER - 8)];
            // Destination unreachable, fragmentation needed.
            let mut message = vec![3, 4, 0, 0, 0, 0];
            message.extend(u16::try_from(mtu).unwrap_or(u16::MAX).to_be_bytes());
            message.extend(quoted);
            let checksum = !fold(sum(&message, 0));
            message[2..4].copy_from_slice(&checksum.to_be_bytes());
            let mut answer = vec![0x45, 0xc0];
            answer.extend(((V4_HEADER + message.len()) as u16).to_be_bytes());
            answer.extend([0, 0, 0, 0, 64, ICMP, 0, 0]);
            answer.extend(from.octets());
            answer.extend(&packet[12..16]);
            let checksum = !fold(sum(&answer, 0));
            answer[10..12].copy_from_slice(&checksum.to_be_bytes());
            answer.extend(message);
            Some(answer)
        }
        (6, IpAddr::V6(from)) => {
            if protocol == ICMP6 && packet.get(header).is_none_or(|kind| *kind < 128) {
                return None;
            }
            let quoted = &packet[..packet.len().min(V6_ERROR - V6_HEADER - 8)];
            let mut message = vec![2, 0, 0, 0];
            message.extend(mtu.to_be_bytes());
            message.extend(quoted);
            let (source, destination) = (from.octets(), v6(packet, 8)?);
            let pseudo = sum(&source, sum(&destination, message.len() as u32 + u32::from(ICMP6)));
            let checksum = !fold(sum(&message, pseudo));
            message[2..4].copy_from_slice(&checksum.to_be_bytes());
            let mut answer = vec![0x6c, 0, 0, 0];
            answer.extend((message.len() as u16).to_be_bytes());
            answer.extend([ICMP6, 64]);
            answer.extend(source);
            answer.extend(destination);
            answer.extend(message);
            Some(answer)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A SYN with a timestamp option of one byte too few before the MSS, so that this is at an odd place.
    fn syn(is_v4: bool, mss: u16, is_odd: bool) -> Vec<u8> {
        let mut options = vec![];
        if is_odd {
            options.push(1);
        }
        options.extend([2, 4]);
        options.extend(mss.to_be_bytes());
        while options.len() % 4 != 0 {
            options.push(1);
        }
        let mut tcp = vec![0x30, 0x39, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0xff, 0xff, 0, 0, 0, 0];
        tcp[12] = ((20 + options.len()) as u8 / 4) << 4;
        tcp.extend(options);
        let (source, destination): (Vec<u8>, Vec<u8>) =
            if is_v4 { (vec![10, 0, 0, 1], vec![10, 0, 0, 2]) } else { (vec![0xfd; 16], vec![0xfe; 16]) };
        let pseudo = sum(&source, sum(&destination, u32::from(TCP) + tcp.len() as u32));
        let checksum = !fold(sum(&tcp, pseudo));
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        let mut packet = if is_v4 {
            let mut head = vec![0x45, 0x02, 0, 20 + tcp.len() as u8, 1, 2, 0x40, 0, 64, TCP, 0, 0];
            head.extend([&source[..], &destination].concat());
            let checksum = !fold(sum(&head, 0));
            head[10..12].copy_from_slice(&checksum.to_be_bytes());
            head
        } else {
            let mut head = vec![0x60, 0x20, 0, 0, 0, tcp.len() as u8, TCP, 64];
            head.extend([&source[..], &destination].concat());
            head
        };
        packet.extend(tcp);
        packet
    }

    /// Whether IPv4's and TCP's checksums hold.
    fn is_sound(packet: &[u8]) -> bool {
        let (header, _) = header(packet).unwrap();
        let addresses = if packet[0] >> 4 == 4 { &packet[12..20] } else { &packet[8..40] };
        let tcp = &packet[header..];
        let pseudo = sum(addresses, u32::from(TCP) + tcp.len() as u32);
        (packet[0] >> 4 == 6 || fold(sum(&packet[..header], 0)) == 0xffff) && fold(sum(tcp, pseudo)) == 0xffff
    }

    #[test]
    fn an_mss_is_lowered_and_never_raised() {
        for (is_v4, is_odd) in [(true, false), (true, true), (false, false), (false, true)] {
            let headers = if is_v4 { 40 } else { 60 };
            let mut packet = syn(is_v4, 1_460, is_odd);
            assert!(is_sound(&packet));
            assert!(clamp_mss(&mut packet, 1_400));
            assert!(is_sound(&packet), "v4 {is_v4} odd {is_odd}");
            assert_eq!(packet, syn(is_v4, 1_400 - headers, is_odd));
            assert!(!clamp_mss(&mut packet, 1_400) && !clamp_mss(&mut packet, 9_000));
            let header = header(&packet).unwrap().0;
            packet[header + 13] = 0x10;
            assert!(!clamp_mss(&mut packet, 600), "only what opens a connection says an MSS");
        }
    }

    #[test]
    fn marks_are_carried_over_as_rfc_6040_says() {
        // Rows: inner Not-ECT, ECT(1), ECT(0), CE; columns: outer likewise; 9: dropped.
        let table = [[0, 0, 0, 9], [1, 1, 1, 3], [2, 1, 2, 3], [3, 3, 3, 3]];
        for is_v4 in [true, false] {
            for (inner, row) in table.iter().enumerate() {
                for (outer, expected) in row.iter().enumerate() {
                    let mut packet = syn(is_v4, 1_460, false);
                    if is_v4 {
                        packet[1] = 0xb8 | inner as u8;
                        packet[10..12].fill(0);
                        let checksum = !fold(sum(&packet[..20], 0));
                        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
                    } else {
                        packet[1] = (inner as u8) << 4 | 5;
                    }
                    let kept = carry_mark(&mut packet, 0x40 | outer as u8);
                    assert_eq!(kept, *expected != 9, "{inner} {outer}");
                    if kept {
                        assert_eq!(summary(&packet).unwrap().tos & 3, *expected, "{inner} {outer}");
                        assert!(is_sound(&packet));
                    }
                }
            }
        }
    }

    #[test]
    fn a_packet_that_is_too_long_is_answered_unless_it_may_be_cut_up() {
        let packet = syn(true, 1_460, false);
        let answer = too_big(&packet, 1_200, [10, 9, 9, 9].into()).unwrap();
        let told = summary(&answer).unwrap();
        assert_eq!((told.source, told.destination), ([10, 9, 9, 9].into(), [10, 0, 0, 1].into()));
        assert_eq!(&answer[20..22], [3, 4]);
        assert_eq!(&answer[26..28], 1_200u16.to_be_bytes());
        assert_eq!(&answer[28..], packet);
        assert!(fold(sum(&answer[..20], 0)) == 0xffff && fold(sum(&answer[20..], 0)) == 0xffff);
        assert!(too_big(&answer, 600, [10, 9, 9, 9].into()).is_none(), "no error is answered by another");
        let mut may_fragment = packet;
        may_fragment[6] = 0;
        assert!(too_big(&may_fragment, 1_200, [10, 9, 9, 9].into()).is_none());
        let packet = syn(false, 1_440, false);
        let answer = too_big(&packet, 1_280, [0xfc; 16].into()).unwrap();
        assert_eq!((answer[40], &answer[44..48]), (2, &1_280u32.to_be_bytes()[..]));
        assert_eq!(&answer[48..], packet);
        let pseudo = sum(&answer[8..40], u32::from(ICMP6) + answer.len() as u32 - 40);
        assert!(fold(sum(&answer[40..], pseudo)) == 0xffff);
        assert!(too_big(&answer, 600, [0xfc; 16].into()).is_none());
    }

    #[test]
    fn classes_and_flows() {
        let (voice, bulk) = (class(46 << 2), class(0));
        assert_eq!((voice, bulk, class(8 << 2 | 3)), (TrafficClass::RealTime, TrafficClass::Bulk, TrafficClass::Bulk));
        let packet = syn(true, 1_460, false);
        let mut other = packet.clone();
        other[21] ^= 1;
        assert_ne!(summary(&packet).unwrap().bucket, summary(&other).unwrap().bucket);
        assert_eq!(summary(&packet).unwrap().bucket, summary(&syn(true, 1_200, true)).unwrap().bucket);
        other[7] = 1;
        let later = summary(&other).unwrap().bucket;
        other[21] ^= 2;
        assert_eq!(summary(&other).unwrap().bucket, later, "a later fragment has no ports");
    }

    #[test]
    fn both_directions_of_a_flow_share_a_bucket() {
        for is_v4 in [true, false] {
            let (packet, mut answer) = (syn(is_v4, 1_460, false), syn(is_v4, 1_460, false));
            let (first, second, tcp) = if is_v4 { (12, 16, V4_HEADER) } else { (8, 24, V6_HEADER) };
            let length = second - first;
            answer[first..second].copy_from_slice(&packet[second..second + length]);
            answer[second..second + length].copy_from_slice(&packet[first..second]);
            let bucket = |packet: &[u8]| summary(packet).unwrap().bucket;
            assert_ne!(bucket(&packet), bucket(&answer), "the ports are not exchanged");
            answer[tcp..tcp + 4].rotate_left(2);
            assert_eq!(bucket(&packet), bucket(&answer));
        }
    }

    /// An acknowledgement of `number` with these flags and options.
    fn ack(is_v4: bool, number: u32, flags: u8, options: &[u8]) -> Vec<u8> {
        let mut packet = syn(is_v4, 1_460, false);
        let tcp = if is_v4 { V4_HEADER } else { V6_HEADER };
        packet.truncate(tcp + TCP_HEADER);
        packet.extend(options);
        packet[tcp + 8..tcp + 12].copy_from_slice(&number.to_be_bytes());
        packet[tcp + 12] = ((TCP_HEADER + options.len()) as u8 / 4) << 4;
        packet[tcp + 13] = flags;
        packet
    }

    #[test]
    fn an_acknowledgement_of_more_supersedes_one_that_tells_nothing_else() {
        let stamps = |n: u8| [1, 1, 8, 10, 0, 0, 0, n, 0, 0, 0, n];
        let gap = [1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 10];
        for is_v4 in [true, false] {
            let older = ack(is_v4, 1_000, 0x10, &stamps(1));
            let newer = ack(is_v4, 2_000, 0x10, &stamps(2));
            assert!(supersedes(&newer, &older) && !supersedes(&older, &newer) && !supersedes(&older, &older));
            assert!(supersedes(&ack(is_v4, 5, 0x10, &[]), &ack(is_v4, u32::MAX - 5, 0x10, &[])), "numbers wrap");
            assert!(
                !supersedes(&ack(is_v4, 2_000, 0x10, &gap), &older) && !supersedes(&newer, &ack(is_v4, 1, 0x10, &gap))
            );
            assert!(!supersedes(&ack(is_v4, 2_000, 0x50, &stamps(2)), &older), "congestion was met (ECE)");
            assert!(!supersedes(&ack(is_v4, 2_000, 0x11, &stamps(2)), &older), "it ends");
            assert!(
                !supersedes(&ack(is_v4, 2_000, 0x10, &[8, 0, 1, 1]), &ack(is_v4, 1, 0x10, &[8, 99, 1, 1])),
                "no options"
            );
            for at in [if is_v4 { 15 } else { 23 }, if is_v4 { V4_HEADER } else { V6_HEADER } + 1] {
                let mut other = newer.clone();
                other[at] ^= 1;
                assert!(!supersedes(&other, &older), "another connection: byte {at}");
            }
        }
    }

    #[test]
    fn what_only_acknowledges_is_told_from_what_opens_carries_or_ends() {
        for is_v4 in [true, false] {
            let mut packet = syn(is_v4, 1_460, false);
            let flags = if is_v4 { V4_HEADER } else { V6_HEADER } + 13;
            assert!(!is_acknowledgement(&packet), "it opens");
            for (flag, only) in
                [(0x10, true), (0x50, true), (0x90, true), (0x18, false), (0x11, false), (0x14, false), (0, false)]
            {
                packet[flags] = flag;
                assert_eq!(is_acknowledgement(&packet), only, "{flag:#x}");
            }
            packet[flags] = 0x10;
            assert!(summary(&packet).unwrap().is_acknowledgement);
            let cut = packet.len() - 1;
            assert!(!is_acknowledgement(&packet[..cut]), "it ends within its header");
            packet.push(0);
            assert!(!is_acknowledgement(&packet), "it carries a byte");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..120),
            first in prop_oneof![Just(0x45u8), Just(0x60), Just(0x4f), any::<u8>()],
            protocol in prop_oneof![Just(TCP), any::<u8>()],
            mtu in 0u32..3_000,
        ) {
            if let Some(byte) = bytes.first_mut() {
                *byte = first;
            }
            for at in [6, 9] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = protocol;
                }
            }
            let length = bytes.len();
            let _ = (summary(&bytes), too_big(&bytes, mtu, [1; 4].into()), too_big(&bytes, mtu, [1; 16].into()));
            let _ = supersedes(&bytes, &bytes);
            let _ = (clamp_mss(&mut bytes, mtu), carry_mark(&mut bytes, first));
            prop_assert_eq!(bytes.len(), length);
        }
    }
}
