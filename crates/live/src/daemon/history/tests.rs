//! Tests of the history as a whole.

use super::file::POINT_LEN;
use super::*;
use airbraid_units::Bytes;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("airbraid-history-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn peer(name: &str, links: usize, bytes: u64) -> PeerReport {
    let member = |link: usize| {
        let mut member = MemberReport {
            member: link as u8,
            uplink: format!("u{link}"),
            name: format!("u{link}"),
            state: "active".to_owned(),
            ..MemberReport::default()
        };
        member.counts.sent_bytes = Bytes::new(bytes * (link as u64 + 1));
        member.counts.rtt = Duration::from_millis(20);
        member
    };
    PeerReport { name: name.to_owned(), up: true, members: (0..links).map(member).collect(), ..PeerReport::default() }
}

/// Looks at peers for some seconds, of which each sends 1000 byte a second on its first link.
fn look(history: &mut History, begin: u32, seconds: u32, names: &[&str], links: usize) {
    for second in 0..seconds {
        let now = Instant::ZERO + Duration::from_secs(u64::from(second));
        history.look_at_uplinks(begin + second, &[]);
        for name in names {
            let report = peer(name, links, 1_000 * u64::from(second));
            history.look_at_peer(now, begin + second, &report, true);
        }
        history.write(now);
    }
}

fn points(history: &History, time_s: u32, span: Span) -> Vec<(String, Vec<report::PointReport>)> {
    history.links(time_s, span).into_iter().map(|link| (link.link, link.points)).collect()
}

#[test]
fn a_rate_is_that_of_the_bytes_between_two_looks() {
    let mut history = History::default();
    look(&mut history, 1_700_000_000, 10, &["hub"], 2);
    let links = points(&history, 1_700_000_009, Span::Minute);
    assert_eq!(links.len(), 2);
    // The first look has nothing to compare with.
    assert_eq!(links[0].1.len(), 9);
    for (time, values) in &links[1].1 {
        assert!(*time > 1_700_000_000);
        assert_eq!(values[..3], [Some(16_000); 3]);
        // A point has 16 bits.
        assert!(values[7].is_some_and(|rtt| rtt.abs_diff(20_000) <= 40), "{values:?}");
        assert_eq!(values[9], Some(0), "loss");
    }
}

#[test]
fn a_link_that_is_down_has_no_delay_and_a_pause_is_a_gap() {
    let mut history = History::default();
    let mut report = peer("hub", 1, 0);
    for second in [0u64, 1, 2, 60, 61] {
        report.members[0].state = if second < 60 { "active" } else { "suspected" }.to_owned();
        history.look_at_peer(Instant::ZERO + Duration::from_secs(second), 1_000 + second as u32, &report, true);
    }
    let links = points(&history, 1_061, Span::Hour);
    let minute = points(&history, 1_061, Span::Minute);
    assert_eq!(minute[0].1.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [1_002, 1_061]);
    let (_, last) = links[0].1.last().unwrap();
    assert_eq!((last[1], last[7], last[10]), (Some(0), None, None));
}

#[test]
fn the_past_survives_an_end_and_a_new_beginning() {
    let folder = folder("survives");
    let path = folder.join("site.history");
    let begin = 1_700_000_000;
    let mut history = History::begin(Some(&path), begin);
    look(&mut history, begin, 4_000, &["hub"], 1);
    history.end(begin + 4_000);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = History::begin(Some(&path), begin + 4_100);
    for (span, most) in [(Span::Hour, 240), (Span::Day, 15), (Span::Month, 2)] {
        let (before, after) = (points(&history, begin + 4_000, span), points(&again, begin + 4_000, span));
        assert_eq!(before, after, "{span:?}");
        assert!((most - 1..=most).contains(&after[0].1.len()), "{span:?}: {} steps", after[0].1.len());
    }
    let words: Vec<&str> = again.events.iter().map(|event| event.what.as_str()).collect();
    assert_eq!(words, ["started", "session-up", "link-up", "ended", "started"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_kill_loses_half_an_hour_and_no_more() {
    let folder = folder("kill");
    let path = folder.join("site.history");
    let begin = 1_700_000_100;
    let mut history = History::begin(Some(&path), begin);
    // The first write is of the whole file, the second is appended.
    look(&mut history, begin, 2 * 1_800 + 700, &["hub"], 1);
    // Dropped, its thread has written all that it was given.
    if let Some(store) = history.store.take() {
        store.abandon();
    }
    let again = History::begin(Some(&path), begin + 4_400);
    let days = points(&again, begin + 4_400, Span::Day);
    // Steps of 300 s that were over after an hour; the first one and the open one of the snapshot are parts.
    assert_eq!(days[0].1.len(), 12, "{:?}", days[0].1);
    assert!(!again.events.iter().any(|event| event.what == "history-damaged"));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_damaged_file_is_told_and_written_again() {
    let folder = folder("damaged");
    let path = folder.join("site.history");
    let begin = 1_700_000_000;
    let mut history = History::begin(Some(&path), begin);
    look(&mut history, begin, 2_000, &["hub"], 2);
    history.end(begin + 2_000);
    let whole = fs::read(&path).unwrap();
    let cases: [(&str, Vec<u8>); 4] = [
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("another's", b"something else\n".to_vec()),
        ("a bit", whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == whole.len() / 3)).collect()),
    ];
    for (what, bytes) in cases {
        fs::write(&path, &bytes).unwrap();
        let mut again = History::begin(Some(&path), begin + 3_000);
        assert!(again.events.iter().any(|event| event.what == "history-damaged"), "{what}");
        let is_partly_there = !again.links.is_empty();
        assert_eq!(is_partly_there, bytes.len() > 100, "{what}: what is before the damage is kept");
        again.end(begin + 3_001);
        let third = History::begin(Some(&path), begin + 3_002);
        let told = third.events.iter().filter(|event| event.what == "history-damaged").count();
        assert_eq!(told, 1, "{what}: it is whole again");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_disk_that_takes_nothing_ends_nothing() {
    let mut history = History::begin(Some(Path::new("/proc/nowhere/site.history")), 1_000);
    look(&mut history, 1_000, 2_000, &["hub"], 1);
    assert_eq!(points(&history, 3_000, Span::Minute).len(), 1);
    history.end(3_000);
}

#[test]
fn the_file_is_bounded() {
    let names: Vec<String> = (0..12).map(|peer| "p".repeat(60) + &peer.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut history = History::default();
    let begin = 1_700_000_000;
    // More links than there is place for.
    look(&mut history, begin, 3, &names, 4);
    assert_eq!((history.links.len(), history.left_out), (LINKS_MAX, 12 * 4 - LINKS_MAX));
    let range = series::Range::of(1.0, 2.0, 3.0);
    for link in &mut history.links {
        for span in Span::ALL {
            for step in 0..2 * span.steps() as u32 {
                let point = Point { seconds: 1, values: [range; series::VALUES] };
                link.series.insert(span, step * span.step(), point);
            }
        }
    }
    for number in 0..1_000 {
        let event = Event::new(number, "cause", "\u{1}".repeat(2_000));
        history.tell(Event { peer: Some(format!("{number}")), ..event });
    }
    let length = history.snapshot().len();
    // 32 links with at most 779 steps of 45 byte and 220 byte of names, 256 events of at most 4 kB, and a file is
    // written again when it is twice as long and 64 KiB more.
    let bound = LINKS_MAX * (779 * POINT_LEN + 220) + EVENTS_MAX * 4_096;
    assert!(length <= bound, "{length} byte, at most {bound}");
    assert!((2 * bound + store::SLACK) as u64 <= store::FILE_MAX);
    // What is written in a day for four links: the steps of 300 s and of 3 h, and nothing else while nothing happens.
    let day = 4 * (288 + 8) * POINT_LEN;
    assert_eq!(day, 53_280);
}

#[test]
fn one_link_that_comes_and_goes_displaces_no_others() {
    let mut history = History::default();
    history.tell(Event::new(1, "reloaded", "before"));
    for second in 0..2_000 {
        let mut report = peer("hub", 1, 0);
        report.members[0].state = if second % 2 == 0 { "active" } else { "suspected" }.to_owned();
        history.look_at_peer(Instant::ZERO, second, &report, false);
    }
    assert_eq!(history.events[0].text, "before");
    assert!(history.events.len() <= EVENTS_OF_LINK + 2, "{}", history.events.len());
}
