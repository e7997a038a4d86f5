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

    /// Takes the packets of the newest group, if it needs them no more.
    pub fn take_done(&mut self) -> Vec<PacketId> {
        match self.groups.back_mut() {
            Some(group) if !group.is_open && group.sent >= group.repairs => std::mem::take(&mut group.covered),
            _ => Vec::new(),
        }
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
