//! Addresses as the host writes them.

/// The source and destination of datagrams: the address of the other end, an IPv6 address or a mapped IPv4 one, and
/// more that the host writes, such as its port, an interface, and the address of this end that the other one knows. An
/// answer goes to exactly the source of the request, so it leaves from the address that was asked. A cookie is good for
/// one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub [u8; Self::LEN]);

impl Address {
    /// Its length: two IPv6 addresses, a port, an interface \[byte\].
    pub const LEN: usize = 36;
}

impl Default for Address {
    fn default() -> Self {
        Self([0; Self::LEN])
    }
}
