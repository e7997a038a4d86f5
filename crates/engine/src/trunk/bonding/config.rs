//! Configuration of a bond and of its members.

use super::flow_seq::PLACE_BITS;
use super::services::Services;
use crate::packet::TrafficClass;
use crate::trunk::LateMode;
use airbraid_units::{BitRate, Bytes, Duration};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondConfig {
    /// The policy, the same at both ends.
    pub policy: BondPolicy,
    /// Another in each life of this end, drawn by chance: two lives may begin within one second.
    pub epoch: u32,
}

/// The `policy` table of a trunk over links, in a scenario and in the daemon's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondPolicy {
    /// Packets that wait before the members.
    pub queue_limit: u32,
    /// Limits of the receiver's resequencing.
    pub resequencer: BondResequencer,
    /// Time for which a packet of bulk class is retransmitted, from its arrival on.
    pub persistence: Duration,
    /// The same for real-time class, where later packets are of no use.
    pub persistence_real_time: Duration,
    /// Packets of real-time class up to this length go on two members; zero: none.
    pub duplicate: Bytes,
    /// Time that a bulk packet may wait in the queue before its flow is told to slow down, beside the time that uneven
    /// members and their round trips need.
    pub target: Duration,
    /// When repair symbols are sent.
    pub coding: Coding,
}

/// The limits of the receiver's wait for missing packets; within them the wait is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondResequencer {
    /// Treatment of late packets.
    pub mode: LateMode,
    /// A missing packet is waited for at least this long.
    pub minimum: Duration,
    /// A missing packet is waited for at most this long.
    pub maximum: Duration,
    /// Packets of one flow that may wait, 1 to [`Self::BUFFER_MAX`].
    pub buffer_limit: u32,
}

/// When repair symbols are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// On no member.
    Off,
    /// On members where they cost less than retransmissions.
    #[default]
    Adaptive,
}

impl BondPolicy {
    /// Time for which a packet of a class is worth sending.
    pub const fn persistence_of(&self, class: TrafficClass) -> Duration {
        match class {
            TrafficClass::Bulk => self.persistence,
            TrafficClass::RealTime => self.persistence_real_time,
        }
    }
    /// 0.8 s of 1 Gbit/s in full packets; a slower bond holds less by its target.
    pub const QUEUE_LIMIT: u32 = 65_536;
}

impl Default for BondPolicy {
    fn default() -> Self {
        Self {
            queue_limit: Self::QUEUE_LIMIT,
            resequencer: BondResequencer::default(),
            // Far beyond what a TCP waits; by then the hosts have retransmitted.
            persistence: Duration::from_secs(5),
            // ITU-T G.114: conversations suffer from 150 ms of one-way delay on.
            persistence_real_time: Duration::from_millis(150),
            // Voice and games are below, video is not.
            duplicate: Bytes::new(300),
            // Chosen: shorter loses TCP throughput on short paths, longer only adds delay.
            target: Duration::from_millis(30),
            coding: Coding::Adaptive,
        }
    }
}

impl BondResequencer {
    /// Largest number of packets of one flow that may wait: an eighth of the numbers of a flow, half of those that
    /// count as new.
    pub const BUFFER_MAX: u32 = 1 << (PLACE_BITS - 3);
}

impl Default for BondResequencer {
    fn default() -> Self {
        Self {
            mode: LateMode::Tcp,
            minimum: Duration::from_millis(1),
            maximum: Duration::from_secs(1),
            buffer_limit: 65_536,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberConfig {
    /// Members of a higher tier get only packets that those of lower tiers leave waiting.
    pub tier: u8,
    /// It gets packets only while no other member works.
    pub is_backup: bool,
    /// Bytes in both directions after which it gets no packets until it is added again.
    pub quota: Option<Bytes>,
    /// Largest rate that it is used with.
    pub rate_cap: Option<BitRate>,
    /// The services whose packets it may carry.
    pub services: Services,
    /// Overhead of each frame on the wire: outer IP and UDP headers, and the seal \[byte\].
    pub overhead: Bytes,
    /// MAX_PLPMTU (RFC 8899): the longest IP packet that the host's own link takes. Probes find the path's limit.
    /// `None`: there is no limit, and no probing.
    pub mtu: Option<Bytes>,
}

impl MemberConfig {
    /// IPv4 and UDP headers, and a sealed frame's header and tag.
    pub const OVERHEAD_IPV4: Bytes = Bytes::new(20 + 8 + 12 + 16);
    /// The same with IPv6.
    pub const OVERHEAD_IPV6: Bytes = Bytes::new(40 + 8 + 12 + 16);
}

impl Default for MemberConfig {
    fn default() -> Self {
        Self {
            tier: 0,
            is_backup: false,
            quota: None,
            rate_cap: None,
            services: Services::ALL,
            overhead: Self::OVERHEAD_IPV4,
            mtu: None,
        }
    }
}
