//! A station under arbitrary inputs: energy, frames, packets and time in any order, sensible or not.

use airbraid_engine::{Machine, Packet, Stream, Wake, step};
use airbraid_mac::dcf::{Dcf, DcfConfig};
use airbraid_mac::phy::{Preamble, Standard};
use airbraid_mac::{Access, Address, Frame, FrameKind, MacInput, MacOutput, Msdu, Reservation};
use airbraid_units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Payload(u32);

impl Packet for Payload {
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.0 % 3_000))
    }
    fn flow_bucket(&self) -> u16 {
        0
    }
}

const ME: Address = Address(0);

#[derive(Clone, Copy, Debug)]
enum Move {
    Enqueue {
        to: u32,
        size: u32,
        first: bool,
    },
    /// MSDUs for a neighbour are given up.
    Purge(u32),
    /// Energy comes if there is none, and goes otherwise, perhaps as the end of a frame.
    Toggle(Option<Option<Heard>>),
    /// A frame ends and other energy stays.
    EndWithin(Option<Heard>),
    /// Time passes; timers that are due at its very end are served before what follows, or not.
    Wait {
        ns: u64,
        serve: bool,
    },
    /// Up to the next timer, but without serving it.
    ToTimer,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    kind: FrameKind,
    to: u32,
    sequence: u16,
    retry: bool,
    nav_us: u64,
}

fn heard() -> impl Strategy<Value = Heard> {
    let kind = prop::sample::select(vec![FrameKind::Data, FrameKind::Ack, FrameKind::Rts, FrameKind::Cts]);
    (kind, 0u32..3, 0u16..3, any::<bool>(), 0u64..3_000).prop_map(|(kind, to, sequence, retry, nav_us)| Heard {
        kind,
        to,
        sequence,
        retry,
        nav_us,
    })
}

fn one_move() -> impl Strategy<Value = Move> {
    let wait =
        prop_oneof![3 => 0u64..30_000, 3 => 0u64..400_000, 2 => 0u64..3_000_000, 1 => Just(10_000), 1 => Just(0)];
    prop_oneof![
        3 => (1u32..4, 0u32..3_000, any::<bool>()).prop_map(|(to, size, first)| Move::Enqueue { to, size, first }),
        1 => (1u32..4).prop_map(Move::Purge),
        6 => prop::option::weighted(0.7, prop::option::weighted(0.7, heard())).prop_map(Move::Toggle),
        1 => prop::option::of(heard()).prop_map(Move::EndWithin),
        8 => (wait, any::<bool>()).prop_map(|(ns, serve)| Move::Wait { ns, serve }),
        3 => Just(Move::ToTimer),
    ]
}

fn config() -> impl Strategy<Value = DcfConfig> {
    let standard = prop::sample::select(vec![Standard::Dot11b, Standard::Dot11a, Standard::Dot11g, Standard::Fhss]);
    (standard, any::<bool>(), any::<bool>(), any::<bool>(), 0u64..3_100, 0u32..4).prop_map(
        |(standard, short, eifs, nav_reset, threshold, queue_limit)| {
            let mut config = DcfConfig::new(standard, if short { Preamble::Short } else { Preamble::Long });
            config.eifs = eifs;
            config.nav_reset = nav_reset;
            config.rts_threshold = Bytes::new(threshold);
            config.queue_limit = queue_limit;
            config
        },
    )
}

struct World {
    config: DcfConfig,
    station: Dcf<Payload>,
    now: Instant,
    wake: Option<Wake>,
    is_busy: bool,
    idle_since: Instant,
    /// While nothing resets it: end of the medium's reservation by others.
    reserved_until: Instant,
    transmitting_until: Instant,
    enqueued: u32,
    done: BTreeSet<u32>,
}

/// The end of a reception as a radio tells its MAC.
fn ending(frame: Option<Frame<Payload>>, idle: bool) -> MacInput<Payload> {
    match frame {
        None => MacInput::ReceptionError { idle },
        Some(frame) if frame.to == ME || frame.to == Address::BROADCAST => MacInput::Received { frame, idle },
        Some(frame) => MacInput::Overheard { frame: frame.header(), idle },
    }
}

impl World {
    fn new(config: DcfConfig, seed: u64) -> Self {
        Self {
            config,
            station: Dcf::new(config, ME, Stream::new(seed, 0, "test")),
            now: Instant::ZERO,
            wake: None,
            is_busy: false,
            idle_since: Instant::ZERO,
            reserved_until: Instant::ZERO,
            transmitting_until: Instant::ZERO,
            enqueued: 0,
            done: BTreeSet::new(),
        }
    }

    fn apply(&mut self, one: Move) {
        match one {
            Move::Enqueue { to, size, first } => {
                let to = if to == 3 { Address::BROADCAST } else { Address(to) };
                // The identity in the upper part, the length in the lower.
                let packet = Payload(self.enqueued * 3_000 + size);
                self.enqueued += 1;
                let msdu = Msdu { to, packet };
                self.drive(Some(if first { MacInput::EnqueueFirst(msdu) } else { MacInput::Enqueue(msdu) }));
            }
            Move::Purge(neighbour) => self.drive(Some(MacInput::Purge(Address(neighbour)))),
            Move::Toggle(_) if !self.is_busy => {
                self.serve(self.now);
                self.is_busy = true;
                self.drive(Some(MacInput::Busy));
            }
            Move::Toggle(end) => {
                self.serve(self.now);
                self.is_busy = false;
                self.idle_since = self.now;
                let input = match end {
                    None => MacInput::Idle,
                    Some(heard) => ending(self.frame(heard), true),
                };
                self.drive(Some(input));
            }
            Move::EndWithin(heard) if self.is_busy => {
                self.serve(self.now);
                let frame = self.frame(heard);
                self.drive(Some(ending(frame, false)));
            }
            Move::EndWithin(_) => {}
            Move::Wait { ns, serve } => {
                let end = self.now + Duration::from_nanos(ns);
                self.serve(Instant::from_nanos(end.as_nanos() - u64::from(!serve && ns > 0)));
                self.now = end;
            }
            Move::ToTimer => {
                if let Some(wake) = self.wake {
                    self.now = wake.at;
                }
            }
        }
    }

    fn frame(&mut self, heard: Option<Heard>) -> Option<Frame<Payload>> {
        let heard = heard?;
        let frame = Frame {
            kind: heard.kind,
            retry: heard.retry,
            power_management: false,
            sequence: heard.sequence,
            from: Address(1),
            to: if heard.to == 2 { Address::BROADCAST } else { Address(heard.to) },
            size: Bytes::new(20),
            rate: self.config.control_rate,
            nav: Duration::from_micros(heard.nav_us),
            reservation: Reservation::default(),
            payload: (heard.kind == FrameKind::Data).then_some(Payload(0)),
        };
        if heard.to == 1 && self.transmitting_until <= self.now {
            self.reserved_until = self.reserved_until.max(self.now + frame.nav);
        }
        Some(frame)
    }

    /// Serves the timers that are due up to `end`.
    fn serve(&mut self, end: Instant) {
        while let Some(wake) = self.wake.filter(|wake| wake.at <= end) {
            self.now = wake.at;
            self.drive(None);
        }
        self.now = self.now.max(end);
    }

    fn drive(&mut self, input: Option<MacInput<Payload>>) {
        let mut outputs = vec![];
        self.wake = step(&mut self.station, self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                MacOutput::DeliverDamaged { .. } | MacOutput::Pull(_) => unreachable!("DCF does neither"),
                MacOutput::TransmitPpdu { .. }
                | MacOutput::DeliverRun { .. }
                | MacOutput::AcknowledgedRun { .. }
                | MacOutput::Discard { .. } => unreachable!("DCF aggregates nothing"),
                MacOutput::Transmit { at, airtime, access, .. } => {
                    assert!(at >= self.now, "a transmission begins in the past");
                    assert!(at >= self.transmitting_until, "two transmissions overlap");
                    if let Access::Backoff { window, drawn } = access {
                        assert!(drawn <= window && window >= self.config.cw_min && window <= self.config.cw_max);
                    }
                    if access == Access::Response {
                        assert_eq!(at, self.now + self.config.phy.sifs);
                    } else {
                        self.check_access(at);
                        assert!(at <= self.now + self.config.phy.turnaround);
                    }
                    self.transmitting_until = at + airtime;
                    self.idle_since = self.idle_since.max(self.transmitting_until);
                }
                MacOutput::Status { msdu, attempts, .. } => {
                    assert!(self.done.insert(msdu.packet.0 / 3_000), "reported twice");
                    assert!(attempts <= 7 + 4 * 7);
                }
                MacOutput::Listen(_) | MacOutput::Announce(_) | MacOutput::Tune { .. } => {
                    panic!("a station of one channel retunes")
                }
                MacOutput::Deliver { .. } => {}
            }
        }
        let open = self.enqueued as usize - self.done.len();
        let queued = self.station.queue_len();
        assert!(open == queued || open == queued + 1, "{open} are open, {queued} queued");
        assert!(queued <= self.config.queue_limit as usize);
    }

    fn check_access(&self, at: Instant) {
        let difs = self.config.phy.difs();
        assert!(!self.is_busy, "access to the busy medium");
        assert!(at >= self.idle_since + difs || self.idle_since == Instant::ZERO, "access before DIFS");
        let reserved = self.reserved_until > Instant::ZERO && !self.config.nav_reset;
        assert!(!reserved || at >= self.reserved_until + difs, "access to the reserved medium");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_station_keeps_its_promises_whatever_it_hears(
        config in config(),
        seed: u64,
        moves in prop::collection::vec(one_move(), 1..200),
    ) {
        let mut world = World::new(config, seed);
        for one in moves {
            world.apply(one);
        }
        // Silence from now on: every packet is sent or given up, and then there is nothing to wait for.
        world.serve(world.now);
        if world.is_busy {
            world.apply(Move::Toggle(None));
        }
        for _ in 0..10_000 {
            let Some(wake) = world.wake else { break };
            world.serve(wake.at);
        }
        prop_assert_eq!(world.wake, None);
        prop_assert_eq!(world.done.len(), world.enqueued as usize);
        prop_assert!(world.station.poll_output().is_none());
    }
}
