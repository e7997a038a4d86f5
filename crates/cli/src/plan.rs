//! `airbraid plan`.

use crate::arguments::{Efficiency, OtherPlan, Plan};
use crate::print::{Ended, json, note, out};
use airbraid_campaign::efficiency;
use airbraid_campaign::output;
use airbraid_campaign::slots::{self, Policy, Request, Scheduler};
use airbraid_sim::models::slots::{Access, Fraction, Length, Path};
use airbraid_sim::models::tcp::{Route, Tcp};
use airbraid_units::{BitRate, Bytes, Duration, Quantity};

/// The shortest slot where neither slot nor period is given: the upper end of what the paper's section 6.1 calls safe.
const SLOT: Duration = Duration::from_millis(15);
/// The period that schedulers count switches in where none is given: FatVAP's.
const PERIOD: Duration = Duration::from_millis(100);
/// The wired round trip where none is given.
const DELAY: Duration = Duration::from_millis(50);

/// Plans slots and prints the plan.
pub fn plan(arguments: &Plan) -> Result<(), Ended> {
    if let Some(OtherPlan::Efficiency(arguments)) = &arguments.other {
        return plan_efficiency(arguments);
    }
    let request = request(arguments).map_err(Ended::Argument)?;
    if let Some(periods) = &arguments.periods {
        let periods = quantities::<Duration>("periods", periods).map_err(Ended::Argument)?;
        let rows = slots::sweep(&request, &periods);
        return if arguments.json {
            json(&serde_json::json!({ "periods": rows }))
        } else {
            out(&slots::periods(&rows))
        };
    }
    let report = slots::plan(&request).map_err(|why| Ended::Argument(why.to_string()))?;
    if let Some(file) = &arguments.svg {
        let failed = |e| Ended::Argument(format!("--svg {}: {e}", file.display()));
        output::write_file(file, &slots::svg(&report)).map_err(failed)?;
        note(&format!("written: {}", file.display()));
    }
    if arguments.json { json(&report) } else { out(&slots::text(&report)) }
}

/// What TCP gets between two nodes, by arithmetic.
fn plan_efficiency(arguments: &Efficiency) -> Result<(), Ended> {
    let asked = efficiency_request(arguments).map_err(Ended::Argument)?;
    let report = efficiency::estimate(&asked).map_err(Ended::Argument)?;
    if arguments.json { json(&report) } else { out(&efficiency::text(&report)) }
}

fn efficiency_request(arguments: &Efficiency) -> Result<efficiency::Request, String> {
    let control_rate =
        arguments.control_rate.as_ref().map(|text| quantity::<BitRate>("control-rate", text)).transpose()?;
    Ok(efficiency::Request {
        standard: arguments.standard.clone(),
        has_short_preamble: arguments.preamble == "short",
        rate: quantity("rate", &arguments.rate)?,
        control_rate,
        packet: quantity("packet", &arguments.packet)?,
        acknowledgement: quantity("ack", &arguments.ack)?,
        llc_header: quantity("llc", &arguments.llc)?,
        packets_per_acknowledgement: arguments.packets_per_ack,
        batch: arguments.batch,
        switching_time: quantity("switching", &arguments.switching)?,
        backoff: quantity("backoff", &arguments.backoff)?,
    })
}

/// What is asked, from what was typed.
fn request(arguments: &Plan) -> Result<Request, String> {
    let switch = quantity::<Duration>("switch", &arguments.switch)?;
    let time = |name, text: &Option<String>| text.as_ref().map(|text| quantity::<Duration>(name, text)).transpose();
    let (slot, period) = (time("slot", &arguments.slot)?, time("period", &arguments.period)?);
    let length = match (slot, period) {
        (Some(slot), Some(period)) => Length::Both { slot, period },
        (None, Some(period)) => Length::Period(period),
        (slot, None) => Length::Slot(slot.unwrap_or(SLOT)),
    };
    let (duties, limits) = duties(arguments, period.unwrap_or(PERIOD), switch)?;
    let count = duties.len();
    let names = match &arguments.names {
        Some(names) => each("names", items(names).map(str::to_owned).collect(), count)?,
        None => (1..=count).map(|i| format!("AP {i}")).collect(),
    };
    let mut routes = routes(arguments, &limits)?;
    let mut chosen: Vec<usize> = (0..count).collect();
    if arguments.backhaul.is_some() {
        // An access point that is not worth its switch is left out.
        chosen.retain(|i| !duties[*i].is_zero());
        (0..count).filter(|i| duties[*i].is_zero()).for_each(|i| note(&format!("{} is not used", names[i])));
    }
    routes = chosen.iter().map(|i| routes[*i]).collect();
    Ok(Request {
        names: chosen.iter().map(|i| names[*i].clone()).collect(),
        duties: chosen.iter().map(|i| duties[*i]).collect(),
        length,
        routes,
        delays_known: arguments.delay.is_some(),
        tcp: Tcp { mss: quantity::<Bytes>("mss", &arguments.mss)?, switch, ..Tcp::default() },
        policy: policy(arguments)?,
        seed: arguments.seed,
    })
}

/// The duty cycles, and what each access point's flows cannot exceed where rates are given.
fn duties(
    arguments: &Plan,
    period: Duration,
    switch: Duration,
) -> Result<(Vec<Fraction>, Vec<Option<BitRate>>), String> {
    let (Some(backhaul), Some(wireless)) = (&arguments.backhaul, &arguments.wireless) else {
        let text = arguments.duty.as_deref().unwrap_or_default();
        let duties: Vec<Fraction> = list("duty", text, |item| Fraction::parse(item).map_err(|e| e.to_string()))?;
        let count = duties.len();
        return Ok((duties, vec![None; count]));
    };
    let backhaul = quantities::<BitRate>("backhaul", backhaul)?;
    let wireless = each("wireless", quantities::<BitRate>("wireless", wireless)?, backhaul.len())?;
    let scheduler = if arguments.scheduler == "themis" { Scheduler::Themis } else { Scheduler::FatVap };
    let weights = weights(arguments, scheduler, backhaul.len())?;
    let rates = backhaul.iter().zip(&wireless).zip(weights);
    let access: Vec<Access> = rates.map(|((e, w), weight)| Access { backhaul: *e, wireless: *w, weight }).collect();
    let (duties, limits) = slots::schedule(scheduler, &access, period, switch).map_err(|e| e.to_string())?;
    Ok((duties, limits.into_iter().map(Some).collect()))
}

/// What THEMIS weighs the access points with: 1 where nothing is said.
fn weights(arguments: &Plan, scheduler: Scheduler, count: usize) -> Result<Vec<u32>, String> {
    let Some(text) = &arguments.weight else { return Ok(vec![1; count]) };
    if scheduler == Scheduler::FatVap {
        return Err("--weight: FatVAP maximises the sum and knows no weights; add --scheduler themis".to_owned());
    }
    let weight = |item: &str| match item.parse() {
        Ok(weight @ 1..=1_000_000_u32) => Ok(weight),
        _ => Err("a number from 1 to 1000000 is needed".to_owned()),
    };
    each("weight", list("weight", text, weight)?, count)
}

fn routes(arguments: &Plan, limits: &[Option<BitRate>]) -> Result<Vec<Route>, String> {
    let count = limits.len();
    let delays = match &arguments.delay {
        Some(text) => each("delay", quantities::<Duration>("delay", text)?, count)?,
        None => vec![DELAY; count],
    };
    let loss = |item: &str| match Fraction::parse(item) {
        Ok(loss) if loss > Fraction::ONE => Err("no more than all packets can be lost".to_owned()),
        Ok(loss) if loss.is_zero() => Err("without loss the model has no limit: give what was measured".to_owned()),
        Ok(loss) => Ok(loss),
        Err(e) => Err(e.to_string()),
    };
    let losses = each("loss", list("loss", &arguments.loss, loss)?, count)?;
    let flow = |item: &str| match item.parse() {
        Ok(flows @ 1..=1_000_u32) => Ok(flows),
        _ => Err("a number from 1 to 1000 is needed".to_owned()),
    };
    let flows = each("flows", list("flows", &arguments.flows, flow)?, count)?;
    let route =
        |i: usize| Route { path: Path { delay: delays[i], loss: losses[i], flows: flows[i] }, limit: limits[i] };
    Ok((0..count).map(route).collect())
}

fn policy(arguments: &Plan) -> Result<Option<Policy>, String> {
    let Some(name) = &arguments.policy else { return Ok(None) };
    let policy = Policy::ALL.into_iter().find(|policy| policy.name() == name);
    match policy {
        Some(policy) if policy.needs_delays() && arguments.delay.is_none() => {
            Err(format!("--policy {name} plans with delays: give them with --delay"))
        }
        policy => Ok(policy),
    }
}

// --- lists -----------------------------------------------------------------------------------------------------------

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// Reads each item; what is wrong is said with the option and the item.
fn list<T>(name: &str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    items(text).map(|item| read(item).map_err(|why| format!("--{name} {text}: `{item}`: {why}"))).collect()
}

fn quantities<T: Quantity>(name: &str, text: &str) -> Result<Vec<T>, String> {
    list(name, text, |item| T::parse(item).map_err(|e| format!("{e}; write it as {}", T::EXAMPLE)))
}

fn quantity<T: Quantity>(name: &str, text: &str) -> Result<T, String> {
    T::parse(text).map_err(|e| format!("--{name} {text}: {e}; write it as {}", T::EXAMPLE))
}

/// One value for each access point: as many as there are, or one for all.
fn each<T: Clone>(name: &str, given: Vec<T>, count: usize) -> Result<Vec<T>, String> {
    match given.len() {
        n if n == count => Ok(given),
        1 => Ok(vec![given[0].clone(); count]),
        n => Err(format!("--{name}: {n} values for {count} access points")),
    }
}
