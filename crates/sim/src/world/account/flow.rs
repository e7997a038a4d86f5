//! The account of one flow.

use super::Device;
use super::way::Reading;
use crate::limits::Cause;
use crate::world::packet::DropReason;
use airbraid_net::tcp::SenderLimit;
use airbraid_units::{Duration, Instant};

/// A cause, the device where it is, and the reason of the losses that it consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blame {
    pub cause: Cause,
    pub at: Option<Device>,
    pub reason: Option<DropReason>,
}

impl Blame {
    pub const fn of(cause: Cause) -> Self {
        Self { cause, at: None, reason: None }
    }

    /// A busy device.
    pub fn busy(device: Option<(Device, f64)>) -> Self {
        Self { cause: Cause::Busy, at: device.map(|(device, _)| device), reason: None }
    }
}

/// Number of a flow's packets that were lost at one place for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    pub at: Device,
    pub reason: DropReason,
    pub is_data: bool,
    pub count: u64,
}

/// The account of one flow.
#[derive(Debug, Default)]
pub struct FlowAccount {
    limit: SenderLimit,
    /// The last step of the sender.
    stepped: Instant,
    /// Time in each state of the sender in this interval.
    pub times: [Duration; SenderLimit::COUNT],
    /// The interval, and its earliest end.
    pub opened: Instant,
    ends: Instant,
    /// The devices on the way, as they were when the interval began.
    pub readings: Vec<(Device, Reading)>,
    /// Reductions of the window before the interval.
    pub reductions: u64,
    /// The reason for the last reduction.
    pub reduced_by: Option<Blame>,
    /// Losses since the last reduction, and in counted time.
    pub news: Vec<Lost>,
    pub losses: Vec<Lost>,
    /// Number and sum of the round trips before the interval, the mean in the last, the shortest mean.
    pub round_trips: (u64, Duration),
    pub round_trip: Duration,
    pub shortest: Duration,
    /// Time by cause, and how much of it the busiest device on the way was idle.
    pub blames: Vec<(Blame, [Duration; 2])>,
    /// The reason why there is no way from its source to its destination, where nothing arrived.
    pub gap: Option<String>,
    /// For each device on the way the counted time, and that in which it was busy.
    pub busy: Vec<(Device, [Duration; 2])>,
}

impl FlowAccount {
    /// The sender has taken a step; tells whether the interval is over.
    #[inline]
    pub fn on_step(&mut self, now: Instant, limit: SenderLimit, by_timer: bool) -> bool {
        // A retransmission timer that expires was what the sender waited for.
        let waited = if by_timer && limit == SenderLimit::Timeout { limit } else { self.limit };
        self.times[waited as usize] += now.saturating_since(self.stepped);
        self.stepped = now;
        self.limit = limit;
        now >= self.ends
    }

    /// Time up to `now` is in the state that the sender is in.
    pub fn settle(&mut self, now: Instant) {
        self.on_step(now, self.limit, false);
    }

    /// Counting begins.
    pub fn begin(&mut self, now: Instant) {
        self.settle(now);
        self.times = Default::default();
        self.blames.clear();
        self.losses.clear();
        self.busy.clear();
        (self.opened, self.ends) = (now, now);
        self.readings.clear();
    }

    /// The next interval begins; it lasts for `span` or longer.
    /// Before the first round trip is known it ends with the next step, so that the handshake stands alone.
    pub fn open(&mut self, now: Instant, span: Option<Duration>) {
        self.times = Default::default();
        self.opened = now;
        self.ends = span.map_or(now, |span| now.saturating_add(span));
    }

    pub fn on_drop(&mut self, at: Device, reason: DropReason, is_data: bool) {
        for list in [&mut self.news, &mut self.losses] {
            match list.iter_mut().find(|lost| (lost.at, lost.reason, lost.is_data) == (at, reason, is_data)) {
                Some(lost) => lost.count += 1,
                None => list.push(Lost { at, reason, is_data, count: 1 }),
            }
        }
    }

    /// Gives all of the time to the application.
    pub fn blame_application(&mut self) {
        let sum = |[time, idle]: [Duration; 2], (_, more): &(Blame, [Duration; 2])| [time + more[0], idle + more[1]];
        let all = self.blames.iter().fold([Duration::ZERO; 2], sum);
        self.blames = vec![(Blame::of(Cause::Application), all)];
    }

    /// Gives time to a cause; the busiest device on the way was idle for a part of it.
    pub fn blame(&mut self, blame: Blame, time: Duration, idle: f64) {
        let idle = part(time, idle);
        match self.blames.iter_mut().find(|(other, _)| *other == blame) {
            Some((_, sums)) => *sums = [sums[0] + time, sums[1] + idle],
            None => self.blames.push((blame, [time, idle])),
        }
    }
}

/// The most frequent of these losses, data before acknowledgements.
pub fn most_frequent(losses: &[Lost]) -> Option<&Lost> {
    losses.iter().max_by_key(|lost| (lost.is_data, lost.count))
}

/// A part of a time.
pub fn part(time: Duration, share: f64) -> Duration {
    Duration::from_nanos((time.as_nanos() as f64 * share.clamp(0.0, 1.0)) as u64)
}
