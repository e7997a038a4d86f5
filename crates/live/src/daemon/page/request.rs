//! The head of an HTTP/1.1 request, read strictly: what is not plainly a request for the page is refused.

use super::Refusal;
use crate::daemon::history::Span;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Most header fields: browsers send some twenty.
const FIELDS_MAX: usize = 64;

/// A part of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Page,
    Style,
    Code,
    /// The numbers of a span.
    History(Span),
}

/// A request that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub resource: Resource,
    /// Whether the head of the answer is all that is wanted.
    pub is_head: bool,
}

/// The request in the bytes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedRequest {
    /// Not complete yet.
    NotYet,
    /// It is refused; the second is whether it was a HEAD.
    Refused(Refusal, bool),
    For(PageRequest),
}

/// Parses the bytes of a connection.
pub fn parse(bytes: &[u8]) -> ParsedRequest {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return ParsedRequest::NotYet };
    // A byte that is no text is in no request that is answered.
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return ParsedRequest::Refused(Refusal::Malformed, false);
    };
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let is_head = line.starts_with("HEAD ");
    match request(line, lines) {
        Ok(resource) => ParsedRequest::For(PageRequest { resource, is_head }),
        Err(refusal) => ParsedRequest::Refused(refusal, is_head),
    }
}

fn request<'a>(line: &str, fields: impl Iterator<Item = &'a str>) -> Result<Resource, Refusal> {
    let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else { return Err(Refusal::Malformed) };
    let is_printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_token(method) || !is_printable(target) || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(Refusal::Malformed);
    }
    check_fields(fields)?;
    if !matches!(method, "GET" | "HEAD") {
        return Err(Refusal::Method);
    }
    match target {
        "/" => Ok(Resource::Page),
        "/page.css" => Ok(Resource::Style),
        "/page.js" => Ok(Resource::Code),
        _ => {
            let span = target.strip_prefix("/history?span=").and_then(Span::parse);
            span.map(Resource::History).ok_or(Refusal::Unknown)
        }
    }
}

/// One `Host`, which is this host's loopback by address, or `localhost`; no content.
fn check_fields<'a>(fields: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut hosts = Vec::new();
    for (place, field) in fields.enumerate() {
        let (name, value) = field.split_once(':').filter(|(name, _)| is_token(name)).ok_or(Refusal::Malformed)?;
        let value = value.trim_matches([' ', '\t']);
        // RFC 9110, section 5.5: no control characters, and so no line that goes on with the next.
        if place >= FIELDS_MAX || value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(Refusal::Malformed);
        }
        match name.to_ascii_lowercase().as_str() {
            "host" => hosts.push(value),
            "transfer-encoding" => return Err(Refusal::Malformed),
            "content-length" if value != "0" => return Err(Refusal::Malformed),
            _ => {}
        }
    }
    let [host] = hosts[..] else { return Err(Refusal::Malformed) };
    if is_own(host) { Ok(()) } else { Err(Refusal::Host) }
}

/// Whether a `Host` is an address of the loopback or `localhost`, with any port: a tunnel by SSH has another.
fn is_own(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    if port.is_some_and(|port| !is_port(port)) {
        return false;
    }
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None => {
            name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:9519\r\nAccept: text/html\r\n\r\n";

    fn refusal(text: &str) -> Refusal {
        match parse(text.as_bytes()) {
            ParsedRequest::Refused(refusal, _) => refusal,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    fn of_host(host: &str) -> ParsedRequest {
        parse(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    #[test]
    fn parts_of_the_page_are_found_by_their_paths_alone() {
        let get = |target: &str| parse(GOOD.replace("GET /", &format!("GET {target}")).as_bytes());
        for (target, resource) in [
            ("/", Resource::Page),
            ("/page.css", Resource::Style),
            ("/page.js", Resource::Code),
            ("/history?span=month", Resource::History(Span::Month)),
        ] {
            assert_eq!(get(target), ParsedRequest::For(PageRequest { resource, is_head: false }));
        }
        for target in ["/../etc/passwd", "//", "/?", "/history", "/history?span=year", "http://127.0.0.1/", "*"] {
            assert_eq!(get(target), ParsedRequest::Refused(Refusal::Unknown, false), "{target}");
        }
        let head = parse(GOOD.replace("GET", "HEAD").as_bytes());
        assert_eq!(head, ParsedRequest::For(PageRequest { resource: Resource::Page, is_head: true }));
    }

    #[test]
    fn a_request_is_whole_with_its_empty_line() {
        for length in 0..GOOD.len() {
            assert_eq!(parse(&GOOD.as_bytes()[..length]), ParsedRequest::NotYet);
        }
        assert!(matches!(parse(GOOD.as_bytes()), ParsedRequest::For(_)));
    }

    #[test]
    fn what_would_change_something_is_refused() {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "PATCH"] {
            assert_eq!(refusal(&GOOD.replace("GET", method)), Refusal::Method, "{method}");
        }
        for field in ["Content-Length: 4", "Transfer-Encoding: chunked", "content-length: 00", "Content-Length:"] {
            assert_eq!(refusal(&GOOD.replace("Accept: text/html", field)), Refusal::Malformed, "{field}");
        }
    }

    #[test]
    fn a_name_that_was_made_to_lead_here_is_refused() {
        let own = ["127.0.0.1", "127.0.0.1:9519", "127.9.9.9:1", "localhost", "LocalHost:8080", "[::1]", "[::1]:9519"];
        for host in own {
            assert!(matches!(of_host(host), ParsedRequest::For(_)), "{host}");
        }
        let strange = [
            "evil.example",
            "evil.example:9519",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "192.0.2.1:9519",
            "0.0.0.0:9519",
            "[::]:9519",
            "[::ffff:127.0.0.1]:1",
            "::1",
            "127.0.0.1:",
            "127.0.0.1:x",
            "127.0.0.1:999999",
            "",
            "127.1",
            "2130706433",
            "user@127.0.0.1",
            "localhost.",
            "[::1",
            "127.0.0.1 evil.example",
        ];
        for host in strange {
            assert_eq!(of_host(host), ParsedRequest::Refused(Refusal::Host, false), "{host}");
        }
        assert_eq!(refusal("GET / HTTP/1.1\r\nAccept: a\r\n\r\n"), Refusal::Malformed, "none");
        let two = GOOD.replace("Accept: text/html", "host: evil.example");
        assert_eq!(refusal(&two), Refusal::Malformed, "two");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (was, is) in [
            ("GET /", "GET  /"),
            ("HTTP/1.1", "HTTP/2"),
            ("HTTP/1.1", "http/1.1"),
            ("HTTP/1.1", "HTTP/1.1 x"),
            ("GET", "G\tT"),
            ("Accept:", "Accept :"),
            ("Accept:", " Accept:"),
            ("Accept: text/html", "Accept"),
            ("text/html", "text\0html"),
            ("text/html", "text\rhtml"),
            ("text/html", "text\nX: y"),
            ("GET /", "GET /\u{e9}"),
        ] {
            assert_eq!(refusal(&GOOD.replace(was, is)), Refusal::Malformed, "{is:?}");
        }
        let many = "A: b\r\n".repeat(FIELDS_MAX);
        assert_eq!(refusal(&GOOD.replace("Accept: text/html\r\n", &many)), Refusal::Malformed);
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n"), ParsedRequest::Refused(Refusal::Malformed, false));
    }

    proptest! {
        /// Near a good request: whatever is accepted reads, and is asked of this host.
        #[test]
        fn what_is_accepted_reads_and_asks_this_host(
            at in 0..GOOD.len(),
            removed in 0usize..6,
            put in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..12),
                "[ -~\r\n\t]{0,24}".prop_map(String::into_bytes),
            ],
        ) {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes.splice(at..(at + removed).min(GOOD.len()), put);
            if let ParsedRequest::For(request) = parse(&bytes) {
                let text = String::from_utf8_lossy(&bytes);
                let first = if request.is_head { "HEAD /" } else { "GET /" };
                prop_assert!(text.starts_with(first));
                let hosts: Vec<&str> =
                    text.split("\r\n").filter(|line| line.to_ascii_lowercase().starts_with("host:")).collect();
                prop_assert_eq!(hosts.len(), 1);
                prop_assert!(hosts[0].contains("127."), "{}", hosts[0]);
            }
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let whole = [&bytes[..], b"\r\n\r\n"].concat();
            prop_assert!(!matches!(parse(&whole), ParsedRequest::NotYet));
        }
    }
}
