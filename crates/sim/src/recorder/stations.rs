//! The radios of a scenario as recordings name them.

use crate::record::Station;
use crate::record::dot11::Bss;
use crate::record::multi_link::MultiLinkElement;
use crate::scenario::spec::{Mac, Radio, Spec};
use crate::world::{Msdu, RadioId};
use airbraid_mac::{Address, Frame};
use std::sync::Arc;

/// The radios of a scenario, by [`RadioId`].
#[derive(Clone, Debug)]
pub struct Stations<'a> {
    pub spec: &'a Spec,
    pub stations: Vec<Station>,
    /// The channel of each radio; `None`: a station with slots is on its access points'.
    channels: Vec<Option<u32>>,
}

impl<'a> Stations<'a> {
    pub fn new(spec: &'a Spec) -> Self {
        let of_node = |(node, radios): (u32, usize)| (0..radios as u32).map(move |radio| Station { node, radio });
        let nodes = (0..).zip(spec.nodes.iter().map(|node| node.radios.len()));
        let channel = |radio: &Arc<Radio>| (!matches!(radio.mac, Mac::Slotted(_))).then_some(radio.channel);
        let channels = spec.nodes.iter().flat_map(|node| node.radios.iter().map(channel)).collect();
        Self { spec, stations: nodes.flat_map(of_node).collect(), channels }
    }

    /// The name of each radio: `node/radio`.
    pub fn radio_names(&self) -> Vec<String> {
        let name = |station: &Station| {
            format!("{}/{}", self.spec.nodes[station.node as usize].name, self.radio(*station).name)
        };
        self.stations.iter().map(name).collect()
    }

    /// The station of a frame's address, which is not that of all. A packet killer sends to nobody.
    pub fn of(&self, address: Address) -> Station {
        self.stations.get(RadioId::of(address).index()).copied().unwrap_or(Station::NOBODY)
    }

    pub fn radio(&self, station: Station) -> &'a Radio {
        &self.spec.nodes[station.node as usize].radios[station.radio as usize]
    }

    fn is_access_point(&self, address: Address) -> bool {
        let station = self.stations.get(RadioId::of(address).index());
        station.is_some_and(|station| matches!(self.radio(*station).mac, Mac::AccessPoint(_)))
    }

    pub fn bss(&self, frame: &Frame<Msdu>) -> Bss {
        match (self.is_access_point(frame.from), self.is_access_point(frame.to)) {
            (true, _) => Bss::FromAccessPoint,
            (_, true) => Bss::ToAccessPoint,
            _ => Bss::Independent,
        }
    }

    /// For each radio the one at which its queue is shown: links of a device have one queue, shown at the first.
    pub fn queues(&self) -> Vec<usize> {
        let queue = |(index, station): (usize, &Station)| {
            let links = self.spec.device_links(station.node as usize);
            let own = station.radio as usize;
            if links.contains(&own) { index - own + links[0] } else { index }
        };
        self.stations.iter().enumerate().map(queue).collect()
    }

    /// The name of the queue that the links of a multi-link device share; `None` if a radio is no link.
    pub fn device_queue(&self, station: Station) -> Option<String> {
        let node = station.node as usize;
        let is_link = self.spec.device_links(node).contains(&(station.radio as usize));
        is_link.then(|| format!("device {}", self.spec.nodes[node].name))
    }

    /// The element of a radio's beacons that tells of its multi-link device; `None` if it is no link.
    pub fn multi_link(&self, address: Address) -> Option<MultiLinkElement> {
        let station = self.of(address);
        let node = station.node as usize;
        let links = self.spec.device_links(node);
        let link = links.iter().position(|radio| *radio == station.radio as usize)?;
        let device = Station::of_device(station.node).mac_address();
        Some(MultiLinkElement { device, link: link as u8, links: links.len() as u8 })
    }

    /// The channel that a frame is on at a radio.
    #[inline]
    pub fn channel(&self, frame: &Frame<Msdu>, radio: RadioId) -> u32 {
        self.channels[radio.index()].unwrap_or_else(|| {
            let access_point = [frame.from, frame.to].into_iter().find(|end| self.is_access_point(*end));
            let station = access_point.map_or(self.stations[radio.index()], |end| self.of(end));
            self.radio(station).channel
        })
    }
}
