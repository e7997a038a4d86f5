//! Whether the requirements of a test with namespaces and a TUN device are met.

#[path = "../../../../tests/src/skip.rs"]
mod skip;

pub use skip::skip;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The missing requirement, if there is one.
fn missing() -> Option<&'static str> {
    static MISSING: OnceLock<Option<&'static str>> = OnceLock::new();
    *MISSING.get_or_init(|| {
        let works = |words: &[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            return Some("it needs root");
        }
        if !Path::new("/dev/net/tun").exists() {
            return Some("it needs /dev/net/tun");
        }
        let has_namespaces = works(&["unshare", "--net", "--mount", "true"]);
        if !has_namespaces { Some("it needs network namespaces") } else { None }
    })
}

/// Whether daemons and labs can be run here; it is noted where they cannot.
pub fn can_run(test: &str) -> bool {
    missing().inspect(|why| skip(test, why)).is_none()
}
