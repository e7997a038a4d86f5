//! The model `wifi`: a saturated cell by closed forms, as `airbraid plan wifi` computes it.
//!
//! Parameters are the command's options, in tables: `radio`, `frames` and `access`. Metrics: `psdu_bytes`, `mpdus`,
//! `exchanges`, `alone_bps`, `bianchi_bps`, `bianchi_collision` (of one category), `draws_bps`, and for each category
//! `draws.NAME.goodput_bps`, `.share` and `.failures`; with `access.load` also `access_s` and, below saturation,
//! `end_to_end_s`.

use super::{Compute, ModelParameters};
use crate::saturation::{AccessOptions, FrameOptions, RadioOptions, Request, compute};
use airbraid_sim::facts::Facts;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Wifi(Request);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    radio: RadioOptions,
    #[serde(default)]
    frames: FrameOptions,
    #[serde(default)]
    access: AccessOptions,
}

pub fn read(told: &ModelParameters) -> Result<Box<dyn Compute>, String> {
    let Told { radio, frames, access } = Told::deserialize(told.clone()).map_err(|e| e.message().to_owned())?;
    let request = Request { radio, frames, access };
    request.check()?;
    Ok(Box::new(Wifi(request)))
}

impl Compute for Wifi {
    fn facts(&self, _needed: &BTreeSet<String>, seed: u64) -> Result<Facts, String> {
        let report = compute(&self.0, seed)?;
        let mut metrics: BTreeMap<String, f64> = [
            ("psdu_bytes", report.psdu_bytes as f64),
            ("mpdus", report.mpdus as f64),
            ("exchanges", report.exchanges as f64),
            ("alone_bps", report.alone_bps),
            ("draws_bps", report.contention.goodput_bps),
        ]
        .map(|(name, x)| (name.to_owned(), x))
        .into();
        if let Some(bianchi) = report.bianchi {
            metrics.insert("bianchi_bps".to_owned(), bianchi.goodput_bps);
            metrics.insert("bianchi_collision".to_owned(), bianchi.collision);
        }
        if let Some(delay) = report.delay {
            metrics.insert("access_s".to_owned(), delay.access_s);
            metrics.extend(delay.end_to_end_s.map(|s| ("end_to_end_s".to_owned(), s)));
        }
        for category in report.contention.categories {
            let name = |metric: &str| format!("draws.{}.{metric}", category.category);
            metrics.insert(name("goodput_bps"), category.goodput_bps);
            metrics.insert(name("share"), category.share);
            metrics.insert(name("failures"), category.failures);
        }
        Ok(Facts { metrics, series: BTreeMap::new() })
    }
}
