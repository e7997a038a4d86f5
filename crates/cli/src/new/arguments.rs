//! Words of `airbraid new`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[cfg(feature = "simulator")]
pub const EXAMPLES: &str = "\
Examples:
  airbraid new
      the kinds that there are

  airbraid new trunk
      trunk.toml, with a comment at each table; then `airbraid run trunk.toml`

  airbraid new wifi office.toml
      under another name

  airbraid new chain - | airbraid run -
      on standard output

  airbraid new daemon site
      site/hub.toml, site/office.toml and their keys; with --force the keys that
      are there are kept

Exit status: 0 fine, 1 it could not be written, 2 the file is there already.";

/// Those of a build that has the daemon alone.
#[cfg(not(feature = "simulator"))]
pub const EXAMPLES: &str = "\
Examples:
  airbraid new daemon site
      site/hub.toml, site/office.toml and their keys; with --force the keys that
      are there are kept

Exit status: 0 fine, 1 it could not be written, 2 the file is there already.";

/// Arguments of `new`.
#[derive(Args, Debug)]
pub struct New {
    /// The kind of file; without it the kinds are listed
    pub kind: Option<Kind>,
    /// File to write, `-` for standard output; of `daemon` a directory [default: KIND.toml; of daemon: here]
    pub file: Option<PathBuf>,
    /// Replaces files that are there
    #[arg(long)]
    pub force: bool,
}

/// A kind of file to begin with.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Kind {
    /// Stations in a row: TCP over several hops
    #[cfg(feature = "simulator")]
    Chain,
    /// Two senders that do not hear each other, with and without RTS
    #[cfg(feature = "simulator")]
    Hidden,
    /// Three radio channels that carry one connection
    #[cfg(feature = "simulator")]
    Trunk,
    /// An access point and two laptops: path loss, rate control, motion
    #[cfg(feature = "simulator")]
    Wifi,
    /// A bond of DSL and LTE, one of which fails for a while
    #[cfg(feature = "simulator")]
    Tunnel,
    /// The daemon's files for two machines, with fresh keys
    #[cfg(feature = "live")]
    Daemon,
}
