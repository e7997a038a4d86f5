//! The history as it is asked for: by the page, and by `airbraid top`.

use super::event::Event;
use super::series::VALUES;
use super::{History, Span};
use crate::daemon::status::Status;
use serde::{Deserialize, Serialize};

/// The beginning of a step \[s since 1970\], and least, mean and largest of: sent and received \[bit/s\], round trip
/// \[us\], loss \[1e-6\], delay of the link's queue \[us\].
pub type PointReport = (u32, [Option<u64>; 3 * VALUES]);

/// The values of a link over a span.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkHistory {
    /// The peer.
    pub peer: String,
    /// Our uplink.
    pub uplink: String,
    /// The name of the link at the end that it belongs to.
    pub link: String,
    /// The steps of which something is known, oldest first.
    pub points: Vec<PointReport>,
}

/// The recent past, with the present state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HistoryReport {
    /// Time of day \[s since 1970\].
    pub time_s: u32,
    /// `minute`, `hour`, `day` or `month`.
    pub span: String,
    /// Length of a step \[s\].
    pub step_s: u32,
    /// Number of steps of the span.
    pub steps: usize,
    /// The links of which something is known in this span.
    pub links: Vec<LinkHistory>,
    /// Number of links that are not recorded, as there are too many.
    pub left_out: usize,
    /// The events that are kept, newest first.
    pub events: Vec<Event>,
    /// The present state, of the first peers of the file.
    pub status: Status,
}

impl History {
    /// The report of a span.
    pub fn report(&self, time_s: u32, span: Span, status: Status) -> HistoryReport {
        HistoryReport {
            time_s,
            span: span.name().to_owned(),
            step_s: span.step(),
            steps: span.steps(),
            links: self.links(time_s, span),
            left_out: self.left_out,
            events: self.events.iter().rev().cloned().collect(),
            status,
        }
    }
}
