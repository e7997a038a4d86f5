//! The exchange of two ends that pair, over TCP inside the tunnel: a line of JSON, and its answer.

use crate::daemon::site::Prefix;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read};

/// Longest line \[byte\].
pub const LINE_MAX: u64 = 16_384;
/// Longest test of speed \[ms\].
pub const TEST_MAX: u64 = 10_000;
/// Largest number of networks behind an end.
const NETWORKS_MAX: usize = 64;
/// Longest name of an end \[byte\].
const NAME_MAX: usize = 32;

/// A wish of the end that has the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Wish {
    /// Send for this time \[ms\].
    Send { ms: u64 },
    /// Read until the end, and say how much came.
    Receive,
    /// Become a peer.
    Join(Newcomer),
    /// The session with the new keys works.
    Confirm,
}

/// The end that becomes a peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Newcomer {
    pub name: String,
    pub public_key: String,
    /// The networks behind it.
    pub networks: Vec<String>,
}

/// The answer to a wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Reply {
    /// Bytes that have come, and the time that it took \[us\].
    Received {
        bytes: u64,
        us: u64,
    },
    Welcome(Welcome),
    Refused(String),
    Done,
}

/// The other end's part of the new peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// Name of the end that printed the line.
    pub name: String,
    /// The newcomer's addresses in the tunnel, with their networks.
    pub addresses: Vec<String>,
    /// The secret of both.
    pub preshared_key: String,
    /// Whether the other end reaches the Internet by IPv6.
    pub has_ipv6: bool,
}

/// Reads the line of a wish or a reply.
///
/// # Errors
/// The connection ends, the line is too long, or is none.
pub fn read<T: for<'de> Deserialize<'de>>(stream: &mut impl Read) -> io::Result<T> {
    let mut line = Vec::new();
    // A byte at a time: what follows the line is another's.
    let mut reader = BufReader::with_capacity(1, stream.take(LINE_MAX));
    reader.read_until(b'\n', &mut line)?;
    parse(&line).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Reads a wish or a reply.
///
/// # Errors
/// It is none.
pub fn parse<T: for<'de> Deserialize<'de>>(line: &[u8]) -> Result<T, String> {
    if line.len() as u64 > LINE_MAX || line.last() != Some(&b'\n') {
        return Err("the other end says nothing that is a line".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| format!("the other end says something else: {error}"))
}

/// Writes a wish or a reply as a line.
pub fn line(of: &impl Serialize) -> String {
    // What is made of numbers and texts alone is written without a failure.
    serde_json::to_string(of).unwrap_or_default() + "\n"
}

impl Newcomer {
    /// The networks behind it, if everything about it can be written into a file.
    ///
    /// # Errors
    /// A name, a key or a network that cannot.
    pub fn check(&self) -> Result<Vec<Prefix>, String> {
        check_name(&self.name)?;
        crate::daemon::keys::public(&self.public_key)?;
        if self.networks.len() > NETWORKS_MAX {
            return Err(format!("{} networks are too many: at most {NETWORKS_MAX}", self.networks.len()));
        }
        let network = |text: &String| {
            let prefix = Prefix::parse(text)?;
            if prefix.length == 0 { Err(format!("{prefix} is everybody's network")) } else { Ok(prefix.network()) }
        };
        self.networks.iter().map(network).collect()
    }
}

/// Whether this can be the name of an end: of a file, a peer, a key.
///
/// # Errors
/// It cannot.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let fits = (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_fine) && !name.starts_with('-');
    let refused = || format!("`{name}` is no name: 1 to {NAME_MAX} letters, digits, `-` and `_`");
    if fits { Ok(()) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_and_nothing_else() {
        let newcomer = Newcomer {
            name: "office".to_owned(),
            public_key: "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=".to_owned(),
            networks: vec!["192.168.1.0/24".to_owned()],
        };
        for wish in [Wish::Send { ms: 5 }, Wish::Receive, Wish::Join(newcomer.clone()), Wish::Confirm] {
            assert_eq!(parse(line(&wish).as_bytes()), Ok(wish));
        }
        assert_eq!(newcomer.check().unwrap()[0].to_string(), "192.168.1.0/24");
        let wrong: [&[u8]; 5] =
            [b"", b"{\"do\":\"confirm\"}", b"{\"do\":\"leave\"}\n", b"{\"do\":\"send\",\"ms\":-1}\n", b"\xff\n"];
        for wrong in wrong {
            assert!(parse::<Wish>(wrong).is_err(), "{wrong:?}");
        }
        // The next byte after a line is left where it is.
        let mut both = &b"{\"do\":\"receive\"}\nrest"[..];
        assert_eq!(read::<Wish>(&mut both).unwrap(), Wish::Receive);
        assert_eq!(both, b"rest");
    }

    #[test]
    fn a_newcomer_can_put_nothing_into_the_file_but_a_name_a_key_and_networks() {
        let newcomer = |name: &str, network: &str| Newcomer {
            name: name.to_owned(),
            public_key: "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=".to_owned(),
            networks: vec![network.to_owned()],
        };
        assert!(newcomer("office", "192.168.1.0/24").check().is_ok());
        for (name, network) in
            [("a\"b", "10.0.0.0/8"), ("../etc", "10.0.0.0/8"), ("", "10.0.0.0/8"), ("a", "0.0.0.0/0"), ("a", "ten")]
        {
            assert!(newcomer(name, network).check().is_err(), "{name} {network}");
        }
    }
}
