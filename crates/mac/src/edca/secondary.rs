//! The secondary parts of a wide channel: how much of it is idle, and since when (802.11-2020, 10.23.2.5; PHY-CCA
//! indications of 21.3.18.5.4 and 27.3.20.6.4).

use crate::ppdu::Width;
use airbraid_units::{Duration, Instant};

/// A station's view of the parts of its channel beside the primary 20 MHz.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secondary {
    width: Width,
    /// Since when the primary channel of each width is idle beyond the primary 20 MHz; `None`: it is not.
    idle_since: [Option<Instant>; Width::ALL.len()],
    /// The part of the channel in which the last TXOP was.
    part: Width,
}

impl Secondary {
    /// A channel of this width, idle from the beginning.
    pub fn new(width: Width) -> Self {
        Self { width, idle_since: [Some(Instant::ZERO); Width::ALL.len()], part: width }
    }

    /// From now on primary channels of at most `idle` are idle beyond the primary 20 MHz.
    pub fn on_change(&mut self, now: Instant, idle: Width) {
        for (width, since) in Width::ALL.into_iter().zip(&mut self.idle_since) {
            *since = if width <= idle { since.or(Some(now)) } else { None };
        }
    }

    /// The widest primary channel that has been idle for `span` before `at`.
    pub fn widest(&self, at: Instant, span: Duration) -> Width {
        let is_idle = |since: &Option<Instant>| since.is_some_and(|since| since + span <= at || since == Instant::ZERO);
        let idle = Width::ALL.into_iter().zip(&self.idle_since).filter(|(width, _)| *width <= self.width);
        idle.take_while(|(_, since)| is_idle(since)).last().map_or(Width::Mhz20, |(width, _)| width)
    }

    /// A TXOP begins in the channel halved `halvings` times; returns its width if the last one had another.
    pub fn enter(&mut self, halvings: usize) -> Option<Width> {
        let part = Width::ALL[(self.width as usize).saturating_sub(halvings)];
        (std::mem::replace(&mut self.part, part) != part).then_some(part)
    }

    /// Number of times that the channel must be halved to get to `width`.
    pub fn halvings(&self, width: Width) -> usize {
        (self.width as usize).saturating_sub(width as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_counts_when_it_has_been_idle_for_long_enough() {
        let (us, pifs) = (|n| Instant::ZERO + Duration::from_micros(n), Duration::from_micros(25));
        let mut secondary = Secondary::new(Width::Mhz80);
        assert_eq!(secondary.widest(us(0), pifs), Width::Mhz80);
        secondary.on_change(us(100), Width::Mhz20);
        assert_eq!(secondary.widest(us(110), pifs), Width::Mhz20);
        secondary.on_change(us(200), Width::Mhz40);
        assert_eq!((secondary.widest(us(224), pifs), secondary.widest(us(225), pifs)), (Width::Mhz20, Width::Mhz40));
        secondary.on_change(us(300), Width::Mhz320);
        // The wider part became idle later; the narrower one has been.
        assert_eq!((secondary.widest(us(310), pifs), secondary.widest(us(325), pifs)), (Width::Mhz40, Width::Mhz80));
        assert_eq!((secondary.halvings(Width::Mhz80), secondary.halvings(Width::Mhz20)), (0, 2));
        let parts = [0, 2, 2, 1, 0].map(|halvings| secondary.enter(halvings));
        assert_eq!(parts, [None, Some(Width::Mhz20), None, Some(Width::Mhz40), Some(Width::Mhz80)]);
    }
}
