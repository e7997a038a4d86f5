//! One link awake at a time: a device with one radio that cannot listen on several links (802.11be-2024, 35.3.12; its
//! Maximum Number Of Simultaneous Links is 0, 9.4.2.312.2.3).
//!
//! ```text
//!            the link fails       null, PM=1: acknowledged or given up       switch delay
//!   Awake ----------------> Says ------------------------------------> Leaves ----------> Moving
//!     ^ \                                                                 ^                  |
//!     |  `-- silence --> Says ------------- null, PM=0: given up ---------'                  |
//!     |                    | ^                                                               |
//!     `--- acknowledged ---' `-------------------- at the next link -------------------------'
//! ```
//!
//! A link fails by exchanges of the device in a row to which nobody answers, or if the access point does not answer a
//! question after a silence. The device hears nothing of other links, so it cannot know whether one of them is better.
//!
//! For its peer a link is awake from a frame with PM=0 on it until one with PM=1, or until one with PM=0 on another
//! link: then the device has left without a word that was heard.

use super::beacon::BEACON_INTERVAL_TU;
use super::category::AccessCategory;
use super::exchange::{State, Txop};
use super::link::{LinkId, Links};
use super::listening::Change;
use super::plan::Answer;
use super::{Edca, Vector};
use crate::dcf::ACK_SIZE;
use crate::frame::{Address, Frame, FrameKind};
use crate::service::Access;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

/// Exchanges in a row without an answer after which a link has failed, and transmissions of a null frame:
/// dot11ShortRetryLimit (802.11-2020, annex C).
const FAILURES: u32 = 7;
/// Silence after which the access point is asked: 7 beacon intervals, after which Linux holds beacons for lost.
const SILENCE: Duration = Duration::from_micros(7 * 1_024 * BEACON_INTERVAL_TU as u64);
/// The category of null frames: its contention window lets seven attempts outlast a PPDU of a hidden station.
const CATEGORY: AccessCategory = AccessCategory::BestEffort;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Awake,
    /// It tells its peer that the link sleeps from now on, or is awake.
    Says {
        sleeps: bool,
        attempts: u32,
    },
    /// It has said what it had to say.
    Leaves,
    Moving,
}

/// The one link of a device that is awake.
#[derive(Clone, Debug)]
pub(super) struct OneAwake {
    switch_delay: Duration,
    links: Links,
    /// The link at which the radio is, or to which it goes.
    at: LinkId,
    step: Step,
    /// Exchanges in a row that have failed.
    failures: u32,
    /// When the peer was heard last.
    heard: Instant,
    /// The links that have been told that they are blind.
    told: Links,
}

impl OneAwake {
    pub fn new(switch_delay: Duration) -> Self {
        let (links, told) = (Links::default(), Links::default());
        Self { switch_delay, links, at: LinkId(0), step: Step::Awake, failures: 0, heard: Instant::ZERO, told }
    }
    /// A link more leads to the peer; the first is awake.
    pub fn add_link(&mut self, link: LinkId) {
        if self.links == Links::default() {
            self.at = link;
        }
        self.links.insert(link);
    }

    /// Whether the radio is at a link.
    pub fn is_at(&self, link: LinkId) -> bool {
        self.at == link && self.step != Step::Moving
    }
    /// The link that is awake and may send data.
    pub fn open(&self) -> Option<LinkId> {
        (self.step == Step::Awake).then_some(self.at)
    }
    /// What a link has to tell: that it sleeps, or that it is awake.
    pub fn says(&self, link: LinkId, category: AccessCategory) -> Option<bool> {
        match self.step {
            Step::Says { sleeps, .. } if self.at == link && category == CATEGORY => Some(sleeps),
            _ => None,
        }
    }

    /// Whether a link does not know yet that it has become blind, or can hear again.
    pub fn must_tell(&self, link: LinkId) -> bool {
        self.is_at(link) == self.told.contains(link)
    }
    /// A link knows.
    pub fn tell(&mut self, link: LinkId) {
        if self.is_at(link) { self.told.remove(link) } else { self.told.insert(link) }
    }

    /// A frame of the peer has come.
    pub fn on_heard(&mut self, now: Instant) {
        (self.failures, self.heard) = (0, now);
    }
    /// A null frame is sent; returns whether it was sent before.
    fn on_null(&mut self) -> bool {
        let Step::Says { attempts, .. } = &mut self.step else { return false };
        *attempts += 1;
        *attempts > 1
    }
    /// A null frame is acknowledged.
    fn on_acknowledged(&mut self) {
        self.step = if matches!(self.step, Step::Says { sleeps: true, .. }) { Step::Leaves } else { Step::Awake };
    }
    /// Nobody has answered; returns whether it has something else to do now.
    fn on_failure(&mut self) -> bool {
        self.failures += u32::from(self.step == Step::Awake);
        let next = match self.step {
            Step::Awake if self.failures >= FAILURES => Step::Says { sleeps: true, attempts: 0 },
            Step::Says { attempts, .. } if attempts >= FAILURES => Step::Leaves,
            step => step,
        };
        std::mem::replace(&mut self.step, next) != next
    }
    /// The time is over in which the peer should have been heard, or it will be over then.
    fn on_silence(&mut self, now: Instant) -> Option<Instant> {
        let end = self.heard + SILENCE;
        if end > now {
            return Some(end);
        }
        self.ask();
        None
    }
    fn ask(&mut self) {
        (self.step, self.failures) = (Step::Says { sleeps: false, attempts: 0 }, 0);
    }
    /// The radio goes to the next link.
    fn depart(&mut self) {
        self.at = self.links.after(self.at);
        self.step = Step::Moving;
    }
}

impl<P: Packet + Copy> Edca<P> {
    /// The address on this link of the peer that is told, if a null frame is on the air.
    pub(super) fn told_peer(&self) -> Option<Address> {
        let awake = self.traffic.awake.as_ref()?;
        awake.says(self.planner.link.id, self.txop.as_ref()?.category)?;
        Some(self.planner.link.address(self.traffic.first_peer()?))
    }

    /// A null frame is sent, if the link has something to tell.
    pub(super) fn begin_null(&mut self, category: AccessCategory, at: Instant, access: Access) -> bool {
        let link = self.planner.link.id;
        let Some(awake) = &mut self.traffic.awake else { return false };
        let Some(sleeps) = awake.says(link, category) else { return false };
        let retry = awake.on_null();
        let Some(to) = self.traffic.first_peer().map(|device| self.planner.link.address(device)) else { return false };
        self.stop_counters(at);
        self.txop = Some(Txop::of_null(category));
        let config = &self.planner.config;
        let (rate, size) = (config.answer_rate(&config.data), config.data_header);
        let ack = config.answer_time(config.answer_rate(&Vector::NonHt(rate)), ACK_SIZE);
        let (airtime, nav) = (config.answer_time(rate, size), config.phy.sifs + ack);
        let null = self.planner.frame(FrameKind::Data, to, size, rate);
        let sequence = self.number();
        let end = self.transmit(Frame { power_management: sleeps, retry, sequence, nav, ..null }, at, airtime, access);
        self.state = State::Await(Answer::Ack, end + self.planner.config.response_timeout());
        true
    }

    /// A null frame is acknowledged.
    pub(super) fn on_told(&mut self, now: Instant) {
        if let Some(awake) = &mut self.traffic.awake {
            awake.on_acknowledged();
        }
        self.end_txop(now, true);
        self.follow_step(now);
    }

    /// A TXOP of a device of which one link is awake is over.
    pub(super) fn note_answer(&mut self, now: Instant, is_answered: bool) {
        let Some(awake) = &mut self.traffic.awake else { return };
        if is_answered {
            awake.on_heard(now);
        } else if awake.on_failure() {
            self.follow_step(now);
        }
    }

    /// Packets go over the link that is awake, or wait; the radio leaves as soon as what it sends is over.
    fn follow_step(&mut self, now: Instant) {
        let (Some(awake), Some(device)) = (&self.traffic.awake, self.traffic.first_peer()) else { return };
        let (open, leaves) = (awake.open(), awake.step == Step::Leaves);
        self.traffic.set_open(device, |peer| peer.open_at_most(open));
        if leaves {
            self.listening.set(Change::Departs, self.transmitting_until.max(now));
        }
        if open.is_some() {
            self.watch(now);
            self.take_over(now);
        }
        self.contend(now, CATEGORY, true);
    }

    /// The peer is expected to be heard.
    pub(super) fn watch(&mut self, now: Instant) {
        if self.traffic.awake.as_ref().is_some_and(|awake| awake.open() == Some(self.planner.link.id)) {
            self.listening.set(Change::Silence, now + SILENCE);
        }
    }

    /// The peer may have been silent for too long.
    pub(super) fn on_silence(&mut self, now: Instant) {
        let link = self.planner.link.id;
        let Some(awake) = self.traffic.awake.as_mut().filter(|awake| awake.open() == Some(link)) else { return };
        match awake.on_silence(now) {
            Some(end) => self.listening.set(Change::Silence, end),
            None => self.follow_step(now),
        }
    }

    /// The radio leaves this link.
    pub(super) fn depart(&mut self, now: Instant) {
        let Some(awake) = self.traffic.awake.as_mut().filter(|awake| awake.step == Step::Leaves) else { return };
        awake.depart();
        self.listening.set(Change::Arrives, now + awake.switch_delay);
    }

    /// It is at another link, which says so.
    pub(super) fn arrive(&mut self) {
        if let Some(awake) = &mut self.traffic.awake {
            awake.ask();
        }
    }

    /// A frame of a peer has come: it tells which of its links are awake, if one at a time is.
    pub(super) fn on_power_management(&mut self, now: Instant, header: &Frame<()>) {
        let (link, device) = (self.planner.link.id, self.planner.link.device(header.from));
        if let Some(awake) = &mut self.traffic.awake {
            return awake.on_heard(now);
        }
        if header.kind != FrameKind::Data || !self.traffic.has_one_awake(device) {
            return;
        }
        let sleeps = header.power_management;
        let change = self.traffic.set_open(device, |peer| if sleeps { peer.close(link) } else { peer.open_only(link) });
        if change.is_some() {
            self.take_over(now);
        }
    }
}
