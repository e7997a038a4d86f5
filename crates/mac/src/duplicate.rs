//! The duplicate filter: a data frame with the sequence number of its sender's last one is a retransmission whose
//! acknowledgement was lost (802.11-2020, 10.3.2.14).

use crate::frame::Address;

/// The last sequence number from each sender.
#[derive(Clone, Debug, Default)]
pub struct DuplicateFilter {
    /// In the order of their addresses: few send to one station, whatever the number of stations.
    last: Vec<(Address, u16)>,
}

impl DuplicateFilter {
    /// Whether a frame of `sequence` from `from` with this retry bit is new; remembers it.
    pub fn is_new(&mut self, from: Address, sequence: u16, retry: bool) -> bool {
        match self.last.binary_search_by_key(&from, |(sender, _)| *sender) {
            Ok(place) => {
                let last = std::mem::replace(&mut self.last[place].1, sequence);
                !(retry && last == sequence)
            }
            Err(place) => {
                self.last.insert(place, (from, sequence));
                true
            }
        }
    }
}
