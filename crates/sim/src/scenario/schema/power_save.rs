//! Radios with power management: access points, and stations that go from one to the next.

use crate::scenario::reader::View;
use crate::scenario::spec::SlottedRadio;
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::power_save::{AccessPointConfig, RETUNING_TIME};

/// What a station needs of its access points' channels: a radio tells so many apart.
pub(super) const CHANNELS_MAX: usize = 250;
/// Packets that wait for a dozing station: two full windows of TCP at 25 Mbit/s and 50 ms.
const BUFFER: u32 = 200;
/// A null frame is sent as often as any other short frame: the default short retry limit of 802.11.
const NULL_ATTEMPTS: u32 = 7;

/// Reads what an access point has beside `dcf`.
pub(super) fn access_point(view: &View<'_>, dcf: DcfConfig) -> AccessPointConfig {
    let buffer_limit = view.count("buffer", BUFFER, "packets for each station that dozes");
    AccessPointConfig { dcf, buffer_limit }
}

/// Reads what a station with slots has beside `dcf`.
pub(super) fn slotted(view: &View<'_>, dcf: DcfConfig) -> SlottedRadio {
    let retuning = view.quantity("retuning", RETUNING_TIME, "Giustiniano 2013, section 3.1");
    let null_attempts = view.count("null_attempts", NULL_ATTEMPTS, "as other short frames");
    let message = || "a null frame is sent at least once".to_owned();
    view.require(null_attempts > 0, "null_attempts", message, "write 1 or more");
    SlottedRadio { dcf, retuning, null_attempts: null_attempts.max(1) }
}
