//! What the daemons tell each other of a member link, beside the tunnel's frames: how it is to be used, or that it is gone.
//! Sealed as these are.
//!
//! ```text
//!  0      1        2       3      4
//!  | 0x1f | member | flags | tier | rate cap, kbit/s, 0 for none |
//! ```
//!
//! The end that goes to the other says it, whose interfaces the members are: soon after a member begins, and again and
//! again, which keeps address translators awake. The first byte is the tunnel's version and a kind that it does not use.

use airbraid_engine::trunk::Member;
use airbraid_units::BitRate;

/// Length of a notice \[byte\].
pub const NOTICE_LEN: usize = 8;
const FIRST: u8 = 0x1f;
const GONE: u8 = 1;
const BACKUP: u8 = 2;

/// How a member is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Which.
    pub member: Member,
    /// It is not there any more.
    pub is_gone: bool,
    /// Only where no other works.
    pub is_backup: bool,
    /// Those of higher tiers get what lower ones leave.
    pub tier: u8,
    /// No more than this.
    pub rate: Option<BitRate>,
}

impl Notice {
    /// As bytes.
    pub fn emit(&self) -> [u8; NOTICE_LEN] {
        let flags = if self.is_gone { GONE } else { 0 } | if self.is_backup { BACKUP } else { 0 };
        let kbps = self.rate.map_or(0, |rate| u32::try_from(rate.as_bps() / 1_000).unwrap_or(u32::MAX));
        let mut bytes = [FIRST, self.member.0, flags, self.tier, 0, 0, 0, 0];
        bytes[4..].copy_from_slice(&kbps.to_be_bytes());
        bytes
    }

    /// From all of `bytes`; none if they are something else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[FIRST, member, flags, tier, a, b, c, d] = bytes else { return None };
        let kbps = u32::from_be_bytes([a, b, c, d]);
        (flags & !(GONE | BACKUP) == 0).then(|| Self {
            member: Member(member),
            is_gone: flags & GONE != 0,
            is_backup: flags & BACKUP != 0,
            tier,
            rate: (kbps > 0).then(|| BitRate::from_kbps(u64::from(kbps))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        for (is_gone, is_backup, rate) in
            [(false, false, None), (true, false, None), (false, true, Some(BitRate::from_kbps(8)))]
        {
            let notice = Notice { member: Member(9), is_gone, is_backup, tier: 3, rate };
            assert_eq!(Notice::parse(&notice.emit()), Some(notice));
        }
        assert_eq!(Notice::parse(&[FIRST; 7]), None);
        assert_eq!(Notice::parse(&[FIRST, 0, 4, 0, 0, 0, 0, 0]), None);
        assert_eq!(Notice::parse(&[0x11; 8]), None);
    }
}
