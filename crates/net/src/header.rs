//! Lengths of the headers that all models count. The byte formats are the recorder's.

use airbraid_units::Bytes;

/// An IPv4 header without options \[byte\] (RFC 791, section 3.1).
pub const IPV4_HEADER: Bytes = Bytes::new(20);

/// A UDP header \[byte\] (RFC 768).
pub const UDP_HEADER: Bytes = Bytes::new(8);

/// A TCP header without options \[byte\] (RFC 9293, section 3.1).
pub const TCP_HEADER: Bytes = Bytes::new(20);

/// The longest IPv4 packet, header included \[byte\]: its length field has 16 bits (RFC 791, section 3.1).
pub const IPV4_MAX: Bytes = Bytes::new(65_535);
