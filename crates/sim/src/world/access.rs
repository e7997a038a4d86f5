//! Whichever medium access a station has: one enum, so that no call goes through a table of functions.

use super::packet::Msdu;
use crate::scenario::spec::Mac;
use airbraid_engine::{Machine, Stream, Wake};
use airbraid_mac::dcf::Dcf;
use airbraid_mac::multichannel::{Multichannel, MultichannelStats};
use airbraid_mac::polled::Polled;
use airbraid_mac::{Address, MacInput, MacOutput, MacStats};
use airbraid_units::{BitRate, Instant};

/// A station's MAC.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "DCF is the common one, and its calls are the hot path: no pointer between"
)]
pub(super) enum Access {
    /// 802.11 DCF.
    Dcf(Dcf<Msdu>),
    /// Polling.
    Polled(Box<Polled<Msdu>>),
    /// MCMAC or Bi-MCMAC.
    Multichannel(Box<Multichannel<Msdu>>),
}

impl Access {
    pub fn new(mac: &Mac, index: u32, seed: u64) -> Self {
        let random = |purpose| Stream::new(seed, u64::from(index), purpose);
        match mac {
            Mac::Dcf(config) => Self::Dcf(Dcf::new(*config, Address(index), random("dcf.backoff"))),
            Mac::Polled(config) => Self::Polled(Box::new(Polled::new(*config, Address(index), random("polled.join")))),
            Mac::Multichannel(config) => {
                let (backoff, choice) = (random("multichannel.backoff"), random("multichannel.choice"));
                Self::Multichannel(Box::new(Multichannel::new(*config, Address(index), backoff, choice)))
            }
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> &MacStats {
        match self {
            Self::Dcf(mac) => mac.stats(),
            Self::Polled(mac) => mac.stats(),
            Self::Multichannel(mac) => mac.stats(),
        }
    }

    /// What a multi-channel MAC has counted besides.
    pub fn multichannel(&self) -> Option<&MultichannelStats> {
        match self {
            Self::Multichannel(mac) => Some(mac.counts()),
            Self::Dcf(_) | Self::Polled(_) => None,
        }
    }

    /// The rate that frames to a neighbour have now, where rate control finds it.
    pub fn rate_towards(&self, to: Address) -> Option<BitRate> {
        match self {
            Self::Dcf(mac) => Some(mac.rate_towards(to).bit_rate),
            _ => None,
        }
    }

    /// MSDUs that wait.
    pub fn queue_len(&self) -> usize {
        match self {
            Self::Dcf(mac) => mac.queue_len(),
            Self::Polled(mac) => mac.queue_len(),
            Self::Multichannel(mac) => mac.queue_len(),
        }
    }
}

/// What the rarer MACs do, apart, so that the code of DCF stays together.
impl Access {
    #[inline(never)]
    fn input_other(&mut self, now: Instant, input: MacInput<Msdu>) {
        match self {
            Self::Dcf(mac) => mac.handle_input(now, input),
            Self::Polled(mac) => mac.handle_input(now, input),
            Self::Multichannel(mac) => mac.handle_input(now, input),
        }
    }
    #[inline(never)]
    fn timeout_other(&mut self, now: Instant) {
        match self {
            Self::Dcf(mac) => mac.handle_timeout(now),
            Self::Polled(mac) => mac.handle_timeout(now),
            Self::Multichannel(mac) => mac.handle_timeout(now),
        }
    }
    #[inline(never)]
    fn output_other(&mut self) -> Option<MacOutput<Msdu>> {
        match self {
            Self::Dcf(mac) => mac.poll_output(),
            Self::Polled(mac) => mac.poll_output(),
            Self::Multichannel(mac) => mac.poll_output(),
        }
    }
    #[inline(never)]
    fn wake_other(&self) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => mac.poll_timeout(),
            Self::Polled(mac) => mac.poll_timeout(),
            Self::Multichannel(mac) => mac.poll_timeout(),
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
            _ => self.input_other(now, input),
        }
    }
    #[inline]
    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Dcf(mac) => mac.handle_timeout(now),
            _ => self.timeout_other(now),
        }
    }
    #[inline]
    fn poll_output(&mut self) -> Option<Self::Output> {
        match self {
            Self::Dcf(mac) => mac.poll_output(),
            _ => self.output_other(),
        }
    }
    #[inline]
    fn poll_timeout(&self) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => mac.poll_timeout(),
            _ => self.wake_other(),
        }
    }
}
