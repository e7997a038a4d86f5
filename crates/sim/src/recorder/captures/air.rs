//! The frames on the air: a frame's bytes are made once, when its radio commits to it, for all that hear it.

mod ppdu;

use super::body::BodyWriter;
use super::link::append_polled;
use crate::record::dot11::{self, MacHeader, MacKind};
use crate::record::pcapng::{Captured, Direction};
use crate::record::radiotap::{ChannelField, ModeTap, Radiotap, Subframe};
use crate::recorder::stations::Stations;
use crate::scenario::spec::Mac;
use crate::world::{FrameEvent, Msdu, Packets, RadioId};
use airbraid_mac::edca::{BEACON_INTERVAL_TU, MpduSet};
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

/// The bytes of an MPDU that is on the air.
#[derive(Debug, Default)]
struct Unit {
    /// The frame without its FCS, perhaps cut.
    bytes: Vec<u8>,
    /// The FCS, where the frame is whole.
    fcs: Option<[u8; FCS]>,
    original: usize,
    /// Its place in an A-MPDU.
    place: Subframe,
}

impl Unit {
    /// Ends a frame behind whose bytes there are `zeros`.
    fn finish(&mut self, zeros: usize, is_dot11: bool) {
        self.original = self.bytes.len() + zeros;
        if self.original <= SNAP_LENGTH {
            self.bytes.resize(self.original, 0);
            self.fcs = is_dot11.then(|| dot11::fcs(&self.bytes));
        } else {
            self.bytes.truncate(SNAP_LENGTH);
            self.fcs = None;
        }
        self.original += if is_dot11 { FCS } else { 0 };
    }
}

/// A transmission: one MPDU or several.
#[derive(Debug, Default)]
struct Transmission {
    start: Instant,
    units: Vec<Unit>,
    /// Number of them that are of this transmission; the others are buffers of earlier ones.
    count: usize,
    tap: Radiotap,
    /// The header in front of MPDUs in a format of 802.11n and later.
    mode: Option<ModeTap>,
}

impl Transmission {
    /// The next MPDU, without bytes.
    fn next(&mut self) -> &mut Unit {
        if self.units.len() == self.count {
            self.units.push(Unit::default());
        }
        self.count += 1;
        let unit = &mut self.units[self.count - 1];
        unit.bytes.clear();
        unit.place = Subframe::default();
        unit
    }
}

/// The MPDUs of a transmission that came without an error.
#[derive(Clone, Copy, Debug)]
pub enum Intact<'a> {
    All,
    Nothing,
    Some(&'a MpduSet),
}

impl Intact<'_> {
    fn contains(self, place: usize) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Some(set) => set.contains(place),
        }
    }
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
    /// Number of A-MPDUs so far, by which their parts are told to belong together.
    aggregates: u32,
}

impl Air {
    pub fn new(stations: &Stations<'_>) -> Self {
        let radio = |station| {
            let radio = stations.radio(station);
            let phy = radio.mac.phy().copied();
            let is_fixed = !matches!(radio.mac, Mac::Slotted(_));
            let field = |phy: Phy| match radio.spectrum.filter(|_| matches!(radio.mac, Mac::Edca(_))) {
                Some(spectrum) => ChannelField::of_ofdm(spectrum.channel.primary_centre_mhz()),
                None => ChannelField::new(phy.standard, radio.channel),
            };
            let channel = phy.filter(|_| is_fixed).map(field);
            CapturedRadio { phy, channel, last: Default::default() }
        };
        let radios = stations.stations.iter().map(|station| radio(*station)).collect();
        Self { radios, upcoming: Vec::new(), aggregates: 0 }
    }

    /// A radio is committed to a frame.
    pub fn begin(&mut self, event: &FrameEvent<'_>, bodies: &BodyWriter<'_>, stations: &Stations<'_>) {
        let radio = &mut self.radios[event.radio.index()];
        radio.last.rotate_right(1);
        let sent = &mut radio.last[0];
        (sent.start, sent.count, sent.mode) = (event.start, 0, None);
        match (&radio.phy, event.ppdu) {
            (Some(phy), Some(ppdu)) => {
                sent.tap = Radiotap::new(phy, event.frame.rate);
                self.aggregates += 1;
                ppdu::append(sent, ppdu, (event, self.aggregates), bodies, stations);
            }
            (Some(phy), None) => {
                sent.tap = Radiotap::new(phy, event.frame.rate);
                let unit = sent.next();
                let zeros = append(&mut unit.bytes, event, bodies, stations);
                unit.finish(zeros, true);
            }
            (None, _) => {
                let unit = sent.next();
                let zeros = append_polled(&mut unit.bytes, event.frame, event.packets, bodies, stations);
                unit.finish(zeros, false);
            }
        }
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
        (signal_dbm, intact): (Option<f64>, Intact<'_>),
        channel: impl Fn(Phy) -> ChannelField,
        mut write: impl FnMut(&Captured<'_>),
    ) {
        let own = self.radios[radio.index()].channel;
        let CapturedRadio { phy, last, .. } = &mut self.radios[from.index()];
        let Some(sent) = last.iter_mut().find(|sent| sent.start <= start) else { return };
        let direction = if signal_dbm.is_some() { Direction::Inbound } else { Direction::Outbound };
        let channel = phy.map(|phy| own.unwrap_or_else(|| channel(phy)));
        for (place, unit) in sent.units[..sent.count].iter().enumerate() {
            let fcs_ok = intact.contains(place);
            // A frame that the channel destroyed: which bits, nobody knows; the FCS says that it was destroyed.
            let fcs = unit.fcs.map(|fcs| if fcs_ok { fcs } else { fcs.map(|byte| !byte) });
            let fcs = fcs.as_ref().map_or(&[][..], |fcs| &fcs[..]);
            let tap = match (channel, &mut sent.mode) {
                (Some(channel), Some(mode)) => mode.bytes(start, channel, (signal_dbm, fcs_ok), &unit.place),
                (Some(channel), None) => sent.tap.bytes(start, channel, signal_dbm, fcs_ok),
                (None, _) => &[],
            };
            let original = tap.len() + unit.original;
            write(&Captured { interface: 0, time: end, direction, pieces: [tap, &unit.bytes, fcs], original });
        }
    }
}

/// Appends a frame of 802.11 without its FCS to `out`; returns the number of zeros behind it.
fn append(out: &mut Vec<u8>, event: &FrameEvent<'_>, bodies: &BodyWriter<'_>, stations: &Stations<'_>) -> usize {
    let frame = event.frame;
    dot11::append_header(out, &header(frame, stations));
    if frame.kind == FrameKind::Beacon {
        /// Header and FCS.
        const AROUND: usize = 24 + 4;
        let length = (frame.size.as_u64() as usize).saturating_sub(AROUND);
        let (time, element) = (event.start.as_nanos() / 1_000, stations.multi_link(frame.from));
        dot11::append_beacon(out, time, BEACON_INTERVAL_TU, element, length);
        return 0;
    }
    if frame.kind == FrameKind::MuRts {
        /// The FCS.
        const BEHIND: usize = 4;
        // Padding is a user info of AID 4095 and whatever follows (9.3.1.22.1).
        out.resize((frame.size.as_u64() as usize).saturating_sub(BEHIND), 0xff);
        return 0;
    }
    let Some(msdu) = &frame.payload else { return 0 };
    llc_and_body(out, msdu, event.packets, (frame.from, frame.to), (bodies, stations))
}

/// Appends an MSDU to `out`; returns the number of zeros behind it.
fn llc_and_body(
    out: &mut Vec<u8>,
    msdu: &Msdu,
    packets: &Packets,
    ends: (Address, Address),
    (bodies, stations): (&BodyWriter<'_>, &Stations<'_>),
) -> usize {
    // LLC and SNAP come before the body, but depend on it.
    let at = out.len();
    out.extend([0; 8]);
    let appended = bodies.append(out, msdu, packets, ends, stations);
    out[at..at + 8].copy_from_slice(&dot11::llc(appended.ether_type));
    appended.zeros
}

fn header(frame: &Frame<Msdu>, stations: &Stations<'_>) -> MacHeader {
    let kind = match frame.kind {
        FrameKind::Rts => MacKind::Rts,
        FrameKind::MuRts => MacKind::MuRts,
        // A CRN says to all what a CTS says: a capture has no other word for it.
        FrameKind::Cts | FrameKind::Crn => MacKind::Cts,
        FrameKind::Ack => MacKind::Ack,
        FrameKind::Beacon => MacKind::Beacon { seq: frame.sequence },
        // The others are of MACs that are not 802.11's.
        FrameKind::Data
        | FrameKind::PollData
        | FrameKind::DataAck { .. }
        | FrameKind::Invite
        | FrameKind::Join
        | FrameKind::BlockAck
        | FrameKind::BlockAckRequest
        | FrameKind::AddbaRequest
        | FrameKind::AddbaResponse => MacKind::Data {
            bss: stations.bss(frame),
            power_management: frame.power_management,
            seq: frame.sequence,
            retry: frame.retry,
            has_body: frame.payload.is_some(),
            qos: None,
        },
    };
    MacHeader {
        kind,
        src: stations.of(frame.from),
        dst: (frame.to != Address::BROADCAST).then(|| stations.of(frame.to)),
        duration_us: u16::try_from(frame.nav.as_micros()).unwrap_or(u16::MAX),
    }
}
