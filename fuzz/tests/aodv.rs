//! AODV's messages: any bytes are answered, and what is accepted is what would be emitted.

use airbraid_net::aodv::wire::{emit, parse};

#[test]
fn any_message() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        if let Ok(message) = parse(bytes) {
            assert!(emit(&message) == *bytes);
        }
    });
}
