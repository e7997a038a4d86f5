//! Whichever medium access a station has: one enum, so that no call goes through a table of functions.

use super::packet::Msdu;
use super::slotted::{self, address};
use crate::scenario::spec::{Mac, Spec};
use airbraid_engine::{Machine, Stream, Wake, step};
use airbraid_mac::dcf::Dcf;
use airbraid_mac::multichannel::{Multichannel, MultichannelStats};
use airbraid_mac::polled::Polled;
use airbraid_mac::power_save::{AccessPoint, BufferStats, SlottedStation, SwitchStats};
use airbraid_mac::{Address, MacInput, MacOutput, MacStats};
use airbraid_net::refusal::Refusal;
use airbraid_units::{BitRate, Instant};

/// A station's MAC.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "DCF is the common one, and its calls are the hot path: no pointer between"
)]
#[expect(clippy::enum_variant_names, reason = "an access point is called so")]
pub(super) enum Access {
    /// 802.11 DCF.
    Dcf(Dcf<Msdu>),
    /// Polling.
    Polled(Box<Polled<Msdu>>),
    /// MCMAC or Bi-MCMAC.
    Multichannel(Box<Multichannel<Msdu>>),
    /// An access point for stations that doze.
    AccessPoint(Box<AccessPoint<Msdu>>),
    /// A station with a virtual station at each of several access points.
    Slotted(Box<SlottedStation<Msdu>>),
}

impl Access {
    /// The MAC of the radio at `at` (node, radio), with what it is told of others by the scenario.
    ///
    /// # Errors
    /// A station whose slots are not those of access points that there are: the scenario was not checked.
    pub fn new(spec: &Spec, first: &[u32], at: (usize, usize), seed: u64) -> Result<Self, Refusal> {
        let own = address(first, at);
        let random = |purpose| Stream::new(seed, u64::from(own.0), purpose);
        Ok(match &spec.nodes[at.0].radios[at.1].mac {
            Mac::Dcf(config) => Self::Dcf(Dcf::new(*config, own, random("dcf.backoff"))),
            Mac::Polled(config) => Self::Polled(Box::new(Polled::new(*config, own, random("polled.join")))),
            Mac::Multichannel(config) => {
                let (backoff, choice) = (random("multichannel.backoff"), random("multichannel.choice"));
                Self::Multichannel(Box::new(Multichannel::new(*config, own, backoff, choice)))
            }
            Mac::AccessPoint(config) => slotted::access_point(spec, first, at, *config, seed),
            Mac::Slotted(radio) => slotted::station(spec, first, at, *radio, seed)?,
        })
    }

    /// Whether it acts without being asked to: it wants to be woken from the beginning.
    pub fn begins_by_itself(&self) -> bool {
        matches!(self, Self::Polled(_) | Self::Slotted(_))
    }

    /// Whether it has room for a packet to this neighbour, where that is not for its one queue to say.
    pub fn room_towards(&self, neighbour: Address) -> Option<bool> {
        match self {
            Self::AccessPoint(mac) => Some(mac.has_room(neighbour)),
            Self::Slotted(mac) => Some(mac.has_room(neighbour)),
            Self::Dcf(_) | Self::Polled(_) | Self::Multichannel(_) => None,
        }
    }

    /// What it has counted.
    pub fn stats(&self) -> MacStats {
        match self {
            Self::Dcf(mac) => *mac.stats(),
            Self::Polled(mac) => *mac.stats(),
            Self::Multichannel(mac) => *mac.stats(),
            Self::AccessPoint(mac) => *mac.stats(),
            Self::Slotted(mac) => mac.stats(),
        }
    }

    /// What a multi-channel MAC has counted besides.
    pub fn multichannel(&self) -> Option<&MultichannelStats> {
        match self {
            Self::Multichannel(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// What a station has counted of its switches.
    pub fn switches(&self) -> Option<&SwitchStats> {
        match self {
            Self::Slotted(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// What an access point has counted of its buffers.
    pub fn buffers(&self) -> Option<&BufferStats> {
        match self {
            Self::AccessPoint(mac) => Some(mac.counts()),
            _ => None,
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
            Self::AccessPoint(mac) => mac.queue_len(),
            Self::Slotted(mac) => mac.queue_len(),
        }
    }
}

/// Driving it: the MAC is told apart once, so that each step is that of one machine.
impl Access {
    /// Drives it as [`airbraid_engine::step`] does: `None` is its timer. In place, so that an input that is known beforehand
    /// is never written down.
    #[inline(always)]
    pub fn step(
        &mut self,
        now: Instant,
        input: Option<MacInput<Msdu>>,
        mut carry_out: impl FnMut(MacOutput<Msdu>),
    ) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => step(mac, now, input, carry_out),
            Self::Multichannel(mac) => step(&mut **mac, now, input, carry_out),
            _ => self.step_rare(now, input, &mut carry_out),
        }
    }

    /// The rarer MACs, apart, so that the code of the others stays together.
    #[inline(never)]
    fn step_rare(
        &mut self,
        now: Instant,
        input: Option<MacInput<Msdu>>,
        carry_out: &mut dyn FnMut(MacOutput<Msdu>),
    ) -> Option<Wake> {
        match self {
            Self::Polled(mac) => step(&mut **mac, now, input, carry_out),
            Self::AccessPoint(mac) => step(&mut **mac, now, input, carry_out),
            Self::Slotted(mac) => step(&mut **mac, now, input, carry_out),
            Self::Dcf(_) | Self::Multichannel(_) => None,
        }
    }

    /// When it wants to be woken.
    pub fn wake(&self) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => mac.poll_timeout(),
            Self::Polled(mac) => mac.poll_timeout(),
            Self::Multichannel(mac) => mac.poll_timeout(),
            Self::AccessPoint(mac) => mac.poll_timeout(),
            Self::Slotted(mac) => mac.poll_timeout(),
        }
    }
}
