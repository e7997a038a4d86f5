//! `airbraid explain`.

use crate::arguments::Explain;
use crate::print::{Ended, json, out, scenario};
use airbraid_campaign::report::explanation;

/// Prints what a scenario was resolved to.
pub fn explain(arguments: &Explain) -> Result<(), Ended> {
    let plan = scenario(&arguments.file, &arguments.over)?.plan()?;
    if arguments.json { json(&explanation(&plan)) } else { out(&plan.explain()) }
}
