//! Flow buckets and places: what the header says of a packet's flow.

use airbraid_engine::TrafficClass;
use airbraid_engine::trunk::bonding::{BUCKETS, FlowSeq};
use proptest::prelude::*;

proptest! {
    /// Real-time packets never wait for bulk ones: no bucket has both, and each fits into the ten bits of the header.
    #[test]
    fn classes_share_no_bucket(bulk: u16, urgent: u16) {
        let [bulk, urgent] = [(TrafficClass::Bulk, bulk), (TrafficClass::RealTime, urgent)].map(|(class, flow)| {
            let bucket = FlowSeq::bucket_of(class, flow);
            assert_eq!(FlowSeq { bucket, number: 0 }.class(), class);
            assert_eq!(bucket, FlowSeq::bucket_of(class, flow % BUCKETS), "one flow, one bucket");
            bucket
        });
        prop_assert!(bulk < BUCKETS && (BUCKETS..2 * BUCKETS).contains(&urgent));
    }

    #[test]
    fn a_place_survives_its_word_and_distances_wrap(
        bucket in 0..2 * BUCKETS,
        number in 0u32..1 << 22,
        far in -(1i32 << 21)..1 << 21,
    ) {
        let place = FlowSeq { bucket, number };
        prop_assert_eq!(FlowSeq::of_word(place.word()), place);
        let other = FlowSeq::plus(number, far as u32);
        prop_assert!(other < 1 << 22);
        prop_assert_eq!(FlowSeq::distance(other, number), far);
    }
}
