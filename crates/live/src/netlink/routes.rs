//! Routes and rules: their lists, and the route of a packet. Formats: Linux `rtnetlink(7)`,
//! `include/uapi/linux/{rtnetlink,fib_rules}.h`.
//!
//! Nothing here replaces anything: what is there already is an error.

use super::message::{attributes, half, messages, word};
use super::{AF_INET, AF_INET6, NLM_F_CREATE, NLM_F_EXCL, Netlink, attribute, attribute_of, ip_in};
use nix::errno::Errno;
use std::net::IpAddr;

/// The default table of routes.
pub const TABLE_MAIN: u32 = 254;
/// The kernel's own, of this host's addresses.
pub const TABLE_LOCAL: u32 = 255;
/// The protocol number of the daemon's routes and rules. The registry (`include/uapi/linux/rtnetlink.h`, and
/// `rt_protos` of iproute2) has it unassigned.
pub const PROTOCOL: u8 = 182;

const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_GETROUTE: u16 = 26;
const RTM_NEWRULE: u16 = 32;
const RTM_DELRULE: u16 = 33;
const RTM_GETRULE: u16 = 34;
const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_MARK: u16 = 16;
/// A gateway of the other family: two byte of family, and the address.
const RTA_VIA: u16 = 18;
const FRA_DST: u16 = 1;
const FRA_SRC: u16 = 2;
const FRA_IIFNAME: u16 = 3;
const FRA_TUN_ID: u16 = 12;
const FRA_OIFNAME: u16 = 17;
const FRA_L3MDEV: u16 = 19;
const FRA_UID_RANGE: u16 = 20;
const FRA_IP_PROTO: u16 = 22;
const FRA_PRIORITY: u16 = 6;
const FRA_FWMARK: u16 = 10;
const FRA_SUPPRESS_PREFIXLEN: u16 = 14;
const FRA_TABLE: u16 = 15;
const FRA_FWMASK: u16 = 16;
const FRA_PROTOCOL: u16 = 21;
/// `RTN_UNICAST`: the others refuse, or are of this host.
const UNICAST: u8 = 1;
const LOCAL: u8 = 2;
/// `RTN_THROW`.
const THROW: u8 = 9;
/// Local, broadcast, anycast, multicast.
const OF_THIS_HOST: std::ops::RangeInclusive<u8> = 2..=5;
const SCOPE_UNIVERSE: u8 = 0;
const SCOPE_LINK: u8 = 253;
/// `RT_TABLE_COMPAT`: the number is longer than the header's field, and in an attribute.
const TABLE_COMPAT: u8 = 252;
/// An entry of the cache of IPv6.
const RTM_F_CLONED: u32 = 0x200;
/// The answer is the route that was found, with its table, and not the kernel's reaction where there is none.
const RTM_F_LOOKUP: u32 = 0x1000 | 0x2000;
/// The gateway is on the link, whatever the addresses there say.
const RTNH_F_ONLINK: u32 = 4;
const FR_ACT_TO_TBL: u8 = 1;
const FIB_RULE_INVERT: u32 = 2;
/// Length of `struct rtmsg`, and of `struct fib_rule_hdr` \[byte\].
const HEAD: usize = 12;

/// A route; one for each next hop of a route with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The network, host bits zero.
    pub network: IpAddr,
    /// The length of its prefix.
    pub prefix: u8,
    /// The table that it is in.
    pub table: u32,
    /// Of equal prefixes the smallest counts.
    pub metric: u32,
    /// The gateway, if the destination is not on the link.
    pub gateway: Option<IpAddr>,
    /// By which interface; 0 for a route that refuses, or ends the search in its table.
    pub device: u32,
    /// Whether it ends the search in its table: other rules and tables decide.
    pub is_throw: bool,
    /// The protocol number of its maker.
    pub protocol: u8,
}

/// A rule that selects a table. Selectors that the daemon does not use are not read, but their presence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// For IPv4, and not IPv6.
    pub is_v4: bool,
    /// The smallest is asked first.
    pub priority: u32,
    pub table: u32,
    /// Packets with this mark, by mask.
    pub mark: Option<(u32, u32)>,
    pub is_inverted: bool,
    /// Packets from this network.
    pub from: Option<(IpAddr, u8)>,
    /// A default route of that table is passed over.
    pub is_specific: bool,
    /// The protocol number of its maker.
    pub protocol: u8,
    /// Whether it has other selectors.
    pub is_narrower: bool,
}

impl Netlink {
    /// All routes of this thread's network namespace but the kernel's own for its addresses.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn routes(&mut self) -> nix::Result<Vec<Route>> {
        let mut found = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let mut head = vec![0; HEAD];
            head[0] = family;
            found.extend(
                self.dump(RTM_GETROUTE, RTM_NEWROUTE, &head, |body| Some(routes_in(body)))?.into_iter().flatten(),
            );
        }
        Ok(found)
    }

    /// All rules.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn rules(&mut self) -> nix::Result<Vec<Rule>> {
        let mut found = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let mut head = vec![0; HEAD];
            head[0] = family;
            match self.dump(RTM_GETRULE, RTM_NEWRULE, &head, rule_in) {
                Ok(rules) => found.extend(rules),
                // A kernel without rules, or without IPv6, has none.
                Err(Errno::EOPNOTSUPP | Errno::EAFNOSUPPORT) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The route of a packet to an address, by an interface, from an address and with a mark if these are given.
    /// Several for a route with several next hops; none where there is no route.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn look_up(
        &mut self,
        to: IpAddr,
        from: Option<IpAddr>,
        device: Option<u32>,
        mark: Option<u32>,
    ) -> nix::Result<Vec<Route>> {
        let (family, bits) = if to.is_ipv4() { (AF_INET, 32) } else { (AF_INET6, 128) };
        let mut body = vec![family, bits, if from.is_some() { bits } else { 0 }, 0, 0, 0, 0, 0];
        body.extend(RTM_F_LOOKUP.to_ne_bytes());
        attribute_of(&mut body, RTA_DST, to);
        from.into_iter().for_each(|from| attribute_of(&mut body, RTA_SRC, from));
        device.into_iter().for_each(|device| attribute(&mut body, RTA_OIF, device.to_ne_bytes()));
        mark.into_iter().for_each(|mark| attribute(&mut body, RTA_MARK, mark.to_ne_bytes()));
        match self.question(RTM_GETROUTE, &body) {
            Ok(answer) => {
                let mut found = read_routes(&answer).unwrap_or_default();
                // An address of this host is reached whatever the device.
                let is_local = answer.get(7) == Some(&LOCAL);
                found.iter_mut().filter(|_| is_local).for_each(|route| route.device = device.unwrap_or(route.device));
                Ok(found.into_iter().filter(|route| route.device != 0).collect())
            }
            // No route, or one that refuses.
            Err(Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::EACCES | Errno::EINVAL) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Adds a route.
    ///
    /// # Errors
    /// The kernel's error: `EEXIST` where there is one to that network, of that metric.
    pub fn add_route(&mut self, route: &Route) -> nix::Result<()> {
        self.request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &route.emit())
    }

    /// Removes a route of this interface and maker.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn remove_route(&mut self, route: &Route) -> nix::Result<()> {
        self.request(RTM_DELROUTE, 0, &route.emit())
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// The kernel's error: `EEXIST` where there is this one already.
    pub fn add_rule(&mut self, rule: &Rule) -> nix::Result<()> {
        self.request(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &rule.emit())
    }

    /// Removes a rule.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn remove_rule(&mut self, rule: &Rule) -> nix::Result<()> {
        self.request(RTM_DELRULE, 0, &rule.emit())
    }
}

impl Route {
    /// Whether it leads everywhere.
    pub const fn is_default(&self) -> bool {
        self.prefix == 0
    }

    /// `struct rtmsg`: family, lengths of the prefixes of destination and source, TOS, table, protocol, scope, type,
    /// flags; and its attributes.
    fn emit(&self) -> Vec<u8> {
        let is_v4 = self.network.is_ipv4();
        let scope = if is_v4 && self.gateway.is_none() { SCOPE_LINK } else { SCOPE_UNIVERSE };
        let family = if is_v4 { AF_INET } else { AF_INET6 };
        let (kind, scope) = if self.is_throw { (THROW, SCOPE_UNIVERSE) } else { (UNICAST, scope) };
        let mut body = vec![family, self.prefix, 0, 0, table_byte(self.table), self.protocol, scope, kind];
        body.extend(if self.gateway.is_some() { RTNH_F_ONLINK } else { 0 }.to_ne_bytes());
        attribute_of(&mut body, RTA_DST, self.network);
        if !self.is_throw {
            attribute(&mut body, RTA_OIF, self.device.to_ne_bytes());
        }
        attribute(&mut body, RTA_PRIORITY, self.metric.to_ne_bytes());
        attribute(&mut body, RTA_TABLE, self.table.to_ne_bytes());
        self.gateway.into_iter().for_each(|gateway| attribute_of(&mut body, RTA_GATEWAY, gateway));
        body
    }
}

impl Rule {
    /// `struct fib_rule_hdr`: family, lengths of the prefixes of destination and source, TOS, table, two reserved,
    /// action, flags; and its attributes.
    fn emit(&self) -> Vec<u8> {
        let family = if self.is_v4 { AF_INET } else { AF_INET6 };
        let from = self.from.map_or(0, |(_, length)| length);
        let mut body = vec![family, 0, from, 0, table_byte(self.table), 0, 0, FR_ACT_TO_TBL];
        body.extend(if self.is_inverted { FIB_RULE_INVERT } else { 0 }.to_ne_bytes());
        attribute(&mut body, FRA_PRIORITY, self.priority.to_ne_bytes());
        attribute(&mut body, FRA_TABLE, self.table.to_ne_bytes());
        attribute(&mut body, FRA_PROTOCOL, [self.protocol]);
        if let Some((mark, mask)) = self.mark {
            attribute(&mut body, FRA_FWMARK, mark.to_ne_bytes());
            attribute(&mut body, FRA_FWMASK, mask.to_ne_bytes());
        }
        if let Some((from, _)) = self.from {
            attribute_of(&mut body, FRA_SRC, from);
        }
        if self.is_specific {
            attribute(&mut body, FRA_SUPPRESS_PREFIXLEN, 0u32.to_ne_bytes());
        }
        body
    }
}

fn table_byte(table: u32) -> u8 {
    u8::try_from(table).unwrap_or(TABLE_COMPAT)
}

/// The next hops of a route in a message; none of one that is not for packets of others.
fn routes_in(body: &[u8]) -> Vec<Route> {
    let is_ours_to_see = |body: &[u8]| {
        let is_cached = word(body, 8).is_some_and(|flags| flags & RTM_F_CLONED != 0);
        !is_cached && body.get(7).is_some_and(|kind| !OF_THIS_HOST.contains(kind))
    };
    let mut found = if is_ours_to_see(body) { read_routes(body).unwrap_or_default() } else { Vec::new() };
    found.retain(|route| route.table != TABLE_LOCAL);
    found
}

fn read_routes(body: &[u8]) -> Option<Vec<Route>> {
    let head = body.get(..HEAD)?;
    let (family, prefix, protocol, kind) = (head[0], head[1], head[5], head[7]);
    let any: IpAddr = match family {
        AF_INET if prefix <= 32 => [0; 4].into(),
        AF_INET6 if prefix <= 128 => [0; 16].into(),
        _ => return None,
    };
    let mut route = Route {
        network: any,
        prefix,
        table: u32::from(head[4]),
        metric: 0,
        gateway: None,
        device: 0,
        is_throw: kind == THROW,
        protocol,
    };
    let mut hops = &[][..];
    for (kind, value) in attributes(&body[HEAD..]) {
        match kind {
            RTA_DST => route.network = ip_in(value).filter(|network| network.is_ipv4() == any.is_ipv4())?,
            RTA_OIF => route.device = word(value, 0)?,
            RTA_PRIORITY => route.metric = word(value, 0)?,
            RTA_TABLE => route.table = word(value, 0)?,
            RTA_MULTIPATH => hops = value,
            _ => route.gateway = route.gateway.or(gateway_in(kind, value)),
        }
    }
    if !matches!(kind, UNICAST | LOCAL) {
        route.device = 0;
    }
    let several: Vec<Route> = hops_in(hops).map(|(device, gateway)| Route { device, gateway, ..route }).collect();
    Some(if several.is_empty() { vec![route] } else { several })
}

fn gateway_in(kind: u16, value: &[u8]) -> Option<IpAddr> {
    match kind {
        RTA_GATEWAY => ip_in(value),
        RTA_VIA => ip_in(value.get(2..)?),
        _ => None,
    }
}

/// The next hops of a route with several: `struct rtnexthop` (length, flags, hops, interface) and attributes, each.
fn hops_in(mut bytes: &[u8]) -> impl Iterator<Item = (u32, Option<IpAddr>)> {
    std::iter::from_fn(move || {
        let length = usize::from(half(bytes, 0)?);
        let device = word(bytes, 4)?;
        let gateway = attributes(bytes.get(8..length)?).find_map(|(kind, value)| gateway_in(kind, value));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((device, gateway))
    })
}

fn rule_in(body: &[u8]) -> Option<Rule> {
    let head = body.get(..HEAD)?;
    let is_v4 = match head[0] {
        AF_INET => true,
        AF_INET6 => false,
        _ => return None,
    };
    let mut rule = Rule {
        is_v4,
        priority: 0,
        table: u32::from(head[4]),
        mark: None,
        is_inverted: word(body, 8)? & FIB_RULE_INVERT != 0,
        from: None,
        is_specific: false,
        protocol: 0,
        is_narrower: head[1] != 0 || head[3] != 0 || head[7] != FR_ACT_TO_TBL,
    };
    let (mut mark, mut mask) = (None, u32::MAX);
    for (kind, value) in attributes(&body[HEAD..]) {
        match kind {
            FRA_PRIORITY => rule.priority = word(value, 0)?,
            FRA_TABLE => rule.table = word(value, 0)?,
            FRA_FWMARK => mark = Some(word(value, 0)?),
            FRA_FWMASK => mask = word(value, 0)?,
            FRA_SRC => rule.from = Some((ip_in(value)?, head[2])),
            FRA_SUPPRESS_PREFIXLEN => rule.is_specific = word(value, 0)? == 0,
            FRA_PROTOCOL => rule.protocol = *value.first()?,
            // Zeros, or all users, are no selector.
            FRA_DST | FRA_IIFNAME | FRA_TUN_ID | FRA_OIFNAME | FRA_L3MDEV | FRA_UID_RANGE | FRA_IP_PROTO.. => {
                rule.is_narrower |= value.iter().any(|byte| !matches!(byte, 0 | 255));
            }
            _ => {}
        }
    }
    rule.mark = mark.map(|mark| (mark, mask));
    Some(rule)
}

/// Everything that is read of a kernel's datagram, for tests.
pub fn read_all(datagram: &[u8]) -> (Vec<Route>, Vec<Rule>) {
    let bodies = || messages(datagram).map(|(_, _, _, body)| body);
    (bodies().flat_map(routes_in).collect(), bodies().filter_map(rule_in).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (network, prefix, gateway) in [
            ("10.1.0.0", 16, None),
            ("0.0.0.0", 0, Some("192.168.8.1")),
            ("fd00::", 8, None),
            ("::", 0, Some("fe80::1")),
        ] {
            for table in [TABLE_MAIN, 51_820_000] {
                let network = ip(network);
                let gateway = gateway.map(ip);
                let route = Route {
                    network,
                    prefix,
                    table,
                    metric: 7,
                    gateway,
                    device: 3,
                    is_throw: false,
                    protocol: PROTOCOL,
                };
                assert_eq!(routes_in(&route.emit()), [route]);
                let thrown = Route { device: 0, gateway: None, is_throw: true, ..route };
                assert_eq!(routes_in(&thrown.emit()), [thrown]);
            }
        }
        for is_v4 in [true, false] {
            let from = Some(if is_v4 { (ip("10.1.2.3"), 32) } else { (ip("fd00::1"), 128) });
            for (mark, is_inverted, from, is_specific) in
                [(None, false, None, true), (Some((16, 0xffff_fff0)), true, None, false), (None, false, from, false)]
            {
                let rule = Rule {
                    is_v4,
                    priority: 20_003,
                    table: 51_820_001,
                    mark,
                    is_inverted,
                    from,
                    is_specific,
                    protocol: PROTOCOL,
                    is_narrower: false,
                };
                assert_eq!(rule_in(&rule.emit()), Some(rule));
            }
        }
    }

    #[test]
    fn a_route_with_several_next_hops_is_several_routes() {
        let mut body = vec![AF_INET, 0, 0, 0, 254, 3, 0, UNICAST, 0, 0, 0, 0];
        let mut hops = Vec::new();
        for (device, last) in [(2u32, 1u8), (3, 2)] {
            hops.extend(16u16.to_ne_bytes());
            hops.extend([0, 0]);
            hops.extend(device.to_ne_bytes());
            attribute(&mut hops, RTA_GATEWAY, [10, 0, 0, last]);
        }
        super::super::nested(&mut body, RTA_MULTIPATH, |body| body.extend(&hops));
        let seen: Vec<_> =
            routes_in(&body).into_iter().map(|route| (route.device, route.gateway.unwrap().to_string())).collect();
        assert_eq!(seen, [(2, "10.0.0.1".to_owned()), (3, "10.0.0.2".to_owned())]);
    }

    #[test]
    fn the_rules_that_every_host_has_are_found() {
        let rules = Netlink::open().unwrap().rules().unwrap();
        assert!(
            rules.iter().any(|rule| rule.is_v4 && rule.priority == 32_766 && rule.table == TABLE_MAIN),
            "{rules:?}"
        );
    }

    #[test]
    fn whatever_is_cut_off_is_read_without_a_panic() {
        let network = [10, 1, 0, 0].into();
        let gateway = Some([10, 0, 0, 1].into());
        let whole =
            Route { network, prefix: 16, table: 300, metric: 7, gateway, device: 3, is_throw: false, protocol: 4 }
                .emit();
        for length in 0..whole.len() {
            let _ = (routes_in(&whole[..length]), rule_in(&whole[..length]));
        }
    }
}
