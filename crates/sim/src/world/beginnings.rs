//! The beginnings of frames that many hear: the state that belongs to none of their hearers (`belated.rs`).

use super::id::TransmissionId;
use airbraid_units::Instant;

/// Number of hearers beyond which nobody puts a beginning off. Of more the state does not stay in the processor's
/// nearest cache (32 to 48 kB) until the frame has ended, so that to look at it once more costs what it saves.
const MOST_HEARERS: usize = 128;

/// The beginnings of frames that many hear, and whether any was put off.
#[derive(Debug)]
pub struct Beginnings {
    /// Number of hearers up to which a beginning may be put off.
    pub most_hearers: usize,
    /// Whether one may ever have been put off.
    pub have_waited: bool,
    /// Frames that begin at many hearers, who do not know it. They need to where a frame of fewer starts meanwhile.
    many: Vec<TransmissionId>,
    /// When the last of those has begun everywhere.
    until: Instant,
}

impl Default for Beginnings {
    fn default() -> Self {
        Self { most_hearers: MOST_HEARERS, have_waited: false, many: Vec::new(), until: Instant::ZERO }
    }
}

impl Beginnings {
    /// Adds a frame that begins at many hearers from `start` to `until`, none of whom has put anything off.
    pub fn add(&mut self, id: TransmissionId, (start, until): (Instant, Instant)) {
        if start > self.until {
            self.many.clear();
        }
        self.many.push(id);
        self.until = self.until.max(until);
    }

    /// Whether there are such frames.
    #[inline]
    pub fn are_pending(&self) -> bool {
        !self.many.is_empty()
    }

    /// Takes those that may begin somewhere after `start`.
    pub fn take(&mut self, start: Instant) -> Vec<TransmissionId> {
        let many = std::mem::take(&mut self.many);
        if start <= self.until { many } else { Vec::new() }
    }
}
