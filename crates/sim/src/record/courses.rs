//! The course of a run: delay, windows and queues, sampled at equal intervals of simulated time.
//!
//! For whoever looks at one run: a report. Summaries and `--json` have none of it. The samples are taken between events,
//! so that a run with them goes through the same events as one without.

use airbraid_units::{Duration, Instant};
use serde::Serialize;

/// Least number of samples: a picture of a screen's width shows each.
const SAMPLES_MIN: u64 = 400;

/// The samples of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Courses {
    /// The seed of the run.
    pub seed: u64,
    /// A value stands for the interval that ends there.
    pub interval_s: f64,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowCourse>,
    /// One for each queue in which something was found.
    pub queues: Vec<QueueCourse>,
}

/// The samples of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowCourse {
    pub name: String,
    /// Mean one-way delay of the data packets that came in each interval, from the end of the warm-up on; null where
    /// none came.
    pub delay_s: Vec<Option<f64>>,
    /// Congestion window at the end of each; empty for UDP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub window_bytes: Vec<u64>,
    /// Bytes sent and not acknowledged, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flight_bytes: Vec<u64>,
}

/// The samples of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueCourse {
    /// Its place: `radio ch1 of sender`.
    pub name: String,
    /// Packets that wait at the end of each interval.
    pub packets: Vec<u32>,
}

/// The interval of the samples of a run: the longest of 1, 2 or 5 times a power of ten ns that gives at least 400.
pub fn interval(duration: Duration) -> Duration {
    let longest = (duration.as_nanos() / SAMPLES_MIN).max(1);
    let power = 10_u64.pow(longest.ilog10());
    let factor = [5, 2, 1].into_iter().find(|factor| factor * power <= longest).unwrap_or(1);
    Duration::from_nanos(factor * power)
}

/// The ends of the intervals of a run, the last one cut short.
pub fn ends(duration: Duration) -> impl Iterator<Item = Instant> {
    let interval = interval(duration).as_nanos();
    let count = duration.as_nanos().div_ceil(interval);
    (1..=count).map(move |i| Instant::ZERO + Duration::from_nanos((i * interval).min(duration.as_nanos())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_four_hundred_samples_or_somewhat_more() {
        let all = |duration: Duration| ends(duration).collect::<Vec<_>>();
        assert_eq!(interval(Duration::from_secs(250)), Duration::from_millis(500));
        assert_eq!(all(Duration::from_secs(250)).len(), 500);
        assert_eq!(all(Duration::from_millis(1_001)).last(), Some(&(Instant::ZERO + Duration::from_millis(1_001))));
        assert_eq!(all(Duration::from_nanos(3)).len(), 3);
        assert!(all(Duration::ZERO).is_empty());
        for seconds in [1, 7, 60, 3_600] {
            assert!((400..=1_000).contains(&all(Duration::from_secs(seconds)).len()), "{seconds} s");
        }
    }
}
