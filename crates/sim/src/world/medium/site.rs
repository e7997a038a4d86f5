//! The properties of a radio that decide who hears it, and whom it hears.

use super::super::id::{RadioId, Table};
use super::MOTION_STEP;
use super::spectrum::{Spectrum, TuningId};
use crate::phy::path_loss::threshold_power;
use crate::phy::shadowing::Shadow;
use crate::phy::{Antenna, Shadowing, Transmitter};
use crate::scenario::spec::Radio;
use airbraid_engine::Stream;
use airbraid_units::{Db, Duration, Metres, Milliwatt};
use std::sync::Arc;

/// The properties that decide which radios hear each other: read when rows are made, apart from those that each frame
/// touches.
#[derive(Debug)]
pub(super) struct Site {
    pub tuning: TuningId,
    pub node: u32,
    pub kind: Arc<SiteKind>,
}

/// The part of a site that all radios of a kind share.
#[derive(Debug)]
pub(super) struct SiteKind {
    /// Attenuation between this radio and others of its node that are on other channels, as a factor; zero: nothing
    /// comes through.
    pub isolation: f64,
    pub transmitter: Transmitter,
    pub antenna: Antenna,
    pub shadowing: Option<Shadowing>,
    /// \[mW\]
    pub interference_floor: f64,
}

/// The shadowing of the path between two radios: it is one path, so the first of them gives its rate of change.
pub(super) fn shadow(sites: &Table<RadioId, Site>, (a, b): (RadioId, RadioId), seed: u64) -> Shadow {
    let shadowing = sites[a].kind.shadowing.or(sites[b].kind.shadowing);
    let still = Shadowing { deviation: crate::phy::Curve::flat(0.0), time: Duration::ZERO };
    let random = Stream::new(seed, (a.index() as u64) << 32 | b.index() as u64, "medium.shadowing");
    Shadow::new(&shadowing.unwrap_or(still), MOTION_STEP, random)
}

/// The furthest at which any radio is heard by any.
pub(super) fn furthest(sites: &Table<RadioId, Site>, spectrum: &Spectrum) -> Metres {
    // Most radios of a scenario are alike: one of each kind stands for all.
    let mut kinds: Vec<&Site> = Vec::new();
    for site in sites.iter() {
        if !kinds.iter().any(|kind| kind.tuning == site.tuning && kind.kind.is_like(&site.kind)) {
            kinds.push(site);
        }
    }
    let mut range = 0.0f64;
    for sender in &kinds {
        for hearer in &kinds {
            let Some(link) = spectrum.link(sender.tuning, hearer.tuning) else { continue };
            let in_band = if link.is_whole { 1.0 } else { spectrum.strongest(link.coupling) };
            let strongest = sender.kind.shadowing.map_or(1.0, |shadowing| shadowing.largest()) * in_band;
            let reach = sender
                .kind
                .transmitter
                .range(hearer.kind.antenna, Milliwatt(hearer.kind.interference_floor / strongest));
            range = range.max(reach.0);
        }
    }
    Metres(range)
}

impl SiteKind {
    pub fn new(spec: &Radio) -> Self {
        let config = &spec.radio;
        let isolation = spec.spectrum.and_then(|spectrum| spectrum.isolation);
        Self {
            isolation: isolation.map_or(0.0, |loss| Db(-loss.0).to_linear()),
            transmitter: Transmitter::new(config),
            antenna: Antenna::of(config),
            shadowing: config.shadowing,
            interference_floor: threshold_power(config, config.interference).0,
        }
    }

    /// Whether it is heard, and hears, as far as another.
    fn is_like(&self, other: &Self) -> bool {
        self.transmitter == other.transmitter
            && self.antenna == other.antenna
            && self.shadowing == other.shadowing
            && self.interference_floor.total_cmp(&other.interference_floor).is_eq()
    }
}
