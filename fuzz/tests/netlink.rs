//! What the kernel writes about radios: no bytes make the reader panic, and a signal is never made up.

use airbraid_live::netlink::wireless::read_all;

#[test]
fn any_datagram_is_read() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let (families, signals) = read_all(bytes);
        // A message has a header of 16 byte, a generic one of 4, and attributes of 8 at least.
        assert!(families.len().max(signals.len()) <= bytes.len() / 28);
        // The same behind a header that fits, which would hardly ever be found by chance.
        let length = 16 + bytes.len() as u32;
        let head = [28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let _ = read_all(&[&length.to_ne_bytes()[..], &head[..], bytes].concat());
    });
}
