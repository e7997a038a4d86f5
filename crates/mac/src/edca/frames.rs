//! PPDUs of EDCA stations as descriptors: a list of MPDUs, or a control frame that has more to say than a header.
//!
//! A PPDU is made once, by its sender, and shared by all who handle it: the medium, the receiver that keeps MPDUs of it
//! for the sake of order, and the sender until it is acknowledged. Nothing is allocated for an MPDU.

use crate::frame::{Frame, FrameKind};
use crate::phy::{Modulation, Rate};
use crate::ppdu::{Format, Mode};
use airbraid_units::{BitRate, Bytes, Duration};

/// Number of sequence numbers (9.2.4.4.2).
pub(super) const SEQUENCES: u16 = 4_096;
/// Largest window of a block acknowledgement agreement: that of 802.11be.
pub const WINDOW_MAX: u16 = 1_024;
const WORDS: usize = WINDOW_MAX as usize / 64;

/// The distance from one sequence number on to another.
pub(super) const fn ahead(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

/// The sequence number `distance` further on.
pub(super) const fn after(sequence: u16, distance: u16) -> u16 {
    (sequence + distance) % SEQUENCES
}

/// The format in which a PPDU is sent (TXVECTOR).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Vector {
    /// A PPDU of 802.11a or g, or its duplicate in every 20 MHz.
    NonHt(Rate),
    /// 802.11n, ac, ax or be.
    Mode(Mode),
}

impl Vector {
    /// Its format; `None`: that of 802.11a or g.
    pub fn format(&self) -> Option<Format> {
        match self {
            Self::NonHt(_) => None,
            Self::Mode(mode) => Some(mode.choice().format),
        }
    }

    /// Bit rate and modulation.
    pub fn rate(&self) -> Rate {
        match self {
            Self::NonHt(rate) => *rate,
            Self::Mode(mode) => {
                let (bits, code) = mode.modulation();
                // Every code rate of the standard is b/(b+1).
                Rate { bit_rate: mode.data_rate(), modulation: Modulation::Ofdm { bits, code: code.numerator } }
            }
        }
    }
}

/// An MPDU with data in a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    pub sequence: u16,
    /// Number of its transmissions, with this one.
    pub attempts: u16,
    /// Place of its first byte in the PSDU, behind its delimiter.
    pub offset: u32,
    /// Length with header and FCS \[byte\].
    pub size: u32,
    /// Time from its end to that of the data, at their bit rate: it is complete, and goes up, before the PPDU ends.
    pub behind: Duration,
    /// Its first MSDU in the PPDU's list.
    first: u32,
    /// Number of its MSDUs: more than one in an A-MSDU.
    count: u16,
}

/// MPDUs with data, and their MSDUs.
#[derive(Clone, Debug, PartialEq)]
pub struct DataMpdus<P> {
    mpdus: Vec<Mpdu>,
    msdus: Vec<P>,
    /// Whether they stand behind delimiters: an A-MPDU, or a single MPDU in the form of one.
    pub is_aggregate: bool,
}

impl<P: Copy> DataMpdus<P> {
    pub(super) fn with_capacity(count: usize) -> Self {
        Self { mpdus: Vec::with_capacity(count), msdus: Vec::with_capacity(count), is_aggregate: true }
    }

    /// Adds an MPDU behind the others.
    #[inline]
    pub(super) fn push(&mut self, sequence: u16, attempts: u16, offset: u32, size: u32, first: P, more: &[P]) {
        let (place, count, behind) = (self.msdus.len() as u32, 1 + more.len() as u16, Duration::ZERO);
        self.msdus.push(first);
        self.msdus.extend_from_slice(more);
        self.mpdus.push(Mpdu { sequence, attempts, offset, size, behind, first: place, count });
    }

    /// The MPDUs go in a PSDU of this length \[byte\], at this rate.
    #[inline]
    pub(super) fn time(&mut self, psdu: Bytes, rate: BitRate) {
        for mpdu in &mut self.mpdus {
            let end = u64::from(mpdu.offset) + u64::from(mpdu.size);
            mpdu.behind = rate.time_for(Bytes::new(psdu.as_u64().saturating_sub(end)));
        }
    }

    /// It is a single MPDU without a delimiter.
    pub(super) fn make_bare(&mut self) {
        self.is_aggregate = false;
        if let Some(mpdu) = self.mpdus.first_mut() {
            mpdu.offset = 0;
        }
    }

    pub fn mpdus(&self) -> &[Mpdu] {
        &self.mpdus
    }
    /// The MSDUs of an MPDU.
    pub fn msdus_of(&self, mpdu: &Mpdu) -> &[P] {
        &self.msdus[mpdu.first as usize..mpdu.first as usize + usize::from(mpdu.count)]
    }
    /// The MSDUs of all MPDUs.
    pub fn msdus(&self) -> &[P] {
        &self.msdus
    }
}

/// A set of the MPDUs of a PPDU, by their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpduSet([u64; WORDS]);

impl MpduSet {
    pub fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }
    pub fn remove(&mut self, place: usize) {
        self.0[place / 64] &= !(1 << (place % 64));
    }
    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 == 1
    }
    /// `count` places from `first` on, the first one behind the last, as places from 0 on.
    pub(super) fn turned(&self, first: usize, count: usize) -> Self {
        let (word, bit) = (first / 64, first % 64);
        let mut turned = Self::default();
        for (place, to) in turned.0.iter_mut().enumerate().take(count.div_ceil(64)) {
            let [low, high] = [0, 1].map(|next| self.0[(word + place + next) % WORDS]);
            // Shifted twice: a word cannot be shifted by its length.
            *to = low >> bit | high << 1 << (63 - bit);
        }
        if let Some(last) = turned.0.get_mut(count / 64) {
            *last &= (1 << (count % 64)) - 1;
        }
        turned
    }
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A compressed block acknowledgement (9.3.1.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// Starting sequence number of the bitmap.
    pub start: u16,
    /// Length of the bitmap.
    pub window: u16,
    /// A bit for each sequence number from the first.
    pub received: MpduSet,
}

impl BlockAck {
    /// Whether it says that an MPDU has come.
    #[inline]
    pub fn acknowledges(&self, sequence: u16) -> bool {
        let place = ahead(self.start, sequence);
        place < self.window && self.received.contains(usize::from(place))
    }

    /// Length of the frame by that of its bitmap: frame control, duration, two addresses, BA control, starting sequence
    /// control, bitmap, FCS.
    pub const fn size(window: u16) -> Bytes {
        Bytes::new(24 + bitmap_bits(window) as u64 / 8)
    }
}

/// Length of the bitmap for an agreement of this window (9.3.1.8.2, and 802.11be-2024 for 512 and 1024).
const fn bitmap_bits(window: u16) -> u16 {
    match window {
        0..=64 => 64,
        65..=256 => 256,
        257..=512 => 512,
        _ => WINDOW_MAX,
    }
}

/// An action frame by which a block acknowledgement agreement is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgreementFrame {
    /// ADDBA Request (9.6.4.2).
    Request {
        /// Dialog Token: never 0, and another one in each request.
        token: u8,
        /// Sequence number of the first MPDU under the agreement.
        start: u16,
        /// Longest window that the originator makes use of.
        window: u16,
    },
    /// ADDBA Response (9.6.4.3).
    Response {
        /// Dialog Token of the request.
        token: u8,
        /// Whether there is an agreement now.
        is_accepted: bool,
        /// Its window; without one the window that was asked for.
        window: u16,
    },
}

impl AgreementFrame {
    /// Header 24, category, action and dialog token, then parameter set, timeout and starting sequence control, or
    /// status code, parameter set and timeout; FCS 4 byte.
    const SIZE: u64 = 24 + 3 + 2 + 2 + 2 + 4;
    /// The ADDBA Extension element (9.4.2.138): element ID, length, one byte.
    const EXTENSION: u64 = 3;

    const fn window(self) -> u16 {
        match self {
            Self::Request { window, .. } | Self::Response { window, .. } => window,
        }
    }
    pub(super) const fn token(self) -> u8 {
        match self {
            Self::Request { token, .. } | Self::Response { token, .. } => token,
        }
    }
    pub(super) const fn is_request(self) -> bool {
        matches!(self, Self::Request { .. })
    }
    pub(super) const fn kind(self) -> FrameKind {
        if self.is_request() { FrameKind::AddbaRequest } else { FrameKind::AddbaResponse }
    }

    /// Whether it has the ADDBA Extension element, whose upper bits of the buffer size only 802.11be has: it goes with
    /// the windows that only 802.11be has.
    pub const fn has_extension(self) -> bool {
        self.window() > 256
    }
    /// Length of the frame.
    pub const fn size(self) -> Bytes {
        Bytes::new(Self::SIZE + if self.has_extension() { Self::EXTENSION } else { 0 })
    }
}

/// The content of a PPDU.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<P> {
    Data(DataMpdus<P>),
    BlockAck(BlockAck),
    /// A block acknowledgement request from this sequence number on: what comes before is given up.
    BlockAckRequest {
        start: u16,
    },
    /// An action frame by which an agreement of this traffic identifier is set up.
    Agreement(AgreementFrame),
}

/// A PPDU of an EDCA station.
#[derive(Clone, Debug, PartialEq)]
pub struct Ppdu<P> {
    /// The fields that all stations read; its size is that of the whole PSDU.
    pub header: Frame<()>,
    pub vector: Vector,
    /// The traffic identifier: the user priority.
    pub tid: u8,
    pub content: Content<P>,
}

impl<P: Copy> Ppdu<P> {
    /// Its MPDUs with data, if it has such.
    pub fn data(&self) -> Option<&DataMpdus<P>> {
        match &self.content {
            Content::Data(data) => Some(data),
            _ => None,
        }
    }

    /// The action frame in it, if it has one.
    pub(super) fn agreement(&self) -> Option<AgreementFrame> {
        match self.content {
            Content::Agreement(frame) => Some(frame),
            _ => None,
        }
    }

    /// The MSDUs in it.
    pub fn msdus(&self) -> &[P] {
        self.data().map_or(&[], DataMpdus::msdus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_turned_set_has_its_places_one_by_one(
            words: [u64; WORDS],
            first in 0..usize::from(WINDOW_MAX),
            count in 0..=usize::from(WINDOW_MAX),
        ) {
            let set = MpduSet(words);
            let mut expected = MpduSet::default();
            for place in (0..count).filter(|place| set.contains((first + place) % usize::from(WINDOW_MAX))) {
                expected.insert(place);
            }
            prop_assert_eq!(set.turned(first, count), expected);
        }
    }
}
