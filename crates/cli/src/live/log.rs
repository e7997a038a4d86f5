//! The daemon's log: lines on standard error, or in a file of limited length; repeated lines of a kind are limited,
//! too.

use crate::print::Ended;
use nix::sys::time::TimeValLike as _;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Length at which the file is put aside, in place of the one before: both are in memory (`/run`) \[byte\].
const FILE_MAX: u64 = 1 << 20;
/// Largest number of lines of one kind in a [`SPAN`]: a person reads no more of them when links flap.
const LINES_MAX: u32 = 60;
/// The time over which lines are counted \[s\].
const SPAN: i64 = 60;

/// The file of a daemon in the background.
pub fn path(name: &str) -> PathBuf {
    Path::new("/run/airbraid").join(format!("{name}.log"))
}

fn aside(path: &Path) -> PathBuf {
    path.with_added_extension("1")
}

/// Removes what a daemon in the background has written.
pub fn remove(name: &str) {
    let path = path(name);
    for path in [aside(&path), path] {
        let _ = fs::remove_file(path);
    }
}

/// A new file at `path`; the one from before is put aside.
pub fn fresh(path: &Path) -> io::Result<File> {
    match fs::rename(path, aside(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // It has the places of peers, which are not everybody's business.
    File::options().create_new(true).append(true).mode(0o600).open(path)
}

/// Begins the log, in a file or on standard error. `AIRBRAID_LOG` says how much of it: a level, or levels by module
/// such as `info,airbraid_live=debug`.
pub fn begin(file: Option<PathBuf>) -> Result<(), Ended> {
    let wanted = std::env::var("AIRBRAID_LOG").unwrap_or_default();
    let levels = wanted.parse::<Targets>().ok().filter(|_| !wanted.is_empty());
    let is_unreadable = levels.is_none() && !wanted.is_empty();
    let levels = levels.unwrap_or_else(|| Targets::new().with_default(Level::INFO));
    let format = Format::default().with_ansi(false);
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).event_format(Sparing::new(format));
    match file {
        None => registry().with(lines.with_writer(io::stderr).with_filter(levels)).init(),
        Some(path) => {
            let opened = Rotating::open(path.clone());
            let opened = opened.map_err(|error| Ended::Failed(format!("{}: {error}", path.display())))?;
            registry().with(lines.with_writer(Mutex::new(opened)).with_filter(levels)).init();
        }
    }
    if is_unreadable {
        tracing::warn!(
            "AIRBRAID_LOG={wanted:?} is no level: error, warn, info, debug, trace, or levels by module; taken as info"
        );
    }
    Ok(())
}

/// A file of bounded length.
#[derive(Debug)]
struct Rotating {
    path: PathBuf,
    file: File,
    written: u64,
}

impl Rotating {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::options().create(true).append(true).mode(0o600).open(&path)?;
        let written = file.metadata()?.len();
        Ok(Self { path, file, written })
    }

    fn turn(&mut self) -> io::Result<()> {
        self.file = fresh(&self.path)?;
        self.written = 0;
        // What is said otherwise, such as why it has crashed, goes where the log goes.
        Ok(nix::unistd::dup2_stderr(&self.file)?)
    }
}

impl Write for Rotating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written >= FILE_MAX {
            // If it cannot be, this file begins again.
            self.turn().or_else(|_| {
                self.written = 0;
                self.file.set_len(0)
            })?;
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Lines of one kind: those that one place in the code writes.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    since: i64,
    written: u32,
    left_out: u64,
}

impl Kind {
    /// Whether one more is written at this time \[s\]; and the number of lines left out before it.
    fn admits(&mut self, now: i64) -> Option<u64> {
        let mut left_out = 0;
        if now - self.since >= SPAN {
            left_out = self.left_out;
            *self = Self { since: now, ..Self::default() };
        }
        if self.written >= LINES_MAX {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(left_out)
    }
}

/// Limits the lines of one kind, and counts those left out. The level `debug`, which a person requests, is not limited.
struct Sparing {
    format: Format,
    kinds: Mutex<BTreeMap<(&'static str, u32), Kind>>,
}

impl Sparing {
    fn new(format: Format) -> Self {
        Self { format, kinds: Mutex::default() }
    }
}

impl<S, N> FormatEvent<S, N> for Sparing
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let from = event.metadata();
        if *from.level() <= Level::INFO {
            let now = monotonic();
            let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
            let kind = kinds.entry((from.file().unwrap_or_default(), from.line().unwrap_or_default())).or_default();
            match kind.admits(now) {
                None => return Ok(()),
                Some(0) => {}
                Some(left_out) => writeln!(writer, "({left_out} more lines like the next were left out)")?,
            }
        }
        self.format.format_event(context, writer, event)
    }
}

fn monotonic() -> i64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map_or(0, |time| time.num_seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_does_not_grow_without_end() {
        let folder = std::env::temp_dir().join(format!("airbraid-log-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("site.log");
        // Standard error is the test's own: the file begins again instead of being turned.
        fs::create_dir_all(aside(&path).join("in-the-way")).unwrap();
        let mut log = Rotating::open(path.clone()).unwrap();
        let line = [b'x'; 1_000];
        for _ in 0..3_000 {
            log.write_all(&line).unwrap();
            assert!(fs::metadata(&path).unwrap().len() <= FILE_MAX + 1_000);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn of_a_flood_of_lines_the_first_are_written_and_the_rest_are_counted() {
        let mut kind = Kind::default();
        let written = (0..1_000).filter(|_| kind.admits(100).is_some()).count();
        assert_eq!(written, LINES_MAX as usize);
        assert_eq!(kind.admits(100 + SPAN - 1), None);
        assert_eq!(kind.admits(100 + SPAN), Some(1_001 - u64::from(LINES_MAX)));
        assert_eq!(kind.admits(100 + SPAN), Some(0));
    }
}
