//! A member of a bond: the course of its rate, its delay, its losses.

use crate::draw::Draw;

/// Losses of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Share of the packets that are lost on the mean.
    pub mean: f64,
    /// Mean length of a burst \[packets\].
    pub burst: f64,
}

/// A delay that varies: a uniform extra of each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    pub most_us: u64,
    /// Whether packets overtake each other.
    pub reorders: bool,
}

impl Jitter {
    /// An extra of at most 1 to 20 ms, uniform in its logarithm; half of such links reorder.
    pub fn draw(draw: &mut Draw) -> Self {
        Self { most_us: draw.spread(1_000.0, 20_000.0) as u64, reorders: draw.is_one_in(2) }
    }
}

/// A rate that swings between two values, up and down in equal steps (a triangle).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// The highest rate over the lowest.
    pub ratio: f64,
    pub period_ms: u64,
    /// Time within the period at the start.
    pub phase_ms: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Mean rate.
    pub rate_kbps: u64,
    /// One way.
    pub delay_us: u64,
    pub jitter: Option<Jitter>,
    pub losses: Option<Losses>,
    pub change: Change,
}

/// The change of a member's rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    None,
    Swing(Swing),
    /// Rates from dates on \[ms, kbit/s\], the first from 0 on; a rate of 0: the link is down.
    Dated(Vec<(u64, u64)>),
}

/// Steps of a rate in a period: eight up and eight down, each an eighth of its span.
const STEPS: u64 = 16;

impl Swing {
    /// A swing of between 2 and 5 to 1, with a period of 2 to 20 s, that begins anywhere in it.
    pub fn draw(draw: &mut Draw) -> Self {
        let ratio = draw.even(2.0, 5.0);
        let period_ms = draw.spread(2_000.0, 20_000.0) as u64;
        Self { ratio, period_ms, phase_ms: draw.whole(0, period_ms - 1) }
    }

    /// The rate over its mean at `ms` after the start.
    fn factor(&self, ms: u64) -> f64 {
        let step = (ms + self.phase_ms) % self.period_ms * STEPS / self.period_ms;
        // 0, 1/8, ... 1, ... 1/8 of the way up: the mean is halfway.
        let along = step.min(STEPS - step) as f64 / (STEPS / 2) as f64;
        let low = 2.0 / (1.0 + self.ratio);
        low * (1.0 + along * (self.ratio - 1.0))
    }

    /// The times at which a step begins, after 0 and before `until_ms`.
    fn dates(&self, until_ms: u64) -> impl Iterator<Item = u64> {
        let (period, phase) = (self.period_ms, self.phase_ms);
        // The first millisecond whose place in the period is in the step `n`.
        let begins = move |n: u64| (n * period).div_ceil(STEPS);
        (0..)
            .map(begins)
            .skip_while(move |at| *at <= phase)
            .map(move |at| at - phase)
            .take_while(move |at| *at < until_ms)
    }
}

impl Member {
    pub fn plain(rate_kbps: u64, delay_us: u64) -> Self {
        Self { rate_kbps, delay_us, jitter: None, losses: None, change: Change::None }
    }

    /// The rate from 0 to `until_ms`: pairs of a time \[ms\] and the rate from then on \[kbit/s\].
    pub fn course(&self, until_ms: u64) -> Vec<(u64, u64)> {
        match &self.change {
            Change::None => vec![(0, self.rate_kbps)],
            Change::Swing(swing) => {
                let rate = |ms| (ms, ((self.rate_kbps as f64 * swing.factor(ms)) as u64).max(1));
                [0].into_iter().chain(swing.dates(until_ms)).map(rate).collect()
            }
            Change::Dated(course) => course.clone(),
        }
    }

    /// Share of the packets that arrive.
    pub fn kept(&self) -> f64 {
        1.0 - self.losses.map_or(0.0, |losses| losses.mean)
    }

    /// Mean of what its losses leave of its rate between two times \[kbit/s\].
    pub fn carried_kbps(&self, from_ms: u64, until_ms: u64) -> f64 {
        mean(&self.course(until_ms), from_ms, until_ms) * self.kept()
    }

    /// One line for a table: Mbit/s@ms, jitter, losses, swing.
    pub fn text(&self) -> String {
        let mut text = format!("{}@{}", short(self.rate_kbps as f64 / 1e3), short(self.delay_us as f64 / 1e3));
        if let Some(Jitter { most_us, reorders }) = self.jitter {
            let order = if reorders { " reordered" } else { "" };
            text += &format!(" +{} ms{order}", short(most_us as f64 / 1e3));
        }
        if let Some(Losses { mean, burst }) = self.losses {
            text += &format!(" {} % x{burst:.0}", short(mean * 100.0));
        }
        match &self.change {
            Change::None => text,
            Change::Swing(Swing { ratio, period_ms, .. }) => {
                text + &format!(" {ratio:.1}:1 in {} s", short(*period_ms as f64 / 1e3))
            }
            Change::Dated(course) => course.iter().skip(1).fold(text, |text, (ms, kbps)| {
                text + &format!(", {} from {} s", short(*kbps as f64 / 1e3), short(*ms as f64 / 1e3))
            }),
        }
    }
}

/// Three digits at most behind the point, none that says nothing.
fn short(x: f64) -> String {
    let text = if x < 1.0 {
        format!("{x:.3}")
    } else if x < 20.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.0}")
    };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The mean of a course between two times.
pub fn mean(course: &[(u64, u64)], from_ms: u64, until_ms: u64) -> f64 {
    let ends = course.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
    let part = |((at, kbps), end): (&(u64, u64), u64)| {
        end.min(until_ms).saturating_sub((*at).max(from_ms)) as f64 * *kbps as f64
    };
    course.iter().zip(ends).map(part).sum::<f64>() / (until_ms - from_ms).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_keeps_its_mean_and_its_ratio() {
        let change = Change::Swing(Swing { ratio: 4.0, period_ms: 6_000, phase_ms: 1_234 });
        let member = Member { change, ..Member::plain(10_000, 5_000) };
        let course = member.course(60_000);
        assert!((mean(&course, 0, 60_000) - 10_000.0).abs() < 10.0, "{}", mean(&course, 0, 60_000));
        let rates = course.iter().map(|(_, kbps)| *kbps);
        assert_eq!((rates.clone().min(), rates.max()), (Some(4_000), Some(16_000)));
        assert_eq!(course.len(), 10 * STEPS as usize + 1);
    }

    #[test]
    fn a_mean_is_that_of_its_window() {
        let member =
            Member { change: Change::Dated(vec![(0, 100), (1_000, 0), (3_000, 500)]), ..Member::plain(100, 0) };
        assert!((member.carried_kbps(0, 4_000) - 150.0).abs() < 1e-9);
        assert!((member.carried_kbps(2_000, 4_000) - 250.0).abs() < 1e-9);
    }
}
