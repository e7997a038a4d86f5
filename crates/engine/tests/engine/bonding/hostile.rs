//! Frames that no honest end sends: they are counted, they cost no memory, and what is honest goes on.

use crate::bonding::world::{Token, Way, World, usual};
use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::bonding::{
    AckRange, BondHeader, BondInput, Feedback, FlowSeq, Frame, Probe, RepairHeader, Report,
};
use airbraid_units::{Bytes, Duration, SeqNum};
use proptest::prelude::*;

fn frame() -> impl Strategy<Value = Frame<Token>> {
    // Numbers near those in use, and anywhere.
    let number = prop_oneof![0..400u32, any::<u32>()];
    let run = (0..5u32, prop_oneof![1..40u32, any::<u32>()]).prop_map(|(gap, len)| AckRange { gap, len });
    let span = (prop_oneof![0..400u32, any::<u32>()], any::<u32>());
    let report = (0..20u8, number.clone(), any::<u32>(), span, prop::collection::vec(run, 0..16)).prop_map(
        |(member, newest, age_us, (span, span_us), runs)| Report {
            member: Member(member),
            newest: SeqNum(newest),
            age_us,
            span,
            span_us,
            runs: runs.into_iter().collect(),
        },
    );
    prop_oneof![
        (number.clone(), 0..1_024u16, prop_oneof![0..400u32, 0..1u32 << 22]).prop_map(|(number, bucket, place)| {
            let header = BondHeader { number: SeqNum(number), place: FlowSeq { bucket, number: place } };
            let packet = Token {
                from: 1,
                id: u64::MAX,
                len: 100,
                bucket: 0,
                class: TrafficClass::Bulk,
                is_markable: false,
                is_acknowledgement: false,
                service: 0,
            };
            Frame::Data { header, packet }
        }),
        (number.clone(), 1..255u8, any::<u8>()).prop_map(|(number, sources, index)| Frame::Repair {
            header: RepairHeader { number: SeqNum(number & 0xffff), sources, index: index % (255 - sources) },
            // What it is the sum of is not what has come: it must not be taken for it.
            symbol: Vec::new(),
        }),
        (number, prop_oneof![Just(9u32), any::<u32>()]).prop_map(|(number, epoch)| Frame::Probe(Probe {
            number: SeqNum(number),
            epoch,
            padding: 0
        })),
        (prop_oneof![Just(7u32), any::<u32>()], any::<u32>(), prop::collection::vec(report, 0..16)).prop_map(
            |(epoch, sent_at_us, reports)| Frame::Feedback(Box::new(Feedback {
                epoch,
                sent_at_us,
                reports: reports.into_iter().collect()
            }))
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_comes_makes_it_panic_or_grow(
        frames in prop::collection::vec((0..20u8, frame(), 0..30u64), 1..200), seed: u64
    ) {
        let ms = Duration::from_millis;
        let mut world = World::new(usual(), &[Way::new(5, ms(2), 50); 3], seed);
        world.run(ms(50));
        for (member, frame, wait) in frames {
            world.give(0, 1_000, 0, TrafficClass::Bulk);
            // An end hears what it wants to: the world's account is of the honest only.
            let mut outputs = 0;
            let input = BondInput::Frame { member: Member(member), frame, length: Bytes::new(200) };
            airbraid_engine::step(&mut world.ends[0], world.now, Some(input), |_| outputs += 1);
            prop_assert!(outputs < 5_000);
            world.run(ms(wait));
        }
        let status = world.ends[0].status();
        prop_assert!(status.held_len <= 8_192 && status.kept < 20_000, "{:?}", status);
    }
}
