//! The account of the PPDU to which a radio listens: what lay over it, and its MPDUs that have ended.

use airbraid_mac::edca::MpduSet;
use airbraid_units::Instant;

/// A stretch of a PSDU over which nothing changes on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// End \[bit of the PSDU\].
    pub until: u64,
    /// Linear ratio of signal to noise and interference.
    pub sinr: f64,
    /// All other energy in the channel \[mW\].
    pub interference: f64,
}

impl Stretch {
    /// Whether the same lies over it.
    pub fn is_like(&self, sinr: f64, interference: f64) -> bool {
        self.sinr.total_cmp(&sinr).is_eq() && self.interference.total_cmp(&interference).is_eq()
    }
}

/// The account of a PPDU.
#[derive(Debug)]
pub(super) struct PpduAccount {
    /// Its PSDU, by what lay over it.
    pub stretches: Vec<Stretch>,
    /// The MPDUs that were judged as they ended; `None`: they are judged when the PPDU has ended.
    pub early: Option<Box<Judged>>,
}

impl PpduAccount {
    /// An account of nothing; `is_early` says whether MPDUs are judged as they end.
    pub fn new(is_early: bool) -> Self {
        Self { stretches: Vec::new(), early: is_early.then(Box::default) }
    }

    /// The radio begins to listen to a frame.
    pub fn begin(&mut self) {
        self.stretches.clear();
        if let Some(early) = &mut self.early {
            **early = Judged::default();
        }
    }
}

/// The MPDUs of the PPDU to which a radio listens that have ended.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Number of those, and which of them are intact.
    pub count: u32,
    pub intact: MpduSet,
    /// Whether the PHY header has not come through: none is intact.
    pub is_headless: bool,
    /// When the next one ends, and whether nobody waits for that.
    pub next: Option<Instant>,
    pub is_deferred: bool,
    /// Probability of success by size, while nothing changes.
    pub known: Option<(u32, f64)>,
}

impl Judged {
    /// Whether an MPDU has been judged.
    pub const fn has_any(&self) -> bool {
        self.count > 0
    }
}
