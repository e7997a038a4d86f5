//! Beginnings that are carried out belatedly: of most frames on the air a hearer needs to know no more than that they
//! have passed.
//!
//! Where a radio is silent and its MAC would sleep until a frame has ended, the frame's beginning is no event. It is
//! kept at the radio's port as [`Coming`], and carried out at its own time when anything touches the radio that comes
//! after it: an alarm, a packet from above, another frame, a change ([`RadioPort::catch_up`]). Mostly nothing does.
//! Then the frame was alone there, and only its end is carried out.
//!
//! The order of beginnings at one radio is that of their events. So a beginning is put off only where no other frame is
//! about to begin, and comes into the queue after all, in the turn of its commitment, where one follows that is. A
//! frame that very many hear begins as an event at each of them (`beginnings.rs`).

use super::World;
use super::beginnings::Beginnings;
use super::host::{Event, Host};
use super::id::TransmissionId;
use super::medium::{Begun, Coming, Ending, Hearer, Medium, Stage, Transmission};
use super::port::Ports;
use super::port::mac::RadioMac;
use super::port::radio::RadioPort;
use super::wakeups::Wakeups;
use crate::queue::Phase;
use airbraid_engine::Machine;
use airbraid_mac::MacInput;
use airbraid_units::{Duration, Instant};

impl Ports {
    /// A frame starts that somebody may put off, unless he waits for a beginning of which many are told.
    #[cold]
    fn tell_of_many(&mut self, start: Instant, beginnings: &mut Beginnings, medium: &Medium) {
        let frames = beginnings.take(start).into_iter().filter_map(|id| medium.transmission(id));
        for frame in frames {
            for hearer in medium.row(frame.from) {
                let port = &mut self.radios[hearer.radio];
                port.begins_until = port.begins_until.max(frame.start + hearer.delay());
            }
        }
    }
}

impl World<'_> {
    /// Dates the frames that start before the next event, each as if no other started with it: what is dated of one
    /// part of a scenario does not depend on the others.
    #[inline]
    pub(super) fn date_started(&mut self) {
        while self.host.starts_at <= self.host.next_at()
            && let Some(id) = self.host.take_first_committed()
        {
            self.date(id);
        }
    }

    /// Dates a frame: its beginning, if a hearer is to be told of that in time, else its end.
    fn date(&mut self, id: TransmissionId) {
        let Self { ports, host: Host { queue, wakeups, medium, beginnings, .. }, .. } = self;
        let Some(transmission) = medium.transmission(id) else { return };
        let Transmission { from, channel, start, end, commitment, .. } = *transmission;
        let is_wide = transmission.narrowed.is_none();
        let (begun, row) = (Begun { id, channel, end, is_wide }, medium.row(from));
        let delay = row.first().map_or(Duration::ZERO, |first| first.delay());
        let are_few = row.len() <= beginnings.most_hearers;
        let (mut all_wait, mut is_contested) = (true, false);
        if are_few || beginnings.have_waited {
            if beginnings.are_pending() {
                ports.tell_of_many(start, beginnings, medium);
            }
            let may_wait = are_few && is_wide && transmission.ppdu.is_none();
            for &hearer in row {
                let coming = Coming { begun, hearer, at: start + hearer.delay() };
                let port = &mut ports.radios[hearer.radio];
                if may_wait && port.is_free(start) && port.puts_off(&coming, medium, wakeups) {
                    port.coming = Some(coming);
                } else {
                    port.begins_until = port.begins_until.max(coming.at);
                    all_wait = false;
                    is_contested |= port.coming.is_some_and(|other| other.at >= start);
                }
            }
            beginnings.have_waited |= may_wait;
        } else {
            beginnings.add(id, (start, start + row.last().map_or(delay, |last| last.delay())));
            all_wait = false;
        }
        if all_wait {
            return queue.push_at(commitment.end, end + delay, Phase::ReceptionEnd, Event::Ending(id));
        }
        queue.push_at(commitment.beginning, start + delay, Phase::ReceptionStart, Event::Beginning(id));
        if let Some(transmission) = medium.transmission_mut(id) {
            transmission.stage = Stage::Announced;
        }
        if is_contested {
            self.recall(id);
        }
    }

    /// A frame is about to begin: of the others those beginnings at its hearers that were put off, and for which it is
    /// not too late, are events after all.
    #[cold]
    fn recall(&mut self, id: TransmissionId) {
        let Self { ports, host, .. } = self;
        let Some(transmission) = host.medium.transmission(id) else { return };
        let (from, start, committed_at) = (transmission.from, transmission.start, transmission.commitment.at);
        let row = host.medium.take_row(from);
        for hearer in &row {
            let port = &mut ports.radios[hearer.radio];
            let is_other = |coming: &mut Coming| coming.begun.id != id && coming.at >= start;
            if let Some(coming) = port.coming.take_if(is_other) {
                port.begins_until = port.begins_until.max(coming.at);
                host.wakeups.restore(hearer.radio);
                host.announce(coming.begun.id, committed_at, start);
            }
        }
        host.medium.put_row(from, row);
    }

    /// A transmission ends at a hearer.
    #[inline(always)]
    pub(super) fn end_at(&mut self, id: TransmissionId, transmission: &Transmission, hearer: Hearer) -> Ending {
        if self.host.beginnings.have_waited
            && let Some(ending) = self.end_passed(id, transmission, hearer)
        {
            return ending;
        }
        self.host.medium.on_ending(self.host.now, id, transmission, hearer)
    }

    /// The same at one that has put its beginning off, if nothing has touched it since. `None`: it has begun there.
    #[inline(always)]
    fn end_passed(&mut self, id: TransmissionId, transmission: &Transmission, hearer: Hearer) -> Option<Ending> {
        let Self { ports, host, .. } = self;
        let port = &mut ports.radios[hearer.radio];
        let coming = port.coming?;
        if coming.begun.id == id
            && let Some(ending) = host.medium.on_passed(&coming, transmission)
        {
            port.coming = None;
            if !matches!(ending, Ending::Nothing) {
                port.hear_busy(coming.at);
            }
            return Some(ending);
        }
        port.catch_up(host);
        None
    }
}

impl Host<'_> {
    /// Takes the frame that starts first, of those that start together the one committed first.
    #[inline]
    fn take_first_committed(&mut self) -> Option<TransmissionId> {
        if self.committed.len() > 1 {
            return self.take_first_of_several();
        }
        self.starts_at = Instant::MAX;
        self.committed.pop().map(|(_, id)| id)
    }

    #[cold]
    fn take_first_of_several(&mut self) -> Option<TransmissionId> {
        let place = self.committed.iter().position(|(start, _)| *start == self.starts_at)?;
        let (_, id) = self.committed.remove(place);
        self.starts_at = self.committed.iter().map(|(start, _)| *start).min().unwrap_or(Instant::MAX);
        Some(id)
    }

    /// A frame whose beginning all hearers have put off is an event after all, from the first hearer on at which it
    /// does not begin before `start`. Its turn is that of its commitment, unless its event would have gone from hearer
    /// to hearer since another was committed.
    fn announce(&mut self, id: TransmissionId, committed_at: Instant, start: Instant) {
        let Some((place, at, has_begun)) = self.medium.next_beginning(id, committed_at, start) else { return };
        let Some(transmission) = self.medium.transmission_mut(id) else { return };
        if transmission.stage == Stage::PutOff {
            (transmission.stage, transmission.begun) = (Stage::Recalled, place);
            let turn = if has_begun { self.queue.reserve() } else { transmission.commitment.beginning };
            self.queue.push_at(turn, at, Phase::ReceptionStart, Event::Beginning(id));
        }
    }
}

impl RadioPort {
    /// Whether it knows of all frames that have begun when another one starts, and hears of no other that is about to.
    #[inline]
    fn is_free(&self, start: Instant) -> bool {
        self.coming.is_none() && self.begins_until < start
    }

    /// Whether the MAC need not be told of a frame before it has ended, as things stand; its alarm is put off then.
    #[inline]
    fn puts_off(&self, coming: &Coming, medium: &Medium, wakeups: &mut Wakeups) -> bool {
        let RadioMac::Dcf(mac) = self.mac() else { return false };
        let Some(is_sensed) = medium.may_pass(coming) else { return false };
        let alarm = wakeups.alarm(coming.hearer.radio);
        if !is_sensed || alarm > coming.until() {
            return true;
        }
        let is_silenced = alarm > coming.at && mac.is_silenced(coming.at);
        if is_silenced {
            wakeups.put_off(coming.hearer.radio);
        }
        is_silenced
    }

    /// Carries out the beginning of a frame that was put off, if it comes before now.
    #[inline(always)]
    pub fn catch_up(&mut self, host: &mut Host<'_>) {
        if self.coming.is_some() {
            self.carry_out_coming(host);
        }
    }

    #[inline(never)]
    fn carry_out_coming(&mut self, host: &mut Host<'_>) {
        let Some(coming) = self.coming.take_if(|coming| coming.at < host.now) else { return };
        let beginning = host.medium.on_beginning(coming.at, coming.begun, coming.hearer);
        let now = std::mem::replace(&mut host.now, coming.at);
        self.on_beginning(beginning, (coming.until(), coming.until() - coming.at), host);
        host.now = now;
    }

    /// The MAC is told of energy that came at `at` and has just gone.
    #[inline(always)]
    fn hear_busy(&mut self, at: Instant) {
        if let RadioMac::Dcf(mac) = self.mac_mut() {
            mac.handle_input(at, MacInput::Busy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::World;
    use super::{Host, Instant, Ports};
    use crate::result::RunResult;
    use crate::scenario::Scenario;
    use crate::scenario::spec::Spec;
    use proptest::prelude::*;

    fn spec(text: &str) -> Spec {
        let plan = Scenario::parse("belated", text).and_then(|scenario| scenario.plan());
        plan.expect("a scenario").cells.swap_remove(0).spec
    }

    /// The result of a run without its number of events, and that; beginnings are put off or not.
    fn played(spec: &Spec, seed: u64, puts_off: bool) -> (serde_json::Value, u64) {
        let mut world = World::new(spec, seed, None).expect("a world");
        if !puts_off {
            world.host.medium.tell_in_time();
        }
        world.run(&mut |_| true).expect("it ends");
        let result: RunResult = world.result();
        let events = result.events;
        (serde_json::to_value(RunResult { events: 0, ..result }).expect("a result"), events)
    }

    /// Stations in a chain, where some do not hear each other.
    fn chain(count: std::ops::Range<u32>) -> impl Strategy<Value = String> {
        let shape = |(count, spacing)| format!("shape = \"chain\"\ncount = {count}\nspacing = \"{spacing} m\"");
        (count, 90u32..250).prop_map(shape)
    }

    /// Stations on a circle, where beginnings coincide, or in a chain.
    fn shape() -> impl Strategy<Value = String> {
        let circle = (2u32..12, prop_oneof![Just("1 m"), Just("37 m"), Just("200 m")])
            .prop_map(|(count, radius)| format!("shape = \"circle\"\ncount = {count}\nradius = \"{radius}\""));
        prop_oneof![circle, chain(3..9)]
    }

    fn scenario(shapes: impl Strategy<Value = String>, ranges: &'static str) -> impl Strategy<Value = String> {
        let radios = prop_oneof![Just(("802.11b", "11 Mbit/s", 1)), Just(("802.11a", "54 Mbit/s", 36))];
        let rts = prop_oneof![Just("off"), Just("0 byte")];
        let flows = prop_oneof![Just("{ udp = \"300 byte\" }"), Just("{ tcp = \"newreno\" }")];
        let receivers = prop_oneof![Just("standard"), Just("ns2")];
        (shapes, radios, rts, flows, receivers, any::<bool>()).prop_map(
            move |(shape, (standard, rate, channel), rts, flow, receiver, eifs)| {
                format!(
                    "schema = 1\ntitle = \"t\"\nquestion = \"q?\"\n[run]\nduration = \"100 ms\"\n\
                     [topology]\n{shape}\nradios = [{channel}]\n\
                     [radio]\nstandard = \"{standard}\"\nrate = \"{rate}\"\nrts_threshold = \"{rts}\"\n\
                     receiver = \"{receiver}\"\neifs = {eifs}\n{ranges}\n\
                     [[flow]]\nname = \"up\"\nfrom = \"each\"\nto = \"first\"\ntransport = {flow}\n"
                )
            },
        )
    }

    /// So that the middle of a chain has more hearers than its ends.
    const RANGES: &str =
        "path_loss = { model = \"two_ray\" }\nreception_range = \"250 m\"\ncarrier_sense_range = \"550 m\"";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn a_beginning_that_is_put_off_changes_only_the_number_of_events(text in scenario(shape(), ""), seed in 1u64..1_000) {
            let spec = spec(&text);
            let (belated, in_time) = (played(&spec, seed, true).0, played(&spec, seed, false).0);
            prop_assert_eq!(belated, in_time);
        }

        /// Neither the results nor the events depend on whether another part of the scenario has put a beginning off.
        #[test]
        fn beginnings_of_which_many_are_told_are_waited_for(
            text in scenario(chain(5..20), RANGES),
            seed in 1u64..1_000,
            most_hearers in 2usize..12,
        ) {
            let spec = spec(&text);
            let run = |have_waited| {
                let mut world = World::new(&spec, seed, None).expect("a world");
                (world.host.beginnings.most_hearers, world.host.beginnings.have_waited) = (most_hearers, have_waited);
                world.run(&mut |_| true).expect("it ends");
                serde_json::to_value(world.result()).expect("a result")
            };
            prop_assert_eq!(run(false), run(true));
        }
    }

    /// Stations in a row, 100 m apart, with datagrams from some of them to one.
    fn in_a_row(stations: u32, from: &str, to: &str) -> Spec {
        spec(&format!(
            "schema = 1\ntitle = \"t\"\nquestion = \"q?\"\n[run]\nduration = \"1 s\"\n\
             [topology]\nshape = \"chain\"\ncount = {stations}\nspacing = \"100 m\"\nradios = [1]\n\
             [[flow]]\nname = \"up\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ udp = \"1000 byte\" }}\n"
        ))
    }

    #[test]
    fn who_hears_of_a_frame_with_many_is_told_when_one_of_fewer_starts() {
        let spec = in_a_row(3, "first", "last");
        let mut world = World::new(&spec, 1, None).expect("a world");
        world.host.beginnings.most_hearers = 0;
        while !world.host.beginnings.are_pending() {
            world.process_next(Instant::MAX).expect("a frame");
        }
        let World { host: Host { beginnings, medium, .. }, ports, .. } = &mut world;
        let waits = |ports: &Ports| ports.radios.iter().filter(|port| port.begins_until > Instant::ZERO).count();
        assert_eq!((beginnings.have_waited, waits(ports)), (false, 0));
        ports.tell_of_many(Instant::ZERO, beginnings, medium);
        assert_eq!((beginnings.are_pending(), waits(ports)), (false, 2), "both hearers wait for it");
    }

    #[test]
    fn two_stations_have_hardly_an_event_more_than_ends_and_alarms() {
        let spec = in_a_row(2, "each", "first");
        let (fewer, events) = (played(&spec, 1, true).1, played(&spec, 1, false).1);
        // Of the five events of an exchange two are beginnings.
        assert!(fewer * 5 <= events * 3 + 50, "{fewer} in place of {events}");
    }
}
