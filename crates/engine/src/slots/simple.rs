//! Arrangements without a plan: one block a station, and random slots (section 6.2 of the paper).

use super::{Arrangement, Layout};
use crate::Stream;

/// NoPolicy: each station one block, in the order of the stations.
pub fn no_policy(layout: &Layout) -> Arrangement {
    let owners = layout.stations().iter().enumerate();
    let owners = owners.flat_map(|(i, station)| std::iter::repeat_n(i as u8, station.count as usize)).collect();
    Arrangement { owners }
}

/// Random: the owners of the slots of `periods` periods, each drawn by itself, station i with probability `N_i / N`. In
/// a single period a station may have too many slots or none.
pub fn random(layout: &Layout, periods: usize, stream: &mut Stream) -> Vec<u8> {
    let slots = no_policy(layout).owners;
    // A draw of one of the N slots is a draw of its owner.
    let last = slots.len() as u32 - 1;
    (0..slots.len() * periods).map(|_| slots[stream.up_to(last) as usize]).collect()
}
