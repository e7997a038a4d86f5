//! The daemons' messages about a member link, beside the tunnel's frames: its use and its name, or that it is gone.
//! They are sealed as frames.
//!
//! ```text
//!  0      1        2       3      4                              8
//!  | 0x1f | member | flags | tier | rate cap, kbit/s, 0 for none | name, up to 64 bytes |
//! ```
//!
//! The end that goes to the other says it, whose interfaces the members are: soon after a member begins, and again and
//! again, which keeps address translators awake. The first byte is the tunnel's version and a kind that it does not
//! use.

use airbraid_engine::trunk::Member;
use airbraid_units::BitRate;

/// Length of a notice without a name \[byte\].
pub const NOTICE_LEN: usize = 8;
/// Longest name of an uplink \[byte\]: the limit of the site file.
const NAME_MAX: usize = 64;
const FIRST: u8 = 0x1f;
const GONE: u8 = 1;
const BACKUP: u8 = 2;
const METERED: u8 = 4;

/// An end's name for its own uplink: letters, digits, `_` and `-`, as in the site file, so that it can be printed
/// anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkName {
    bytes: [u8; NAME_MAX],
    length: u8,
}

impl Default for LinkName {
    fn default() -> Self {
        Self { bytes: [0; NAME_MAX], length: 0 }
    }
}

impl LinkName {
    /// A name; empty if it is not valid.
    pub fn new(name: &str) -> Self {
        Self::parse(name.as_bytes()).unwrap_or_default()
    }

    /// Reads a name from all of `name`; `None` if it is not valid.
    fn parse(name: &[u8]) -> Option<Self> {
        let is_fine = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if name.len() > NAME_MAX || !name.iter().all(is_fine) {
            return None;
        }
        let mut found = Self { length: name.len() as u8, ..Self::default() };
        found.bytes[..name.len()].copy_from_slice(name);
        Some(found)
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// As text; `None` if it is not known.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()).ok().filter(|name| !name.is_empty())
    }
}

/// The use of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    pub member: Member,
    /// Whether it is gone.
    pub is_gone: bool,
    /// Whether it is used only where no other works.
    pub is_backup: bool,
    /// Whether what it carries costs its owner.
    pub is_metered: bool,
    /// Higher tiers carry the rest of lower ones.
    pub tier: u8,
    pub rate: Option<BitRate>,
    /// The name of its uplink at its own end.
    pub name: LinkName,
}

impl Notice {
    /// As bytes.
    pub fn emit(&self) -> Vec<u8> {
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        let flags = flag(self.is_gone, GONE) | flag(self.is_backup, BACKUP) | flag(self.is_metered, METERED);
        let kbps = self.rate.map_or(0, |rate| u32::try_from(rate.as_bps() / 1_000).unwrap_or(u32::MAX));
        let mut bytes = Vec::with_capacity(NOTICE_LEN + NAME_MAX);
        bytes.extend([FIRST, self.member.0, flags, self.tier]);
        bytes.extend(kbps.to_be_bytes());
        bytes.extend(self.name.bytes());
        bytes
    }

    /// Reads it from all of `bytes`; `None` if they are something else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[FIRST, member, flags, tier, a, b, c, d, ref name @ ..] = bytes else { return None };
        let kbps = u32::from_be_bytes([a, b, c, d]);
        let name = LinkName::parse(name)?;
        (flags & !(GONE | BACKUP | METERED) == 0).then(|| Self {
            member: Member(member),
            is_gone: flags & GONE != 0,
            is_backup: flags & BACKUP != 0,
            is_metered: flags & METERED != 0,
            tier,
            rate: (kbps > 0).then(|| BitRate::from_kbps(u64::from(kbps))),
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        for (is_gone, is_backup, is_metered, rate, name) in [
            (false, false, true, None, ""),
            (true, false, false, None, "lte"),
            (false, true, true, Some(BitRate::from_kbps(8)), "a_long-NAME-0123456789"),
        ] {
            let name_of_it = LinkName::new(name);
            let notice = Notice { member: Member(9), is_gone, is_backup, is_metered, tier: 3, rate, name: name_of_it };
            assert_eq!(Notice::parse(&notice.emit()), Some(notice));
            assert_eq!(notice.name.text().unwrap_or(""), name);
        }
        assert_eq!(Notice::parse(&[FIRST; 7]), None);
        assert_eq!(Notice::parse(&[FIRST, 0, 8, 0, 0, 0, 0, 0]), None);
        assert_eq!(Notice::parse(&[0x11; 8]), None);
    }

    proptest! {
        /// Bytes that would not be emitted are not parsed: names that are too long, or not printable.
        #[test]
        fn what_is_parsed_is_what_would_be_emitted(
            mut bytes in prop::collection::vec(any::<u8>(), 0..96),
            fill in 0u8..128,
            flags in 0u8..9,
        ) {
            for (at, byte) in bytes.iter_mut().enumerate() {
                match at {
                    0 => *byte = FIRST,
                    2 => *byte = flags,
                    8.. if fill < 100 => *byte = b'a' + *byte % 26,
                    _ => {}
                }
            }
            if let Some(notice) = Notice::parse(&bytes) {
                prop_assert_eq!(notice.emit(), bytes);
            }
        }
    }
}
