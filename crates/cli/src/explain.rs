//! `airbraid explain`.

use crate::arguments::Explain;
use crate::print::{Ended, json, out, scenario};

/// Prints what a scenario was resolved to.
pub fn explain(arguments: &Explain) -> Result<(), Ended> {
    let plan = scenario(&arguments.file, &arguments.over)?.plan()?;
    if !arguments.json {
        return out(&plan.explain());
    }
    let axes: Vec<serde_json::Value> =
        plan.axes.iter().map(|axis| serde_json::json!({ "key": axis.key, "values": axis.values })).collect();
    json(&serde_json::json!({
        "scenario": plan.file,
        "title": plan.title,
        "asks": plan.asks,
        "cells": plan.cells.len(),
        "sweep": axes,
        "values": plan.resolved,
        "warnings": plan.warnings,
    }))
}
