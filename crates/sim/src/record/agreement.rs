//! The bodies of the action frames by which block acknowledgement agreements are set up (802.11-2020, 9.6.4.2 and
//! 9.6.4.3), as bytes.

/// The body of an ADDBA Request or an ADDBA Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreementBody {
    pub token: u8,
    pub tid: u8,
    /// The window in MPDUs, at most 1024: Buffer Size, with its upper bits in the extension.
    pub window: u16,
    pub step: AgreementStep,
    /// Whether there is an ADDBA Extension element.
    pub has_extension: bool,
}

/// Whichever of the two it is, with what only that has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgreementStep {
    /// The sequence number of the first MPDU under the agreement.
    Request {
        start: u16,
    },
    Response {
        is_accepted: bool,
    },
}

/// Category and action values (tables 9-51 and 9-354).
const BLOCK_ACK: u8 = 3;
const ADDBA_REQUEST: u8 = 0;
const ADDBA_RESPONSE: u8 = 1;
/// Status codes SUCCESS and REQUEST_DECLINED (table 9-50).
const SUCCESS: u16 = 0;
const REQUEST_DECLINED: u16 = 37;
/// Block Ack Parameter Set (9.4.1.13): A-MSDUs are supported; the policy is immediate; TID from bit 2 on, Buffer Size
/// from bit 6 on.
const AMSDU_SUPPORTED: u16 = 1;
const IMMEDIATE: u16 = 1 << 1;
const TID_PLACE: u16 = 2;
const BUFFER_SIZE_PLACE: u16 = 6;
/// Buffer Size has ten bits; those above are in the extension, from bit 5 on.
const BUFFER_SIZE_BITS: u16 = 10;
const EXTENDED_BUFFER_SIZE_PLACE: u8 = 5;
/// The ADDBA Extension element (9.4.2.138), with No-Fragmentation set.
const ADDBA_EXTENSION: u8 = 159;
const NO_FRAGMENTATION: u8 = 1;
/// Block Ack Timeout Value: none.
const NO_TIMEOUT: u16 = 0;

impl AgreementBody {
    /// Appends the body to `out`.
    pub fn append(&self, out: &mut Vec<u8>) {
        let size = self.window << BUFFER_SIZE_PLACE;
        let parameters = AMSDU_SUPPORTED | IMMEDIATE | u16::from(self.tid) << TID_PLACE | size;
        let action = if let AgreementStep::Request { .. } = self.step { ADDBA_REQUEST } else { ADDBA_RESPONSE };
        out.extend([BLOCK_ACK, action, self.token]);
        if let AgreementStep::Response { is_accepted } = self.step {
            out.extend(if is_accepted { SUCCESS } else { REQUEST_DECLINED }.to_le_bytes());
        }
        out.extend(parameters.to_le_bytes());
        out.extend(NO_TIMEOUT.to_le_bytes());
        if let AgreementStep::Request { start } = self.step {
            out.extend((start << 4).to_le_bytes());
        }
        if self.has_extension {
            let upper = (self.window >> BUFFER_SIZE_BITS) as u8;
            out.extend([ADDBA_EXTENSION, 1, NO_FRAGMENTATION | upper << EXTENDED_BUFFER_SIZE_PLACE]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(window: u16, step: AgreementStep) -> Vec<u8> {
        let mut out = Vec::new();
        AgreementBody { token: 7, tid: 5, window, step, has_extension: window > 256 }.append(&mut out);
        out
    }

    /// Immediate, TID 5: 0x17 below a window of 64, 0x1000.
    #[test]
    fn a_request_has_nine_bytes() {
        assert_eq!(bytes(64, AgreementStep::Request { start: 0x123 }), [3, 0, 7, 0x17, 0x10, 0, 0, 0x30, 0x12]);
    }

    #[test]
    fn a_response_has_a_status_in_place_of_a_start() {
        assert_eq!(bytes(64, AgreementStep::Response { is_accepted: true }), [3, 1, 7, 0, 0, 0x17, 0x10, 0, 0]);
        assert_eq!(bytes(256, AgreementStep::Response { is_accepted: false }), [3, 1, 7, 37, 0, 0x17, 0x40, 0, 0]);
    }

    #[test]
    fn the_upper_bits_of_a_long_window_are_in_the_extension() {
        let start = AgreementStep::Request { start: 0 };
        assert_eq!(bytes(1_024, start), [3, 0, 7, 0x17, 0, 0, 0, 0, 0, 159, 1, 0x21]);
        assert_eq!(bytes(512, start), [3, 0, 7, 0x17, 0x80, 0, 0, 0, 0, 159, 1, 1]);
    }
}
