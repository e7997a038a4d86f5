//! The Basic Multi-Link element (802.11be-2024, 9.4.2.312): it tells a station that an access point is a link of a
//! multi-link device, and which.

/// Element ID of elements that have another behind it (9.4.2.1).
const EXTENSION: u8 = 255;
/// Element ID Extension of multi-link elements.
const MULTI_LINK: u8 = 107;
/// Multi-Link Control: the type Basic (0), and a bit for each field of the common info that is there: link ID info, BSS
/// parameters change count, MLD capabilities and operations.
const CONTROL: u16 = 0x0010 | 0x0020 | 0x0100;
/// Length of the common info, which counts itself: MLD MAC address 6, link ID info 1, change count 1, capabilities 2.
const COMMON_INFO: u8 = 1 + 6 + 1 + 1 + 2;
/// Length of the element behind its length: extension 1, control 2.
const LENGTH: u8 = 1 + 2 + COMMON_INFO;

/// A link of a multi-link device, as its beacons tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiLinkElement {
    /// The address of the device.
    pub device: [u8; 6],
    /// Its place in the device, below 15.
    pub link: u8,
    /// Number of the device's links.
    pub links: u8,
}

impl MultiLinkElement {
    /// Appends the element; there are no profiles of the other links. Parameters of the set never change. All links
    /// transmit and receive independently: the number of simultaneous links, less one, is the only capability.
    pub fn append(&self, out: &mut Vec<u8>) {
        out.extend([EXTENSION, LENGTH, MULTI_LINK]);
        out.extend(CONTROL.to_le_bytes());
        out.push(COMMON_INFO);
        out.extend(self.device);
        out.extend([self.link, 0]);
        out.extend(u16::from(self.links.saturating_sub(1)).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::MultiLinkElement;

    #[test]
    fn an_element_is_as_long_as_it_says() {
        let mut out = Vec::new();
        MultiLinkElement { device: [2, 0, 0, 0, 7, 0xff], link: 1, links: 3 }.append(&mut out);
        assert_eq!(out, [255, 14, 107, 0x30, 0x01, 11, 2, 0, 0, 0, 7, 0xff, 1, 0, 2, 0]);
        assert_eq!(usize::from(out[1]) + 2, out.len());
    }
}
