//! The alarms of all machines, in one tree of timers: who sleeps where, and what rings in vain.

use crate::timers::Timers;
use airbraid_engine::Wake;
use airbraid_units::Instant;

/// A machine that may want to be woken.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sleeper {
    /// A radio's MAC.
    Mac(u32),
    /// A link layer.
    LinkLayer(u32),
    /// A plain link's link layer.
    WindowEnd(u32),
    /// A trunk end.
    Trunk(u32),
    /// What chooses among the members of a trunk end.
    Select(u32),
    /// A tunnel end.
    Tunnel(u32),
    /// A link direction.
    Link(u32),
    /// A node's AODV.
    Router(u32),
    /// A flow's TCP sender.
    Sender(u32),
    /// A flow's TCP receiver.
    Receiver(u32),
    /// A flow's application.
    Application(u32),
}

/// The wake-ups of all machines: MACs first, then link layers, those of plain links, trunk ends and what chooses their
/// members, tunnel ends, links, AODV, and three machines a flow.
#[derive(Debug)]
pub(super) struct Alarms {
    timers: Timers,
    /// When each MAC really wants to be woken: not before its alarm rings.
    wanted: Vec<Instant>,
    first_link_layer: u32,
    first_window_end: u32,
    first_trunk: u32,
    first_select: u32,
    first_tunnel: u32,
    first_link: u32,
    first_router: u32,
    first_flow: u32,
}

/// How many machines of each kind there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub stations: usize,
    pub link_layers: usize,
    pub window_ends: usize,
    pub trunk_ends: usize,
    pub tunnel_ends: usize,
    pub links: usize,
    pub routers: usize,
    pub flows: usize,
}

impl Alarms {
    pub fn new(census: Census) -> Self {
        let first_window_end = census.stations + census.link_layers;
        let first_trunk = first_window_end + census.window_ends;
        let first_select = first_trunk + census.trunk_ends;
        let first_tunnel = first_select + census.trunk_ends;
        let first_link = first_tunnel + census.tunnel_ends;
        let first_router = first_link + census.links;
        let first_flow = first_router + census.routers;
        Self {
            timers: Timers::new(first_flow + 3 * census.flows),
            wanted: vec![Instant::MAX; census.stations],
            first_link_layer: census.stations as u32,
            first_window_end: first_window_end as u32,
            first_trunk: first_trunk as u32,
            first_select: first_select as u32,
            first_tunnel: first_tunnel as u32,
            first_link: first_link as u32,
            first_router: first_router as u32,
            first_flow: first_flow as u32,
        }
    }

    /// Hears when a machine wants to be woken.
    ///
    /// Only an earlier time moves its alarm. A later one, or none, waits until the alarm rings: a MAC sleeps on then, any
    /// other machine, woken too early, changes nothing, and its alarm is set anew. Stations hear several frames for each time they transmit, so
    /// most alarms never ring in vain.
    #[inline]
    pub fn arm(&mut self, now: Instant, sleeper: Sleeper, wake: Option<Wake>) {
        let place = match sleeper {
            Sleeper::Mac(radio) => radio,
            Sleeper::LinkLayer(end) => self.first_link_layer + end,
            Sleeper::WindowEnd(end) => self.first_window_end + end,
            Sleeper::Trunk(end) => self.first_trunk + end,
            Sleeper::Select(end) => self.first_select + end,
            Sleeper::Tunnel(end) => self.first_tunnel + end,
            Sleeper::Link(direction) => self.first_link + direction,
            Sleeper::Router(node) => self.first_router + node,
            Sleeper::Sender(flow) => self.first_flow + 3 * flow,
            Sleeper::Receiver(flow) => self.first_flow + 3 * flow + 1,
            Sleeper::Application(flow) => self.first_flow + 3 * flow + 2,
        };
        let at = wake.map_or(Instant::MAX, |wake| wake.at);
        if let Sleeper::Mac(radio) = sleeper {
            self.wanted[radio as usize] = at;
        }
        let armed = self.timers.at(place);
        if at < armed || armed <= now {
            self.timers.set(place, at);
        }
    }

    /// When the first machine wakes; [`Instant::MAX`] if none wants to.
    #[inline]
    pub fn next_at(&self) -> Instant {
        self.timers.next_at()
    }

    /// The first alarm rings: gives whom it wakes. A MAC that has put off what it wanted sleeps on, its alarm set anew.
    pub fn ring(&mut self, now: Instant) -> Option<Sleeper> {
        let place = self.timers.next();
        match self.wanted.get(place as usize) {
            Some(&wanted) if wanted > now => {
                self.timers.set(place, wanted);
                None
            }
            Some(_) => Some(Sleeper::Mac(place)),
            None => Some(self.sleeper(place)),
        }
    }

    /// Whose a place is that is no MAC's.
    fn sleeper(&self, place: u32) -> Sleeper {
        if place < self.first_window_end {
            return Sleeper::LinkLayer(place - self.first_link_layer);
        }
        if place < self.first_trunk {
            return Sleeper::WindowEnd(place - self.first_window_end);
        }
        if place < self.first_select {
            return Sleeper::Trunk(place - self.first_trunk);
        }
        if place < self.first_tunnel {
            return Sleeper::Select(place - self.first_select);
        }
        if place < self.first_link {
            return Sleeper::Tunnel(place - self.first_tunnel);
        }
        if place < self.first_router {
            return Sleeper::Link(place - self.first_link);
        }
        if place < self.first_flow {
            return Sleeper::Router(place - self.first_router);
        }
        let (flow, machine) = ((place - self.first_flow) / 3, (place - self.first_flow) % 3);
        match machine {
            0 => Sleeper::Sender(flow),
            1 => Sleeper::Receiver(flow),
            _ => Sleeper::Application(flow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Option<Wake> {
        Some(Wake { at: Instant::from_nanos(ns), why: "test" })
    }

    #[test]
    fn only_who_still_wants_to_be_woken_is() {
        let now = Instant::from_nanos;
        let mut alarms = Alarms::new(Census { stations: 2, links: 1, ..Census::default() });
        alarms.arm(now(0), Sleeper::Mac(0), at(10));
        alarms.arm(now(0), Sleeper::Mac(1), at(40));
        alarms.arm(now(0), Sleeper::Link(0), at(40));
        // What is put off rings all the same, and wakes nobody.
        alarms.arm(now(5), Sleeper::Mac(0), at(40));
        assert_eq!(alarms.next_at(), now(10));
        assert!(alarms.ring(now(10)).is_none());
        // Of those that wake together the lower goes first; what it wants then stands.
        assert_eq!(alarms.next_at(), now(40));
        assert!(matches!(alarms.ring(now(40)), Some(Sleeper::Mac(0))));
        alarms.arm(now(40), Sleeper::Mac(0), None);
        assert!(matches!(alarms.ring(now(40)), Some(Sleeper::Mac(1))));
        alarms.arm(now(40), Sleeper::Mac(1), at(60));
        assert!(matches!(alarms.ring(now(40)), Some(Sleeper::Link(0))));
        alarms.arm(now(40), Sleeper::Link(0), None);
        assert_eq!(alarms.next_at(), now(60));
        // An alarm that was given up rings too, unless an earlier one has taken its place.
        alarms.arm(now(50), Sleeper::Mac(1), None);
        assert!(alarms.ring(now(60)).is_none());
        assert_eq!(alarms.next_at(), Instant::MAX);
    }
}
