//! Configuration of local error control.

use super::cost::Cost;
use super::policy::Adaptation;
use super::refusal::Refusal;
use airbraid_units::Duration;

/// One end of a link with local error control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Adaptation of segment size and code to the channel; at the slave of a polled link the master's counts.
    pub adaptation: Adaptation,
    /// Cost of a frame, for policies that use it.
    pub cost: Cost,
    /// For packets that need every byte.
    pub bulk: ClassConfig,
    /// For packets that are useless when late.
    pub real_time: ClassConfig,
}

/// The queue of one traffic class, and the persistence of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassConfig {
    /// Largest number of waiting packets; the one under way is not among them. A packet that finds the queue full is
    /// dropped.
    pub queue_limit: u32,
    /// Limits on the attempts for a packet.
    pub persistence: Persistence,
}

/// Limits on the attempts for a packet; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Persistence {
    /// Largest number of retransmissions of a segment: of independent losses p the share p^(n + 1) stays. `None`: no
    /// limit.
    pub retransmissions: Option<u32>,
    /// Lifetime of a packet after it was queued, wherever it is. `None`: no limit.
    pub lifetime: Option<Duration>,
}

/// Additional configuration of selective repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Largest number of frames with a segment under way, 1 to 64: an acknowledgement distinguishes no more.
    pub window: u32,
    /// Time without a report after which a frame counts as lost; more than the round trip, queues included.
    pub timeout: Duration,
    /// Number of later frames whose arrival makes a frame lost; 1 on a link that keeps order.
    pub reordering: u32,
    /// Longest delay of an acknowledgement; it goes sooner with a segment, or after two arrivals.
    pub ack_delay: Duration,
}

impl Default for Config {
    /// The paper's outer queue of 50 packets (as far as it says), perpetual retransmission of both classes.
    fn default() -> Self {
        Self {
            adaptation: Adaptation::default(),
            cost: Cost::default(),
            bulk: ClassConfig::default(),
            real_time: ClassConfig::default(),
        }
    }
}

impl Default for ClassConfig {
    fn default() -> Self {
        Self { queue_limit: 50, persistence: Persistence::default() }
    }
}

impl Default for WindowConfig {
    /// For a link of some milliseconds that keeps order.
    fn default() -> Self {
        Self { window: 32, timeout: Duration::from_millis(200), reordering: 1, ack_delay: Duration::from_millis(2) }
    }
}

impl ClassConfig {
    fn check(&self) -> Result<(), Refusal> {
        if self.queue_limit == 0 {
            return Err(Refusal::Zero("queue_limit"));
        }
        if self.persistence.lifetime.is_some_and(Duration::is_zero) {
            return Err(Refusal::Zero("lifetime"));
        }
        Ok(())
    }
}

impl Config {
    /// Checks that an end can be made of it.
    ///
    /// # Errors
    /// [`Refusal`] says why not.
    pub fn check(&self) -> Result<(), Refusal> {
        self.bulk.check()?;
        self.real_time.check()?;
        self.adaptation.check()
    }
}

impl WindowConfig {
    /// Checks that a window can be made of it.
    ///
    /// # Errors
    /// [`Refusal`] says why not.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=64).contains(&self.window) {
            return Err(Refusal::Window(self.window));
        }
        if self.timeout.is_zero() {
            return Err(Refusal::Zero("timeout"));
        }
        if self.reordering == 0 {
            return Err(Refusal::Zero("reordering"));
        }
        Ok(())
    }
}
