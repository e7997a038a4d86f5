//! `airbraid new`: a commented file to begin with.

pub mod arguments;
#[cfg(feature = "live")]
mod pair;

use crate::print::{Ended, note, out};
use arguments::{Kind, New};
use clap::ValueEnum;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Mode of a file that everybody may read.
const PUBLIC: u32 = 0o644;

/// Writes a file of the kind that is asked for, or lists the kinds.
pub fn new(arguments: &New) -> Result<(), Ended> {
    let Some(kind) = arguments.kind else { return out(&kinds()) };
    let file = arguments.file.as_deref();
    let Some(text) = template(kind) else { return pair(file, arguments.force) };
    if file == Some(Path::new("-")) {
        return out(text);
    }
    let name = format!("{}.toml", word(kind));
    let path = match file {
        None => PathBuf::from(&name),
        Some(folder) if folder.is_dir() => folder.join(&name),
        Some(path) => path.to_owned(),
    };
    if path.exists() && !arguments.force {
        return Err(taken(&path));
    }
    // The comments call the file by its name.
    let own = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
    write(&path, &text.replace(&name, &own), PUBLIC)?;
    let shown = path.display().to_string();
    note(&format!("written: {shown}\nnext:    airbraid run {}", quoted(&shown)));
    Ok(())
}

#[cfg(feature = "live")]
fn pair(folder: Option<&Path>, force: bool) -> Result<(), Ended> {
    pair::write(folder, force)
}

/// A build without the daemon has no such kind.
#[cfg(not(feature = "live"))]
fn pair(_: Option<&Path>, _: bool) -> Result<(), Ended> {
    Err(Ended::Argument("this build has no daemon".to_owned()))
}

/// A build without the simulator has no such kind.
#[cfg(not(feature = "simulator"))]
fn template(_: Kind) -> Option<&'static str> {
    None
}

/// The text of a kind that is one file.
#[cfg(feature = "simulator")]
fn template(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Chain => include_str!("templates/chain.toml"),
        Kind::Hidden => include_str!("templates/hidden.toml"),
        Kind::Trunk => include_str!("templates/trunk.toml"),
        Kind::Wifi => include_str!("templates/wifi.toml"),
        Kind::Tunnel => include_str!("templates/tunnel.toml"),
        #[cfg(feature = "live")]
        Kind::Daemon => return None,
    })
}

/// The word for a kind on the command line.
fn word(kind: Kind) -> String {
    kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The help of a kind.
fn help(kind: Kind) -> String {
    let value = kind.to_possible_value();
    value.and_then(|value| value.get_help().map(ToString::to_string)).unwrap_or_default()
}

/// The kinds, a line each.
fn kinds() -> String {
    let line = |kind: &Kind| format!("  {:<8} {}\n", word(*kind), help(*kind));
    let lines: String = Kind::value_variants().iter().map(line).collect();
    let first = Kind::value_variants().first().copied().map(word).unwrap_or_default();
    format!(
        "airbraid new KIND [FILE] writes a commented file that runs:\n\n{lines}\nFor example: airbraid new {first}\n"
    )
}

/// The refusal to replace a file.
fn taken(path: &Path) -> Ended {
    Ended::Argument(format!("{} is there already: name another file, or replace it by --force", path.display()))
}

/// Writes a whole file or nothing: beside its place first.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Ended> {
    let failed = |error: std::io::Error| Ended::Failed(format!("{}: {error}", path.display()));
    let beside = path.with_added_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside).map_err(failed)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
