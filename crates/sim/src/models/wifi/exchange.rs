//! One access to the medium: the PPDUs of an exchange, their times, and the MSDUs that they carry.

use airbraid_mac::phy::{Phy, Rate};
use airbraid_mac::ppdu::{Format, Mode, PPDU_TIME_MAX};
use airbraid_units::{Bytes, Duration};

/// RTS (9.3.1.2).
const RTS: Bytes = Bytes::new(20);
/// CTS and ACK (9.3.1.3, 9.3.1.4).
const CTS: Bytes = Bytes::new(14);
/// A compressed block acknowledgement without its bitmap (9.3.1.8.2).
const BLOCK_ACK: u64 = 24;
/// A block acknowledgement request (9.3.1.7.2).
const BLOCK_ACK_REQUEST: Bytes = Bytes::new(24);
/// The delimiter before each MPDU of an A-MPDU (9.7.1).
const DELIMITER: u64 = 4;
/// The header of an A-MSDU's subframe: addresses and length (9.3.2.2.2).
const AMSDU_HEADER: u64 = 14;
/// Subframes of A-MPDUs and A-MSDUs begin on multiples of this.
const ALIGNMENT: u64 = 4;
/// Receive start delay of OFDM, the last part of a timeout: 20 us (802.11-2020 table 17-21), for the answers are non-HT
/// PPDUs.
const RX_START_DELAY: Duration = Duration::from_micros(20);

/// The PHY that data are sent with.
#[derive(Clone, Copy, Debug)]
pub enum Sending {
    /// 802.11n to be.
    Ppdu(Mode),
    /// The same behind another preamble than the standard's, to compare with a simulator that has it.
    Behind { preamble: Duration, mode: Mode },
    /// The older OFDM PHYs.
    Ofdm(Rate),
}

/// Limits of an A-MPDU.
#[derive(Clone, Copy, Debug)]
pub struct Aggregation {
    pub bytes: Bytes,
    /// The most MPDUs: that of the sender, and the window of the agreement.
    pub frames: u64,
    /// The window of the agreement, which sizes the bitmap of the block acknowledgement.
    pub window: u64,
}

/// A saturated sender, all of whose packets have one size.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub sending: Sending,
    /// Slot, SIFS, and airtimes of control frames.
    pub phy: Phy,
    /// The IP packet.
    pub packet: Bytes,
    /// LLC and SNAP.
    pub llc: Bytes,
    /// MAC header and FCS of an MPDU.
    pub header: Bytes,
    /// Packets of an A-MSDU; 1 is none.
    pub amsdu: u64,
    /// `None`: one MPDU a PPDU, with a normal ACK.
    pub aggregation: Option<Aggregation>,
    /// Rate of RTS and CTS.
    pub control: Rate,
    /// Rate of ACK, block acknowledgement and its request.
    pub response: Rate,
    pub rts: bool,
    /// The TXOP limit; zero is one exchange.
    pub txop: Duration,
}

/// The parameters of a category (802.11-2020 table 9-155).
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub aifsn: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    /// The failure in a row that resets the window; `None`: none does.
    pub reset_at: Option<u32>,
}

/// An access to the medium that succeeds, and one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// MPDUs of each PPDU.
    pub mpdus: u64,
    pub psdu: Bytes,
    /// Exchanges within the TXOP.
    pub exchanges: u64,
    /// Packets of all of them.
    pub packets: u64,
    /// One PPDU of data.
    pub data: Duration,
    /// From the first bit of the access to its end.
    pub success: Duration,
    /// The first frame, which is lost: RTS or data.
    pub lost: Duration,
    /// A block acknowledgement request, and with its answer.
    pub request: Duration,
    pub request_success: Duration,
    /// The time after the end of a lost frame at which its sender takes it for lost (10.3.2.11).
    pub timeout: Duration,
}

impl Access {
    /// AIFS (10.23.2.4).
    pub fn aifs(&self, phy: &Phy) -> Duration {
        phy.sifs + phy.slot * u64::from(self.aifsn)
    }
    /// The window after `failures` in a row.
    pub fn window(&self, failures: u32) -> u32 {
        let doubled = (u64::from(self.cw_min) + 1) << failures.min(32);
        u32::try_from(doubled - 1).unwrap_or(u32::MAX).min(self.cw_max)
    }
    /// Number of failures in a row after one more.
    pub fn after_failure(&self, failures: u32) -> u32 {
        let next = failures + 1;
        if self.reset_at == Some(next) { 0 } else { next }
    }
}

impl Sender {
    /// The largest access that the limits allow: one exchange, or as many as the TXOP limit has time for, each with the
    /// most MPDUs that still fit.
    pub fn exchange(&self) -> Exchange {
        let answer = self.phy.sifs + self.phy.frame_time(self.response, self.answer());
        let protection = match self.rts {
            true => self.control_time(RTS) + self.control_time(CTS) + self.phy.sifs * 2,
            false => Duration::ZERO,
        };
        let has_txop = !self.txop.is_zero();
        let left = |used: Duration| self.txop.saturating_sub(used + answer);
        let first_limit = if has_txop { left(protection) } else { PPDU_TIME_MAX };
        let mpdus = self.largest(first_limit).unwrap_or(1);
        let (data, psdu) = self.data(mpdus);
        let (mut success, mut sent, mut exchanges) = (protection + data + answer, mpdus, 1);
        while has_txop && let Some(n) = self.largest(left(success + self.phy.sifs)) {
            success += self.phy.sifs + self.data(n).0 + answer;
            (sent, exchanges) = (sent + n, exchanges + 1);
        }
        let request = self.phy.frame_time(self.response, BLOCK_ACK_REQUEST);
        Exchange {
            mpdus,
            psdu,
            exchanges,
            packets: sent * self.amsdu,
            data,
            success,
            lost: if self.rts { self.control_time(RTS) } else { data },
            request,
            request_success: request + answer,
            timeout: self.phy.sifs + self.phy.slot + RX_START_DELAY,
        }
    }

    /// Size of an MPDU.
    pub fn mpdu(&self) -> Bytes {
        let msdu = self.packet + self.llc;
        if self.amsdu <= 1 {
            return self.header + msdu;
        }
        let subframe = Bytes::new(AMSDU_HEADER) + msdu;
        self.header + aligned(subframe) * (self.amsdu - 1) + subframe
    }

    /// The most MPDUs of a PPDU that lasts at most `limit`; `None` if not even one fits.
    fn largest(&self, limit: Duration) -> Option<u64> {
        let most = self.aggregation.map_or(1, |limits| limits.frames.min(limits.window));
        let limit = limit.min(PPDU_TIME_MAX);
        let fits = |n: &u64| {
            let (time, size) = self.data(*n);
            time <= limit && (*n == 1 || self.aggregation.is_none_or(|limits| size <= limits.bytes))
        };
        (1..=most).take_while(fits).last()
    }

    /// Time and size of a PPDU with `n` MPDUs.
    fn data(&self, n: u64) -> (Duration, Bytes) {
        let mpdu = self.mpdu();
        let psdu = |mode: Mode| {
            // HT sends a lone MPDU bare, the later formats as an A-MPDU of one (10.12.8).
            let is_bare = n == 1 && mode.choice().format == Format::Ht && self.aggregation.is_none();
            let subframe = Bytes::new(DELIMITER) + mpdu;
            if is_bare { mpdu } else { aligned(subframe) * (n - 1) + subframe }
        };
        match self.sending {
            Sending::Ofdm(rate) => (self.phy.frame_time(rate, mpdu), mpdu),
            Sending::Ppdu(mode) => (mode.airtime(psdu(mode)), psdu(mode)),
            Sending::Behind { preamble, mode } => (mode.airtime(psdu(mode)) - mode.preamble() + preamble, psdu(mode)),
        }
    }

    /// ACK or block acknowledgement.
    fn answer(&self) -> Bytes {
        match self.aggregation {
            None => CTS,
            // The bitmap has 64, 256, 512 or 1024 bits (table 9-28).
            Some(Aggregation { window, .. }) => {
                let bits = [64, 256, 512].into_iter().find(|&bits| window <= bits).unwrap_or(1024);
                Bytes::new(BLOCK_ACK + bits / 8)
            }
        }
    }

    fn control_time(&self, size: Bytes) -> Duration {
        self.phy.frame_time(self.control, size)
    }

    /// Goodput of one sender that contends with nobody \[bit/s\], `bits` a packet: AIFS, half of the smallest window,
    /// and an exchange.
    pub fn alone_bps(&self, access: &Access, bits: u64) -> f64 {
        let exchange = self.exchange();
        let fixed = access.aifs(&self.phy) + exchange.success;
        let backoff = f64::from(access.cw_min) / 2.0 * self.phy.slot.as_secs_f64();
        (exchange.packets * bits) as f64 / (fixed.as_secs_f64() + backoff)
    }
}

fn aligned(size: Bytes) -> Bytes {
    Bytes::new(size.as_u64().next_multiple_of(ALIGNMENT))
}
