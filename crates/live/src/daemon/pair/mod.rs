//! Pairing: one line, printed at one end and read at the other, makes two ends of a tunnel
//! (`docs/decisions/0024-pairing.md`).
//!
//! The line's end comes as a peer that link security knows for ten minutes, by keys made of the line's secret. Inside
//! that tunnel the two tell each other the keys that last. So strangers meet no other code than that of every session.

mod exchange;
mod files;
mod join;
mod measure;
mod offer;
mod ticket;

pub use exchange::{Newcomer, Reply, Welcome, Wish, check_name, parse as parse_said};
pub use join::{Candidate, JoinOptions, Joined, candidates, join};
pub use measure::Speed;
pub use offer::{OfferOptions, offer, own_address};
pub use ticket::{LINE_MAX, Ticket};

use super::question::Question;
use super::serve::ask;
use super::site;
use crate::error::LabError;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the peer that has the line, while it pairs.
const GUEST: &str = "pairing";
/// The TCP port at which a new end's tunnel is spoken to is chosen by the system; the daemon's own is this.
const PORT: u16 = site::PORT;

/// The parts of pairing that are the command's: daemons started and ended, words for a person.
pub struct Hands<'a> {
    pub up: &'a dyn Fn(&Path) -> Result<(), LabError>,
    pub down: &'a dyn Fn(&str) -> Result<(), LabError>,
    /// Whether the person has had enough.
    pub is_over: &'a dyn Fn() -> bool,
    pub say: &'a dyn Fn(&str),
}

impl std::fmt::Debug for Hands<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hands")
    }
}

/// Whether a daemon of this name answers.
fn is_up(name: &str) -> bool {
    ask(name, &Question::Status).is_ok()
}

/// The site file of a name.
fn site_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// The name of an interface that is not there yet.
fn free_interface() -> String {
    let names = (0..256).map(|number| format!("air{number}"));
    let free = |name: &String| nix::net::if_::if_nametoindex(name.as_str()).is_err();
    names.into_iter().find(free).unwrap_or_else(|| "air0".to_owned())
}

/// Undoes a pairing: that of this end with the file `name`, or that of a peer called `name` in a file of `folder`.
/// Returns what was done.
///
/// # Errors
/// There is no such pairing, or the system refuses.
pub fn unpair(folder: &Path, name: &str, hands: &Hands<'_>) -> Result<String, LabError> {
    let file = site_file(folder, name);
    if fs::read_to_string(&file).is_ok_and(|text| files::is_own(&text)) {
        forget(folder, name, hands)?;
        return Ok(format!("{name} is down, and {} and its keys are gone", file.display()));
    }
    let entries = fs::read_dir(folder).map_err(LabError::io(folder.display()))?;
    for file in entries.flatten().map(|entry| entry.path()) {
        let is_site = file.extension().is_some_and(|extension| extension == "toml");
        let text = if is_site { fs::read_to_string(&file).unwrap_or_default() } else { continue };
        let Some(left) = files::without(&text, name) else { continue };
        let site = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if files::is_own(&text) && files::paired(&left).is_empty() && !left.contains("[[peer]]") {
            forget(folder, &site, hands)?;
            return Ok(format!("{name} was the only peer of {site}: {site} is down, and its file and keys are gone"));
        }
        files::write(&file, &left)?;
        let _ = fs::remove_file(folder.join(secret_file(&site, name)));
        if is_up(&site) {
            ask(&site, &Question::Reload)?;
        }
        return Ok(format!("{name} is no peer of {site} any more"));
    }
    Err(LabError::Input(format!(
        "{}: no file and no peer called `{name}` was made by `airbraid pair`",
        folder.display()
    )))
}

/// Ends a daemon that is pairing's own, and removes its file and keys.
fn forget(folder: &Path, name: &str, hands: &Hands<'_>) -> Result<(), LabError> {
    let file = site_file(folder, name);
    let peers = files::paired(&files::read(&file)?);
    if is_up(name) {
        (hands.down)(name)?;
    }
    let secrets = peers.iter().map(|(peer, _)| secret_file(name, peer));
    for of_it in secrets.chain([format!("{name}.key")]) {
        let _ = fs::remove_file(folder.join(of_it));
    }
    fs::remove_file(&file).map_err(LabError::io(file.display()))
}

/// Whether new interfaces of this host may have IPv6 addresses.
fn speaks_ipv6() -> bool {
    let is_off = fs::read_to_string("/proc/sys/net/ipv6/conf/default/disable_ipv6");
    is_off.is_ok_and(|is_off| is_off.trim() == "0")
}

/// The file of the secret that an end has with a peer.
fn secret_file(name: &str, peer: &str) -> String {
    format!("{name}-{peer}.psk")
}
