//! Configuration of a TCP connection.

use crate::Refusal;
use airbraid_units::{Bytes, Duration};

/// The largest window that can be offered \[byte\]: 65,535 shifted by at most 14 (RFC 7323, section 2.3).
pub(crate) const MAX_WINDOW: u64 = 1 << 30;

/// The largest window without scaling \[byte\]: the field has 16 bits (RFC 9293, section 3.1).
pub(crate) const MAX_UNSCALED_WINDOW: u64 = 65_535;

/// Loss recovery and growth of the window.
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
    /// A rate and a window from the delivery rate and the least round trip (BBR, version 1); with [`Profile::Linux`].
    Bbr,
}

/// The implementation that is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Each mechanism as its RFC has it, one at a time.
    #[default]
    Rfc,
    /// The Linux kernel with its default settings; with [`Variant::Reno`], [`Variant::Cubic`] or [`Variant::Bbr`].
    Linux,
    /// Hosts of the nineties with code from BSD's Net/2 and 4.4: the RFCs' sender with BSD's clock and buffers; with
    /// [`Variant::Reno`].
    Bsd,
}

/// Linux: segments of an initial window (`TCP_INIT_CWND`; RFC 6928).
const LINUX_INITIAL_WINDOW: u32 = 10;

/// Linux: the timeout's variation term is never less (`TCP_RTO_MIN`).
const LINUX_MIN_RTO: Duration = Duration::from_millis(200);

/// Linux: `TCP_RTO_MAX`.
const LINUX_MAX_RTO: Duration = Duration::from_secs(120);

/// Linux: `TCP_DELACK_MAX`.
const LINUX_ACK_DELAY: Duration = Duration::from_millis(200);

/// Linux: the window that `tcp_rmem`'s maximum of 6 MiB allows \[byte\]: half of it is for payload
/// (`tcp_adv_win_scale`).
const LINUX_RECEIVE_BUFFER: Bytes = Bytes::new(3 << 20);

/// Linux: `tcp_wmem`'s maximum \[byte\].
const LINUX_SEND_BUFFER: Bytes = Bytes::new(4 << 20);

/// BSD: the slow timeout, on which retransmission timers count (`PR_SLOWHZ`: 2 a second).
const BSD_TICK: Duration = Duration::from_millis(500);

/// BSD: at least two ticks (`TCPTV_MIN`).
const BSD_MIN_RTO: Duration = Duration::from_secs(1);

/// BSD: `TCPTV_REXMTMAX`.
const BSD_MAX_RTO: Duration = Duration::from_secs(64);

/// BSD: before the first sample, a variation of 3 s twice (`TCPTV_SRTTDFLT`).
const BSD_INITIAL_RTO: Duration = Duration::from_secs(6);

/// BSD: the fast timeout, which sends delayed acknowledgements (`PR_FASTHZ`: 5 a second).
const BSD_ACK_DELAY: Duration = Duration::from_millis(200);

/// BSD: `tcp_sendspace` and `tcp_recvspace` \[byte\].
const BSD_BUFFER: Bytes = Bytes::new(16 << 10);

/// The timestamps option \[byte\] (RFC 7323, appendix A), which a payload of 1448 leaves room for.
const TIMESTAMPS_OPTION: u64 = 12;

/// Parameters of one connection, both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub profile: Profile,
    /// Loss recovery and congestion control.
    pub variant: Variant,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Initial window in segments; `None`: RFC 5681 (2, 3 or 4 by the size of a segment).
    pub initial_window: Option<u32>,
    /// The retransmission timeout is never shorter (RFC 6298: 1 s); profile `linux`: its variation term is not (200
    /// ms).
    pub min_rto: Duration,
    /// The retransmission timeout is never longer.
    pub max_rto: Duration,
    /// The retransmission timeout before the first sample.
    pub initial_rto: Duration,
    /// Granularity G of the retransmission clock; timers expire on its ticks (BSD: 500 ms). One nanosecond: none.
    pub tick: Duration,
    /// Number of full segments after which an acknowledgement is sent at the latest (1: each).
    pub ack_every: u32,
    /// An acknowledgement is never delayed longer.
    pub ack_delay: Duration,
    /// The receiver's socket buffer: the largest window that it offers; profile `linux`: grown up to by autotuning.
    pub receive_buffer: Bytes,
    /// The sender's socket buffer: unacknowledged and unsent data together.
    pub send_buffer: Bytes,
    /// Whether windows above 65,535 byte can be offered (RFC 7323); without, the offer is cut there.
    pub window_scaling: bool,
    /// Whether the first two duplicate acknowledgements let a new segment go (RFC 3042); with SACK they need not.
    pub limited_transmit: bool,
    /// Whether segments carry the 12 byte of the timestamps option (RFC 7323).
    pub timestamps: bool,
}

impl Variant {
    /// Whether the connection uses selective acknowledgements (RFC 2018).
    pub const fn has_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Cubic | Self::Bbr)
    }
}

impl Config {
    /// The defaults of a Linux host with `variant`, over an MTU of 1500 byte.
    pub const fn linux(variant: Variant) -> Self {
        Self {
            profile: Profile::Linux,
            variant,
            mss: Bytes::new(1_460 - TIMESTAMPS_OPTION),
            initial_window: Some(LINUX_INITIAL_WINDOW),
            min_rto: LINUX_MIN_RTO,
            max_rto: LINUX_MAX_RTO,
            initial_rto: Duration::from_secs(1),
            tick: Duration::from_nanos(1),
            ack_every: 2,
            ack_delay: LINUX_ACK_DELAY,
            receive_buffer: LINUX_RECEIVE_BUFFER,
            send_buffer: LINUX_SEND_BUFFER,
            window_scaling: true,
            limited_transmit: true,
            timestamps: true,
        }
    }

    /// The defaults of a BSD host of the nineties with `variant`, over an MTU of 1500 byte.
    pub const fn bsd(variant: Variant) -> Self {
        Self {
            profile: Profile::Bsd,
            variant,
            mss: Bytes::new(1_460),
            initial_window: Some(1),
            min_rto: BSD_MIN_RTO,
            max_rto: BSD_MAX_RTO,
            initial_rto: BSD_INITIAL_RTO,
            tick: BSD_TICK,
            ack_every: 2,
            ack_delay: BSD_ACK_DELAY,
            receive_buffer: BSD_BUFFER,
            send_buffer: BSD_BUFFER,
            window_scaling: false,
            limited_transmit: false,
            timestamps: false,
        }
    }

    /// Whether the connection uses selective acknowledgements: as the variant has it, Linux always.
    pub const fn has_sack(&self) -> bool {
        matches!(self.profile, Profile::Linux) || self.variant.has_sack()
    }

    /// Refuses values that no connection can work with.
    ///
    /// # Errors
    /// The first parameter out of its range, and what is asked of it.
    pub fn check(&self) -> Result<(), Refusal> {
        let linux = self.profile == Profile::Linux;
        let known = matches!(self.variant, Variant::Reno | Variant::Cubic | Variant::Bbr);
        Refusal::unless(!linux || known, "profile", "go with `reno`, `cubic` or `bbr` if it is `linux`")?;
        let paced = linux || self.variant != Variant::Bbr;
        Refusal::unless(paced, "profile", "be `linux` where the congestion control is `bbr`")?;
        let reno = self.profile != Profile::Bsd || self.variant == Variant::Reno;
        Refusal::unless(reno, "profile", "go with `reno` if it is `bsd`")?;
        let fine = self.tick == Duration::from_nanos(1);
        Refusal::unless(!linux || fine, "tick", "be 1 ns in the profile `linux`")?;
        let mss = self.mss.as_u64();
        Refusal::unless((1..=65_495).contains(&mss), "mss", "lie between 1 and 65495 byte")?;
        Refusal::unless(self.initial_window != Some(0), "initial_window", "be at least one segment")?;
        Refusal::unless(!self.tick.is_zero(), "tick", "be longer than zero")?;
        Refusal::unless(!self.initial_rto.is_zero(), "initial_rto", "be longer than zero")?;
        Refusal::unless(!self.max_rto.is_zero(), "max_rto", "be longer than zero")?;
        Refusal::unless(self.min_rto <= self.max_rto, "min_rto", "not be longer than `max_rto`")?;
        Refusal::unless(self.initial_rto <= self.max_rto, "initial_rto", "not be longer than `max_rto`")?;
        Refusal::unless(self.ack_every >= 1, "ack_every", "be at least 1")?;
        let buffer = self.receive_buffer.as_u64();
        Refusal::unless((mss..=MAX_WINDOW).contains(&buffer), "receive_buffer", "hold a segment and at most 1 GiB")?;
        let buffer = self.send_buffer.as_u64();
        Refusal::unless((mss..=MAX_WINDOW).contains(&buffer), "send_buffer", "hold a segment and at most 1 GiB")
    }

    /// The initial window \[byte\] (RFC 5681, section 3.1).
    pub(crate) fn initial_cwnd(&self) -> u64 {
        let mss = self.mss.as_u64();
        let segments = self.initial_window.map_or_else(
            || match mss {
                2_191.. => 2,
                1_096..=2_190 => 3,
                _ => 4,
            },
            u64::from,
        );
        segments * mss
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::Rfc,
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
            limited_transmit: true,
            timestamps: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An MTU of 1500 less 40 of headers, and 12 of timestamps on Linux.
    #[test]
    fn hosts_have_their_defaults() {
        let linux = Config::linux(Variant::Cubic);
        assert_eq!((linux.mss.as_u64(), linux.initial_window, linux.initial_cwnd()), (1_448, Some(10), 14_480));
        assert!(linux.has_sack() && linux.check().is_ok() && Config::linux(Variant::Reno).has_sack());
        let bsd = Config::bsd(Variant::Reno);
        assert_eq!((bsd.mss.as_u64(), bsd.initial_cwnd(), bsd.send_buffer.as_u64()), (1_460, 1_460, 16_384));
        assert!(!bsd.has_sack() && bsd.check().is_ok());
        // RFC 5681: two, three or four segments.
        let window = |mss| Config { mss: Bytes::new(mss), ..Config::default() }.initial_cwnd() / mss;
        assert_eq!([1_095, 1_096, 2_190, 2_191].map(window), [4, 3, 3, 2]);
    }

    #[test]
    fn what_no_connection_can_work_with_is_refused() {
        let refused = |change: &dyn Fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check().is_err()
        };
        for mss in [0, 65_496] {
            assert!(refused(&|config| config.mss = Bytes::new(mss)));
        }
        let large = Bytes::new(1 << 30);
        assert!(!refused(&|config| (config.receive_buffer, config.send_buffer) = (large, large)));
        assert!(!refused(&|config| (config.receive_buffer, config.send_buffer) = (config.mss, config.mss)));
        for bytes in [1_459, (1 << 30) + 1] {
            assert!(refused(&|config| config.receive_buffer = Bytes::new(bytes)));
            assert!(refused(&|config| config.send_buffer = Bytes::new(bytes)));
        }
        assert!(!refused(&|config| config.min_rto = config.max_rto));
        assert!(refused(&|config| config.min_rto = config.max_rto + Duration::from_nanos(1)));
        assert!(refused(&|config| config.initial_rto = config.max_rto + Duration::from_nanos(1)));
        assert!(refused(&|config| config.initial_window = Some(0)) && refused(&|config| config.ack_every = 0));
        assert!(refused(&|config| config.tick = Duration::ZERO) && refused(&|config| config.max_rto = Duration::ZERO));
        assert!(refused(&|config| config.variant = Variant::Bbr), "it is paced");
        assert!(refused(&|config| (config.profile, config.variant) = (Profile::Bsd, Variant::Cubic)));
        assert!(refused(&|config| (config.profile, config.variant) = (Profile::Linux, Variant::Sack)));
    }
}
