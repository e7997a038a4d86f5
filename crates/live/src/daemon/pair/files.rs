//! The files that pairing writes: a site file for each end, keys beside it, and a peer's table between two marks, by
//! which it is found and taken out again. What a person has written is never changed.

use crate::daemon::keys;
use crate::daemon::replace::replace;
use crate::daemon::site::Prefix;
use crate::error::LabError;
use airbraid_engine::converge::session::Secret;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// First line of a file that is pairing's own: it goes with its last peer.
const OWN: &str = "# Made by `airbraid pair`; `airbraid unpair` undoes it.";
/// The lines around a peer's table.
const BEGIN: &str = "# paired: ";
const END: &str = "# end of ";

/// A peer's table.
#[derive(Clone, Debug)]
pub struct PeerTable {
    pub name: String,
    pub public_key: String,
    /// File of the preshared key, beside the site file.
    pub preshared_key: String,
    pub endpoint: Option<String>,
    pub allowed: Vec<Prefix>,
    pub except: Vec<Prefix>,
    /// Time after which it is no peer any more.
    pub until: Option<String>,
}

/// The head of a site file.
#[derive(Clone, Debug)]
pub struct Head {
    pub interface: String,
    pub addresses: Vec<String>,
    /// File of the key, beside the site file.
    pub private_key: String,
    pub listen: Option<u16>,
    /// Uplinks by their devices.
    pub uplinks: Vec<String>,
    /// Devices of the networks behind; `None` where this end forwards nothing.
    pub lan: Option<Vec<String>>,
}

impl Head {
    pub fn text(&self) -> String {
        let mut text = format!(
            "{OWN}\nschema = 1\n\n[interface]\nname        = \"{}\"\naddress     = {}\nprivate_key = \"{}\"\n",
            self.interface,
            list(&self.addresses),
            self.private_key
        );
        if let Some(port) = self.listen {
            text.push_str(&format!("listen      = {port}\n"));
        }
        for device in &self.uplinks {
            text.push_str(&format!("\n[[uplink]]\nname = \"{device}\"\n"));
        }
        if let Some(lan) = &self.lan {
            text.push_str("\n[gateway]\n");
            if !lan.is_empty() {
                text.push_str(&format!("lan = {}\n", list(lan)));
            }
        }
        text
    }
}

impl PeerTable {
    pub fn text(&self) -> String {
        let Self { name, public_key, preshared_key, .. } = self;
        let mut text = format!(
            "\n{BEGIN}{name}\n[[peer]]\nname          = \"{name}\"\npublic_key    = \"{public_key}\"\n\
             preshared_key = \"{preshared_key}\"\n"
        );
        if let Some(endpoint) = &self.endpoint {
            text.push_str(&format!("endpoint      = \"{endpoint}\"\n"));
        }
        text.push_str(&format!("allowed       = {}\n", list(&self.allowed)));
        if !self.except.is_empty() {
            text.push_str(&format!("except        = {}\n", list(&self.except)));
        }
        if let Some(until) = &self.until {
            text.push_str(&format!("until         = \"{until}\"\n"));
        }
        text + &format!("{END}{name}\n")
    }
}

fn list(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("\"{}\"", item.to_string())).collect();
    format!("[{}]", items.join(", "))
}

/// Names of the paired peers of a text, each with its table's text.
pub fn paired(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(BEGIN) {
        let Some((name, body)) = after.split_once('\n') else { break };
        let end = format!("{END}{name}\n");
        let Some((table, after)) = body.split_once(&end) else { break };
        found.push((name.to_owned(), table.to_owned()));
        rest = after;
    }
    found
}

/// The text without a paired peer; `None` if it has none of this name.
pub fn without(text: &str, name: &str) -> Option<String> {
    let (begin, end) = (format!("\n{BEGIN}{name}\n"), format!("{END}{name}\n"));
    let start = text.find(&begin)?;
    let length = text[start..].find(&end)? + end.len();
    Some(format!("{}{}", &text[..start], &text[start + length..]))
}

/// Whether a file is pairing's own.
pub fn is_own(text: &str) -> bool {
    text.starts_with(OWN)
}

/// Writes a file in place of another, or a new one.
///
/// # Errors
/// The system refuses.
pub fn write(path: &Path, text: &str) -> Result<(), LabError> {
    replace(path, text.as_bytes()).map_err(LabError::io(path.display()))
}

/// Reads a file.
///
/// # Errors
/// The system refuses.
pub fn read(path: &Path) -> Result<String, LabError> {
    fs::read_to_string(path).map_err(LabError::io(path.display()))
}

/// Writes a secret into a new file that only its owner may read.
///
/// # Errors
/// There is one, or the system refuses.
pub fn write_secret(path: &Path, secret: &Secret) -> Result<(), LabError> {
    let failed = || LabError::io(path.display());
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path).map_err(failed())?;
    let text = keys::encode_secret(secret);
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(failed())?;
    file.sync_all().map_err(failed())
}

/// Files that are removed when this is dropped, unless they are kept.
#[derive(Debug, Default)]
pub struct Made(pub Vec<PathBuf>);

impl Made {
    /// Keeps them.
    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> PeerTable {
        PeerTable {
            name: name.to_owned(),
            public_key: "key".to_owned(),
            preshared_key: format!("hub-{name}.psk"),
            endpoint: None,
            allowed: vec![Prefix::parse("10.77.0.2/32").unwrap()],
            except: Vec::new(),
            until: None,
        }
    }

    #[test]
    fn a_peer_is_taken_out_and_everything_else_stays() {
        let by_hand = "schema = 1\n# by hand\n[[peer]]\nname = \"home\"\n";
        let text = by_hand.to_owned() + &table("office").text() + &table("boat").text();
        let names: Vec<String> = paired(&text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["office", "boat"]);
        let left = without(&text, "office").unwrap();
        assert_eq!(left, by_hand.to_owned() + &table("boat").text());
        assert_eq!(without(&left, "boat").as_deref(), Some(by_hand));
        assert_eq!(without(&text, "home"), None, "what a person wrote is not pairing's");
        assert!(!is_own(&text));
    }
}
