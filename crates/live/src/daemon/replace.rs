//! System files, written so that a loss of power leaves either the old text or the new.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

/// Writes a file: a new one is renamed over the old where that is possible, and is on the disk when this returns. A
/// file that is a mount of its own (containers, namespaces), or in a folder that cannot be written, is written in
/// place; a symbolic link stays, and its target is written.
///
/// # Errors
/// The system refuses both.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = target(path);
    renamed(&path, bytes).or_else(|_| in_place(&path, bytes))
}

/// The target of a path; a dangling link has one all the same.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let beside = path.parent().unwrap_or(Path::new("/"));
        fs::read_link(path).map_or_else(|_| path.to_path_buf(), |link| beside.join(link))
    })
}

fn renamed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let fresh = folder.join(format!(".{}.airbraid", name.to_string_lossy()));
    let written = write_beside(&fresh, path, bytes).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written?;
    // The folder has the name: without this a loss of power may bring the old file back.
    File::open(folder)?.sync_all()
}

/// A file with the owner and the mode of the one that it is to replace.
fn write_beside(fresh: &Path, old: &Path, bytes: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).open(fresh)?;
    if let Ok(old) = fs::metadata(old) {
        file.set_permissions(old.permissions())?;
        chown(fresh, Some(old.uid()), Some(old.gid()))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Never shorter than before until the new text is there: after a loss of power the file begins as the new text does.
fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        let folder = std::env::temp_dir().join(format!("airbraid-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (real, link) = (folder.join("real"), folder.join("link"));
        fs::write(&real, "what was there before").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        in_place(&real, b"shorter still").unwrap();
        in_place(&real, b"x").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"x");
        let missing = folder.join("to-nothing");
        symlink("nothing", &missing).unwrap();
        replace(&missing, b"y").unwrap();
        assert_eq!(fs::read(folder.join("nothing")).unwrap(), b"y");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "nothing else is left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
