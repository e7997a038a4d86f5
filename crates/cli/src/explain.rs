//! `airbraid explain`.

use crate::arguments::Explain;
use crate::input::input;
use crate::print::{Ended, json, out};
use airbraid_campaign::report::explanation;

/// Prints what a scenario was resolved to.
pub fn explain(arguments: &Explain) -> Result<(), Ended> {
    let plan = input(&arguments.file, &arguments.over)?.scenario.plan()?;
    if arguments.json { json(&explanation(&plan)) } else { out(&plan.explain()) }
}
