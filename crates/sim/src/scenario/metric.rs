//! The meaning of a metric's path in `[expect]`, and the form of its values.

use super::error::Complaint;
use super::nearest::suggestion;
use super::reader::{self, quantity};
use super::spec::Spec;
use super::tree::{Data, Value};
use crate::metric::{Declared, FAMILIES, Family, Unit, renamed};
use airbraid_units::{BitRate, Bytes, Db, Dbm, Duration};

/// Returns the metric that `path` names in a scenario, as its key in the summary and its unit.
pub(crate) fn resolve(path: &str, spec: &Spec) -> Result<(String, Unit), Complaint> {
    let segments: Vec<&str> = path.split('.').collect();
    let (Some((word, _)), Some((metric, before))) = (segments.split_first(), segments.split_last()) else {
        return Err(unknown(path));
    };
    // Which reasons there are is for the run to say; one that did not occur counts 0.
    if let ["drops", reason] = segments[..]
        && !reason.is_empty()
    {
        return Ok((path.to_owned(), Unit::Count));
    }
    let mut families: Vec<&Family> =
        FAMILIES.iter().filter(|family| family.word == *word && family.steps.len() + 1 == before.len()).collect();
    let given = before.get(1..).unwrap_or_default();
    for (place, name) in given.iter().enumerate() {
        let names = |family: &Family| (family.steps[place].names)(spec, &given[..place]);
        let all: Vec<String> = families.iter().flat_map(|family| names(family)).collect();
        if let Some(family) = families.first() {
            named(family.steps[place].what, name, &all)?;
        }
        families.retain(|family| names(family).iter().any(|known| known == name));
    }
    match families.first() {
        Some(family) => find(path, metric, &(family.declared)()),
        None => Err(unknown(path)),
    }
}

fn unknown(path: &str) -> Complaint {
    if let Some(now) = renamed(path) {
        return Complaint::new(format!("`{path}` is an old name"), format!("it is `{now}` now"));
    }
    let mut forms: Vec<String> = Vec::new();
    for form in FAMILIES.iter().map(|family| format!("{}.METRIC", family.path())) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    Complaint::new(format!("`{path}` is no metric"), format!("metrics are {}, drops.REASON", forms.join(", ")))
}

fn named(what: &str, given: &str, names: &[String]) -> Result<(), Complaint> {
    if names.iter().any(|name| name == given) {
        return Ok(());
    }
    let shown: Vec<&str> = names.iter().take(50).map(String::as_str).collect();
    Err(Complaint::new(format!("no {what} is called `{given}`"), suggestion(given, &shown)))
}

fn find(path: &str, given: &str, all: &[&Declared]) -> Result<(String, Unit), Complaint> {
    if let Some(metric) = all.iter().find(|metric| metric.name() == given || metric.key == given) {
        let stem = &path[..path.len() - given.len()];
        return Ok((format!("{stem}{}", metric.key), metric.unit));
    }
    let names: Vec<&str> = all.iter().map(|metric| metric.name()).collect();
    Err(Complaint::new(format!("`{given}` is no metric here"), suggestion(given, &names)))
}

/// Reads a value of this unit: a quantity with its unit, or a bare number for counts and shares.
pub(super) fn read(unit: Unit, value: &Value) -> Result<f64, Complaint> {
    match unit {
        Unit::BitPerSecond => quantity::<BitRate>(value).map(|rate| rate.as_bps() as f64),
        Unit::Byte => quantity::<Bytes>(value).map(|size| size.as_u64() as f64),
        Unit::Second => quantity::<Duration>(value).map(Duration::as_secs_f64),
        Unit::Count => reader::number(value),
        Unit::Share if matches!(value.data, Data::Text(_)) => reader::probability(value).map(|p| p.get()),
        Unit::Share => reader::number(value),
        Unit::Decibel => quantity::<Db>(value).map(|ratio| ratio.0),
        Unit::DecibelMilliwatt => quantity::<Dbm>(value).map(|power| power.0),
    }
}
