//! Makes the multi-link devices of a scenario.

use super::super::device::{MultiLinkDevice, Peer, Way};
use super::super::id::{DeviceId, MultiLinkEnd, RadioId, Table};
use super::super::radio_map::RadioMap;
use super::build::kinds;
use super::mac::RadioMac;
use super::radio::RadioPort;
use crate::scenario::spec::{Mac, MultiLinkTrunk, Spec};
use airbraid_mac::edca::{MultiLink, PeerTraits};

type Radios = Table<RadioId, RadioPort>;

/// The devices of a scenario: each node at which multi-link trunks end is one, with all of their radios.
pub fn devices(spec: &Spec, radio_map: &RadioMap, radios: &mut Radios) -> Table<DeviceId, MultiLinkDevice> {
    let mut devices: Table<DeviceId, MultiLinkDevice> = Table::default();
    let kinds = kinds(spec, radio_map);
    for node in 0..spec.nodes.len() {
        let links = spec.device_links(node);
        let Some(Mac::Edca(config)) = links.first().map(|first| &spec.nodes[node].radios[*first].mac) else { continue };
        let id = DeviceId::new(devices.ids().count());
        let links = links.into_iter().map(|radio| radio_map.id((node, radio))).collect();
        let mut device = MultiLinkDevice::new(MultiLink::new(config, &kinds), links);
        for (place, radio) in (0..).zip(&device.links) {
            radios[*radio].join(&mut device.shared, (id, place));
        }
        for (index, trunk) in spec.multi_link_trunks().enumerate() {
            for side in (0..2).filter(|side| trunk.between[*side] == node) {
                if let Some(delays) = trunk.emlsr[side] {
                    device.shared.share_radio(delays);
                }
                if let Some(switch_delay) = trunk.single[side] {
                    device.shared.keep_one_awake(switch_delay);
                }
                let end = MultiLinkEnd::of(index, side);
                let peer = peer(trunk, end, radio_map, radios, &mut device);
                device.peers.extend(peer);
            }
        }
        couple(spec, node, radio_map, &mut device);
        devices.push(device);
    }
    devices
}

/// The device learns which of its links, or of its peers', disturb each other.
fn couple(spec: &Spec, node: usize, radio_map: &RadioMap, device: &mut MultiLinkDevice) {
    for trunk in spec.multi_link_trunks() {
        for side in (0..2).filter(|side| trunk.between[*side] == node) {
            let radio = |member: usize, side: usize| radio_map.id((trunk.between[side], trunk.members[member][side]));
            let place = |member: usize| device.links.iter().position(|link| *link == radio(member, side));
            let places = |pair: &[usize; 2]| Some([place(pair[0])? as u8, place(pair[1])? as u8]);
            let of = |side: usize| trunk.pairs[side].iter().filter_map(places).collect::<Vec<_>>();
            let (own, others, peer) = (of(side), of(1 - side), radio(0, 1 - side).address());
            own.into_iter().for_each(|pair| device.shared.couple(pair, trunk.medium_sync));
            others.into_iter().for_each(|pair| device.shared.couple_peer(peer, pair));
        }
    }
}

/// The other end of a trunk, to which each member is a way.
fn peer(
    trunk: &MultiLinkTrunk,
    end: MultiLinkEnd,
    radio_map: &RadioMap,
    radios: &mut Radios,
    own: &mut MultiLinkDevice,
) -> Option<Peer> {
    let side = end.side();
    let radio = |member: &[usize; 2], side: usize| radio_map.id((trunk.between[side], member[side]));
    let (requests, emlsr, allocation) = (trunk.request_link, trunk.emlsr[1 - side], trunk.allocation);
    let traits = PeerTraits { requests, emlsr, allocation, is_single: trunk.single[1 - side].is_some() };
    let first = trunk.members.first()?;
    let (entrance, device) = (radio(first, side), radio(first, 1 - side).address());
    let mut ways = Vec::with_capacity(trunk.members.len());
    for (member, tids) in trunk.members.iter().zip(&trunk.tids) {
        let (here, address) = (radio(member, side), radio(member, 1 - side).address());
        if let RadioMac::Edca(mac) = radios[here].mac_mut() {
            own.shared.add_way(mac, [address, device], *tids, traits);
        }
        ways.extend((0..).zip(&own.links).find(|(_, link)| **link == here).map(|(place, _)| Way::new(address, place)));
    }
    if let (Some(_), RadioMac::Edca(mac)) = (trunk.single[side], radios[entrance].mac_mut()) {
        own.shared.begin(mac);
    }
    Some(Peer { end, ways, entrance, held: Default::default() })
}
