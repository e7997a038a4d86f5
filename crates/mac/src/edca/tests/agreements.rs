//! Agreements that are set up by frames: exchanges that a person can read, and promises whatever is lost.

use super::air::{Air, Fate, Kind, at};
use super::{
    Sending, allocations, check_until, config, emlsr, losses, modes, of_window, requests, sendings, through_the_first,
    with_agreements,
};
use crate::edca::AccessCategory::{BestEffort, Voice};
use crate::edca::{AgreementSetup, Allocation, Edca, EdcaConfig, RequestLink};
use crate::frame::{Address, FrameKind};
use airbraid_engine::Stream;
use airbraid_units::Duration;
use proptest::prelude::*;

use FrameKind::{Ack, AddbaRequest, AddbaResponse, Data};

fn by_frames(mut config: EdcaConfig) -> EdcaConfig {
    config.aggregation.setup = AgreementSetup::Frames;
    config
}

/// Two stations, and packets for the second.
fn air_of(packets: u32) -> Air {
    let mut air = Air::new(by_frames(config()), 2, 1);
    (0..packets).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air
}

/// The second station has another configuration.
fn replace_second(air: &mut Air, config: EdcaConfig) {
    let random = ["bk", "be", "vi", "vo"].map(|purpose| Stream::new(1, 1, purpose));
    air.stations[1] = Edca::new(config, Address(1), random);
}

#[test]
fn an_agreement_is_made_before_the_first_data() {
    let mut air = air_of(5);
    air.run(at(5_000));
    air.reads(
        "
        18.0 A ADDBA-REQ 1: TID 0, 256 from 0 to B for 76 us, nav 60
        110.0 B ACK to A for 44 us, nav 0
        197.0 B ADDBA-RESP 1: 256 to A for 76 us, nav 60
        289.0 A ACK to B for 44 us, nav 0
        421.0 A DATA 0..=4 to B for 764 us, nav 56
        1185.0 B has 0..=4 from A
        1201.0 B BA from 0: 0..=4 to A for 40 us, nav 0
        1241.0 A is done with 0..=4
        ",
    );
}

/// The request is lost, then its acknowledgement, then the first response, and its second acknowledgement.
#[test]
fn what_is_lost_of_a_setup_goes_again() {
    let mut air = air_of(3);
    air.fate = Box::new(|_, kind, nth, _| match kind {
        AddbaRequest | AddbaResponse => nth == 1,
        Ack => nth == 1 || nth == 3,
        _ => false,
    });
    air.run(at(5_000));
    air.reads(
        "
        18.0 A ADDBA-REQ 1: TID 0, 256 from 0 to B for 76 us, nav 60
        236.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        328.0 B ACK to A for 44 us, nav 0
        415.0 B ADDBA-RESP 1: 256 to A for 76 us, nav 60
        570.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        662.0 A ACK to B for 44 us, nav 0
        893.0 A DATA 0..=2 to B for 478.4 us, nav 56
        1371.4 B has 0..=2 from A
        1387.4 B BA from 0: 0..=2 to A for 40 us, nav 0
        1427.4 A is done with 0..=2
        ",
    );
}

/// Nobody answers: packets go one by one, and a pause later the peer is asked again. What goes before that is numbered.
#[test]
fn packets_go_one_by_one_where_requests_are_lost() {
    let mut air = air_of(2);
    air.fate = Box::new(|now, kind, _, _| kind == AddbaRequest && now < at(100_000));
    (2..5).for_each(|id| air.send(at(210_000), 0, 1, id, BestEffort));
    air.run(at(300_000));
    air.reads(
        "
        18.0 A ADDBA-REQ 1: TID 0, 256 from 0 to B for 76 us, nav 60
        236.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        445.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        654.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        854.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        1018.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        1191.0 A ADDBA-REQ 1: TID 0, 256 from 0 again to B for 76 us, nav 60
        1400.0 A DATA 0 to B for 192.8 us, nav 44
        1608.8 B ACK to A for 28 us, nav 0
        1592.8 B has 0 from A
        1636.8 A is done with 0
        1724.8 A DATA 1 to B for 192.8 us, nav 44
        1933.6 B ACK to A for 28 us, nav 0
        1917.6 B has 1 from A
        1961.6 A is done with 1
        210003.6 A ADDBA-REQ 2: TID 0, 256 from 2 to B for 76 us, nav 60
        210095.6 B ACK to A for 44 us, nav 0
        210182.6 B ADDBA-RESP 2: 256 to A for 76 us, nav 60
        210274.6 A ACK to B for 44 us, nav 0
        210469.6 A DATA 2..=4 to B for 478.4 us, nav 56
        210948.0 B has 2..=4 from A
        210964.0 B BA from 2: 2..=4 to A for 40 us, nav 0
        211004.0 A is done with 2..=4
        ",
    );
}

/// The responses are lost. Packets wait for a second, then they go one by one.
#[test]
fn packets_wait_for_a_response() {
    let mut air = air_of(2);
    air.fate = Box::new(|now, kind, _, _| kind == AddbaResponse && now < at(1_000_000));
    (2..5).for_each(|id| air.send(at(1_300_000), 0, 1, id, BestEffort));
    air.run(at(2_000_000));
    air.reads(
        "
        18.0 A ADDBA-REQ 1: TID 0, 256 from 0 to B for 76 us, nav 60
        110.0 B ACK to A for 44 us, nav 0
        197.0 B ADDBA-RESP 1: 256 to A for 76 us, nav 60
        352.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        570.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        761.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        952.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        1125.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        1334.0 B ADDBA-RESP 1: 256 again to A for 76 us, nav 60
        1000162.0 A DATA 0 to B for 192.8 us, nav 44
        1000370.8 B ACK to A for 28 us, nav 0
        1000354.8 B has 0 from A
        1000398.8 A is done with 0
        1000486.8 A DATA 1 to B for 192.8 us, nav 44
        1000695.6 B ACK to A for 28 us, nav 0
        1000679.6 B has 1 from A
        1000723.6 A is done with 1
        1300007.6 A ADDBA-REQ 2: TID 0, 256 from 2 to B for 76 us, nav 60
        1300099.6 B ACK to A for 44 us, nav 0
        1300240.6 B ADDBA-RESP 2: 256 to A for 76 us, nav 60
        1300332.6 A ACK to B for 44 us, nav 0
        1300446.6 A DATA 2..=4 to B for 478.4 us, nav 56
        1300925.0 B has 2..=4 from A
        1300941.0 B BA from 2: 2..=4 to A for 40 us, nav 0
        1300981.0 A is done with 2..=4
        ",
    );
}

/// The recipient has made an agreement that the originator does not have, and restores the order: it waits for the
/// first packet, which is given up. The next request ends that.
#[test]
fn a_request_ends_the_wait_for_what_was_given_up() {
    let mut air = air_of(3);
    air.fate = Box::new(|now, kind, nth, _| match kind {
        AddbaResponse => now < at(1_100_000),
        Data => nth <= 7,
        _ => false,
    });
    air.run(at(2_000_000));
    let last: Vec<&str> = air.timeline.lines().skip_while(|line| !line.contains("RetryLimit")).collect();
    air.timeline = last.join("\n");
    air.reads(
        "
        1009545.6 A is done with 0: RetryLimit, 7 sent
        1013800.6 A DATA 1 to B for 192.8 us, nav 44
        1014009.4 B ACK to A for 28 us, nav 0
        1014037.4 A is done with 1
        1014188.4 A DATA 2 to B for 192.8 us, nav 44
        1014397.2 B ACK to A for 28 us, nav 0
        1014425.2 A is done with 2
        1200156.2 A ADDBA-REQ 2: TID 0, 256 from 3 to B for 76 us, nav 60
        1200248.2 B ACK to A for 44 us, nav 0
        1200232.2 B has 1 from A
        1200232.2 B has 2 from A
        1200389.2 B ADDBA-RESP 2: 256 to A for 76 us, nav 60
        1200481.2 A ACK to B for 44 us, nav 0
        ",
    );
}

#[test]
fn a_station_without_agreements_declines() {
    let mut air = air_of(3);
    let mut single = config();
    single.aggregation.ampdu = None;
    replace_second(&mut air, single);
    air.run(at(1_000_000));
    air.reads(
        "
        18.0 A ADDBA-REQ 1: TID 0, 256 from 0 to B for 76 us, nav 60
        110.0 B ACK to A for 44 us, nav 0
        197.0 B ADDBA-RESP 1: declined to A for 76 us, nav 60
        289.0 A ACK to B for 44 us, nav 0
        421.0 A DATA 0 to B for 192.8 us, nav 44
        629.8 B ACK to A for 28 us, nav 0
        613.8 B has 0 from A
        657.8 A is done with 0
        745.8 A DATA 1 to B for 192.8 us, nav 44
        954.6 B ACK to A for 28 us, nav 0
        938.6 B has 1 from A
        982.6 A is done with 1
        1052.6 A DATA 2 to B for 192.8 us, nav 44
        1261.4 B ACK to A for 28 us, nav 0
        1245.4 B has 2 from A
        1289.4 A is done with 2
        ",
    );
}

#[test]
fn the_shorter_window_counts() {
    for (first, second) in [(256, 16), (16, 256)] {
        let mut air = Air::new(by_frames(of_window(first)), 2, 1);
        replace_second(&mut air, by_frames(of_window(second)));
        (0..40).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
        air.run(at(20_000));
        let longest = air.timeline.lines().filter(|line| line.contains("DATA")).count();
        assert_eq!((air.delivered.len(), longest), (40, 3), "{}", air.timeline);
        assert!(air.timeline.contains("DATA 0..=15 to B") && air.timeline.contains("ADDBA-RESP 1: 16 to A"));
    }
}

#[test]
fn each_tid_has_an_agreement_of_its_own() {
    let mut air = air_of(3);
    (3..6).for_each(|id| air.send(at(10), 0, 1, id, Voice));
    (6..9).for_each(|id| air.send(at(10), 1, 0, id, BestEffort));
    air.run(at(20_000));
    assert_eq!(air.delivered.len(), 9);
    assert_eq!(
        [0, 1].map(|station| air.stations[station].agreement_counts().unwrap().agreements),
        [2, 1],
        "{}",
        air.timeline
    );
}

/// The links of a device take turns: what one has lost the other sends.
#[test]
fn an_agreement_of_a_device_is_made_over_any_link() {
    let mut air = Air::of_devices(by_frames(config()), 2, 2, RequestLink::OfData, 1);
    air.outage = Some((0, at(0)..at(1_000_000)));
    (0..4).for_each(|id| air.send(at(10), 0, 1, id, BestEffort));
    air.run(at(1_300));
    air.reads(
        "
        18.0 A1 ADDBA-REQ 1: TID 0, 256 from 0 to B1 for 76 us, nav 60
        148.0 A2 ADDBA-REQ 1: TID 0, 256 from 0 again to B2 for 76 us, nav 60
        240.0 B2 ACK to A2 for 44 us, nav 0
        224.0 B1 ADDBA-RESP 1: 256 to A1 for 76 us, nav 60
        345.0 B2 ADDBA-RESP 1: 256 again to A2 for 76 us, nav 60
        437.0 A2 ACK to B2 for 44 us, nav 0
        421.0 A1 DATA 0..=3 to B1 for 628 us, nav 56
        1227.0 A1 BAR from 0 to B1 for 32 us, nav 56
        ",
    );
}

/// A device with one radio is called to a link by an MU-RTS, as for data.
#[test]
fn a_device_with_one_radio_is_called_for_a_request() {
    let modes = [None, Some(emlsr(32, 128, 5_484))];
    let mut air = Air::of_modes(by_frames(config()), &modes, 2, (RequestLink::OfData, Allocation::Shared), 1);
    (0..4).for_each(|id| air.send(at(0), 0, 1, id, BestEffort));
    air.run(at(3_000));
    air.reads(
        "
        0.0 A1 MU-RTS to B1 for 100 us, nav 212
        116.0 B1 CTS to A1 for 44 us, nav 152
        176.0 A1 ADDBA-REQ 1: TID 0, 256 from 0 to B1 for 76 us, nav 60
        268.0 B1 ACK to A1 for 44 us, nav 0
        346.0 B1 ADDBA-RESP 1: 256 to A1 for 76 us, nav 60
        438.0 A1 ACK to B1 for 44 us, nav 0
        612.0 A2 MU-RTS to B2 for 64 us, nav 760
        692.0 B2 CTS to A2 for 44 us, nav 700
        752.0 A2 DATA 0..=3 to B2 for 628 us, nav 56
        1380.0 B2 has 0..=3 from A2
        1396.0 B2 BA from 0: 0..=3 to A2 for 40 us, nav 0
        1436.0 A2 is done with 0..=3
        ",
    );
}

#[test]
fn with_losses_of_any_rate_an_agreement_is_made_in_the_end() {
    for (seed, permille) in [(1, 0), (2, 500), (3, 800), (4, 900)] {
        let mut air = Air::new(by_frames(config()), 2, seed);
        let mut random = Stream::new(seed, 0, "loss");
        air.fate = Box::new(move |_, kind, _, _| kind != Data && random.up_to(999) < permille);
        (0..20_000).for_each(|id| air.send(at(1_000 * u64::from(id)), 0, 1, id, BestEffort));
        air.run(at(30_000_000));
        let counts = air.stations[0].agreement_counts().unwrap();
        assert_eq!(counts.agreements, 1, "{permille}: {counts:?}");
        assert!(air.delivered.is_sorted(), "{permille}");
    }
}

/// Draws what is lost, of data and answers until the channel heals, and of setup frames for ever.
fn setup_losses(seed: u64, permille: [u32; 3], (of_setup, heals): (u32, u64)) -> Fate {
    let mut others = losses(seed, permille, heals);
    let mut random = Stream::new(seed, 0, "setup");
    Box::new(move |now, kind, nth, place| match kind {
        AddbaRequest | AddbaResponse => random.up_to(999) < of_setup,
        _ => others(now, kind, nth, place),
    })
}

/// Time by which everything has its fate \[us\].
const END: u64 = 900_000_000;

/// The rate at which setup frames are lost, and the time at which the channel heals for others \[us\]: before or behind
/// the pause after a failure, and the second for which a response is awaited.
fn rates() -> impl Strategy<Value = (u32, u64)> {
    let heals = prop_oneof![Just(60_000), Just(400_000), Just(2_500_000)];
    (prop_oneof![3 => 0u32..900, 1 => Just(1_000)], heals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn setup_frames_may_be_lost_at_any_rate(
        config in with_agreements(),
        seed: u64,
        permille in [0u32..700, 0u32..700, 0u32..700],
        of_setup in rates(),
        packets in sendings(),
    ) {
        let mut air = Air::new(by_frames(config), 3, seed);
        air.fate = setup_losses(seed, permille, of_setup);
        check_until(END, air, &packets)?;
    }

    #[test]
    fn links_of_any_mode_set_up_agreements(
        config in with_agreements(),
        seed: u64,
        is_early: bool,
        links in 2u32..4,
        modes in (modes(), modes()),
        allocation in allocations(),
        requests in requests(),
        permille in [0u32..500, 0u32..500, 0u32..500],
        of_setup in rates(),
        outage in (0usize..3, 0u64..40_000, 0u64..40_000),
        packets in sendings(),
    ) {
        let packets: Vec<Sending> = through_the_first(&packets);
        let modes = [None, modes.0, modes.1];
        let mut air = Air::of_modes(by_frames(config), &modes, links, (requests, allocation), seed);
        air.is_early = is_early;
        air.fate = setup_losses(seed, permille, of_setup);
        air.outage = Some((outage.0, at(outage.1)..at(outage.1 + outage.2)));
        check_until(END, air, &packets)?;
    }

    #[test]
    fn devices_of_which_one_link_is_awake_set_up_agreements(
        config in with_agreements(),
        seed: u64,
        is_early: bool,
        links in 2u32..4,
        delays in (0u64..3_000, 0u64..3_000),
        permille in [0u32..500, 0u32..500, 0u32..500],
        of_setup in rates(),
        outage in (0usize..3, 0u64..40_000, 0u64..40_000),
        packets in sendings(),
    ) {
        let packets = through_the_first(&packets);
        let [one, other] = [delays.0, delays.1].map(|us| Kind::Single(Duration::from_micros(us)));
        let ways = (RequestLink::Any, Allocation::Shared);
        let mut air = Air::of_devices_in(by_frames(config), &[Kind::Str, one, other], links, ways, seed);
        air.is_early = is_early;
        air.fate = setup_losses(seed, permille, of_setup);
        air.outage = Some((outage.0, at(outage.1)..at(outage.1 + outage.2)));
        check_until(END, air, &packets)?;
    }

    #[test]
    fn links_that_disturb_each_other_set_up_agreements(
        config in with_agreements(),
        seed: u64,
        is_early: bool,
        links in 2u32..4,
        coupled in (any::<bool>(), any::<bool>()),
        allocation in allocations(),
        permille in [0u32..500, 0u32..500, 0u32..500],
        of_setup in rates(),
        packets in sendings(),
    ) {
        let ways = (RequestLink::OfData, allocation);
        let mut air = Air::of_modes(by_frames(config), &[None; 3], links, ways, seed);
        for station in [(coupled.0, 1), (coupled.1, 2)].into_iter().filter(|pair| pair.0).map(|pair| pair.1) {
            air.couple(station);
        }
        air.is_early = is_early;
        air.fate = setup_losses(seed, permille, of_setup);
        check_until(END, air, &packets)?;
    }
}
