//! `airbraid plan`.

use crate::arguments::{Efficiency, OtherPlan, Plan};
use crate::print::{Ended, json, note, out};
use airbraid_campaign::output;
use airbraid_campaign::{efficiency, slots};

/// Plans slots and prints the plan.
pub fn plan(arguments: &Plan) -> Result<(), Ended> {
    if let Some(OtherPlan::Efficiency(arguments)) = &arguments.other {
        return plan_efficiency(arguments);
    }
    let asked = asked(arguments);
    if let Some(periods) = &arguments.periods {
        let rows = asked.periods(periods).map_err(Ended::Argument)?;
        return if arguments.json {
            json(&serde_json::json!({ "periods": rows }))
        } else {
            out(&slots::periods(&rows))
        };
    }
    let (request, unused) = asked.request().map_err(Ended::Argument)?;
    unused.iter().for_each(|name| note(&format!("{name} is not used")));
    let report = slots::plan(&request).map_err(|why| Ended::Argument(why.to_string()))?;
    if let Some(file) = &arguments.svg {
        let failed = |e| Ended::Argument(format!("--svg {}: {e}", file.display()));
        output::write_file(file, &slots::svg(&report)).map_err(failed)?;
        note(&format!("written: {}", file.display()));
    }
    if arguments.json { json(&report) } else { out(&slots::text(&report)) }
}

fn asked(arguments: &Plan) -> slots::Asked {
    slots::Asked {
        duty: arguments.duty.clone(),
        backhaul: arguments.backhaul.clone(),
        wireless: arguments.wireless.clone(),
        scheduler: arguments.scheduler.clone(),
        weight: arguments.weight.clone(),
        slot: arguments.slot.clone(),
        period: arguments.period.clone(),
        switch: arguments.switch.clone(),
        delay: arguments.delay.clone(),
        loss: arguments.loss.clone(),
        flows: arguments.flows.clone(),
        mss: arguments.mss.clone(),
        names: arguments.names.clone(),
        policy: arguments.policy.clone(),
        seed: arguments.seed,
    }
}

/// TCP's throughput between two nodes, by arithmetic.
fn plan_efficiency(arguments: &Efficiency) -> Result<(), Ended> {
    let asked = efficiency::Asked {
        standard: arguments.standard.clone(),
        preamble: arguments.preamble.clone(),
        rate: arguments.rate.clone(),
        control_rate: arguments.control_rate.clone(),
        packet: arguments.packet.clone(),
        ack: arguments.ack.clone(),
        llc: arguments.llc.clone(),
        packets_per_ack: arguments.packets_per_ack,
        batch: arguments.batch,
        switching: arguments.switching.clone(),
        backoff: arguments.backoff.clone(),
    };
    let report = asked.request().and_then(|request| efficiency::estimate(&request)).map_err(Ended::Argument)?;
    if arguments.json { json(&report) } else { out(&efficiency::text(&report)) }
}
