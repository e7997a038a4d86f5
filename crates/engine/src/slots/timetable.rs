//! An arrangement in whole nanoseconds: what a station follows, period after period.
//!
//! Slots and idle time add up to the period exactly; every station has exactly its share.

use super::{Arrangement, Layout};
use airbraid_units::Duration;

/// One slot of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Whose it is.
    pub station: usize,
    /// When it begins, from the beginning of the period \[ns\].
    pub start_ns: u64,
    /// How long it lasts \[ns\].
    pub length_ns: u64,
}

/// The slots of a period, in order and without gaps, and what is idle behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    slots: Vec<Slot>,
    period_ns: u64,
    stations: usize,
}

impl Timetable {
    /// Lays out an arrangement.
    pub fn new(layout: &Layout, arrangement: &Arrangement) -> Self {
        let mut seen = vec![0_u64; layout.stations().len()];
        let mut now = 0;
        let mut slots = Vec::with_capacity(arrangement.owners().len());
        for owner in arrangement.owners() {
            let index = usize::from(*owner);
            let station = &layout.stations()[index];
            let longer = station.share_ns - station.size_ns * u64::from(station.count);
            let length_ns = station.size_ns + u64::from(seen[index] < longer);
            slots.push(Slot { station: index, start_ns: now, length_ns });
            seen[index] += 1;
            now += length_ns;
        }
        Self { slots, period_ns: layout.period().as_nanos(), stations: seen.len() }
    }
    /// Slots one after the other, each as long as its owner's slots are, whatever number each station comes to have:
    /// a period of its own.
    pub fn of_owners(layout: &Layout, owners: &[u8]) -> Self {
        let mut now = 0;
        let mut slots = Vec::with_capacity(owners.len());
        for owner in owners {
            let station = usize::from(*owner);
            let length_ns = layout.stations()[station].size_ns;
            slots.push(Slot { station, start_ns: now, length_ns });
            now += length_ns;
        }
        Self { slots, period_ns: now, stations: layout.stations().len() }
    }

    /// The slots.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }
    /// The period.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }
    /// How many stations there are.
    pub fn stations(&self) -> usize {
        self.stations
    }
    /// When a station is connected: beginning and length \[ns\], neighbouring slots joined, also around the period's
    /// end, where the last block reaches into the next period. Empty for a station without a slot.
    pub fn blocks_ns(&self, station: usize) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for slot in self.slots.iter().filter(|slot| slot.station == station) {
            match blocks.last_mut() {
                Some((start, length)) if *start + *length == slot.start_ns => *length += slot.length_ns,
                _ => blocks.push((slot.start_ns, slot.length_ns)),
            }
        }
        let around = |blocks: &[(u64, u64)]| match (blocks.first(), blocks.last()) {
            (Some(first), Some(last)) => blocks.len() > 1 && first.0 == 0 && last.0 + last.1 == self.period_ns,
            _ => false,
        };
        if around(&blocks) {
            let (_, length) = blocks.remove(0);
            if let Some(last) = blocks.last_mut() {
                last.1 += length;
            }
        }
        blocks
    }
    /// The times without connection, one behind each block \[ns\]; one of 0 for a station that is never disconnected.
    pub fn gaps_ns(&self, station: usize) -> Vec<u64> {
        let blocks = self.blocks_ns(station);
        let gap = |(i, (start, length)): (usize, &(u64, u64))| {
            let next = blocks.get(i + 1).map_or(blocks[0].0 + self.period_ns, |(next, _)| *next);
            next - start - length
        };
        blocks.iter().enumerate().map(gap).collect()
    }
    /// The longest disconnection of a station \[ns\]; the whole period for one without a slot.
    pub fn worst_ns(&self, station: usize) -> u64 {
        self.gaps_ns(station).into_iter().max().unwrap_or(self.period_ns)
    }
    /// How often the radio changes its access point in a period.
    pub fn switches(&self) -> usize {
        let pairs = self.slots.windows(2).filter(|pair| pair[0].station != pair[1].station).count();
        let around = match (self.slots.first(), self.slots.last()) {
            (Some(first), Some(last)) => first.station != last.station,
            _ => false,
        };
        pairs + usize::from(around)
    }
}
