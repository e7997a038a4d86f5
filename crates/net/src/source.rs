//! Traffic sources: the data that the application sends, and their times.

//!
//! [`Application`] turns a [`Source`] into writes. It never knows what carries them, and has no randomness.

use crate::Refusal;
use airbraid_engine::{Machine, Wake};
use airbraid_units::{BitRate, Bytes, Duration, Instant};
use std::collections::VecDeque;

/// The data that an application sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Always something: TCP's window or the interface queue is the limit.
    #[default]
    Greedy,
    /// A steady rate of payload: evenly spaced datagrams for UDP, evenly spaced writes of one segment for TCP.
    Constant {
        /// Payload bits a second.
        rate: BitRate,
    },
    /// A number of bytes, then the end.
    File { size: Bytes },
}

/// Everything that the host tells an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationInput {
    /// It may write from now on.
    Start,
    /// It writes no more, and closes.
    Stop,
}

/// Everything that an application tells its transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationOutput {
    /// Take this many bytes (one datagram over UDP).
    Write(Bytes),
    /// Take as much as you can, until further notice.
    WriteForever,
    /// There are no more data.
    Close,
}

/// The phase of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Writing,
    Over,
}

#[derive(Clone, Debug)]
pub struct Application {
    source: Source,
    chunk: Bytes,
    phase: Phase,
    started: Instant,
    /// Number of writes at a constant rate.
    written: u64,
    /// Time of the next write.
    next: Option<Instant>,
    outputs: VecDeque<ApplicationOutput>,
}

impl Application {
    /// An application that has not started; one of constant rate writes `chunk` at a time.
    ///
    /// # Errors
    /// A constant rate of zero, or of empty writes, has no spacing.
    pub fn new(source: Source, chunk: Bytes) -> Result<Self, Refusal> {
        if let Source::Constant { rate } = source {
            Refusal::unless(rate.as_bps() > 0, "rate", "be more than zero")?;
            Refusal::unless(chunk > Bytes::ZERO, "payload", "be more than zero")?;
        }
        Ok(Self {
            source,
            chunk,
            phase: Phase::Idle,
            started: Instant::ZERO,
            written: 0,
            next: None,
            outputs: VecDeque::new(),
        })
    }

    fn start(&mut self, now: Instant) {
        if self.phase != Phase::Idle {
            return;
        }
        self.phase = Phase::Writing;
        self.started = now;
        match self.source {
            Source::Greedy => self.outputs.push_back(ApplicationOutput::WriteForever),
            Source::File { size } => {
                if size > Bytes::ZERO {
                    self.outputs.push_back(ApplicationOutput::Write(size));
                }
                self.close();
            }
            Source::Constant { .. } => self.next = Some(now),
        }
    }

    fn close(&mut self) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.next = None;
            self.outputs.push_back(ApplicationOutput::Close);
        }
    }

    fn write_due(&mut self, now: Instant) {
        while self.next.is_some_and(|at| at <= now) {
            self.outputs.push_back(ApplicationOutput::Write(self.chunk));
            self.written += 1;
            self.next = self.due(self.written);
        }
    }

    /// The time of write number `k`: the start and k chunks at the rate, rounded down once, so that nothing adds up.
    fn due(&self, k: u64) -> Option<Instant> {
        let Source::Constant { rate } = self.source else { return None };
        // Bits times nanoseconds a second.
        let bit_ns = u128::from(k) * u128::from(self.chunk.as_u64()) * 8_000_000_000;
        let span = u64::try_from(bit_ns / u128::from(rate.as_bps())).ok()?;
        Some(self.started.saturating_add(Duration::from_nanos(span)))
    }
}

impl Machine for Application {
    type Input = ApplicationInput;
    type Output = ApplicationOutput;

    fn handle_input(&mut self, now: Instant, input: ApplicationInput) {
        match input {
            ApplicationInput::Start => self.start(now),
            ApplicationInput::Stop => self.close(),
        }
        self.write_due(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.write_due(now);
    }

    fn poll_output(&mut self) -> Option<ApplicationOutput> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Wake> {
        self.next.map(|at| Wake { at, why: "source.write" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airbraid_engine::step;

    fn run(source: Source, until: Instant) -> Vec<(Instant, ApplicationOutput)> {
        let mut application = Application::new(source, Bytes::new(1_000)).unwrap();
        let (mut now, mut seen) = (Instant::ZERO, Vec::new());
        let mut wake = step(&mut application, now, Some(ApplicationInput::Start), |o| seen.push((Instant::ZERO, o)));
        while let Some(at) = wake.map(|wake| wake.at).filter(|&at| at <= until) {
            now = at;
            wake = step(&mut application, now, None, |o| seen.push((now, o)));
        }
        step(&mut application, until, Some(ApplicationInput::Stop), |o| seen.push((until, o)));
        seen
    }

    #[test]
    fn a_constant_rate_does_not_drift() {
        // 8000 bit at 3 Mbit/s: 2,666,666.67 ns apart, and after three exactly 8 ms.
        let writes = run(Source::Constant { rate: BitRate::from_kbps(3_000) }, Instant::from_nanos(8_000_000_000));
        assert_eq!(writes[1].0, Instant::from_nanos(2_666_666));
        assert_eq!(writes[3].0, Instant::from_nanos(8_000_000));
        assert_eq!(writes[3_000].0, Instant::from_nanos(8_000_000_000));
        assert_eq!(writes.len(), 3_002);
        assert_eq!(writes[3_001].1, ApplicationOutput::Close);
    }

    #[test]
    fn more_than_a_write_a_nanosecond_still_moves_on() {
        let writes = run(Source::Constant { rate: BitRate::from_bps(u64::MAX) }, Instant::from_nanos(2));
        assert!(writes.len() > 3 && writes.last().unwrap().1 == ApplicationOutput::Close);
    }

    #[test]
    fn a_file_is_one_write_and_the_end() {
        use ApplicationOutput::{Close, Write, WriteForever};
        let outputs = |source| run(source, Instant::from_nanos(9)).into_iter().map(|(_, o)| o).collect::<Vec<_>>();
        assert_eq!(outputs(Source::File { size: Bytes::new(5_000) }), [Write(Bytes::new(5_000)), Close]);
        assert_eq!(outputs(Source::File { size: Bytes::ZERO }), [Close]);
        assert_eq!(outputs(Source::Greedy), [WriteForever, Close]);
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        let refused = Application::new(Source::Constant { rate: BitRate::default() }, Bytes::new(1)).unwrap_err();
        assert_eq!(refused.to_string(), "`rate` must be more than zero");
        let rate = BitRate::from_bps(1);
        assert_eq!(Application::new(Source::Constant { rate }, Bytes::ZERO).unwrap_err().parameter, "payload");
    }
}
