//! Flows at work: applications write, TCP and UDP make packets, what arrives is counted.
//!
//! A packet that is made here is given to the network layer by whoever called.

use super::flow::{Flow, Transport};
use super::frame::PacketRef;
use super::greedy::GreedyFlows;
use super::host::{Host, Work};
use super::id::{FlowId, FlowMachine, FlowPart, HostAddress, NodeId, PortId, Table};
use super::observe::Level;
use super::packet::{Body, NewPacket, Record};
use super::wakeups::MachineId;
use airbraid_engine::step;
use airbraid_net::source::{ApplicationInput, ApplicationOutput};
use airbraid_net::tcp::{ReceiverInput, ReceiverOutput, Segment, SenderInput, SenderOutput};
use airbraid_units::{Bytes, Instant};

/// All flows.
#[derive(Debug)]
pub struct Flows {
    pub table: Table<FlowId, Flow>,
    /// Nothing is counted before.
    pub warm_up: Instant,
    greedy: GreedyFlows,
}

impl Flows {
    pub fn new(table: Table<FlowId, Flow>, warm_up: Instant) -> Self {
        let mut greedy = GreedyFlows::default();
        for (id, flow) in table.pairs().filter(|(_, flow)| flow.is_greedy) {
            if let Transport::Udp { port: Some(port), .. } = &flow.transport {
                greedy.add(*port, id);
            }
        }
        Self { table, warm_up, greedy }
    }

    /// Whether any flow keeps its port's queue full.
    pub fn has_greedy(&self) -> bool {
        self.table.iter().any(|flow| flow.is_greedy)
    }

    pub fn start(&mut self, flow: FlowId, host: &mut Host<'_>) {
        if let Transport::Tcp(_) = self.table[flow].transport {
            self.step_sender(flow, Some(SenderInput::Open), host);
        }
        self.step_application(flow, Some(ApplicationInput::Start), host);
    }

    pub fn stop(&mut self, flow: FlowId, host: &mut Host<'_>) {
        self.step_application(flow, Some(ApplicationInput::Stop), host);
    }

    /// Counting begins: what TCP has counted so far is set aside.
    pub fn begin_counting(&mut self) {
        for flow in self.table.iter_mut() {
            if let Transport::Tcp(connection) = &mut flow.transport {
                connection.before = *connection.sender.stats();
            }
        }
    }

    /// Values of the series.
    pub fn sample_sequences(&mut self) {
        for flow in self.table.iter_mut() {
            flow.counts.sequences.push(flow.counts.sequence as f64);
        }
    }
}

/// Applications, and what they write.
impl Flows {
    pub fn step_application(&mut self, flow: FlowId, input: Option<ApplicationInput>, host: &mut Host<'_>) {
        let mut outputs = arrayvec::ArrayVec::<ApplicationOutput, 4>::new();
        let wake = step(&mut self.table[flow].application, host.now, input, |output| outputs.push(output));
        host.wakeups.arm(host.now, MachineId::Flow(FlowMachine::of(flow, FlowPart::Application)), wake);
        for output in outputs {
            match self.table[flow].transport {
                Transport::Tcp(_) => self.step_sender(flow, Some(tcp_input(output)), host),
                Transport::Udp { .. } => self.write_datagrams(flow, output, host),
            }
        }
    }

    fn write_datagrams(&mut self, flow: FlowId, output: ApplicationOutput, host: &mut Host<'_>) {
        let Transport::Udp { payload, unsent, port, .. } = &mut self.table[flow].transport else { return };
        match output {
            // A constant rate writes datagram by datagram; a larger write is sent as the port takes it.
            ApplicationOutput::Write(size) if size.as_u64() <= u64::from(*payload) => {
                host.pending.push_back(Work::SendDatagram(flow));
                return;
            }
            ApplicationOutput::Write(size) => *unsent += size.as_u64(),
            ApplicationOutput::WriteForever => *unsent = u64::MAX,
            // A file is closed as soon as it is written, but not before it is sent; a stop ends what never would.
            ApplicationOutput::Close if *unsent == u64::MAX => *unsent = 0,
            ApplicationOutput::Close => {}
        }
        if let Some(port) = *port {
            host.refill(port);
        }
    }

    /// Gives the turn to the next greedy flow that leaves by a port, if there is space for its datagram: it sends one
    /// of what is unsent.
    pub fn take_turn(&mut self, port: PortId, has_space: impl Fn(PortId, u8) -> bool) -> Option<FlowId> {
        let Self { table, greedy, .. } = self;
        let id = greedy.take_turn(port, |id| {
            let flow = &table[id];
            let Transport::Udp { port, unsent, .. } = &flow.transport else { return false };
            port.is_some_and(|port| *unsent > 0 && has_space(port, flow.priority))
        })?;
        if let Transport::Udp { unsent, payload, .. } = &mut table[id].transport
            && *unsent != u64::MAX
        {
            *unsent = unsent.saturating_sub(u64::from(*payload));
        }
        Some(id)
    }

    /// A flow of datagrams leaves by another port.
    pub fn move_to(&mut self, flow: FlowId, to: Option<PortId>) {
        let Transport::Udp { port, .. } = &mut self.table[flow].transport else { return };
        let from = std::mem::replace(port, to);
        if self.table[flow].is_greedy {
            from.into_iter().for_each(|port| self.greedy.remove(port, flow));
            to.into_iter().for_each(|port| self.greedy.add(port, flow));
        }
    }
}

/// Packets that are made.
impl Flows {
    /// The next datagram of a flow, and the node that it leaves.
    pub fn datagram(&mut self, flow: FlowId, host: &mut Host<'_>) -> Option<(NodeId, PacketRef)> {
        let state = &mut self.table[flow];
        let Transport::Udp { payload, len, number, .. } = &mut state.transport else { return None };
        let body = Body::Datagram { payload: *payload, number: *number };
        *number += 1;
        let (from, addresses, len) = (state.from, state.addresses, *len);
        Some((from, self.packet(flow, addresses, len, body, host)))
    }

    /// A segment from a flow's sender, and the node that it leaves.
    pub fn data(&mut self, flow: FlowId, segment: Segment, host: &mut Host<'_>) -> (NodeId, PacketRef) {
        let Flow { from, addresses, ref mut counts, .. } = self.table[flow];
        counts.on_segment(segment.seq, segment.len);
        let len = segment.packet_len().as_u64() as u32;
        (from, self.packet(flow, addresses, len, Body::Data(segment), host))
    }

    /// A segment from a flow's receiver, and the node that it leaves.
    pub fn acknowledgement(&mut self, flow: FlowId, segment: Segment, host: &mut Host<'_>) -> (NodeId, PacketRef) {
        let Flow { to, addresses: [source, destination], ref mut acknowledged, .. } = self.table[flow];
        let advances = segment.ack > *acknowledged && segment.sack.is_empty();
        *acknowledged = segment.ack.max(*acknowledged);
        let len = segment.packet_len().as_u64() as u32;
        let mut packet = self.packet(flow, [destination, source], len, Body::Ack(segment), host);
        if advances && packet.marks.is_acknowledgement() {
            packet.marks = packet.marks.advancing();
        }
        (to, packet)
    }

    /// A packet with the addresses of source and destination that it bears on its way.
    fn packet(
        &mut self,
        flow: FlowId,
        [from, to]: [HostAddress; 2],
        len: u32,
        body: Body,
        host: &mut Host<'_>,
    ) -> PacketRef {
        let Flow { class, priority, ref mut counts, .. } = self.table[flow];
        let packet = host.packets.create(NewPacket { flow, from, to, len, class, priority, created: host.now, body });
        counts.started.get_or_insert(host.now);
        if host.now >= self.warm_up && !matches!(body, Body::Ack(_)) {
            counts.on_sent(host.now);
        }
        packet
    }
}

/// Packets that have arrived.
impl Flows {
    /// A packet has reached the transport at its node.
    pub fn on_delivery(&mut self, record: &Record, host: &mut Host<'_>) {
        let counts = &mut self.table[record.flow].counts;
        if host.now >= self.warm_up && !matches!(record.body, Body::Ack(_)) {
            counts.packets.received_packets += 1;
            let delay = (host.now - record.created).saturating_sub(host.early);
            // An empty queue and a short frame: a SYN would always be the smallest.
            if record.body.has_payload() {
                counts.delay.record(delay);
            }
            counts.packets.on_time += u64::from(counts.deadline.is_some_and(|limit| delay <= limit));
        }
        match record.body {
            Body::Data(segment) => self.step_receiver(record.flow, Some(segment), host),
            Body::Ack(segment) => self.step_sender(record.flow, Some(SenderInput::Segment(segment)), host),
            Body::Datagram { payload, number } => {
                counts.order(number);
                counts.goodput.add(host.now, u64::from(payload));
                if host.now >= self.warm_up {
                    counts.feed(host.now);
                    counts.packets.delivered_bytes += u64::from(payload);
                    counts.packets.ip_bytes += u64::from(record.len);
                }
            }
            Body::External { .. } => {}
        }
    }

    pub fn step_sender(&mut self, flow: FlowId, input: Option<SenderInput>, host: &mut Host<'_>) {
        let Host { now, pending, wakeups, account, observer, .. } = host;
        let Flow { transport: Transport::Tcp(connection), counts, .. } = &mut self.table[flow] else { return };
        let by_timer = input.is_none();
        let wake = step(&mut connection.sender, *now, input, |output| match output {
            SenderOutput::Segment(segment) => pending.push_back(Work::SendData(flow, segment)),
            SenderOutput::Connected => {}
            SenderOutput::Finished => counts.completed = counts.completed.or(Some(*now)),
        });
        if let Some(account) = account
            && account.on_step(*now, flow, connection.sender.limit(), by_timer)
        {
            pending.push_back(Work::CloseInterval(flow));
        }
        wakeups.arm(*now, MachineId::Flow(FlowMachine::of(flow, FlowPart::Sender)), wake);
        if let Some(observer) = observer.as_deref_mut() {
            let sender = &connection.sender;
            observer.on_level(*now, Level::CongestionWindow(flow), sender.cwnd().as_u64());
            observer.on_level(*now, Level::FlightSize(flow), sender.flight_size().as_u64());
            observer.on_level(*now, Level::ReceiveWindow(flow), sender.offered().as_u64());
        }
    }

    pub fn step_receiver(&mut self, flow: FlowId, segment: Option<Segment>, host: &mut Host<'_>) {
        let Host { now, pending, wakeups, .. } = host;
        let Self { table, warm_up, .. } = self;
        let Flow { transport: Transport::Tcp(connection), counts, .. } = &mut table[flow] else { return };
        let input = segment.map(ReceiverInput::Segment);
        let headers = segment.map_or(0, |segment| segment.packet_len().as_u64() - u64::from(segment.len));
        let repeated = connection.receiver.stats().duplicates;
        let wake = step(&mut connection.receiver, *now, input, |output| match output {
            ReceiverOutput::Segment(segment) => pending.push_back(Work::SendAck(flow, segment)),
            ReceiverOutput::Delivered(bytes) => {
                counts.goodput.add(*now, bytes.as_u64());
                if *now >= *warm_up {
                    counts.feed(*now);
                    counts.packets.delivered_bytes += bytes.as_u64();
                }
            }
            ReceiverOutput::Finished => counts.completed = counts.completed.or(Some(*now)),
        });
        if let Some(segment) = segment {
            let is_new = connection.receiver.stats().duplicates == repeated;
            counts.on_arrival(segment.seq, segment.len, is_new);
            // Throughput counts the packets that brought something, as ns-2's sink does.
            if is_new && segment.len > 0 && *now >= *warm_up {
                counts.packets.ip_bytes += u64::from(segment.len) + headers;
            }
        }
        wakeups.arm(*now, MachineId::Flow(FlowMachine::of(flow, FlowPart::Receiver)), wake);
    }
}

fn tcp_input(output: ApplicationOutput) -> SenderInput {
    match output {
        ApplicationOutput::Write(Bytes::ZERO) | ApplicationOutput::Close => SenderInput::Close,
        ApplicationOutput::Write(size) => SenderInput::Write(size),
        ApplicationOutput::WriteForever => SenderInput::WriteForever,
    }
}
