//! One member as its sender sees it: its path, the frames on it, and whether it works.
//!
//! ```text
//!        its delay is known                  silent with frames on the way
//!  Probing ----------------> Active <-----------------------------------------> Suspected
//!                              |              a frame came                          |
//!                              +---- the quota is used up ----> Exhausted <---------+
//! ```
//!
//! A member that falls silent is suspected: its packets are retransmitted elsewhere at once, and it gets only probes
//! until one is answered. An answer that tells no delay is not enough: packets go where they arrive first. It tells
//! none if the probe left before the path became another.

use super::code::{self, Plan};
use super::config::MemberConfig;
use super::filter::Least;
use super::frame::{FULL, HEADER_LEN, PATH_LEN};
use super::group::Groups;
use super::path::{Arrival, Path};
use super::plpmtu::Plpmtu;
use super::sent_frames::{Content, SentFrames};
use super::status::{MemberState, MemberStatus};
use super::train::{Shown, Trains};
use super::validation::Validation;
use crate::trunk::Member;
use airbraid_units::metric::Millionths;
use airbraid_units::{BitRate, Bytes, Duration, Instant, SeqNum};

/// Length on the wire of each frame of a train \[byte\]: what every path carries (RFC 9000, section 14).
pub const TRAIN_BYTES: u64 = 1_200;
/// Lateness below which a frame is not missed: timers of hosts and media below them cause as much.
const LATE: Duration = Duration::from_millis(10);
/// The same before the rate is known, beside a quarter of a round trip: the queue that startup may fill is unknown.
const LATE_AT_FIRST: Duration = Duration::from_millis(30);
/// Largest usual delay of the far end's feedback: 15 ms for a single frame, and 5 ms between two.
const FEEDBACK: Duration = Duration::from_millis(20);
/// Silence beyond that after which a member with frames under way is suspected. A burst of losses at 20 Mbit/s is much
/// shorter, and TCP's shortest timer much longer.
const SILENCE: Duration = Duration::from_millis(30);
/// The same in frames, if their time is longer.
const SILENT_FRAMES: u64 = 8;
/// Fewest missing frames that make a member suspect: three in a row are a burst of losses.
const MISSING_MIN: u32 = 4;
/// The same in mean bursts of the link's losses: one of a thousand is that long (e^-7).
const MISSING_BURSTS: u32 = 7;
/// Number of unanswered probes in a row after which a member is suspected in any case: a link that loses a
/// tenth loses three in one case of 1000.
pub const QUESTIONS_MAX: u8 = 3;
/// Time to the second probe of a member that does not answer: a tenth of the last;
const PROBE_FIRST: Duration = Duration::from_millis(25);
/// it doubles up to this: a link that is back is used within a second.
const PROBE_LAST: Duration = Duration::from_millis(250);
/// Time for which a frame may be on its way where no round trip is known: the first timeout of RFC 1122, 4.2.3.1. What
/// came after it was declared lost would count as out of order for [`TOLERANCE_SPAN`].
const UNKNOWN: Duration = Duration::from_secs(3);
/// Interval of an idle member's probes: address translations are kept for 30 s at least.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// Time of two full frames on the slowest link, of 50 kbit/s: a member of which no rate is known may be that.
const SLOWEST: Duration = Duration::from_millis(480);
/// Pause of a member whose host could not send, chosen: frames of the interface's queue leave meanwhile.
const REFUSED: Duration = Duration::from_millis(2);
/// Silence after which a member is measured from the beginning: another network may be there.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Time for which tolerance for reordering counts: as long as the minimums of delays.
const TOLERANCE_SPAN: Duration = Duration::from_secs(10);
/// Part of a member's rate that feedback may take while another member can carry it: at 3 Mbit/s a frame of some 100
/// byte each 5 ms.
const FEEDBACK_PART: u64 = 16;

#[derive(Debug)]
pub struct MemberEnd {
    pub id: Member,
    /// Its configuration by the host.
    pub config: MemberConfig,
    pub state: MemberState,
    /// Estimates of its path.
    pub path: Path,
    /// Whether its path is validated.
    pub validation: Validation,
    /// The longest frame with a packet so far \[byte\].
    pub longest_frame: Bytes,
    /// Its frames under way and recently decided ones.
    pub sent_frames: SentFrames,
    /// Groups of its coded frames.
    pub groups: Groups,
    /// Search of its path MTU.
    pub plpmtu: Plpmtu,
    /// The newest number that is known to have come.
    pub newest: Option<SeqNum>,
    /// Number of times that it has had nothing to send.
    pub idles: u32,
    /// Whether it has nothing to send now.
    pub is_idle: bool,
    /// Time at which a newer frame was last known to have come.
    pub heard_at: Instant,
    /// Time of the last departure.
    pub sent_at: Instant,
    /// Number of unanswered probes.
    pub questions: u8,
    asked_at: Instant,
    /// Time of the next probe while it does not work.
    probe_at: Instant,
    probe_gap: Duration,
    blocked_until: Instant,
    /// Bytes of retransmissions that wait for it.
    pub reserved: u64,
    /// Time at which feedback has had its share of the rate.
    pub fed_back_at: Instant,
    /// Packet trains that measure its rate.
    pub trains: Trains,
    /// Negated lateness of frames that had been declared lost \[ns\].
    tolerance: Least,
    pub counted: MemberStatus,
}

impl MemberEnd {
    /// A member that is probed at once; `first` is its next number.
    pub fn new(now: Instant, id: Member, config: MemberConfig, first: SeqNum) -> Self {
        Self {
            id,
            config,
            state: MemberState::Probing,
            path: Path::new(config.rate_cap.map(BitRate::as_bps)),
            validation: Validation::default(),
            longest_frame: Bytes::ZERO,
            sent_frames: SentFrames::new(first),
            groups: Groups::default(),
            plpmtu: Plpmtu::new(now, mtu_of(&config)),
            newest: None,
            idles: 0,
            is_idle: true,
            heard_at: now,
            sent_at: now,
            questions: 0,
            asked_at: now,
            probe_at: now,
            probe_gap: PROBE_FIRST,
            blocked_until: Instant::ZERO,
            reserved: 0,
            fed_back_at: Instant::ZERO,
            trains: Trains::new(),
            tolerance: Least::new(TOLERANCE_SPAN),
            counted: MemberStatus { member: id, ..MemberStatus::default() },
        }
    }

    /// Whether it can be given packets at all.
    pub fn is_active(&self) -> bool {
        self.state == MemberState::Active
    }
    /// Whether another frame may be under way.
    pub fn has_room(&self, now: Instant) -> bool {
        self.sent_frames.bytes_on_the_way() < self.path.window() && self.blocked_until <= now && self.may_send_longest()
    }
    /// Whether a path that is not validated may be sent any packet.
    fn may_send_longest(&self) -> bool {
        !self.validation.is_on_trial() || self.validation.allows(self.on_wire(self.longest_frame))
    }
    /// Time at which it may send the next frame.
    pub fn free_at(&self) -> Instant {
        self.path.release().max(self.blocked_until)
    }

    /// Whether it may take a frame that no retransmission waits for.
    pub fn is_free(&self, now: Instant) -> bool {
        self.reserved == 0 && self.free_at() <= now
    }

    /// The reordering that its path is known for.
    pub fn tolerance(&self) -> Duration {
        self.tolerance.get().map_or(Duration::ZERO, |ns| Duration::from_nanos(ns.unsigned_abs()))
    }
    /// A frame that was declared lost has come, late by this time.
    pub fn on_spurious(&mut self, now: Instant, late: Duration) {
        self.counted.spurious += 1;
        // At most a round trip: a later frame is better retransmitted.
        let most = self.path.delay().rtt().map_or(late, |(rtt, _)| rtt);
        let tolerance = (self.tolerance() + late).min(most);
        self.tolerance.learn(now, -(tolerance.as_nanos() as i64));
    }

    /// Lateness beyond the path's shortest delay and the frame's expected wait after which it is declared lost \[us\].
    pub fn late_us(&self) -> i64 {
        let deviation = self.path.delay().least_and_deviation_us().map_or(0, |(_, deviation)| 4 * deviation);
        let quarter = || self.path.delay().rtt().map_or(Duration::ZERO, |(rtt, _)| rtt / 4);
        let base = if self.path.is_measured() { LATE } else { LATE_AT_FIRST + quarter() };
        deviation + (base + self.tolerance()).as_micros() as i64
    }
    /// Fewest frames in a row without an answer that make it suspect.
    pub fn missing_min(&self) -> usize {
        (MISSING_BURSTS * self.path.burst()).max(MISSING_MIN) as usize
    }
    /// Additional lateness after which the member counts as silent \[us\].
    pub fn silence_us(&self) -> i64 {
        SILENCE.max(self.path.time_for(SILENT_FRAMES * FULL)).as_micros() as i64
    }

    /// Time after which a frame without an answer is lost, and for which the fate of a lost one is remembered.
    pub fn memory(&self) -> Duration {
        self.path.delay().rtt().map_or(UNKNOWN, |(rtt, _)| rtt * 2 + PROBE_LAST)
    }

    /// Updates its coding plan, if it may have one.
    pub fn set_plan(&mut self, may_be: bool) {
        let is_known = may_be && self.is_active() && self.path.is_measured() && self.config.quota.is_none();
        self.groups.plan = self.path.losses().filter(|_| is_known).and_then(|losses| code::plan(&losses));
    }
    /// Feedback of this length before sealing leaves.
    pub fn on_feedback_sent(&mut self, now: Instant, len: Bytes) {
        let span = self.path.time_for(self.on_wire(len) * FEEDBACK_PART);
        self.fed_back_at = self.fed_back_at.max(now).saturating_add(span);
    }
    /// Its rate for packets \[bit/s\].
    pub fn useful_rate(&self) -> u64 {
        let rate = self.path.rate();
        self.groups.plan.map_or(rate, |plan| plan.useful(rate))
    }
    /// Mean head-of-line blocking of an ordered flow by losses here.
    pub fn blocking(&self) -> Duration {
        self.groups.plan.map_or_else(|| self.path.blocking(), |plan: Plan| plan.blocking)
    }

    /// Whether it does not answer as usual: what is on the way there may be lost.
    pub const fn is_silent(&self) -> bool {
        self.questions > 0
    }

    /// Longest usual time to an answer.
    fn patience(&self) -> Duration {
        let (rtt, deviation) = self.path.delay().rtt().unwrap_or((PROBE_LAST, Duration::ZERO));
        let frames = if self.path.has_estimate() { self.path.time_for(2 * FULL) } else { SLOWEST };
        rtt + deviation * 4 + FEEDBACK + self.tolerance() + frames
    }

    /// Time and reason of its next probe.
    pub fn question_at(&self) -> Option<(Instant, &'static str)> {
        match self.state {
            MemberState::Exhausted => None,
            MemberState::Probing | MemberState::Suspected => Some((self.probe_at, "tunnel.probe")),
            MemberState::Active => match self.sent_frames.oldest() {
                Some(oldest) => Some((self.silent_since(oldest.at), "tunnel.silence")),
                // The last frame is lost, as feedback on another member may say, and nothing has come since.
                None if self.is_unanswered() => Some((self.silent_since(self.sent_at), "tunnel.silence")),
                None => Some((self.heard_at.saturating_add(KEEPALIVE), "tunnel.keepalive")),
            },
        }
    }

    /// Time at which it is asked unless an answer to a frame sent at `sent_at` comes before.
    fn silent_since(&self, sent_at: Instant) -> Instant {
        self.heard_at.max(sent_at).max(self.asked_at).saturating_add(self.patience())
    }

    /// Whether nothing was heard since the last frame was sent.
    fn is_unanswered(&self) -> bool {
        self.sent_at > self.heard_at
    }

    /// Time of the next packet train.
    pub fn train_at(&self) -> Option<Instant> {
        // Shorter frames would show half the rate: a train waits until the path MTU is known.
        let is_sized = self.plpmtu.size() >= TRAIN_BYTES || self.plpmtu.possible() < TRAIN_BYTES;
        let may = self.is_active() && is_sized && !self.validation.is_on_trial();
        self.trains.due_at().filter(|_| may)
    }
    /// Packets wait: if it has carried too few recently to measure it, a train does.
    pub fn doubt(&mut self, now: Instant) {
        if self.config.quota.is_none() {
            self.trains.doubt(now, self.path.looked_at());
        }
    }
    /// Whether trains are still probing its rate.
    pub fn is_being_probed(&self) -> bool {
        self.trains.due_at().is_some() && !self.path.has_estimate()
    }
    /// A train is due: if it is because the last one's end is lost, its begin may do.
    pub fn end_train(&mut self, now: Instant) {
        if let Some(rate) = self.trains.without_end() {
            self.path.on_train(now, rate);
        }
    }
    /// The train is due; returns its frames, behind which a question follows.
    pub fn on_train(&mut self, now: Instant) -> u32 {
        let first = self.sent_frames.next();
        let frames = self.trains.on_sent(now, first, self.patience()).unwrap_or(0);
        if frames > 0 {
            self.path.skip_rates(first.plus(frames + 1));
        }
        frames
    }

    /// A probe leaves. Returns whether the member must be suspected now.
    pub fn on_question(&mut self, now: Instant) -> bool {
        self.asked_at = now;
        if self.state == MemberState::Active {
            self.questions += u8::from(self.is_unanswered() || self.sent_frames.on_the_way() > 0);
            return self.questions > QUESTIONS_MAX;
        }
        self.probe_at = now.saturating_add(self.probe_gap);
        self.probe_gap = (self.probe_gap * 2).min(PROBE_LAST);
        false
    }

    /// Suspects it of being dead.
    pub fn suspect(&mut self, now: Instant) {
        self.plpmtu.restart(now);
        self.path.forget_silence();
        self.state = MemberState::Suspected;
        self.counted.suspicions += 1;
        self.probe_at = now;
        self.probe_gap = PROBE_FIRST;
        self.questions = 0;
    }

    /// Begins with probes: another end may be there.
    pub fn begin(&mut self, now: Instant) {
        self.plpmtu.restart(now);
        self.newest = None;
        self.questions = 0;
        self.probe_at = now;
        self.probe_gap = PROBE_FIRST;
        if self.state != MemberState::Exhausted {
            self.state = MemberState::Probing;
        }
    }

    /// A newer frame is known to have come.
    pub fn on_heard(&mut self, now: Instant) {
        if self.is_waiting() {
            if now.saturating_since(self.heard_at) > FORGOTTEN {
                self.path = Path::new(self.config.rate_cap.map(BitRate::as_bps));
            }
            if !self.path.is_measured() {
                self.trains.begin(now);
            }
            self.path.resume(now);
        }
        self.heard_at = now;
        self.questions = 0;
        self.begin_to_work();
    }

    /// Feedback tells of a newer frame: measures the path.
    pub fn on_arrival(&mut self, now: Instant, arrival: &Arrival) {
        self.path.on_arrival(now, arrival);
        match self.trains.on_arrival(now, arrival) {
            Some(Shown::Rate(rate)) => self.path.on_train(now, rate),
            Some(Shown::AtLeast(rate)) => self.path.on_bound(rate),
            None => {}
        }
        self.begin_to_work();
    }

    /// Whether it is used as soon as it answers.
    fn is_waiting(&self) -> bool {
        matches!(self.state, MemberState::Probing | MemberState::Suspected) && !self.validation.has_failed()
    }

    /// It has answered: it works if its delay is known.
    fn begin_to_work(&mut self) {
        if self.is_waiting() && self.path.delay().least_us().is_some() {
            self.state = MemberState::Active;
        }
    }

    /// Pauses it: the host could not send.
    pub fn on_refused(&mut self, now: Instant) {
        self.blocked_until = now.saturating_add(REFUSED);
    }

    /// Frames that were to leave since `since` have left by `until`.
    pub fn on_late(&mut self, since: Instant, until: Instant) {
        let next = self.sent_frames.next();
        if self.path.delay().least_us().is_none() {
            // A delay that is too long is better than none on a host that is always late: the least one counts.
            self.path.skip_rates(next);
        } else if self.sent_frames.put_off(since, until) {
            self.path.on_late(since, until, next);
        }
    }

    /// Notes a frame that is paced and acknowledged.
    pub fn on_numbered(&mut self, now: Instant, bytes: Bytes, late: Duration, content: Content) {
        let due_us = self.path.on_sent(now, bytes.as_u64(), late);
        if self.is_idle {
            self.idles = self.idles.wrapping_add(1);
            self.is_idle = false;
        }
        self.sent_frames.push(now, bytes.as_u64() as u32, due_us, self.idles, content);
        self.sent_at = now;
        self.validation.on_sent(bytes.as_u64());
        self.counted.sent_bytes += bytes;
        self.check_quota();
    }

    /// Counts bytes against the quota.
    pub fn check_quota(&mut self) {
        let used = self.counted.sent_bytes.as_u64() + self.counted.received_bytes.as_u64();
        if self.config.quota.is_some_and(|quota| used >= quota.as_u64()) {
            self.state = MemberState::Exhausted;
        }
    }

    /// Its state and counters.
    pub fn status(&self) -> MemberStatus {
        MemberStatus {
            state: self.state,
            rate: if self.path.has_estimate() { BitRate::from_bps(self.path.rate()) } else { BitRate::default() },
            rtt_min: self.path.delay().rtt_least().unwrap_or_default(),
            rtt: self.path.delay().rtt().unwrap_or_default().0,
            queue_delay: self.path.delay().queue(),
            loss: Millionths(self.path.loss_ppm()),
            in_flight: self.sent_frames.on_the_way(),
            path_mtu: self.plpmtu.found().map(Bytes::new),
            black_holes: self.plpmtu.black_holes(),
            ..self.counted
        }
    }

    /// The longest packet that it may get \[byte\].
    pub fn longest_packet(&self) -> u64 {
        self.without_headers(self.plpmtu.size())
    }
    /// The same of the longest length that probes may still find.
    pub fn longest_possible(&self) -> u64 {
        self.without_headers(self.plpmtu.possible())
    }
    fn without_headers(&self, size: u64) -> u64 {
        size.saturating_sub(self.config.overhead.as_u64() + HEADER_LEN as u64)
    }

    /// Length of a challenge on the wire.
    pub fn challenge_len(&self) -> u64 {
        self.on_wire(Bytes::new(PATH_LEN as u64))
    }
    /// Time of the next step of its validation.
    pub fn validation_at(&self) -> Option<Instant> {
        self.validation.wake(self.challenge_len())
    }

    /// Length on the wire of a frame of `len` bytes.
    pub fn on_wire(&self, len: Bytes) -> u64 {
        len.as_u64() + self.config.overhead.as_u64()
    }
}

/// MAX_PLPMTU of a member so configured: no IP packet is longer than 64 kB.
pub fn mtu_of(config: &MemberConfig) -> Option<u32> {
    config.mtu.map(|mtu| mtu.as_u64().min(u64::from(u16::MAX)) as u32)
}

#[cfg(test)]
mod tests;
