//! Properties of network devices beyond those of an uplink: their networks, their source checks, and their answers to
//! ARP. Formats: `include/uapi/linux/{if_link,ip,netconf}.h`.
//!
//! The settings are those of `/proc/sys/net/ipv4/conf`. Written this way they need `CAP_NET_ADMIN` and no file, so that
//! a service for which that folder is read-only can do it.

use super::list::{ANY_FAMILY, IFF_RUNNING, IFLA_IFNAME, RTM_GETADDR, RTM_GETLINK};
use super::message::{attributes, messages, word};
use super::{AF_INET, IFA_ADDRESS, IFA_LOCAL, IFF_UP, Netlink, RTM_NEWADDR, RTM_NEWLINK, attribute, ip_in, nested};
use std::net::IpAddr;

const RTM_SETLINK: u16 = 19;
const RTM_GETNETCONF: u16 = 82;
const NETCONFA_IFINDEX: u16 = 1;
const NETCONFA_RP_FILTER: u16 = 3;
/// The settings `all`.
const NETCONFA_IFINDEX_ALL: i32 = -1;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_INET_CONF: u16 = 1;
const IFF_POINTOPOINT: u32 = 0x10;
const IFF_NOARP: u32 = 0x80;

/// A setting of a device, by its number (`IPV4_DEVCONF_...`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Whether a packet must arrive on the device that one back would leave by: 1, or on any, 2 (RFC 3704, 2.2 and
    /// 2.4).
    RpFilter,
    /// The address that an ARP request announces: 2, one of this device.
    ArpAnnounce,
    /// The addresses for which ARP requests are answered: 1, those of this device.
    ArpIgnore,
}

impl Setting {
    /// The settings that the daemon writes.
    pub const WRITTEN: [Self; 2] = [Self::ArpAnnounce, Self::ArpIgnore];

    /// Its name under `/proc/sys/net/ipv4/conf/DEVICE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RpFilter => "rp_filter",
            Self::ArpAnnounce => "arp_announce",
            Self::ArpIgnore => "arp_ignore",
        }
    }

    const fn number(self) -> u16 {
        match self {
            Self::RpFilter => 8,
            Self::ArpAnnounce => 18,
            Self::ArpIgnore => 19,
        }
    }
}

/// An address of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub own: IpAddr,
    /// The network of the address: of a point-to-point link, the other end's.
    pub network: IpAddr,
    /// The length of that network's prefix.
    pub prefix: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub index: u32,
    pub name: String,
    /// Whether it is up and has a carrier.
    pub is_up: bool,
    /// Whether ARP is not used: every packet sent arrives at the one other end.
    pub is_point_to_point: bool,
    /// Its addresses, but IPv6's of the link alone.
    pub addresses: Vec<Address>,
    settings: [u32; 3],
}

impl Device {
    /// One that is up, for tests.
    #[cfg(test)]
    pub fn of(index: u32, name: &str, addresses: Vec<Address>, rp_filter: u32) -> Self {
        let settings = [rp_filter, 0, 0];
        Self { index, name: name.to_owned(), is_up: true, is_point_to_point: false, addresses, settings }
    }

    /// The device's own value of a setting; `all` may override it.
    pub const fn setting(&self, setting: Setting) -> u32 {
        self.settings[setting as usize]
    }
}

impl Netlink {
    /// All devices of this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn devices(&mut self) -> nix::Result<Vec<Device>> {
        let mut found = self.dump(RTM_GETLINK, RTM_NEWLINK, &ANY_FAMILY, device_in)?;
        for (index, address) in self.dump(RTM_GETADDR, RTM_NEWADDR, &ANY_FAMILY, address_in)? {
            let owner = found.iter_mut().find(|device| device.index == index);
            owner.into_iter().for_each(|owner| owner.addresses.push(address));
        }
        Ok(found)
    }

    /// The minimum of the source check for all devices: the larger of this and the device's own counts.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn rp_filter(&mut self) -> nix::Result<u32> {
        let mut body = vec![AF_INET, 0, 0, 0];
        attribute(&mut body, NETCONFA_IFINDEX, NETCONFA_IFINDEX_ALL.to_ne_bytes());
        let answer = self.question(RTM_GETNETCONF, &body)?;
        let mut attributes = attributes(answer.get(4..).unwrap_or_default());
        Ok(attributes.find_map(|(kind, value)| (kind == NETCONFA_RP_FILTER).then(|| word(value, 0))?).unwrap_or(0))
    }

    /// Sets something of a device.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn set(&mut self, index: u32, setting: Setting, value: u32) -> nix::Result<()> {
        let mut body = vec![0; 4];
        body.extend(index.to_ne_bytes());
        // Flags, and which of them change: none.
        body.extend([0; 8]);
        nested(&mut body, IFLA_AF_SPEC, |body| {
            nested(body, u16::from(AF_INET), |body| {
                nested(body, IFLA_INET_CONF, |body| attribute(body, setting.number(), value.to_ne_bytes()));
            });
        });
        self.request(RTM_SETLINK, 0, &body)
    }
}

/// `struct ifinfomsg`: family, type, index, flags, change.
fn device_in(body: &[u8]) -> Option<Device> {
    let (index, flags) = (word(body, 4)?, word(body, 8)?);
    let both = IFF_UP | IFF_RUNNING;
    let mut found = Device {
        index,
        name: String::new(),
        is_up: flags & both == both,
        is_point_to_point: flags & (IFF_POINTOPOINT | IFF_NOARP) != 0,
        addresses: Vec::new(),
        settings: [0; 3],
    };
    for (kind, value) in attributes(body.get(16..)?) {
        match kind {
            IFLA_IFNAME => found.name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            IFLA_AF_SPEC => {
                let inet = attributes(value).find(|(family, _)| *family == u16::from(AF_INET));
                let all = inet.and_then(|(_, inet)| attributes(inet).find(|(kind, _)| *kind == IFLA_INET_CONF));
                let Some((_, all)) = all else { continue };
                for setting in [Setting::RpFilter, Setting::ArpAnnounce, Setting::ArpIgnore] {
                    // A list of all, from the one with number 1 on.
                    let at = 4 * (usize::from(setting.number()) - 1);
                    found.settings[setting as usize] = word(all, at).unwrap_or(0);
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
fn address_in(body: &[u8]) -> Option<(u32, Address)> {
    let (index, prefix) = (word(body, 4)?, *body.get(1)?);
    let (mut own, mut network) = (None, None);
    for (kind, value) in attributes(body.get(8..)?) {
        match kind {
            IFA_LOCAL => own = ip_in(value),
            IFA_ADDRESS => network = ip_in(value),
            _ => {}
        }
    }
    let is_of_link = |address: &IpAddr| matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
    let own = own.or(network).filter(|own| !is_of_link(own))?;
    let most = if own.is_ipv4() { 32 } else { 128 };
    let network = network.filter(|network| network.is_ipv4() == own.is_ipv4()).unwrap_or(own);
    (prefix <= most).then_some((index, Address { own, network, prefix }))
}

/// Everything that is read of a kernel's datagram, for tests.
pub fn read_all(datagram: &[u8]) -> (Vec<Device>, Vec<(u32, Address)>) {
    let bodies = || messages(datagram).map(|(_, _, _, body)| body);
    (bodies().filter_map(device_in).collect(), bodies().filter_map(address_in).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_its_network() {
        let devices = Netlink::open().unwrap().devices().unwrap();
        let lo = devices.iter().find(|device| device.name == "lo").unwrap();
        let is_it = |address: &Address| address.own == IpAddr::from([127, 0, 0, 1]) && address.prefix == 8;
        assert!(!lo.is_up || lo.addresses.iter().any(is_it), "{lo:?}");
    }

    #[test]
    fn all_devices_have_a_filter() {
        let all = std::fs::read_to_string("/proc/sys/net/ipv4/conf/all/rp_filter").unwrap();
        assert_eq!(Netlink::open().unwrap().rp_filter().unwrap().to_string(), all.trim());
    }
}
