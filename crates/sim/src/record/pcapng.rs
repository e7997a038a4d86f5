//! Captures that Wireshark opens: pcapng with named interfaces, nanoseconds, and the direction of each packet.
//!
//! draft-ietf-opsawg-pcapng. Writes to whatever it is given and opens no file. Two runs of one seed give the same
//! bytes: no date, no host, no processor's byte order is in them. Blocks of packets are put together here, without an
//! allocation for each; those at the beginning by the crate `pcap-file`.

use airbraid_units::Instant;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::Write;

/// if_tsresol: time stamps are counted in 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Type of an Enhanced Packet Block, its length without data, and its option epb_flags with the end of options.
const PACKET_BLOCK: u32 = 6;
const PACKET_BLOCK_LEN: usize = 32;
const FLAGS_OPTION: [u8; 4] = [2, 0, 4, 0];
const OPTIONS_LEN: usize = 12;
/// Bytes that are gathered before they are written.
const CHUNK: usize = 64 << 10;

/// The headers that packets of an interface begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// LINKTYPE_IEEE802_11_RADIOTAP.
    Radiotap,
    /// LINKTYPE_RAW: IP.
    Ip,
    /// LINKTYPE_USER0: our own link layers (`docs/reference/captures.md`).
    Own,
}

impl LinkType {
    const fn number(self) -> DataLink {
        match self {
            Self::Radiotap => DataLink::IEEE802_11_RADIOTAP,
            Self::Ip => DataLink::RAW,
            Self::Own => DataLink::USER0,
        }
    }
}

/// An interface whose packets are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name in Wireshark: `sender/ch1`.
    pub name: String,
    pub description: String,
    pub link_type: LinkType,
    pub mac_address: Option<[u8; 6]>,
}

/// The direction of a packet at its interface, as epb_flags has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// A packet at an interface.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Number of the interface.
    pub interface: usize,
    pub time: Instant,
    pub direction: Direction,
    /// Its bytes, perhaps cut, in several pieces.
    pub pieces: [&'a [u8]; 3],
    /// Its whole length \[byte\].
    pub original: usize,
}

/// A capture that is being written. Its writer is taken not to fail.
#[derive(Debug)]
pub struct Capture<W: Write> {
    out: W,
    chunk: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of `interfaces`, with names for IP addresses and a comment for whoever opens it.
    pub fn new(out: W, names: &[([u8; 4], String)], interfaces: &[Interface], comment: &str) -> Self {
        let mut chunk = Vec::with_capacity(CHUNK + CHUNK / 8);
        // A vector does not fail, and neither do blocks without a wrong length.
        let _ = begin(&mut chunk, names, interfaces, comment);
        Self { out, chunk }
    }

    /// Writes a packet.
    pub fn write(&mut self, packet: &Captured<'_>) {
        let len: usize = packet.pieces.iter().map(|piece| piece.len()).sum();
        let padding = len.next_multiple_of(4) - len;
        let total = (PACKET_BLOCK_LEN + len + padding + OPTIONS_LEN) as u32;
        let time = packet.time.as_nanos();
        let mut head = [0; PACKET_BLOCK_LEN - 4];
        let words = [
            PACKET_BLOCK,
            total,
            packet.interface as u32,
            (time >> 32) as u32,
            time as u32,
            len as u32,
            packet.original as u32,
        ];
        for (place, word) in head.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut tail = [0; OPTIONS_LEN + 4];
        tail[..4].copy_from_slice(&FLAGS_OPTION);
        tail[4] = packet.direction as u8;
        tail[OPTIONS_LEN..].copy_from_slice(&total.to_le_bytes());
        self.chunk.reserve(total as usize);
        self.chunk.extend_from_slice(&head);
        packet.pieces.iter().for_each(|piece| self.chunk.extend_from_slice(piece));
        self.chunk.extend_from_slice(&[0; 3][..padding]);
        self.chunk.extend_from_slice(&tail);
        if self.chunk.len() >= CHUNK {
            self.put();
        }
    }

    fn put(&mut self) {
        // A recording's sink does not fail.
        let _ = self.out.write_all(&self.chunk);
        self.chunk.clear();
    }

    /// Ends the capture, and flushes.
    pub fn finish(mut self) -> W {
        self.put();
        // A recording's sink does not fail.
        let _ = self.out.flush();
        self.out
    }
}

/// The blocks before the first packet.
fn begin(
    out: &mut Vec<u8>,
    names: &[([u8; 4], String)],
    interfaces: &[Interface],
    comment: &str,
) -> Result<(), PcapError> {
    let application = SectionHeaderOption::UserApplication(Cow::Borrowed("airbraid"));
    let options = vec![application, SectionHeaderOption::Comment(Cow::Owned(comment.to_owned()))];
    let section = SectionHeaderBlock { endianness: Endianness::Little, options, ..Default::default() };
    let mut writer = PcapNgWriter::with_section_header(out, section)?;
    for interface in interfaces {
        writer.write_pcapng_block(describe(interface))?;
    }
    if !names.is_empty() {
        let record = |(address, name): &([u8; 4], String)| {
            let names = vec![Cow::Owned(name.clone())];
            Record::Ipv4(Ipv4Record { ip_addr: Cow::Owned(address.to_vec()), names })
        };
        let records = names.iter().map(record).collect();
        writer.write_pcapng_block(NameResolutionBlock { records, options: Vec::new() })?;
    }
    Ok(())
}

/// The description of an interface.
fn describe(interface: &Interface) -> InterfaceDescriptionBlock<'static> {
    let mut block = InterfaceDescriptionBlock::new(interface.link_type.number(), 0);
    block.options = vec![
        InterfaceDescriptionOption::IfName(Cow::Owned(interface.name.clone())),
        InterfaceDescriptionOption::IfDescription(Cow::Owned(interface.description.clone())),
    ];
    let address =
        interface.mac_address.map(|address| InterfaceDescriptionOption::IfMacAddr(Cow::Owned(address.to_vec())));
    block.options.extend(address);
    block.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
    block
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;
