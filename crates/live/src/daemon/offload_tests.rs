//! Runs of segments against a naive model: a cut run equals the packets that would have been sent one by one, a joined
//! run cuts into its packets, and no flow's packets overtake each other.

use super::checksum::fold;
use super::coalesce::{Coalescer, Parcel};
use super::inner::{TCP, UDP, summary};
use super::packet::Pool;
use super::segment::finish;
use crate::vnet::{Gso, VNET_LEN, VnetHeader};
use proptest::prelude::*;

/// RFC 1071, word by word.
fn naive(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    words.fold(0, |total, word| u32::from(fold(total + word))) as u16
}

fn checksum(addresses: &[u8], protocol: u8, bytes: &[u8]) -> u16 {
    let length = (bytes.len() as u32).to_be_bytes();
    naive(&[addresses, &length, &[0, 0, 0, protocol], bytes])
}

/// An IP packet with this inside, all checksums right.
fn packet(is_v4: bool, host: u8, id: u16, protocol: u8, mut inside: Vec<u8>) -> Vec<u8> {
    let addresses = if is_v4 {
        vec![10, 0, 0, host, 10, 0, 1, 1]
    } else {
        [[0xfd; 15].to_vec(), vec![host], vec![0xfe; 16]].concat()
    };
    let at = if protocol == TCP { 16 } else { 6 };
    let sum = !checksum(&addresses, protocol, &inside);
    let sum = if protocol == UDP && sum == 0 { 0xffff } else { sum };
    inside[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    let mut head = if is_v4 {
        let length = (20 + inside.len() as u16).to_be_bytes();
        let [high, low] = id.to_be_bytes();
        [&[0x45, 0x02, length[0], length[1], high, low, 0x40, 0, 64, protocol, 0, 0], &addresses[..]].concat()
    } else {
        let length = (inside.len() as u16).to_be_bytes();
        [&[0x60, 0x20, 0, 7, length[0], length[1], protocol, 64], &addresses[..]].concat()
    };
    if is_v4 {
        let sum = !naive(&[&head]);
        head[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    head.extend(inside);
    head
}

/// The fields of a TCP segment.
#[derive(Clone, Debug)]
struct Tcp {
    port: u8,
    number: u32,
    flags: u8,
    options: Vec<u8>,
    carried: Vec<u8>,
}

impl Tcp {
    fn bytes(&self) -> Vec<u8> {
        let number = self.number.to_be_bytes();
        let offset = ((20 + self.options.len()) as u8 / 4) << 4;
        let head = [
            0x30, self.port, 0, 80, number[0], number[1], number[2], number[3], 0, 0, 0, 9, offset, self.flags, 1, 0,
            0, 0, 0, 0,
        ];
        [&head[..], &self.options, &self.carried].concat()
    }
}

fn udp(port: u8, carried: &[u8]) -> Vec<u8> {
    let length = (8 + carried.len() as u16).to_be_bytes();
    [&[0x30, port, 0, 53, length[0], length[1], 0, 0][..], carried].concat()
}

/// All segments of a run.
fn cut(header: &VnetHeader, mut run: Vec<u8>) -> Vec<Vec<u8>> {
    let Some(cut) = finish(header, &mut run).unwrap() else { return vec![run] };
    let segment = |index| {
        let mut out = vec![0xaa; 3];
        cut.write(&run, index, &mut out);
        assert_eq!(out.len() - 3, cut.segment_len(index));
        out.split_off(3)
    };
    (0..cut.count()).map(segment).collect()
}

/// The interface's parcels, cut up again; the checksum of a run must be right as it is.
fn taken(parcel: &Parcel<'_>) -> Vec<Vec<u8>> {
    let bytes = parcel.slices.iter().flat_map(|slice| slice.to_vec()).collect::<Vec<u8>>();
    let header = VnetHeader::parse(&bytes).unwrap();
    let run = bytes[VNET_LEN..].to_vec();
    if header.gso != Gso::None {
        let (at, addresses) = if run[0] >> 4 == 4 { (20, &run[12..20]) } else { (40, &run[8..40]) };
        assert_eq!(checksum(addresses, TCP, &run[at..]), 0xffff);
        assert!(at == 40 || naive(&[&run[..20]]) == 0xffff);
    }
    let packets = cut(&header, run);
    assert_eq!(packets.len() as u64, parcel.packets);
    packets
}

fn carried(most: usize) -> impl Strategy<Value = Vec<u8>> {
    (0..most, any::<u8>()).prop_map(|(length, seed)| (0..length).map(|at| (at * 7) as u8 ^ seed).collect())
}

proptest! {
    #[test]
    fn a_run_is_cut_into_what_would_have_been_sent(
        is_v4: bool, id: u16, number: u32, flags in prop_oneof![Just(0x10u8), Just(0x18), Just(0x19), Just(0x98)],
        options in 0usize..4, payload in 1usize..2_000, data in carried(20_000)
    ) {
        let tcp = |number, flags, carried: &[u8]| Tcp {
            port: 1,
            number,
            flags,
            options: vec![1; options * 4],
            carried: carried.to_vec(),
        };
        let header = VnetHeader {
            needs_checksum: true,
            gso: if is_v4 { Gso::Tcp4 } else { Gso::Tcp6 },
            segment_len: payload as u16,
            ..VnetHeader::default()
        };
        let run = packet(is_v4, 1, id, TCP, tcp(number, flags, &data).bytes());
        let chunks: Vec<&[u8]> = if data.is_empty() { vec![&[]] } else { data.chunks(payload).collect() };
        let expected: Vec<Vec<u8>> = chunks.iter().enumerate().map(|(index, chunk)| {
            let mut own = flags;
            if index > 0 { own &= !0x80; }
            if index + 1 < chunks.len() { own &= !0x09; }
            packet(
                is_v4,
                1,
                id.wrapping_add(index as u16),
                TCP,
                tcp(number.wrapping_add((index * payload) as u32), own, chunk).bytes(),
            )
        }).collect();
        prop_assert_eq!(cut(&header, run), expected);
    }

    #[test]
    fn datagrams_too(is_v4: bool, id: u16, payload in 1usize..2_000, data in carried(20_000)) {
        let header =
            VnetHeader { needs_checksum: true, gso: Gso::Udp, segment_len: payload as u16, ..VnetHeader::default() };
        let run = packet(is_v4, 1, id, UDP, udp(1, &data));
        let chunks: Vec<&[u8]> = if data.is_empty() { vec![&[]] } else { data.chunks(payload).collect() };
        let numbered = chunks.iter().zip(0u16..);
        let expected: Vec<_> =
            numbered.map(|(chunk, index)| packet(is_v4, 1, id.wrapping_add(index), UDP, udp(1, chunk))).collect();
        prop_assert_eq!(cut(&header, run), expected);
    }

    #[test]
    fn a_checksum_is_completed(is_v4: bool, id: u16, data in carried(3_000)) {
        let whole = packet(is_v4, 1, id, UDP, udp(1, &data));
        let start = if is_v4 { 20 } else { 40 };
        let mut partial = whole.clone();
        let addresses = if is_v4 { whole[12..20].to_vec() } else { whole[8..40].to_vec() };
        let length = (whole.len() - start) as u32;
        let beside = naive(&[&addresses, &length.to_be_bytes(), &[0, 0, 0, UDP]]);
        partial[start + 6..start + 8].copy_from_slice(&beside.to_be_bytes());
        let header = VnetHeader {
            needs_checksum: true,
            checksum_start: start as u16,
            checksum_offset: 6,
            ..VnetHeader::default()
        };
        prop_assert_eq!(cut(&header, partial), vec![whole]);
    }

    /// Segments of some flows in any order with gaps, odd lengths, flags, wrong checksums and datagrams between them.
    #[test]
    fn what_is_joined_is_what_came_in_order(
        is_v4: bool,
        steps in prop::collection::vec(
            (0u8..3, 0u8..24, prop_oneof![Just(1_000usize), 0usize..1_001], any::<u8>()),
            1..150,
        )
    ) {
        let (pool, mut coalescer) = (Pool::default(), Coalescer::default());
        let mut next = [(0u32, 0u16); 3];
        let (mut given, mut got) = (vec![Vec::new(); 3], Vec::<Vec<u8>>::new());
        let mut parcels = 0;
        for (flow, kind, length, seed) in steps {
            let (number, id) = &mut next[usize::from(flow)];
            let carried: Vec<u8> = (0..length).map(|at| (at * 13) as u8 ^ seed).collect();
            *number = number.wrapping_add(if kind == 0 { 77 } else { 0 });
            *id = id.wrapping_add(u16::from(kind == 1));
            let flags = match kind { 2 => 0x11, 3 => 0x18, 4 => 0x50, _ => 0x10 };
            let options = if kind == 5 { vec![1, 1, 8, 10, seed, 0, 0, 0, 0, 0, 0, 0] } else { vec![] };
            let tcp = Tcp { port: flow, number: *number, flags, options, carried };
            let mut bytes = if kind == 6 {
                packet(is_v4, flow, *id, UDP, udp(flow, &tcp.carried))
            } else {
                packet(is_v4, flow, *id, TCP, tcp.bytes())
            };
            if kind == 7 {
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
            }
            *number = number.wrapping_add(length as u32);
            *id = id.wrapping_add(1);
            let packet = pool.packet(&bytes, |bytes| summary(bytes)).unwrap();
            given[usize::from(flow)].push(bytes);
            let mut write = |parcel: Parcel<'_>| {
                parcels += 1;
                got.extend(taken(&parcel));
            };
            coalescer.add(packet, &mut write);
            if kind == 8 {
                coalescer.flush(&mut write);
            }
        }
        coalescer.flush(|parcel| got.extend(taken(&parcel)));
        // A flow here is all from one host: its datagrams and segments may pass each other, as they are two.
        for (flow, given) in given.iter().enumerate() {
            let of = |protocol: u8, packets: &[Vec<u8>]| -> Vec<Vec<u8>> {
                let place = |packet: &Vec<u8>| if is_v4 { (packet[9], packet[15]) } else { (packet[6], packet[23]) };
                packets.iter().filter(|packet| place(packet) == (protocol, flow as u8)).cloned().collect()
            };
            prop_assert_eq!(of(TCP, given), of(TCP, &got));
            prop_assert_eq!(of(UDP, given), of(UDP, &got));
        }
    }

    #[test]
    fn any_header_before_any_bytes_is_answered(
        head: [u8; VNET_LEN], first in prop_oneof![Just(0x45u8), Just(0x60), Just(0x4f), any::<u8>()],
        protocol in prop_oneof![Just(TCP), Just(UDP), any::<u8>()],
        gso in prop_oneof![Just(0u8), Just(1), Just(4), Just(5), any::<u8>()],
        mut bytes in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        for (at, byte) in [(0, first), (6, protocol), (9, protocol)] {
            if let Some(place) = bytes.get_mut(at) { *place = byte; }
        }
        let mut head = head;
        head[1] = gso;
        let Some(header) = VnetHeader::parse(&head) else { return Ok(()) };
        let length = bytes.len();
        if let Ok(Some(cut)) = finish(&header, &mut bytes) {
            let mut out = Vec::new();
            (0..cut.count()).for_each(|index| cut.write(&bytes, index, &mut out));
            prop_assert!(out.len() >= length);
        }
        if let Some(packet) = Pool::default().packet(&bytes, |bytes| summary(bytes)) {
            let mut coalescer = Coalescer::default();
            let mut count = 0;
            coalescer.add(packet, |parcel| count += parcel.packets);
            coalescer.flush(|parcel| count += parcel.packets);
            prop_assert_eq!(count, 1);
        }
    }
}

#[test]
fn a_wrong_checksum_stays_wrong() {
    let segment = |number, carried: Vec<u8>| Tcp { port: 1, number, flags: 0x10, options: vec![], carried }.bytes();
    let first = packet(true, 1, 1, TCP, segment(0, vec![1; 1_000]));
    // Of IP, of TCP, and of neither.
    for (damaged, parcels) in [(Some(10), 2), (Some(36), 2), (None, 1)] {
        let mut second = packet(true, 1, 2, TCP, segment(1_000, vec![2; 1_000]));
        if let Some(at) = damaged {
            second[at] ^= 1;
        }
        let (pool, mut coalescer, mut got) = (Pool::default(), Coalescer::default(), Vec::new());
        let mut count = 0;
        for bytes in [&first, &second] {
            coalescer.add(pool.packet(bytes, |bytes| summary(bytes)).unwrap(), |parcel| {
                count += 1;
                got.extend(taken(&parcel));
            });
        }
        coalescer.flush(|parcel| {
            count += 1;
            got.extend(taken(&parcel));
        });
        assert_eq!((count, got), (parcels, vec![first.clone(), second]), "{damaged:?}");
    }
}

#[test]
fn what_is_sent_at_once_arrives_at_once() {
    let tcp = Tcp { port: 1, number: u32::MAX - 5_000, flags: 0x18, options: vec![], carried: vec![7; 20_001] };
    let run = packet(true, 1, 65_530, TCP, tcp.bytes());
    let header = VnetHeader { needs_checksum: true, gso: Gso::Tcp4, segment_len: 1_383, ..VnetHeader::default() };
    let (pool, mut coalescer, mut parcels) = (Pool::default(), Coalescer::default(), Vec::new());
    for segment in cut(&header, run.clone()) {
        let packet = pool.packet(&segment, |bytes| summary(bytes)).unwrap();
        coalescer.add(packet, |parcel| {
            parcels.push(parcel.slices.iter().flat_map(|slice| slice.to_vec()).collect::<Vec<u8>>())
        });
    }
    // The last has PSH: nothing is left to wait for.
    assert_eq!(parcels.len(), 1);
    assert_eq!(parcels[0][VNET_LEN..], run);
}
