//! Whichever medium access a station has: one enum, so that no call goes through a table of functions.

use super::packet::Msdu;
use crate::scenario::spec::Mac;
use airbraid_engine::{Machine, Stream, Wake};
use airbraid_mac::dcf::Dcf;
use airbraid_mac::polled::Polled;
use airbraid_mac::{Address, MacInput, MacOutput, MacStats};
use airbraid_units::Instant;

/// A station's MAC.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "DCF, the larger, is the one that must have no pointer to follow")]
pub(super) enum Access {
    /// 802.11 DCF.
    Dcf(Dcf<Msdu>),
    /// Polling.
    Polled(Polled<Msdu>),
}

impl Access {
    pub fn new(mac: &Mac, index: u32, seed: u64) -> Self {
        let random = |purpose| Stream::new(seed, u64::from(index), purpose);
        match mac {
            Mac::Dcf(config) => Self::Dcf(Dcf::new(*config, Address(index), random("dcf.backoff"))),
            Mac::Polled(config) => Self::Polled(Polled::new(*config, Address(index), random("polled.join"))),
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> &MacStats {
        match self {
            Self::Dcf(mac) => mac.stats(),
            Self::Polled(mac) => mac.stats(),
        }
    }

    /// MSDUs that wait.
    pub fn queue_len(&self) -> usize {
        match self {
            Self::Dcf(mac) => mac.queue_len(),
            Self::Polled(mac) => mac.queue_len(),
        }
    }
}

impl Machine for Access {
    type Input = MacInput<Msdu>;
    type Output = MacOutput<Msdu>;

    #[inline]
    fn handle_input(&mut self, now: Instant, input: Self::Input) {
        match self {
            Self::Dcf(mac) => mac.handle_input(now, input),
            Self::Polled(mac) => mac.handle_input(now, input),
        }
    }
    #[inline]
    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Dcf(mac) => mac.handle_timeout(now),
            Self::Polled(mac) => mac.handle_timeout(now),
        }
    }
    #[inline]
    fn poll_output(&mut self) -> Option<Self::Output> {
        match self {
            Self::Dcf(mac) => mac.poll_output(),
            Self::Polled(mac) => mac.poll_output(),
        }
    }
    #[inline]
    fn poll_timeout(&self) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => mac.poll_timeout(),
            Self::Polled(mac) => mac.poll_timeout(),
        }
    }
}
