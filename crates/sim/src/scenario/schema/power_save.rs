//! Radios with power management: access points, and stations that go from one to the next.

use crate::scenario::reader::View;
use crate::scenario::spec::SlottedRadio;
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::power_save::{AccessPointConfig, RETUNING_TIME};

/// Keys of access points and of stations with slots: known to the other, so that one `[radio]` serves both.
pub(super) const KEYS: [&str; 3] = ["buffer", "retuning", "null_attempts"];
/// Largest number of channels of a station with access points: a radio distinguishes no more.
pub(super) const CHANNELS_MAX: usize = 250;
/// Buffer for a dozing station \[packets\]: two full windows of TCP at 25 Mbit/s and 50 ms.
const BUFFER: u32 = 200;
/// Transmissions of a null frame, as of any other short frame: the default short retry limit of 802.11.
const NULL_ATTEMPTS: u32 = 7;

/// Reads the settings of an access point beside `dcf`.
pub(super) fn access_point(view: &View<'_>, dcf: DcfConfig) -> AccessPointConfig {
    let buffer_limit = view.count("buffer", BUFFER, "packets for each station that dozes");
    AccessPointConfig { dcf, buffer_limit }
}

/// Reads the settings of a station with slots beside `dcf`.
pub(super) fn slotted(view: &View<'_>, dcf: DcfConfig) -> SlottedRadio {
    let retuning = view.quantity("retuning", RETUNING_TIME, "Giustiniano 2013, section 3.1");
    let null_attempts = view.count("null_attempts", NULL_ATTEMPTS, "as other short frames");
    let message = || "a null frame is sent at least once".to_owned();
    view.require(null_attempts > 0, "null_attempts", message, "write 1 or more");
    SlottedRadio { dcf, retuning, null_attempts: null_attempts.max(1) }
}
