//! Words of the daemon's commands: files, daemons that run, their uplinks.

use airbraid_live::daemon::{self, Question, Status};
use clap_complete::engine::{CompletionCandidate, ValueCompleter};
use std::ffi::OsStr;
use std::path::Path;

/// Files of daemons: the names of those in `/etc/airbraid`, and paths.
pub fn sites(current: &OsStr) -> Vec<CompletionCandidate> {
    let entries = std::fs::read_dir("/etc/airbraid").into_iter().flatten().flatten().map(|entry| entry.path());
    let stem = |path: &Path| path.file_stem().map(OsStr::to_os_string);
    let is_site = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "toml");
    let names = entries.filter(is_site).filter_map(|path| stem(&path));
    let mut fitting: Vec<_> =
        names.filter(|name| name.to_string_lossy().starts_with(&*current.to_string_lossy())).collect();
    fitting.sort();
    let names = fitting.into_iter().map(|name| CompletionCandidate::new(name).help(Some("in /etc/airbraid".into())));
    names.chain(super::files().complete(current)).collect()
}

/// The daemons that run.
pub fn names() -> Vec<CompletionCandidate> {
    daemon::names().into_iter().map(CompletionCandidate::new).collect()
}

/// The uplinks of the daemons that run, with their states.
pub fn uplinks() -> Vec<CompletionCandidate> {
    let ask = |name: String| {
        let answer = daemon::ask(&name, &Question::Status).ok()?;
        serde_json::from_str::<Status>(&answer).ok().map(|status| (name, status))
    };
    let all = daemon::names().into_iter().filter_map(ask);
    let of = |(name, status): (String, Status)| {
        let one = move |uplink: daemon::UplinkReport| {
            CompletionCandidate::new(uplink.name).help(Some(format!("{name}: {}", uplink.state).into()))
        };
        status.uplinks.into_iter().map(one)
    };
    all.flat_map(of).collect()
}
