//! Captures that Wireshark opens: pcapng, a radiotap header before each 802.11 frame, nanoseconds, named interfaces.
//!
//! draft-ietf-opsawg-pcapng. Writes to whatever it is given and opens no file. Two runs of one seed give the same
//! bytes: no date, no host, no processor's byte order is in them.

use super::dot11::{self, CapturedFrame, Station};
use super::ip::ip_address;
use super::radiotap::{self, Radiotap};
use airbraid_mac::phy::{Preamble, Standard};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};

/// if_tsresol: time stamps are counted in 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Length of the FCS \[byte\].
const FCS: usize = 4;

/// A radio whose frames are captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Name in Wireshark: `sender/ch1`.
    pub name: String,
    pub station: Station,
    pub standard: Standard,
    pub preamble: Preamble,
}

/// A capture that is being written.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    interfaces: Vec<Interface>,
    snap_length: usize,
    /// Buffer, reused for every frame.
    frame: Vec<u8>,
    stored: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of `interfaces`, with the names of the nodes by index, from which addresses are resolved.
    ///
    /// `snap_length` is how much of each frame is stored \[byte\], radiotap header not counted; `None`: all of it. A
    /// frame that is cut keeps its length in the file but loses its FCS, so that Wireshark can check neither FCS nor
    /// TCP checksum; 128 byte keep every header.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn new(
        out: W,
        node_names: &[&str],
        interfaces: Vec<Interface>,
        snap_length: Option<usize>,
    ) -> io::Result<Self> {
        let application = SectionHeaderOption::UserApplication(Cow::Borrowed("airbraid"));
        let section =
            SectionHeaderBlock { endianness: Endianness::Little, options: vec![application], ..Default::default() };
        let mut writer = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        for interface in &interfaces {
            writer.write_pcapng_block(describe(interface)).map_err(io_error)?;
        }
        if !node_names.is_empty() {
            writer.write_pcapng_block(name(node_names)).map_err(io_error)?;
        }
        let snap_length = snap_length.unwrap_or(usize::MAX);
        Ok(Self { writer, interfaces, snap_length, frame: Vec::new(), stored: Vec::new() })
    }

    /// Writes a frame that interface number `interface` sent or received. Frames may come in any order of time.
    ///
    /// # Errors
    /// The interface does not exist, or what the capture goes to cannot be written to.
    pub fn write(&mut self, interface: usize, frame: &CapturedFrame<'_>) -> io::Result<()> {
        let Some(radio) = self.interfaces.get(interface) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such interface"));
        };
        self.frame.clear();
        dot11::append(&mut self.frame, frame);
        let whole = self.frame.len() + FCS;
        if whole <= self.snap_length {
            let fcs = dot11::fcs(&self.frame);
            // A frame that the channel destroyed: which bits, nobody knows; the FCS says that it was destroyed.
            self.frame.extend(if frame.fcs_ok { fcs } else { fcs.map(|byte| !byte) });
        } else {
            self.frame.truncate(self.snap_length);
        }
        self.stored.clear();
        let tap = Radiotap {
            time: frame.time,
            standard: radio.standard,
            preamble: radio.preamble,
            rate: frame.rate,
            channel: frame.channel,
            signal_dbm: frame.signal_dbm,
            fcs_ok: frame.fcs_ok,
        };
        radiotap::append(&mut self.stored, &tap);
        let original = self.stored.len() + whole;
        self.stored.extend_from_slice(&self.frame);
        let block = EnhancedPacketBlock {
            interface_id: interface as u32,
            timestamp: std::time::Duration::from_nanos(frame.time.as_nanos()),
            original_len: original as u32,
            data: Cow::Borrowed(&self.stored),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(block).map_err(io_error)?;
        Ok(())
    }

    /// Ends the capture and returns its writer, not flushed.
    pub fn into_inner(self) -> W {
        self.writer.into_inner()
    }
}

/// The description of an interface.
fn describe(interface: &Interface) -> InterfaceDescriptionBlock<'static> {
    let Station { node, radio } = interface.station;
    let mut block = InterfaceDescriptionBlock::new(DataLink::IEEE802_11_RADIOTAP, 0);
    block.options = vec![
        InterfaceDescriptionOption::IfName(Cow::Owned(interface.name.clone())),
        InterfaceDescriptionOption::IfDescription(Cow::Owned(format!("node {node}, radio {radio}"))),
        InterfaceDescriptionOption::IfMacAddr(Cow::Owned(interface.station.mac_address().to_vec())),
        InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
    ];
    block
}

/// The names of the nodes behind their IP addresses.
fn name(node_names: &[&str]) -> NameResolutionBlock<'static> {
    let records = node_names.iter().zip(0..).map(|(name, index)| {
        let name = Cow::Owned((*name).to_owned());
        Record::Ipv4(Ipv4Record { ip_addr: Cow::Owned(ip_address(index).to_vec()), names: vec![name] })
    });
    NameResolutionBlock { records: records.collect(), options: Vec::new() }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;
