//! Transcripts of stations: each frame on the air with its time in microseconds, and each report to the layer above.
//!
//! A packet of 964 byte makes an MPDU of 1000 byte: 192 + 727.273 us at 11 Mbit/s with the long preamble. RTS lasts
//! 352 us, CTS and ACK 304 us at 1 Mbit/s; SIFS 10, DIFS 50, slot 20, EIFS 364 us.

use super::doze::Held;
use super::{Dcf, DcfConfig};
use crate::erp::{NonErp, Protection};
use crate::frame::{Address, Frame, FrameKind, Reservation};
use crate::medium::{Medium, Payload, Signal, at, config, stream_drawing};
use crate::phy::{HR_DSSS_RATES, OFDM_RATES, Preamble, Standard};
use crate::rate_control::RateControl;
use crate::service::{MacInput, MacOutput, Msdu, Outcome};
use airbraid_engine::{Machine, Wake};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;

const A: usize = 0;
const B: usize = 1;
const TO_A: Address = Address(0);
const TO_B: Address = Address(1);
const TO_C: Address = Address(2);
/// An address that no station has.
const TO_Z: Address = Address(25);

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn with(change: impl FnOnce(&mut DcfConfig)) -> DcfConfig {
    let mut config = config();
    change(&mut config);
    config
}

/// A frame from Z, which no other station hears.
fn foreign(kind: FrameKind, to: Address, nav: u64) -> Signal {
    let payload = (kind == FrameKind::Data).then_some(Payload { id: 99, size: 100 });
    Signal::Frame(Frame {
        kind,
        retry: false,
        power_management: false,
        sequence: 0,
        from: TO_Z,
        to,
        size: Bytes::new(20),
        rate: config().control_rate,
        nav: us(nav),
        reservation: Reservation::default(),
        payload,
    })
}

#[test]
fn a_medium_idle_for_difs_is_taken_at_once_and_the_answer_is_exact() {
    let mut medium = Medium::new(config(), us(1), &[&[9], &[]]);
    medium.send(at(100), A, TO_B, 1, 964);
    medium.run(at(9_000));
    medium.reads(
        "
        100.000 A DATA 1 to B for 919.273, nav 314
        1030.273 B ACK to A for 304.000, nav 0
        1020.273 B has 1 from A
        1335.273 A is done with 1: Acknowledged, 1 sent
    ",
    );
}

/// 802.11g beside 802.11b: 1000 byte at 54 Mbit/s last 178 us with the signal extension, their ACK at 6 Mbit/s 50 us.
fn beside_dsss(change: impl FnOnce(&mut DcfConfig)) -> DcfConfig {
    let mut config = DcfConfig::new(Standard::Dot11g, Preamble::Long);
    config.phy.slot = us(20);
    config.non_erp = Some(NonErp { basic_rates: 1, protection: Some(Protection::CtsToSelf) });
    change(&mut config);
    config
}

#[test]
fn beside_802_11b_a_cts_to_the_station_itself_goes_before_ofdm() {
    let mut medium = Medium::new(beside_dsss(|_| ()), us(1), &[&[9], &[], &[]]);
    medium.send(at(100), A, TO_B, 1, 964);
    medium.run(at(9_000));
    medium.reads(
        "
        100.000 A CTS to A for 304.000, nav 248
        414.000 A DATA 1 to B for 178.000, nav 60
        603.000 B ACK to A for 50.000, nav 0
        593.000 B has 1 from A
        654.000 A is done with 1: Acknowledged, 1 sent
    ",
    );
}

#[test]
fn an_rts_beside_802_11b_is_dsss_and_needs_no_cts_before_it() {
    for (threshold, protection) in [(999, Protection::CtsToSelf), (3_000, Protection::RtsCts)] {
        let config = beside_dsss(|config| {
            config.rts_threshold = Bytes::new(threshold);
            config.non_erp = Some(NonErp { basic_rates: 1, protection: Some(protection) });
        });
        let mut medium = Medium::new(config, us(1), &[&[9], &[]]);
        medium.send(at(100), A, TO_B, 1, 964);
        medium.run(at(9_000));
        medium.reads(
            "
            100.000 A RTS to B for 352.000, nav 562
            463.000 B CTS to A for 304.000, nav 248
            778.000 A DATA 1 to B for 178.000, nav 60
            967.000 B ACK to A for 50.000, nav 0
            957.000 B has 1 from A
            1018.000 A is done with 1: Acknowledged, 1 sent
        ",
        );
    }
}

/// To a station of 802.11b, and to all, it speaks DSSS; the neighbour's rate is the highest.
#[test]
fn towards_802_11b_nothing_is_protected() {
    let config = beside_dsss(|config| config.broadcast_rate = HR_DSSS_RATES[0]);
    let mut medium = Medium::new(config, us(1), &[&[9], &[]]);
    medium.stations[A].meet([(TO_B, HR_DSSS_RATES[2]), (TO_C, OFDM_RATES[3])].into_iter());
    assert_eq!(medium.stations[A].rate_towards(TO_C), OFDM_RATES[7]);
    medium.send(at(100), A, TO_B, 1, 964);
    medium.send(at(9_000), A, Address::BROADCAST, 2, 64);
    medium.run(at(19_000));
    medium.reads(
        "
        100.000 A DATA 1 to B for 1646.546, nav 314
        1757.546 B ACK to A for 304.000, nav 0
        1747.546 B has 1 from A
        2062.546 A is done with 1: Acknowledged, 1 sent
        9000.000 A DATA 2 to all for 992.000, nav 0
        9992.000 A is done with 2: Broadcast, 1 sent
        9993.000 B has 2 from A
    ",
    );
}

/// A burst ends where a frame must be announced.
#[test]
fn a_burst_of_protected_frames_is_none() {
    let times = |protection| {
        let config = beside_dsss(|config| {
            config.burst = 3;
            config.non_erp = Some(NonErp { basic_rates: 1, protection });
        });
        let mut medium = Medium::new(config, us(1), &[&[9, 0, 0, 0], &[]]);
        (1..=3).for_each(|id| medium.send(at(100), A, TO_B, id, 964));
        medium.run(at(9_000));
        medium.transmissions.iter().filter(|sent| sent.frame.kind == FrameKind::Cts).count()
    };
    assert_eq!((times(Some(Protection::CtsToSelf)), times(None)), (3, 0));
}

#[test]
fn where_eifs_is_a_nav_no_rts_is_granted_until_it_is_over() {
    // A frame with an error ends at 100 us; EIFS, 364 us, is over at 464 us.
    let rts = |ends: u64, is_nav: bool| {
        let mut medium = Medium::new(with(|c| c.eifs_is_nav = is_nav), us(0), &[&[]]);
        medium.hear(A, at(0), us(100), Signal::Garbled);
        medium.hear(A, at(ends - 352), us(352), foreign(FrameKind::Rts, TO_A, 2_000));
        medium.run(at(2_000));
        medium.transmissions.len()
    };
    assert_eq!((rts(463, false), rts(463, true), rts(465, true)), (1, 0, 1));
}

#[test]
fn where_eifs_is_a_nav_an_ignored_frame_is_one_with_an_error_from_its_beginning() {
    let rts = |is_nav: bool, ignored: u64| {
        let mut medium = Medium::new(with(|c| c.eifs_is_nav = is_nav), us(0), &[&[]]);
        medium.tell(at(ignored), A, MacInput::Ignored(us(300)));
        medium.hear(A, at(500), us(352), foreign(FrameKind::Rts, TO_A, 2_000));
        medium.run(at(2_000));
        medium.transmissions.len()
    };
    // The RTS ends at 852 us, 664 us after 188 us.
    assert_eq!((rts(false, 400), rts(true, 187), rts(true, 189)), (1, 1, 0));
}

#[test]
fn a_frame_that_arrives_during_difs_waits_for_its_end_only() {
    let mut medium = Medium::new(config(), us(0), &[&[], &[]]);
    medium.noise(at(0), at(100));
    medium.send(at(120), A, TO_B, 1, 964);
    medium.run(at(1_000));
    medium.reads("150.000 A DATA 1 to B for 919.273, nav 314");
}

#[test]
fn a_frame_that_waits_for_difs_and_is_overtaken_by_energy_backs_off() {
    let mut medium = Medium::new(config(), us(0), &[&[4], &[]]);
    medium.noise(at(0), at(100));
    medium.send(at(120), A, TO_B, 1, 964);
    medium.noise(at(130), at(200));
    medium.run(at(1_000));
    medium.reads("330.000 A DATA 1 to B for 919.273, nav 314, 4 of 31");
}

#[test]
fn the_counter_freezes_at_whole_slots_and_resumes_after_difs() {
    // Five slots from 150 on. A slot is decided on 5 us before its end.
    for (energy, access) in
        [(150_000, 450), (164_999, 450), (165_000, 430), (189_999, 410), (197_000, 410), (244_999, 370)]
    {
        let mut medium = Medium::new(config(), us(0), &[&[5], &[]]);
        medium.noise(at(0), at(100));
        medium.send(at(50), A, TO_B, 1, 964);
        medium.noise(Instant::from_nanos(energy), at(300));
        medium.run(at(1_000));
        medium.reads(&format!("{access}.000 A DATA 1 to B for 919.273, nav 314, 5 of 31"));
    }
}

#[test]
fn a_backoff_follows_each_transmission_even_if_nothing_waits() {
    // Done at 1333.273; nine slots from 1383.273 to 1563.273.
    let cases =
        [(1_400, "1563.273", true), (1_558, "1563.273", true), (1_560, "1563.273", true), (1_600, "1600.000", false)];
    for (enqueued, sent, waited) in cases {
        let backoff = if waited { ", 9 of 31" } else { "" };
        let mut medium = Medium::new(config(), us(0), &[&[9], &[]]);
        medium.send(at(100), A, TO_B, 1, 964);
        medium.send(at(enqueued), A, TO_B, 2, 964);
        medium.run(at(2_000));
        medium.reads(&format!(
            "
            100.000 A DATA 1 to B for 919.273, nav 314
            1029.273 B ACK to A for 304.000, nav 0
            1019.273 B has 1 from A
            1333.273 A is done with 1: Acknowledged, 1 sent
            {sent} A DATA 2 to B for 919.273, nav 314{backoff}
        "
        ));
    }
}

#[test]
fn energy_before_the_commitment_stops_a_station_and_later_energy_does_not() {
    // Access at 150 + 5 * 20 = 250, committed at 245.
    for (energy, access) in [(244_999, 370), (245_000, 250), (249_999, 250)] {
        let mut medium = Medium::new(config(), us(0), &[&[5], &[]]);
        medium.noise(at(0), at(100));
        medium.send(at(50), A, TO_B, 1, 964);
        medium.hear(A, Instant::from_nanos(energy), at(300) - Instant::from_nanos(energy), Signal::Garbled);
        medium.run(at(1_000));
        let eifs = if access == 250 { 0 } else { 364 - 50 };
        medium.reads(&format!("{}.000 A DATA 1 to B for 919.273, nav 314, 5 of 31", access + eifs));
    }
}

#[test]
fn two_stations_whose_backoff_ends_in_one_slot_collide_whatever_the_delay() {
    for delay in [0, 1, 3_000] {
        for (draws, collide) in [([4, 4], true), ([4, 5], false), ([0, 0], true), ([0, 1], false)] {
            let mut medium = Medium::new(config(), Duration::from_nanos(delay), &[&draws[..1], &draws[1..], &[]]);
            medium.noise(at(0), at(100));
            medium.send(at(50), A, TO_C, 1, 964);
            medium.send(at(50), B, TO_C, 2, 964);
            medium.run(at(1_200));
            let first: Vec<_> = medium.transmissions.iter().take(2).map(|sent| (sent.station, sent.at)).collect();
            assert_eq!(first[0], (A, at(150 + 20 * u64::from(draws[0]))));
            assert_eq!(first[1].0 == B, collide, "{delay} ns, {draws:?}\n{}", medium.timeline);
            assert_eq!(medium.delivered.is_empty(), collide, "{}", medium.timeline);
        }
    }
}

#[test]
fn a_nanosecond_of_rounding_costs_no_slot() {
    // A hears the end of the noise 500 ns before B, B hears A after 499 ns: B has counted A's slots all the same.
    let mut medium = Medium::new(config(), Duration::from_nanos(499), &[&[4], &[6], &[]]);
    medium.hear(A, at(0), us(100), Signal::Noise);
    medium.hear(B, at(0), us(100) + Duration::from_nanos(500), Signal::Noise);
    medium.send(at(50), A, TO_C, 1, 964);
    medium.send(at(50), B, TO_C, 2, 964);
    medium.run(at(1_600));
    medium.reads(
        "
        230.000 A DATA 1 to C for 919.273, nav 314, 4 of 31
        1159.772 C ACK to A for 304.000, nav 0
        1149.772 C has 1 from A
        1464.271 A is done with 1: Acknowledged, 1 sent
        1554.271 B DATA 2 to C for 919.273, nav 314, 6 of 31
    ",
    );
}

#[test]
fn rts_and_cts_reserve_the_medium_for_the_exchange() {
    let mut medium = Medium::new(with(|c| c.rts_threshold = Bytes::ZERO), us(0), &[&[9], &[]]);
    medium.send(at(100), A, TO_B, 1, 964);
    medium.run(at(9_000));
    medium.reads(
        "
        100.000 A RTS to B for 352.000, nav 1558
        462.000 B CTS to A for 304.000, nav 1244
        776.000 A DATA 1 to B for 919.273, nav 314
        1705.273 B ACK to A for 304.000, nav 0
        1695.273 B has 1 from A
        2009.273 A is done with 1: Acknowledged, 1 sent
    ",
    );
}

#[test]
fn only_frames_above_the_threshold_are_announced() {
    for (threshold, announced) in [(999, true), (1_000, false)] {
        let mut medium = Medium::new(with(|c| c.rts_threshold = Bytes::new(threshold)), us(0), &[&[9], &[]]);
        medium.send(at(100), A, TO_B, 1, 964);
        medium.run(at(200));
        assert_eq!(medium.timeline.contains("RTS"), announced);
    }
}

#[test]
fn a_station_whose_nav_is_set_neither_sends_nor_answers_an_rts() {
    let mut medium = Medium::new(with(|c| c.nav_reset = false), us(0), &[&[3]]);
    medium.hear(A, at(0), us(352), foreign(FrameKind::Rts, TO_C, 5_000));
    medium.send(at(500), A, TO_B, 1, 964);
    medium.hear(A, at(1_000), us(352), foreign(FrameKind::Rts, TO_A, 3_000));
    // A data frame is acknowledged whatever the NAV says.
    medium.hear(A, at(2_000), us(300), foreign(FrameKind::Data, TO_A, 314));
    medium.run(at(5_500));
    medium.reads(
        "
        2310.000 A ACK to Z for 304.000, nav 0
        2300.000 A has 99 from Z
        5462.000 A DATA 1 to B for 919.273, nav 314, 3 of 31
    ",
    );
}

#[test]
fn an_rts_is_answered_when_the_nav_has_ended() {
    let mut medium = Medium::new(config(), us(0), &[&[]]);
    medium.hear(A, at(0), us(352), foreign(FrameKind::Cts, TO_C, 1_000));
    medium.hear(A, at(1_000), us(352), foreign(FrameKind::Rts, TO_A, 1_558));
    medium.run(at(2_000));
    medium.reads("1362.000 A CTS to Z for 304.000, nav 1244");
}

#[test]
fn the_nav_of_an_rts_that_nobody_follows_up_is_reset_if_so_configured() {
    // It ends at 352; 2 SIFS + CTS + 192 + 2 slots = 556 later, at 908, the NAV is reset.
    for (nav_reset, energy, access) in [
        (true, None, 908 + 50 + 60),
        (false, None, 5_352 + 50 + 60),
        // PHY-RXSTART 192 us after the energy: just in time to confirm, and just too late.
        (true, Some(716), 5_352 + 50 + 60),
        (true, Some(717), 917 + 50 + 60),
    ] {
        let mut medium = Medium::new(with(|c| c.nav_reset = nav_reset), us(0), &[&[3]]);
        medium.hear(A, at(0), us(352), foreign(FrameKind::Rts, TO_C, 5_000));
        medium.send(at(400), A, TO_B, 1, 964);
        if let Some(energy) = energy {
            medium.hear(A, at(energy), us(200), Signal::Noise);
        }
        medium.run(at(6_000));
        assert_eq!(medium.transmissions[0].at, at(access), "{}", medium.timeline);
    }
}

#[test]
fn a_reset_nav_lets_the_post_transmission_backoff_run() {
    // Nine slots from 1383.273 on: one until the RTS, which ends at 1752; its NAV is reset at 2308; two from 2358 on.
    let mut medium = Medium::new(config(), us(0), &[&[9], &[]]);
    medium.send(at(100), A, TO_B, 1, 964);
    medium.hear(A, at(1_400), us(352), foreign(FrameKind::Rts, TO_C, 5_000));
    medium.hear(A, at(2_400), us(100), Signal::Noise);
    medium.send(at(2_450), A, TO_B, 2, 964);
    medium.run(at(3_000));
    let sent = medium.transmissions[2].at;
    assert_eq!(sent, at(2_500 + 50 + 6 * 20), "{}", medium.timeline);
}

#[test]
fn only_an_rts_puts_the_nav_on_probation() {
    let mut medium = Medium::new(config(), us(0), &[&[3]]);
    medium.hear(A, at(0), us(304), foreign(FrameKind::Cts, TO_C, 5_000));
    medium.send(at(400), A, TO_B, 1, 964);
    medium.run(at(6_000));
    medium.reads("5414.000 A DATA 1 to B for 919.273, nav 314, 3 of 31");
}

#[test]
fn an_error_is_followed_by_eifs_unless_it_is_off_or_a_correct_frame_ends_it() {
    for (eifs, correct, access) in
        [(true, false, 500 + 364 + 60), (false, false, 500 + 50 + 60), (true, true, 800 + 50 + 60)]
    {
        let mut medium = Medium::new(with(|c| c.eifs = eifs), us(0), &[&[3]]);
        medium.hear(A, at(300), us(200), Signal::Garbled);
        medium.send(at(400), A, TO_B, 1, 964);
        if correct {
            medium.hear(A, at(600), us(200), foreign(FrameKind::Ack, TO_C, 0));
        }
        medium.run(at(1_000));
        medium.reads(&format!("{access}.000 A DATA 1 to B for 919.273, nav 314, 3 of 31"));
    }
}

#[test]
fn eifs_begins_when_the_medium_falls_idle() {
    let mut medium = Medium::new(config(), us(0), &[&[3]]);
    medium.hear(A, at(300), us(200), Signal::Garbled);
    medium.hear(A, at(400), us(300), Signal::Noise);
    medium.send(at(400), A, TO_B, 1, 964);
    medium.run(at(1_200));
    medium.reads("1124.000 A DATA 1 to B for 919.273, nav 314, 3 of 31");
}

#[test]
fn the_window_doubles_to_its_maximum_and_falls_back_when_the_frame_is_given_up() {
    let mut medium = Medium::new(with(|c| c.short_retry_limit = Some(8)), us(0), &[&[]]);
    medium.send(at(0), A, TO_Z, 1, 964);
    medium.send(at(0), A, TO_Z, 2, 964);
    medium.run(at(1_000_000));
    // The very first frame found the medium idle: it waited for no backoff.
    assert_eq!(medium.transmissions[0].backoff, None);
    let backoffs: Vec<_> = medium.transmissions[1..].iter().map(|sent| sent.backoff.unwrap()).collect();
    let windows: Vec<_> = backoffs.iter().map(|(window, _)| *window).collect();
    assert_eq!(windows, [63, 127, 255, 511, 1023, 1023, 1023, 31, 63, 127, 255, 511, 1023, 1023, 1023]);
    assert!(backoffs.iter().all(|(window, drawn)| drawn <= window));
}

#[test]
fn a_short_frame_is_given_up_after_seven_attempts_and_handed_back() {
    let mut medium = Medium::new(config(), us(0), &[&[]]);
    medium.send(at(0), A, TO_Z, 1, 964);
    medium.run(at(1_000_000));
    let retries: Vec<_> = medium.transmissions.iter().map(|sent| sent.frame.retry).collect();
    assert_eq!(retries, [false, true, true, true, true, true, true]);
    assert!(medium.transmissions.iter().all(|sent| sent.frame.sequence == 0));
    assert!(medium.timeline.ends_with("A is done with 1: RetryLimit, 7 sent\n"), "{}", medium.timeline);
    assert_eq!(medium.stations[A].stats().retry_limit_drops, 1);
}

#[test]
fn an_announced_frame_is_given_up_after_four_attempts_that_all_got_their_cts() {
    let mut medium = Medium::new(with(|c| c.rts_threshold = Bytes::ZERO), us(0), &[&[], &[]]);
    medium.destroy = (1..=4).map(|nth| (FrameKind::Data, nth)).collect();
    medium.send(at(0), A, TO_B, 1, 964);
    medium.run(at(1_000_000));
    assert!(medium.timeline.ends_with("A is done with 1: RetryLimit, 4 sent\n"), "{}", medium.timeline);
    assert_eq!((medium.stations[A].stats().rts_frames, medium.stations[A].stats().retries), (4, 3));
}

#[test]
fn an_rts_without_answer_is_given_up_after_seven_attempts_and_the_data_never_sent() {
    let mut medium = Medium::new(with(|c| c.rts_threshold = Bytes::ZERO), us(0), &[&[]]);
    medium.send(at(0), A, TO_Z, 1, 964);
    medium.run(at(1_000_000));
    assert!(medium.timeline.ends_with("A is done with 1: RetryLimit, 0 sent\n"), "{}", medium.timeline);
    assert_eq!(medium.stations[A].stats().rts_frames, 7);
}

#[test]
fn a_cts_makes_the_short_count_begin_again() {
    // Six RTS fail, the seventh is answered, its data frame is lost; six more may fail, the next is answered.
    let mut medium = Medium::new(with(|c| c.rts_threshold = Bytes::ZERO), us(0), &[&[], &[]]);
    medium.destroy = (1..=6).chain(8..=13).map(|nth| (FrameKind::Rts, nth)).chain([(FrameKind::Data, 1)]).collect();
    medium.send(at(0), A, TO_B, 1, 964);
    medium.run(at(1_000_000));
    assert!(medium.timeline.ends_with("A is done with 1: Acknowledged, 2 sent\n"), "{}", medium.timeline);
    assert_eq!(medium.stations[A].stats().rts_frames, 14);
}

#[test]
fn without_a_limit_a_frame_is_sent_for_ever() {
    let mut medium = Medium::new(with(|c| c.short_retry_limit = None), us(0), &[&[]]);
    medium.send(at(0), A, TO_Z, 1, 964);
    medium.run(at(5_000_000));
    assert!(medium.transmissions.len() > 300 && medium.outcomes.is_empty());
}

#[test]
fn a_frame_whose_ack_was_lost_is_acknowledged_again_and_delivered_once() {
    let mut medium = Medium::new(config(), us(0), &[&[9], &[]]);
    medium.destroy = vec![(FrameKind::Ack, 1)];
    medium.send(at(100), A, TO_B, 1, 964);
    medium.run(at(9_000));
    let second = medium.transmissions[2].at;
    let drawn = medium.transmissions[2].backoff.unwrap().1;
    // The destroyed ACK ends at 1333.273: EIFS, then the backoff from the doubled window.
    assert_eq!(second, Instant::from_nanos(1_333_273 + 364_000 + 20_000 * u64::from(drawn)));
    let sent = second.as_nanos();
    let us = |ns: u64| format!("{}.{:03}", ns / 1_000, ns % 1_000);
    medium.reads(&format!(
        "
        100.000 A DATA 1 to B for 919.273, nav 314
        1029.273 B ACK to A for 304.000, nav 0
        1019.273 B has 1 from A
        {} A DATA 1 again to B for 919.273, nav 314, {drawn} of 63
        {} B ACK to A for 304.000, nav 0
        {} A is done with 1: Acknowledged, 2 sent
    ",
        us(sent),
        us(sent + 929_273),
        us(sent + 1_233_273)
    ));
    assert_eq!(medium.stations[B].stats().duplicates, 1);
}

#[test]
fn a_sequence_number_seen_before_is_a_duplicate_with_the_retry_bit_only() {
    let mut medium = Medium::new(config(), us(0), &[&[]]);
    for (start, again) in [(0, false), (1_000, false), (2_000, true)] {
        let Signal::Frame(mut frame) = foreign(FrameKind::Data, TO_A, 314) else { unreachable!() };
        frame.retry = again;
        medium.hear(A, at(start), us(300), Signal::Frame(frame));
    }
    medium.run(at(3_000));
    medium.reads(
        "
        310.000 A ACK to Z for 304.000, nav 0
        300.000 A has 99 from Z
        1310.000 A ACK to Z for 304.000, nav 0
        1300.000 A has 99 from Z
        2310.000 A ACK to Z for 304.000, nav 0
    ",
    );
}

#[test]
fn a_broadcast_goes_out_once_at_a_basic_rate_and_nobody_answers() {
    let mut medium = Medium::new(config(), us(0), &[&[9], &[], &[]]);
    medium.send(at(100), A, Address::BROADCAST, 1, 64);
    medium.send(at(100), A, Address::BROADCAST, 2, 64);
    medium.run(at(3_000));
    medium.reads(
        "
        100.000 A DATA 1 to all for 992.000, nav 0
        1092.000 B has 1 from A
        1092.000 C has 1 from A
        1092.000 A is done with 1: Broadcast, 1 sent
        1322.000 A DATA 2 to all for 992.000, nav 0, 9 of 31
        2314.000 B has 2 from A
        2314.000 C has 2 from A
        2314.000 A is done with 2: Broadcast, 1 sent
    ",
    );
}

#[test]
fn the_queue_refuses_what_exceeds_its_limit_and_hands_it_back() {
    for limit in [0, 2] {
        let mut medium = Medium::new(with(|c| c.queue_limit = limit), us(0), &[&[], &[]]);
        for id in 0..=limit + 1 {
            medium.send(at(100), A, TO_B, id, 964);
        }
        medium.run(at(200));
        assert_eq!(medium.outcomes, [(A, limit + 1, Outcome::QueueFull)]);
        assert_eq!(medium.stations[A].queue_len(), limit as usize);
        medium.run(at(100_000));
        assert_eq!(medium.outcomes.len(), limit as usize + 2);
    }
}

#[test]
fn an_answer_must_begin_within_a_slot_of_its_time() {
    // There and back in 18 us, and in 22.
    for (delay, attempts) in [(9, 1), (11, 7)] {
        let mut medium = Medium::new(config(), us(delay), &[&[], &[]]);
        medium.send(at(100), A, TO_B, 1, 964);
        medium.run(at(200_000));
        assert!(medium.timeline.ends_with(&format!(", {attempts} sent\n")), "{}", medium.timeline);
        assert_eq!(medium.delivered, [(B, 1)]);
    }
}

#[test]
fn a_reception_under_way_when_the_time_for_the_answer_is_over_is_heard_out() {
    // The data frame ends at 1019.273, its ACK must show by 1241.273; another frame lasts from 1030 to 1400 instead.
    let mut medium = Medium::new(config(), us(0), &[&[]]);
    medium.send(at(100), A, TO_Z, 1, 964);
    medium.hear(A, at(1_030), us(370), foreign(FrameKind::Data, TO_A, 314));
    medium.run(at(1_800));
    let text = &medium.timeline;
    assert!(text.contains("1410.000 A ACK to Z") && !text.contains("again"), "{text}");
    medium.run(at(4_000));
    let second = medium.transmissions[2].at;
    let drawn = u64::from(medium.transmissions[2].backoff.unwrap().1);
    assert_eq!(second, at(1_410 + 304 + 50 + 20 * drawn), "{}", medium.timeline);
}

#[test]
fn a_burst_takes_the_medium_once() {
    let mut medium = Medium::new(with(|c| c.burst = 2), us(0), &[&[9, 5], &[]]);
    for id in 1..=3 {
        medium.send(at(100), A, TO_B, id, 964);
    }
    medium.run(at(9_000));
    // The second frame comes a SIFS after the ACK; the third after DIFS and 9 slots of the backoff behind the burst.
    medium.reads(
        "
        100.000 A DATA 1 to B for 919.273, nav 314
        1029.273 B ACK to A for 304.000, nav 0
        1019.273 B has 1 from A
        1333.273 A is done with 1: Acknowledged, 1 sent
        1343.273 A DATA 2 to B for 919.273, nav 314
        2272.546 B ACK to A for 304.000, nav 0
        2262.546 B has 2 from A
        2576.546 A is done with 2: Acknowledged, 1 sent
        2806.546 A DATA 3 to B for 919.273, nav 314, 9 of 31
        3735.819 B ACK to A for 304.000, nav 0
        3725.819 B has 3 from A
        4039.819 A is done with 3: Acknowledged, 1 sent
    ",
    );
}

#[test]
fn a_frame_that_fails_twice_is_repeated_a_rate_lower_and_answered_by_the_rate_it_came_at() {
    let config = with(|c| {
        (c.rate_control, c.basic_rates) = (RateControl::ARF, 0b0111);
        c.control_rate = c.phy.standard.rates()[2];
    });
    let mut medium = Medium::new(config, us(0), &[&[0, 0, 0], &[]]);
    medium.destroy = vec![(FrameKind::Data, 1), (FrameKind::Data, 2)];
    medium.send(at(100), A, TO_B, 1, 964);
    medium.run(at(9_000));
    // 1000 byte at 11 Mbit/s last 919.273 us, at 5.5 Mbit/s 1646.546 us; the ACK 192 + 14 * 8 / 5.5 us.
    let airtimes: Vec<u64> = medium.transmissions.iter().map(|sent| sent.airtime.as_nanos()).collect();
    assert_eq!(airtimes, [919_273, 919_273, 1_646_546, 212_364], "{}", medium.timeline);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Stations at random distances, some out of each other's range, random traffic and random losses.
    #[test]
    fn whatever_happens_on_the_medium_every_packet_is_accounted_for(
        n in 2usize..5,
        rts in any::<bool>(),
        (burst, control) in (1u32..4, prop_oneof![Just(RateControl::Fixed), Just(RateControl::ARF)]),
        nav_reset in any::<bool>(),
        (eifs, eifs_is_nav) in (any::<bool>(), any::<bool>()),
        delays in prop::collection::vec(prop_oneof![1 => Just(None), 4 => (0u64..3_000).prop_map(Some)], 16),
        packets in prop::collection::vec((0u64..20_000, 0usize..5, 0u32..5, 0u64..1_500), 1..40),
        destroyed in prop::collection::vec((0usize..4, 1u32..30), 0..40),
    ) {
        let config = with(|c| {
            c.rts_threshold = if rts { Bytes::new(500) } else { Bytes::new(3_000) };
            (c.burst, c.rate_control) = (burst, control);
            c.nav_reset = nav_reset;
            (c.eifs, c.eifs_is_nav) = (eifs, eifs_is_nav);
            c.queue_limit = 3;
        });
        let mut medium = Medium::new(config, us(0), &vec![&[] as &[u32]; n]);
        let kinds = [FrameKind::Data, FrameKind::Ack, FrameKind::Rts, FrameKind::Cts];
        medium.destroy = destroyed.iter().map(|&(kind, nth)| (kinds[kind], nth)).collect();
        for i in 0..n {
            for j in 0..i {
                medium.delay[i][j] = delays[i * 4 + j].map(Duration::from_nanos);
                medium.delay[j][i] = medium.delay[i][j];
            }
        }
        for (id, &(at_us, from, to, size)) in packets.iter().enumerate() {
            let to = if to == 4 { Address::BROADCAST } else { Address(to) };
            let from = from % n;
            if to != Address(from as u32) {
                medium.send(at(at_us), from, to, id as u32, size);
            }
        }
        let sent = packets.iter().filter(|&&(_, from, to, _)| to == 4 || (from % n) as u32 != to).count();
        medium.run(at(60_000_000));
        // Each packet is reported once, and none waits any more.
        let mut reported: Vec<_> = medium.outcomes.iter().map(|&(_, id, _)| id).collect();
        reported.sort_unstable();
        reported.dedup();
        prop_assert_eq!((reported.len(), medium.outcomes.len()), (sent, sent), "{}", medium.timeline);
        // An acknowledged one was delivered, and a unicast one never twice.
        for &(_, id, outcome) in &medium.outcomes {
            let times = medium.delivered.iter().filter(|&&(_, delivered)| delivered == id).count();
            let is_broadcast = packets[id as usize].2 == 4;
            prop_assert!(is_broadcast || times <= 1, "{}\n{}", id, medium.timeline);
            prop_assert!(outcome != Outcome::Acknowledged || times == 1, "{}\n{}", id, medium.timeline);
            prop_assert!(outcome != Outcome::QueueFull || times == 0, "{}\n{}", id, medium.timeline);
        }
        // A radio has one transmission at a time.
        for station in 0..n {
            let mut own: Vec<_> = medium.transmissions.iter().filter(|sent| sent.station == station).collect();
            own.sort_by_key(|sent| sent.at);
            for pair in own.windows(2) {
                prop_assert!(pair[0].at + pair[0].airtime <= pair[1].at, "{}", medium.timeline);
            }
        }
    }
}

/// A neighbour is gone: what waits for it is given up, with the MSDU in service if nothing of it was ever on the air.
/// A frame on the air is finished. MSDUs for other neighbours are sent as ever.
#[test]
fn what_waits_for_a_neighbour_that_is_gone_is_given_up_and_nothing_else() {
    let outcomes = |purged_at: u64| {
        let mut medium = Medium::new(config(), us(0), &[&[4], &[], &[]]);
        medium.noise(at(0), at(100));
        for (id, to) in [(1, TO_B), (2, Address(2)), (3, TO_B), (4, Address(2))] {
            medium.send(at(110), A, to, id, 964);
        }
        medium.tell(at(purged_at), A, MacInput::Purge(TO_B));
        medium.run(at(30_000));
        let mut outcomes = medium.outcomes.clone();
        outcomes.sort_unstable_by_key(|outcome| outcome.1);
        outcomes.into_iter().map(|(_, _, outcome)| outcome).collect::<Vec<_>>()
    };
    let (sent, purged) = (Outcome::Acknowledged, Outcome::Purged);
    assert_eq!(outcomes(120), [purged, sent, purged, sent], "before the first is on the air");
    assert_eq!(outcomes(500), [sent, sent, purged, sent], "while it is");
}

#[test]
fn there_is_room_until_as_many_wait_as_the_queue_holds() {
    let mut medium = Medium::new(with(|c| c.queue_limit = 3), us(0), &[&[], &[]]);
    let mut room = vec![];
    for id in 0..5 {
        room.push(medium.stations[A].has_room());
        medium.send(at(100), A, TO_B, id, 964);
        medium.run(at(101));
    }
    assert_eq!(room, [true, true, true, true, false], "one in service, three in the queue");
    medium.run(at(3_000));
    assert!(medium.stations[A].has_room(), "one has left");
}

#[test]
fn an_answer_has_the_highest_basic_rate_that_is_not_above_the_frames() {
    // Of 1, 2, 5.5 and 11 Mbit/s all but the third are basic; frames of 1 Mbit/s are the station's own.
    let config = with(|c| {
        c.data_rate = c.phy.standard.rates()[0];
        c.control_rate = c.data_rate;
        c.basic_rates = 0b1011;
    });
    let rates = config.phy.standard.rates();
    let answers = [0, 1, 2, 3].map(|i| config.answer_rate(rates[i]).bit_rate);
    assert_eq!(answers, [rates[0], rates[1], rates[1], rates[3]].map(|rate| rate.bit_rate));
}

#[test]
fn an_msdu_that_was_never_on_the_air_is_withdrawn_without_a_sequence_number() {
    let msdu = |id| Msdu { to: TO_B, packet: Payload { id, size: 964 } };
    let mut station = Dcf::new(config(), TO_A, stream_drawing(&[4]));
    station.handle_input(at(0), MacInput::Busy);
    station.handle_input(at(10), MacInput::Enqueue(msdu(1)));
    station.handle_input(at(10), MacInput::Enqueue(msdu(2)));
    assert_eq!(station.withdraw(at(20), TO_B), [Held::new(msdu(1)), Held::new(msdu(2))]);
    // No answer comes until 1300 us.
    let mut station = Dcf::new(config(), TO_A, stream_drawing(&[4]));
    station.handle_input(at(100), MacInput::Enqueue(msdu(1)));
    while let Some(wake) = station.poll_timeout().filter(|wake| wake.at <= at(1_300)) {
        station.handle_timeout(wake.at);
    }
    let held = station.withdraw(at(1_300), TO_B);
    assert!(held[0].sequence.is_some() && held[0].attempts == 1, "{held:?}");
}

/// Of what is in service and in the queue only what is for that neighbour is taken.
#[test]
fn what_is_for_others_is_not_withdrawn() {
    let msdu = |id, to| Msdu { to: Address(to), packet: Payload { id, size: 964 } };
    let mut station = Dcf::new(config(), TO_A, stream_drawing(&[4]));
    station.handle_input(at(0), MacInput::Busy);
    for (id, to) in [(1, 2), (2, 1), (3, 2), (4, 1)] {
        station.handle_input(at(10), MacInput::Enqueue(msdu(id, to)));
    }
    assert_eq!(station.withdraw(at(20), TO_B), [Held::new(msdu(2, 1)), Held::new(msdu(4, 1))]);
    assert_eq!(station.withdraw(at(30), Address(2)), [Held::new(msdu(1, 2)), Held::new(msdu(3, 2))]);
    assert_eq!(station.withdraw(at(40), Address(2)), []);
}

#[test]
fn an_access_costs_difs_half_of_the_smallest_window_and_sifs() {
    let station: Dcf<Payload> = Dcf::new(config(), TO_A, stream_drawing(&[]));
    assert_eq!(station.access_gap(), us(50 + 20 * 31 / 2 + 10));
}

/// Outputs of a station with their times, and the number of its wake-ups.
type Played = (Vec<(Instant, MacOutput<Payload>)>, usize);

/// Everything that a station puts out under arbitrary inputs.
fn played(moves: &[(u8, u64)], rts: bool, next: impl Fn(&Dcf<Payload>) -> Option<Wake>) -> Played {
    station_after(moves, rts, next).1
}

/// The same, behind the station as it is then, the time, and whether the medium is busy.
fn station_after(
    moves: &[(u8, u64)],
    rts: bool,
    next: impl Fn(&Dcf<Payload>) -> Option<Wake>,
) -> ((Dcf<Payload>, Instant, bool), Played) {
    let config = with(|c| c.rts_threshold = Bytes::new(if rts { 500 } else { 3_000 }));
    let mut station = Dcf::new(config, TO_A, stream_drawing(&[3, 1, 4]));
    let (mut now, mut is_busy, mut outputs, mut wakes) = (Instant::ZERO, false, Vec::new(), 0);
    for (id, (kind, wait)) in (0..).zip(moves) {
        let until = now + us(*wait);
        while let Some(wake) = next(&station).filter(|wake| wake.at <= until) {
            station.handle_timeout(wake.at);
            outputs.extend(std::iter::from_fn(|| station.poll_output()).map(|output| (wake.at, output)));
            wakes += 1;
        }
        now = until;
        let received = |kind, to| match foreign(kind, to, 500) {
            Signal::Frame(frame) => frame,
            other => panic!("{other:?}"),
        };
        let input = match (kind, is_busy) {
            (0, _) => MacInput::Enqueue(Msdu { to: TO_B, packet: Payload { id, size: 964 } }),
            (_, false) => MacInput::Busy,
            (1, true) => MacInput::Idle,
            (2, true) => MacInput::ReceptionError { idle: true },
            (3, true) => MacInput::Received { frame: received(FrameKind::Ack, TO_A), idle: true },
            (4, true) => MacInput::Received { frame: received(FrameKind::Cts, TO_A), idle: true },
            (5, true) => MacInput::Received { frame: received(FrameKind::Data, TO_A), idle: true },
            (6, true) => MacInput::ReceptionError { idle: false },
            (_, true) => MacInput::Overheard { frame: received(FrameKind::Rts, TO_C).header(), idle: true },
        };
        is_busy = match input {
            MacInput::Enqueue(_) | MacInput::ReceptionError { idle: false } => is_busy,
            _ => !is_busy,
        };
        station.handle_input(now, input);
        outputs.extend(std::iter::from_fn(|| station.poll_output()).map(|output| (now, output)));
    }
    ((station, now, is_busy), (outputs, wakes))
}

proptest! {
    /// A host that wakes a station at each of its timers, and one that leaves out those for which it does not ask.
    #[test]
    fn a_wake_up_that_is_not_asked_for_would_change_nothing(
        moves in prop::collection::vec((0u8..8, prop_oneof![0u64..60, 180u64..420, 0u64..1_600]), 1..120),
        rts in any::<bool>(),
    ) {
        let (all, needed) = (played(&moves, rts, Dcf::next_timer), played(&moves, rts, Machine::poll_timeout));
        prop_assert_eq!(all.0, needed.0);
        prop_assert!(needed.1 <= all.1);
    }
}

/// The answer begins in time: its end decides, and the station sleeps until then.
#[test]
fn a_station_that_hears_its_answer_is_not_woken_for_the_timeout() {
    let moves = [(0, 100), (1, 930), (3, 324)];
    // The frame is on the air from 100 us on, the answer from 1030 to 1354 us; committed at once, it is never woken.
    assert_eq!(played(&moves, false, Dcf::next_timer).1, 1);
    assert_eq!(played(&moves, false, Machine::poll_timeout).1, 0);
}

proptest! {
    /// Energy that arrives before an alarm that would be silenced by it.
    #[test]
    fn a_silenced_alarm_is_not_asked_for_once_energy_has_come(
        moves in prop::collection::vec((0u8..8, prop_oneof![0u64..60, 180u64..420, 0u64..1_600]), 1..60),
        rts in any::<bool>(),
        wait in 1u64..400,
    ) {
        let (mut station, now, is_busy) = station_after(&moves, rts, Machine::poll_timeout).0;
        let at = now + us(wait);
        let is_before = station.poll_timeout().is_some_and(|wake| wake.at > at);
        let is_silenced = station.is_silenced(at);
        if is_before && !is_busy {
            station.handle_input(at, MacInput::Busy);
            prop_assert_eq!(is_silenced, station.poll_timeout().is_none());
        }
    }
}
