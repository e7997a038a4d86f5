//! The model `efficiency`: TCP between two nodes under each contending MAC, by arithmetic on its frames; what
//! `airbraid plan efficiency` computes.
//!
//! Parameters are the command's options, as text or numbers: `standard`, `preamble`, `rate`, `control_rate`, `packet`,
//! `ack`, `llc`, `packets_per_ack`, `batch`, `switching`, `backoff`. Metrics, for each of `dcf`, `mcmac` and
//! `bi_mcmac`: `dcf.packet_cycle_s`, `.acknowledgement_cycle_s`, `.joint_cycle_s` (where the MAC has one), `.total_s`,
//! `.efficiency`, `.throughput_bps`, `.chain_bound_bps`, and airtimes: `.rts_s`, `.cts_s`, `.ack_s`, `.packet_s`,
//! `.acknowledgement_s`, `.header_s`.

use super::{Compute, ModelParameters};
use crate::efficiency::{EfficiencyOptions, Request, protocols};
use airbraid_sim::facts::Facts;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Efficiency(Request);

pub fn read(told: &ModelParameters) -> Result<Box<dyn Compute>, String> {
    let options = EfficiencyOptions::deserialize(told.clone()).map_err(|e| e.message().to_owned())?;
    let request = options.request()?;
    protocols(&request)?;
    Ok(Box::new(Efficiency(request)))
}

impl Compute for Efficiency {
    fn facts(&self, _needed: &BTreeSet<String>, _seed: u64) -> Result<Facts, String> {
        let (protocols, transfer) = protocols(&self.0)?;
        let mut metrics = BTreeMap::new();
        for (mac, protocol) in protocols {
            let (estimate, airtimes) = (protocol.estimate(&transfer), protocol.airtimes(&transfer));
            let seconds = [
                ("packet_cycle_s", Some(estimate.packet_cycle)),
                ("acknowledgement_cycle_s", Some(estimate.acknowledgement_cycle)),
                ("joint_cycle_s", estimate.joint_cycle),
                ("total_s", Some(estimate.total)),
                ("rts_s", Some(airtimes.rts)),
                ("cts_s", Some(airtimes.cts)),
                ("ack_s", Some(airtimes.ack)),
                ("packet_s", Some(airtimes.packet)),
                ("acknowledgement_s", Some(airtimes.acknowledgement)),
                ("header_s", Some(airtimes.header)),
            ];
            let seconds = seconds.into_iter().filter_map(|(name, span)| Some((name, span?.as_secs_f64())));
            let numbers = [
                ("efficiency", estimate.efficiency),
                ("throughput_bps", estimate.throughput_bps),
                ("chain_bound_bps", protocol.chain_bound_bps(&transfer)),
            ];
            metrics.extend(seconds.chain(numbers).map(|(name, x)| (format!("{mac}.{name}"), x)));
        }
        Ok(Facts { metrics, series: BTreeMap::new() })
    }
}
