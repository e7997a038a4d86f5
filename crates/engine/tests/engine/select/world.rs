//! Shared parts of the tests: packets and the two ports of the paper.

use airbraid_engine::Packet;
use airbraid_engine::converge::select::{MilliDb, PortConfig, RateStep};
use airbraid_engine::packet::TrafficClass;
use airbraid_units::{BitRate, Bytes, Duration};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub id: u32,
    pub class: TrafficClass,
}

impl Packet for Numbered {
    fn len(&self) -> Bytes {
        Bytes::new(1_500)
    }
    fn class(&self) -> TrafficClass {
        self.class
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

pub fn packet(id: u32) -> Numbered {
    Numbered { id, class: TrafficClass::Bulk }
}

fn steps(steps: &[(i32, u64)]) -> Vec<RateStep> {
    steps.iter().map(|&(db, kbps)| RateStep { from: MilliDb(db * 1_000), rate: BitRate::from_kbps(kbps) }).collect()
}

/// 802.11a, which is used from 25 dB on (real-time from 28).
pub fn fast() -> PortConfig {
    PortConfig {
        rank: 0,
        thresholds: Some([MilliDb(25_000), MilliDb(28_000)]),
        rates: steps(&[(6, 6_000), (12, 12_000), (18, 24_000), (24, 48_000), (26, 54_000)]),
        overhead: Duration::from_micros(161),
    }
}

/// 802.11b, which is used otherwise.
pub fn slow() -> PortConfig {
    PortConfig {
        rank: 1,
        thresholds: None,
        rates: steps(&[(1, 1_000), (4, 2_000), (8, 5_500), (11, 11_000)]),
        overhead: Duration::from_micros(900),
    }
}
