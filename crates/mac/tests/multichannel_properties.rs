//! A multi-channel station under arbitrary inputs: energy, frames, packets and time in any order, sensible or not.

use airbraid_engine::{Packet, Stream, Wake, step};
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::multichannel::{Multichannel, MultichannelConfig, Scheduling};
use airbraid_mac::phy::{Preamble, Standard};
use airbraid_mac::{Access, Address, Channel, ChannelSet, Frame, FrameKind, MacInput, MacOutput, Msdu, Reservation};
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

#[derive(Clone, Debug)]
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
    /// The expected answer to the station's last frame ends now.
    Answer(u64),
    Wait(u64),
    /// Up to the next timer, and serve it.
    ToTimer,
}

#[derive(Clone, Debug)]
struct Heard {
    kind: FrameKind,
    from: u32,
    to: u32,
    sequence: u16,
    retry: bool,
    nav_us: u64,
    channels: Vec<u8>,
    frames: u8,
}

fn heard() -> impl Strategy<Value = Heard> {
    let kinds = vec![FrameKind::Data, FrameKind::Ack, FrameKind::Rts, FrameKind::Cts, FrameKind::Crn];
    let who = (1u32..4, 0u32..3, 0u16..3, any::<bool>());
    let what = (0u64..20_000, prop::collection::vec(0u8..16, 0..4), prop_oneof![0u8..3, any::<u8>()]);
    (prop::sample::select(kinds), who, what).prop_map(
        |(kind, (from, to, sequence, retry), (nav_us, channels, frames))| Heard {
            kind,
            from,
            to,
            sequence,
            retry,
            nav_us,
            channels,
            frames,
        },
    )
}

fn one_move() -> impl Strategy<Value = Move> {
    let wait = prop_oneof![3 => 0u64..400_000, 2 => 0u64..3_000_000, 1 => Just(10_000u64)];
    prop_oneof![
        3 => (1u32..4, 0u32..3_000, any::<bool>()).prop_map(|(to, size, first)| Move::Enqueue { to, size, first }),
        1 => (1u32..4).prop_map(Move::Purge),
        5 => prop::option::weighted(0.7, prop::option::weighted(0.7, heard())).prop_map(Move::Toggle),
        6 => (0u64..2).prop_map(Move::Answer),
        5 => wait.prop_map(Move::Wait),
        8 => Just(Move::ToTimer),
    ]
}

fn config() -> impl Strategy<Value = MultichannelConfig> {
    (any::<[bool; 4]>(), 0u32..4, 0u8..20, 0u8..4, prop::sample::select(vec![0u64, 80])).prop_map(
        |(flags, queue_limit, data_channels, batch, switching)| {
            let mut dcf = DcfConfig::new(Standard::Dot11b, Preamble::Long);
            (dcf.eifs, dcf.nav_reset, dcf.queue_limit) = (flags[0], flags[1], queue_limit);
            let mut config = MultichannelConfig::new(dcf, flags[2]);
            (config.data_channels, config.batch) = (data_channels, batch);
            config.switching_time = Duration::from_micros(switching);
            config.scheduling = if flags[3] { Scheduling::Fifo } else { Scheduling::SkipBusy };
            config
        },
    )
}

struct World {
    config: MultichannelConfig,
    station: Multichannel<Payload>,
    now: Instant,
    wake: Option<Wake>,
    is_busy: bool,
    tuned: Channel,
    deaf_until: Instant,
    transmitting_until: Instant,
    last: Option<Frame<Payload>>,
    enqueued: u32,
    done: BTreeSet<u32>,
}

impl World {
    fn new(config: MultichannelConfig, seed: u64) -> Self {
        let (backoff, choice) = (Stream::new(seed, 0, "backoff"), Stream::new(seed, 0, "choice"));
        Self {
            config,
            station: Multichannel::new(config, ME, backoff, choice),
            now: Instant::ZERO,
            wake: None,
            is_busy: false,
            tuned: Channel::CONTROL,
            deaf_until: Instant::ZERO,
            transmitting_until: Instant::ZERO,
            last: None,
            enqueued: 0,
            done: BTreeSet::new(),
        }
    }

    fn apply(&mut self, one: Move) {
        match one {
            Move::Enqueue { to, size, first } => {
                let to = if to == 3 { Address::BROADCAST } else { Address(to) };
                let packet = Payload(self.enqueued * 3_000 + size);
                self.enqueued += 1;
                let msdu = Msdu { to, packet };
                self.drive(Some(if first { MacInput::EnqueueFirst(msdu) } else { MacInput::Enqueue(msdu) }));
            }
            Move::Purge(neighbour) => self.drive(Some(MacInput::Purge(Address(neighbour)))),
            Move::Toggle(_) if !self.is_busy => self.begin(),
            Move::Toggle(None) => self.end(MacInput::Idle),
            Move::Toggle(Some(None)) => self.end(MacInput::ReceptionError { idle: true }),
            Move::Toggle(Some(Some(heard))) => self.end_with(&heard),
            Move::Answer(after) => self.answer(after),
            Move::Wait(ns) => self.serve(self.now + Duration::from_nanos(ns)),
            Move::ToTimer => {
                if let Some(wake) = self.wake {
                    self.serve(wake.at);
                }
            }
        }
    }

    fn begin(&mut self) {
        self.serve(self.now.max(self.deaf_until));
        if !self.is_busy {
            self.is_busy = true;
            self.drive(Some(MacInput::Busy));
        }
    }

    fn end(&mut self, input: MacInput<Payload>) {
        self.serve(self.now);
        // The radio may have left the channel meanwhile.
        if self.is_busy {
            self.is_busy = false;
            self.drive(Some(input));
        }
    }

    fn end_with(&mut self, heard: &Heard) {
        let to = [ME, Address(9), Address::BROADCAST][heard.to as usize];
        let channels = heard.channels.iter().fold(ChannelSet::EMPTY, |set, &one| set.with(Channel(one)));
        let frame = Frame {
            kind: heard.kind,
            retry: heard.retry,
            power_management: false,
            sequence: heard.sequence,
            from: Address(heard.from),
            to,
            size: Bytes::new(21),
            rate: self.config.dcf.control_rate,
            nav: Duration::from_micros(heard.nav_us),
            reservation: Reservation { channels, frames: heard.frames },
            payload: (heard.kind == FrameKind::Data).then_some(Payload(0)),
        };
        let input = if to == Address(9) {
            MacInput::Overheard { frame: frame.header(), idle: true }
        } else {
            MacInput::Received { frame, idle: true }
        };
        self.end(input);
    }

    /// The other side's answer to the last frame of the station, SIFS after it.
    fn answer(&mut self, after: u64) {
        let Some(last) = self.last.take().filter(|last| last.to != Address::BROADCAST) else { return };
        let kind = match (last.kind, after) {
            (FrameKind::Rts, _) => FrameKind::Cts,
            (FrameKind::Cts, _) => FrameKind::Crn,
            (FrameKind::Data, 0) => FrameKind::Ack,
            _ => FrameKind::Data,
        };
        self.serve(self.transmitting_until.max(self.now) + Duration::from_micros(10));
        self.begin();
        self.serve(self.now + Duration::from_micros(300));
        let channels = last.reservation.channels.lowest().map(|channel| channel.0).into_iter().collect();
        let nav_us = last.nav.as_micros().saturating_sub(370);
        let (from, to, sequence, retry, frames) = (last.to.0, 0, 1, false, 0);
        self.end_with(&Heard { kind, from, to, sequence, retry, nav_us, channels, frames });
    }

    /// Serves the timers that are due up to `end`.
    fn serve(&mut self, end: Instant) {
        while let Some(wake) = self.wake.filter(|wake| wake.at <= end) {
            self.now = self.now.max(wake.at);
            self.drive(None);
        }
        self.now = self.now.max(end);
    }

    fn drive(&mut self, input: Option<MacInput<Payload>>) {
        let mut outputs = vec![];
        self.wake = step(&mut self.station, self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                MacOutput::Tune { channel, ready } => {
                    assert!(self.now >= self.transmitting_until, "retunes while it transmits");
                    assert_ne!(channel, self.tuned);
                    assert!(channel.0 <= self.config.data_channels.clamp(1, 15));
                    assert_eq!(ready, self.now + self.config.switching_time);
                    (self.tuned, self.deaf_until, self.is_busy) = (channel, ready, false);
                }
                MacOutput::Transmit { frame, at, airtime, access } => {
                    assert!(at >= self.now && at >= self.transmitting_until && at >= self.deaf_until);
                    assert!(access == Access::Response || !self.is_busy, "access to the busy medium");
                    let is_exchange =
                        matches!(frame.kind, FrameKind::Data | FrameKind::Ack) && frame.to != Address::BROADCAST;
                    assert_eq!(self.tuned != Channel::CONTROL, is_exchange);
                    self.transmitting_until = at + airtime;
                    self.last = Some(frame);
                }
                MacOutput::Status { msdu, .. } => {
                    assert!(self.done.insert(msdu.packet.0 / 3_000), "reported twice");
                }
                MacOutput::Deliver { .. } => {}
                MacOutput::DeliverDamaged { .. } | MacOutput::Pull(_) => {
                    panic!("a frame is whole or lost, and none is asked for")
                }
                MacOutput::TransmitPpdu { .. }
                | MacOutput::DeliverRun { .. }
                | MacOutput::AcknowledgedRun { .. }
                | MacOutput::Listen(_)
                | MacOutput::Announce(_)
                | MacOutput::Discard { .. } => panic!("it aggregates nothing"),
            }
        }
        assert!(self.station.queue_len() <= self.config.dcf.queue_limit as usize + 2 * 4);
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
        world.end(MacInput::Idle);
        for _ in 0..10_000 {
            let Some(wake) = world.wake else { break };
            world.serve(wake.at);
        }
        prop_assert_eq!(world.wake, None);
        prop_assert_eq!(world.done.len(), world.enqueued as usize);
        prop_assert_eq!(world.tuned, Channel::CONTROL);
    }
}
