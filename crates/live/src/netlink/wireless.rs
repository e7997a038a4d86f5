//! The signal between a radio and its access point: nl80211, a family of generic netlink. Formats: Linux `genetlink`
//! and `include/uapi/linux/nl80211.h`.
//!
//! It is for people to look at. What a link carries is measured where it counts, by what comes back on it.

use super::message::{attributes, half, messages};
use super::{Netlink, attribute};
use nix::sys::socket::SockProtocol;

const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NL80211_CMD_GET_STATION: u8 = 17;
const NL80211_ATTR_IFINDEX: u16 = 3;
const NL80211_ATTR_STA_INFO: u16 = 21;
const NL80211_STA_INFO_SIGNAL: u16 = 7;
const NL80211_STA_INFO_SIGNAL_AVG: u16 = 13;
/// Length of `struct genlmsghdr`: command, version, reserved \[byte\].
const GENERIC: usize = 4;

/// A conversation with the kernel's radios.
#[derive(Debug)]
pub struct Wireless {
    netlink: Netlink,
    family: u16,
}

impl Wireless {
    /// Opens one in this thread's network namespace; none where the kernel knows no radios.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> nix::Result<Option<Self>> {
        let mut netlink = Netlink::of(SockProtocol::NetlinkGeneric)?;
        let ask = [CTRL_CMD_GETFAMILY, 1, 0, 0];
        let families = netlink.dump(GENL_ID_CTRL, GENL_ID_CTRL, &ask, |body| family_called(body, "nl80211"))?;
        Ok(families.first().copied().map(|family| Self { netlink, family }))
    }

    /// The signal of the station that an interface hears, on average where the driver has one \[dBm\]: of the access
    /// point, if it is a client's. `None` if it is no radio, or hears no station; the strongest of several.
    ///
    /// # Errors
    /// The kernel's error, of an interface that is no radio, too.
    pub fn signal_dbm(&mut self, index: u32) -> nix::Result<Option<i8>> {
        let mut body = vec![NL80211_CMD_GET_STATION, 0, 0, 0];
        attribute(&mut body, NL80211_ATTR_IFINDEX, index.to_ne_bytes());
        Ok(self.netlink.dump(self.family, self.family, &body, signal_in)?.into_iter().max())
    }
}

/// The number of a family, if this message of the controller is about the one of this name.
fn family_called(body: &[u8], name: &str) -> Option<u16> {
    let (mut number, mut is_it) = (None, false);
    for (kind, value) in attributes(body.get(GENERIC..)?) {
        match kind {
            CTRL_ATTR_FAMILY_ID => number = half(value, 0),
            CTRL_ATTR_FAMILY_NAME => is_it = value.strip_suffix(&[0]).unwrap_or(value) == name.as_bytes(),
            _ => {}
        }
    }
    number.filter(|_| is_it)
}

/// The signal in a message about a station.
fn signal_in(body: &[u8]) -> Option<i8> {
    let (_, station) = attributes(body.get(GENERIC..)?).find(|(kind, _)| *kind == NL80211_ATTR_STA_INFO)?;
    let of = |wanted| attributes(station).find(|(kind, _)| *kind == wanted);
    let (_, value) = of(NL80211_STA_INFO_SIGNAL_AVG).or_else(|| of(NL80211_STA_INFO_SIGNAL))?;
    value.first().map(|byte| byte.cast_signed())
}

/// Everything that is read of a kernel's datagram, for tests: family numbers under the name `nl80211`, and signals
/// \[dBm\].
pub fn read_all(datagram: &[u8]) -> (Vec<u16>, Vec<i8>) {
    let bodies = || messages(datagram).map(|(_, _, _, body)| body);
    (bodies().filter_map(|body| family_called(body, "nl80211")).collect(), bodies().filter_map(signal_in).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attribute, filled up to a multiple of four.
    fn put(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn datagram(kind: u16, bodies: &[Vec<u8>]) -> Vec<u8> {
        let mut all = Vec::new();
        for body in bodies {
            all.extend((16 + body.len() as u32).to_ne_bytes());
            all.extend(kind.to_ne_bytes());
            all.extend([0; 10]);
            all.extend(body);
        }
        all
    }

    fn station(info: &[Vec<u8>]) -> Vec<u8> {
        const NESTED: u16 = 0x8000;
        let mac = put(6, &[2, 0, 0, 0, 1, 0]);
        [vec![19, 1, 0, 0], put(3, &[7, 0, 0, 0]), mac, put(21 | NESTED, &info.concat())].concat()
    }

    #[test]
    fn the_average_counts_where_there_is_one() {
        let signal = |dbm: i8| put(7, &dbm.to_ne_bytes());
        let average = |dbm: i8| put(13, &dbm.to_ne_bytes());
        let inactive = put(1, &20u32.to_ne_bytes());
        let both = station(&[inactive.clone(), signal(-71), average(-68)]);
        let one = station(&[signal(-50)]);
        assert_eq!(read_all(&datagram(28, &[both, one, station(&[inactive])])), (vec![], vec![-68, -50]));
    }

    #[test]
    fn a_family_is_known_by_its_name() {
        let family =
            |number: u16, name: &[u8]| [vec![1, 2, 0, 0], put(2, name), put(1, &number.to_ne_bytes())].concat();
        let all = datagram(16, &[family(16, b"nlctrl\0"), family(28, b"nl80211\0"), family(29, b"nl80211x\0")]);
        assert_eq!(read_all(&all), (vec![28], vec![]));
    }

    #[test]
    fn whatever_is_cut_off_is_no_signal() {
        let whole = datagram(28, &[station(&[put(7, &[200]), put(13, &[201])])]);
        for length in 0..whole.len() {
            assert!(read_all(&whole[..length]).1.is_empty());
        }
    }

    #[test]
    fn the_controller_of_families_answers() {
        let mut netlink = Netlink::of(SockProtocol::NetlinkGeneric).unwrap();
        let ask = [CTRL_CMD_GETFAMILY, 1, 0, 0];
        let own = netlink.dump(GENL_ID_CTRL, GENL_ID_CTRL, &ask, |body| family_called(body, "nlctrl")).unwrap();
        assert_eq!(own, [GENL_ID_CTRL]);
        // The loopback is no radio, with a kernel that knows some and with one that does not.
        let heard = Wireless::open().unwrap().map(|mut wireless| wireless.signal_dbm(1));
        assert!(!matches!(heard, Some(Ok(Some(_)))));
    }
}
