//! Makes the multi-link devices of a scenario.

use super::super::device::{Device, Peer};
use super::super::id::{DeviceId, RadioId, Table};
use super::super::radio_map::RadioMap;
use super::mac::RadioMac;
use super::radio::RadioPort;
use crate::scenario::spec::{Mac, Spec};
use airbraid_mac::Address;
use airbraid_mac::edca::{MultiLink, RequestLink};

/// The devices of a scenario: each node whose radios are members of multi-link trunks is one.
pub fn devices(spec: &Spec, radio_map: &RadioMap, radios: &mut Table<RadioId, RadioPort>) -> Table<DeviceId, Device> {
    let mut devices: Table<DeviceId, Device> = Table::default();
    for node in 0..spec.nodes.len() {
        let ends = spec.multi_link_trunks().flat_map(|trunk| [(trunk, 0), (trunk, 1)]);
        let own: Vec<_> = ends.filter(|(trunk, side)| trunk.between[*side] == node).collect();
        let mut links: Vec<usize> = own.iter().flat_map(|(t, side)| t.members.iter().map(|m| m[*side])).collect();
        links.sort_unstable();
        links.dedup();
        let Some(Mac::Edca(config)) = links.first().map(|first| &spec.nodes[node].radios[*first].mac) else { continue };
        let any = own.iter().any(|(trunk, _)| trunk.request_link == RequestLink::Any);
        let requests = if any { RequestLink::Any } else { RequestLink::OfData };
        let mut shared = MultiLink::new(config).with_requests(requests);
        let links: Vec<RadioId> = links.into_iter().map(|radio| radio_map.id((node, radio))).collect();
        let id = DeviceId::new(devices.ids().count());
        for (place, radio) in (0..).zip(&links) {
            radios[*radio].join(&mut shared, (id, place));
        }
        let mut peers = Vec::new();
        for (trunk, side) in own {
            let there = trunk.between[1 - side];
            let address = |member: &[usize; 2]| radio_map.id((there, member[1 - side])).address();
            let here = |member: &[usize; 2]| radio_map.id((node, member[side]));
            let addresses: Vec<Address> = trunk.members.iter().map(address).collect();
            let Some((entrance, device)) = trunk.members.first().map(here).zip(addresses.first().copied()) else {
                continue;
            };
            for member in &trunk.members {
                if let RadioMac::Edca(mac) = radios[here(member)].mac_mut() {
                    shared.add_way(mac, address(member), device);
                }
            }
            peers.push(Peer { addresses, entrance });
        }
        devices.push(Device { shared, links, peers });
    }
    devices
}
