//! `airbraid plan`.

use crate::arguments::{Airtime, Efficiency, OtherPlan, Plan, PlanWifi};
use crate::print::{Ended, json, note, out};
use airbraid_campaign::output;
use airbraid_campaign::{airtime, efficiency, saturation, slots};

/// Plans slots and prints the plan.
pub fn plan(arguments: &Plan) -> Result<(), Ended> {
    match &arguments.other {
        Some(OtherPlan::Airtime(arguments)) => return plan_airtime(arguments),
        Some(OtherPlan::Efficiency(arguments)) => return plan_efficiency(arguments),
        Some(OtherPlan::Wifi(arguments)) => return plan_wifi(arguments),
        None => {}
    }
    let options = &arguments.options;
    if let Some(periods) = &arguments.periods {
        let rows = options.periods(periods).map_err(Ended::Argument)?;
        return if arguments.json {
            json(&serde_json::json!({ "periods": rows }))
        } else {
            out(&slots::periods(&rows))
        };
    }
    let (request, unused) = options.request().map_err(Ended::Argument)?;
    unused.iter().for_each(|name| note(&format!("{name} is not used")));
    let report = slots::plan(&request).map_err(|why| Ended::Argument(why.to_string()))?;
    if let Some(file) = &arguments.svg {
        let failed = |e| Ended::Argument(format!("--svg {}: {e}", file.display()));
        output::write_file(file, &slots::svg(&report)).map_err(failed)?;
        note(&format!("written: {}", file.display()));
    }
    if arguments.json { json(&report) } else { out(&slots::text(&report)) }
}

/// TCP's throughput between two nodes, by arithmetic.
fn plan_efficiency(arguments: &Efficiency) -> Result<(), Ended> {
    let report =
        arguments.options.request().and_then(|request| efficiency::estimate(&request)).map_err(Ended::Argument)?;
    if arguments.json { json(&report) } else { out(&efficiency::text(&report)) }
}

/// The airtime of a PPDU, by arithmetic.
fn plan_airtime(arguments: &Airtime) -> Result<(), Ended> {
    let report = airtime::compute(&arguments.options).map_err(Ended::Argument)?;
    if arguments.json { json(&report) } else { out(&airtime::text(&report)) }
}

/// A saturated cell, by closed forms.
fn plan_wifi(arguments: &PlanWifi) -> Result<(), Ended> {
    let PlanWifi { radio, frames, access, json: is_json, seed } = arguments;
    let request = saturation::Request { radio: radio.clone(), frames: frames.clone(), access: access.clone() };
    let report = saturation::compute(&request, *seed).map_err(Ended::Argument)?;
    if *is_json { json(&report) } else { out(&saturation::text(&report, access.stations)) }
}
