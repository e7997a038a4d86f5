//! Makes the multi-link devices of a scenario.

use super::super::device::{MultiLinkDevice, Peer};
use super::super::frame::Msdu;
use super::super::id::{DeviceId, RadioId, Table};
use super::super::radio_map::RadioMap;
use super::mac::RadioMac;
use super::radio::RadioPort;
use crate::scenario::spec::{Mac, MultiLinkTrunk, Spec};
use airbraid_mac::edca::{MultiLink, PeerTraits};

type Radios = Table<RadioId, RadioPort>;

/// The devices of a scenario: each node at which multi-link trunks end is one, with all of their radios.
pub fn devices(spec: &Spec, radio_map: &RadioMap, radios: &mut Radios) -> Table<DeviceId, MultiLinkDevice> {
    let mut devices: Table<DeviceId, MultiLinkDevice> = Table::default();
    for node in 0..spec.nodes.len() {
        let links = links(spec, node);
        let Some(Mac::Edca(config)) = links.first().map(|first| &spec.nodes[node].radios[*first].mac) else { continue };
        let id = DeviceId::new(devices.ids().count());
        let links = links.into_iter().map(|radio| radio_map.id((node, radio))).collect();
        let mut device = MultiLinkDevice { shared: MultiLink::new(config), links, peers: Vec::new() };
        for (place, radio) in (0..).zip(&device.links) {
            radios[*radio].join(&mut device.shared, (id, place));
        }
        for trunk in spec.multi_link_trunks() {
            for side in (0..2).filter(|side| trunk.between[*side] == node) {
                if let Some(delays) = trunk.emlsr[side] {
                    device.shared.share_radio(delays);
                }
                device.peers.extend(peer(trunk, side, radio_map, radios, &mut device.shared));
            }
        }
        devices.push(device);
    }
    devices
}

/// The radios of a node that are links, in their order.
fn links(spec: &Spec, node: usize) -> Vec<usize> {
    let is_link =
        |radio: &usize| spec.trunks.iter().any(|trunk| trunk.multi_link().is_some() && trunk.has_radio(node, *radio));
    (0..spec.nodes[node].radios.len()).filter(is_link).collect()
}

/// The other end of a trunk, to which each member is a way.
fn peer(
    trunk: &MultiLinkTrunk,
    side: usize,
    radio_map: &RadioMap,
    radios: &mut Radios,
    shared: &mut MultiLink<Msdu>,
) -> Option<Peer> {
    let radio = |member: &[usize; 2], side: usize| radio_map.id((trunk.between[side], member[side]));
    let addresses: Vec<_> = trunk.members.iter().map(|member| radio(member, 1 - side).address()).collect();
    let (requests, emlsr, allocation) = (trunk.request_link, trunk.emlsr[1 - side], trunk.allocation);
    let traits = PeerTraits { requests, emlsr, allocation };
    let (entrance, device) = (radio(trunk.members.first()?, side), *addresses.first()?);
    for ((member, address), tids) in trunk.members.iter().zip(&addresses).zip(&trunk.tids) {
        if let RadioMac::Edca(mac) = radios[radio(member, side)].mac_mut() {
            shared.add_way(mac, [*address, device], *tids, traits);
        }
    }
    Some(Peer { addresses, entrance })
}
