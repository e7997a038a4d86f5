//! Radios with power management at work: where they are in the band, and how their MACs are made from the scenario.
//!
//! A station with slots goes from channel to channel, so all radios on its access points' channels stand in one band of
//! the medium, on places of it; every other radio has a band of its own channel.

use super::frame::Msdu;
use super::radio_map::RadioMap;
use crate::scenario::spec::{Mac, Radio, SlotSource, Slots, SlottedRadio, Spec, slots_of};
use airbraid_engine::Stream;
use airbraid_engine::slots::{Layout, SLOTS_MAX, Timetable, random};
use airbraid_mac::power_save::{
    AccessPoint, AccessPointConfig, PlannedSlot, SlotPlan, SlottedConfig, SlottedStation, VirtualStation,
};
use airbraid_mac::{Address, Channel};
use airbraid_net::refusal::Refusal;
use airbraid_units::{Duration, Instant};

/// Where a radio is at first: `None` is the band in which stations go from channel to channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its band; radios of different bands never hear each other.
    pub band: Option<u32>,
    /// The channel in it.
    pub channel: Channel,
}

/// For each radio where it is at first.
pub(super) fn places(spec: &Spec) -> Vec<Place> {
    let channels = shared_channels(spec);
    let place = |radio: &Radio| match &radio.mac {
        Mac::Slotted(_) => Place { band: None, channel: Channel::CONTROL },
        Mac::Dcf(_) | Mac::AccessPoint(_) => match channels.binary_search(&radio.channel) {
            Ok(index) => Place { band: None, channel: Channel(index as u8) },
            Err(_) => Place { band: Some(radio.channel), channel: Channel::CONTROL },
        },
        Mac::Edca(_) | Mac::Polled(_) | Mac::Multichannel(_) => {
            Place { band: Some(radio.channel), channel: Channel::CONTROL }
        }
    };
    spec.radios().map(place).collect()
}

/// The channels of all access points that some station goes to, ascending: their places in the band.
fn shared_channels(spec: &Spec) -> Vec<u32> {
    let access_points = spec.slots.iter().flat_map(|slots| &slots.access_points);
    let mut channels: Vec<u32> = access_points.map(|(n, r)| spec.nodes[*n].radios[*r].channel).collect();
    channels.sort_unstable();
    channels.dedup();
    channels
}

/// The access point at `at` (node, radio), with the address `index`.
pub(super) fn access_point(
    spec: &Spec,
    radios: &RadioMap,
    at: (usize, usize),
    config: AccessPointConfig,
    seed: u64,
) -> AccessPoint<Msdu> {
    let serves = |slots: &&Slots| slots.access_points.contains(&at);
    let stations: Vec<Address> =
        spec.slots.iter().filter(serves).map(|slots| radios.id(slots.radio).address()).collect();
    let own = radios.id(at).address();
    let random = Stream::new(seed, u64::from(own.0), "dcf.backoff");
    AccessPoint::new(config, own, &stations, random)
}

/// The station at `at` (node, radio).
pub(super) fn station(
    spec: &Spec,
    radios: &RadioMap,
    at: (usize, usize),
    radio: SlottedRadio,
    seed: u64,
) -> Result<SlottedStation<Msdu>, Refusal> {
    let refused = || Refusal { parameter: "slots", must: "be slots of access points that there are" };
    let slots = spec.slots.iter().find(|slots| slots.radio == at).ok_or_else(refused)?;
    let own = radios.id(at).address();
    let channels = shared_channels(spec);
    let virtual_station = |ap: &(usize, usize)| {
        let number = spec.nodes[ap.0].radios[ap.1].channel;
        let channel = Channel(channels.binary_search(&number).unwrap_or_default() as u8);
        VirtualStation { dcf: radio.dcf, address: own, access_point: radios.id(*ap).address(), channel }
    };
    let config = SlottedConfig {
        stations: slots.access_points.iter().map(virtual_station).collect(),
        plan: plan(slots, spec.duration, Stream::new(seed, u64::from(own.0), "slots.random")).ok_or_else(refused)?,
        retuning: radio.retuning,
        null_attempts: radio.null_attempts,
    };
    // Each virtual station contends by itself; the upper half of the number tells them apart.
    let stream = |k: usize| Stream::new(seed, u64::from(own.0) | (k as u64 + 1) << 32, "slotted.backoff");
    let streams = (0..slots.access_points.len()).map(stream).collect();
    SlottedStation::new(config, streams).ok_or_else(refused)
}

fn plan(slots: &Slots, duration: Duration, mut random: Stream) -> Option<SlotPlan> {
    let slots = match &slots.plan {
        SlotSource::Fixed(slots) => slots.clone(),
        SlotSource::Lots(layout) => drawn(layout, duration, &mut random),
    };
    SlotPlan::new(Instant::ZERO, slots)
}

/// Random slots for the whole run, or for the longest plan; then they repeat.
fn drawn(layout: &Layout, duration: Duration, stream: &mut Stream) -> Vec<PlannedSlot> {
    let wanted = duration.div_floor(layout.period()) + 1;
    let periods = wanted.min(SLOTS_MAX / layout.slots().max(1) as u64).max(1);
    let owners = random(layout, periods as usize, stream);
    slots_of(&Timetable::of_owners(layout, &owners))
}
