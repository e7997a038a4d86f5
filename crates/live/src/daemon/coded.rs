//! Repair symbols over the daemon's packets: sums of their places and bytes, and the recovery of lost packets from
//! them.
//!
//! The sum is over the bytes on the link: a segment of a run with the headers that it is sent with, a packet that
//! has come without the mark of congestion that was carried over into it.

use super::inner;
use super::packet::{IpPacket, Pool};
use airbraid_engine::Share;
use airbraid_engine::link::fec::erasure::{accumulate, coefficient, inverse};
use airbraid_engine::trunk::bonding::{Coded, FlowSeq, Source};
use airbraid_units::Bytes;

/// The word of a packet's place, before its bytes \[byte\].
pub const WORD: usize = 4;

/// A received packet with its place.
#[derive(Debug)]
pub struct Kept {
    place: FlowSeq,
    packet: IpPacket,
}

/// Adds a packet to a symbol; bytes beyond the end of the symbol are left out.
fn add(symbol: &mut [u8], factor: u8, place: FlowSeq, bytes: &[u8]) {
    let Some((word, rest)) = symbol.split_at_mut_checked(WORD) else { return };
    accumulate(word, factor, &place.word().to_be_bytes());
    let length = bytes.len().min(rest.len());
    accumulate(rest, factor, &bytes[..length]);
}

impl Coded for IpPacket {
    /// A buffer that is no packet.
    type Symbol = IpPacket;
    type Kept = Kept;

    fn keep(&self, place: FlowSeq) -> Kept {
        Kept { place, packet: self.share() }
    }

    fn repair(sources: &[Source<'_, Self>], index: u8) -> IpPacket {
        let longest =
            sources.iter().map(|source| airbraid_engine::Packet::len(source.packet).as_u64()).max().unwrap_or(0);
        let pool = sources.first().map_or_else(Pool::default, |source| source.packet.pool());
        let mut written = Vec::new();
        pool.filled(WORD + longest as usize, |symbol| {
            for (number, source) in sources.iter().enumerate() {
                let factor = coefficient(index, number as u8);
                if source.packet.is_whole() && !source.mark {
                    add(symbol, factor, source.place, source.packet.bytes());
                    continue;
                }
                written.clear();
                source.packet.write(&mut written);
                if source.mark {
                    inner::carry_mark(&mut written, 3);
                }
                add(symbol, factor, source.place, &written);
            }
        })
    }

    fn symbol_len(symbol: &IpPacket) -> Bytes {
        Bytes::new(symbol.bytes().len() as u64)
    }

    fn symbol_footprint(symbol: &IpPacket) -> u64 {
        airbraid_engine::Packet::footprint(symbol)
    }

    fn restore(sources: &[Option<&Kept>], symbols: &mut [(u8, IpPacket)]) -> Vec<(FlowSeq, Self)> {
        let mut patched = Vec::new();
        for (index, symbol) in symbols.iter_mut() {
            for (number, kept) in sources.iter().enumerate().filter_map(|(number, kept)| Some((number, (*kept)?))) {
                let (factor, bytes) = (coefficient(*index, number as u8), kept.packet.bytes());
                if let Some(sent) = kept.packet.sent() {
                    patched.clear();
                    patched.extend_from_slice(sent);
                    patched.extend_from_slice(&bytes[sent.len()..]);
                    add(symbol.bytes_mut(), factor, kept.place, &patched);
                } else {
                    add(symbol.bytes_mut(), factor, kept.place, bytes);
                }
            }
        }
        solve(sources, symbols)
    }
}

/// Solves for the lost packets, from symbols without the parts of the received packets.
fn solve(sources: &[Option<&Kept>], symbols: &[(u8, IpPacket)]) -> Vec<(FlowSeq, IpPacket)> {
    let lost: Vec<u8> = (0..sources.len() as u8).filter(|number| sources[usize::from(*number)].is_none()).collect();
    let indices: Vec<u8> = symbols.iter().map(|(index, _)| *index).collect();
    let Some((_, one)) = symbols.first().filter(|_| lost.len() == indices.len()) else { return Vec::new() };
    let (pool, account) = (one.pool(), one.account());
    let longest = symbols.iter().map(|(_, symbol)| symbol.bytes().len()).max().unwrap_or(0);
    let (mut sum, inverse) = (Vec::new(), inverse(&indices, &lost));
    let restored = inverse.chunks_exact(lost.len()).map(|row| {
        sum.clear();
        sum.resize(longest, 0);
        for (&factor, (_, symbol)) in row.iter().zip(symbols) {
            accumulate(&mut sum, factor, symbol.bytes());
        }
        let (word, bytes) = sum.split_first_chunk::<WORD>()?;
        let packet = inner::without_padding(bytes)?;
        let mut packet = pool.packet(packet, |copy| inner::summary(copy))?;
        if let Some(account) = account {
            packet.charge(account);
        }
        Some((FlowSeq::of_word(u32::from_be_bytes(*word)), packet))
    });
    restored.collect::<Vec<_>>().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 packet of UDP of this length with these bytes in it.
    fn packet(pool: &Pool, length: usize, fill: u8) -> IpPacket {
        let mut bytes = vec![fill; length];
        bytes[..20].copy_from_slice(&[0x45, 2, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        pool.packet(&bytes, |copy| inner::summary(copy)).expect("it is a packet")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn what_is_lost_of_a_group_comes_back(
            lengths in prop::collection::vec((28usize..1_500, any::<u8>(), any::<bool>()), 1..40),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6), seed: u32
        ) {
            let pool = Pool::default();
            let place = |number: usize| FlowSeq::of_word(seed.wrapping_add(number as u32));
            let packets: Vec<IpPacket> = lengths.iter().map(|&(length, fill, _)| packet(&pool, length, fill)).collect();
            let sources: Vec<_> = packets.iter().enumerate()
                .map(|(number, packet)| Source { packet, place: place(number), mark: false }).collect();
            let mut lost: Vec<usize> = picks.iter().map(|pick| pick.index(packets.len())).collect();
            lost.sort_unstable();
            lost.dedup();
            // The middle of what was sent is taken, not always the first symbols; some packets were marked on their
            // way.
            let symbol = |index: usize| (3 * index as u8, IpPacket::repair(&sources, 3 * index as u8));
            let mut symbols: Vec<(u8, IpPacket)> = (0..lost.len()).map(symbol).collect();
            let numbered = packets.iter().zip(&lengths).enumerate();
            let came: Vec<Option<Kept>> = numbered.map(|(number, (packet, &(_, _, is_marked)))| {
                if lost.contains(&number) {
                    return None;
                }
                let mut copy = pool.packet(packet.bytes(), |copy| {
                    inner::carry_mark(copy, if is_marked { 3 } else { 2 });
                    inner::summary(copy)
                })?;
                copy.remember(*packet.bytes().first_chunk().unwrap());
                Some(copy.keep(place(number)))
            }).collect();
            let kept: Vec<Option<&Kept>> = came.iter().map(Option::as_ref).collect();
            let restored = IpPacket::restore(&kept, &mut symbols);
            prop_assert_eq!(restored.len(), lost.len());
            for (number, (at, found)) in lost.into_iter().zip(&restored) {
                prop_assert_eq!(*at, place(number));
                prop_assert_eq!(found.bytes(), packets[number].bytes());
            }
        }
    }

    #[test]
    fn what_comes_out_as_no_packet_is_left_out() {
        let pool = Pool::default();
        let garbage = |length: usize| pool.filled(length, |room| room.fill(0xa5));
        for length in [0, 1, 4, 5, 24, 1_400] {
            assert!(IpPacket::restore(&[None], &mut [(0, garbage(length))]).is_empty(), "{length} byte");
        }
        let kept = packet(&pool, 1_400, 7).keep(FlowSeq::default());
        assert!(IpPacket::restore(&[Some(&kept), None], &mut [(0, garbage(30))]).is_empty());
        // More is missing than there are symbols: the engine does not ask for that.
        assert!(IpPacket::restore(&[None, None], &mut [(0, garbage(30))]).is_empty());
    }
}
