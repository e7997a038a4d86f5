//! The model `airtime`: the times of PPDUs, as `airbraid plan airtime` computes them.
//!
//! Parameters: `rules` (`standard` or `ns-3`), and `frames`, a table of frames by name, each with the command's
//! options: `standard`, `bytes`, `mcs`, `width`, `streams`, `guard_interval`, `band`, `rate`, `preamble`, ...
//! Metrics, for each frame: `NAME.airtime_s`.

use super::{Compute, ModelParameters};
use crate::airtime::{AirtimeOptions, compute};
use airbraid_sim::facts::Facts;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Airtimes(BTreeMap<String, f64>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    rules: String,
    frames: BTreeMap<String, AirtimeOptions>,
}

pub fn read(told: &ModelParameters) -> Result<Box<dyn Compute>, String> {
    let told = Told::deserialize(told.clone()).map_err(|e| e.message().to_owned())?;
    let airtime = |(name, options): (String, AirtimeOptions)| {
        let options = AirtimeOptions { rules: told.rules.clone(), ..options };
        let report = compute(&options).map_err(|why| format!("frame `{name}`: {why}"))?;
        Ok((format!("{name}.airtime_s"), report.airtime_ns as f64 / 1e9))
    };
    Ok(Box::new(Airtimes(told.frames.into_iter().map(airtime).collect::<Result<_, String>>()?)))
}

impl Compute for Airtimes {
    fn facts(&self, _needed: &BTreeSet<String>, _seed: u64) -> Result<Facts, String> {
        Ok(Facts { metrics: self.0.clone(), series: BTreeMap::new() })
    }
}
