//! Configuration of a polled station.

use crate::phy::{Modulation, Rate};
use airbraid_units::{BitRate, Bytes, Duration};

/// The role of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It polls the slaves, one after another.
    Master,
    /// It speaks when it is polled.
    Slave,
}

/// Parameters of a polled station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolledConfig {
    /// Master or slave.
    pub role: Role,
    /// Time of a transaction beside its bytes, both frames together: interrupts, headers, the way through two drivers.
    pub overhead: Duration,
    /// Time of each byte of payload: on the air, and copied by the hosts at both ends.
    pub per_byte: Duration,
    /// Additional time that the master waits for an answer beyond one without data; zero: a lost poll costs as much as
    /// an answered one.
    pub response_slack: Duration,
    /// Polls between two invitations of new slaves; without slaves, the master invites all the time.
    pub invite_every: u32,
    /// Largest number of MSDUs that wait here, without those that a link layer holds back.
    pub queue_limit: u32,
    /// Header and FCS of a frame; its time is part of `overhead`.
    pub header: Bytes,
}

/// WaveLAN at 915 MHz: differential QPSK at 2 Mbit/s (Tuch 1993); a station has no other rate.
pub const WAVELAN_RATE: Rate = Rate { bit_rate: BitRate::from_kbps(2_000), modulation: Modulation::Dqpsk };

impl PolledConfig {
    /// The driver of Eckhardt and Steenkiste 1998 as its section 5 measures it: 1460 byte of TCP in packets of 1500 at
    /// 100 KB/s, and 512 in packets of 552 at 70 KB/s, give 3.1 ms and 7.6 us a byte.
    pub const fn new(role: Role) -> Self {
        Self {
            role,
            overhead: Duration::from_micros(3_100),
            per_byte: Duration::from_nanos(7_600),
            response_slack: Duration::ZERO,
            // The paper mixes invitations with polls and does not say how often: 0.2 % of the time.
            invite_every: 100,
            queue_limit: 50,
            // 1309 byte a packet of 1275 in the traces (table 1: 6e7 bit in 5729 packets).
            header: Bytes::new(34),
        }
    }

    /// Time for which a frame with this payload keeps sender, medium and receiver busy.
    pub fn frame_time(&self, payload: Bytes) -> Duration {
        self.overhead / 2 + self.per_byte * payload.as_u64()
    }
}
