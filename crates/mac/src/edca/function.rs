//! One access function of a station: an access category that contends for the medium (802.11-2020, 10.23.2.2).

use super::category::AccessCategory;
use super::config::EdcaConfig;
use crate::contention::{Backoff, CarrierSense};
use airbraid_engine::Stream;
use airbraid_units::{Duration, Instant};

/// An access function.
#[derive(Clone, Debug)]
pub(super) struct AccessFunction {
    pub backoff: Backoff<true>,
    /// QSRC: failures in a row, of whatever frames.
    failures: u32,
    retry_limit: Option<u32>,
    /// TXOP limit.
    pub txop: Duration,
    /// Whether it has something to send and contends.
    pub contends: bool,
}

impl AccessFunction {
    pub fn new(config: &EdcaConfig, category: AccessCategory, random: Stream) -> Self {
        Self {
            backoff: Backoff::new(config.backoff(category), random),
            failures: 0,
            retry_limit: config.retry_limit,
            txop: config.functions[category.index()].txop,
            contends: false,
        }
    }

    /// It has something to send now. `is_taken`: the medium is busy, reserved, or in the hands of this station.
    #[inline]
    pub fn request(&mut self, sense: &CarrierSense, now: Instant, is_taken: bool) {
        self.contends = true;
        self.backoff.request(sense, now, is_taken);
    }

    /// An exchange has gone well: the smallest window.
    pub fn succeed(&mut self) {
        self.failures = 0;
        self.backoff.reset_window();
    }

    /// An exchange has failed, or an access of higher priority came first: the window doubles, and begins again at the
    /// smallest when the retry limit is passed.
    pub fn fail(&mut self) {
        if self.retry_limit.is_some_and(|limit| self.failures >= limit) {
            self.succeed();
        } else {
            self.failures += 1;
            self.backoff.widen();
        }
    }
}
