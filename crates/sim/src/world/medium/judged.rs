//! What a radio knows of the MPDUs that have ended, of the PPDU to which it listens.

use airbraid_mac::edca::MpduSet;
use airbraid_units::Instant;

/// The MPDUs of the PPDU to which a radio listens that have ended.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Number of those, and which of them are intact.
    pub count: u32,
    pub intact: MpduSet,
    /// Whether the PHY header has not come through: none is intact.
    pub is_headless: bool,
    /// When the next one ends.
    pub next: Option<Instant>,
    /// Probability of success by size, while nothing changes.
    pub known: Option<(u32, f64)>,
}

impl Judged {
    /// A radio begins to listen to a frame.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// Whether an MPDU has been judged.
    pub const fn has_any(&self) -> bool {
        self.count > 0
    }
}
