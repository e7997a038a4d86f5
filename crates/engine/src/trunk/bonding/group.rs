//! The groups of one member whose packets have repair symbols behind them, as their sender sees them.
//!
//! A group is a row of consecutive numbers of the member, each a packet; its symbols follow, perhaps with other frames
//! between them. Any `k` of its `k + r` frames are enough, so acknowledgements tell what was restored: with `k` of them
//! the far end has all packets. A lost packet waits for that, and is retransmitted when the group cannot be restored
//! any more.
//!
//! The far end keeps packets for restoring only while it receives symbols. So no packet waits before a symbol was
//! acknowledged, nor where the far end may not keep numbers that far back ([`super::restore`]).

use super::code::Plan;
use super::restore::REACH;
use super::store::PacketId;
use airbraid_units::{Duration, Instant, SeqNum};
use std::collections::VecDeque;

/// Time after the acknowledgement of a symbol for which groups are waited for; less than the far end keeps them
/// ([`super::restore`]).
const RELIED_ON: Duration = Duration::from_secs(10);

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It has come.
    Came,
    /// It was declared lost, and has come.
    CameLate,
    /// It is declared lost; the packet that it carried, if any.
    Lost(Option<PacketId>),
}

/// The consequences of a fate.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Packets of lost frames that the far end has restored.
    pub restored: Vec<PacketId>,
    /// Packets of lost frames that have waited and cannot be restored.
    pub again: Vec<PacketId>,
    /// The frame's own packet begins to wait.
    pub waits: Option<PacketId>,
    /// The frame's own packet cannot be restored.
    pub lost: Option<PacketId>,
    /// A packet waited to be restored, and has come.
    pub came: Option<PacketId>,
}

/// A row of packets and its symbols.
#[derive(Debug)]
struct Group {
    first: SeqNum,
    began: Instant,
    sources: u8,
    /// Symbols that follow once it has ended, and symbols that have left.
    repairs: u8,
    sent: u8,
    /// The number behind its newest frame.
    end: SeqNum,
    plan: Plan,
    is_open: bool,
    /// The far end is known to keep its packets.
    is_relied_on: bool,
    /// It is given up.
    is_failed: bool,
    came: u16,
    lost: u16,
    /// Lost packets that may be restored.
    waiting: Vec<(SeqNum, PacketId)>,
    /// Its packets, until its symbols have left.
    covered: Vec<PacketId>,
}

impl Group {
    fn is_source(&self, number: SeqNum) -> bool {
        (0..i32::from(self.sources)).contains(&number.distance_from(self.first))
    }

    /// Decides on the waiting packets.
    fn judge(&mut self, now: Instant, newest: SeqNum, verdict: &mut Verdict) {
        if self.waiting.is_empty() {
            return;
        }
        let is_in_reach =
            newest.distance_from(self.first) < REACH as i32 && now.saturating_since(self.began) < RELIED_ON;
        let most = if self.is_open { self.plan.repairs } else { self.repairs };
        let has_enough = self.came >= u16::from(self.sources) && !self.is_open;
        if has_enough && is_in_reach {
            verdict.restored.extend(self.waiting.drain(..).map(|(_, id)| id));
        } else if self.lost > u16::from(most) || has_enough {
            self.is_failed = true;
            verdict.again.extend(self.waiting.drain(..).map(|(_, id)| id));
        }
    }
}

/// The groups of a member, and its present coding plan.
#[derive(Debug, Default)]
pub struct Groups {
    /// The plan for groups; `None`: frames are not coded.
    pub plan: Option<Plan>,
    groups: VecDeque<Group>,
    /// Packets of groups that were no longer the newest when they were found to need no symbols.
    done: Vec<PacketId>,
    relied_on_until: Instant,
}

impl Groups {
    /// Entries of all tables.
    pub fn kept(&self) -> usize {
        self.groups.iter().map(|group| group.waiting.len() + group.covered.len() + 1).sum()
    }

    /// The group that lacks symbols.
    fn last(&mut self) -> Option<&mut Group> {
        self.groups.back_mut().filter(|group| group.is_open || group.sent < group.repairs)
    }

    /// A frame with a packet leaves. Returns whether the packet joins a group: it must then be kept until
    /// [`Self::take_done`] returns it.
    pub fn join(&mut self, now: Instant, number: SeqNum, id: PacketId) -> bool {
        if let Some(group) = self.last() {
            if group.is_open && group.end == number {
                group.sources += 1;
                group.end = number.next();
                group.covered.push(id);
                if group.sources >= group.plan.sources {
                    Self::close(group);
                }
                return true;
            }
            Self::close(group);
            if group.sent < group.repairs {
                return false;
            }
            let mut covered = std::mem::take(&mut group.covered);
            self.done.append(&mut covered);
        }
        let Some(plan) = self.plan else { return false };
        self.groups.push_back(Group {
            first: number,
            began: now,
            sources: 1,
            repairs: 0,
            sent: 0,
            end: number.next(),
            plan,
            is_open: true,
            is_relied_on: now < self.relied_on_until,
            is_failed: false,
            came: 0,
            lost: 0,
            waiting: Vec::new(),
            covered: vec![id],
        });
        true
    }

    /// Closes the open group; it needs no symbols if all of its packets have come.
    fn close(group: &mut Group) {
        if group.is_open {
            group.is_open = false;
            let has_all = group.came >= u16::from(group.sources);
            group.repairs = if has_all { 0 } else { group.plan.repairs_for(group.sources) };
        }
    }

    /// Time at which the open group ends.
    pub fn close_at(&self) -> Option<Instant> {
        self.groups.back().filter(|group| group.is_open).map(|group| group.began.saturating_add(group.plan.span))
    }

    /// Ends a group that has lasted long enough. Returns whether it did.
    pub fn close_due(&mut self, now: Instant) -> bool {
        let is_due = self.close_at().is_some_and(|at| at <= now);
        if let Some(group) = self.groups.back_mut().filter(|_| is_due) {
            Self::close(group);
        }
        is_due
    }

    /// The group whose symbols are due: the index of a symbol with the number `number`, and the group's packets. There
    /// are no more symbols if too many other frames have left since for such an index.
    pub fn pending(&mut self, number: SeqNum) -> Option<(u8, &[PacketId])> {
        let group = self.groups.back_mut().filter(|group| !group.is_open && group.sent < group.repairs)?;
        let has_all = group.came >= u16::from(group.sources);
        let index = number.distance_from(group.first) - i32::from(group.sources);
        let index =
            u8::try_from(index).ok().filter(|index| u16::from(*index) + u16::from(group.sources) < 255 && !has_all);
        if index.is_none() {
            group.repairs = group.sent;
        }
        Some((index?, &group.covered))
    }

    /// Whether symbols are due.
    pub fn is_pending(&self) -> bool {
        self.groups.back().is_some_and(|group| !group.is_open && group.sent < group.repairs)
    }

    /// Notes that the symbol has left.
    pub fn on_sent(&mut self, number: SeqNum) {
        if let Some(group) = self.groups.back_mut() {
            group.sent += 1;
            group.end = number.next();
        }
    }

    /// Decides on the newest group after it has ended or has no more symbols.
    pub fn review(&mut self, now: Instant, newest: Option<SeqNum>) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(group) = self.groups.back_mut() {
            group.judge(now, newest.unwrap_or(group.first), &mut verdict);
        }
        self.forget();
        verdict
    }

    /// Takes the packets of groups that need them no more.
    pub fn take_done(&mut self) -> Vec<PacketId> {
        let mut done = std::mem::take(&mut self.done);
        if let Some(group) = self.groups.back_mut().filter(|group| !group.is_open && group.sent >= group.repairs) {
            done.append(&mut group.covered);
        }
        done
    }

    /// Notes the fate of a frame; `newest` is the newest number that is known to have come.
    pub fn on_news(
        &mut self,
        now: Instant,
        number: SeqNum,
        is_repair: bool,
        news: News,
        newest: Option<SeqNum>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        if is_repair && news != News::Lost(None) {
            self.relied_on_until = now.saturating_add(RELIED_ON);
        }
        let index = self.groups.partition_point(|group| !group.first.is_after(number));
        let group = index.checked_sub(1).and_then(|index| self.groups.get_mut(index));
        let Some(group) = group.filter(|group| is_repair && number.is_before(group.end) || group.is_source(number))
        else {
            if let News::Lost(id) = news {
                verdict.lost = id;
            }
            return verdict;
        };
        match news {
            News::Came => group.came += 1,
            News::CameLate => {
                group.came += 1;
                group.lost -= 1;
                let place = group.waiting.iter().position(|(waiting, _)| *waiting == number);
                verdict.came = place.map(|place| group.waiting.swap_remove(place).1);
            }
            News::Lost(id) => {
                group.lost += 1;
                match id {
                    Some(waits) if group.is_relied_on && !group.is_failed => {
                        group.waiting.push((number, waits));
                        verdict.waits = id;
                    }
                    _ => verdict.lost = id,
                }
            }
        }
        group.judge(now, newest.unwrap_or(number), &mut verdict);
        self.forget();
        verdict
    }

    /// Forgets groups that are decided.
    fn forget(&mut self) {
        let is_done = |group: &Group| {
            let frames = u16::from(group.sources) + u16::from(group.sent);
            !group.is_open && group.sent >= group.repairs && group.came + group.lost >= frames
        };
        while self
            .groups
            .front()
            .is_some_and(|group| is_done(group) && group.covered.is_empty() && group.waiting.is_empty())
        {
            self.groups.pop_front();
        }
    }

    /// Gives up all groups: returns the waiting packets, and the kept ones.
    pub fn abandon(&mut self) -> (Vec<PacketId>, Vec<PacketId>) {
        self.relied_on_until = Instant::ZERO;
        let (mut waiting, mut covered) = (Vec::new(), Vec::new());
        for group in self.groups.drain(..) {
            waiting.extend(group.waiting.into_iter().map(|(_, id)| id));
            covered.extend(group.covered);
        }
        (waiting, covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::trunk::bonding::flow_seq::FlowSeq;
    use crate::trunk::bonding::store::Store;
    use airbraid_units::Bytes;

    const MS: Duration = Duration::from_millis(1);
    /// Two symbols behind four packets.
    const PLAN: Plan = Plan { sources: 4, repairs: 2, span: Duration::from_millis(10), blocking: Duration::ZERO };

    struct Nothing;

    impl Packet for Nothing {
        fn len(&self) -> Bytes {
            Bytes::ZERO
        }
        fn flow_bucket(&self) -> u16 {
            0
        }
    }

    const fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// The name of the packet with this number.
    fn id(number: u32) -> PacketId {
        let mut store = Store::new();
        let mut ids = (0..=number).map(|_| store.add(Nothing, FlowSeq::default(), Instant::ZERO, false));
        ids.next_back().expect("there is one")
    }

    fn ids<const N: usize>(numbers: [u32; N]) -> Vec<PacketId> {
        numbers.map(id).to_vec()
    }

    /// Groups that the far end restores, and in which packets with these numbers have joined.
    fn with(numbers: impl IntoIterator<Item = u32>) -> Groups {
        let mut groups = Groups { plan: Some(PLAN), relied_on_until: at(1), ..Groups::default() };
        for number in numbers {
            assert!(groups.join(Instant::ZERO, SeqNum(number), id(number)), "{number}");
        }
        groups
    }

    /// The symbols that are due leave, the first under this number.
    fn send_symbols(groups: &mut Groups, mut number: u32) {
        while groups.is_pending() {
            assert!(groups.pending(SeqNum(number)).is_some());
            groups.on_sent(SeqNum(number));
            number += 1;
        }
        groups.take_done();
    }

    fn tell(groups: &mut Groups, number: u32, news: News) -> Verdict {
        groups.on_news(Instant::ZERO, SeqNum(number), number > 4, news, Some(SeqNum(6)))
    }

    fn lose(groups: &mut Groups, number: u32) -> Verdict {
        tell(groups, number, News::Lost(Some(id(number))))
    }

    #[test]
    fn a_full_group_is_followed_by_its_symbols_and_then_needs_its_packets_no_more() {
        let mut groups = with(1..4);
        assert_eq!((groups.is_pending(), groups.close_at(), groups.kept()), (false, Some(at(10)), 4));
        assert!(groups.pending(SeqNum(4)).is_none());
        assert!(groups.join(at(9), SeqNum(4), id(4)));
        assert_eq!((groups.is_pending(), groups.close_at()), (true, None));
        assert_eq!(groups.pending(SeqNum(5)), Some((0, &ids([1, 2, 3, 4])[..])));
        groups.on_sent(SeqNum(5));
        assert!(groups.take_done().is_empty(), "another symbol is due");
        // Another frame has left meanwhile.
        assert!(!groups.join(at(9), SeqNum(6), id(6)));
        assert_eq!(groups.pending(SeqNum(7)).map(|(index, _)| index), Some(2));
        groups.on_sent(SeqNum(7));
        assert!(!groups.is_pending() && groups.pending(SeqNum(8)).is_none());
        assert_eq!(groups.take_done(), ids([1, 2, 3, 4]));
        assert!(groups.take_done().is_empty());
        assert!(groups.join(at(9), SeqNum(8), id(8)), "the next group begins");
    }

    #[test]
    fn a_group_that_lasts_too_long_ends_with_the_symbols_of_its_size() {
        for (packets, symbols) in [(1, 1), (2, 1), (3, 2)] {
            let mut groups = with(1..=packets);
            assert!(!groups.close_due(Instant::from_nanos(9_999_999)));
            assert!(groups.close_due(at(10)) && !groups.close_due(at(10)));
            let due = (0..4).filter(|_| {
                let is_due = groups.is_pending();
                groups.on_sent(SeqNum(packets + 1));
                is_due
            });
            assert_eq!(due.count(), symbols, "{packets} packets");
        }
    }

    #[test]
    fn a_group_that_came_before_a_frame_of_another_kind_ended_it_gives_its_packets_back() {
        let mut groups = with(1..=2);
        for number in [1, 2] {
            groups.on_news(at(3), SeqNum(number), false, News::Came, Some(SeqNum(number)));
        }
        assert!(groups.take_done().is_empty(), "it may grow yet");
        assert!(groups.join(at(4), SeqNum(4), id(4)), "number 3 was a probe");
        assert_eq!(groups.take_done(), ids([1, 2]));
        assert!(groups.take_done().is_empty());
    }

    #[test]
    fn a_frame_of_another_kind_ends_a_group() {
        let mut groups = with([1, 2]);
        assert!(!groups.join(at(1), SeqNum(4), id(4)), "symbols are due before another group begins");
        assert!(groups.is_pending());
        let mut groups = Groups::default();
        assert!(!groups.join(at(1), SeqNum(1), id(1)), "there is no plan");
    }

    #[test]
    fn packets_that_have_all_come_need_no_symbols() {
        let mut groups = with(1..4);
        (1..4).for_each(|number| drop(tell(&mut groups, number, News::Came)));
        assert!(groups.close_due(at(10)) && !groups.is_pending());
        assert_eq!(groups.take_done(), ids([1, 2, 3]));
        groups.review(at(10), None);
        assert_eq!(groups.kept(), 0);
        // The same when they come after the group has ended.
        let mut groups = with(1..5);
        (1..5).for_each(|number| drop(tell(&mut groups, number, News::Came)));
        assert!(groups.is_pending() && groups.pending(SeqNum(5)).is_none());
        assert!(!groups.is_pending());
        assert_eq!(groups.take_done(), ids([1, 2, 3, 4]));
    }

    #[test]
    fn a_symbol_has_an_index_below_255_together_with_the_packets() {
        for (number, index) in [(254, Some(249)), (255, Some(250)), (256, None)] {
            let mut groups = with(1..5);
            assert_eq!(groups.pending(SeqNum(number)).map(|(index, _)| index), index);
            assert_eq!(groups.is_pending(), index.is_some(), "there are no more symbols if there is no index");
        }
    }

    #[test]
    fn a_lost_packet_waits_for_ten_seconds_after_a_symbol_has_come_and_not_before() {
        let mut groups = Groups { plan: Some(PLAN), ..Groups::default() };
        (1..5).for_each(|number| assert!(groups.join(at(0), SeqNum(number), id(number))));
        send_symbols(&mut groups, 5);
        let verdict = lose(&mut groups, 1);
        assert_eq!((verdict.waits, verdict.lost), (None, Some(id(1))));
        // A lost symbol shows nothing.
        let _ = groups.on_news(at(90), SeqNum(5), true, News::Lost(None), Some(SeqNum(5)));
        let _ = groups.on_news(at(100), SeqNum(6), true, News::Came, Some(SeqNum(6)));
        for (first, ms, waits) in [(10, 10_099, Some(id(1))), (20, 10_100, None)] {
            (0..4).for_each(|step| assert!(groups.join(at(ms), SeqNum(first + step), id(1))));
            let verdict = groups.on_news(at(ms), SeqNum(first), false, News::Lost(Some(id(1))), None);
            assert_eq!((verdict.waits, verdict.lost.is_none()), (waits, waits.is_some()), "{ms} ms");
            send_symbols(&mut groups, first + 4);
        }
    }

    #[test]
    fn lost_packets_are_restored_by_as_many_frames_as_there_are_packets() {
        let mut groups = with(1..5);
        send_symbols(&mut groups, 5);
        assert_eq!((lose(&mut groups, 2).waits, lose(&mut groups, 3).waits), (Some(id(2)), Some(id(3))));
        assert_eq!(groups.kept(), 3);
        for number in [1, 4, 5] {
            assert!(tell(&mut groups, number, News::Came).restored.is_empty(), "{number}");
        }
        let verdict = tell(&mut groups, 6, News::Came);
        assert_eq!((verdict.restored, verdict.again), (ids([2, 3]), vec![]));
        assert_eq!(groups.kept(), 0, "all of its frames are decided");
    }

    #[test]
    fn more_lost_frames_than_symbols_bring_all_that_wait_again() {
        let mut groups = with(1..5);
        send_symbols(&mut groups, 5);
        assert!(lose(&mut groups, 1).again.is_empty());
        assert!(tell(&mut groups, 5, News::Lost(None)).again.is_empty());
        assert_eq!(lose(&mut groups, 3).again, ids([1, 3]));
        let verdict = lose(&mut groups, 4);
        assert_eq!((verdict.waits, verdict.lost), (None, Some(id(4))), "nothing waits in a group that is given up");
    }

    #[test]
    fn a_frame_that_came_after_all_is_neither_lost_nor_waited_for() {
        let mut groups = with(1..5);
        send_symbols(&mut groups, 5);
        lose(&mut groups, 1);
        lose(&mut groups, 2);
        let verdict = tell(&mut groups, 1, News::CameLate);
        assert_eq!((verdict.came, verdict.restored, verdict.again), (Some(id(1)), vec![], vec![]));
        let verdict = lose(&mut groups, 3);
        assert_eq!((verdict.waits, verdict.again), (Some(id(3)), vec![]), "two are lost, not three");
        let late = tell(&mut groups, 5, News::Lost(None));
        assert_eq!(late.again, ids([2, 3]));
        assert_eq!(tell(&mut groups, 2, News::CameLate).came, None, "it waits no more");
    }

    #[test]
    fn the_far_end_restores_nothing_from_1024_numbers_back_or_after_ten_seconds() {
        for (ms, newest, is_restored) in [(0, 1_024, true), (9_999, 6, true), (0, 1_025, false), (10_000, 6, false)] {
            let mut groups = with(1..5);
            send_symbols(&mut groups, 5);
            lose(&mut groups, 1);
            (2..5).for_each(|number| drop(tell(&mut groups, number, News::Came)));
            let verdict = groups.on_news(at(ms), SeqNum(5), true, News::Came, Some(SeqNum(newest)));
            let expected = if is_restored { (ids([1]), vec![]) } else { (vec![], ids([1])) };
            assert_eq!((verdict.restored, verdict.again), expected, "{ms} ms, {newest}");
        }
    }

    #[test]
    fn a_frame_of_no_group_is_lost_at_once_and_counts_nowhere() {
        let mut groups = with(10..14);
        send_symbols(&mut groups, 14);
        for number in [9, 14, 16] {
            let verdict = groups.on_news(at(0), SeqNum(number), false, News::Lost(Some(id(number))), None);
            assert_eq!((verdict.waits, verdict.lost), (None, Some(id(number))), "{number}");
        }
        let verdict = groups.on_news(at(0), SeqNum(13), false, News::Lost(Some(id(13))), None);
        assert_eq!((verdict.waits, verdict.again), (Some(id(13)), vec![]), "the first of the group");
    }

    #[test]
    fn what_is_given_up_returns_all_packets_and_relies_on_nothing() {
        let mut groups = with(1..4);
        lose(&mut groups, 2);
        assert_eq!(groups.kept(), 1 + 3 + 1);
        assert_eq!(groups.abandon(), (ids([2]), ids([1, 2, 3])));
        assert_eq!(groups.kept(), 0);
        assert!(groups.join(Instant::ZERO, SeqNum(4), id(4)));
        assert_eq!(lose(&mut groups, 4).waits, None);
        assert!(groups.close_at() == Some(Instant::ZERO + MS * 10));
    }
}
