//! One member as its sender sees it: its path, the frames on it, and whether it works.
//!
//! ```text
//!            a frame came                     silent with frames on the way
//!  Probing ----------------> Active <-----------------------------------------> Suspected
//!                              |              a frame came                          |
//!                              +---- the quota is used up ----> Exhausted <---------+
//! ```
//!
//! A member that falls silent is suspected: what is on it is sent again elsewhere at once, and it gets probes only, until
//! one comes through.

use super::code::{self, Plan};
use super::config::MemberConfig;
use super::filter::Least;
use super::frame::{FULL, HEADER_LEN, PATH_LEN};
use super::group::Groups;
use super::path::Path;
use super::plpmtu::Plpmtu;
use super::sent_frames::{Content, Ledger};
use super::status::{MemberState, MemberStatus};
use super::validation::Validation;
use crate::trunk::Member;
use airbraid_units::{BitRate, Bytes, Duration, Instant, SeqNum};

/// Length on the wire of each frame of a train \[byte\]: what every path carries (RFC 9000, section 14).
pub const TRAIN_BYTES: u64 = 1_200;
/// A frame is not missed before it is so late: what timers of hosts and the media below them do.
const LATE: Duration = Duration::from_millis(10);
/// The same before the rate is known, beside a quarter of a round trip.
const LATE_AT_FIRST: Duration = Duration::from_millis(30);
/// The far end's feedback may be so much later than the frame.
const FEEDBACK: Duration = Duration::from_millis(20);
/// A member that is silent for so long beyond that, with some frames on the way, is suspected. A burst of losses at
/// 20 Mbit/s is much shorter, and TCP's shortest timer much longer.
const SILENCE: Duration = Duration::from_millis(30);
/// Or for as long as so many frames take, if that is longer.
const SILENT_FRAMES: u64 = 8;
/// Nothing is concluded from fewer missing frames: three in a row are a burst of losses.
pub const MISSING_MIN: usize = 4;
/// Questions without an answer, one after the other, after which it is suspected whatever else is known.
pub const QUESTIONS_MAX: u8 = 3;
/// The first probe of a member that does not answer is repeated after this.
const PROBE_FIRST: Duration = Duration::from_millis(25);
/// And then after twice as long, but never longer: a link that is back is used within a second.
const PROBE_LAST: Duration = Duration::from_millis(250);
/// An idle member says that it is there: address translations are kept for 30 s at least.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// A member that could take no frame gets none for so long.
const REFUSED: Duration = Duration::from_millis(2);
/// Trains that sound the rate of a new member at most: each finds four times as much as the one before, so that five tell 100 Mbit/s from a
/// first guess of ten frames in 300 ms; some tell nothing, because their answers come after the next has left. One that finds less than it could is the last.
const TRAINS: u8 = 8;
/// The last so many leave only while no packet is on the way or waits: packets tell as much.
const TRAINS_QUIET: u8 = 4;
/// A spared member is sounded again after this, because a host that was late may have spoilt the first look,
const DOUBT_FIRST: Duration = Duration::from_secs(1);
/// and then after twice as long, but never longer: minimums live as long. 19 kB in 10 s while others have more than they carry.
const DOUBT_LAST: Duration = Duration::from_secs(10);
/// A member that was silent for so long is measured from the beginning.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Tolerance for disorder counts for so long.
const TOLERANCE_SPAN: Duration = Duration::from_secs(10);
/// A member that loses more is lossy \[millionths\]: at less a TCP does not notice.
const LOSSY_PPM: u32 = 5_000;

/// A member.
#[derive(Debug)]
pub struct MemberEnd {
    /// Its number.
    pub id: Member,
    /// What the host says of it.
    pub config: MemberConfig,
    /// What it is doing.
    pub state: MemberState,
    /// What it can carry.
    pub path: Path,
    /// Whether its path is validated.
    pub validation: Validation,
    /// The longest frame with a packet, as the host has given them \[byte\].
    pub longest_frame: Bytes,
    /// What is on it.
    pub ledger: Ledger,
    /// How its frames are coded.
    pub groups: Groups,
    /// How long they may be.
    pub plpmtu: Plpmtu,
    /// The newest number that is known to have come.
    pub newest: Option<SeqNum>,
    /// How often it has had nothing to send.
    pub idles: u32,
    /// Whether it has nothing to send now.
    pub is_idle: bool,
    /// Bytes that are known to have come.
    pub came_bytes: u64,
    /// When a newer frame was last known to have come.
    pub heard_at: Instant,
    /// When something was sent last.
    pub sent_at: Instant,
    /// Questions without an answer.
    pub questions: u8,
    asked_at: Instant,
    /// When it is probed next, while it does not work.
    probe_at: Instant,
    probe_gap: Duration,
    blocked_until: Instant,
    /// Trains of frames that sound its rate, and when the next leaves.
    trains: u8,
    train_at: Instant,
    /// Whether the next train leaves because the rate is in doubt, and how long after the last look it may.
    is_doubted: bool,
    doubt_gap: Duration,
    /// Minus how late frames came that were held to be lost \[ns\].
    tolerance: Least,
    /// What is counted.
    pub counted: MemberStatus,
}

impl MemberEnd {
    /// A member that is to be probed at once; `first` is its next number.
    pub fn new(now: Instant, id: Member, config: MemberConfig, first: SeqNum) -> Self {
        Self {
            id,
            config,
            state: MemberState::Probing,
            path: Path::new(config.rate_cap.map(BitRate::as_bps)),
            validation: Validation::default(),
            longest_frame: Bytes::ZERO,
            ledger: Ledger::new(first),
            groups: Groups::default(),
            plpmtu: Plpmtu::new(now, mtu_of(&config)),
            newest: None,
            idles: 0,
            is_idle: true,
            came_bytes: 0,
            heard_at: now,
            sent_at: now,
            questions: 0,
            asked_at: now,
            probe_at: now,
            probe_gap: PROBE_FIRST,
            blocked_until: Instant::ZERO,
            trains: 0,
            train_at: now,
            is_doubted: false,
            doubt_gap: DOUBT_FIRST,
            tolerance: Least::new(TOLERANCE_SPAN),
            counted: MemberStatus { member: id, ..MemberStatus::default() },
        }
    }

    /// Whether it can be given packets at all.
    pub fn is_active(&self) -> bool {
        self.state == MemberState::Active
    }
    /// Whether there is room for another frame on the way.
    pub fn has_room(&self, now: Instant) -> bool {
        self.ledger.bytes_on_the_way() < self.path.window() && self.blocked_until <= now && self.may_send_longest()
    }
    /// Whether a path that is not validated may be sent any packet.
    fn may_send_longest(&self) -> bool {
        !self.validation.is_on_trial() || self.validation.allows(self.on_wire(self.longest_frame))
    }
    /// When it may send the next.
    pub fn free_at(&self) -> Instant {
        self.path.release().max(self.blocked_until)
    }

    /// The disorder that its path is known for.
    pub fn tolerance(&self) -> Duration {
        self.tolerance.get().map_or(Duration::ZERO, |ns| Duration::from_nanos(ns.unsigned_abs()))
    }
    /// A frame that was held to be lost has come, so much later.
    pub fn on_spurious(&mut self, now: Instant, late: Duration) {
        self.counted.spurious += 1;
        // No more than a round trip: what comes later than that is better sent again.
        let most = self.path.rtt().map_or(late, |(rtt, _)| rtt);
        let tolerance = (self.tolerance() + late).min(most);
        self.tolerance.learn(now, -(tolerance.as_nanos() as i64));
    }

    /// How late a frame is held to be lost, beyond its path's shortest delay and the time that it had to wait \[us\].
    pub fn late_us(&self) -> i64 {
        let deviation = self.path.delay_least().map_or(0, |(_, deviation)| 4 * deviation);
        let quarter = || self.path.rtt().map_or(Duration::ZERO, |(rtt, _)| rtt / 4);
        let base = if self.path.is_measured() { LATE } else { LATE_AT_FIRST + quarter() };
        deviation + (base + self.tolerance()).as_micros() as i64
    }
    /// How much later still a member is silent \[us\].
    pub fn silence_us(&self) -> i64 {
        SILENCE.max(self.path.time_for(SILENT_FRAMES * FULL)).as_micros() as i64
    }

    /// How long the fate of a frame that was held to be lost is remembered.
    pub fn memory(&self) -> Duration {
        self.path.rtt().map_or(PROBE_LAST, |(rtt, _)| rtt * 2 + PROBE_LAST)
    }

    /// Considers anew how it is coded, if it may be.
    pub fn set_plan(&mut self, may_be: bool) {
        let is_known = may_be && self.is_active() && self.path.is_measured() && self.config.quota.is_none();
        self.groups.plan = self.path.losses().filter(|_| is_known).and_then(|losses| code::plan(&losses));
    }
    /// What it carries of packets \[bit/s\].
    pub fn useful_rate(&self) -> u64 {
        let rate = self.path.rate();
        self.groups.plan.map_or(rate, |plan| plan.useful(rate))
    }
    /// How much later a flow in order goes on, on the average, because of what is lost here.
    pub fn hold_up(&self) -> Duration {
        self.groups.plan.map_or_else(|| self.path.hold_up(), |plan: Plan| plan.hold_up)
    }

    /// Whether enough is lost on it that a copy of what it carries does good: there are symbols for what is coded.
    pub const fn is_lossy(&self) -> bool {
        self.path.loss_ppm() >= LOSSY_PPM && self.groups.plan.is_none()
    }

    /// How long an answer may take.
    fn patience(&self) -> Duration {
        let (rtt, deviation) = self.path.rtt().unwrap_or((PROBE_LAST, Duration::ZERO));
        rtt + deviation * 4 + FEEDBACK + self.tolerance() + self.path.time_for(2 * FULL)
    }

    /// When it wants to ask the far end, and why.
    pub fn question_at(&self) -> Option<(Instant, &'static str)> {
        match self.state {
            MemberState::Exhausted => None,
            MemberState::Probing | MemberState::Suspected => Some((self.probe_at, "tunnel.probe")),
            MemberState::Active => match self.ledger.oldest() {
                Some(oldest) => {
                    let from = self.heard_at.max(oldest.at).max(self.asked_at);
                    Some((from.saturating_add(self.patience()), "tunnel.silence"))
                }
                None => Some((self.heard_at.max(self.sent_at).saturating_add(KEEPALIVE), "tunnel.keepalive")),
            },
        }
    }

    /// When the next train that sounds its rate is due.
    pub fn train_at(&self) -> Option<Instant> {
        // Shorter frames would tell of half the rate: a train waits until it is known what the path carries.
        let is_sized = self.plpmtu.size() >= TRAIN_BYTES || self.plpmtu.possible() < TRAIN_BYTES;
        let may = self.is_active() && is_sized && !self.validation.is_on_trial();
        (self.trains > 0 && may).then_some(self.train_at)
    }
    /// It is spared, and whoever is spared is not measured: now and then a train finds out whether that is still right.
    pub fn doubt(&mut self, now: Instant) {
        let is_due = now.saturating_since(self.path.looked_at()) >= self.doubt_gap;
        if is_due && self.trains == 0 && self.config.quota.is_none() {
            self.doubt_gap = (self.doubt_gap * 2).min(DOUBT_LAST);
            self.is_doubted = true;
            self.trains = 1;
            self.train_at = now;
        }
    }
    /// Whether trains are still finding out its rate.
    pub fn is_being_sounded(&self) -> bool {
        self.trains > 0 && !self.path.is_sounded()
    }
    /// That train is due; says whether it is to leave. `is_quiet`: there are no packets, on no member.
    pub fn on_train(&mut self, now: Instant, is_quiet: bool) -> bool {
        self.trains -= 1;
        if self.trains < TRAINS_QUIET && !is_quiet && !self.is_doubted {
            self.trains = 0;
            return false;
        }
        self.train_at = now.saturating_add(self.patience());
        let is_wanted = self.path.begin_train(now, self.ledger.next(), std::mem::take(&mut self.is_doubted));
        if !is_wanted {
            self.trains = 0;
        }
        is_wanted
    }

    /// A question goes out. Says whether it must be suspected now.
    pub fn on_question(&mut self, now: Instant) -> bool {
        self.asked_at = now;
        if self.state == MemberState::Active {
            self.questions += u8::from(self.ledger.on_the_way() > 0);
            return self.questions > QUESTIONS_MAX;
        }
        self.probe_at = now.saturating_add(self.probe_gap);
        self.probe_gap = (self.probe_gap * 2).min(PROBE_LAST);
        false
    }

    /// It is held not to work any more.
    pub fn suspect(&mut self, now: Instant) {
        self.plpmtu.restart(now);
        self.state = MemberState::Suspected;
        self.counted.suspicions += 1;
        self.probe_at = now;
        self.probe_gap = PROBE_FIRST;
        self.questions = 0;
    }

    /// Whoever is at the other end has to be asked first.
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
        let is_silent = matches!(self.state, MemberState::Probing | MemberState::Suspected);
        if is_silent && !self.validation.has_failed() {
            if now.saturating_since(self.heard_at) > FORGOTTEN {
                self.path = Path::new(self.config.rate_cap.map(BitRate::as_bps));
            }
            if !self.path.is_sounded() {
                self.trains = TRAINS;
                self.train_at = now;
            }
            self.state = MemberState::Active;
            self.path.resume(now);
        }
        self.heard_at = now;
        self.questions = 0;
    }

    /// The host could not send.
    pub fn on_refused(&mut self, now: Instant) {
        self.blocked_until = now.saturating_add(REFUSED);
    }

    /// What was to leave since `since` has left by `until`.
    pub fn on_late(&mut self, since: Instant, until: Instant) {
        if self.ledger.put_off(since, until) {
            self.path.on_late(since, until, self.ledger.next());
        }
    }

    /// A frame leaves that is paced and acknowledged: gives when it is expected, by the clock that all members share \[us\].
    pub fn on_numbered(&mut self, now: Instant, bytes: Bytes, late: Duration, content: Content) -> i64 {
        let due_us = self.path.on_sent(now, bytes.as_u64(), late);
        if self.is_idle {
            self.idles = self.idles.wrapping_add(1);
            self.is_idle = false;
        }
        self.ledger.push(now, bytes.as_u64() as u32, due_us, self.idles, content);
        self.sent_at = now;
        self.validation.on_sent(bytes.as_u64());
        self.counted.sent_bytes += bytes;
        self.check_quota();
        self.path.expected_us(now, due_us)
    }

    /// Counts bytes against the quota.
    pub fn check_quota(&mut self) {
        let used = self.counted.sent_bytes.as_u64() + self.counted.received_bytes.as_u64();
        if self.config.quota.is_some_and(|quota| used >= quota.as_u64()) {
            self.state = MemberState::Exhausted;
        }
    }

    /// What it tells of itself.
    pub fn status(&self) -> MemberStatus {
        MemberStatus {
            state: self.state,
            rate: if self.path.is_sounded() { BitRate::from_bps(self.path.rate()) } else { BitRate::default() },
            rtt_min: self.path.rtt_least().unwrap_or_default(),
            rtt: self.path.rtt().unwrap_or_default().0,
            queue_delay: self.path.queue(),
            loss_ppm: self.path.loss_ppm(),
            in_flight: self.ledger.on_the_way(),
            path_mtu: self.plpmtu.found().map(Bytes::new),
            black_holes: self.plpmtu.black_holes(),
            ..self.counted
        }
    }

    /// The longest packet that it may be given \[byte\].
    pub fn longest_packet(&self) -> u64 {
        self.without_headers(self.plpmtu.size())
    }
    /// The same of the longest that may still be found to be carried.
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
    /// When its validation wants to go on.
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
mod tests {
    use super::*;

    #[test]
    fn a_train_waits_until_it_is_known_what_the_path_carries() {
        let config = MemberConfig { mtu: Some(Bytes::new(1_500)), ..MemberConfig::default() };
        let mut end = MemberEnd::new(Instant::ZERO, Member(0), config, SeqNum(0));
        end.on_heard(Instant::ZERO);
        assert_eq!(end.train_at(), None, "frames of what every path carries would tell of half the rate");
        let _ = end.plpmtu.take_due(Instant::ZERO, true);
        end.plpmtu.on_came(Instant::ZERO, Instant::ZERO, 1_200);
        assert_eq!(end.train_at(), Some(Instant::ZERO));
        // Without a limit nothing is to be found out.
        let mut end = MemberEnd::new(Instant::ZERO, Member(0), MemberConfig::default(), SeqNum(0));
        end.on_heard(Instant::ZERO);
        assert_eq!(end.train_at(), Some(Instant::ZERO));
    }
}
