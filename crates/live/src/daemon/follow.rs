//! The places of the peers' members. An authentic frame that is newer than all before it names a place, which is
//! trusted only as far as the engine's path validation allows
//! ([`airbraid_engine::trunk::bonding::BondInput::MemberMoved`]).
//!
//! A place is an uplink of this end and an address of the other. The file's endpoints, and the places that have
//! answered a path challenge, are known to be the peer's.

use super::keys::Random;
use airbraid_engine::converge::session::Entropy;
use airbraid_engine::trunk::bonding::PathToken;
use airbraid_units::{Duration, Instant};
use std::net::SocketAddr;

/// Time for which the place before the present one stays trusted: address translators forget a mapping after two
/// minutes or less (RFC 4787, REQ-5), and give it to another host.
const BELIEVED: Duration = Duration::from_secs(60);

/// An uplink, and an address that is reached over it.
pub(super) type UplinkAddress = (usize, SocketAddr);

/// The places of a member that are known to be the peer's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The place that was validated last.
    pub(super) home: Option<UplinkAddress>,
    /// The one before it, and the time at which it was left.
    before: Option<(UplinkAddress, Instant)>,
    /// The place under validation, and the expected token. It keeps its token while the member moves to and fro.
    pub(super) trial: Option<(UplinkAddress, PathToken)>,
}

impl Trust {
    /// No known place.
    pub const NONE: Self = Self { home: None, before: None, trial: None };

    /// A place that the file names.
    pub const fn of(uplink: usize, remote: SocketAddr) -> Self {
        Self { home: Some((uplink, remote)), before: None, trial: None }
    }

    /// Whether this place was validated last.
    pub fn is_home(&self, place: UplinkAddress) -> bool {
        self.home == Some(place)
    }

    pub(super) fn is_known(&self, now: Instant, place: UplinkAddress) -> bool {
        let is_recent =
            |(other, left): (UplinkAddress, Instant)| other == place && now.saturating_since(left) < BELIEVED;
        self.home == Some(place) || self.before.is_some_and(is_recent)
    }

    pub(super) fn token(&mut self, place: UplinkAddress) -> PathToken {
        if let Some((of, token)) = self.trial
            && of == place
        {
            return token;
        }
        let mut token = PathToken::default();
        Random::new().fill(&mut token);
        self.trial = Some((place, token));
        token
    }

    pub(super) fn on_validated(&mut self, now: Instant, place: UplinkAddress) {
        if self.home != Some(place) {
            self.before = self.home.map(|home| (home, now));
            self.home = Some(place);
        }
        self.trial = None;
    }
}
