//! Numbers that follow from a configuration, worked out by hand from the standard, and the formats of a station.

use super::super::config::{Announcement, EdcaConfig, FunctionConfig};
use super::super::frames::{AgreementFrame, BlockAck, Vector};
use super::super::function::AccessFunction;
use super::super::rates::{Grade, Rates};
use super::super::{AccessCategory, Edca, MpduSet, window_max};
use super::air::Payload;
use crate::frame::{Address, FrameKind};
use crate::phy::OFDM_RATES;
use crate::ppdu::{Band, Choice, Format, Mode, Width};
use crate::rate_control::RateControl;
use airbraid_engine::Stream;
use airbraid_units::{Bytes, Duration};

use AccessCategory::{Background, BestEffort, Video, Voice};

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}
fn of(format: Format, mcs: u8, width: Width) -> Vector {
    Vector::Mode(Mode::new(Choice { mcs, width, ..Choice::new(format) }).unwrap())
}
fn he(mcs: u8) -> EdcaConfig {
    EdcaConfig::new(of(Format::He, mcs, Width::Mhz20), Band::Ghz5)
}
fn all(config: &EdcaConfig) -> Vec<Grade> {
    Grade::all(config, &config.data, config.aggregation.window)
}
fn add_narrower(grades: &mut Vec<Grade>, config: &EdcaConfig) {
    Grade::add_narrower(grades, config, config.aggregation.window);
}
fn random() -> Stream {
    Stream::new(1, 0, "test")
}
fn mbps(rates: impl IntoIterator<Item = crate::phy::Rate>) -> Vec<u64> {
    rates.into_iter().map(|rate| rate.bit_rate.as_bps() / 1_000_000).collect()
}

#[test]
fn windows_end_with_their_amendment() {
    let formats = [Format::Ht, Format::Vht, Format::He, Format::Eht];
    assert_eq!(formats.map(|format| window_max(&of(format, 0, Width::Mhz20))), [64, 64, 256, 1_024]);
    assert_eq!(window_max(&Vector::NonHt(OFDM_RATES[0])), 64);
    let of_new = formats.map(|format| EdcaConfig::new(of(format, 0, Width::Mhz20), Band::Ghz5));
    assert_eq!(
        of_new.map(|config| (config.aggregation.window, config.queue_limit)),
        [(64, 1_000), (64, 1_000), (256, 1_024), (1_024, 4_096)]
    );
    let longest = of_new.map(|config| config.aggregation.ampdu.unwrap().as_u64());
    assert_eq!(longest, [65_535, 1_048_575, 6_500_631, 15_523_200]);
    assert_eq!(EdcaConfig::new(Vector::NonHt(OFDM_RATES[0]), Band::Ghz5).aggregation.ampdu, None);
}

/// Table 9-155 with aCWmin 15 and aCWmax 1023: (aCWmin + 1) / 2 - 1 and (aCWmin + 1) / 4 - 1.
#[test]
fn categories_have_the_constants_of_the_table() {
    let of = |category| {
        let FunctionConfig { aifsn, cw_min, cw_max, txop } = FunctionConfig::standard(category);
        assert!(txop.is_zero());
        (aifsn, cw_min, cw_max)
    };
    assert_eq!([Background, BestEffort, Video, Voice].map(of), [(7, 15, 1_023), (3, 15, 1_023), (2, 7, 15), (2, 3, 7)]);
    let of_31 = [Video, Voice].map(|category| FunctionConfig::of_windows(category, 31, 1_023));
    assert_eq!(of_31.map(|function| (function.cw_min, function.cw_max)), [(15, 31), (7, 15)]);
}

/// Priorities 1 and 2 are background, 0 and 3 best effort, 4 and 5 video, 6 and 7 voice (table 10-1).
#[test]
fn priorities_have_their_categories() {
    let expected = [BestEffort, Background, Background, BestEffort, Video, Video, Voice, Voice];
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(AccessCategory::of_priority), expected);
    assert_eq!(AccessCategory::of_priority(8 + 5), Video, "three bits count");
    for category in AccessCategory::ALL {
        assert_eq!(AccessCategory::of_priority(category.priority()), category);
    }
    assert_eq!(AccessCategory::ALL.map(AccessCategory::name), ["bk", "be", "vi", "vo"]);
}

/// 5 GHz: SIFS 16, slot 9, aPHY-RX-START-Delay 20, ACK at 6 Mbit/s 44 us. 2.4 GHz: SIFS 10, and 6 us of extension.
#[test]
fn times_follow_from_the_phy() {
    let config = he(7);
    assert_eq!(config.sense().eifs, Some(us(16 + 34 + 44)));
    assert_eq!(config.sense().difs, us(34));
    assert_eq!((config.backoff(BestEffort).gap, config.backoff(Background).gap), (us(16 + 27), us(16 + 63)));
    let start = config.phy.rx_start_delay;
    assert_eq!(config.response_timeout(), us(16 + 9) + start);
    let slack = EdcaConfig { response_slack: us(5), ..config };
    assert_eq!(slack.response_timeout(), us(16 + 9 + 5) + start);
    assert_eq!(config.nav_probation(us(28)), us(32 + 28 + 18) + start);
    assert_eq!(config.secondary_idle(), us(25), "PIFS");
    let low = EdcaConfig::new(of(Format::He, 7, Width::Mhz20), Band::Ghz2_4);
    assert_eq!((low.secondary_idle(), low.phy.sifs), (us(28), us(10)), "DIFS");
    let without = EdcaConfig { eifs: false, ..config };
    assert_eq!(without.sense().eifs, None);
    // Two SIFS, AIFS of three slots and half of 15.
    let random = [0, 1, 2, 3].map(|place| Stream::new(place, 0, "test"));
    assert_eq!(Edca::<Payload>::new(config, Address(0), random).access_gap(), us(32 + 9 * (3 + 7)));
}

#[test]
fn lengths_are_those_of_headers_and_packets() {
    let config = he(7);
    assert_eq!((config.mpdu_size(Bytes::new(1_500)), config.mpdu_size(Bytes::ZERO)), (1_538, 38));
    assert_eq!(config.broadcast_size(Bytes::new(1_500)), Bytes::new(1_536), "no QoS Control");
    assert_eq!(
        [1, 64, 65, 256, 257, 512, 513, 1_024].map(|window| BlockAck::size(window).as_u64()),
        [32, 32, 56, 56, 88, 88, 152, 152]
    );
    let request = |window| AgreementFrame::Request { token: 1, start: 0, window };
    let response = |window| AgreementFrame::Response { token: 1, is_accepted: true, window };
    assert_eq!([request(256), response(256)].map(|frame| frame.size().as_u64()), [37; 2]);
    assert_eq!([request(257), response(257)].map(|frame| frame.size().as_u64()), [40; 2]);
    assert_eq!([request(257), response(256)].map(AgreementFrame::has_extension), [true, false]);
}

/// Table 10-10, and the basic rate that is not above it.
#[test]
fn answers_go_at_the_basic_rate_below_the_reference() {
    let mut all = he(7);
    all.basic_rates = 0xff;
    let answers =
        |config: &EdcaConfig| mbps((0..=11).map(|mcs| config.answer_rate(&of(Format::He, mcs, Width::Mhz20))));
    assert_eq!(answers(&all), [6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54]);
    assert_eq!(answers(&he(7)), [6, 12, 12, 24, 24, 24, 24, 24, 24, 24, 24, 24]);
    let of_legacy = |config: &EdcaConfig| mbps(OFDM_RATES.map(|rate| config.answer_rate(&Vector::NonHt(rate))));
    assert_eq!(of_legacy(&he(7)), [6, 6, 12, 12, 24, 24, 24, 24]);
    let only_fast = EdcaConfig { basic_rates: 0b1000_0000, ..he(7) };
    assert_eq!(of_legacy(&only_fast), [6, 6, 6, 6, 6, 6, 6, 54], "where none is below, the slowest");
}

#[test]
fn announcements_are_rts_and_initial_control_frames() {
    let config = he(7);
    let vector = config.data;
    let Announcement { kind, rate, size } = config.request_to_send(&vector);
    assert_eq!((kind, mbps([rate]), size), (FrameKind::Rts, vec![24], Bytes::new(20)));
    // RTS 28, CTS 28, two SIFS.
    assert_eq!(config.announced_time(&vector), us(28 + 28 + 32));
    let slow = he(0);
    assert_eq!(slow.announced_time(&slow.data), us(52 + 44 + 32), "at 6 Mbit/s");
    // 33 byte, and 32 us at 24 Mbit/s are 96 byte more; 1 us is 3; at 6 Mbit/s 0.75, so 1.
    let icf = |config: &EdcaConfig, padding| config.initial_control_frame(&config.data, us(padding)).size.as_u64();
    assert_eq!([0, 1, 32, 128].map(|padding| icf(&config, padding)), [33, 36, 129, 417]);
    assert_eq!([0, 1, 32].map(|padding| icf(&slow, padding)), [33, 34, 57]);
    // 6, 12 or 24 Mbit/s, whatever else is basic.
    let every = EdcaConfig { basic_rates: 0xff, ..config };
    let rate = |mcs| every.initial_control_frame(&of(Format::He, mcs, Width::Mhz20), us(0)).rate;
    assert_eq!(mbps([0, 1, 2, 3, 7].map(rate)), [6, 12, 12, 24, 24]);
    assert_eq!(mbps([FrameKind::MuRts, FrameKind::Rts].map(|kind| config.cts_rate(kind, OFDM_RATES[4]))), [6, 24]);
}

#[test]
fn the_longest_psdu_is_that_of_the_time_that_is_left() {
    let config = he(7);
    let Vector::Mode(mode) = config.data else { panic!("no mode") };
    let longest = |span| config.longest_psdu(&config.data, span);
    assert_eq!(longest(us(5_484)), longest(us(9_000)));
    assert_eq!(longest(us(5_484)), mode.longest_psdu().as_u64());
    for span in [200, 1_000, 5_483].map(us) {
        let most = longest(span);
        assert!(mode.airtime(Bytes::new(most)) <= span && mode.airtime(Bytes::new(most + 1)) > span, "{span}");
    }
    assert_eq!(longest(us(10)), 0);
    assert_eq!(config.longest_psdu(&Vector::NonHt(OFDM_RATES[0]), us(10)), u64::from(u32::MAX));
}

/// 15, 31, 63, and behind the retry limit from 15 again.
#[test]
fn the_window_doubles_up_to_the_retry_limit() {
    let mut config = he(7);
    config.retry_limit = Some(3);
    let mut function = AccessFunction::new(&config, BestEffort, random());
    let window = |function: &AccessFunction| function.backoff.last_draw().0;
    let mut windows = vec![window(&function)];
    for _ in 0..6 {
        function.fail();
        windows.push(window(&function));
    }
    assert_eq!(windows, [15, 31, 63, 127, 15, 31, 63]);
    function.succeed();
    assert_eq!(window(&function), 15);
    let counts: Vec<u32> = (0..4)
        .map(|_| {
            function.fail();
            window(&function)
        })
        .collect();
    assert_eq!(counts, [31, 63, 127, 15], "failures are counted from there");
    config.retry_limit = None;
    let mut function = AccessFunction::new(&config, Voice, random());
    let windows: Vec<u32> = (0..9)
        .map(|_| {
            function.fail();
            window(&function)
        })
        .collect();
    assert_eq!(windows, [7; 9], "aCWmax of voice");
}

/// All MCS and streams below the configured one, that last; with each half of the channel the same again.
#[test]
fn rate_control_chooses_among_formats_up_to_the_configured_one() {
    let choice = Choice { mcs: 2, streams: 2, width: Width::Mhz40, ..Choice::new(Format::He) };
    let mut config = EdcaConfig::new(Vector::Mode(Mode::new(choice).unwrap()), Band::Ghz5);
    let shown = |grade: &Grade| match grade.vector {
        Vector::Mode(mode) => (mode.choice().streams, mode.choice().mcs, mode.choice().width),
        Vector::NonHt(_) => panic!("no mode"),
    };
    assert_eq!(all(&config).iter().map(shown).collect::<Vec<_>>(), [(2, 2, Width::Mhz40)]);
    config.rate_control = RateControl::Ideal;
    let mut grades = all(&config);
    let expected = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
    assert_eq!(grades.iter().map(shown).collect::<Vec<_>>(), expected.map(|(n, mcs)| (n, mcs, Width::Mhz40)));
    add_narrower(&mut grades, &config);
    assert_eq!(grades[6..].iter().map(shown).collect::<Vec<_>>(), expected.map(|(n, mcs)| (n, mcs, Width::Mhz20)));
    let mut fixed = all(&config);
    config.bandwidth = super::super::Bandwidth::Static;
    add_narrower(&mut fixed, &config);
    assert_eq!(fixed.len(), 6);
    let legacy =
        EdcaConfig { rate_control: RateControl::Ideal, ..EdcaConfig::new(Vector::NonHt(OFDM_RATES[3]), Band::Ghz5) };
    let mut grades = all(&legacy);
    assert_eq!(mbps(grades.iter().map(|grade| grade.vector.rate())), [6, 9, 12, 18]);
    add_narrower(&mut grades, &legacy);
    assert_eq!(grades.len(), 4);
}

/// 802.11ac has no MCS 9 in 20 MHz with one stream: MCS 8 takes its place.
#[test]
fn a_format_that_a_narrower_channel_does_not_have_is_the_next_lower_one() {
    let config = EdcaConfig::new(of(Format::Vht, 9, Width::Mhz80), Band::Ghz5);
    let mut grades = all(&config);
    add_narrower(&mut grades, &config);
    let shown: Vec<_> = grades
        .iter()
        .map(|grade| match grade.vector {
            Vector::Mode(mode) => (mode.choice().mcs, mode.choice().width),
            Vector::NonHt(_) => panic!("no mode"),
        })
        .collect();
    assert_eq!(shown, [(9, Width::Mhz80), (9, Width::Mhz40), (8, Width::Mhz20)]);
}

#[test]
fn a_grade_knows_its_answers_and_its_longest_psdu() {
    let mut config = he(7);
    let [grade] = all(&config).try_into().unwrap();
    assert_eq!((grade.ack_time, grade.block_ack_time), (us(28), us(40)));
    assert_eq!(grade.psdu_max, config.longest_psdu(&config.data, us(5_484)), "aPPDUMaxTime");
    config.aggregation.ampdu = Some(Bytes::new(9_000));
    assert_eq!(all(&config)[0].psdu_max, 9_000);
    config.aggregation.ampdu = None;
    assert_eq!(all(&config)[0].psdu_max, 0);
    let [slow] = all(&he(0)).try_into().unwrap();
    // 14 and 56 byte at 6 Mbit/s: 134 and 470 bits in symbols of 24.
    assert_eq!((slow.ack_time, slow.block_ack_time), (us(20 + 24), us(20 + 80)));
}

/// A chain of rates goes on with each PPDU that is lost whole, and ends with one that is not.
#[test]
fn a_chain_goes_on_until_something_is_acknowledged() {
    let mut config = he(7);
    config.rate_control = RateControl::Minstrel;
    let grades = all(&config);
    let (now, to) = (super::at(0), Address(1));
    let mut rates = Rates::new(&config, &grades, &[], random());
    let state = |rates: &Rates| match rates {
        Rates::Minstrel { chains, .. } => chains.get(&to).map(|(_, failures)| *failures),
        _ => panic!("no minstrel"),
    };
    assert_eq!(state(&rates), None);
    let first = rates.pick(now, to);
    assert_eq!(state(&rates), Some(0));
    rates.on_result(to, first.grade, 4, 0);
    assert_eq!(state(&rates), Some(1));
    assert!(!rates.pick(now, to).is_probe, "a probe is the first of its chain");
    rates.on_result(Address(2), 0, 4, 4);
    assert_eq!(state(&rates), Some(1), "of another peer");
    rates.on_result(to, 0, 4, 1);
    assert_eq!(state(&rates), None);
    // In vain as often as all of its stages say.
    rates.pick(now, to);
    let Rates::Minstrel { chains, .. } = &rates else { panic!("no minstrel") };
    let all: u32 = chains[&to].0.stages.iter().map(|(_, tries)| tries).sum();
    for failure in 1..=all {
        rates.on_result(to, 0, 4, 0);
        assert_eq!(state(&rates), (failure < all).then_some(failure));
    }
}

#[test]
fn rate_control_by_signals_takes_what_the_last_one_allows() {
    let mut config = he(7);
    config.rate_control = RateControl::Ideal;
    let grades = all(&config);
    let needs: Vec<i32> = (0..grades.len() as i32).map(|place| 500 * place).collect();
    let mut rates = Rates::new(&config, &grades, &needs, random());
    let pick = |rates: &mut Rates, snr| {
        rates.on_signal(Address(1), snr);
        rates.pick(super::at(0), Address(1)).grade
    };
    assert_eq!([0, 499, 500, 3_400, 3_500, 9_000].map(|snr| pick(&mut rates, snr)), [0, 0, 1, 6, 7, 7]);
    let random = || [0, 1, 2, 3].map(|place| Stream::new(place, 0, "test"));
    let mut station = Edca::<Payload>::new(config, Address(0), random());
    assert!(!station.wants_signal());
    station.control_rates(|_| self::random(), |_| 0);
    assert!(station.wants_signal());
}

#[test]
fn a_set_of_mpdus_has_what_was_put_in() {
    let mut set = MpduSet::default();
    assert!(set.is_empty());
    for place in [0, 63, 64, 1_023] {
        set.insert(place);
        assert!(set.contains(place) && !set.is_empty());
    }
    set.insert(64);
    assert_eq!((set.len(), set.contains(1), set.contains(65)), (4, false, false));
    set.remove(64);
    set.remove(64);
    assert_eq!((set.len(), set.contains(64), set.contains(0)), (3, false, true));
}

/// A bitmap of 64 from 4090 on: numbers go round, and what is outside has not come.
#[test]
fn a_block_ack_tells_of_its_window_alone() {
    let mut received = MpduSet::default();
    [0, 6, 63, 64].into_iter().for_each(|place| received.insert(place));
    let answer = BlockAck { start: 4_090, window: 64, received };
    let told: Vec<u16> = (0..4_096).filter(|sequence| answer.acknowledges(*sequence)).collect();
    assert_eq!(told, [0, 57, 4_090], "the place 64 is beyond the window");
}
