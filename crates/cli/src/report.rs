//! `airbraid report`.

use crate::arguments::Report;
use crate::print::{Ended, note};
use airbraid_campaign::output;
use std::io::ErrorKind;

/// Writes the report of a result that is there.
pub fn report(arguments: &Report) -> Result<(), Ended> {
    for dir in &arguments.dirs {
        let failed = |e: std::io::Error| {
            let message = format!("{}: {e}", dir.display());
            if e.kind() == ErrorKind::InvalidData { Ended::Argument(message) } else { Ended::Failed(message) }
        };
        let file = output::report(dir).map_err(failed)?;
        note(&format!("written: {}", file.display()));
    }
    Ok(())
}
