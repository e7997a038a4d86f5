//! The reasons why a run gave nothing.

use crate::record::sink::RecordError;
use crate::world::Interrupted;
use airbraid_net::Refusal;

/// Why a run gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// It was told to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A model refuses a parameter that the scenario's checks let through.
    #[error("{} must {}", .0.parameter, .0.must)]
    Refused(Refusal),
    /// A recording cannot be written.
    #[error("cannot write {0}")]
    Record(#[from] RecordError),
}
