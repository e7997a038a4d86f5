//! The free space of a port's queue.

/// The free space of the first queue on a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Packets that wait.
    pub waiting: u32,
    /// Packets that may.
    pub limit: u32,
    /// Whether a driver from outside may hold packets back: the queue of a radio or trunk is its host's own, that of a
    /// link is not.
    pub is_device: bool,
}

impl FreeSpace {
    /// That of a queue that is the host's own.
    pub const fn device(waiting: usize, limit: u32) -> Self {
        Self { waiting: waiting as u32, limit, is_device: true }
    }

    /// That of a link's queue.
    pub const fn link(waiting: usize, limit: u32) -> Self {
        Self { waiting: waiting as u32, limit, is_device: false }
    }

    /// Whether one packet more is taken.
    pub const fn is_there(&self) -> bool {
        self.waiting < self.limit
    }
}
