//! The daemon's page: a small, read-only HTTP server's answers (RFC 9110, RFC 9112). Everything on the page comes from
//! this program; the numbers come as JSON, a span at a time.

mod request;

pub use request::{PageRequest, ParsedRequest, Resource, parse};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const CODE: &str = include_str!("page.js");

/// Sent with every answer. The page runs its own code, asks its own origin and nobody else, and is in no frame; nothing
/// of it is kept by the browser (Content Security Policy Level 3; Fetch, `Cross-Origin-Resource-Policy`).
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Connection: close\r\n";

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not as RFC 9112 says, or has a content.
    Malformed,
    /// Its `Host` is a name: it may be another's, that was made to lead here (DNS rebinding).
    Host,
    /// It would change something.
    Method,
    Unknown,
    /// Its head is too long.
    Long,
}

impl Refusal {
    /// Status line, headers of its own, and a sentence.
    const fn answer(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Malformed => ("400 Bad Request", "", "this is no request\n"),
            Self::Host => {
                ("421 Misdirected Request", "", "ask for http://127.0.0.1, http://[::1] or http://localhost\n")
            }
            Self::Method => ("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "it can be read, not changed\n"),
            Self::Unknown => ("404 Not Found", "", "there is / and nothing else\n"),
            Self::Long => ("431 Request Header Fields Too Large", "", "the head of the request is too long\n"),
        }
    }
}

/// The answer with a file of the page; `None` for the numbers, which the daemon has.
pub fn file(request: PageRequest) -> Option<String> {
    let (kind, content) = match request.resource {
        Resource::Page => ("text/html; charset=utf-8", PAGE),
        Resource::Style => ("text/css; charset=utf-8", STYLE),
        Resource::Code => ("text/javascript; charset=utf-8", CODE),
        Resource::History(_) => return None,
    };
    Some(respond("200 OK", "", kind, content, request.is_head))
}

/// The answer with the numbers.
pub fn numbers(json: &str, is_head: bool) -> String {
    respond("200 OK", "", "application/json", json, is_head)
}

/// The answer to a request that is refused.
pub fn refuse(refusal: Refusal, is_head: bool) -> String {
    let (status, headers, why) = refusal.answer();
    respond(status, headers, "text/plain; charset=utf-8", why, is_head)
}

fn respond(status: &str, headers: &str, kind: &str, content: &str, is_head: bool) -> String {
    let length = content.len();
    let content = if is_head { "" } else { content };
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{headers}{HEADERS}\r\n{content}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_its_length_and_the_headers_of_a_page_that_trusts_nobody() {
        let request = |resource| PageRequest { resource, is_head: false };
        let files = [Resource::Page, Resource::Style, Resource::Code].map(|resource| file(request(resource)).unwrap());
        let refused = [Refusal::Malformed, Refusal::Host, Refusal::Method, Refusal::Unknown, Refusal::Long];
        let refused = refused.map(|refusal| refuse(refusal, false));
        for answer in files.iter().chain(&refused).chain([&numbers("{}", false)]) {
            let (head, content) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", content.len())), "{head}");
            for header in ["no-store", "default-src 'none'", "nosniff", "frame-ancestors 'none'", "same-origin"] {
                assert!(head.contains(header), "{header}: {head}");
            }
            assert!(head.is_ascii() && !head.contains("\n\r\n"));
        }
        let head = file(PageRequest { resource: Resource::Page, is_head: true }).unwrap();
        assert!(head.ends_with("\r\n\r\n") && head.contains(&format!("Content-Length: {}\r\n", PAGE.len())));
        assert!(refuse(Refusal::Method, true).contains("\r\nAllow: GET, HEAD\r\n"));
    }

    #[test]
    fn the_page_names_nothing_of_another_origin() {
        for (name, text) in [("page.html", PAGE), ("page.css", STYLE), ("page.js", CODE)] {
            // The name of a language, which nobody asks for.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for strange in ["http:", "https:", "//cdn", "@import", "url(", "eval(", "innerHTML", "style=\"", "onclick="]
            {
                assert!(!text.contains(strange), "{name} has {strange}");
            }
        }
    }
}
