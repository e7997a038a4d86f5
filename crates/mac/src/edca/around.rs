//! The stations around a station: what it has in common with each.

use super::config::EdcaConfig;
use super::kinds::{Kind, Kinds};
use crate::frame::Address;
use airbraid_units::Bytes;

/// The stations around.
#[derive(Clone, Debug)]
pub(super) struct Around {
    own: Kind,
    kinds: Kinds,
    /// The window of agreements with each kind.
    windows: Vec<u16>,
    /// Whether some have no QoS.
    has_plain: bool,
    /// Headers and FCS of an MPDU for a station without QoS, and with QoS.
    overheads: [Bytes; 2],
}

impl Around {
    /// A station that knows of no other.
    pub fn new(config: &EdcaConfig) -> Self {
        Self {
            own: Kind::of(config),
            kinds: Kinds::default(),
            windows: Vec::new(),
            has_plain: false,
            overheads: [false, true].map(|has_qos| config.overhead(has_qos)),
        }
    }

    /// It learns of them.
    pub fn meet(&mut self, kinds: &Kinds) {
        self.windows = kinds.all().iter().map(|kind| kind.window_with(&self.own)).collect();
        self.has_plain = kinds.all().iter().any(|kind| !kind.has_qos);
        self.kinds = kinds.clone();
    }

    /// The window of agreements with a peer; 0: there are none.
    #[inline]
    pub fn window_with(&self, peer: Address) -> u16 {
        self.kinds.place_of(peer).map_or(self.own.window, |place| self.windows[place])
    }

    /// Whether a peer has no QoS.
    #[inline]
    pub fn is_plain(&self, peer: Address) -> bool {
        self.has_plain && !self.kinds.has_qos(peer)
    }

    /// Headers and FCS of an MPDU with one packet.
    pub fn overhead(&self, has_qos: bool) -> Bytes {
        self.overheads[usize::from(has_qos)]
    }
}
