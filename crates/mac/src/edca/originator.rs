//! The sending end of a traffic identifier towards one peer: sequence numbers, the window of MPDUs that are not
//! acknowledged yet, and what must be sent again (802.11-2020, 10.25.6.3 and 10.25.6.7).
//!
//! Without an agreement the window is one MPDU, and none while one is being set up. The window never passes its oldest
//! MPDU: nothing beyond is numbered before that one is acknowledged or given up. It knows of no link: several may send
//! from one window.

use super::frames::{BlockAck, SEQUENCES, ahead};
use super::link::LinkId;
use std::collections::VecDeque;

/// State of an MPDU in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MpduState {
    /// It is to be sent, or sent again.
    Waiting,
    /// It is in a PPDU that will be sent, perhaps behind an announcement.
    Taken,
    /// It is in a PPDU that was sent, and its fate is not known.
    InFlight,
    /// It is acknowledged or given up.
    Done,
}

/// An MPDU in the window.
#[derive(Clone, Debug)]
pub(super) struct Slot<P> {
    /// Its MSDU, or the first one of an A-MSDU.
    pub packet: P,
    /// The others of an A-MSDU.
    pub more: Option<Box<[P]>>,
    /// Length with header and FCS \[byte\].
    pub size: u32,
    /// Number of its transmissions.
    pub attempts: u16,
    pub state: MpduState,
    /// The link to which it was put; `None`: any may send it.
    pub link: Option<LinkId>,
    /// When its MSDU came, as a number.
    pub arrival: u64,
}

impl<P: Copy> Slot<P> {
    /// Its MSDUs.
    pub fn packets(&self) -> impl Iterator<Item = P> {
        std::iter::once(self.packet).chain(self.more.iter().flatten().copied())
    }
    pub fn count(&self) -> u32 {
        1 + self.more.as_ref().map_or(0, |more| more.len() as u32)
    }
}

/// The sending end of a traffic identifier towards one peer.
#[derive(Clone, Debug)]
pub(super) struct Originator<P> {
    window: u16,
    /// Sequence number of the next new MPDU.
    next: u16,
    /// MPDUs from the oldest that is not done.
    slots: VecDeque<Slot<P>>,
    /// Number of those that wait for any link.
    waiting: u32,
    /// Those that were put to a link and wait for it, by link; empty where none are.
    put: Vec<u32>,
    /// The number that the recipient may take for an old one: none from it on is given before it is told of what was
    /// given up.
    limit: Option<u16>,
}

impl<P: Copy> Originator<P> {
    pub fn new(window: u16) -> Self {
        Self { window, next: 0, slots: VecDeque::new(), waiting: 0, put: Vec::new(), limit: None }
    }

    /// The window has this length from now on; 0: nothing more is numbered.
    pub fn set_window(&mut self, window: u16) {
        self.window = window;
    }
    pub fn window(&self) -> u16 {
        self.window
    }
    /// No number from this one on is given; `None`: the window alone is the limit.
    pub fn set_limit(&mut self, limit: Option<u16>) {
        self.limit = limit;
    }
    /// WinStart: the oldest number that is not done.
    pub fn start(&self) -> u16 {
        ahead(self.slots.len() as u16, self.next)
    }
    /// Whether a new MPDU fits into the window.
    #[inline]
    pub fn has_space(&self) -> bool {
        self.slots.len() < usize::from(self.window) && self.limit != Some(self.next)
    }
    /// Whether the window is full, and not closed.
    pub fn is_full(&self) -> bool {
        self.window > 0 && !self.has_space()
    }
    /// Whether an MPDU waits to be sent on any link: one that was lost.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }
    /// Whether an MPDU waits that this link may send.
    #[inline]
    pub fn has_waiting_on(&self, link: LinkId) -> bool {
        self.waiting > 0 || self.put.get(usize::from(link.0)).is_some_and(|put| *put > 0)
    }
    /// Number of MPDUs that wait to be sent again on any link, and their bits.
    pub fn lost(&self) -> (u64, u64) {
        if !self.has_waiting() {
            return (0, 0);
        }
        let lost = self.slots.iter().filter(|slot| slot.state == MpduState::Waiting && slot.link.is_none());
        lost.fold((0, 0), |(count, bits), slot| (count + 1, bits + 8 * u64::from(slot.size)))
    }
    /// Arrival of the oldest MPDU that is not done.
    pub fn oldest_arrival(&self) -> Option<u64> {
        self.slots.front().map(|slot| slot.arrival)
    }
    /// Numbers that are left in the window.
    pub fn space(&self) -> usize {
        let left = self.limit.map_or(usize::MAX, |limit| usize::from(ahead(self.next, limit)));
        usize::from(self.window).saturating_sub(self.slots.len()).min(left)
    }
    /// Number of those that are left in a window that begins with this one.
    pub fn space_behind(&self, sequence: u16) -> u32 {
        u32::from(self.window.saturating_sub(ahead(sequence, self.next)))
    }
    /// Number of MPDUs in the window.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Numbers one more MPDU, which is put into a PPDU.
    #[inline]
    pub fn push(&mut self, packet: P, more: Option<Box<[P]>>, size: u32, arrival: u64) {
        let (state, link) = (MpduState::Taken, None);
        self.slots.push_back(Slot { packet, more, size, attempts: 0, state, link, arrival });
        self.next = (self.next + 1) % SEQUENCES;
    }

    /// Numbers one more MPDU, which waits for a link.
    pub fn put(&mut self, packet: P, size: u32, arrival: u64, link: LinkId) {
        let (state, to) = (MpduState::Waiting, Some(link));
        self.slots.push_back(Slot { packet, more: None, size, attempts: 0, state, link: to, arrival });
        self.next = (self.next + 1) % SEQUENCES;
        *self.put_to(link) += 1;
    }

    #[cold]
    fn put_to(&mut self, link: LinkId) -> &mut u32 {
        let place = usize::from(link.0);
        if place >= self.put.len() {
            self.put.resize(place + 1, 0);
        }
        &mut self.put[place]
    }

    /// Number of MPDUs that wait for a link, or for any.
    #[inline]
    fn waiting_for(&mut self, link: Option<LinkId>) -> &mut u32 {
        match link {
            None => &mut self.waiting,
            Some(link) => self.put_to(link),
        }
    }

    #[inline]
    fn waits_no_longer(&mut self, link: Option<LinkId>) {
        match link {
            None => self.waiting -= 1,
            Some(link) => *self.put_to(link) -= 1,
        }
    }

    /// The MPDUs from the oldest on, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &Slot<P>)> {
        let start = self.start();
        self.slots.iter().enumerate().map(move |(place, slot)| ((start + place as u16) % SEQUENCES, slot))
    }

    #[inline]
    fn slot(&mut self, sequence: u16) -> Option<&mut Slot<P>> {
        let place = usize::from(ahead(self.start(), sequence));
        self.slots.get_mut(place)
    }

    /// An MPDU that waits is put into a PPDU: no other takes it.
    #[inline]
    pub fn take(&mut self, sequence: u16) {
        let Some(slot) = self.slot(sequence).filter(|slot| slot.state == MpduState::Waiting) else { return };
        slot.state = MpduState::Taken;
        let link = slot.link;
        self.waits_no_longer(link);
    }

    /// The PPDU that an MPDU was put into is not sent.
    pub fn put_back(&mut self, sequence: u16) {
        let Some(slot) = self.slot(sequence).filter(|slot| slot.state == MpduState::Taken) else { return };
        slot.state = MpduState::Waiting;
        let link = slot.link;
        *self.waiting_for(link) += 1;
    }

    /// The PPDU that an MPDU was put into is not sent, for nobody has answered its announcement: any link may send it.
    pub fn release(&mut self, sequence: u16) {
        let Some(slot) = self.slot(sequence).filter(|slot| slot.state == MpduState::Taken) else { return };
        (slot.state, slot.link) = (MpduState::Waiting, None);
        self.waiting += 1;
    }

    /// An MPDU goes on the air.
    #[inline]
    pub fn on_sent(&mut self, sequence: u16) {
        if let Some(slot) = self.slot(sequence) {
            (slot.state, slot.attempts) = (MpduState::InFlight, slot.attempts.saturating_add(1));
        }
    }

    /// An MPDU is acknowledged; returns whether that is news.
    #[inline]
    pub fn acknowledge(&mut self, sequence: u16) -> bool {
        let Some(slot) = self.slot(sequence) else { return false };
        let before = std::mem::replace(&mut slot.state, MpduState::Done);
        let link = slot.link.take();
        if before == MpduState::Waiting {
            self.waits_no_longer(link);
        }
        before != MpduState::Done
    }

    /// An MPDU that was in a PPDU has not come. It waits again, or is given up if it was sent as often as may be: then
    /// it is returned.
    #[inline]
    pub fn lose(&mut self, sequence: u16, limit: Option<u32>) -> Option<&Slot<P>> {
        let place = usize::from(ahead(self.start(), sequence));
        let is_in_ppdu = |state: MpduState| matches!(state, MpduState::Taken | MpduState::InFlight);
        let slot = self.slots.get_mut(place).filter(|slot| is_in_ppdu(slot.state))?;
        slot.link = None;
        let is_given_up = limit.is_some_and(|limit| u32::from(slot.attempts) >= limit);
        slot.state = if is_given_up { MpduState::Done } else { MpduState::Waiting };
        if is_given_up {
            return self.slots.get(place);
        }
        self.waiting += 1;
        None
    }

    /// MPDUs that were sent before and that an acknowledgement tells of, outside the PPDU that it answers. One that is
    /// in a PPDU again, which is not sent yet, has its fate from the answer to that.
    pub fn acknowledged_otherwise(&self, answer: &BlockAck) -> Vec<u16> {
        let may_be_done = |state: MpduState| matches!(state, MpduState::Waiting | MpduState::InFlight);
        let is_news = |slot: &Slot<P>| may_be_done(slot.state) && slot.attempts > 0;
        self.iter().filter(|(sequence, slot)| is_news(slot) && answer.acknowledges(*sequence)).map(|(n, _)| n).collect()
    }

    /// An MPDU of the window.
    pub fn get(&self, sequence: u16) -> Option<&Slot<P>> {
        self.slots.get(usize::from(ahead(self.start(), sequence)))
    }

    /// Sequence number of the next new MPDU.
    pub fn next(&self) -> u16 {
        self.next
    }

    /// Moves the window past everything that is done.
    pub fn advance(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.state == MpduState::Done) {
            self.slots.pop_front();
        }
    }
}
