//! A question to the daemon, as a line on its socket or as a request for its metrics.

use super::history::Span;

/// A question to a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    Status,
    /// Switch an uplink on or off.
    Link(String, bool),
    /// Read the file again.
    Reload,
    /// End.
    Down,
    Metrics,
    /// The recent past over a span.
    History(Span),
}

impl Question {
    /// Writes it as a line.
    pub fn line(&self) -> String {
        match self {
            Self::Status => "status".to_owned(),
            Self::Link(name, is_on) => format!("link {} {name}", if *is_on { "on" } else { "off" }),
            Self::Reload => "reload".to_owned(),
            Self::Down => "down".to_owned(),
            Self::Metrics => "metrics".to_owned(),
            Self::History(span) => format!("history {}", span.name()),
        }
    }

    /// Reads it from a line.
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest.split_once(' ')) {
            ("status", None) if rest.is_empty() => Some(Self::Status),
            ("reload", None) if rest.is_empty() => Some(Self::Reload),
            ("down", None) if rest.is_empty() => Some(Self::Down),
            ("metrics", None) if rest.is_empty() => Some(Self::Metrics),
            ("history", None) => Span::parse(rest).map(Self::History),
            ("link", Some(("on", name))) => Some(Self::Link(name.to_owned(), true)),
            ("link", Some(("off", name))) => Some(Self::Link(name.to_owned(), false)),
            _ => None,
        }
    }
}

/// The question in the bytes so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedQuestion {
    /// Not a complete question yet.
    NotYet,
    Nothing,
    For(Question),
}

/// Parses the bytes of the control socket.
pub fn control(bytes: &[u8]) -> ParsedQuestion {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return ParsedQuestion::NotYet };
    let line = String::from_utf8_lossy(&bytes[..end]);
    Question::parse(line.trim_end_matches('\r')).map_or(ParsedQuestion::Nothing, ParsedQuestion::For)
}

/// Parses the bytes of the metrics port: the head of an HTTP request (RFC 9112, section 2.1), of which the first line
/// counts.
pub fn http(bytes: &[u8]) -> ParsedQuestion {
    if !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        return ParsedQuestion::NotYet;
    }
    let line = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    match line.split(|&byte| byte == b' ').collect::<Vec<_>>()[..] {
        [b"GET", b"/metrics", _] => ParsedQuestion::For(Question::Metrics),
        _ => ParsedQuestion::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_back() {
        let link = |is_on| Question::Link("my dsl".to_owned(), is_on);
        let plain = [Question::Status, Question::Reload, Question::Down, Question::Metrics, link(true), link(false)];
        for question in plain.into_iter().chain(Span::ALL.map(Question::History)) {
            assert_eq!(Question::parse(&question.line()), Some(question));
        }
        for wrong in ["", "statu", "status x", "link on", "link maybe dsl", "history", "history year"] {
            assert_eq!(Question::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_line_and_a_request_are_read_when_they_are_whole() {
        assert_eq!(control(b"status"), ParsedQuestion::NotYet);
        assert_eq!(control(b"status\n"), ParsedQuestion::For(Question::Status));
        assert_eq!(control(b"stat\xff\n"), ParsedQuestion::Nothing);
        assert_eq!(http(b"GET /metrics HTTP/1.1\r\nHost: a\r\n"), ParsedQuestion::NotYet);
        assert_eq!(http(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), ParsedQuestion::For(Question::Metrics));
        for wrong in ["GET / HTTP/1.1\r\n\r\n", "POST /metrics HTTP/1.1\r\n\r\n", "down\n\r\n\r\n", "\r\n\r\n"] {
            assert_eq!(http(wrong.as_bytes()), ParsedQuestion::Nothing, "{wrong}");
        }
    }
}
