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

use super::category::AccessCategory;
use super::link::{LinkId, Links};
use airbraid_units::{Duration, Instant};

/// Exchanges in a row without an answer after which a link has failed, and transmissions of a null frame:
/// dot11ShortRetryLimit (802.11-2020, annex C).
const FAILURES: u32 = 7;
/// The category of null frames: its contention window lets seven attempts outlast a PPDU of a hidden station.
pub(super) const CATEGORY: AccessCategory = AccessCategory::BestEffort;

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
    pub switch_delay: Duration,
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
    /// The news of a link: that it sleeps, or that it is awake.
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

    /// Whether it has said that it leaves.
    pub fn leaves(&self) -> bool {
        self.step == Step::Leaves
    }
    /// A frame of the peer has come.
    pub fn on_heard(&mut self, now: Instant) {
        (self.failures, self.heard) = (0, now);
    }
    /// A null frame is sent; returns whether it was sent before.
    pub fn on_null(&mut self) -> bool {
        let Step::Says { attempts, .. } = &mut self.step else { return false };
        *attempts += 1;
        *attempts > 1
    }
    /// A null frame is acknowledged.
    pub fn on_acknowledged(&mut self) {
        self.step = if matches!(self.step, Step::Says { sleeps: true, .. }) { Step::Leaves } else { Step::Awake };
    }
    /// Nobody has answered; returns whether it has something else to do now.
    pub fn on_failure(&mut self) -> bool {
        self.failures += u32::from(self.step == Step::Awake);
        let next = match self.step {
            Step::Awake if self.failures >= FAILURES => Step::Says { sleeps: true, attempts: 0 },
            Step::Says { attempts, .. } if attempts >= FAILURES => Step::Leaves,
            step => step,
        };
        std::mem::replace(&mut self.step, next) != next
    }
    /// The time is over in which the peer should have been heard, or it will be over then.
    pub fn on_silence(&mut self, now: Instant, longest: Duration) -> Option<Instant> {
        let end = self.heard + longest;
        if end > now {
            return Some(end);
        }
        self.ask();
        None
    }
    pub fn ask(&mut self) {
        (self.step, self.failures) = (Step::Says { sleeps: false, attempts: 0 }, 0);
    }
    /// The radio goes to the next link.
    pub fn depart(&mut self) {
        self.at = self.links.after(self.at);
        self.step = Step::Moving;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_three() -> OneAwake {
        let mut awake = OneAwake::new(Duration::from_micros(800));
        [4, 0, 2].map(LinkId).into_iter().for_each(|link| awake.add_link(link));
        awake
    }

    #[test]
    fn one_link_at_a_time_sees() {
        let mut awake = of_three();
        let [a, b] = [LinkId(4), LinkId(0)];
        assert!(awake.is_at(a) && awake.open() == Some(a) && !awake.must_tell(a) && awake.must_tell(b));
        awake.tell(b);
        assert!(!awake.must_tell(b));
        awake.depart();
        assert!(!awake.is_at(a) && !awake.is_at(b) && awake.must_tell(a) && !awake.must_tell(b));
        awake.ask();
        assert!(awake.is_at(b) && awake.must_tell(b) && awake.open().is_none(), "it has not said yet that it is awake");
        assert_eq!(awake.says(b, CATEGORY), Some(false));
        awake.on_acknowledged();
        assert_eq!((awake.open(), awake.says(b, CATEGORY)), (Some(b), None));
    }

    #[test]
    fn a_link_fails_by_failures_in_a_row() {
        let mut awake = of_three();
        assert!((1..FAILURES).all(|_| !awake.on_failure()));
        awake.on_heard(Instant::ZERO);
        assert!((1..FAILURES).all(|_| !awake.on_failure()) && awake.on_failure());
        assert_eq!(awake.says(LinkId(4), CATEGORY), Some(true));
        // The last null frame that is given up makes it leave.
        for attempt in 1..=FAILURES {
            assert_eq!((awake.on_null(), awake.on_failure()), (attempt > 1, attempt == FAILURES));
        }
        assert!(awake.leaves());
    }

    #[test]
    fn a_silence_is_counted_from_the_last_frame() {
        let (ms, longest) = (|ms| Instant::ZERO + Duration::from_millis(ms), Duration::from_millis(700));
        let mut awake = of_three();
        awake.on_heard(ms(500));
        assert_eq!(awake.on_silence(ms(700), longest), Some(ms(1_200)));
        assert_eq!((awake.on_silence(ms(1_200), longest), awake.open()), (None, None));
    }
}
