//! Cells in 2.4 GHz with stations of 802.11b, which hear no OFDM (802.11-2020, clause 18).
//!
//! Stations with OFDM speak DSSS with them, and reserve the medium by a DSSS frame before what those cannot read
//! (10.27.2). Who is in a cell is the scenario's matter.

use crate::phy::{HR_DSSS_RATES, Rate};
use airbraid_units::BitRate;

/// The frame that reserves the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// A CTS to the station itself: all that hear it keep silent.
    CtsToSelf,
    /// RTS, and the CTS of the other end: those who hear one of both keep silent.
    RtsCts,
}

/// The stations of 802.11b in the cell of one with OFDM, as this one knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonErp {
    /// Their basic rates, of DSSS and CCK: a bit for each of [`HR_DSSS_RATES`], the slowest the lowest.
    pub basic_rates: u8,
    /// `None`: OFDM is sent without a reservation.
    pub protection: Option<Protection>,
}

impl NonErp {
    /// The rate of what answers a DSSS frame: the highest basic one that is not above its rate (10.6.6.5.2).
    pub(crate) fn answer_rate(&self, rate: BitRate) -> Rate {
        let basic = HR_DSSS_RATES.iter().enumerate().filter(|(i, _)| self.basic_rates >> i & 1 == 1);
        let below = basic.map(|(_, rate)| rate).rfind(|basic| basic.bit_rate <= rate);
        *below.unwrap_or(&HR_DSSS_RATES[0])
    }

    /// The rate of the frame that reserves the medium: the highest basic one.
    pub(crate) fn protection_rate(&self) -> Rate {
        self.answer_rate(HR_DSSS_RATES[HR_DSSS_RATES.len() - 1].bit_rate)
    }

    /// The frame that must go before one of this rate, if any must.
    pub(crate) fn protection_before(&self, rate: Rate) -> Option<Protection> {
        self.protection.filter(|_| rate.modulation.is_ofdm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::OFDM_RATES;

    #[test]
    fn answers_go_at_the_highest_basic_rate_that_is_not_above_the_frame() {
        let some = NonErp { basic_rates: 0b0111, protection: Some(Protection::CtsToSelf) };
        let answers = HR_DSSS_RATES.map(|rate| some.answer_rate(rate.bit_rate));
        assert_eq!(answers, [HR_DSSS_RATES[0], HR_DSSS_RATES[1], HR_DSSS_RATES[2], HR_DSSS_RATES[2]]);
        assert_eq!(some.protection_rate(), HR_DSSS_RATES[2]);
        let fast = NonErp { basic_rates: 0b1000, ..some };
        assert_eq!(fast.answer_rate(HR_DSSS_RATES[1].bit_rate), HR_DSSS_RATES[0], "every station has 1 Mbit/s");
    }

    #[test]
    fn only_ofdm_is_protected() {
        let cell = NonErp { basic_rates: 1, protection: Some(Protection::RtsCts) };
        assert_eq!(cell.protection_before(OFDM_RATES[7]), Some(Protection::RtsCts));
        assert_eq!(cell.protection_before(HR_DSSS_RATES[3]), None);
        assert_eq!(NonErp { protection: None, ..cell }.protection_before(OFDM_RATES[7]), None);
    }
}
