//! The retry counters of an MSDU and their limits (802.11-2020, 10.3.4.4).

/// dot11ShortRetryLimit and dot11LongRetryLimit; `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimits {
    /// Attempts of an RTS, or of a data frame that none announces.
    pub short: Option<u32>,
    /// Attempts of a data frame that an RTS announces.
    pub long: Option<u32>,
}

/// The retry counters of an MSDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retries {
    short: u32,
    long: u32,
}

impl Retries {
    /// Counts a failed attempt; returns whether that was the last.
    pub fn is_spent(&mut self, is_long: bool, limits: RetryLimits) -> bool {
        let (count, limit) = if is_long { (&mut self.long, limits.long) } else { (&mut self.short, limits.short) };
        *count += 1;
        limit.is_some_and(|limit| *count >= limit)
    }
    /// An RTS was answered: its count begins again at zero.
    pub fn on_cts(&mut self) {
        self.short = 0;
    }
}
