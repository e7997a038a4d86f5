//! Feedback at the sending side: arrivals, losses, and members that have fallen silent.
//!
//! A frame is lost when a younger one of its member has arrived: links keep order, and a link that does not gets a
//! tolerance as soon as it shows. The last frame of a row has no younger one, but feedback carries the time at which it
//! left: a frame that was due by then and has not arrived is lost, too. So feedback over other members reveals a dead
//! one.

use super::BondSender;
use crate::trunk::bonding::coded::Coded;
use crate::trunk::bonding::frame::{Feedback, Report};
use crate::trunk::bonding::group::News;
use crate::trunk::bonding::path::{Arrival, RateMark};
use crate::trunk::bonding::sent_frames::{Content, SentFate, SentFrame};
use airbraid_units::{Duration, Instant, SeqNum};

/// An age that is too long to say \[us\]: 24 bits of the wire format.
const AGE_UNKNOWN: u32 = (1 << 24) - 1;

impl<P: Coded> BondSender<P> {
    /// Feedback has come.
    pub fn on_feedback(&mut self, now: Instant, feedback: &Feedback) {
        if feedback.epoch != self.config.epoch {
            self.counts.strange += 1;
            return;
        }
        for report in &feedback.reports {
            self.on_report(now, feedback.sent_at_us, report);
        }
        if let Some(offset_us) = self.offset_us {
            for index in 0..self.members.len() {
                self.find_missing(now, index, feedback.sent_at_us.wrapping_sub(offset_us));
            }
        }
        self.set_plans();
        self.set_targets(now);
    }

    fn on_report(&mut self, now: Instant, sent_at_us: u32, report: &Report) {
        let Some(index) = self.index_of(report.member) else {
            self.counts.strange += 1;
            return;
        };
        let end = &self.members[index];
        if !report.newest.is_before(end.sent_frames.next()) {
            self.counts.strange += 1;
            return;
        }
        let is_news = end.newest.is_none_or(|newest| newest.is_before(report.newest));
        let newest = end.sent_frames.get(report.newest).copied().filter(|_| is_news);
        let unheard = end.newest.map(SeqNum::next);
        if newest.is_some() {
            let end = &mut self.members[index];
            end.newest = Some(report.newest);
            end.on_heard(now);
        }
        // First arrivals and losses: the rate is measured by them.
        self.acknowledge(now, index, report);
        if newest.is_some() {
            self.find_overtaken(now, index);
        }
        self.members[index].path.on_fates(now);
        if let Some(sent) = newest {
            // One that was lost has waited for the next frame, not for feedback.
            let sent_frames = &self.members[index].sent_frames;
            let first = unheard.and_then(|number| sent_frames.get(number));
            let first = first.filter(|first| first.fate == SentFate::Acknowledged);
            let waited_since = first.map_or(sent.at, |first| first.at);
            self.on_newest(now, index, sent_at_us, report, &sent, waited_since);
        }
        self.forget(now, index);
    }

    /// The newest number of a member has grown: measures its path. Of what was sent since `waited_since` there was no
    /// news.
    fn on_newest(
        &mut self,
        now: Instant,
        index: usize,
        sent_at_us: u32,
        report: &Report,
        sent: &SentFrame,
        waited_since: Instant,
    ) {
        let received_us = sent_at_us.wrapping_sub(report.age_us);
        let sent_us = (sent.at.as_nanos() / 1_000) as u32;
        let offset_us = *self.offset_us.get_or_insert(received_us.wrapping_sub(sent_us));
        let end = &mut self.members[index];
        if report.age_us == AGE_UNKNOWN {
            return;
        }
        let mark = |number: SeqNum, received_us: u32, sent: &SentFrame| RateMark {
            number,
            received_us,
            sent_at: sent.at,
            total: sent.total,
            came: end.sent_frames.came_until(number, sent.total),
            idles: sent.idles,
        };
        let number = SeqNum(report.newest.0.wrapping_sub(report.span));
        let first = end.sent_frames.get(number).filter(|_| report.span > 0);
        let first = first.map(|sent| mark(number, received_us.wrapping_sub(report.span_us), sent));
        let newest = mark(report.newest, received_us, sent);
        let arrival = Arrival { newest, first, age_us: Some(report.age_us), offset_us, waited_since };
        end.on_arrival(now, &arrival);
    }

    /// Settles the packets that have arrived.
    fn acknowledge(&mut self, now: Instant, index: usize, report: &Report) {
        let Some(first) = self.members[index].sent_frames.numbers().next().map(|(number, _)| number) else { return };
        let mut upper = report.newest;
        for run in &report.runs {
            upper = SeqNum(upper.0.wrapping_sub(run.gap));
            let reach = upper.distance_from(first);
            if reach < 0 {
                return;
            }
            for number in self.members[index].sent_frames.open(upper, run.len.min(reach as u32 + 1)) {
                self.acknowledge_one(now, index, number);
            }
            if run.len > reach as u32 {
                return;
            }
            upper = SeqNum(upper.0.wrapping_sub(run.len));
        }
    }

    fn acknowledge_one(&mut self, now: Instant, index: usize, number: SeqNum) {
        let end = &mut self.members[index];
        let Some(sent) = end.sent_frames.decide(number, SentFate::Acknowledged) else { return };
        if sent.content == Content::Size {
            end.plpmtu.on_came(now, sent.at, sent.bytes);
        } else {
            end.plpmtu.on_frame(now, sent.bytes, false);
            match sent.fate {
                SentFate::Lost(at) => end.on_spurious(now, now.saturating_since(at)),
                SentFate::OnTheWay | SentFate::Acknowledged => end.path.on_fate(number, sent.at, false),
            }
        }
        let is_late = sent.fate != SentFate::OnTheWay;
        self.on_news(now, index, number, &sent, if is_late { News::CameLate } else { News::Came });
        let Content::Packet(id) = sent.content else { return };
        if !is_late {
            self.store.get_mut(id).copies -= 1;
        }
        self.settle(id, None);
    }

    /// Declares frames lost that were overtaken on their member.
    fn find_overtaken(&mut self, now: Instant, index: usize) {
        let end = &self.members[index];
        let Some(newest) = end.newest else { return };
        let Some(sent) = end.sent_frames.get(newest) else { return };
        let until = sent.at.saturating_sub(end.tolerance());
        let lost: Vec<SeqNum> = end
            .sent_frames
            .undecided()
            .take_while(|(number, sent)| number.is_before(newest) && sent.at <= until)
            .filter(|(_, sent)| sent.fate == SentFate::OnTheWay)
            .map(|(number, _)| number)
            .collect();
        for number in lost {
            self.lose(now, index, number);
        }
    }

    /// Declares frames lost that were due before the feedback left. `left_us` is that time without the unknown
    /// constant.
    fn find_missing(&mut self, now: Instant, index: usize, left_us: u32) {
        let end = &self.members[index];
        let Some((delay, _)) = end.path.delay().least_and_deviation_us().filter(|_| end.is_active()) else { return };
        let late_us = end.late_us();
        // Lateness of a frame, had it come when the feedback left.
        let excess = |sent: &SentFrame| {
            let sent_us = (sent.at.as_nanos() / 1_000) as u32;
            i64::from(left_us.wrapping_sub(sent_us) as i32) - delay - i64::from(sent.due_us) - late_us
        };
        let newest = end.newest;
        let younger = |number: &SeqNum| newest.is_none_or(|newest| number.is_after(newest));
        let mut missing: Vec<SeqNum> = Vec::new();
        let (mut count, mut worst) = (0, i64::MIN);
        for (number, sent) in end.sent_frames.numbers().rev().take_while(|(number, _)| younger(number)) {
            let excess = excess(sent);
            if excess > 0 {
                // A frame that is too long says nothing about the others.
                count += usize::from(sent.content != Content::Size);
                worst = worst.max(excess);
                if sent.fate == SentFate::OnTheWay {
                    missing.push(number);
                }
            }
        }
        let is_silent = count >= end.missing_min() && worst > end.silence_us();
        for number in missing.into_iter().rev() {
            self.lose(now, index, number);
        }
        self.members[index].path.on_fates(now);
        if is_silent && now.saturating_since(self.members[index].heard_at) > Duration::ZERO {
            self.suspect(now, index);
        }
    }
}
