//! The gateway's changes, written down in `/run/airbraid` before they are made, and their undoing after a crash.

use super::read;
use crate::daemon::note_files::namespace;
use crate::error::LabError;
use crate::netlink::Netlink;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The network's settings.
pub const SETTINGS: &str = "/proc/sys/net";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The network namespace that it is about.
    namespace: u64,
    /// The table of `nft`'s.
    pub table: String,
    settings: Vec<Setting>,
    #[serde(skip)]
    path: PathBuf,
}

/// A setting that was changed, or that changed with another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its path below [`SETTINGS`].
    pub path: String,
    pub before: String,
    /// The value that it was given; `None` where it only follows another.
    pub now: Option<String>,
}

impl Setting {
    /// Whether it is to have its old value again. If somebody else has set it since, that stays.
    pub fn is_to_be_put_back(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| value != self.before && self.now.as_deref().is_none_or(|now| now == value))
    }
}

impl Note {
    /// Begins a note about a table that is about to be made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(path: PathBuf, table: String) -> Result<Self, LabError> {
        let note = Self { namespace: namespace(), table, settings: Vec::new(), path };
        note.write()?;
        Ok(note)
    }

    /// Adds settings that are about to be changed, the switch before those that follow it.
    ///
    /// # Errors
    /// It cannot be written: then nothing is to be changed.
    pub fn add(&mut self, settings: Vec<Setting>) -> Result<(), LabError> {
        self.settings.extend(settings);
        self.write()
    }

    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    pub fn remove(&self) {
        let _ = fs::remove_file(&self.path);
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

/// Undoes the changes of a daemon that no longer lives, by its note; without one there is nothing.
///
/// # Errors
/// The rules would not go, or a setting not change.
pub fn undo(path: &Path) -> Result<(), LabError> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
    let note: Option<Note> = serde_json::from_str(&text).ok();
    if let Some(note) = note.filter(|note| note.namespace == namespace()) {
        for setting in &note.settings {
            if setting.is_to_be_put_back(read(&setting.path).as_deref()) {
                let path = Path::new(SETTINGS).join(&setting.path);
                fs::write(&path, &setting.before).map_err(LabError::io(path.display()))?;
            }
        }
        let mut netlink = Netlink::filters().map_err(LabError::failed("nfnetlink"))?;
        netlink.delete_table(&note.table).map_err(LabError::failed("the rules of the gateway"))?;
    }
    let _ = fs::remove_file(beside(path));
    fs::remove_file(path).map_err(LabError::io(path.display()))
}

/// The path of a new note before it replaces the old one.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("gateway-new")
}
