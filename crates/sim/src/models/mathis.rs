//! TCP throughput from loss and round-trip time: Mathis, Semke, Mahdavi and Ott 1997. It is of congestion avoidance:
//! beyond a loss of 0.02 timeouts rule.

use airbraid_units::Bytes;

/// `C` of a receiver that acknowledges every second segment, sqrt(3/4): the paper's stations have delayed
/// acknowledgements on. With one acknowledgement a segment it is sqrt(3/2) = 1.22. Ratios do not depend on it.
pub const DELAYED_ACK: f64 = 0.866;

/// `C MSS / (RTT sqrt p)` \[bit/s\]; infinite where the round-trip time or the loss is 0, and 0 where the round-trip
/// time is infinite.
pub fn throughput_bps(mss: Bytes, rtt_s: f64, loss: f64, constant: f64) -> f64 {
    constant * mss.as_u64() as f64 * 8.0 / (rtt_s * libm::sqrt(loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula() {
        // 0.866 * 1448 * 8 / (0.1 * 0.1).
        assert!((throughput_bps(Bytes::new(1_448), 0.1, 0.01, DELAYED_ACK) - 1_003_174.4).abs() < 0.1);
        assert_eq!(throughput_bps(Bytes::new(1_448), f64::INFINITY, 0.01, DELAYED_ACK), 0.0);
        assert_eq!(throughput_bps(Bytes::new(1_448), 0.0, 0.01, DELAYED_ACK), f64::INFINITY);
    }
}
