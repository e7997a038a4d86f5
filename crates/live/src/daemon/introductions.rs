//! Two ends that cannot reach each other: a peer that both reach tells each the other's places, and carries their
//! packets until they have met (`docs/decisions/0017-introductions.md`).
//!
//! The places of an introduction are the peer's endpoints for as long as they serve: all that is done with a file's is
//! done with them.

use airbraid_units::{Duration, Instant};

/// The state of a peer that needs an introduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Introduced {
    /// Index of the peer that introduces it.
    pub via: Option<usize>,
    /// Whether packets for it go to it directly.
    pub is_direct: bool,
    /// The time of the next question, and the interval to the one after that.
    pub(super) ask: Option<(Instant, Duration)>,
    /// End of the time in which the places of the last answer are tried.
    pub(super) until: Option<Instant>,
}
