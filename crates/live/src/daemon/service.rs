//! Services on the data path: the service of a packet, and those that a link may carry.

use super::inner::{self, Summary, TCP, UDP};
use super::site::{Protocol, Service};
use airbraid_engine::trunk::bonding::Services;
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// Buckets of the traffic that is of no service, where there are services: what these leave of 512.
const REST: u16 = 272;
/// Buckets of each of 15 services: of different services no flows share one, so none waits for another's link.
const EACH: u16 = 16;

/// The fields by which a packet is of a service.
#[derive(Clone, Copy, Debug)]
struct Fields {
    ends: [IpAddr; 2],
    protocol: u8,
    /// Ports of TCP and UDP; none in later fragments, and behind IPv6's further headers.
    ports: Option<[u16; 2]>,
    dscp: u8,
}

/// Notes the service of a packet for a peer in its summary: the first of the file that it is of, or none.
pub fn classify(services: &[Service], peer: &str, packet: &[u8], summary: &mut Summary) {
    if services.is_empty() {
        return;
    }
    let (protocol, ports) = inner::ports(packet).unwrap_or_default();
    let fields = Fields { ends: [summary.source, summary.destination], protocol, ports, dscp: summary.tos >> 2 };
    let place = services.iter().position(|service| is_of(service, peer, &fields));
    *summary = of_service(*summary, place.map_or(0, |place| place as u8 + 1), true);
}

/// The summary of a packet of a service by number, or of none, where there are services.
pub fn of_service(mut summary: Summary, service: u8, has_services: bool) -> Summary {
    summary.service = service;
    if has_services {
        summary.bucket = match service.checked_sub(1) {
            None => summary.bucket % REST,
            Some(place) => REST + u16::from(place) * EACH + summary.bucket % EACH,
        };
    }
    summary
}

/// Whether a packet for a peer is of a service: all that the service names holds.
fn is_of(service: &Service, peer: &str, fields: &Fields) -> bool {
    let is_protocol = match service.protocol {
        Protocol::Any => true,
        Protocol::Tcp => fields.protocol == TCP,
        Protocol::Udp => fields.protocol == UDP,
    };
    let is_at = |ports: &RangeInclusive<u16>| fields.ports.iter().flatten().any(|port| ports.contains(port));
    is_protocol
        && service.peer.as_ref().is_none_or(|name| name == peer)
        && (service.ports.is_empty() || service.ports.iter().any(is_at))
        && (service.dscp.is_empty() || service.dscp.contains(&fields.dscp))
        && (service.networks.is_empty()
            || service.networks.iter().any(|network| fields.ends.iter().any(|end| network.contains(*end))))
}

/// The services that a link may carry, which has these names at its ends.
pub fn carried_by(services: &[Service], names: &[&str], is_metered: bool) -> Services {
    let may = |service: &Service| {
        let is_named = service.only.is_empty() || service.only.iter().any(|only| names.contains(&only.as_str()));
        is_named && (service.may_be_metered || !is_metered)
    };
    let refused = (1..).zip(services).filter(|(_, service)| !may(service));
    refused.fold(Services::ALL, |carried, (number, _)| carried.without(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::trunk::bonding::{BUCKETS, SERVICES_MAX};

    fn service() -> Service {
        Service {
            name: "a".to_owned(),
            protocol: Protocol::Any,
            ports: vec![],
            dscp: vec![],
            networks: vec![],
            peer: None,
            only: vec![],
            may_be_metered: true,
        }
    }

    /// An IPv4 packet of UDP from 10.0.0.1:`from` to 192.0.2.9:`to`, with this TOS.
    fn packet(from: u16, to: u16, tos: u8) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 28, 0, 0, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 192, 0, 2, 9];
        packet.extend(from.to_be_bytes());
        packet.extend(to.to_be_bytes());
        packet.extend([0, 8, 0, 0]);
        packet
    }

    /// Number of the service of a packet.
    fn number(services: &[Service], packet: &[u8]) -> u8 {
        let mut summary = inner::summary(packet).unwrap();
        classify(services, "hub", packet, &mut summary);
        summary.service
    }

    #[test]
    fn a_packet_is_of_the_first_service_of_which_all_holds() {
        let network = |text: &str| crate::daemon::site::Prefix::parse(text).unwrap();
        let services = [
            Service { ports: vec![5060..=5061, 10_000..=20_000], protocol: Protocol::Udp, ..service() },
            Service { dscp: vec![46, 34], networks: vec![network("192.0.2.0/24")], ..service() },
            Service { protocol: Protocol::Tcp, ..service() },
            Service { peer: Some("phone".to_owned()), ..service() },
            Service { networks: vec![network("10.0.0.0/8"), network("fd00::/8")], ..service() },
        ];
        let of = |from, to, tos| number(&services, &packet(from, to, tos));
        assert_eq!([of(5060, 9, 0), of(9, 20_000, 0), of(5061, 9, 46 << 2), of(10_000, 9, 1)], [1; 4]);
        assert_eq!([of(5059, 9, 46 << 2), of(9, 20_001, 34 << 2 | 3)], [2; 2], "either code point, whatever ECN says");
        assert_eq!([of(5062, 9, 45 << 2), of(9, 9_999, 0)], [5; 2]);
        let mut tcp = packet(5060, 9, 0);
        tcp[9] = TCP;
        assert_eq!(number(&services, &tcp), 3);
        // A later fragment shows no ports, and one that is cut off has none.
        let mut later = packet(5060, 9, 0);
        later[7] = 1;
        assert_eq!(number(&services, &later), 5);
        assert_eq!(number(&services, &packet(5060, 9, 0)[..22]), 5);
        assert_eq!(number(&services[..4], &packet(9, 9, 0)), 0, "of a peer that it does not go to");
        assert_eq!(number(&[], &packet(5060, 9, 0)), 0);
    }

    #[test]
    fn ports_of_ipv6_count_and_a_network_of_the_other_family_does_not() {
        let mut packet = vec![0x6b, 0x80, 0, 0, 0, 8, UDP, 64];
        packet.extend([0xfd; 16]);
        packet.extend([0x20; 16]);
        packet.extend([0x13, 0xc4, 0, 9, 0, 8, 0, 0]);
        let any = crate::daemon::site::Prefix::parse("0.0.0.0/0").unwrap();
        let other = Service { networks: vec![any], ..service() };
        let ports = Service { ports: vec![5060..=5060], dscp: vec![46], ..service() };
        assert_eq!(number(&[other, ports], &packet), 2);
    }

    #[test]
    fn services_share_no_bucket() {
        let services: Vec<Service> =
            (0..u16::from(SERVICES_MAX)).map(|at| Service { ports: vec![1 + at..=1 + at], ..service() }).collect();
        let mut of_bucket = std::collections::BTreeMap::new();
        for (to, from) in (0..20).flat_map(|to| (1_000..1_400).map(move |from| (to, from))) {
            let packet = packet(from, to, 0);
            let mut summary = inner::summary(&packet).unwrap();
            classify(&services, "hub", &packet, &mut summary);
            assert!(summary.bucket < BUCKETS);
            assert_eq!(*of_bucket.entry(summary.bucket).or_insert(summary.service), summary.service);
        }
        assert_eq!(of_bucket.len(), usize::from(BUCKETS), "each has its own, and all are used");
    }

    #[test]
    fn a_link_carries_what_names_it_at_either_end_and_if_it_is_metered_what_may_be() {
        let only = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let services = [
            Service { only: only(&["dsl", "fibre"]), ..service() },
            Service { may_be_metered: false, ..service() },
            Service { only: only(&["lte"]), may_be_metered: false, ..service() },
        ];
        let carried = |names: &[&str], is_metered| {
            let carried = carried_by(&services, names, is_metered);
            (0..4).filter(|number| carried.has(*number)).collect::<Vec<u8>>()
        };
        assert_eq!(carried(&["eth0", "dsl"], false), [0, 1, 2]);
        assert_eq!(carried(&["fibre"], true), [0, 1]);
        assert_eq!(carried(&["lte"], true), [0]);
        assert_eq!(carried(&["lte"], false), [0, 2, 3]);
        assert_eq!(carried(&["any"], false), [0, 2]);
    }
}
