//! Counts of a multi-link device towards one of its peers: by link what is sent and how long the link stands still, and
//! how long MPDUs of the peer wait for the sake of order.
//!
//! A link stands still while packets wait for the window, which is full, and it has nothing to send: its MPDUs are
//! acknowledged, and the window waits for one of another link.

use super::super::frame::Msdu;
use crate::result::MultiLinkCounts;
use airbraid_mac::edca::{Content, Ppdu};
use airbraid_units::{Bytes, Duration, Instant};

/// Time in which something is so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    since: Option<Instant>,
    total: Duration,
}

impl Span {
    /// It is so from now on, or no more; returns whether it begins.
    pub fn set(&mut self, now: Instant, is_so: bool) -> bool {
        if self.since.is_some() == is_so {
            return false;
        }
        self.total = self.until(now);
        self.since = is_so.then_some(now);
        is_so
    }

    /// All of the time up to now.
    pub fn until(&self, now: Instant) -> Duration {
        let open = self.since.map_or(Duration::ZERO, |since| now.saturating_since(since));
        self.total + open
    }
}

/// Counts of one link towards one peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCount {
    counts: MultiLinkCounts,
    airtime: Duration,
    /// The link stands still.
    stalled: Span,
    /// The same before counting began.
    stalled_before: Duration,
}

impl LinkCount {
    /// A PPDU is sent.
    pub fn on_ppdu(&mut self, ppdu: &Ppdu<Msdu>, airtime: Duration) {
        match &ppdu.content {
            Content::Data(data) => {
                let counts = &mut self.counts;
                counts.mpdus += data.mpdus().len() as u64;
                for mpdu in data.mpdus() {
                    counts.retries += u64::from(mpdu.attempts > 1);
                    counts.sent += Bytes::new(mpdu.size.into());
                }
            }
            Content::BlockAckRequest { .. } => self.counts.block_ack_requests += 1,
            Content::Agreement(_) => {}
            Content::BlockAck(_) => return,
        }
        self.airtime += airtime;
    }

    /// A PPDU is announced.
    pub fn on_rts(&mut self, airtime: Duration) {
        self.airtime += airtime;
    }

    /// The link stands still from now on, or no more.
    pub fn set_stalled(&mut self, now: Instant, is_stalled: bool) {
        self.counts.window_stalls += u64::from(self.stalled.set(now, is_stalled));
    }

    /// Counting of what limits flows begins.
    pub fn begin_counting(&mut self, now: Instant) {
        self.stalled_before = self.stalled(now);
    }

    /// The counts up to now.
    pub fn counts(&self, now: Instant) -> MultiLinkCounts {
        MultiLinkCounts { stalled: self.stalled(now), ..self.counts }
    }
    /// Time in which the link has stood still up to now.
    pub fn stalled(&self, now: Instant) -> Duration {
        self.stalled.until(now)
    }
    /// The same since counting began.
    pub fn counted_stalled(&self, now: Instant) -> Duration {
        self.stalled(now).saturating_sub(self.stalled_before)
    }
    /// The share of the MPDUs that had been sent before.
    pub fn retried(&self) -> f64 {
        self.counts.retries as f64 / self.counts.mpdus.max(1) as f64
    }
    /// Time on the air of what was sent; answers are not among it.
    pub const fn airtime(&self) -> Duration {
        self.airtime
    }
}

/// MPDUs of one peer that wait for those before them.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeldCount {
    held: u32,
    since: Instant,
    /// Time that MPDUs have waited, added \[ns\].
    waited_ns: u128,
    most: u32,
    delivered: u64,
}

impl HeldCount {
    /// This many wait from now on.
    pub fn set_held(&mut self, now: Instant, held: u32) {
        self.waited_ns += u128::from(self.held) * u128::from(now.saturating_since(self.since).as_nanos());
        (self.held, self.since) = (held, now);
        self.most = self.most.max(held);
    }

    /// This many are handed up.
    pub fn on_delivered(&mut self, mpdus: u32) {
        self.delivered += u64::from(mpdus);
    }

    pub const fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Most that have waited at once.
    pub const fn most(&self) -> u32 {
        self.most
    }
    /// Mean time that one has waited, of all that are handed up.
    pub fn mean_wait(&self) -> Duration {
        Duration::from_nanos((self.waited_ns / u128::from(self.delivered.max(1))) as u64)
    }
}
