//! UDP: length of a datagram by its payload (RFC 768). It has no state and no retransmission, so it is no machine.

use crate::header::{IPV4_HEADER, IPV4_MAX, UDP_HEADER};
use airbraid_units::Bytes;

/// The most payload that one datagram carries \[byte\].
pub const MAX_PAYLOAD: Bytes = Bytes::new(IPV4_MAX.as_u64() - IPV4_HEADER.as_u64() - UDP_HEADER.as_u64());

/// The IPv4 packet that carries `payload` in one datagram; `None` if it does not fit.
pub fn packet_len(payload: Bytes) -> Option<Bytes> {
    (payload <= MAX_PAYLOAD).then(|| payload + UDP_HEADER + IPV4_HEADER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_counted_and_the_longest_datagram_is_known() {
        assert_eq!(packet_len(Bytes::new(1_472)), Some(Bytes::new(1_500)));
        assert_eq!(packet_len(Bytes::new(65_507)), Some(IPV4_MAX));
        assert_eq!(packet_len(Bytes::new(65_508)), None);
    }
}
