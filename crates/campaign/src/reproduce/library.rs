//! The files of papers and scenarios: those in the binary, or those of a directory over them.
//!
//! `papers/NAME/` has `reference.toml` and `figures.toml`; scenarios are named by their path from the repository's
//! root, or by a name in the paper's own folder. Adding a paper is adding a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Path and text of every file that was there when the command was built.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// The source of the files of papers.
#[derive(Clone, Debug, Default)]
pub struct Library {
    over: Option<PathBuf>,
}

impl Library {
    /// The files in the binary.
    pub fn embedded() -> Self {
        Self::default()
    }

    /// The papers of `dir`, one a folder, over those in the binary; `scenarios` beside `dir` likewise.
    ///
    /// # Errors
    /// It is no directory that can be read.
    pub fn with(dir: &Path) -> Result<Self, String> {
        std::fs::read_dir(dir).map_err(|e| format!("--papers {}: {e}", dir.display()))?;
        Ok(Self { over: Some(dir.to_owned()) })
    }

    /// The names of all papers.
    pub fn papers(&self) -> Vec<String> {
        let embedded =
            EMBEDDED.iter().filter_map(|(path, _)| path.strip_prefix("papers/")?.strip_suffix("/figures.toml"));
        let mut names: BTreeSet<String> = embedded.map(str::to_owned).collect();
        let entries = self.over.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
        let folders = entries.filter(|entry| entry.path().join("figures.toml").is_file());
        names.extend(folders.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        names.into_iter().collect()
    }

    /// The text of the file `path` of `paper`, and its name in messages.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self, paper: &str, path: &str) -> Result<(String, String), String> {
        let inside = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !path.split('/').all(inside) || !inside(paper) || paper.contains('/') {
            return Err(format!("{path}: not a path within the library"));
        }
        let shared = path.starts_with("scenarios/");
        let full = if shared { path.to_owned() } else { format!("papers/{paper}/{path}") };
        if let Some(dir) = &self.over {
            let file = if shared { dir.join("..").join(path) } else { dir.join(paper).join(path) };
            match std::fs::read_to_string(&file) {
                Ok(text) => return Ok((text, file.display().to_string())),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(format!("{}: {e}", file.display())),
            }
        }
        let found = EMBEDDED.iter().find(|(name, _)| *name == full);
        found
            .map(|(_, text)| ((*text).to_owned(), full.clone()))
            .ok_or_else(|| format!("{full}: there is no such file"))
    }
}

/// The name among `allowed` that was probably meant, and all of them: `did you mean ...? there are ...`.
pub fn suggestion(given: &str, allowed: &[&str]) -> String {
    let limit = (given.chars().count() / 3).max(2);
    let near = allowed.iter().map(|name| (strsim::osa_distance(&given.to_lowercase(), &name.to_lowercase()), *name));
    let near = near.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance);
    let meant = near.map(|(_, name)| format!("did you mean `{name}`? ")).unwrap_or_default();
    let shown = &allowed[..allowed.len().min(40)];
    let more = if allowed.len() > shown.len() { ", ..." } else { "" };
    format!("{meant}there are {}{more}", shown.join(", "))
}
