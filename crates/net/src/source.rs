//! Traffic sources: what the application has to send, and when.

use airbraid_units::{BitRate, Bytes};

/// What an application has to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Always something: TCP's window or the interface queue is the limit.
    #[default]
    Greedy,
    /// A steady rate of payload: evenly spaced datagrams for UDP, evenly spaced writes of one segment for TCP.
    Constant {
        /// Payload bits a second.
        rate: BitRate,
    },
    /// So many bytes, then the end.
    File {
        /// How many.
        size: Bytes,
    },
}
