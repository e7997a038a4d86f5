//! The folder of a lab's result, there as a whole or not at all.

use super::LabOutput;
use std::fs;
use std::io::Result;
use std::path::Path;

/// Writes `summary.json` and the captures into `dir`, which is made or replaced.
///
/// # Errors
/// The file system's error; `dir` is then as it was.
pub fn write(dir: &Path, output: &LabOutput) -> Result<()> {
    let beside = |role: &str| {
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        dir.with_file_name(format!(".{name}.{role}"))
    };
    let (partial, old) = (beside("partial"), beside("old"));
    remove(&partial)?;
    remove(&old)?;
    fs::create_dir_all(&partial)?;
    let written = fill(&partial, output).and_then(|()| {
        if dir.exists() {
            fs::rename(dir, &old)?;
        }
        fs::rename(&partial, dir).inspect_err(|_| {
            // Put the old result back; if that fails too, it is still there under its other name.
            let _ = fs::rename(&old, dir);
        })
    });
    remove(&old).and(written).inspect_err(|_| {
        let _ = remove(&partial);
    })
}

fn fill(dir: &Path, output: &LabOutput) -> Result<()> {
    let text = serde_json::to_string(&output.result)? + "\n";
    fs::write(dir.join("summary.json"), text)?;
    output.files.iter().try_for_each(|file| fs::write(dir.join(&file.name), file.bytes.as_deref().unwrap_or_default()))
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
