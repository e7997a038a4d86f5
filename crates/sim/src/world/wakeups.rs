//! The wake-ups of all machines, in one tree of timers: which machine sleeps where, and which alarm rings in vain.

use super::id::{FlowMachine, Id, LinkDirection, LinkTrunkEnd, NodeId, RadioId, RadioTrunkEnd, StopAndWaitId};
use crate::timers::Timers;
use airbraid_engine::Wake;
use airbraid_units::Instant;

macro_rules! machines {
    ($($(#[$doc:meta])* $kind:ident($id:ty),)+) => {
        /// A machine that may have a wake-up. The order of the kinds, and of the ids in each, is the order of
        /// simultaneous wake-ups: it is part of the model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum MachineId {
            $($(#[$doc])* $kind($id),)+
        }

        /// The kind of a machine.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum MachineKind {
            $($(#[$doc])* $kind,)+
        }

        impl MachineKind {
            const COUNT: usize = [$(Self::$kind),+].len();
        }

        impl MachineId {
            /// Its kind and its index among those of its kind.
            #[inline(always)]
            fn parts(self) -> (MachineKind, usize) {
                match self {
                    $(Self::$kind(id) => (MachineKind::$kind, id.index()),)+
                }
            }

            fn of(kind: usize, index: usize) -> Self {
                const KINDS: [MachineKind; MachineKind::COUNT] = [$(MachineKind::$kind),+];
                match KINDS[kind] {
                    $(MachineKind::$kind => Self::$kind(Id::from_index(index)),)+
                }
            }
        }
    };
}

machines! {
    /// A radio's MAC.
    Mac(RadioId),
    /// An end of local error control over a polled radio.
    StopAndWait(StopAndWaitId),
    /// An end of local error control over a plain link, by the direction on which it sends.
    SelectiveRepeat(LinkDirection),
    /// An end of a trunk over radios.
    RadioTrunk(RadioTrunkEnd),
    /// Interface selection among the members of a trunk over radios.
    Selector(RadioTrunkEnd),
    /// An end of a trunk over links.
    LinkTrunk(LinkTrunkEnd),
    /// A link direction.
    Link(LinkDirection),
    /// A node's AODV.
    Router(NodeId),
    /// A flow's sender, receiver or application.
    Flow(FlowMachine),
}

/// Number of machines of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MachineCounts([usize; MachineKind::COUNT]);

impl MachineCounts {
    /// The same with `count` machines of a kind.
    pub const fn with(mut self, kind: MachineKind, count: usize) -> Self {
        self.0[kind as usize] = count;
        self
    }
}

/// The wake-ups of all machines.
#[derive(Debug)]
pub(super) struct Wakeups {
    timers: Timers,
    /// When each MAC really wants to be woken: not before its alarm rings.
    wanted: Vec<Instant>,
    /// The place of the first machine of each kind.
    first: [u32; MachineKind::COUNT],
}

impl Wakeups {
    /// No machine wants to be woken.
    pub fn new(counts: MachineCounts) -> Self {
        let mut first = [0; MachineKind::COUNT];
        let mut next = 0;
        for (first, count) in first.iter_mut().zip(counts.0) {
            *first = next as u32;
            next += count;
        }
        let macs = counts.0[MachineKind::Mac as usize];
        Self { timers: Timers::new(next), wanted: vec![Instant::MAX; macs], first }
    }

    /// Sets the wake-up of a machine.
    ///
    /// Only an earlier time moves its alarm. A later one, or none, waits until the alarm rings: a MAC sleeps on then,
    /// any other machine, woken too early, changes nothing, and its alarm is set again. Stations hear several frames
    /// for each time they transmit, so most alarms are moved before they ring in vain.
    #[inline(always)]
    pub fn arm(&mut self, now: Instant, machine: MachineId, wake: Option<Wake>) {
        self.arm_beyond(now, now, machine, wake);
    }

    /// The same of a machine that will hardly want anything before `until`: an alarm that nobody wants and that would
    /// ring before is taken back. To ring in vain costs three times as much as that.
    ///
    /// In place: the kind of machine is known beforehand, and its wake-up is not named for anybody.
    #[inline(always)]
    pub fn arm_beyond(&mut self, until: Instant, now: Instant, machine: MachineId, wake: Option<Wake>) {
        let (kind, index) = machine.parts();
        // MACs have the first places.
        let is_mac = matches!(kind, MachineKind::Mac);
        let place = if is_mac { index as u32 } else { self.first[kind as usize] + index as u32 };
        let at = wake.map_or(Instant::MAX, |wake| wake.at);
        if is_mac {
            self.wanted[index] = at;
        }
        let armed = self.timers.at(place);
        if at < armed || armed <= now || (at == Instant::MAX && armed < until) {
            self.timers.set(place, at);
        }
    }

    /// When a MAC's alarm rings; [`Instant::MAX`] if it does not.
    #[inline]
    pub fn alarm(&self, radio: RadioId) -> Instant {
        self.timers.at(radio.index() as u32)
    }

    /// A MAC's alarm does not ring before the MAC has been driven, or [`Wakeups::restore`] was called.
    pub fn put_off(&mut self, radio: RadioId) {
        self.timers.set(radio.index() as u32, Instant::MAX);
    }

    /// A MAC's alarm that was put off rings when the MAC wants to be woken.
    pub fn restore(&mut self, radio: RadioId) {
        self.timers.set(radio.index() as u32, self.wanted[radio.index()]);
    }

    /// When the first machine wakes; [`Instant::MAX`] if none wants to.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.timers.next_at()
    }

    /// Takes the first wake-up: returns its machine. A MAC that has postponed its wake-up sleeps on, with the new time.
    pub fn ring(&mut self, now: Instant) -> Option<MachineId> {
        let place = self.timers.next();
        match self.wanted.get(place as usize) {
            Some(&wanted) if wanted > now => {
                self.timers.set(place, wanted);
                None
            }
            Some(_) => Some(MachineId::Mac(RadioId::new(place as usize))),
            None => Some(self.machine_at(place)),
        }
    }

    /// The machine that has a place.
    fn machine_at(&self, place: u32) -> MachineId {
        // Kinds without machines begin where the next does: the last that begins here or before has the place.
        let kind = self.first.iter().rposition(|first| *first <= place).unwrap_or(0);
        MachineId::of(kind, (place - self.first[kind]) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::id::{FlowId, FlowPart};
    use super::*;

    fn at(ns: u64) -> Option<Wake> {
        Some(Wake { at: Instant::from_nanos(ns), why: "test" })
    }

    #[test]
    fn only_who_still_wants_to_be_woken_is() {
        let now = Instant::from_nanos;
        let (first, second) = (MachineId::Mac(RadioId::new(0)), MachineId::Mac(RadioId::new(1)));
        let link = MachineId::Link(LinkDirection::new(0));
        let counts = MachineCounts::default().with(MachineKind::Mac, 2).with(MachineKind::Link, 1);
        let mut wakeups = Wakeups::new(counts);
        wakeups.arm(now(0), first, at(10));
        wakeups.arm(now(0), second, at(40));
        wakeups.arm(now(0), link, at(40));
        // What is put off rings all the same, and wakes nobody.
        wakeups.arm(now(5), first, at(40));
        assert_eq!(wakeups.next_at(), now(10));
        assert_eq!(wakeups.ring(now(10)), None);
        // Of those that wake together the lower goes first; what it wants then stands.
        assert_eq!(wakeups.next_at(), now(40));
        assert_eq!(wakeups.ring(now(40)), Some(first));
        wakeups.arm(now(40), first, None);
        assert_eq!(wakeups.ring(now(40)), Some(second));
        wakeups.arm(now(40), second, at(60));
        assert_eq!(wakeups.ring(now(40)), Some(link));
        wakeups.arm(now(40), link, None);
        assert_eq!(wakeups.next_at(), now(60));
        // An alarm that was given up rings too, unless an earlier one has taken its place.
        wakeups.arm(now(50), second, None);
        assert_eq!(wakeups.next_at(), now(60));
        assert_eq!(wakeups.ring(now(60)), None);
        assert_eq!(wakeups.next_at(), Instant::MAX);
    }

    #[test]
    fn an_alarm_before_the_end_of_what_stopped_it_is_taken_back() {
        let now = Instant::from_nanos;
        let radio = MachineId::Mac(RadioId::new(0));
        let mut wakeups = Wakeups::new(MachineCounts::default().with(MachineKind::Mac, 1));
        let alarm = 1_000;
        for (until, next) in [(alarm, now(alarm)), (alarm + 1, Instant::MAX)] {
            wakeups.arm(now(0), radio, at(alarm));
            wakeups.arm_beyond(now(until), now(1), radio, None);
            assert_eq!(wakeups.next_at(), next, "an alarm at {alarm}, and a frame until {until}");
        }
        // One that is wanted all the same stands.
        wakeups.arm_beyond(now(2 * alarm), now(1), radio, at(alarm));
        assert_eq!(wakeups.next_at(), now(alarm));
    }

    #[test]
    fn machines_that_wake_together_go_in_the_order_of_their_ids() {
        use MachineKind::{Flow, Link, LinkTrunk, Mac, RadioTrunk, Router, SelectiveRepeat, Selector, StopAndWait};
        let kinds = [Mac, StopAndWait, SelectiveRepeat, RadioTrunk, Selector, LinkTrunk, Link, Router, Flow];
        let all = kinds.iter().fold(MachineCounts::default(), |counts, kind| counts.with(*kind, 3));
        let mut wakeups = Wakeups::new(all);
        let flow = |part| MachineId::Flow(FlowMachine::of(FlowId::new(0), part));
        let ids = (0..kinds.len()).flat_map(|kind| (0..3).map(move |index| MachineId::of(kind, index)));
        let ids: Vec<MachineId> = ids.collect();
        for id in ids.iter().rev() {
            wakeups.arm(Instant::ZERO, *id, at(5));
        }
        for id in &ids {
            assert_eq!(wakeups.ring(Instant::from_nanos(5)), Some(*id));
            wakeups.arm(Instant::from_nanos(5), *id, None);
        }
        assert_eq!(ids[24..], [FlowPart::Sender, FlowPart::Receiver, FlowPart::Application].map(flow));
        assert_eq!(wakeups.next_at(), Instant::MAX);
    }
}
