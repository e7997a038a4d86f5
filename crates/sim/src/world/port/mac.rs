//! The medium access of a radio, of any kind: one enum, so that no call goes through a table of functions, and no kind
//! pays for the parts of another.

use super::super::frame::Msdu;
use super::super::radio_map::RadioMap;
use super::super::slotted;
use super::error_control::StopAndWaitEnd;
use super::free_space::FreeSpace;
use crate::phy::{CodedRate, ErrorRates};
use crate::scenario::spec::{Mac, Spec};
use airbraid_engine::{Machine, Stream, Wake, step};
use airbraid_mac::dcf::Dcf;
use airbraid_mac::edca::{AgreementStats, Edca, EdcaStats, Kinds, Vector};
use airbraid_mac::multichannel::{Multichannel, MultichannelStats};
use airbraid_mac::polled::Polled;
use airbraid_mac::power_save::{AccessPoint, BufferStats, SlottedStation, SwitchStats};
use airbraid_mac::ppdu::{Coding, Width};
use airbraid_mac::rate_control::RateControl;
use airbraid_mac::{Address, MacInput, MacOutput, MacStats};
use airbraid_net::refusal::Refusal;
use airbraid_units::{BitRate, Instant};

/// A rate as a MAC knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnownRate {
    /// That of the next frame. What frames fail at it shows in their attempts.
    Now(BitRate),
    /// That of the highest expected throughput, with the share of MPDUs that come through \[thousandths\]. Attempts
    /// count other rates, too: those that are probed.
    Best(Vector, u32),
}

/// A radio's MAC.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "DCF is the common one, and its calls are the hot path: no pointer between"
)]
pub enum RadioMac {
    /// 802.11 DCF.
    Dcf(Dcf<Msdu>),
    /// 802.11 EDCA.
    Edca(Box<Edca<Msdu>>),
    /// Polling, perhaps under local error control.
    Polled(Box<PolledRadio>),
    /// MCMAC or Bi-MCMAC.
    Multichannel(Box<Multichannel<Msdu>>),
    /// An access point for stations that doze.
    AccessPoint(Box<AccessPoint<Msdu>>),
    /// A station with a virtual station at each of several access points.
    Slotted(Box<SlottedStation<Msdu>>),
}

impl RadioMac {
    /// The MAC of the radio at `at` (node, radio), with what it is told of others by the scenario.
    ///
    /// # Errors
    /// A station whose slots are not those of access points that there are: the scenario was not checked.
    pub fn new(spec: &Spec, radios: &RadioMap, at: (usize, usize), kinds: &Kinds, seed: u64) -> Result<Self, Refusal> {
        let own = radios.id(at).address();
        let random = |purpose| Stream::new(seed, u64::from(own.0), purpose);
        Ok(match &spec.nodes[at.0].radios[at.1].mac {
            Mac::Dcf(config) => {
                let mut mac = Dcf::new(*config, own, random("dcf.backoff"));
                mac.meet(kinds.stations().map(|(address, kind)| (address, kind.data.rate())));
                Self::Dcf(mac)
            }
            Mac::Edca(config) => {
                let streams = ["edca.bk", "edca.be", "edca.vi", "edca.vo"].map(random);
                let mut mac = Edca::new(**config, own, streams);
                mac.meet(kinds);
                if config.rate_control != RateControl::Fixed {
                    let random = |family: u64| Stream::new(seed, u64::from(own.0) | family << 32, "edca.rates");
                    mac.control_rates(random, needed_snr);
                }
                if config.beacons {
                    mac.send_beacons(random("edca.beacons"));
                }
                Self::Edca(Box::new(mac))
            }
            Mac::Polled(config) => {
                let mac = Polled::new(*config, own, random("polled.join"));
                Self::Polled(Box::new(PolledRadio { mac, ends: Vec::new() }))
            }
            Mac::Multichannel(config) => {
                let (backoff, choice) = (random("multichannel.backoff"), random("multichannel.choice"));
                Self::Multichannel(Box::new(Multichannel::new(*config, own, backoff, choice)))
            }
            Mac::AccessPoint(config) => {
                Self::AccessPoint(Box::new(slotted::access_point(spec, radios, at, *config, seed)))
            }
            Mac::Slotted(radio) => Self::Slotted(Box::new(slotted::station(spec, radios, at, *radio, seed)?)),
        })
    }

    /// A part of its wide channel becomes busy or idle: primary channels of at most this width are idle.
    pub fn on_secondary(&mut self, now: Instant, idle: Width) {
        if let Self::Edca(mac) = self {
            mac.on_secondary(now, idle);
        }
    }

    /// The MAC whose rate control wants to know how loud others are heard.
    #[inline]
    pub fn signal_controlled(&mut self) -> Option<&mut Edca<Msdu>> {
        match self {
            Self::Edca(mac) if mac.wants_signal() => Some(mac),
            _ => None,
        }
    }

    /// Whether it acts without being asked to: it wants to be woken from the beginning.
    pub fn begins_by_itself(&self) -> bool {
        match self {
            Self::Polled(_) | Self::Slotted(_) => true,
            // One that sends beacons.
            Self::Edca(mac) => mac.poll_timeout().is_some(),
            _ => false,
        }
    }

    /// Free space of the queue in which a packet for this neighbour would wait; `limit` is that of the interface queue.
    pub fn free_space(&self, neighbour: Address, priority: u8, limit: u32) -> FreeSpace {
        // Some have a queue for each neighbour, of which they only say whether it is full.
        let whole = |has_room: bool| FreeSpace::new(usize::from(!has_room), 1);
        match self {
            Self::AccessPoint(mac) => whole(mac.has_room(neighbour)),
            Self::Slotted(mac) => whole(mac.has_room(neighbour)),
            Self::Polled(polled) => match polled.end_towards(neighbour) {
                Some(end) => end.free_space(),
                None => FreeSpace::new(polled.mac.queue_len(), limit),
            },
            Self::Dcf(mac) => FreeSpace::new(mac.queue_len(), limit),
            Self::Edca(mac) => FreeSpace::new(mac.waiting_with(neighbour, priority), limit),
            Self::Multichannel(mac) => FreeSpace::new(mac.queue_len(), limit),
        }
    }

    pub fn stats(&self) -> MacStats {
        match self {
            Self::Dcf(mac) => *mac.stats(),
            Self::Edca(mac) => *mac.stats(),
            Self::Polled(polled) => *polled.mac.stats(),
            Self::Multichannel(mac) => *mac.stats(),
            Self::AccessPoint(mac) => *mac.stats(),
            Self::Slotted(mac) => mac.stats(),
        }
    }

    /// Returns the counters of a multi-channel MAC.
    pub fn multichannel(&self) -> Option<&MultichannelStats> {
        match self {
            Self::Multichannel(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// Returns the counters of EDCA.
    pub fn edca(&self) -> Option<&EdcaStats> {
        match self {
            Self::Edca(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// Returns the counters of agreements that are set up by frames.
    pub fn agreements(&self) -> Option<&AgreementStats> {
        match self {
            Self::Edca(mac) => mac.agreement_counts(),
            _ => None,
        }
    }

    /// Returns the counters of a station's switches.
    pub fn switches(&self) -> Option<&SwitchStats> {
        match self {
            Self::Slotted(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// Returns the counters of an access point's buffers.
    pub fn buffers(&self) -> Option<&BufferStats> {
        match self {
            Self::AccessPoint(mac) => Some(mac.counts()),
            _ => None,
        }
    }

    /// The rate of frames to a neighbour, as rate control knows it.
    pub fn rate_towards(&self, to: Address) -> Option<KnownRate> {
        match self {
            Self::Dcf(mac) => Some(KnownRate::Now(mac.rate_towards(to).bit_rate)),
            Self::Edca(mac) => mac.best_format(to).map(|(vector, share)| KnownRate::Best(vector, share)),
            _ => None,
        }
    }

    /// MSDUs that wait.
    pub fn queue_len(&self) -> usize {
        match self {
            Self::Dcf(mac) => mac.queue_len(),
            Self::Edca(mac) => mac.queue_len(),
            Self::Polled(polled) => polled.mac.queue_len(),
            Self::Multichannel(mac) => mac.queue_len(),
            Self::AccessPoint(mac) => mac.queue_len(),
            Self::Slotted(mac) => mac.queue_len(),
        }
    }
}

/// A polling MAC, and local error control above it: an end for each neighbour that has one, too.
#[derive(Debug)]
pub struct PolledRadio {
    pub mac: Polled<Msdu>,
    pub ends: Vec<StopAndWaitEnd>,
}

impl PolledRadio {
    /// The end of error control that leads to a neighbour.
    pub fn end_towards(&self, peer: Address) -> Option<&StopAndWaitEnd> {
        self.ends.iter().find(|end| end.peer == peer)
    }
    /// The same, to be driven.
    pub fn end_towards_mut(&mut self, peer: Address) -> Option<&mut StopAndWaitEnd> {
        self.ends.iter_mut().find(|end| end.peer == peer)
    }
}

/// Driving it: the MAC is told apart once, so that each step is that of one machine.
impl RadioMac {
    /// Drives it as [`airbraid_engine::step`] does: `None` is its timer. In place, so that an input that is known
    /// beforehand is never stored.
    #[inline(always)]
    pub fn step(
        &mut self,
        now: Instant,
        input: Option<MacInput<Msdu>>,
        mut carry_out: impl FnMut(MacOutput<Msdu>),
    ) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => step(mac, now, input, carry_out),
            Self::Edca(mac) => step(&mut **mac, now, input, carry_out),
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
            Self::Polled(polled) => step(&mut polled.mac, now, input, carry_out),
            Self::AccessPoint(mac) => step(&mut **mac, now, input, carry_out),
            Self::Slotted(mac) => step(&mut **mac, now, input, carry_out),
            Self::Dcf(_) | Self::Edca(_) | Self::Multichannel(_) => None,
        }
    }

    /// When it wants to be woken.
    pub fn wake(&self) -> Option<Wake> {
        match self {
            Self::Dcf(mac) => mac.poll_timeout(),
            Self::Edca(mac) => mac.poll_timeout(),
            Self::Polled(polled) => polled.mac.poll_timeout(),
            Self::Multichannel(mac) => mac.poll_timeout(),
            Self::AccessPoint(mac) => mac.poll_timeout(),
            Self::Slotted(mac) => mac.poll_timeout(),
        }
    }
}

/// The signal-to-noise ratio at which a tenth of packets in this format is lost \[1/100 dB\].
pub(super) fn needed_snr(vector: &Vector) -> i32 {
    /// BPSK has the energy of both dimensions of QPSK for each bit.
    const BPSK_OF_QPSK: f64 = 3.01;
    let needed = match vector {
        Vector::Mode(mode) => CodedRate { mcs: mode.choice().mcs, coding: mode.coding() }.needed_db(),
        Vector::NonHt(rate) if !rate.modulation.is_ofdm() => ErrorRates::new().needed_db(rate.modulation),
        Vector::NonHt(rate) => match CodedRate::of_non_ht(rate.modulation) {
            Some(curve) => curve.needed_db(),
            // 9 Mbit/s, BPSK 3/4: half of 18 Mbit/s, QPSK 3/4.
            None => CodedRate { mcs: 2, coding: Coding::Bcc }.needed_db() - BPSK_OF_QPSK,
        },
    };
    libm::ceil(needed * 100.0) as i32
}
