//! Duty cycles from rates, and which period is best.

use super::text::columns;
use super::{Policy, Request, ms, rate};
use airbraid_sim::models::slots::{
    Access, Fraction, Layout, Length, SchedulerError, Timetable, fat_vap, min_max, no_policy, themis,
};
use airbraid_sim::models::tcp::aggregate_bps;
use airbraid_units::{BitRate, Duration};
use serde::Serialize;

/// The scheduler that derives duty cycles from rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The largest sum of rates.
    FatVap,
    /// The largest sum of their logarithms.
    Themis,
}

/// Duty cycles, and the limit of each access point: its backhaul, or its part of its rate over the air. A duty cycle of
/// 0 means that an access point is not used.
///
/// # Errors
/// A rate is 0, or switching takes the whole period.
pub fn schedule(
    scheduler: Scheduler,
    access: &[Access],
    period: Duration,
    switch: Duration,
) -> Result<(Vec<Fraction>, Vec<BitRate>), SchedulerError> {
    let duties = match scheduler {
        Scheduler::FatVap => fat_vap(access, period, switch)?,
        Scheduler::Themis => themis(access, period, switch)?,
    };
    let limit = |(access, duty): (&Access, &Fraction)| {
        BitRate::from_bps(duty.part_of(access.wireless.as_bps()).0.min(access.backhaul.as_bps()))
    };
    let limits = access.iter().zip(&duties).map(limit).collect();
    Ok((duties, limits))
}

/// The result of a period.
#[derive(Clone, Debug, Serialize)]
pub struct PeriodRow {
    pub period_ns: u64,
    /// Slots in it, and the shortest \[ns\]; null where it has no layout.
    pub slots: Option<usize>,
    /// See `slots`.
    pub shortest_ns: Option<u64>,
    /// Sum of the throughputs \[bit/s\], one block each.
    pub no_policy_bps: f64,
    /// The same by MinMax.
    pub min_max_bps: f64,
    /// The reason why it has no layout.
    pub refused: Option<String>,
}

/// The throughput for each of some periods.
pub fn sweep(request: &Request, periods: &[Duration]) -> Vec<PeriodRow> {
    let row = |period: &Duration| match Layout::new(&request.duties, Length::Period(*period)) {
        Err(refused) => PeriodRow {
            period_ns: period.as_nanos(),
            slots: None,
            shortest_ns: None,
            no_policy_bps: f64::NAN,
            min_max_bps: f64::NAN,
            refused: Some(refused.to_string()),
        },
        Ok(layout) => {
            let worth =
                |arrangement| aggregate_bps(&Timetable::new(&layout, &arrangement), &request.routes, &request.tcp);
            PeriodRow {
                period_ns: period.as_nanos(),
                slots: Some(layout.slots()),
                shortest_ns: layout.stations().iter().map(|station| station.size_ns).min(),
                no_policy_bps: worth(no_policy(&layout)),
                min_max_bps: worth(min_max(&layout)),
                refused: None,
            }
        }
    };
    periods.iter().map(row).collect()
}

/// The rows as a table.
pub fn periods(rows: &[PeriodRow]) -> String {
    let head = ["period", "slots", "shortest slot", Policy::NoPolicy.name(), Policy::MinMax.name()]
        .map(str::to_owned)
        .to_vec();
    let row = |row: &PeriodRow| {
        let period = ms(row.period_ns as f64 / 1e9);
        match (&row.refused, row.slots, row.shortest_ns) {
            (None, Some(slots), Some(shortest)) => vec![
                period,
                slots.to_string(),
                ms(shortest as f64 / 1e9),
                rate(row.no_policy_bps),
                rate(row.min_max_bps),
            ],
            (why, ..) => vec![period, why.clone().unwrap_or_default()],
        }
    };
    columns(&std::iter::once(head).chain(rows.iter().map(row)).collect::<Vec<_>>())
}
