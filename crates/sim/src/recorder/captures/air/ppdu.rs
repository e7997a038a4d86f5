//! The PPDUs of EDCA stations: each MPDU as a frame of its own, with its place in the A-MPDU.

use super::{Transmission, llc_and_body};
use crate::record::agreement::{AgreementBody, AgreementStep};
use crate::record::dot11::{self, MacHeader, MacKind, QosControl};
use crate::record::radiotap::{ModeTap, Subframe};
use crate::recorder::captures::body::BodyWriter;
use crate::recorder::stations::Stations;
use crate::world::{FrameEvent, Msdu};
use airbraid_engine::Packet;
use airbraid_mac::edca::{AgreementFrame, BlockAck, Content, DataMpdus, Ppdu, Vector};
use airbraid_units::Duration;

/// Adds the MPDUs of a PPDU with the number `reference` to a transmission.
pub(super) fn append(
    sent: &mut Transmission,
    ppdu: &Ppdu<Msdu>,
    (event, reference): (&FrameEvent<'_>, u32),
    bodies: &BodyWriter<'_>,
    stations: &Stations<'_>,
) {
    if let Vector::Mode(mode) = &ppdu.vector {
        sent.mode = Some(ModeTap::new(mode));
    }
    match &ppdu.content {
        Content::Data(data) => append_data(sent, (ppdu, data), (event, reference), bodies, stations),
        Content::BlockAck(answer) => {
            let unit = sent.next();
            dot11::append_header(&mut unit.bytes, &header(ppdu, MacKind::BlockAck { tid: ppdu.tid }, stations));
            append_bitmap(&mut unit.bytes, answer);
            unit.finish(0, true);
        }
        Content::BlockAckRequest { start } => {
            let unit = sent.next();
            let kind = MacKind::BlockAckRequest { tid: ppdu.tid, start: *start };
            dot11::append_header(&mut unit.bytes, &header(ppdu, kind, stations));
            unit.finish(0, true);
        }
        Content::Agreement(frame) => {
            let unit = sent.next();
            let kind = MacKind::Agreement {
                bss: stations.bss(event.frame),
                seq: ppdu.header.sequence,
                retry: ppdu.header.retry,
                body: agreement(*frame, ppdu.tid),
            };
            dot11::append_header(&mut unit.bytes, &header(ppdu, kind, stations));
            unit.finish(0, true);
        }
    }
}

fn agreement(frame: AgreementFrame, tid: u8) -> AgreementBody {
    let has_extension = frame.has_extension();
    let (token, window, step) = match frame {
        AgreementFrame::Request { token, start, window } => (token, window, AgreementStep::Request { start }),
        AgreementFrame::Response { token, is_accepted, window } => {
            (token, window, AgreementStep::Response { is_accepted })
        }
    };
    AgreementBody { token, tid, window, step, has_extension }
}

fn append_bitmap(out: &mut Vec<u8>, answer: &BlockAck) {
    let number = |place: u16| (answer.start + place) % 4_096;
    dot11::append_bitmap(out, answer.start, answer.window, |place| answer.acknowledges(number(place)));
}

fn append_data(
    sent: &mut Transmission,
    (ppdu, data): (&Ppdu<Msdu>, &DataMpdus<Msdu>),
    (event, reference): (&FrameEvent<'_>, u32),
    bodies: &BodyWriter<'_>,
    stations: &Stations<'_>,
) {
    let last = data.mpdus().len().saturating_sub(1);
    let span = u128::from((event.end - event.start).as_nanos());
    let size = u128::from(event.frame.size.as_u64().max(1));
    for (place, mpdu) in data.mpdus().iter().enumerate() {
        let msdus = data.msdus_of(mpdu);
        let kind = MacKind::Data {
            bss: stations.bss(event.frame),
            power_management: false,
            seq: mpdu.sequence,
            retry: mpdu.attempts > 1,
            has_body: true,
            qos: Some(QosControl { tid: ppdu.tid, is_amsdu: msdus.len() > 1 }),
        };
        let unit = sent.next();
        dot11::append_header(&mut unit.bytes, &header(ppdu, kind, stations));
        let zeros = append_msdus(&mut unit.bytes, msdus, event, bodies, stations);
        unit.finish(zeros, true);
        unit.place = Subframe {
            reference: data.is_aggregate.then_some(reference),
            is_last: place == last,
            is_single: last == 0,
            after: Duration::from_nanos((span * u128::from(mpdu.offset) / size) as u64),
        };
    }
}

/// Appends an MSDU, or several as an A-MSDU; returns the number of zeros behind them.
fn append_msdus(
    out: &mut Vec<u8>,
    msdus: &[Msdu],
    event: &FrameEvent<'_>,
    bodies: &BodyWriter<'_>,
    stations: &Stations<'_>,
) -> usize {
    let (from, to) = (event.frame.from, event.frame.to);
    let mut zeros = 0;
    for (number, msdu) in msdus.iter().enumerate() {
        let at = out.len();
        if msdus.len() > 1 {
            // LLC and SNAP count.
            let length = msdu.len().as_u64() as u16 + 8;
            dot11::append_subframe(out, stations.of(to), stations.of(from), length);
        }
        zeros = llc_and_body(out, msdu, event.packets, (from, to), (bodies, stations));
        if number + 1 < msdus.len() {
            // The rest of the payload, and padding up to a multiple of 4 byte.
            let length = out.len() - at + zeros;
            out.resize(at + length.next_multiple_of(4), 0);
        }
    }
    zeros
}

fn header(ppdu: &Ppdu<Msdu>, kind: MacKind, stations: &Stations<'_>) -> MacHeader {
    MacHeader {
        kind,
        src: stations.of(ppdu.header.from),
        dst: Some(stations.of(ppdu.header.to)),
        duration_us: u16::try_from(ppdu.header.nav.as_micros()).unwrap_or(u16::MAX),
    }
}
