//! What the kernel writes about radios, interfaces and addresses: no bytes make the reader panic, and nothing is made up.

use airbraid_live::netlink;
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

#[test]
fn any_list_is_read() {
    bolero::check!().with_type::<(u8, Vec<u8>, Vec<(u8, Vec<u8>)>)>().for_each(|(kind, fixed, attributes)| {
        // Attributes of kinds that are looked for, with lengths that fit; by chance hardly any bytes would be one.
        let mut body = fixed.clone();
        body.resize([8, 12, 16, fixed.len()][usize::from(kind & 3)], *kind);
        for (kind, value) in attributes.iter().take(20) {
            body.extend((4 + value.len() as u16).to_ne_bytes());
            body.extend(u16::from(kind % 12).to_ne_bytes());
            body.extend(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        let length = 16 + body.len() as u32;
        let whole = [&length.to_ne_bytes()[..], &[16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &body[..]].concat();
        for bytes in [&whole[..], &body[..], fixed] {
            let (interfaces, addresses) = netlink::read_all(bytes);
            assert!(interfaces.len().max(addresses.len()) <= bytes.len() / 16);
        }
    });
}
