//! Changes that the scenario dates, and samples for the series.

use super::{Event, World};
use crate::phy::ErrorModel;
use crate::queue::Phase;
use crate::scenario::spec::{Change, ChangeKind};
use airbraid_net::link::{LinkConfig, LinkInput};

/// A link after these changes.
fn changed(before: &LinkConfig, own: usize, changes: &[Change]) -> LinkConfig {
    let mut config = before.clone();
    for change in changes {
        match &change.what {
            ChangeKind::LinkLoss { link, loss } if *link == own => config.loss = loss.clone(),
            ChangeKind::LinkMtu { link, mtu } if *link == own => config.mtu = Some(*mtu),
            _ => {}
        }
    }
    config
}

impl World<'_> {
    /// A change of the scenario takes effect.
    pub(super) fn change(&mut self, index: u32) {
        let spec = self.spec;
        match &spec.changes[index as usize].what {
            ChangeKind::RadioUp { node, radio, up } => {
                let radio = super::build::first_radios(spec)[*node] as usize + radio;
                self.medium.set_up(radio, *up);
                self.on_port(radio as u32, *up);
            }
            ChangeKind::RadioBer { node, radio, ber } => {
                let radio = super::build::first_radios(spec)[*node] as usize + radio;
                self.medium.set_errors(radio, ErrorModel::Ber(*ber));
            }
            ChangeKind::LinkUp { link, up } => {
                for side in [0, 1] {
                    self.step_link((2 * link + side) as u32, Some(LinkInput::SetUp(*up)));
                }
            }
            ChangeKind::LinkLoss { link, .. } | ChangeKind::LinkMtu { link, .. } => {
                for side in [0, 1] {
                    let config = changed(&spec.links[*link].directions[side], *link, &spec.changes[..=index as usize]);
                    self.step_link((2 * link + side) as u32, Some(LinkInput::SetConfig(config)));
                }
            }
        }
    }

    /// Values are sampled for the series, and the next sample is dated.
    pub(super) fn sample(&mut self) {
        for end in &mut self.trunks {
            end.hold_times.push(end.trunk.hold_time().as_secs_f64());
            if let Some(select) = &mut end.select {
                select.sample();
            }
        }
        if self.spec.record.sequence {
            for flow in &mut self.flows {
                flow.counts.sequences.push(flow.counts.sequence as f64);
            }
        }
        self.queue.push(self.now + self.spec.record.interval, Phase::Statistics, Event::Sample);
    }
}
