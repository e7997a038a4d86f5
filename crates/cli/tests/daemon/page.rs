//! The page and `airbraid top`, of a daemon that runs.

use crate::net::{airbraid, text};
use crate::pair;
use crate::turns::can_run;
use serde_json::Value;
use std::time::Duration;

/// The answer to a request, as a browser in the host would send it.
fn curl(net: &crate::net::Net, words: &[&str]) -> String {
    text(&net.exec("near", &[&["curl", "-s", "-i", "--max-time", "10"], words].concat()).stdout)
}

fn history(net: &crate::net::Net, span: &str) -> Value {
    let said = curl(net, &[&format!("http://127.0.0.1:9519/history?span={span}")]);
    let (_, json) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{said}\n{}", net.logs()));
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Number of points of a link's history.
fn points(link: &Value) -> usize {
    link["points"].as_array().unwrap().len()
}

fn words(report: &Value) -> Vec<&str> {
    report["events"].as_array().unwrap().iter().map(|event| event["what"].as_str().unwrap()).collect()
}

#[test]
fn the_page_shows_links_and_events_and_what_was_before_a_restart() {
    if !can_run("the_page_shows_links_and_events_and_what_was_before_a_restart") {
        return;
    }
    let mut net = pair("page", 2, "page = \"127.0.0.1:9519\"", "");
    net.up("far");
    net.up("near");
    net.wait_members("near", 2);
    let page = curl(&net, &["http://127.0.0.1:9519/"]);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("frame-ancestors 'none'"), "{page}");
    for (words, status) in [
        (vec!["-H", "Host: evil.example", "http://127.0.0.1:9519/"], "421"),
        (vec!["-X", "POST", "http://127.0.0.1:9519/"], "405"),
        (vec!["http://127.0.0.1:9519/metrics"], "404"),
        (vec!["--head", "http://localhost:9519/page.js"], "200"),
    ] {
        let said = curl(&net, &words);
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{words:?}: {said}");
    }
    // A rate is the difference of two looks: what goes before the first one is in none.
    let is_seen = || history(&net, "minute")["links"].as_array().unwrap().iter().filter(|l| points(l) > 0).count() == 2;
    let has_come = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        is_seen()
    });
    assert!(has_come, "{}", net.logs());
    // Something goes over the links, and one of them breaks.
    assert!(net.ping("near", "10.77.0.2", 50, &["-s", "1000"]) > 40);
    std::thread::sleep(Duration::from_millis(2_500));
    net.ip("near", "link set l1 down");
    std::thread::sleep(Duration::from_millis(2_500));
    let report = history(&net, "minute");
    let links = report["links"].as_array().unwrap();
    assert_eq!(links.len(), 2, "{report}");
    let sent = |link: &Value| {
        let points = link["points"].as_array().unwrap();
        points.iter().filter_map(|point| point[1][2].as_u64()).max().unwrap_or(0)
    };
    assert!(links.iter().map(sent).max() > Some(10_000), "{links:?}");
    let gone = report["events"].as_array().unwrap().iter().find(|event| event["what"] == "link-gone");
    let gone = gone.unwrap_or_else(|| panic!("{report}"));
    assert_eq!((gone["link"].as_str(), gone["cause"].as_str()), (Some("l1"), Some("device-down")));
    for word in ["uplink-away", "session-up", "link-up", "started"] {
        assert!(words(&report).contains(&word), "{word}: {:?}", words(&report));
    }
    // Without a terminal one frame is printed.
    let top = airbraid(&["top", &net.daemon("near")]);
    let frame = text(&top.stdout);
    assert!(top.status.success() && frame.contains("other/l0") && frame.contains("uplink-away"), "{frame}");
    assert!(!frame.contains('\u{1b}'), "{frame:?}");
    // Another life remembers this one.
    net.signal("near", "-TERM");
    assert!(net.ended("near").success(), "{}", net.logs());
    net.up("near");
    let report = history(&net, "hour");
    let all: usize = report["links"].as_array().unwrap().iter().map(points).sum();
    assert!(all >= 2, "{report}");
    let words = words(&report);
    assert!(words.contains(&"link-gone") && words.iter().filter(|word| **word == "started").count() == 2, "{words:?}");
}
