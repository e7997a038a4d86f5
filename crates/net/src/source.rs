//! Traffic sources: the data that the application sends, and their times.
//!
//! [`Application`] turns a [`Source`] into writes. It never knows what carries them; only a Poisson process draws.

use crate::Refusal;
use airbraid_engine::{Machine, Stream, Wake};
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
    /// The same writes as a Poisson process: the times between them are exponential, with this mean rate.
    Poisson {
        /// Payload bits a second.
        rate: BitRate,
    },
    /// A number of bytes, then the end.
    File { size: Bytes },
}

impl Source {
    /// The mean rate of a source that has one.
    pub const fn rate(self) -> Option<BitRate> {
        match self {
            Self::Constant { rate } | Self::Poisson { rate } => Some(rate),
            Self::Greedy | Self::File { .. } => None,
        }
    }
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
    /// Draws of a Poisson process.
    gaps: Stream,
    outputs: VecDeque<ApplicationOutput>,
}

impl Application {
    /// An application that has not started; one that has a rate writes `chunk` at a time, a Poisson process by the
    /// draws of `gaps`.
    ///
    /// # Errors
    /// A rate of zero, or of empty writes, has no spacing.
    pub fn new(source: Source, chunk: Bytes, gaps: Stream) -> Result<Self, Refusal> {
        if let Some(rate) = source.rate() {
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
            gaps,
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
            Source::Poisson { rate } => self.next = Some(now.saturating_add(self.gap(rate))),
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
        while let Some(at) = self.next.filter(|&at| at <= now) {
            self.outputs.push_back(ApplicationOutput::Write(self.chunk));
            self.written += 1;
            self.next = match self.source {
                Source::Poisson { rate } => Some(at.saturating_add(self.gap(rate))),
                _ => self.due(self.written),
            };
        }
    }

    /// A time between two writes of a Poisson process with the mean `rate`.
    fn gap(&mut self, rate: BitRate) -> Duration {
        // 53 bits, and never zero, whose logarithm is not finite.
        let uniform = ((self.gaps.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let mean_s = self.chunk.bits() as f64 / rate.as_bps() as f64;
        Duration::from_secs_f64(-libm::log(uniform) * mean_s)
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
        let mut application = Application::new(source, Bytes::new(1_000), Stream::new(1, 0, "source")).unwrap();
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
    fn a_poisson_process_has_exponential_gaps() {
        // 8000 bit at 8 Mbit/s: 1 ms on average.
        let rate = BitRate::from_kbps(8_000);
        let writes = run(Source::Poisson { rate }, Instant::from_nanos(20_000_000_000));
        let times: Vec<f64> = writes[..writes.len() - 1].iter().map(|(at, _)| at.as_secs_f64() * 1e3).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        // Standard errors of 20,000 gaps: 0.7 % of the mean, 1 % of the deviation; four of them.
        let deviation = libm::sqrt(gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n);
        let longer = gaps.iter().filter(|&&gap| gap > 1.0).count() as f64 / n;
        assert!((mean - 1.0).abs() < 0.03 && (deviation - 1.0).abs() < 0.04, "{mean} {deviation}");
        assert!((longer - 0.3679).abs() < 0.014, "longer than the mean: {longer}");
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
        let refused = |source, chunk| Application::new(source, Bytes::new(chunk), Stream::new(1, 0, "")).unwrap_err();
        let zero = refused(Source::Constant { rate: BitRate::default() }, 1);
        assert_eq!(zero.to_string(), "`rate` must be more than zero");
        let rate = BitRate::from_bps(1);
        assert_eq!(refused(Source::Constant { rate }, 0).parameter, "payload");
        assert_eq!(refused(Source::Poisson { rate }, 0).parameter, "payload");
    }
}
