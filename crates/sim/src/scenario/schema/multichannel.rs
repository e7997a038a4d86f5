//! A multi-channel radio: MCMAC or Bi-MCMAC over a DCF station.

use crate::scenario::reader::View;
use airbraid_mac::dcf::DcfConfig;
use airbraid_mac::multichannel::{ChannelChoice, MultichannelConfig, Scheduling};
use airbraid_units::Bytes;

/// Keys of these MACs: known to all radios, so that one `[radio]` can be swept over the MACs.
pub(super) const KEYS: [&str; 6] =
    ["data_channels", "batch", "channel_choice", "scheduling", "switching_time", "listening_time"];
const CHOICES: [(&str, ChannelChoice); 4] = [
    ("hysteresis", ChannelChoice::Hysteresis),
    ("lowest", ChannelChoice::Lowest),
    ("least_used", ChannelChoice::LeastUsed),
    ("random", ChannelChoice::Random),
];
const SCHEDULING: [(&str, Scheduling); 2] = [("fifo", Scheduling::Fifo), ("skip_busy", Scheduling::SkipBusy)];
const KUANG: &str = "Kuang and Williamson 2004";
/// Largest batch: a frame counts those that follow in one byte.
const BATCH_MAX: u32 = 64;

/// Reads the settings of a multi-channel station beside `dcf`.
pub(super) fn read(view: &View<'_>, mut dcf: DcfConfig, is_bidirectional: bool) -> MultichannelConfig {
    // Every unicast frame is announced.
    dcf.rts_threshold = Bytes::ZERO;
    let default = MultichannelConfig::new(dcf, is_bidirectional);
    let data_channels = view.count("data_channels", u32::from(default.data_channels), KUANG);
    let some = (1..=15).contains(&data_channels);
    let message = || format!("a station cannot have {data_channels} data channels");
    view.require(some, "data_channels", message, "1 to 15, beside the control channel");
    let batch = view.count("batch", u32::from(default.batch), "one data frame a handshake");
    let message = || format!("a handshake cannot announce {batch} frames");
    view.require((1..=BATCH_MAX).contains(&batch), "batch", message, "1 to 64");
    MultichannelConfig {
        data_channels: data_channels.clamp(1, 15) as u8,
        batch: batch.clamp(1, BATCH_MAX) as u8,
        choice: view.choice("channel_choice", &CHOICES, default.choice, KUANG),
        scheduling: view.choice("scheduling", &SCHEDULING, default.scheduling, "one queue, in order"),
        switching_time: view.quantity("switching_time", default.switching_time, "the paper states none"),
        listening_time: view.quantity("listening_time", default.listening_time, "the paper states none"),
        ..default
    }
}
