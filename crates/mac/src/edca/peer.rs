//! Multi-link peers, as a device knows them.

use super::allocation::Allocation;
use super::config::RequestLink;
use super::emlsr::Emlsr;

/// The traits of a multi-link peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerTraits {
    /// The link on which it is asked for a block acknowledgement that did not come.
    pub requests: RequestLink,
    /// Its delays, if it is in EMLSR mode.
    pub emlsr: Option<Emlsr>,
    /// The way in which packets for it are put to links.
    pub allocation: Allocation,
}
