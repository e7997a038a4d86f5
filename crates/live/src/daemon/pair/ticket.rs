//! The line that `airbraid pair` prints: where the other end is, its public key, and a secret that is good once.
//!
//! From the secret both ends compute a private key and a preshared key (SHA-256 over a label and the secret), with
//! which the one may come to the other as a peer that ends after ten minutes. So the handshake is that of link security
//! ([decision 24](../../../../../docs/decisions/0024-pairing.md)), and the line holds nothing that lasts.

use airbraid_engine::converge::session::{PublicKey, Secret};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Context, SHA256};
use std::net::Ipv4Addr;
use zeroize::Zeroizing;

/// Beginning of a line: it says what it is, and of which version.
const SIGN: &str = "airbraid1:";
/// Longest name of a host with its port \[byte\]: 253, a colon and five digits.
const ENDPOINT_MAX: usize = 259;
/// Length of the check sum: a line that was cut or mistyped is told as such \[byte\].
const SUM: usize = 4;
/// Length of everything but the endpoint \[byte\].
const FIXED: usize = 32 + 32 + 4 + 4 + 2 + SUM;
/// Longest line \[byte\].
pub const LINE_MAX: usize = SIGN.len() + (FIXED + ENDPOINT_MAX).div_ceil(3) * 4;

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    pub secret: OneTime,
    /// The key of the end that printed it.
    pub public: PublicKey,
    /// That end's address in the tunnel, and ours while we pair.
    pub theirs: Ipv4Addr,
    pub ours: Ipv4Addr,
    /// The TCP port at its address in the tunnel.
    pub port: u16,
    /// Its address outside, `host:port`.
    pub endpoint: String,
}

/// The secret of a line.
#[derive(Clone, Debug)]
pub struct OneTime(Secret);

impl PartialEq for OneTime {
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes() == other.0.bytes()
    }
}

impl OneTime {
    pub const fn new(secret: Secret) -> Self {
        Self(secret)
    }

    /// The private key of the end that has the line.
    pub fn identity(&self) -> Secret {
        self.derive("airbraid pair: identity")
    }

    /// The preshared key of both.
    pub fn preshared(&self) -> Secret {
        self.derive("airbraid pair: preshared key")
    }

    fn derive(&self, label: &str) -> Secret {
        let mut context = Context::new(&SHA256);
        context.update(label.as_bytes());
        context.update(self.0.bytes());
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Secret::new(bytes)
    }
}

impl Ticket {
    /// Writes the bytes of the line, without its check sum.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(FIXED + self.endpoint.len()));
        bytes.extend_from_slice(self.secret.0.bytes());
        bytes.extend_from_slice(&self.public.0);
        bytes.extend_from_slice(&self.theirs.octets());
        bytes.extend_from_slice(&self.ours.octets());
        bytes.extend_from_slice(&self.port.to_be_bytes());
        bytes.extend_from_slice(self.endpoint.as_bytes());
        bytes
    }

    /// Writes the line.
    pub fn line(&self) -> Zeroizing<String> {
        let mut bytes = self.encode();
        let sum = sum(&bytes);
        bytes.extend_from_slice(&sum);
        Zeroizing::new(format!("{SIGN}{}", URL_SAFE_NO_PAD.encode(&*bytes)))
    }

    /// Reads a line, with whatever blanks around it.
    ///
    /// # Errors
    /// It is none: what is wrong, and what to do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some(rest) = text.strip_prefix(SIGN).filter(|_| text.len() <= LINE_MAX) else {
            let is_other = text.starts_with("airbraid") && text.contains(':');
            return Err(if is_other {
                "this line is of another version of airbraid: take the same at both machines".to_owned()
            } else {
                format!("this is no line of `airbraid pair`: it begins with `{SIGN}`")
            });
        };
        let damaged = || "this line is not whole: copy all of it, to its last character".to_owned();
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(rest).map_err(|_| damaged())?);
        let (body, sum_of_it) = bytes.split_last_chunk::<SUM>().ok_or_else(damaged)?;
        if sum(body) != *sum_of_it {
            return Err(damaged());
        }
        Self::decode(body).ok_or_else(damaged)
    }

    /// Reads the bytes of a line, without its check sum.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let (secret, rest) = body.split_first_chunk::<32>()?;
        let (public, rest) = rest.split_first_chunk::<32>()?;
        let (theirs, rest) = rest.split_first_chunk::<4>()?;
        let (ours, rest) = rest.split_first_chunk::<4>()?;
        let (port, endpoint) = rest.split_first_chunk::<2>()?;
        let endpoint = std::str::from_utf8(endpoint).ok()?;
        // It goes into a file as it is.
        let is_plain = endpoint.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\'));
        if endpoint.is_empty() || endpoint.len() > ENDPOINT_MAX || !is_plain {
            return None;
        }
        Some(Self {
            secret: OneTime(Secret::new(*secret)),
            public: PublicKey(*public),
            theirs: (*theirs).into(),
            ours: (*ours).into(),
            port: u16::from_be_bytes(*port),
            endpoint: endpoint.to_owned(),
        })
    }
}

fn sum(bytes: &[u8]) -> [u8; SUM] {
    let mut context = Context::new(&SHA256);
    context.update(bytes);
    let mut sum = [0; SUM];
    sum.copy_from_slice(&context.finish().as_ref()[..SUM]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        Ticket {
            secret: OneTime::new(Secret::new([7; 32])),
            public: PublicKey([9; 32]),
            theirs: Ipv4Addr::new(10, 77, 0, 1),
            ours: Ipv4Addr::new(10, 77, 0, 254),
            port: 40_000,
            endpoint: "hub.example:5182".to_owned(),
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written_and_any_change_is_told() {
        let line = ticket().line();
        assert_eq!(Ticket::parse(&format!("  {}\r\n", *line)), Ok(ticket()));
        assert!(line.len() < 160, "it fits two lines of a terminal: {}", line.len());
        for place in SIGN.len()..line.len() {
            let mut changed = line.to_string().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert!(Ticket::parse(std::str::from_utf8(&changed).unwrap()).is_err(), "{place}");
            assert!(Ticket::parse(&line[..place]).unwrap_err().contains("not whole"), "{place}");
        }
        assert!(Ticket::parse("airbraid2:AAAA").unwrap_err().contains("another version"));
        assert!(Ticket::parse("hello").unwrap_err().contains("begins with"));
        assert!(Ticket::parse("").is_err());
    }

    #[test]
    fn the_keys_of_a_line_differ_from_its_secret_and_from_each_other() {
        let secret = OneTime::new(Secret::new([7; 32]));
        let (identity, preshared) = (secret.identity(), secret.preshared());
        assert_ne!(identity.bytes(), preshared.bytes());
        assert!(identity.bytes() != &[7; 32] && preshared.bytes() != &[7; 32]);
        let other = OneTime::new(Secret::new([8; 32]));
        assert_ne!(other.identity().bytes(), identity.bytes());
    }
}
