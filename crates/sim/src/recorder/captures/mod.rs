//! Captures: `run.pcapng` with the frames of all radios and links and the packets above trunks, in the order of time,
//! and for each host that is an end of a flow its packets alone, as somebody there would capture them.
//!
//! A frame or packet stands where it ends, or comes by: there a host has it whole. The field TSFT of radiotap has the
//! beginning of a frame.

mod air;
mod body;
mod interfaces;
mod link;
mod packet;

use super::stations::Stations;
use crate::record::pcapng::{Capture, Captured, Direction, Interface, LinkType};
use crate::record::radiotap::ChannelField;
use crate::record::sink::Sink;
use crate::scenario::spec::Spec;
use crate::world::{FrameEvent, Loss, Msdu, Observer, PacketId, Passage, Place, RadioId};
use air::{Air, Intact, SNAP_LENGTH};
use airbraid_mac::phy::Phy;
use airbraid_mac::{Access, Frame};
use airbraid_units::Instant;
use body::BodyWriter;
use interfaces::{Interfaces, names};
use packet::PacketWriter;
use std::cell::RefCell;

/// The file of everything that is captured of a run, but for what hosts see.
pub const CAPTURE: &str = "run.pcapng";

/// Comments in the files, which Wireshark shows among their properties.
const COMMENT: &str = "Everything that was captured of a run: the same segment of TCP comes by at several interfaces, \
and Wireshark takes the later ones for retransmissions. ip-NODE.pcapng has each packet of a host once. \
`airbraid wireshark --install` adds the headers of trunks and tunnels.";
const HOST_COMMENT: &str = "The packets of a host, between its transports and its network layer.";

/// The bytes of packets from outside, by handle.
pub type Payloads = RefCell<Vec<Vec<u8>>>;

/// The captures of a run.
pub struct Captures<'a> {
    stations: Stations<'a>,
    bodies: BodyWriter<'a>,
    interfaces: Interfaces,
    air: Air,
    run: Option<Capture<Sink>>,
    /// By node; `None`: it is no end of a flow.
    hosts: Vec<Option<Capture<Sink>>>,
    /// The last packet that came by, whose bytes are in the buffer, and its whole length.
    last: Option<(LastPacket, usize)>,
    packet: Vec<u8>,
}

/// A packet that comes by two places one after the other, such as a host and a trunk: its entry, when it was made, and
/// its hops.
type LastPacket = (PacketId, Instant, u8);

impl std::fmt::Debug for Captures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Captures").finish_non_exhaustive()
    }
}

impl<'a> Captures<'a> {
    /// Captures of what the scenario names, or of everything; each in the sink that `create` makes of a file name.
    pub fn new(
        stations: Stations<'a>,
        all: bool,
        payloads: Option<&'a Payloads>,
        create: &mut dyn FnMut(&str) -> Sink,
    ) -> Self {
        let spec = stations.spec;
        let everything = all || spec.record.pcap.is_all();
        let interfaces = Interfaces::new(&stations, everything);
        let names = names(spec);
        let run = Some(Capture::new(create(CAPTURE), &names, &interfaces.all, COMMENT));
        let is_host = |node: usize| {
            // Packets from outside have no flow.
            everything && (payloads.is_some() || spec.flows.iter().any(|flow| flow.from == node || flow.to == node))
        };
        let mut host = |node: usize| {
            let interface = host_interface(spec, node);
            let file = format!("ip-{}.pcapng", interface.name.replace('/', "_"));
            Capture::new(create(&file), &names, &[interface], HOST_COMMENT)
        };
        let hosts = (0..spec.nodes.len()).map(|node| is_host(node).then(|| host(node))).collect();
        let bodies = BodyWriter::new(PacketWriter::new(spec, payloads), &stations);
        Self { air: Air::new(&stations), stations, bodies, interfaces, run, hosts, last: None, packet: Vec::new() }
    }

    /// Writes the own frames of radios that have ended by `now`.
    fn catch_up(&mut self, now: Instant) {
        while let Some((radio, start, end)) = self.air.next_ended(now) {
            self.write_frame(radio, None, (radio, start, end), (None, Intact::All));
        }
    }

    /// Writes a frame at a radio; `heard` is the frame if it is not its own.
    fn write_frame(
        &mut self,
        radio: RadioId,
        heard: Option<&Frame<Msdu>>,
        when: (RadioId, Instant, Instant),
        reception: (Option<f64>, Intact<'_>),
    ) {
        let (Some(interface), Some(run)) = (self.interfaces.radios[radio.index()], &mut self.run) else { return };
        let stations = &self.stations;
        let channel =
            |phy: Phy| ChannelField::new(phy.standard, heard.map_or(0, |frame| stations.channel(frame, radio)));
        self.air.write(radio, when, reception, channel, |captured| run.write(&Captured { interface, ..*captured }));
    }

    /// Puts the bytes of a packet or frame into the buffer; returns the whole length.
    fn put(&mut self, passage: &Passage<'_>) -> usize {
        let Passage { place, packet, packets, .. } = *passage;
        let record = packets.get(packet);
        let key = packets.frame(packet).is_none().then_some((packet.id, record.created, record.hops));
        if let Some((last, original)) = &self.last
            && Some(last) == key.as_ref()
        {
            return *original;
        }
        self.packet.clear();
        let writer = &self.bodies.packets;
        let zeros = match place {
            Place::Link(direction) => link::append(&mut self.packet, direction, packet, packets, writer),
            _ => writer.append(&mut self.packet, record, None),
        };
        let original = self.packet.len() + zeros;
        if original <= SNAP_LENGTH {
            self.packet.resize(original, 0);
        } else {
            self.packet.truncate(SNAP_LENGTH);
        }
        self.last = key.map(|key| (key, original));
        original
    }
}

fn host_interface(spec: &Spec, node: usize) -> Interface {
    let name = spec.nodes[node].name.clone();
    Interface { name, description: format!("node {node}"), link_type: LinkType::Ip, mac_address: None }
}

impl Observer for Captures<'_> {
    fn on_transmission(&mut self, now: Instant, event: &FrameEvent<'_>, _: Access) {
        self.catch_up(now);
        self.air.begin(event, &self.bodies, &self.stations);
    }

    fn on_reception(&mut self, now: Instant, event: &FrameEvent<'_>, signal_dbm: f64, result: Result<(), Loss>) {
        self.catch_up(now);
        let when = (RadioId::of(event.frame.from), event.start, event.end);
        let intact = match (result, event.intact) {
            (Err(_), _) => Intact::Nothing,
            (Ok(()), None) => Intact::All,
            (Ok(()), Some(set)) => Intact::Some(set),
        };
        self.write_frame(event.radio, Some(event.frame), when, (Some(signal_dbm), intact));
    }

    fn on_passage(&mut self, now: Instant, passage: Passage<'_>) {
        self.catch_up(now);
        if matches!(passage.place, Place::Host(_)) && !passage.is_arrival {
            // It is new, though its entry may be that of one that is gone.
            self.last = None;
        }
        let interface = self.interfaces.at(passage.place, passage.is_arrival);
        let is_captured = match passage.place {
            Place::Host(node) => self.hosts[node.index()].is_some(),
            _ => interface.is_some(),
        };
        if !is_captured {
            return;
        }
        let original = self.put(&passage);
        let direction = if passage.is_arrival { Direction::Inbound } else { Direction::Outbound };
        let capture = match passage.place {
            Place::Host(node) => &mut self.hosts[node.index()],
            _ => &mut self.run,
        };
        if let Some(capture) = capture {
            let pieces = [&self.packet[..], &[], &[]];
            capture.write(&Captured { interface: interface.unwrap_or(0), time: now, direction, pieces, original });
        }
    }

    fn on_end(&mut self, _: Instant) {
        self.catch_up(Instant::MAX);
        self.run.take().into_iter().chain(self.hosts.drain(..).flatten()).for_each(|capture| {
            capture.finish();
        });
    }
}
