//! The trunk's header: any bytes are answered, and what is accepted is what would be emitted.

use airbraid_engine::wire::{TRUNK_HEADER_LEN, emit_trunk_header, parse_trunk_header};

#[test]
fn any_header() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        if let Ok((header, _)) = parse_trunk_header(bytes) {
            assert_eq!(emit_trunk_header(&header)[..], bytes[..TRUNK_HEADER_LEN]);
        }
    });
}
