//! The free space of a port's queue.

/// The free space of the first queue on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Packets that wait.
    pub waiting: u32,
    /// Packets that may.
    pub limit: u32,
}

impl FreeSpace {
    /// That of a queue in which `waiting` packets wait.
    pub const fn new(waiting: usize, limit: u32) -> Self {
        Self { waiting: waiting as u32, limit }
    }

    /// Whether one packet more is taken.
    pub const fn is_there(&self) -> bool {
        self.waiting < self.limit
    }
}
