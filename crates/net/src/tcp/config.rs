//! What a TCP connection can be told.

use airbraid_units::{Bytes, Duration};

/// How TCP recovers from loss and grows its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Fast retransmit and fast recovery that ends with the first new acknowledgement (RFC 5681).
    Reno,
    /// Reno that stays in recovery over partial acknowledgements (RFC 6582).
    #[default]
    NewReno,
    /// NewReno's window with a scoreboard of selective acknowledgements (RFC 6675).
    Sack,
    /// SACK recovery with the cubic window (RFC 9438).
    Cubic,
}

/// Parameters of one connection, both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Loss recovery and congestion control.
    pub variant: Variant,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Initial window in segments; `None`: RFC 5681 (2, 3 or 4 by the size of a segment).
    pub initial_window: Option<u32>,
    /// The retransmission timeout is never shorter (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Duration,
    /// The retransmission timeout is never longer.
    pub max_rto: Duration,
    /// The retransmission timeout before the first sample.
    pub initial_rto: Duration,
    /// Granularity G of the retransmission clock; timers expire on its ticks (BSD: 500 ms). One nanosecond: none.
    pub tick: Duration,
    /// An acknowledgement is sent at least for every so many full segments (1: each).
    pub ack_every: u32,
    /// An acknowledgement is never delayed longer.
    pub ack_delay: Duration,
    /// The receiver's socket buffer: the largest window that it offers.
    pub receive_buffer: Bytes,
    /// The sender's socket buffer: unacknowledged and unsent data together.
    pub send_buffer: Bytes,
    /// Whether windows above 65,535 byte can be offered (RFC 7323); without, the offer is cut there.
    pub window_scaling: bool,
    /// Whether segments carry the 12 byte of the timestamps option (RFC 7323).
    pub timestamps: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            mss: Bytes::new(1_460),
            initial_window: None,
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(1),
            tick: Duration::from_nanos(1),
            ack_every: 2,
            ack_delay: Duration::from_millis(100),
            receive_buffer: Bytes::new(65_535),
            send_buffer: Bytes::new(1 << 20),
            window_scaling: true,
            timestamps: false,
        }
    }
}
