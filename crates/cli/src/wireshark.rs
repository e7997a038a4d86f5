//! `airbraid wireshark`: the dissector of our headers.

use crate::arguments::Wireshark;
use crate::print::{Ended, note, out};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The dissector, in Wireshark's Lua.
const DISSECTOR: &str = include_str!("wireshark/airbraid.lua");
/// Its name in the folder, and the one that a different file of this name gets: Wireshark reads `*.lua`.
const FILE: &str = "airbraid.lua";
const OLD: &str = "airbraid.lua.old";
/// Wireshark's folder of personal plugins in Lua, below the home directory (`tshark -G folders`).
const PLUGINS: &str = ".local/lib/wireshark/plugins";

/// Prints the dissector, or puts it into a folder.
pub fn wireshark(arguments: &Wireshark) -> Result<(), Ended> {
    let dir = match (&arguments.into, arguments.install) {
        (Some(dir), _) => dir.clone(),
        (None, true) => personal()?,
        (None, false) => return out(DISSECTOR),
    };
    let file = dir.join(FILE);
    let before = install(&dir).map_err(|e| Ended::Failed(format!("{}: {e}", file.display())))?;
    match before {
        Before::Same => note(&format!("already there: {}", file.display())),
        Before::Nothing => note(&format!("written: {}", file.display())),
        Before::Other => {
            note(&format!("written: {}; what was there is now {}", file.display(), dir.join(OLD).display()));
        }
    }
    Ok(())
}

fn personal() -> Result<PathBuf, Ended> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let unknown = || "there is no home directory (HOME): name Wireshark's folder of plugins with --into".to_owned();
    home.map(|home| Path::new(&home).join(PLUGINS)).ok_or_else(|| Ended::Argument(unknown()))
}

/// The file that was there before.
enum Before {
    Nothing,
    Same,
    /// A different one, which is kept beside.
    Other,
}

fn install(dir: &Path) -> Result<Before, Error> {
    std::fs::create_dir_all(dir)?;
    let file = dir.join(FILE);
    let before = match std::fs::read(&file) {
        Ok(bytes) if bytes == DISSECTOR.as_bytes() => return Ok(Before::Same),
        Ok(_) => {
            std::fs::rename(&file, dir.join(OLD))?;
            Before::Other
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Before::Nothing,
        Err(error) => return Err(error),
    };
    // Wireshark never reads a half-written one.
    let partial = dir.join("airbraid.lua.partial");
    std::fs::write(&partial, DISSECTOR)?;
    std::fs::rename(&partial, &file)?;
    Ok(before)
}
