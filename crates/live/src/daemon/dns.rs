//! Name servers: set while the daemon runs, and as before when it has gone.
//!
//! With systemd's resolver they are the interface's and vanish with it. Without it the file `/etc/resolv.conf` is kept
//! aside and written anew; whoever comes after a crash puts it back.

use crate::error::LabError;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The system's list of name servers.
const RESOLV: &str = "/etc/resolv.conf";
/// Where systemd's program is: whoever sets `PATH` has no say in what root runs.
const RESOLVECTL: [&str; 2] = ["/usr/bin/resolvectl", "/bin/resolvectl"];
/// How our own file begins.
const MARK: &str = "# written by airbraid; the file from before is in ";

/// Sets the name servers of an interface; `kept` is where a file is kept aside.
///
/// # Errors
/// The system refuses.
pub fn set(interface: &str, servers: &[IpAddr], kept: &Path) -> Result<(), LabError> {
    if servers.is_empty() || by_resolver(interface, servers) {
        return Ok(());
    }
    let failed = LabError::io(RESOLV);
    let mut text = format!("{MARK}{}\n", kept.display());
    for server in servers {
        text.push_str(&format!("nameserver {server}\n"));
    }
    if !kept.exists() {
        let before = fs::read(RESOLV).unwrap_or_default();
        fs::write(kept, before).map_err(LabError::io(kept.display()))?;
    }
    // Not renamed over: it may be a mount of its own, as in containers.
    fs::write(RESOLV, text).map_err(failed)
}

/// Puts back what was kept aside, unless somebody else has written the file since.
///
/// # Errors
/// The system refuses.
pub fn restore(kept: &Path) -> Result<(), LabError> {
    let Ok(before) = fs::read(kept) else { return Ok(()) };
    let is_ours = fs::read_to_string(RESOLV).is_ok_and(|text| text.starts_with(MARK));
    if is_ours {
        fs::write(RESOLV, before).map_err(LabError::io(RESOLV))?;
    }
    fs::remove_file(kept).map_err(LabError::io(kept.display()))
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
