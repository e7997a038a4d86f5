//! The duplicate filter: a data frame with the sequence number of its sender's last one is a retransmission whose
//! acknowledgement was lost (802.11-2020, 10.3.2.14).

use crate::frame::Address;

/// The last sequence number from each sender.
#[derive(Clone, Debug, Default)]
pub struct DuplicateFilter {
    last: Vec<Option<u16>>,
}

impl DuplicateFilter {
    /// Whether a frame of `sequence` from `from` with this retry bit is new; remembers it.
    pub fn is_new(&mut self, from: Address, sequence: u16, retry: bool) -> bool {
        let index = from.0 as usize;
        if index >= self.last.len() {
            self.last.resize(index + 1, None);
        }
        let again = retry && self.last[index] == Some(sequence);
        self.last[index] = Some(sequence);
        !again
    }
}
