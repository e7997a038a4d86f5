//! The event kernel against the clock: one thread, all interfaces, no packet touched but for its address.
//!
//! It sleeps until the next event or packet, carries out what is due, and notes how late each event was. A host's
//! packets are read as soon as they are there: what waits, waits in the queues of the scenario.

use super::plan::Layout;
use super::result::{PortSample, Sample};
use crate::clock::Clock;
use crate::daemon::inner::{Summary, summary};
use crate::tun::Tun;
use airbraid_sim::scenario::mark;
use airbraid_sim::{Delivery, External, NodeId, PayloadHandle, Payloads, World};
use airbraid_units::{Duration, Instant};
use hdrhistogram::Histogram;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// Packets read from one interface before the others have their turn.
const BATCH: usize = 16;
/// Time before an event in which the thread stays awake: the usual time of a wake-up.
const AWAKE: Duration = Duration::from_micros(20);
/// Longest sleep.
const SLEEP_MAX: Duration = Duration::from_millis(200);
/// Longest packet \[byte\].
const PACKET_MAX: usize = 65_536;
/// Largest lateness that is told apart \[ns\].
const LATENESS_MAX_NS: u64 = 60_000_000_000;

#[derive(Debug)]
struct Port {
    tun: Tun,
    /// Whether packets may be there to be read.
    ready: bool,
    sample: PortSample,
    total: PortSample,
}

/// The counts of a driver.
#[derive(Debug)]
pub struct Driven {
    /// Lateness of events \[ns\].
    pub lateness: Histogram<u64>,
    /// The counts of each interface.
    pub ports: Vec<PortSample>,
    /// By interval.
    pub samples: Vec<Sample>,
}

/// Drives a world in real time.
#[derive(Debug)]
pub struct Driver<'a, 'b> {
    world: &'b mut World<'a>,
    layout: &'b Layout,
    clock: Clock,
    ports: Vec<Port>,
    /// Bytes of packets by handle, with the arrival time of each.
    payloads: &'b Payloads,
    came: Vec<Instant>,
    /// The interface at which each packet leaves.
    bound_for: Vec<usize>,
    free: Vec<PayloadHandle>,
    lateness: Histogram<u64>,
    interval: Duration,
    samples: Vec<Sample>,
    deliveries: Vec<Delivery>,
    buffer: Vec<u8>,
}

impl<'a, 'b> Driver<'a, 'b> {
    /// A driver of `world` for the interfaces `tuns` of `layout`.
    ///
    /// # Errors
    /// None that happens: the histogram's bounds are fixed.
    pub fn new(
        world: &'b mut World<'a>,
        layout: &'b Layout,
        tuns: Vec<Tun>,
        payloads: &'b Payloads,
        interval: Duration,
    ) -> io::Result<Self> {
        let port = |tun| Port { tun, ready: true, sample: PortSample::default(), total: PortSample::default() };
        Ok(Self {
            world,
            layout,
            clock: Clock::start(),
            ports: tuns.into_iter().map(port).collect(),
            payloads,
            came: Vec::new(),
            bound_for: Vec::new(),
            free: Vec::new(),
            lateness: Histogram::new_with_bounds(1, LATENESS_MAX_NS, 3).map_err(io::Error::other)?,
            interval,
            samples: Vec::new(),
            deliveries: Vec::new(),
            buffer: vec![0; PACKET_MAX],
        })
    }

    /// Drives until `end`, or until `stop` is set and `wake` written to.
    ///
    /// # Errors
    /// An interface fails.
    pub fn run(mut self, end: Instant, stop: &AtomicBool, wake: &UnixStream) -> io::Result<Driven> {
        let mut next_sample = Instant::ZERO + self.interval;
        loop {
            let now = self.clock.now();
            self.advance(now.min(end));
            if now >= next_sample {
                self.take_sample(next_sample);
                next_sample += self.interval;
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            for port in 0..self.ports.len() {
                self.read(port)?;
            }
            let until = self.world.next_event_at().min(next_sample).min(end);
            self.wait(until, wake)?;
        }
        self.world.finish();
        let last = self.world.now();
        self.take_sample(last);
        let ports = self.ports.into_iter().map(|port| port.total).collect();
        Ok(Driven { lateness: self.lateness, ports, samples: self.samples })
    }

    /// Carries out due events, and hands over packets that have arrived.
    fn advance(&mut self, now: Instant) {
        let Self { world, clock, lateness, .. } = self;
        world.run_until(now, &mut |at| {
            lateness.saturating_record(clock.now().saturating_since(at).as_nanos());
        });
        self.hand_over();
    }

    fn hand_over(&mut self) {
        let mut deliveries = std::mem::take(&mut self.deliveries);
        self.world.take_deliveries(&mut deliveries);
        let payloads = self.payloads.borrow();
        for delivery in deliveries.drain(..) {
            let bytes = &payloads[delivery.handle.index()];
            let port = self.bound_for[delivery.handle.index()];
            let delay = self.clock.now().saturating_since(self.came[delivery.handle.index()]);
            let state = &mut self.ports[port];
            match state.tun.send(bytes) {
                Ok(()) => state.sample.count_arrival(bytes.len() as u64, delay),
                Err(_) => state.sample.refused += 1,
            }
        }
        drop(payloads);
        self.deliveries = deliveries;
        self.world.take_released(&mut self.free);
    }

    /// Reads packets of an interface until it has none, or the others have their turn.
    fn read(&mut self, port: usize) -> io::Result<()> {
        for _ in 0..BATCH {
            if !self.ports[port].ready {
                return Ok(());
            }
            let Some(length) = self.ports[port].tun.receive(&mut self.buffer)? else {
                self.ports[port].ready = false;
                return Ok(());
            };
            let Some(packet) = self.accept(port, length) else {
                self.ports[port].sample.ignored += 1;
                continue;
            };
            self.advance(self.clock.now());
            self.came[packet.handle.index()] = self.world.now();
            self.ports[port].sample.count_departure(u64::from(packet.len));
            self.world.inject(&packet);
            self.hand_over();
        }
        Ok(())
    }

    /// Keeps a packet that was read if it is IPv4 and for a host of the lab, or for the host at a link's other end.
    fn accept(&mut self, port: usize, length: usize) -> Option<External> {
        let bytes = &self.buffer[..length];
        let summary = summary(bytes)?;
        let IpAddr::V4(destination) = summary.destination else { return None };
        let bound_for = self.layout.bound_for(port, destination.octets())?;
        let (from, to) = (&self.layout.ports[port], &self.layout.ports[bound_for]);
        let mut payloads = self.payloads.borrow_mut();
        let handle = self.free.pop().unwrap_or_else(|| {
            payloads.push(Vec::with_capacity(PACKET_MAX.min(2_048)));
            self.came.push(Instant::ZERO);
            self.bound_for.push(bound_for);
            PayloadHandle::new(payloads.len() - 1)
        });
        self.bound_for[handle.index()] = bound_for;
        let slot = &mut payloads[handle.index()];
        slot.clear();
        slot.extend_from_slice(bytes);
        let Summary { bucket, tos, is_acknowledgement, .. } = summary;
        let mark = mark::of_code_point(tos >> 2);
        let (from, to, via, len) = (NodeId::new(from.node), NodeId::new(to.node), from.via, length as u32);
        Some(External { handle, from, to, via, len, bucket, mark, is_acknowledgement })
    }

    /// Sleeps until `until`, or until there is something to read.
    fn wait(&mut self, until: Instant, wake: &UnixStream) -> io::Result<()> {
        let left = until.saturating_since(self.clock.now()).min(SLEEP_MAX);
        let is_busy = self.ports.iter().any(|port| port.ready);
        let sleep = if is_busy || left <= AWAKE { Duration::ZERO } else { left - AWAKE };
        let mut polled = Vec::with_capacity(self.ports.len() + 1);
        polled.push(PollFd::new(wake.as_fd(), PollFlags::POLLIN));
        let mut places = Vec::with_capacity(self.ports.len());
        for (place, port) in self.ports.iter().enumerate() {
            if !port.ready {
                polled.push(PollFd::new(port.tun.as_fd(), PollFlags::POLLIN));
                places.push(place);
            }
        }
        let timeout = TimeSpec::nanoseconds(i64::try_from(sleep.as_nanos()).unwrap_or(i64::MAX));
        match ppoll(&mut polled, Some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = polled[1..].iter().map(|fd| fd.any().unwrap_or(true)).collect();
        for (place, ready) in places.into_iter().zip(ready) {
            self.ports[place].ready = ready;
        }
        Ok(())
    }

    fn take_sample(&mut self, at: Instant) {
        let mut ports = Vec::with_capacity(self.ports.len());
        for port in &mut self.ports {
            port.total.add(&port.sample);
            ports.push(std::mem::take(&mut port.sample));
        }
        self.samples.push(Sample { at, ports, macs: self.world.macs() });
    }
}
