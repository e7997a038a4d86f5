//! Path validation in the sender: challenges, answers, and members that came from another place.

use super::BondSender;
use crate::trunk::Member;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::frame::{Frame, PathToken};
use crate::trunk::bonding::path::Path;
use crate::trunk::bonding::service::{BondOutput, Moved};
use airbraid_units::{BitRate, Bytes, Instant};

impl<P: Coded> BondSender<P> {
    /// A member's newest frame came from another place.
    pub fn on_moved(&mut self, now: Instant, member: Member, moved: Moved) {
        let Some(index) = self.index_of(member) else { return };
        match moved {
            Moved::Unknown { token, is_rebinding } => {
                let end = &mut self.members[index];
                let is_first = !end.validation.is_on_trial();
                // Frames that left before anything came went there, too.
                let is_new = end.counted.received_bytes == Bytes::ZERO;
                let sent = if is_new { end.counted.sent_bytes.as_u64() } else { 0 };
                end.validation.begin(now, token, sent);
                if is_rebinding {
                    return;
                }
                // Another address is another path, which is measured from the beginning (RFC 9000, section 9.4).
                let fresh = Path::new(end.config.rate_cap.map(BitRate::as_bps));
                let known = std::mem::replace(&mut end.path, fresh);
                end.path.begin_with(end.sent_frames.next());
                end.begin(now);
                if let Some(trial) = end.validation.trial.as_mut().filter(|_| is_first) {
                    trial.before = Some(Box::new(known));
                }
            }
            Moved::Known => self.on_known(now, index),
        }
    }

    /// A member is back at a place that was validated recently.
    fn on_known(&mut self, now: Instant, index: usize) {
        let end = &mut self.members[index];
        let has_failed = end.validation.has_failed();
        let Some(trial) = end.validation.trial.take() else { return };
        if has_failed || trial.before.is_some() {
            end.begin(now);
        }
        if let Some(before) = trial.before {
            end.path = *before;
            end.path.resume(now);
        }
    }

    /// A challenge was answered on a member.
    pub fn on_path_response(&mut self, now: Instant, index: usize, token: PathToken) {
        let end = &mut self.members[index];
        if end.validation.trial.as_ref().is_none_or(|trial| trial.token != token) {
            self.counts.strange += 1;
            return;
        }
        if end.validation.has_failed() {
            end.begin(now);
        }
        end.validation.trial = None;
        self.outputs.push_back(BondOutput::Validated(end.id));
    }

    /// Sends the challenges that are due, and gives up the paths that have not answered.
    pub fn validate_due(&mut self, now: Instant) {
        for index in 0..self.members.len() {
            let end = &mut self.members[index];
            if !end.validation.is_on_trial() {
                continue;
            }
            let length = end.challenge_len();
            if let Some(token) = end.validation.challenge(now, length) {
                self.send_control(index, Frame::PathChallenge(token));
            }
            let end = &mut self.members[index];
            if end.validation.fail(now) {
                self.outputs.push_back(BondOutput::NotValidated(end.id));
                self.suspect(now, index);
            }
        }
    }
}
