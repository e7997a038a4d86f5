//! Headers that pass their check and say anything at all: no end falls over, and each handle comes back once.

use crate::link::world::{Buffer, buffer};
use airbraid_engine::link::fec::{BlockCodec, Codec};
use airbraid_engine::link::{
    Ack, Adaptation, Config, Header, Input, Output, Payload, Received, Reception, Report, Segment, SelectiveRepeat,
    Shape, StopAndWait, WindowConfig, WindowHeader, WindowInput,
};
use airbraid_engine::packet::TrafficClass;
use airbraid_engine::{Machine, step};
use airbraid_units::{Instant, SeqNum};
use proptest::prelude::*;
use std::collections::BTreeMap;

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

/// The next frames of an end, and the handles that it gives back.
fn outputs<M, H>(end: &mut M, now: u64, input: M::Input) -> (Vec<(H, Option<Buffer>)>, Vec<u32>)
where
    M: Machine<Output = Output<H, Buffer>>,
{
    let (mut frames, mut back) = (vec![], vec![]);
    step(end, Instant::from_nanos(now * 1_000_000), Some(input), |output| match output {
        Output::Transmit(frame) => frames.push((frame.header, frame.packet)),
        Output::Release(packet) | Output::Drop(packet, _) => back.push(packet.id),
        _ => {}
    });
    (frames, back)
}

/// A good length beyond what was sent or behind what has come, and packets never sent: the next poll repeats what it
/// would have repeated, and no handle comes back.
#[test]
fn stop_and_wait_believes_no_acknowledgement_that_cannot_be() {
    let config = Config { adaptation: Adaptation::BOLD, ..Config::default() };
    let mut end = StopAndWait::master(&config).unwrap();
    outputs(&mut end, 0, Input::Packet(buffer(1, TrafficClass::Bulk, 3_000)));
    let begins: Vec<Option<u16>> = [(1, 2_000), (1, 1_271), (1, 600), (3, 0), (1, 2_542), (2, 0), (2, 0)]
        .into_iter()
        .zip(1..)
        .map(|((next, good), now)| {
            let (frames, _) = outputs(&mut end, now, Input::Poll { invite: true });
            let acks = [Ack { next: SeqNum(next), good }, Ack::default()];
            let header = Some(Header { acks, ..Header::default() });
            let (_, back) = outputs(&mut end, now, Input::Received(Reception { header, payload: Payload::None }));
            assert_eq!(back, if now == 6 { vec![1] } else { vec![] }, "at {now}");
            frames[0].0.segment.map(|segment| segment.offset)
        })
        .collect();
    let expected = [Some(0), Some(0), Some(1_271), Some(1_271), Some(1_271), Some(2_542), None];
    assert_eq!(begins, expected);
}

/// Frames and packets that were never sent have not come, whatever the other side says.
#[test]
fn selective_repeat_believes_no_acknowledgement_that_cannot_be() {
    let config = Config { adaptation: Adaptation::BOLD, ..Config::default() };
    let mut end = SelectiveRepeat::new(&config, WindowConfig::default()).unwrap();
    let (frames, _) = outputs(&mut end, 0, WindowInput::Packet(buffer(1, TrafficClass::Bulk, 100)));
    assert_eq!(frames.len(), 1);
    let told = |nexts: [u32; 2], newest, before| WindowHeader {
        nexts: nexts.map(SeqNum),
        received: Received { newest: SeqNum(newest), before },
        ..WindowHeader { floors: [SeqNum(1); 2], ..frames[0].0 }
    };
    let mut say = |now, header| {
        let header = Some(WindowHeader { segment: None, ..header });
        outputs(&mut end, now, WindowInput::Received(Reception { header, payload: Payload::None })).1
    };
    let none: Vec<u32> = vec![];
    assert_eq!(say(1, told([9, 9], 0, 0)), none, "packet 9 was never sent");
    assert_eq!(say(2, told([1, 1], 40, u64::MAX)), none, "nor was frame 40");
    assert_eq!(say(3, told([1, 1], 1, 0)), [1], "frame 1 was");
}

proptest! {
    #[test]
    fn stop_and_wait_takes_any_header(
        is_master: bool, rounds in prop::collection::vec((prop::option::of(header()), report()), 1..60)
    ) {
        // Packets of three segments.
        let adaptation = Adaptation::Fixed(Shape::new(24, 0).unwrap());
        let config = Config { adaptation, ..Config::default() };
        let end = if is_master { StopAndWait::master(&config) } else { StopAndWait::slave(&config) };
        let mut end = end.unwrap();
        let (mut given, mut back) = (0, 0);
        // Of each packet how far it was sent, and where its last segment began: no header makes it skip or go back.
        let mut sent: BTreeMap<(TrafficClass, u32), (u32, u16)> = BTreeMap::new();
        for (round, (header, report)) in rounds.into_iter().enumerate() {
            let now = Instant::from_nanos(round as u64 * 1_000_000);
            let class = if round % 2 == 0 { TrafficClass::Bulk } else { TrafficClass::RealTime };
            let segment = header.and_then(|header| header.segment);
            let received = reception(header, segment, report);
            given += u64::from(matches!(received.payload, Payload::Intact { .. }));
            let mut segments = vec![];
            let inputs = [Input::Packet(buffer(1, class, 60)), Input::Poll { invite: true }, Input::Received(received)];
            for input in inputs {
                step(&mut end, now, Some(input), |output| {
                    back += comes_back(&output);
                    if let Output::Transmit(frame) = output {
                        segments.extend(frame.header.segment);
                    }
                });
            }
            for segment in segments {
                let (end, begin) = sent.entry((segment.class, segment.seq.0)).or_default();
                prop_assert!(*begin <= segment.offset && u32::from(segment.offset) <= *end, "{segment:?}");
                (*end, *begin) = ((*end).max(segment.end()), segment.offset);
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
