//! Tail loss probes: a segment sent before the timeout, whose acknowledgement reveals a loss at the end of a flight
//! (RFC 8985, section 7), as Linux has it.
//!
//! It says when to probe, and what an acknowledgement says about a probe. It sends nothing.

use airbraid_units::Duration;

/// Shortest wait of a timer that must not fire at once (`TCP_TIMEOUT_MIN`: two ticks of 1 ms).
pub(super) const TIMEOUT_MIN: Duration = Duration::from_millis(2);

/// A probe that is not yet answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// The end of what had been sent (`TLP.end_seq`).
    pub end: u64,
    /// It was a retransmission, so that its arrival may hide a loss (`TLP.is_retrans`).
    pub repeats: bool,
}

/// The meaning of an acknowledgement for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing yet.
    Open,
    /// Everything had arrived.
    NoLoss,
    /// The probe filled a gap: the window must be reduced.
    Repaired,
}

/// Time from the last transmission to the probe (7.2): two round trips, and if one segment is out `delayed_ack` for the
/// receiver's delay; `initial` without a sample.
pub(super) fn timeout(srtt: Option<Duration>, out: u64, delayed_ack: Duration, initial: Duration) -> Duration {
    let Some(srtt) = srtt else { return initial };
    srtt * 2 + if out == 1 { delayed_ack } else { TIMEOUT_MIN }
}

impl Probe {
    /// The meaning of an acknowledgement up to `ack` (7.4.2). `duplicate`: it reports the probe as needless; `bare`: it
    /// brings nothing new.
    pub fn answer(self, ack: u64, duplicate: bool, bare: bool) -> Answer {
        match () {
            () if ack < self.end => Answer::Open,
            () if !self.repeats || duplicate => Answer::NoLoss,
            () if ack > self.end => Answer::Repaired,
            () if bare => Answer::NoLoss,
            () => Answer::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_leaves_after_two_round_trips() {
        let ms = Duration::from_millis;
        assert_eq!(timeout(Some(ms(50)), 5, ms(200), ms(1_000)), ms(102));
        assert_eq!(timeout(Some(ms(50)), 1, ms(200), ms(1_000)), ms(300), "one segment: it may wait for a delayed ACK");
        assert_eq!(timeout(None, 5, ms(200), ms(1_000)), ms(1_000));
    }

    #[test]
    fn only_a_repetition_can_hide_a_loss() {
        let new = Probe { end: 100, repeats: false };
        let old = Probe { repeats: true, ..new };
        assert_eq!(old.answer(99, false, true), Answer::Open);
        assert_eq!(new.answer(100, false, false), Answer::NoLoss);
        assert_eq!(old.answer(100, true, false), Answer::NoLoss, "reported twice: both arrived");
        assert_eq!(old.answer(100, false, true), Answer::NoLoss, "a second acknowledgement of the same");
        assert_eq!(old.answer(100, false, false), Answer::Open, "the first: the next will tell");
        assert_eq!(old.answer(101, false, false), Answer::Repaired);
    }
}
