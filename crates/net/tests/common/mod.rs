//! Two ends of a connection in one virtual time, with a network between them that a test controls.

use airbraid_engine::{Machine, step};
use airbraid_net::tcp::{Config, Receiver, ReceiverInput, ReceiverOutput, Segment, Sender, SenderInput, SenderOutput};
use airbraid_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    Data,
    /// From the receiver to the sender.
    Ack,
}

/// The network's effect on one segment: the delay of each copy that arrives; none: it is lost.
pub type Fate = Vec<Duration>;

pub struct World<N: FnMut(Instant, Way, &Segment) -> Fate> {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Instant,
    /// Payload handed to the application.
    pub delivered: u64,
    pub sender_finished: bool,
    pub receiver_finished: bool,
    /// One line an event, for those tests that read it.
    pub transcript: Vec<String>,
    network: N,
    flying: BTreeMap<(Instant, u64), (Way, Segment)>,
    count: u64,
}

impl<N: FnMut(Instant, Way, &Segment) -> Fate> World<N> {
    pub fn new(config: Config, network: N) -> Self {
        Self {
            sender: Sender::new(config).unwrap(),
            receiver: Receiver::new(config).unwrap(),
            now: Instant::ZERO,
            delivered: 0,
            sender_finished: false,
            receiver_finished: false,
            transcript: Vec::new(),
            network,
            flying: BTreeMap::new(),
            count: 0,
        }
    }

    fn launch(&mut self, way: Way, segment: Segment) {
        let fate = (self.network)(self.now, way, &segment);
        let mark = if fate.is_empty() { " lost" } else { "" };
        let line = match way {
            Way::Data => data_line(&segment),
            Way::Ack => ack_line(&segment),
        };
        self.transcript.push(format!("{:>8} {line}{mark}", self.now.as_nanos() / 1_000_000));
        for delay in fate {
            self.count += 1;
            self.flying.insert((self.now + delay, self.count), (way, segment));
        }
    }

    pub fn tell_sender(&mut self, input: Option<SenderInput>) {
        let mut outputs = Vec::new();
        step(&mut self.sender, self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                SenderOutput::Segment(segment) => self.launch(Way::Data, segment),
                SenderOutput::Connected => {}
                SenderOutput::Finished => {
                    assert!(!self.sender_finished, "finished twice");
                    self.sender_finished = true;
                }
            }
        }
    }

    pub fn tell_receiver(&mut self, input: Option<ReceiverInput>) {
        let mut outputs = Vec::new();
        step(&mut self.receiver, self.now, input, |output| outputs.push(output));
        for output in outputs {
            match output {
                ReceiverOutput::Segment(segment) => self.launch(Way::Ack, segment),
                ReceiverOutput::Delivered(bytes) => self.delivered += bytes.as_u64(),
                ReceiverOutput::Finished => {
                    assert!(!self.receiver_finished, "finished twice");
                    self.receiver_finished = true;
                }
            }
        }
    }

    /// Runs until `end` or until nothing is left to happen.
    pub fn run_until(&mut self, end: Instant) {
        loop {
            let flying = self.flying.keys().next().map(|key| key.0);
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()].map(|w| w.map(|w| w.at));
            let Some(next) = [flying, timers[0], timers[1]].into_iter().flatten().min() else { break };
            if next > end {
                break;
            }
            self.now = next;
            if flying == Some(next) {
                let (_, (way, segment)) = self.flying.pop_first().unwrap();
                match way {
                    Way::Data => self.tell_receiver(Some(ReceiverInput::Segment(segment))),
                    Way::Ack => self.tell_sender(Some(SenderInput::Segment(segment))),
                }
            } else if timers[0] == Some(next) {
                self.tell_sender(None);
            } else {
                self.tell_receiver(None);
            }
        }
        self.now = self.now.max(end.min(Instant::from_nanos(u64::MAX - 1)));
    }
}

/// `data 1..1001`, with the flags.
fn data_line(segment: &Segment) -> String {
    let flags = segment.flags;
    if segment.end() == segment.seq {
        return format!("> ack {}", segment.ack);
    }
    let syn = if flags.syn { " SYN" } else { "" };
    let fin = if flags.fin { " FIN" } else { "" };
    format!("> {}..{}{syn}{fin}", segment.seq, segment.end())
}

/// `ack 1001`, with the blocks and, if it is not the usual one, the window.
fn ack_line(segment: &Segment) -> String {
    let flags = segment.flags;
    let syn = if flags.syn { " SYN" } else { "" };
    let fin = if flags.fin { " FIN" } else { "" };
    let blocks: Vec<_> = segment.sack_blocks().map(|(start, end)| format!(" [{start}..{end}]")).collect();
    let window = if segment.window < 65_000 { format!(" win {}", segment.window) } else { String::new() };
    format!("< ack {}{syn}{fin}{}{window}", segment.ack, blocks.concat())
}
