//! The kernel's runs of segments: any header before any bytes is answered, and joining and cutting restore the input.

use airbraid_live::daemon::offload::{Coalescer, Parcel, Pool, finish, summary};
use airbraid_live::vnet::{Gso, VNET_LEN, VnetHeader};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// All segments of a run; `None` if it is refused.
fn cut(header: &VnetHeader, mut run: Vec<u8>) -> Option<Vec<Vec<u8>>> {
    let Some(cut) = finish(header, &mut run).ok()? else { return Some(vec![run]) };
    let segment = |index| {
        let mut out = Vec::new();
        cut.write(&run, index, &mut out);
        assert_eq!(out.len(), cut.segment_len(index));
        out
    };
    Some((0..cut.count()).map(segment).collect())
}

/// Joins packets as if one turn had brought them, and cuts the interface's packets.
fn join_and_cut(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (pool, mut coalescer, mut got) = (Pool::default(), Coalescer::default(), Vec::new());
    let mut take = |parcel: Parcel<'_>| {
        let bytes = parcel.slices.iter().flat_map(|slice| slice.to_vec()).collect::<Vec<u8>>();
        let header = VnetHeader::parse(&bytes).expect("what is written has a header");
        let packets = cut(&header, bytes[VNET_LEN..].to_vec()).expect("what is written is no nonsense");
        assert_eq!(packets.len() as u64, parcel.packets);
        got.extend(packets);
    };
    for bytes in packets {
        // What is no packet does not come so far.
        if let Some(packet) = pool.packet(bytes, |bytes| summary(bytes)) {
            coalescer.add(packet, &mut take);
        }
    }
    coalescer.flush(take);
    got
}

#[test]
fn any_header_before_any_bytes() {
    bolero::check!().with_type::<(u8, u8, u8, [u8; VNET_LEN], Vec<u8>)>().for_each(
        |(gso, first, protocol, head, bytes)| {
            let (mut head, mut bytes) = (*head, bytes.clone());
            head[1] = [0, 1, 4, 5, *gso][usize::from(*gso) % 5];
            // By chance alone hardly any bytes would be a packet.
            for (at, byte) in [(0, [0x45, 0x60, *first]), (6, [TCP, UDP, *protocol]), (9, [TCP, UDP, *protocol])] {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte[usize::from(*first) % 3];
                }
            }
            let Some(header) = VnetHeader::parse(&head) else { return };
            let Some(segments) = cut(&header, bytes.clone()) else { return };
            let is_v4 = bytes.first().is_some_and(|first| first >> 4 == 4);
            let protocol = if is_v4 { bytes.get(9) } else { bytes.get(6) };
            match header.gso {
                Gso::None => assert_eq!(segments.len(), 1),
                Gso::Tcp4 => assert!(is_v4 && protocol == Some(&TCP)),
                Gso::Tcp6 => assert!(!is_v4 && protocol == Some(&TCP)),
                Gso::Udp => assert_eq!(protocol, Some(&UDP)),
            }
            // Nothing is lost, and each has the headers.
            assert!(segments.iter().map(Vec::len).sum::<usize>() >= bytes.len());
            join_and_cut(&segments);
        },
    );
}

/// A run of TCP as the kernel gives it; its checksums are still to be made.
fn run(is_v4: bool, id: u16, number: u32, flags: u8, options: u8, data: &[u8]) -> Vec<u8> {
    let options = vec![1; usize::from(options % 11) * 4];
    let offset = ((20 + options.len()) as u8 / 4) << 4;
    let [a, b, c, d] = number.to_be_bytes();
    let tcp = [0x30, 1, 0, 80, a, b, c, d, 0, 0, 0, 9, offset, flags, 1, 0, 0, 0, 0, 0];
    let inside = [&tcp[..], &options, data].concat();
    let [high, low] = id.to_be_bytes();
    let head = if is_v4 {
        vec![0x45, 2, 0, 0, high, low, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
    } else {
        [&[0x60, 0, 0, 7, 0, 0, TCP, 64][..], &[0xfd; 16], &[0xfe; 16]].concat()
    };
    [head, inside].concat()
}

#[test]
fn what_is_joined_and_cut_is_what_went_in() {
    type Wanted = (bool, u16, u32, u8, u8, u16, Vec<u8>, u16);
    type Damage = Vec<(u16, u8, u8)>;
    bolero::check!().with_type::<(Wanted, Damage)>().for_each(|(wanted, damage)| {
        let (is_v4, id, number, flags, options, payload, seed, length) = wanted;
        let data: Vec<u8> = seed
            .iter()
            .copied()
            .cycle()
            .take(if seed.is_empty() { 0 } else { usize::from(*length) % 40_000 })
            .collect();
        let header = VnetHeader {
            needs_checksum: true,
            gso: if *is_v4 { Gso::Tcp4 } else { Gso::Tcp6 },
            segment_len: payload % 2_000 + 1,
            ..VnetHeader::default()
        };
        let run = run(*is_v4, *id, *number, *flags, *options, &data);
        let mut segments = cut(&header, run).expect("it is a run");
        assert_eq!(join_and_cut(&segments), segments);
        // The same with some that are not what they were: they may be of other flows then, and those may pass each
        // other.
        for (which, at, bits) in damage {
            let which = usize::from(*which) % segments.len();
            let segment = &mut segments[which];
            let at = usize::from(*at) % segment.len();
            segment[at] ^= bits;
        }
        let is_packet = |bytes: &Vec<u8>| summary(bytes).is_some();
        let mut expected: Vec<Vec<u8>> = segments.iter().filter(|bytes| is_packet(bytes)).cloned().collect();
        let mut got = join_and_cut(&segments);
        expected.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, expected);
    });
}
