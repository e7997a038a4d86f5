//! Keeps the memory of tunnels within the budgets of the file.

use super::Daemon;
use crate::daemon::memory::allowed;
use airbraid_units::Bytes;

impl Daemon {
    /// Sets the memory limit of a peer's tunnel.
    pub(super) fn set_memory(&mut self, peer: usize) {
        let interface = &self.site.interface;
        let state = &mut self.peers[peer];
        let (of_one, of_all) = (interface.peer_memory.as_u64(), interface.memory.as_u64());
        let allowed = allowed(state.occupied, self.occupied, of_one, of_all);
        // A buffer of many segments is occupied until the last of them is gone: the tunnel reckons each segment's part.
        let beside = state.account.bytes().saturating_sub(state.tunnel.occupied().as_u64());
        state.tunnel.set_memory(Bytes::new(allowed.saturating_sub(beside)));
    }

    /// Notes the memory of a peer's tunnel after a step.
    pub(super) fn note_memory(&mut self, peer: usize) {
        let state = &mut self.peers[peer];
        let before =
            std::mem::replace(&mut state.occupied, state.account.bytes().max(state.tunnel.occupied().as_u64()));
        self.occupied = (self.occupied + state.occupied).saturating_sub(before);
    }
}
