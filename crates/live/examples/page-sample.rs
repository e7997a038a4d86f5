//! The daemon's page with a drawn past of four links, without a daemon: for looking at it, and for tests in a browser.
//!
//! `page-sample` prints its address and answers until it is killed.

use airbraid_live::daemon::page::{PageRequest, ParsedRequest, Resource, file, numbers, parse, refuse};
use airbraid_live::daemon::{Event, HistoryReport, LinkHistory, MemberReport, PeerReport, Span, Status, UplinkReport};
use airbraid_units::Bytes;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpListener;

/// The time of day of the sample \[s since 1970\]: the page counts back from it.
const NOW: u32 = 1_790_000_000;
/// Links: name, rate \[bit/s\], round trip \[us\], loss \[1e-6\].
const LINKS: [(&str, u64, u64, u64); 4] = [
    ("fibre", 84_000_000, 9_000, 0),
    ("dsl", 16_000_000, 24_000, 200),
    ("lte", 38_000_000, 46_000, 3_500),
    ("satellite", 12_000_000, 610_000, 12_000),
];
/// The link that was away, and the steps of each span in which it was.
const AWAY: (usize, std::ops::Range<usize>) = (2, 20..28);

/// A value that swings between a half and the whole of `most`, with least and largest around its mean.
fn swing(most: u64, step: usize, link: usize) -> [Option<u64>; 3] {
    let period = 40 + 8 * link;
    let height = (step % period).abs_diff(period / 2) as u64;
    let mean = most / 2 + most * height / period as u64;
    [Some(mean * 4 / 5), Some(mean), Some(mean * 23 / 20)]
}

fn past(span: Span) -> Vec<LinkHistory> {
    let begin = NOW - span.step() * span.steps() as u32;
    let points = |link: usize, (_, rate, rtt, loss): (&str, u64, u64, u64)| {
        let is_there = |step: &usize| link != AWAY.0 || !AWAY.1.contains(step);
        let point = |step: usize| {
            let values = [rate, rate / 9, rtt, loss, rtt / 4].map(|most| swing(most, step, link));
            let flat: Vec<Option<u64>> = values.concat();
            (begin + step as u32 * span.step(), flat.try_into().expect("three numbers of each of five values"))
        };
        (0..span.steps()).filter(is_there).map(point).collect()
    };
    let link = |(place, link): (usize, &(&str, u64, u64, u64))| LinkHistory {
        peer: "hub".to_owned(),
        uplink: link.0.to_owned(),
        link: link.0.to_owned(),
        points: points(place, *link),
    };
    LINKS.iter().enumerate().map(link).collect()
}

fn events() -> Vec<Event> {
    let about = |ago: u32, what: &str, link: Option<&str>, text: &str| Event {
        peer: link.map(|_| "hub".to_owned()),
        link: link.map(str::to_owned),
        ..Event::new(NOW - ago, what, text)
    };
    vec![
        about(310, "link-up", Some("lte"), "lte of hub carries again"),
        about(430, "link-down", Some("lte"), "lte of hub is silent: its interface wwan0 has no address"),
        about(90_000, "session-up", None, "hub answered over fibre"),
        about(90_001, "started", None, "the daemon has started"),
    ]
}

fn status() -> Status {
    let member = |(place, (name, rate, rtt, _)): (usize, &(&str, u64, u64, u64))| {
        let mut member = MemberReport {
            member: place as u8,
            uplink: (*name).to_owned(),
            name: (*name).to_owned(),
            remote: "198.51.100.7:5182".to_owned(),
            state: "active".to_owned(),
            quota_bytes: (*name == "lte").then_some(7_300_000_000),
            ..MemberReport::default()
        };
        member.counts.sent_bytes = Bytes::new(rate / 8 * 3_600);
        member.counts.rtt = airbraid_units::Duration::from_micros(*rtt);
        member
    };
    let uplink = |(name, ..): &(&str, u64, u64, u64)| UplinkReport {
        name: (*name).to_owned(),
        state: "open".to_owned(),
        ..UplinkReport::default()
    };
    let hub = PeerReport {
        name: "hub".to_owned(),
        up: true,
        members: LINKS.iter().enumerate().map(member).collect(),
        ..PeerReport::default()
    };
    Status {
        name: "office".to_owned(),
        uptime_s: 90_001.0,
        interface: "air0".to_owned(),
        mtu_bytes: 1_435,
        uplinks: LINKS.iter().map(uplink).collect(),
        peers: vec![hub],
        ..Status::default()
    }
}

fn history(span: Span) -> HistoryReport {
    HistoryReport {
        time_s: NOW,
        span: span.name().to_owned(),
        step_s: span.step(),
        steps: span.steps(),
        links: past(span),
        left_out: 0,
        events: events(),
        status: status(),
    }
}

/// The answer to what was read so far; `None` where more must come.
fn answer(asked: &[u8]) -> Option<String> {
    match parse(asked) {
        ParsedRequest::NotYet => None,
        ParsedRequest::Refused(refusal, is_head) => Some(refuse(refusal, is_head)),
        ParsedRequest::For(PageRequest { resource: Resource::History(span), is_head }) => {
            let json = serde_json::to_string(&history(span)).expect("a report has no keys but texts");
            Some(numbers(&json, is_head))
        }
        ParsedRequest::For(request) => file(request),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    println!("http://{}/", listener.local_addr()?);
    for stream in listener.incoming() {
        let mut stream = stream?;
        let mut asked = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            asked.extend_from_slice(&piece[..length]);
            if let Some(answer) = answer(&asked) {
                // A browser that has gone away misses nothing.
                let _ = stream.write_all(answer.as_bytes());
                break;
            }
        }
    }
    Ok(())
}
