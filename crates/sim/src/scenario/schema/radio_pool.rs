//! Radios that nodes share: those of a large scenario are nearly all the same.

use crate::scenario::reader::Context;
use crate::scenario::spec::Radio;
use std::sync::Arc;

/// Different radios that are remembered: a node has one for each of its channels.
const REMEMBERED_MAX: usize = 64;

/// The radios that were read so far.
#[derive(Default)]
pub(super) struct RadioPool {
    different: Vec<Arc<Radio>>,
    /// Those that are `[radio]` on a channel, by its number.
    plain: Vec<(u32, Arc<Radio>)>,
}

impl RadioPool {
    /// The radio that is `[radio]` on this channel, with `read` where it is not known yet. It is read each time where
    /// its values are shown or its keys listed, and where it has errors.
    pub fn plain(&mut self, cx: &Context, channel: u32, read: impl FnOnce() -> Radio) -> Arc<Radio> {
        let known = self.plain.iter().find(|(number, _)| *number == channel);
        if let Some((_, radio)) = known.filter(|_| cx.only_resolves()) {
            return Arc::clone(radio);
        }
        let was_right = !cx.has_problems();
        let radio = self.shared(read());
        if was_right && !cx.has_problems() && self.plain.len() < REMEMBERED_MAX {
            self.plain.push((channel, Arc::clone(&radio)));
        }
        radio
    }

    /// A radio, shared with others that are the same.
    pub fn shared(&mut self, radio: Radio) -> Arc<Radio> {
        if let Some(same) = self.different.iter().find(|other| ***other == radio) {
            return Arc::clone(same);
        }
        let radio = Arc::new(radio);
        if self.different.len() < REMEMBERED_MAX {
            self.different.push(Arc::clone(&radio));
        }
        radio
    }
}
