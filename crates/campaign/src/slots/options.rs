//! A request to the planner, as a person types it: texts with units and lists with commas between, by the names of the
//! command's options. Messages name the option.

use super::{PeriodRow, Policy, Request, Scheduler, schedule, sweep};
use airbraid_sim::models::slots::{Access, Fraction, Length, Path};
use airbraid_sim::models::tcp::{Route, Tcp};
use airbraid_units::{BitRate, Bytes, Duration, Quantity};
use clap::Args;
use serde::Deserialize;

/// The default shortest slot: the upper end of the range that the paper's section 6.1 calls safe.
const SLOT: Duration = Duration::from_millis(15);
/// The default period in which schedulers count switches: FatVAP's.
const PERIOD: Duration = Duration::from_millis(100);
/// The default wired round trip.
const DELAY: Duration = Duration::from_millis(50);

/// No air time is lost at a switch.
pub const SWITCH: &str = "0 s";
/// Loss of packets on the paths: the paper's measurement.
pub const LOSS: &str = "0.32 %";
/// TCP flows over each access point.
pub const FLOWS: &str = "1";
/// The default MSS: a path of 1500 byte leaves this beside timestamps.
pub const MSS: &str = "1448 byte";
/// The default scheduler, which derives duty cycles from rates.
pub const SCHEDULER: &str = "fatvap";
/// Seed of random draws.
pub const SEED: u64 = 1;

/// A request. Lists have commas between; one value stands for every access point where that makes sense.
#[derive(Args, Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanOptions {
    /// Duty cycles, such as 0.5,1/8,37.5%; they add up to 1 at most
    #[arg(long, value_name = "LIST", required_unless_present = "backhaul", conflicts_with = "backhaul")]
    pub duty: Option<String>,
    /// Rates of the backhauls, from which a scheduler derives duty cycles
    #[arg(long, value_name = "LIST", requires = "wireless")]
    pub backhaul: Option<String>,
    /// Rates over the air of a station that has an access point all the time
    #[arg(long, value_name = "LIST", requires = "backhaul")]
    pub wireless: Option<String>,
    /// The scheduler that derives duty cycles from rates
    #[arg(long, value_name = "NAME", default_value = SCHEDULER, value_parser = ["fatvap", "themis"])]
    pub scheduler: String,
    /// Weights of the access points in THEMIS, whole numbers, one or one each
    #[arg(long, value_name = "LIST", requires = "backhaul")]
    pub weight: Option<String>,
    /// The shortest slot [default: 15 ms, where no period is given]
    #[arg(long, value_name = "TIME")]
    pub slot: Option<String>,
    /// The period; without it the smallest duty cycle and the shortest slot give it
    #[arg(long, value_name = "TIME")]
    pub period: Option<String>,
    /// Air time that is lost at each change of access point; about 0.8 ms for the card of the paper
    #[arg(long, value_name = "TIME", default_value = SWITCH)]
    pub switch: String,
    /// Wired round-trip times behind the access points, one or one each; without them 50 ms is assumed
    #[arg(long, value_name = "LIST")]
    pub delay: Option<String>,
    /// Loss of packets on the paths, one or one each
    #[arg(long, value_name = "LIST", default_value = LOSS)]
    pub loss: String,
    /// TCP flows, one or one each
    #[arg(long, value_name = "LIST", default_value = FLOWS)]
    pub flows: String,
    /// Maximum segment size of TCP
    #[arg(long, value_name = "SIZE", default_value = MSS)]
    pub mss: String,
    /// Names of the access points [default: AP 1, AP 2, ...]
    #[arg(long, value_name = "LIST")]
    pub names: Option<String>,
    /// The policy whose map is drawn [default: measured with --delay, otherwise min-max]
    #[arg(long, value_name = "NAME", value_parser = ["no-policy", "random", "min-max", "blind", "worst-case", "measured"])]
    pub policy: Option<String>,
    /// Seed of random draws
    #[arg(long, value_name = "N", default_value_t = SEED)]
    pub seed: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        let [switch, loss, flows, mss, scheduler] = [SWITCH, LOSS, FLOWS, MSS, SCHEDULER].map(str::to_owned);
        Self {
            duty: None,
            backhaul: None,
            wireless: None,
            scheduler,
            weight: None,
            slot: None,
            period: None,
            switch,
            delay: None,
            loss,
            flows,
            mss,
            names: None,
            policy: None,
            seed: SEED,
        }
    }
}

impl PlanOptions {
    /// The request, and the names of the access points that a scheduler gives no time.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub fn request(&self) -> Result<(Request, Vec<String>), String> {
        fits_together(self)?;
        request(self)
    }

    /// Compares `periods`, a list.
    ///
    /// # Errors
    /// As [`PlanOptions::request`].
    pub fn periods(&self, periods: &str) -> Result<Vec<PeriodRow>, String> {
        let (request, _) = self.request()?;
        let periods = quantities::<Duration>("periods", periods)?;
        Ok(sweep(&request, &periods))
    }
}

/// Refuses options that exclude or need each other.
fn fits_together(asked: &PlanOptions) -> Result<(), String> {
    let has = |option: &Option<String>| option.is_some();
    match (has(&asked.duty), has(&asked.backhaul), has(&asked.wireless)) {
        (true, true, _) => return Err("--backhaul: duty cycles are given already with --duty".to_owned()),
        (false, false, _) => {
            return Err("--duty or --backhaul is needed: duty cycles, or rates to derive them from".to_owned());
        }
        (false, true, false) => return Err("--backhaul: give the rates over the air with --wireless".to_owned()),
        (true, false, true) => return Err("--wireless: it is for duty cycles that --backhaul derives".to_owned()),
        _ => {}
    }
    if has(&asked.weight) && !has(&asked.backhaul) {
        return Err("--weight: it is for duty cycles that --backhaul derives".to_owned());
    }
    Ok(())
}

/// Parses a request.
fn request(asked: &PlanOptions) -> Result<(Request, Vec<String>), String> {
    let switch = quantity::<Duration>("switch", &asked.switch)?;
    let time = |name, text: &Option<String>| text.as_ref().map(|text| quantity::<Duration>(name, text)).transpose();
    let (slot, period) = (time("slot", &asked.slot)?, time("period", &asked.period)?);
    let length = match (slot, period) {
        (Some(slot), Some(period)) => Length::Both { slot, period },
        (None, Some(period)) => Length::Period(period),
        (slot, None) => Length::Slot(slot.unwrap_or(SLOT)),
    };
    let (duties, limits) = duties(asked, period.unwrap_or(PERIOD), switch)?;
    let count = duties.len();
    let names = match &asked.names {
        Some(names) => each("names", items(names).map(str::to_owned).collect(), count)?,
        None => (1..=count).map(|i| format!("AP {i}")).collect(),
    };
    let mut routes = routes(asked, &limits)?;
    let mut chosen: Vec<usize> = (0..count).collect();
    if asked.backhaul.is_some() {
        // An access point that is not worth its switch is left out.
        chosen.retain(|i| !duties[*i].is_zero());
    }
    let unused = (0..count).filter(|i| !chosen.contains(i)).map(|i| names[i].clone()).collect();
    routes = chosen.iter().map(|i| routes[*i]).collect();
    let request = Request {
        names: chosen.iter().map(|i| names[*i].clone()).collect(),
        duties: chosen.iter().map(|i| duties[*i]).collect(),
        length,
        routes,
        delays_known: asked.delay.is_some(),
        tcp: Tcp { mss: quantity::<Bytes>("mss", &asked.mss)?, switch, ..Tcp::default() },
        policy: policy(asked)?,
        seed: asked.seed,
    };
    Ok((request, unused))
}

/// The duty cycles and, where rates are given, the limit of each access point's flows.
fn duties(
    asked: &PlanOptions,
    period: Duration,
    switch: Duration,
) -> Result<(Vec<Fraction>, Vec<Option<BitRate>>), String> {
    let (Some(backhaul), Some(wireless)) = (&asked.backhaul, &asked.wireless) else {
        let text = asked.duty.as_deref().unwrap_or_default();
        let duties: Vec<Fraction> = list("duty", text, |item| Fraction::parse(item).map_err(|e| e.to_string()))?;
        let count = duties.len();
        return Ok((duties, vec![None; count]));
    };
    let backhaul = quantities::<BitRate>("backhaul", backhaul)?;
    let wireless = each("wireless", quantities::<BitRate>("wireless", wireless)?, backhaul.len())?;
    let scheduler = match asked.scheduler.as_str() {
        "fatvap" => Scheduler::FatVap,
        "themis" => Scheduler::Themis,
        other => return Err(format!("--scheduler {other}: allowed are fatvap, themis")),
    };
    let weights = weights(asked, scheduler, backhaul.len())?;
    let rates = backhaul.iter().zip(&wireless).zip(weights);
    let access: Vec<Access> = rates.map(|((e, w), weight)| Access { backhaul: *e, wireless: *w, weight }).collect();
    let (duties, limits) = schedule(scheduler, &access, period, switch).map_err(|e| e.to_string())?;
    Ok((duties, limits.into_iter().map(Some).collect()))
}

/// The weights of the access points in THEMIS: 1 by default.
fn weights(asked: &PlanOptions, scheduler: Scheduler, count: usize) -> Result<Vec<u32>, String> {
    let Some(text) = &asked.weight else { return Ok(vec![1; count]) };
    if scheduler == Scheduler::FatVap {
        return Err("--weight: FatVAP maximises the sum and knows no weights; add --scheduler themis".to_owned());
    }
    let weight = |item: &str| match item.parse() {
        Ok(weight @ 1..=1_000_000_u32) => Ok(weight),
        _ => Err("a number from 1 to 1000000 is needed".to_owned()),
    };
    each("weight", list("weight", text, weight)?, count)
}

fn routes(asked: &PlanOptions, limits: &[Option<BitRate>]) -> Result<Vec<Route>, String> {
    let count = limits.len();
    let delays = match &asked.delay {
        Some(text) => each("delay", quantities::<Duration>("delay", text)?, count)?,
        None => vec![DELAY; count],
    };
    let loss = |item: &str| match Fraction::parse(item) {
        Ok(loss) if loss > Fraction::ONE => Err("no more than all packets can be lost".to_owned()),
        Ok(loss) if loss.is_zero() => Err("without loss the model has no limit: give what was measured".to_owned()),
        Ok(loss) => Ok(loss),
        Err(e) => Err(e.to_string()),
    };
    let losses = each("loss", list("loss", &asked.loss, loss)?, count)?;
    let flow = |item: &str| match item.parse() {
        Ok(flows @ 1..=1_000_u32) => Ok(flows),
        _ => Err("a number from 1 to 1000 is needed".to_owned()),
    };
    let flows = each("flows", list("flows", &asked.flows, flow)?, count)?;
    let route =
        |i: usize| Route { path: Path { delay: delays[i], loss: losses[i], flows: flows[i] }, limit: limits[i] };
    Ok((0..count).map(route).collect())
}

fn policy(asked: &PlanOptions) -> Result<Option<Policy>, String> {
    let Some(name) = &asked.policy else { return Ok(None) };
    let names = Policy::ALL.map(Policy::name);
    let policy = Policy::ALL.into_iter().find(|policy| policy.name() == name);
    match policy {
        None => Err(format!("--policy {name}: allowed are {}", names.join(", "))),
        Some(policy) if policy.needs_delays() && asked.delay.is_none() => {
            Err(format!("--policy {name} plans with delays: give them with --delay"))
        }
        policy => Ok(policy),
    }
}

// --- lists -----------------------------------------------------------------------------------------------------------

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// Reads each item; an error names the option and the item.
fn list<T>(name: &str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    items(text).map(|item| read(item).map_err(|why| format!("--{name} {text}: `{item}`: {why}"))).collect()
}

fn quantities<T: Quantity>(name: &str, text: &str) -> Result<Vec<T>, String> {
    list(name, text, |item| T::parse(item).map_err(|e| format!("{e}; write it as {}", T::EXAMPLE)))
}

pub(crate) fn quantity<T: Quantity>(name: &str, text: &str) -> Result<T, String> {
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
