//! The daemon's changes of the host's routing, written down in `/run/airbraid` before they are made, and their undoing:
//! by the daemon at its end, or by any later process after a crash.
//!
//! Routes and rules are known by the maker's number ([`PROTOCOL`]) and by the daemon's table; of settings the value
//! from before is kept.

use super::plan::{STEPS, priority};
use super::wanted::RANGE;
use crate::daemon::note_files::namespace;
use crate::error::LabError;
use crate::netlink::Netlink;
use crate::netlink::devices::Setting;
use crate::netlink::routes::PROTOCOL;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The network namespace that it is about.
    namespace: u64,
    /// The first of the daemon's tables.
    table: u32,
    settings: Vec<Set>,
    #[serde(skip)]
    path: PathBuf,
}

/// A setting of a device that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Set {
    device: String,
    index: u32,
    setting: String,
    before: u32,
    now: u32,
}

impl Note {
    /// Begins a note, of a daemon whose first table this is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(path: PathBuf, table: u32) -> Result<Self, LabError> {
        let note = Self { namespace: namespace(), table, settings: Vec::new(), path };
        note.write()?;
        Ok(note)
    }

    /// Adds a setting that is about to be changed.
    ///
    /// # Errors
    /// It cannot be written: then nothing is to be changed.
    pub fn add(&mut self, device: &str, index: u32, setting: Setting, before: u32, now: u32) -> Result<(), LabError> {
        let set = Set { device: device.to_owned(), index, setting: setting.name().to_owned(), before, now };
        let is_known = |old: &Set| old.index == index && old.setting == set.setting;
        if !self.settings.iter().any(is_known) {
            self.settings.push(set);
        }
        self.write()
    }

    /// Restores the settings of devices but those of these indices.
    pub fn put_back_but(&mut self, netlink: &mut Netlink, kept: &[u32]) {
        let (stay, go): (Vec<Set>, Vec<Set>) = self.settings.drain(..).partition(|set| kept.contains(&set.index));
        self.settings = stay;
        if !go.is_empty() {
            put_back(netlink, &go);
            if let Err(error) = self.write() {
                tracing::warn!(%error, "routing");
            }
        }
    }

    /// Written beside and renamed: a reader finds a whole one.
    fn write(&self) -> Result<(), LabError> {
        let failed = || LabError::io(self.path.display());
        let text = serde_json::to_string(self).map_err(|error| LabError::Failed(error.to_string()))?;
        let beside = beside(&self.path);
        fs::write(&beside, text).map_err(failed())?;
        fs::rename(&beside, &self.path).map_err(failed())
    }
}

fn put_back(netlink: &mut Netlink, settings: &[Set]) {
    let devices = netlink.devices().unwrap_or_default();
    for set in settings {
        let device = devices.iter().find(|device| device.index == set.index && device.name == set.device);
        let setting = Setting::WRITTEN.into_iter().find(|setting| setting.name() == set.setting);
        let (Some(device), Some(setting)) = (device, setting) else { continue };
        // Somebody else has set it since: that stays.
        if device.setting(setting) != set.now {
            continue;
        }
        if let Err(error) = netlink.set(device.index, setting, set.before) {
            tracing::warn!(device = set.device, setting = set.setting, before = set.before, %error, "not set back");
        }
    }
}

/// Undoes the changes of a daemon that no longer lives, by its note; without one there is nothing.
///
/// # Errors
/// Something would not go.
pub fn undo(path: &Path) -> Result<(), LabError> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
    let note: Option<Note> = serde_json::from_str(&text).ok();
    // What was made in another namespace is removed by the next daemon there; most are gone with it.
    if let Some(note) = note.filter(|note| note.namespace == namespace()) {
        let failed = || LabError::failed("rtnetlink");
        let mut netlink = Netlink::open().map_err(failed())?;
        remove_all(&mut netlink, note.table).map_err(failed())?;
        put_back(&mut netlink, &note.settings);
    }
    let _ = fs::remove_file(beside(path));
    fs::remove_file(path).map_err(LabError::io(path.display()))
}

/// The path of a new note before it replaces the old one.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("routing-new")
}

/// Removes the rules and the routes of a daemon's tables. Those through its interface go with it.
pub fn remove_all(netlink: &mut Netlink, table: u32) -> nix::Result<()> {
    let (first, tables) = (priority(table), table..table + RANGE);
    for rule in netlink.rules()? {
        if rule.protocol == PROTOCOL && (first..first + STEPS).contains(&rule.priority) {
            gone(netlink.remove_rule(&rule))?;
        }
    }
    for route in netlink.routes()? {
        if route.protocol == PROTOCOL && tables.contains(&route.table) {
            gone(netlink.remove_route(&route))?;
        }
    }
    Ok(())
}

/// Accepts the error of a route that is gone already: routes go with their device and their address.
pub fn gone(removed: nix::Result<()>) -> nix::Result<()> {
    match removed {
        Err(Errno::ENOENT | Errno::ESRCH | Errno::ENODEV) => Ok(()),
        removed => removed,
    }
}
