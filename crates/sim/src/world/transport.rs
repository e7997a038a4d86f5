//! Transports at work: applications write, TCP and UDP make packets, what arrives is counted.

use super::alarms::Sleeper;
use super::flow::{Flow, Transport};
use super::packet::{Body, NewPacket, PacketRef};
use super::routing::NextHop;
use super::{Work, World};
use airbraid_engine::step;
use airbraid_net::source::{ApplicationInput, ApplicationOutput};
use airbraid_net::tcp::{ReceiverInput, ReceiverOutput, Segment, SenderInput, SenderOutput};
use airbraid_units::Bytes;

impl World<'_> {
    pub(super) fn start_flow(&mut self, flow: u32) {
        self.place_flow(flow);
        if let Transport::Tcp(_) = self.flows[flow as usize].transport {
            self.step_sender(flow, Some(SenderInput::Open));
        }
        self.step_application(flow, Some(ApplicationInput::Start));
    }

    pub(super) fn stop_flow(&mut self, flow: u32) {
        self.step_application(flow, Some(ApplicationInput::Stop));
    }

    /// Counting begins: what TCP has counted so far is set aside.
    pub(super) fn begin_counting(&mut self) {
        for flow in &mut self.flows {
            if let Transport::Tcp(connection) = &mut flow.transport {
                connection.before = *connection.sender.stats();
            }
        }
    }

    pub(super) fn step_application(&mut self, flow: u32, input: Option<ApplicationInput>) {
        let mut outputs = arrayvec::ArrayVec::<ApplicationOutput, 4>::new();
        let state = &mut self.flows[flow as usize];
        let wake = step(&mut state.application, self.now, input, |output| outputs.push(output));
        self.alarms.arm(self.now, Sleeper::Application(flow), wake);
        for output in outputs {
            match self.flows[flow as usize].transport {
                Transport::Tcp(_) => self.step_sender(flow, Some(tcp_input(output))),
                Transport::Udp { .. } => self.write_datagrams(flow, output),
            }
        }
    }

    fn write_datagrams(&mut self, flow: u32, output: ApplicationOutput) {
        let Transport::Udp { payload, unsent, hop, .. } = &mut self.flows[flow as usize].transport else { return };
        match output {
            // A constant rate writes datagram by datagram; a larger write is sent as the interface takes it.
            ApplicationOutput::Write(size) if size.as_u64() <= u64::from(*payload) => {
                self.pending.push_back(Work::SendDatagram(flow));
                return;
            }
            ApplicationOutput::Write(size) => *unsent += size.as_u64(),
            ApplicationOutput::WriteForever => *unsent = u64::MAX,
            // A file is closed as soon as it is written, but not before it is sent; a stop ends what never would.
            ApplicationOutput::Close if *unsent == u64::MAX => *unsent = 0,
            ApplicationOutput::Close => {}
        }
        if let Some(hop) = *hop {
            self.refill(hop);
        }
    }

    /// An interface may have room again: greedy flows that leave by it fill it, in turn, until its queue is full.
    pub(super) fn refill(&mut self, interface: NextHop) {
        if !self.greedy_flows.is_empty() {
            self.pending.push_back(Work::Refill(interface));
        }
    }

    /// Sends one datagram of the next greedy flow that leaves by an interface with room, and looks again.
    pub(super) fn refill_one(&mut self, interface: NextHop) {
        let count = self.greedy_flows.len();
        let turn = if self.greedy_turn < count { self.greedy_turn } else { 0 };
        for place in (turn..count).chain(0..turn) {
            let flow = self.greedy_flows[place];
            let Transport::Udp { hop, unsent, .. } = &self.flows[flow as usize].transport else {
                continue;
            };
            let Some(hop) = hop.filter(|hop| *unsent > 0 && hop.is_same_interface(interface)) else { continue };
            if !self.has_room(hop) {
                continue;
            }
            let Transport::Udp { unsent, payload, .. } = &mut self.flows[flow as usize].transport else { continue };
            if *unsent != u64::MAX {
                *unsent = unsent.saturating_sub(u64::from(*payload));
            }
            self.greedy_turn = place + 1;
            self.send_datagram(flow);
            self.refill(interface);
            return;
        }
    }

    fn has_room(&self, interface: NextHop) -> bool {
        let (waiting, limit) = match interface {
            NextHop::Radio { radio, neighbour } => {
                let station = &self.stations[radio as usize];
                if let Some(has_room) = station.mac.room_towards(neighbour) {
                    return has_room;
                }
                if let Some(end) = station.link_layer_towards(neighbour) {
                    return self.link_layers[end as usize].has_room();
                }
                let buffered = self.on_demand.as_ref().map_or(0, |on_demand| on_demand.buffered(station.node));
                (station.mac.queue_len() + buffered, station.queue_limit)
            }
            NextHop::Trunk(end) => {
                let state = &self.trunks[end as usize];
                if let Some(has_room) = self.selection_has_room(end) {
                    return has_room;
                }
                (state.trunk.queue_len(), state.queue_limit)
            }
            NextHop::Link(direction) => self.link_queue(direction),
            NextHop::Tunnel(end) => {
                let state = &self.tunnels[end as usize];
                (state.tunnel.queue_len(), state.queue_limit)
            }
        };
        waiting < limit as usize
    }

    pub(super) fn send_datagram(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let Transport::Udp { payload, len, number, .. } = &mut state.transport else { return };
        let body = Body::Datagram { payload: *payload, number: *number };
        *number += 1;
        let (from, addresses, len) = (state.from, state.addresses, *len);
        self.send_packet(flow, from, addresses, len, body);
    }

    pub(super) fn send_data(&mut self, flow: u32, segment: Segment) {
        let Flow { from, addresses, ref mut counts, .. } = self.flows[flow as usize];
        counts.on_segment(segment.seq, segment.len);
        self.send_packet(flow, from, addresses, segment.packet_len().as_u64() as u32, Body::Data(segment));
    }

    pub(super) fn send_ack(&mut self, flow: u32, segment: Segment) {
        let Flow { to, addresses: [source, destination], .. } = self.flows[flow as usize];
        self.send_packet(flow, to, [destination, source], segment.packet_len().as_u64() as u32, Body::Ack(segment));
    }

    /// Sends a packet from a node, with the addresses of source and destination that it bears on its way.
    fn send_packet(&mut self, flow: u32, node: u32, [from, to]: [u32; 2], len: u32, body: Body) {
        let class = self.flows[flow as usize].class;
        let packet = self.packets.create(NewPacket { flow, from, to, len, class, created: self.now, body });
        let counts = &mut self.flows[flow as usize].counts;
        counts.started.get_or_insert(self.now);
        if self.now >= self.warm_up && !matches!(body, Body::Ack(_)) {
            counts.on_sent(self.now);
        }
        self.send(node, packet);
    }

    /// A packet has reached the node that it is for.
    pub(super) fn deliver(&mut self, node: u32, packet: PacketRef) {
        let record = *self.packets.get(packet);
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_delivery(self.now, node, &record);
        }
        if let Body::External { handle, .. } = record.body {
            self.deliver_external(node, packet, handle);
            return;
        }
        let counts = &mut self.flows[record.flow as usize].counts;
        if self.now >= self.warm_up && !matches!(record.body, Body::Ack(_)) {
            counts.received_packets += 1;
            counts.delay.record(self.now - record.created);
            counts.on_time += u64::from(counts.deadline.is_some_and(|limit| self.now - record.created <= limit));
        }
        self.packets.deliver(packet);
        match record.body {
            Body::Data(segment) => self.step_receiver(record.flow, Some(segment)),
            Body::Ack(segment) => self.step_sender(record.flow, Some(SenderInput::Segment(segment))),
            Body::Datagram { payload, number } => {
                self.flows[record.flow as usize].counts.order(number);
                self.count_delivery(record.flow, payload, record.len);
            }
            Body::External { .. } => {}
        }
    }

    /// Bytes have reached the application.
    fn count_delivery(&mut self, flow: u32, payload: u32, ip_len: u32) {
        let counts = &mut self.flows[flow as usize].counts;
        counts.goodput.add(self.now, u64::from(payload));
        if self.now >= self.warm_up {
            counts.feed(self.now);
            counts.delivered_bytes += u64::from(payload);
            counts.ip_bytes += u64::from(ip_len);
        }
    }

    pub(super) fn step_sender(&mut self, flow: u32, input: Option<SenderInput>) {
        let Self { flows, alarms, pending, now, .. } = self;
        let Flow { transport: Transport::Tcp(connection), counts, .. } = &mut flows[flow as usize] else { return };
        let wake = step(&mut connection.sender, *now, input, |output| match output {
            SenderOutput::Segment(segment) => pending.push_back(Work::SendData(flow, segment)),
            SenderOutput::Connected => {}
            SenderOutput::Finished => counts.completed = counts.completed.or(Some(*now)),
        });
        alarms.arm(*now, Sleeper::Sender(flow), wake);
    }

    pub(super) fn step_receiver(&mut self, flow: u32, segment: Option<Segment>) {
        let Self { flows, alarms, pending, now, warm_up, .. } = self;
        let Flow { transport: Transport::Tcp(connection), counts, .. } = &mut flows[flow as usize] else { return };
        let input = segment.map(ReceiverInput::Segment);
        let headers = segment.map_or(0, |segment| segment.packet_len().as_u64() - u64::from(segment.len));
        let repeated = connection.receiver.stats().duplicates;
        let wake = step(&mut connection.receiver, *now, input, |output| match output {
            ReceiverOutput::Segment(segment) => pending.push_back(Work::SendAck(flow, segment)),
            ReceiverOutput::Delivered(bytes) => {
                counts.goodput.add(*now, bytes.as_u64());
                if *now >= *warm_up {
                    counts.feed(*now);
                    counts.delivered_bytes += bytes.as_u64();
                }
            }
            ReceiverOutput::Finished => counts.completed = counts.completed.or(Some(*now)),
        });
        if let Some(segment) = segment {
            counts.on_arrival(segment.seq, segment.len, connection.receiver.stats().duplicates == repeated);
        }
        // Throughput counts the packets that brought something: what ns-2's sink counts.
        if let Some(segment) = segment
            && segment.len > 0
            && *now >= *warm_up
        {
            counts.ip_bytes += u64::from(segment.len) + headers;
        }
        alarms.arm(*now, Sleeper::Receiver(flow), wake);
    }
}

fn tcp_input(output: ApplicationOutput) -> SenderInput {
    match output {
        ApplicationOutput::Write(Bytes::ZERO) | ApplicationOutput::Close => SenderInput::Close,
        ApplicationOutput::Write(size) => SenderInput::Write(size),
        ApplicationOutput::WriteForever => SenderInput::WriteForever,
    }
}
