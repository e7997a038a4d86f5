//! The formats of a station's data by peer: what it has in common with each kind of station around it.
//!
//! Formats are places in one list. Those towards stations of its own kind come first, then those of each other family
//! of peers; in a family those in the whole channel, then as many in each narrower primary channel.

use super::config::EdcaConfig;
use super::frames::Vector;
use super::kinds::{Kind, Kinds};
use super::rates::Grade;
use crate::frame::Address;
use crate::ppdu::Width;

/// The formats of all families of peers.
#[derive(Clone, Debug)]
pub(super) struct Formats {
    grades: Vec<Grade>,
    families: Vec<Family>,
    kinds: Kinds,
    /// By the place of a kind its family.
    of_kind: Vec<u16>,
}

/// Peers to which the station sends in the same formats.
#[derive(Clone, Debug)]
struct Family {
    /// The highest format, and the window.
    common: (Vector, u16),
    first: usize,
    /// Number of formats in the whole channel.
    whole: usize,
    /// Number of channels, the whole one and the narrower ones.
    channels: usize,
    /// Number of times that the station's channel is halved to be no wider than the peers'.
    halvings: usize,
}

impl Formats {
    /// The formats towards stations like this one.
    pub fn new(config: &EdcaConfig) -> Self {
        let mut formats =
            Self { grades: Vec::new(), families: Vec::new(), kinds: Kinds::default(), of_kind: Vec::new() };
        let own = Kind::of(config);
        formats.add(config, (own.data, own.window));
        formats
    }

    /// Adds those towards the stations around.
    pub fn meet(&mut self, config: &EdcaConfig, kinds: &Kinds) {
        let own = Kind::of(config);
        self.of_kind.clear();
        for kind in kinds.all() {
            let common = (kind.format_from(&own.data), kind.window_with(&own));
            let known = self.families.iter().position(|family| family.common == common);
            let family = known.unwrap_or_else(|| self.add(config, common));
            self.of_kind.push(family as u16);
        }
        self.kinds = kinds.clone();
    }

    fn add(&mut self, config: &EdcaConfig, common: (Vector, u16)) -> usize {
        let (data, window) = common;
        // Without agreements no block acknowledgement follows, whatever its length.
        let window = if window == 0 { config.aggregation.window } else { window };
        let mut grades = Grade::all(config, &data, window);
        let (first, whole) = (self.grades.len(), grades.len());
        Grade::add_narrower(&mut grades, config, window);
        let width = match &data {
            Vector::Mode(mode) => mode.choice().width,
            Vector::NonHt(_) => Width::Mhz20,
        };
        let halvings = (config.width() as usize).saturating_sub(width as usize);
        self.families.push(Family { common, first, whole, channels: grades.len() / whole, halvings });
        self.grades.extend(grades);
        self.families.len() - 1
    }

    /// The family of a peer.
    #[inline]
    pub fn family(&self, to: Address) -> usize {
        if self.families.len() == 1 {
            return 0;
        }
        self.kinds.place_of(to).map_or(0, |kind| usize::from(self.of_kind[kind]))
    }

    /// For each family its formats in the whole channel.
    pub fn families(&self) -> impl Iterator<Item = &[Grade]> {
        self.families.iter().map(|family| &self.grades[family.first..family.first + family.whole])
    }

    /// The place of a family's format towards a peer, in a channel that is halved `halvings` times.
    #[inline]
    pub fn place(&self, to: Address, grade: usize, halvings: usize) -> usize {
        let family = &self.families[self.family(to)];
        family.first + halvings.min(family.channels - 1) * family.whole + grade
    }
    /// The place of a format among those of its family in the whole channel.
    pub fn in_whole(&self, to: Address, place: usize) -> usize {
        let family = &self.families[self.family(to)];
        (place - family.first) % family.whole
    }
    /// The place of the lowest format towards a peer; without rate control there is only one.
    pub fn lowest(&self, to: Address) -> usize {
        self.place(to, 0, 0)
    }
    /// The highest format towards a peer.
    pub fn highest(&self, to: Address) -> &Vector {
        &self.families[self.family(to)].common.0
    }
    /// Number of times that the channel is halved towards a peer in any case.
    pub fn halvings(&self, to: Address) -> usize {
        self.families[self.family(to)].halvings
    }

    /// A format; a place that there is not is the last.
    #[inline]
    pub fn grade(&self, place: usize) -> &Grade {
        &self.grades[place.min(self.grades.len() - 1)]
    }
}
