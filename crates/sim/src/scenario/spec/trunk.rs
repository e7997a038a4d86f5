//! Trunks: above the MAC, inside it, and over links.

use airbraid_engine::converge::select;
use airbraid_engine::trunk::bonding::{BondPolicy, MemberConfig};
use airbraid_engine::trunk::paper::PaperPolicy;
use airbraid_mac::edca::{Allocation, Emlsr, RequestLink};
use airbraid_units::{Bytes, Duration};

/// A trunk between two neighbours, by what its members are.
#[derive(Clone, Debug, PartialEq)]
pub enum Trunk {
    /// `over = "radios"`.
    Radios(RadioTrunk),
    /// `over = "links"`.
    Links(LinkTrunk),
    /// `over = "mld"`.
    MultiLink(MultiLinkTrunk),
}

impl Trunk {
    /// The name of the trunk.
    pub fn name(&self) -> &str {
        match self {
            Self::Radios(trunk) => &trunk.name,
            Self::Links(trunk) => &trunk.name,
            Self::MultiLink(trunk) => &trunk.name,
        }
    }
    /// Indices of the nodes at its ends.
    pub fn between(&self) -> [usize; 2] {
        match self {
            Self::Radios(trunk) => trunk.between,
            Self::Links(trunk) => trunk.between,
            Self::MultiLink(trunk) => trunk.between,
        }
    }
    /// For each member the index of the radio at either end, above the MAC or inside; none of links.
    pub fn radio_members(&self) -> &[[usize; 2]] {
        match self {
            Self::Radios(trunk) => &trunk.members,
            Self::MultiLink(trunk) => &trunk.members,
            Self::Links(_) => &[],
        }
    }
    /// Whether a radio of a node is a member.
    pub fn has_radio(&self, node: usize, radio: usize) -> bool {
        let between = self.between();
        let is_member = |side: usize| self.radio_members().iter().any(|member| member[side] == radio);
        (0..2).any(|side| between[side] == node && is_member(side))
    }
    /// The trunk, if its members are radios.
    pub fn radios(&self) -> Option<&RadioTrunk> {
        match self {
            Self::Radios(trunk) => Some(trunk),
            Self::Links(_) | Self::MultiLink(_) => None,
        }
    }
    /// The trunk, if its members are links.
    pub fn links(&self) -> Option<&LinkTrunk> {
        match self {
            Self::Links(trunk) => Some(trunk),
            Self::Radios(_) | Self::MultiLink(_) => None,
        }
    }
    /// The trunk, if its ends are multi-link devices.
    pub fn multi_link(&self) -> Option<&MultiLinkTrunk> {
        match self {
            Self::MultiLink(trunk) => Some(trunk),
            Self::Radios(_) | Self::Links(_) => None,
        }
    }
}

/// A trunk over radios: the papers' strategies.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioTrunk {
    pub name: String,
    /// Indices of the nodes at its ends.
    pub between: [usize; 2],
    /// For each member the index of the radio at either end (same channel).
    pub members: Vec<[usize; 2]>,
    /// Length of the header that it adds to each packet on the air.
    pub header: Bytes,
    /// Distributor, resequencer, queues.
    pub policy: PaperPolicy,
    /// Interface selection among the members; `None`: the trunk uses them all.
    pub select: Option<Select>,
}

/// A trunk inside the MAC: its ends are multi-link devices, its members their links.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiLinkTrunk {
    pub name: String,
    /// Indices of the nodes at its ends.
    pub between: [usize; 2],
    /// For each link the index of the radio at either end (same channel); the first takes the packets.
    pub members: Vec<[usize; 2]>,
    /// The link on which its ends ask for a block acknowledgement that did not come.
    pub request_link: RequestLink,
    /// The delays of an end in EMLSR mode.
    pub emlsr: [Option<Emlsr>; 2],
    /// The time that an end of which one link is awake at a time takes to move to another.
    pub single: [Option<Duration>; 2],
    /// Pairs of its links, by their places, that disturb each other at an end.
    pub pairs: [Vec<[usize; 2]>; 2],
    /// Time for which a link that was blind does not trust what it hears.
    pub medium_sync: Duration,
    /// The way in which its ends put packets to links.
    pub allocation: Allocation,
    /// For each link the TIDs that it carries, a bit each.
    pub tids: Vec<u8>,
    /// The window of the agreements; `None`: that of the radios.
    pub window: Option<u16>,
}

impl MultiLinkTrunk {
    /// Whether a radio of a node is a member.
    pub fn has_radio(&self, node: usize, radio: usize) -> bool {
        let is_member = |side: usize| self.members.iter().any(|member| member[side] == radio);
        (0..2).any(|side| self.between[side] == node && is_member(side))
    }
}

/// Interface selection among the members of a trunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Select {
    pub policy: select::Policy,
    /// SNR above which each member but the last is good, for bulk and real-time traffic.
    pub thresholds: [select::MilliDb; 2],
    /// Whether a packet that a member could not deliver goes to another.
    pub is_failing_over: bool,
    /// Length of the security that is added to each packet and beacon on the air.
    pub overhead: Bytes,
}

/// A trunk over links: the daemon's bond.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTrunk {
    pub name: String,
    /// Indices of the nodes at its ends.
    pub between: [usize; 2],
    pub members: Vec<LinkMember>,
    /// The policy of both ends.
    pub policy: BondPolicy,
}

/// A member of a trunk over links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkMember {
    /// Index of its link.
    pub link: usize,
    /// Its configuration at both ends.
    pub config: MemberConfig,
}
