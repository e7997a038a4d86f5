//! Name servers: set while the daemon runs, and as before when it has gone.
//!
//! With systemd's resolver they are the interface's and vanish with it. Without it the file `/etc/resolv.conf` is kept
//! aside, where a loss of power does not reach it, and a new one written; after a crash any later process puts it back.

use super::note_files;
use super::replace::replace;
use crate::error::LabError;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The system's list of name servers.
const RESOLV: &str = "/etc/resolv.conf";
/// Paths of systemd's program: the variable `PATH` must not decide what root runs.
const RESOLVECTL: [&str; 2] = ["/usr/bin/resolvectl", "/bin/resolvectl"];
/// Beginning of our own file; the path of the copy follows.
const MARK: &str = "# written by airbraid; the file from before is in ";
/// The part that identifies our file, whatever has become of the rest.
const SIGN: &str = "# written by airbraid";

/// The owner of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owner {
    /// Ours, whole, with the copy that it names.
    Ours(PathBuf),
    /// Ours, or its remains: empty, or cut off in its first line.
    Broken,
    /// Another's, with name servers.
    Other,
    /// Another's without name servers, or no file at all.
    Unclear,
}

fn owner(text: Option<&[u8]>) -> Owner {
    let Some(text) = text.map(String::from_utf8_lossy) else { return Owner::Unclear };
    if let Some(kept) = text.strip_prefix(MARK).and_then(|rest| rest.split_once('\n')) {
        return Owner::Ours(PathBuf::from(kept.0));
    }
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with(SIGN) || SIGN.starts_with(text.trim_end_matches(['\0', '\n'])) {
        Owner::Broken
    } else if text.lines().any(|line| line.trim_start().starts_with("nameserver")) {
        Owner::Other
    } else {
        Owner::Unclear
    }
}

fn is_blank(text: Option<&[u8]>) -> bool {
    text.is_none_or(|text| text.iter().all(|byte| matches!(byte, 0 | b'\n')))
}

/// Sets the name servers of an interface, for the daemon called `name`.
///
/// # Errors
/// The system refuses, or another daemon that runs has set them.
pub fn set(interface: &str, servers: &[IpAddr], name: &str) -> Result<(), LabError> {
    if servers.is_empty() || by_resolver(interface, servers) {
        return Ok(());
    }
    let now = fs::read(RESOLV).ok();
    let kept = match owner(now.as_deref()) {
        Owner::Ours(elsewhere) => adopt(name, &elsewhere)?,
        Owner::Broken if !is_blank(now.as_deref()) => {
            lost();
            None
        }
        Owner::Broken | Owner::Other | Owner::Unclear => Some(keep(name, &now.unwrap_or_default())?),
    };
    let kept = kept.map_or_else(|| "nowhere: it was lost".to_owned(), |path| path.display().to_string());
    let mut text = format!("{MARK}{kept}\n");
    for server in servers {
        text.push_str(&format!("nameserver {server}\n"));
    }
    replace(Path::new(RESOLV), text.as_bytes()).map_err(LabError::io(RESOLV))
}

/// The file is one of ours: a running daemon keeps it, and the copy of one that is gone becomes this one's. Returns its
/// path.
fn adopt(name: &str, elsewhere: &Path) -> Result<Option<PathBuf>, LabError> {
    let other = elsewhere.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if other != name && note_files::lives(&other) {
        let how = "leave `dns` out of one of the two files";
        return Err(LabError::Failed(format!("{RESOLV}: the daemon {other} has set name servers already: {how}")));
    }
    let is_copy = note_files::kept(&other).iter().any(|path| path == elsewhere);
    let Some(before) = is_copy.then(|| fs::read(elsewhere).ok()).flatten() else {
        lost();
        return Ok(None);
    };
    let kept = keep(name, &before)?;
    if kept != elsewhere {
        let _ = fs::remove_file(elsewhere);
    }
    Ok(Some(kept))
}

/// Keeps a copy of the file, on the disk when this returns. A copy that was never put back is left beside it. Returns
/// its path.
fn keep(name: &str, before: &[u8]) -> Result<PathBuf, LabError> {
    let [lasting, passing] = note_files::kept(name);
    for path in [&lasting, &passing].into_iter().filter(|path| fs::read(path).is_ok_and(|copy| copy != before)) {
        let older = path.with_extension("resolv.before");
        tracing::warn!(path = %older.display(), "a copy of name servers that was never put back stays there");
        fs::rename(path, &older).map_err(LabError::io(path.display()))?;
    }
    let written = |path: &Path| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace(path, before)
    };
    match written(&lasting) {
        Ok(()) => return Ok(lasting),
        Err(error) => tracing::warn!(
            path = %lasting.display(),
            %error,
            "{RESOLV} is kept in {} instead, and is lost if the power is",
            passing.display()
        ),
    }
    written(&passing).map_err(LabError::io(passing.display()))?;
    Ok(passing)
}

fn lost() {
    tracing::warn!(
        "{RESOLV} is airbraid's, and the file from before is gone: write this network's name servers into it"
    );
}

/// Puts back the copy of the daemon called `name`, unless another program has written the file since. A copy that was
/// not put back stays, unless the file is plainly another's and newer.
///
/// # Errors
/// The system refuses.
pub fn restore(name: &str) -> Result<(), LabError> {
    let places = note_files::kept(name);
    let now = fs::read(RESOLV).ok();
    let owner = owner(now.as_deref());
    let copy = places.iter().find_map(|kept| Some((kept, fs::read(kept).ok()?)));
    let Some((kept, before)) = copy else {
        if matches!(owner, Owner::Ours(named) if places.contains(&named)) {
            lost();
        }
        return Ok(());
    };
    let is_dangling = now.is_none() && fs::symlink_metadata(RESOLV).is_ok();
    let is_done = now.as_deref() == Some(&before[..]);
    match owner {
        _ if is_done => {}
        Owner::Ours(_) | Owner::Broken => {
            replace(Path::new(RESOLV), &before).map_err(LabError::io(RESOLV))?;
        }
        Owner::Unclear if now.is_none() && !is_dangling => {
            replace(Path::new(RESOLV), &before).map_err(LabError::io(RESOLV))?;
        }
        Owner::Other if is_newer(kept) => {
            tracing::info!("{RESOLV} was written by another since: it stays, and the copy from before is dropped");
        }
        Owner::Other | Owner::Unclear => {
            let path = kept.display();
            tracing::warn!("{RESOLV} is not airbraid's any more: it stays as it is; the one from before is in {path}");
            return Ok(());
        }
    }
    fs::remove_file(kept).map_err(LabError::io(kept.display()))
}

/// Whether the file was written after the copy was made.
fn is_newer(kept: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    time(Path::new(RESOLV)) > time(kept)
}

/// Whether systemd's resolver runs here and has taken them.
fn by_resolver(interface: &str, servers: &[IpAddr]) -> bool {
    let is_here = fs::canonicalize(RESOLV).is_ok_and(|path| path.starts_with(PathBuf::from("/run/systemd/resolve")));
    let run = |arguments: &[String]| {
        let Some(program) = RESOLVECTL.into_iter().find(|path| Path::new(path).exists()) else { return false };
        let mut command = Command::new(program);
        command.env_clear().args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut works = || command.status().is_ok_and(|status| status.success());
        // It may not have heard of an interface that is a moment old.
        works()
            || (0..3).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(100));
                works()
            })
    };
    let servers: Vec<String> = servers.iter().map(IpAddr::to_string).collect();
    is_here
        && run(&[&["dns".to_owned(), interface.to_owned()], &servers[..]].concat())
        && run(&["domain".to_owned(), interface.to_owned(), "~.".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_file_is() {
        let ours = format!("{MARK}/var/lib/airbraid/site.resolv\nnameserver 10.77.0.1\n");
        assert_eq!(owner(Some(ours.as_bytes())), Owner::Ours("/var/lib/airbraid/site.resolv".into()));
        // Cut off anywhere in its first line, or nothing but zeros, as some file systems leave it.
        let line = ours.find('\n').unwrap();
        for length in 0..=line {
            assert_eq!(owner(Some(&ours.as_bytes()[..length])), Owner::Broken, "{length}");
        }
        assert_eq!(owner(Some(&[0; 70])), Owner::Broken);
        assert_eq!(owner(Some(b"# by hand\nnameserver 192.0.2.1\n")), Owner::Other);
        assert_eq!(owner(Some(b"search example\n")), Owner::Unclear);
        assert_eq!(owner(None), Owner::Unclear);
    }
}
