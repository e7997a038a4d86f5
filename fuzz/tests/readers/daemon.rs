//! The daemon's input beside datagrams: questions, requests for metrics, its file, keys, and the ends' messages about
//! members.

use airbraid_live::daemon::pair::{Reply, Ticket, Wish, parse_said};
use airbraid_live::daemon::readers::{
    Introduction, Notice, ParsedQuestion, ParsedRequest, Prefix, control, http, months, page_request, site,
};
use airbraid_live::daemon::{Question, keys};
use std::path::Path;

const FILES: [&str; 2] =
    [include_str!("../../../docs/guide/sites/office.toml"), include_str!("../../../docs/guide/sites/hub.toml")];

#[test]
fn any_question() {
    bolero::check!().with_type::<(u8, Vec<u8>)>().for_each(|(word, rest)| {
        let words = ["history ", "status", "link on ", "link off ", "reload", "down", "metrics", "link "];
        let mut bytes = words[usize::from(word % 8)].as_bytes().to_vec();
        bytes.extend(rest);
        match control(&bytes) {
            ParsedQuestion::NotYet => assert!(!bytes.contains(&b'\n')),
            ParsedQuestion::Nothing => {}
            ParsedQuestion::For(question) => assert_eq!(Question::parse(&question.line()), Some(question)),
        }
    });
}

#[test]
fn any_request() {
    bolero::check!().with_type::<(u8, Vec<u8>, Vec<u8>)>().for_each(|(how, line, rest)| {
        let begins: &[u8] = [&b"GET /metrics HTTP/1.1\r\n"[..], b"GET ", b"", b"POST /metrics "][usize::from(how % 4)];
        let end: &[u8] = if how & 4 == 0 { b"" } else { b"\r\n\r\n" };
        let bytes = [begins, line, end, rest].concat();
        // A stranger gets the metrics or nothing.
        assert!(matches!(
            http(&bytes),
            ParsedQuestion::NotYet | ParsedQuestion::Nothing | ParsedQuestion::For(Question::Metrics)
        ));
    });
}

#[test]
fn any_request_for_the_page() {
    bolero::check!().with_type::<(u8, Vec<u8>, Vec<u8>)>().for_each(|(how, line, rest)| {
        let begins: &[u8] =
            [&b"GET / HTTP/1.1\r\nHost: "[..], b"GET ", b"", b"HEAD /history?span="][usize::from(how % 4)];
        let host: &[u8] = if how & 4 == 0 { b"" } else { b"\r\nHost: 127.0.0.1\r\n" };
        let bytes = [begins, line, host, rest, b"\r\n\r\n"].concat();
        // Whoever gets the page has asked this host for it, by GET or HEAD.
        if let ParsedRequest::For(request) = page_request(&bytes) {
            assert!(bytes.starts_with(if request.is_head { b"HEAD /" } else { b"GET /" }));
            assert!(bytes.to_ascii_lowercase().windows(5).any(|five| five == b"host:"));
        }
    });
}

#[test]
fn any_notice() {
    bolero::check!().with_type::<(bool, [u8; 8], Vec<u8>)>().for_each(|(is_aimed, bytes, other)| {
        let mut bytes = bytes.to_vec();
        if *is_aimed {
            (bytes[0], bytes[2]) = (0x1f, bytes[2] & 7);
        }
        for bytes in [&bytes, other] {
            if let Some(notice) = Notice::parse(bytes) {
                assert_eq!(notice.emit()[..], bytes[..]);
            }
        }
    });
}

#[test]
fn any_introduction() {
    bolero::check!().with_type::<(bool, u8, Vec<u8>)>().for_each(|(is_aimed, count, bytes)| {
        let mut bytes = bytes.clone();
        if *is_aimed {
            let count = count % 10;
            bytes.resize(34 + 18 * usize::from(count), 1);
            (bytes[0], bytes[1]) = (0x1e, count);
        }
        if let Some(said) = Introduction::parse(&bytes) {
            assert_eq!(said.emit(), bytes);
        }
    });
}

/// A line of `airbraid pair`, as text and behind its check sum.
#[test]
fn any_line_of_a_pairing() {
    bolero::check!().with_type::<(Vec<u8>, [u8; 32], String)>().for_each(|(bytes, secret, text)| {
        let long = [&secret[..], &secret[..], &[10, 77, 0, 1, 10, 77, 0, 254, 1, 2], text.as_bytes()].concat();
        for bytes in [bytes, &long] {
            if let Some(ticket) = Ticket::decode(bytes) {
                assert_eq!(ticket.encode()[..], bytes[..]);
                assert_eq!(Ticket::parse(&ticket.line()), Ok(ticket));
            }
        }
        assert!(Ticket::parse(text).is_err() && Ticket::parse(&format!("airbraid1:{text}")).is_err());
    });
}

/// Lines of two ends that pair, and the file of the uplinks' months.
#[test]
fn any_words_of_a_pairing() {
    bolero::check!().with_type::<(u8, String, Vec<u8>)>().for_each(|(how, text, bytes)| {
        let wish = format!("{{\"do\":\"join\",\"name\":\"{text}\",\"public_key\":\"\",\"networks\":[\"{text}\"]}}\n");
        let aimed = if how & 1 == 0 { wish.into_bytes() } else { bytes.clone() };
        if let Ok(Wish::Join(newcomer)) = parse_said::<Wish>(&aimed) {
            // A key of no length is none.
            assert!(newcomer.check().is_err());
        }
        let _ = parse_said::<Reply>(&aimed);
        let month = format!("{{\"lte\":{{\"month\":\"{text}\",\"bytes\":{how}}}}}");
        let _ = (months(month.as_bytes()), months(bytes));
    });
}

#[test]
fn any_key_and_prefix() {
    bolero::check!().with_type::<(bool, [u8; 32], String)>().for_each(|(is_key, key, text)| {
        let made = keys::encode(&airbraid_engine::converge::session::PublicKey(*key));
        assert_eq!(keys::public(&made).map(|key| key.0), Ok(*key));
        let text = if *is_key { made.replacen(&made[..1], text, 1) } else { text.clone() };
        if let Ok(read) = keys::public(&text) {
            assert_eq!(keys::public(&keys::encode(&read)).map(|key| key.0), Ok(read.0));
        }
        let _ = keys::secret(&text);
        if let Ok(prefix) = Prefix::parse(&text) {
            assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
            assert!(prefix.contains(prefix.address));
        }
    });
}

/// An error of a file has a place and a remedy.
fn read(text: &str) {
    if let Err(errors) = site(Path::new("fuzz.toml"), text) {
        assert!(!errors.0.is_empty());
        for error in &errors.0 {
            assert!(!error.message.is_empty() && error.line.is_none_or(|line| line >= 1), "{error}");
        }
    }
}

#[test]
fn mutilated_site_files() {
    bolero::check!().with_type::<(u8, Vec<(u16, u8, u8)>)>().for_each(|(seed, cuts)| {
        // Keys are read from files that are not there: what is written about them is read all the same.
        let mut bytes = FILES[usize::from(*seed) % FILES.len()].as_bytes().to_vec();
        for (place, how, byte) in cuts.iter().take(12) {
            let place = usize::from(*place) % bytes.len().max(1);
            match how % 4 {
                0 if !bytes.is_empty() => bytes[place] = *byte,
                1 => bytes.insert(place, *byte),
                2 if !bytes.is_empty() => drop(bytes.remove(place)),
                _ => bytes.truncate(place.max(bytes.len() / 2)),
            }
        }
        read(&String::from_utf8_lossy(&bytes));
    });
}

#[test]
fn any_value_in_a_site_file() {
    let keys = [
        "mtu",
        "listen",
        "dns",
        "metrics",
        "address",
        "name",
        "quota",
        "quota_day",
        "hours",
        "metered",
        "until",
        "except",
        "lan",
        "rate",
        "keepalive",
        "tier",
        "device",
        "endpoint",
        "allowed",
        "public_key",
        "schema",
        "queue",
    ];
    bolero::check!().with_type::<(u8, String)>().for_each(|(key, value)| {
        let key = keys[usize::from(*key) % keys.len()];
        for file in FILES {
            let replace = |line: &str| match line.split_once('=') {
                Some((name, _)) if name.trim() == key => format!("{key} = {value}"),
                _ => line.to_owned(),
            };
            read(&file.lines().map(replace).collect::<Vec<_>>().join("\n"));
        }
    });
}
