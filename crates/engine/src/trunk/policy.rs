//! What a trunk can be told: the `policy` table of a scenario and of the daemon's file, as one type.

use airbraid_units::Duration;

/// How a trunk distributes and resequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which member takes the next packet.
    pub distributor: Distributor,
    /// How the receiver restores the order.
    pub resequencer: Resequencer,
    /// Packets that the trunk's own queue holds while all members are occupied (Wang 2005: 50).
    pub queue_limit: u32,
    /// Packets that a member holds at once, the one on the air included (Wang 2005: 1).
    pub member_limit: u32,
}

/// Chooses the member that takes the next packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distributor {
    /// The next free member in turn; the queue restarts at the member that became free (Wang 2005).
    #[default]
    RoundRobin,
}

/// What becomes of a packet that comes after its place was given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateMode {
    /// Deliver it at once, out of order: TCP would send it again otherwise.
    #[default]
    Tcp,
    /// Discard it: order holds, always.
    Strict,
}

/// The receiver's resequencer and its adaptive reordering timer (Wang 2005, section 3.3; the values that the paper
/// leaves open are argued for in `docs/models/trunk.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resequencer {
    /// What becomes of late packets.
    pub mode: LateMode,
    /// The reordering timer at the start.
    pub initial: Duration,
    /// The timer is never shorter.
    pub minimum: Duration,
    /// The timer is never longer.
    pub maximum: Duration,
    /// Each late packet lengthens the timer by this.
    pub increment: Duration,
    /// So long after the last late packet the timer is halved.
    pub decay: Duration,
    /// Whether the halving repeats each `decay` without late packets down to the minimum, or happens once; `decay`
    /// must then be more than zero.
    pub repeat_halving: bool,
    /// A packet that is so many numbers ahead cannot be held: everything held is delivered, and it goes on from there.
    /// Taken as 1 to 2048, half of what the duplicate filter remembers.
    pub buffer_limit: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            distributor: Distributor::default(),
            resequencer: Resequencer::default(),
            queue_limit: 50,
            member_limit: 1,
        }
    }
}

impl Default for Resequencer {
    fn default() -> Self {
        Self {
            mode: LateMode::default(),
            initial: Duration::from_millis(10),
            minimum: Duration::from_millis(1),
            maximum: Duration::from_secs(1),
            increment: Duration::from_millis(1),
            decay: Duration::from_secs(1),
            repeat_halving: false,
            buffer_limit: 2048,
        }
    }
}
