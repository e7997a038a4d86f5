//! The files of a daemon at each of two ends, with fresh keys.

use super::{PUBLIC, quoted, taken, write as write_file};
use crate::print::{Ended, note};
use airbraid_live::daemon::keys;
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// Mode of a key, which the daemon insists on.
const SECRET: u32 = 0o600;
const HUB: &str = include_str!("templates/hub.toml");
const OFFICE: &str = include_str!("templates/office.toml");

/// Writes `hub.toml`, `office.toml` and their keys into a folder; keys that are there are kept.
pub(super) fn write(folder: Option<&Path>, force: bool) -> Result<(), Ended> {
    let folder = folder.unwrap_or(Path::new("."));
    if folder == Path::new("-") {
        return Err(Ended::Argument(
            "daemon writes four files, two of them keys: name a directory for them".to_owned(),
        ));
    }
    let names = ["hub.toml", "office.toml", "hub.key", "office.key"];
    let there = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    if let Some(path) = there.filter(|_| !force) {
        return Err(taken(&path));
    }
    fs::create_dir_all(folder).map_err(|error| Ended::Failed(format!("{}: {error}", folder.display())))?;
    let hub = key(&folder.join("hub.key"))?;
    let office = key(&folder.join("office.key"))?;
    write_file(&folder.join("hub.toml"), &HUB.replace("OFFICE_KEY", &office), PUBLIC)?;
    write_file(&folder.join("office.toml"), &OFFICE.replace("HUB_KEY", &hub), PUBLIC)?;
    let place = |name: &str| quoted(&folder.join(name).display().to_string());
    note(&format!(
        "written: {}\nnext:    set `endpoint` and the devices in office.toml, then\n         airbraid up --check {}\n         \
         airbraid up --check {}\n         and take hub.toml and hub.key to the other machine",
        names.map(place).join(", "),
        place("office.toml"),
        place("hub.toml"),
    ));
    Ok(())
}

/// The public key of the private one in a file, which is made if it is not there.
fn key(path: &Path) -> Result<String, Ended> {
    let failed = |why: String| Ended::Failed(format!("{}: {why}", path.display()));
    let private = if path.exists() {
        Zeroizing::new(fs::read_to_string(path).map_err(|error| failed(error.to_string()))?)
    } else {
        let fresh = keys::generate();
        write_file(path, &fresh, SECRET)?;
        fresh
    };
    keys::public_of(&private).map_err(failed)
}
