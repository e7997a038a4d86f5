//! The frames on the air: a frame's bytes are made once, when its radio commits to it, for all that hear it.

use super::body::BodyWriter;
use super::link::append_polled;
use crate::record::dot11::{self, MacHeader, MacKind};
use crate::record::pcapng::{Captured, Direction};
use crate::record::radiotap::{ChannelField, Radiotap};
use crate::recorder::stations::Stations;
use crate::scenario::spec::Mac;
use crate::world::{FrameEvent, Msdu, RadioId};
use airbraid_mac::phy::Phy;
use airbraid_mac::{Address, Frame, FrameKind};
use airbraid_units::Instant;

/// Bytes of each frame that a capture keeps: all headers. Of a longer one no zeros that stand for payload are kept.
pub const SNAP_LENGTH: usize = 256;
/// Length of the FCS \[byte\].
const FCS: usize = 4;
/// Transmissions of a radio that may still arrive somewhere: it commits to its next before its last has reached the
/// farthest hearer, but not to the one after.
const IN_FLIGHT: usize = 4;

/// The bytes of a frame that is on the air.
#[derive(Debug, Default)]
struct Transmission {
    start: Instant,
    /// The frame without its FCS, perhaps cut.
    bytes: Vec<u8>,
    /// The FCS, where the frame is whole.
    fcs: Option<[u8; FCS]>,
    original: usize,
    tap: Radiotap,
}

/// A radio as captures know it.
#[derive(Debug)]
struct CapturedRadio {
    /// The PHY; `None`: it is not one of 802.11.
    phy: Option<Phy>,
    /// The channel; `None`: it depends on the frame.
    channel: Option<ChannelField>,
    /// The last transmissions, newest first.
    last: [Transmission; IN_FLIGHT],
}

/// The frames on the air.
#[derive(Debug)]
pub struct Air {
    radios: Vec<CapturedRadio>,
    /// Ends of own frames that are not written yet, the earliest last.
    upcoming: Vec<(Instant, RadioId, Instant)>,
}

impl Air {
    pub fn new(stations: &Stations<'_>) -> Self {
        let radio = |station| {
            let radio = stations.radio(station);
            let phy = radio.mac.phy().copied();
            let is_fixed = !matches!(radio.mac, Mac::Slotted(_));
            let channel = phy.filter(|_| is_fixed).map(|phy| ChannelField::new(phy.standard, radio.channel));
            CapturedRadio { phy, channel, last: Default::default() }
        };
        Self { radios: stations.stations.iter().map(|station| radio(*station)).collect(), upcoming: Vec::new() }
    }

    /// A radio is committed to a frame.
    pub fn begin(&mut self, event: &FrameEvent<'_>, bodies: &BodyWriter<'_>, stations: &Stations<'_>) {
        let radio = &mut self.radios[event.radio.index()];
        radio.last.rotate_right(1);
        let Transmission { start, bytes, fcs, original, tap } = &mut radio.last[0];
        bytes.clear();
        *start = event.start;
        *fcs = None;
        let zeros = match &radio.phy {
            Some(phy) => {
                *tap = Radiotap::new(phy, event.frame.rate);
                append(bytes, event, bodies, stations)
            }
            None => append_polled(bytes, event.frame, event.packets, bodies, stations),
        };
        *original = bytes.len() + zeros;
        if *original <= SNAP_LENGTH {
            bytes.resize(*original, 0);
            *fcs = radio.phy.map(|_| dot11::fcs(bytes));
        } else {
            bytes.truncate(SNAP_LENGTH);
        }
        *original += if radio.phy.is_some() { FCS } else { 0 };
        let place = self.upcoming.partition_point(|(end, ..)| *end > event.end);
        self.upcoming.insert(place, (event.end, event.radio, event.start));
    }

    /// The next own frame that has ended by `now`: its radio, and when it began and ended.
    pub fn next_ended(&mut self, now: Instant) -> Option<(RadioId, Instant, Instant)> {
        let (end, radio, start) = self.upcoming.pop_if(|(end, ..)| *end <= now)?;
        Some((radio, start, end))
    }

    /// Writes a frame that a radio has sent or heard, with its power there \[dBm\].
    ///
    /// `at` has where it comes from, and when it began and ended at the radio.
    pub fn write(
        &mut self,
        radio: RadioId,
        (from, start, end): (RadioId, Instant, Instant),
        (signal_dbm, fcs_ok): (Option<f64>, bool),
        channel: impl FnOnce(Phy) -> ChannelField,
        write: impl FnOnce(&Captured<'_>),
    ) {
        let own = self.radios[radio.index()].channel;
        let CapturedRadio { phy, last, .. } = &mut self.radios[from.index()];
        let Some(sent) = last.iter_mut().find(|sent| sent.start <= start) else { return };
        // A frame that the channel destroyed: which bits, nobody knows; the FCS says that it was destroyed.
        let fcs = sent.fcs.map(|fcs| if fcs_ok { fcs } else { fcs.map(|byte| !byte) });
        let fcs = fcs.as_ref().map_or(&[][..], |fcs| &fcs[..]);
        let direction = if signal_dbm.is_some() { Direction::Inbound } else { Direction::Outbound };
        let tap = match phy {
            Some(phy) => sent.tap.bytes(start, own.unwrap_or_else(|| channel(*phy)), signal_dbm, fcs_ok),
            None => &[],
        };
        let original = tap.len() + sent.original;
        write(&Captured { interface: 0, time: end, direction, pieces: [tap, &sent.bytes, fcs], original });
    }
}

/// Appends a frame of 802.11 without its FCS to `out`; returns the number of zeros behind it.
fn append(out: &mut Vec<u8>, event: &FrameEvent<'_>, bodies: &BodyWriter<'_>, stations: &Stations<'_>) -> usize {
    let frame = event.frame;
    dot11::append_header(out, &header(frame, stations));
    let Some(msdu) = &frame.payload else { return 0 };
    // LLC and SNAP come before the body, but depend on it.
    let at = out.len();
    out.extend([0; 8]);
    let appended = bodies.append(out, msdu, event.packets, (frame.from, frame.to), stations);
    out[at..at + 8].copy_from_slice(&dot11::llc(appended.ether_type));
    appended.zeros
}

fn header(frame: &Frame<Msdu>, stations: &Stations<'_>) -> MacHeader {
    let kind = match frame.kind {
        FrameKind::Rts => MacKind::Rts,
        // A CRN says to all what a CTS says: a capture has no other word for it.
        FrameKind::Cts | FrameKind::Crn => MacKind::Cts,
        FrameKind::Ack => MacKind::Ack,
        // The others are of MACs that are not 802.11's.
        FrameKind::Data
        | FrameKind::PollData
        | FrameKind::DataAck { .. }
        | FrameKind::Invite
        | FrameKind::Join
        | FrameKind::BlockAck
        | FrameKind::BlockAckRequest
        | FrameKind::Agreement => MacKind::Data {
            bss: stations.bss(frame),
            power_management: frame.power_management,
            seq: frame.sequence,
            retry: frame.retry,
            has_body: frame.payload.is_some(),
        },
    };
    MacHeader {
        kind,
        src: stations.of(frame.from),
        dst: (frame.to != Address::BROADCAST).then(|| stations.of(frame.to)),
        duration_us: u16::try_from(frame.nav.as_micros()).unwrap_or(u16::MAX),
    }
}
