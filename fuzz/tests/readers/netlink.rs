//! The kernel's messages about radios, interfaces, addresses, routes, rules and devices: no bytes make the readers
//! panic, and nothing is made up. And a name server's answers, which anyone can forge.

use airbraid_live::daemon::name_answer;
use airbraid_live::netlink;
use airbraid_live::netlink::{devices, routes, wireless};

/// The same behind a header that fits, which would hardly ever be found by chance.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = 16 + bytes.len() as u32;
    let head = [28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    [&length.to_ne_bytes()[..], &head[..], bytes].concat()
}

#[test]
fn any_datagram_is_read() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let (families, signals) = wireless::read_all(bytes);
        // A message has a header of 16 byte, a generic one of 4, and attributes of 8 at least.
        assert!(families.len().max(signals.len()) <= bytes.len() / 28);
        let _ = wireless::read_all(&framed(bytes));
    });
}

#[test]
fn any_routes_and_rules_are_read() {
    bolero::check!().for_each(|bytes: &[u8]| {
        for bytes in [bytes.to_vec(), framed(bytes)] {
            let (routes, rules) = routes::read_all(&bytes);
            // A next hop has 8 byte at least; a rule 28, with the header of its message.
            assert!(routes.len() <= bytes.len() / 8 && rules.len() <= bytes.len() / 28);
            assert!(routes.iter().all(|route| route.table != routes::TABLE_LOCAL));
        }
    });
}

#[test]
fn any_devices_are_read() {
    bolero::check!().for_each(|bytes: &[u8]| {
        for bytes in [bytes.to_vec(), framed(bytes)] {
            let (devices, addresses) = devices::read_all(&bytes);
            assert!(devices.len().max(addresses.len()) <= bytes.len() / 24);
            for (_, address) in addresses {
                assert!(address.prefix <= if address.own.is_ipv4() { 32 } else { 128 });
                assert_eq!(address.own.is_ipv4(), address.network.is_ipv4());
            }
        }
    });
}

#[test]
fn any_answer_of_a_name_server_is_read() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let number = bytes.first_chunk().map_or(0, |number| u16::from_be_bytes(*number));
        let found = name_answer(bytes, number, "hub.example").unwrap_or_default();
        // A record has 14 byte at least.
        assert!(found.len() <= bytes.len() / 14);
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
