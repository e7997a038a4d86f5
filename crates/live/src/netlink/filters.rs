//! The one request of nfnetlink that the daemon makes by itself: the end of its table. The table is made by `nft`; what
//! undoes it runs no program. Formats: Linux `include/uapi/linux/netfilter/{nfnetlink,nf_tables}.h`.

use super::Netlink;
use nix::errno::Errno;
use nix::sys::socket::SockProtocol;

const SUBSYSTEM: u16 = 10;
const BATCH_BEGIN: u16 = 16;
const BATCH_END: u16 = 17;
const DELETE_TABLE: u16 = SUBSYSTEM << 8 | 2;
const NFPROTO_INET: u8 = 1;
const NFTA_TABLE_NAME: u16 = 1;

impl Netlink {
    /// Opens a conversation about packet filters in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn filters() -> nix::Result<Self> {
        Self::of(SockProtocol::NetlinkNetFilter)
    }

    /// Removes a table of the family `inet`, with all that is in it; one that is not there is no error.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn delete_table(&mut self, name: &str) -> nix::Result<()> {
        // `struct nfgenmsg`: family, version, number of the subsystem in network order.
        let mut body = vec![NFPROTO_INET, 0, 0, 0];
        body.extend((4 + name.len() as u16 + 1).to_ne_bytes());
        body.extend(NFTA_TABLE_NAME.to_ne_bytes());
        body.extend(name.bytes().chain([0]));
        body.resize(body.len().next_multiple_of(4), 0);
        let [high, low] = SUBSYSTEM.to_be_bytes();
        let around = [(BATCH_BEGIN, vec![0, 0, high, low]), (BATCH_END, vec![0, 0, high, low])];
        match self.request_between(&around, DELETE_TABLE, &body) {
            Err(Errno::ENOENT) => Ok(()),
            done => done,
        }
    }
}
