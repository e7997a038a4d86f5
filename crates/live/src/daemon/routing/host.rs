//! The state of the host: devices, routes, rules, and the paths of the uplinks' packets by these.

use super::wanted::{WantedRouting, WantedUplink};
use crate::netlink::Netlink;
use crate::netlink::devices::{Device, Setting};
use crate::netlink::routes::{PROTOCOL, Route, Rule, TABLE_MAIN};
use std::net::IpAddr;

#[derive(Clone, Debug, Default)]
pub struct Host {
    pub devices: Vec<Device>,
    pub routes: Vec<Route>,
    pub rules: Vec<Rule>,
    /// The minimum source check of all devices.
    pub rp_filter: u32,
    /// The uplinks' paths to their peers: index of the uplink, whether by IPv4, and the path.
    pub reaches: Vec<(usize, bool, Reach)>,
}

/// An uplink's path to its peers, without the daemon's own routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// A peer that it does not reach.
    pub unreached: Option<IpAddr>,
    /// Whether the host would send an answer to a peer by this device: else `rp_filter` drops its packets.
    pub is_symmetric: bool,
}

impl Host {
    /// Reads it.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn look(netlink: &mut Netlink, wanted: &WantedRouting) -> nix::Result<Self> {
        let mut host = Self {
            devices: netlink.devices()?,
            routes: netlink.routes()?,
            rules: netlink.rules()?,
            rp_filter: netlink.rp_filter()?,
            reaches: Vec::new(),
        };
        for (place, line) in wanted.uplinks.iter().enumerate() {
            for is_v4 in [true, false] {
                if let Some(reach) = host.reach(netlink, wanted, line, is_v4)? {
                    host.reaches.push((place, is_v4, reach));
                }
            }
        }
        Ok(host)
    }

    fn reach(
        &self,
        netlink: &mut Netlink,
        wanted: &WantedRouting,
        line: &WantedUplink,
        is_v4: bool,
    ) -> nix::Result<Option<Reach>> {
        let Some(device) = self.device_of(line) else { return Ok(None) };
        let own: Vec<IpAddr> = device.addresses.iter().map(|address| address.own).collect();
        let own: Vec<IpAddr> = own.into_iter().filter(|own| own.is_ipv4() == is_v4).collect();
        if own.is_empty() {
            return Ok(None);
        }
        let mut reach = Reach { unreached: None, is_symmetric: true };
        let places: Vec<IpAddr> = line.places.iter().copied().filter(|place| place.is_ipv4() == is_v4).collect();
        if places.is_empty() {
            return Ok(None);
        }
        for place in places {
            let there = netlink.look_up(place, None, Some(device.index), Some(wanted.mark))?;
            if !there.iter().any(|route| route.device == device.index) {
                reach.unreached = reach.unreached.or(Some(place));
            }
            for from in own.iter().filter(|_| self.is_strict(device)) {
                let back = netlink.look_up(place, Some(*from), None, None)?;
                let by_us = |route: &Route| (wanted.table..wanted.table + super::wanted::RANGE).contains(&route.table);
                reach.is_symmetric &= back.iter().any(|route| route.device == device.index && !by_us(route));
            }
        }
        Ok(Some(reach))
    }

    /// The device of an uplink, while it is there and up.
    pub fn device_of(&self, line: &WantedUplink) -> Option<&Device> {
        let name = line.device.as_ref().filter(|_| line.is_on)?;
        self.devices.iter().find(|device| device.name == *name && device.is_up)
    }

    /// A device's name, for people.
    pub fn name_of(&self, index: u32) -> &str {
        self.devices.iter().find(|device| device.index == index).map_or("another device", |device| &device.name)
    }

    /// Whether a device drops packets that arrive on another way than answers would leave (RFC 3704, section 2.2).
    pub fn is_strict(&self, device: &Device) -> bool {
        self.rp_filter.max(device.setting(Setting::RpFilter)) == 1
    }

    /// The host's own routes that apply where no rule decides otherwise.
    pub fn routes_of_others<'a>(&'a self, wanted: &'a WantedRouting) -> impl Iterator<Item = &'a Route> {
        let is_ours = |route: &Route| wanted.index != 0 && route.device == wanted.index;
        self.routes.iter().filter(move |route| route.table == TABLE_MAIN && !is_ours(route))
    }

    /// The router on an uplink's device: `None` where none is known, and [`Router::Nobody`] where none is needed.
    pub fn router(&self, line: &WantedUplink, device: &Device, is_v4: bool) -> Option<Router> {
        let of_family = |address: &&IpAddr| address.is_ipv4() == is_v4;
        if let Some(gateway) = line.gateways.iter().find(of_family) {
            return Some(Router::At(*gateway));
        }
        let mut defaults: Vec<&Route> = self.routes.iter().filter(|route| route.is_default()).collect();
        defaults.retain(|route| route.network.is_ipv4() == is_v4 && route.protocol != PROTOCOL && route.device != 0);
        defaults.sort_unstable_by_key(|route| (route.table != TABLE_MAIN, route.metric));
        // Its own, wherever and however far behind.
        if let Some(own) = defaults.iter().find(|route| route.device == device.index) {
            return Some(own.gateway.map_or(Router::Nobody, Router::At));
        }
        if device.is_point_to_point {
            return Some(Router::Nobody);
        }
        // Another device's, in the same network.
        let is_here = |route: &&&Route| {
            route.gateway.is_some_and(|gateway| match gateway {
                IpAddr::V6(address) if address.is_unicast_link_local() => {
                    self.shares_network(device, route.device, false)
                }
                _ => device.addresses.iter().any(|own| super::network_of(own).contains(gateway)),
            })
        };
        defaults.iter().find(is_here).and_then(|route| route.gateway).map(Router::At)
    }

    /// Whether a device and another have addresses of one network.
    pub fn shares_network(&self, device: &Device, other: u32, is_v4: bool) -> bool {
        let Some(other) = self.devices.iter().find(|device| device.index == other) else { return false };
        let networks = |device: &Device| {
            let of_family = device.addresses.iter().filter(|address| address.own.is_ipv4() == is_v4);
            of_family.map(super::network_of).filter(|network| network.length < if is_v4 { 32 } else { 128 }).collect()
        };
        let (ours, theirs): (Vec<_>, Vec<_>) = (networks(device), networks(other));
        device.index != other.index && ours.iter().any(|network| theirs.contains(network))
    }
}

/// The first hop of packets to elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Router {
    /// A router with this address.
    At(IpAddr),
    /// None: the link has one other end.
    Nobody,
}

impl Router {
    pub const fn address(self) -> Option<IpAddr> {
        match self {
            Self::At(address) => Some(address),
            Self::Nobody => None,
        }
    }
}
