//! Headers that pass their check and say anything at all: no end falls over, and each handle comes back once.

use crate::world::{Buffer, buffer};
use airbraid_engine::link::fec::{BlockCodec, Codec};
use airbraid_engine::link::{
    Ack, Config, Header, Input, Output, Payload, Received, Reception, Report, Segment, SelectiveRepeat, Shape,
    StopAndWait, WindowConfig, WindowHeader, WindowInput,
};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::step;
use airbraid_units::{Instant, SeqNum};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = SeqNum> {
    prop_oneof![4 => 0u32..12, 1 => any::<u32>(), 1 => 250u32..260].prop_map(SeqNum)
}

fn segment() -> impl Strategy<Value = Option<Segment>> {
    let class = prop_oneof![Just(TrafficClass::Bulk), Just(TrafficClass::RealTime)];
    let place = prop_oneof![(0u16..40, 0u16..40), any::<(u16, u16)>()];
    let segment = (class, number(), place, any::<bool>(), 0u8..=127);
    prop::option::of(segment.prop_map(|(class, seq, (offset, count), is_last, half)| Segment {
        class,
        seq,
        offset,
        count,
        is_last,
        parity: half * 2,
    }))
}

fn report() -> impl Strategy<Value = Report> {
    prop_oneof![
        Just(Report::None),
        any::<u8>().prop_map(|worst| Report::Intact { worst }),
        any::<u16>().prop_map(|at| Report::Truncated { at }),
        Just(Report::Undecodable),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    let invite = any::<(u16, u8)>().prop_map(|(bytes, parity)| Shape::new(bytes, parity & !1).ok());
    let acks = [(number(), 0u16..80), (number(), 0u16..80)].map(|ack| ack.prop_map(|(next, good)| Ack { next, good }));
    (segment(), acks, report(), invite).prop_map(|(segment, acks, report, invite)| Header {
        segment,
        acks,
        report,
        invite,
    })
}

fn window_header() -> impl Strategy<Value = WindowHeader> {
    let pair = || [number(), number()];
    let received = (number(), any::<u64>()).prop_map(|(newest, before)| Received { newest, before });
    ((number(), any::<bool>()), segment(), pair(), pair(), received, (number(), report())).prop_map(
        |((number, asks), segment, floors, nexts, received, report)| WindowHeader {
            asks,
            number,
            segment,
            floors,
            nexts,
            received,
            report,
        },
    )
}

/// A segment's bytes as they would have been handed in.
fn reception<H>(header: Option<H>, segment: Option<Segment>, report: Report) -> Reception<H, Buffer> {
    let payload = match (segment, report) {
        (None, _) => Payload::None,
        (_, Report::Truncated { at }) => Payload::Truncated { at },
        (_, Report::Undecodable) => Payload::Undecodable,
        (Some(segment), _) => Payload::Intact { packet: buffer(0, segment.class, 1), worst: 0 },
    };
    Reception { header, payload }
}

/// Handles of segments that outputs give back.
fn comes_back<H>(output: &Output<H, Buffer>) -> u64 {
    match output {
        Output::Piece { .. } | Output::Deliver { .. } => 1,
        Output::Release(packet) => u64::from(packet.id == 0),
        Output::Transmit(_) | Output::Abandon { .. } | Output::Drop(..) => 0,
    }
}

proptest! {
    #[test]
    fn stop_and_wait_takes_any_header(
        is_master: bool, rounds in prop::collection::vec((prop::option::of(header()), report()), 1..60)
    ) {
        let config = Config::default();
        let end = if is_master { StopAndWait::master(&config) } else { StopAndWait::slave(&config) };
        let mut end = end.unwrap();
        let (mut given, mut back) = (0, 0);
        for (round, (header, report)) in rounds.into_iter().enumerate() {
            let now = Instant::from_nanos(round as u64 * 1_000_000);
            let class = if round % 2 == 0 { TrafficClass::Bulk } else { TrafficClass::RealTime };
            let segment = header.and_then(|header| header.segment);
            let received = reception(header, segment, report);
            given += u64::from(matches!(received.payload, Payload::Intact { .. }));
            for input in [Input::Packet(buffer(1, class, 60)), Input::Poll { invite: true }, Input::Received(received)] {
                step(&mut end, now, Some(input), |output| back += comes_back(&output));
            }
            prop_assert_eq!(given, back);
        }
    }

    #[test]
    fn selective_repeat_takes_any_header(
        rounds in prop::collection::vec((prop::option::of(window_header()), report()), 1..60)
    ) {
        let mut end = SelectiveRepeat::new(&Config::default(), WindowConfig::default()).unwrap();
        let (mut given, mut back) = (0, 0);
        for (round, (header, report)) in rounds.into_iter().enumerate() {
            let now = Instant::from_nanos(round as u64 * 1_000_000);
            let segment = header.and_then(|header| header.segment);
            let received = reception(header, segment, report);
            given += u64::from(matches!(received.payload, Payload::Intact { .. }));
            let packet = buffer(1, TrafficClass::Bulk, 60);
            for input in [WindowInput::Packet(packet), WindowInput::Received(received)] {
                step(&mut end, now, Some(input), |output| back += comes_back(&output));
            }
            let held = end.held_len(TrafficClass::Bulk) + end.held_len(TrafficClass::RealTime);
            prop_assert_eq!(given, back + held as u64);
        }
    }

    #[test]
    fn the_codec_takes_any_bytes(segment in segment(), mut bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let Some(segment) = segment else { return Ok(()) };
        // What no code word is near, or a wrong one: the check refuses it.
        bytes.resize((segment.coded_len() as usize).min(4_000), 0xa5);
        let decoded = BlockCodec::default().decode(&segment, &mut bytes);
        prop_assert_eq!(decoded, airbraid_engine::link::fec::Decoded::Undecodable);
    }
}
