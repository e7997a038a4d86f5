//! Golden screens. `UPDATE_GOLDEN=1` writes them.

use super::*;
use airbraid_live::daemon::Status;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;
use std::path::Path;

/// A minute of three links: one that rises, one that is silent since 20 s, one that was metered.
fn report() -> HistoryReport {
    let member = |number: u8, name: &str, state: &str, more: serde_json::Value| {
        let mut member = json!({ "member": number, "uplink": name, "name": name, "remote": "192.0.2.9:5182",
            "state": state, "cause": null, "remedy": null });
        member.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        member
    };
    let no_answer = json!({ "cause": "no-answer", "remedy": "nothing comes back from 192.0.2.9:5182: is it up?" });
    let mut status = serde_json::to_value(Status::default()).unwrap();
    status["name"] = json!("office");
    status["interface"] = json!("air0");
    status["uptime_s"] = json!(7_000.0);
    let peer = |name: &str, up: bool, members: serde_json::Value| {
        json!({ "name": name, "public_key": "", "up": up, "clock_set_back": null, "shared_key": null,
            "waits_for": "an answer of 192.0.2.77:5182", "cause": null, "remedy": null, "through": null, "called": true,
            "mtu_bytes": 1_400, "memory_bytes": 0, "drops": {}, "members": members, "queue_packets": 12 })
    };
    let members = json!([
        member(0, "dsl", "active", json!({})),
        member(1, "lte", "suspected", no_answer),
        member(2, "sat", "exhausted", json!({ "quota_bytes": 1_000_000 })),
    ]);
    status["peers"] = json!([peer("hub", true, members), peer("home", false, json!([]))]);
    let point = |time: u32, sent: u64, delay: Option<u64>| {
        let of = |value: Option<u64>| [value; 3];
        let values =
            [of(Some(sent)), of(Some(sent / 10)), of(delay), of(delay.map(|_| 2_000)), of(delay.map(|us| us / 8))];
        json!([time, values.concat()])
    };
    let rising: Vec<_> = (0..60).map(|second| point(941 + second, 400_000 * u64::from(second), Some(21_300))).collect();
    let silent: Vec<_> = (0..60)
        .map(|second| point(941 + second, if second < 40 { 5_000_000 } else { 0 }, (second < 40).then_some(64_000)))
        .collect();
    let link = |name: &str, points| json!({ "peer": "hub", "uplink": name, "link": name, "points": points });
    let event = |time_s: u32, what: &str, link: Option<&str>, text: &str| json!({ "time_s": time_s, "what": what, "peer": "hub", "link": link, "text": text });
    serde_json::from_value(json!({
        "time_s": 1_000, "span": "minute", "step_s": 1, "steps": 60, "left_out": 0,
        "links": [link("dsl", json!(rising)), link("lte", json!(silent)), link("sat", json!([]))],
        "events": [
            event(983, "cause", Some("lte"), "lte: nothing comes back from 192.0.2.9:5182: is it up?"),
            event(981, "link-down", Some("lte"), "lte is down: nothing has come back for 1 s"),
            event(400, "quota-spent", Some("sat"), "sat has carried its quota of 1000000 byte"),
            event(10, "session-up", None, "session with hub: it answered after 40 ms"),
        ],
        "status": status,
    }))
    .unwrap()
}

fn check(name: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/top/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(now == golden, "{name} is\n{now}\ninstead of\n{golden}");
}

fn drawn(screen: &Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| frame.render_widget(screen, frame.area())).unwrap();
    text(terminal.backend().buffer())
}

fn press(screen: &mut Screen, key: KeyCode) -> bool {
    on_key(screen, KeyEvent::new(key, KeyModifiers::NONE))
}

#[test]
fn screens_are_as_they_were_looked_at() {
    let mut screen = Screen::new(report());
    check("80x24", &drawn(&screen, 80, 24));
    check("132x40", &drawn(&screen, 132, 40));
    check("printed", &printed(&screen));
    screen.lose("office is not up");
    (0..4).for_each(|_| assert!(press(&mut screen, KeyCode::Char('s'))));
    assert!(press(&mut screen, KeyCode::Char('o')));
    check("lost-by-delay", &drawn(&screen, 80, 24));
}

#[test]
fn a_screen_of_any_size_is_drawn_and_none_is_wider() {
    let mut screen = Screen::new(report());
    for (width, height) in [(1, 1), (10, 3), (20, 60), (80, 2), (80, 24), (79, 12), (300, 100), (0, 0)] {
        for _ in 0..3 {
            let text = drawn(&screen, width, height);
            assert_eq!(text.lines().count(), usize::from(height));
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
            press(&mut screen, KeyCode::Down);
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_counted_and_scrolled_to() {
    let mut screen = Screen::new(report());
    let low = drawn(&screen, 80, 14);
    assert!(low.contains("more, below") && !low.contains("hub/sat"), "{low}");
    (0..9).for_each(|_| assert!(press(&mut screen, KeyCode::Down)));
    let scrolled = drawn(&screen, 80, 14);
    assert!(scrolled.contains("home") && !scrolled.contains("more, below"), "{scrolled}");
}

#[test]
fn keys_sort_pause_choose_and_quit() {
    let mut screen = Screen::new(report());
    let order = |screen: &Screen| {
        let text = drawn(screen, 80, 40);
        let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}: {text}"));
        let mut names = ["hub/dsl", "hub/lte", "hub/sat", "\nhome"];
        names.sort_by_key(|name| at(name));
        names
    };
    assert_eq!(order(&screen), ["hub/dsl", "hub/lte", "hub/sat", "\nhome"]);
    press(&mut screen, KeyCode::Char('s'));
    assert_eq!(order(&screen), ["\nhome", "hub/dsl", "hub/lte", "hub/sat"]);
    press(&mut screen, KeyCode::Char('o'));
    assert_eq!(order(&screen), ["hub/sat", "hub/lte", "hub/dsl", "\nhome"]);
    press(&mut screen, KeyCode::Char('p'));
    assert!(screen.is_paused && drawn(&screen, 132, 24).contains("PAUSED"));
    press(&mut screen, KeyCode::Char('3'));
    assert!(screen.span == Span::Day && screen.is_other_span());
    assert!(!press(&mut screen, KeyCode::Char('q')) && !press(&mut screen, KeyCode::Esc));
    assert!(!on_key(&mut screen, KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
}
