//! The radio medium: who hears a transmission, how loud, when, and whether the frame survives.
//!
//! Every transmission runs over the list of its hearers twice, as it begins and as it ends, one event for all hearers
//! at one distance. Who hears whom, and how loud, is computed once and renewed only when something moves. A receiver
//! locks to the first frame that it can decode; interference adds up and is weighed over the whole frame
//! (`docs/models/radio.md`).

mod arrival;
mod early;
mod hearer;
mod judged;
mod passing;
mod receiver;
mod reception;
mod site;
mod spectrum;
mod transmission;
mod wide;

use super::frame::Msdu;
use super::id::{RadioId, Table, TransmissionId};
use super::share::Things;
use super::slotted::places;
use crate::phy::mobility::position_at;
use crate::phy::path_loss::propagation_delay;
use crate::phy::shadowing::Shadow;
use crate::phy::{ErrorModel, ErrorRates, Grid, distance};
use crate::scenario::spec::{Mobility, Node, Position, Radio, Spec};
use airbraid_engine::Stream;
use airbraid_mac::edca::{MpduSet, Ppdu};
use airbraid_mac::ppdu::Width;
use airbraid_mac::{Channel, Frame, FrameKind};
use airbraid_units::{Db, Duration, Instant, Metres, Milliwatt};
use arrival::Arrival;
pub use early::Ended;
use early::acts_early;
pub use hearer::Hearer;
pub use passing::Coming;
use receiver::{Errors, RadioState};
use site::{Site, SiteKind, furthest, shadow};
use spectrum::{CouplingId, Spectrum};
use std::collections::BTreeMap;
use std::sync::Arc;
pub use transmission::{Begun, Commitment, Stage, Transmission};

/// Why a frame was not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Another frame lay over it.
    Collision,
    /// Errors of the channel, or too little power.
    Channel,
}

/// The meaning of a frame's end for a radio.
#[derive(Clone, Copy, Debug)]
pub enum Ending {
    /// It was not listening to it, and the medium stays as it was.
    Nothing,
    /// It was not listening to it, and the medium falls idle.
    Idle,
    /// A reception ends.
    Reception {
        /// Whether the frame came without an error.
        result: Result<(), Loss>,
        /// Whether the medium is idle now.
        idle: bool,
    },
}

/// The meaning of a frame's beginning for a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Nothing that it would notice.
    Nothing,
    /// The medium becomes busy.
    Busy,
    /// The medium falls idle: a preamble is lost to this, and what is left is too weak to sense.
    Idle,
    /// The frame is ignored for a stronger one, and the MAC is told.
    Ignored,
}

/// No channel: nothing is ever transmitted there.
const DEAF: Channel = Channel(u8::MAX);

/// Interval at which the positions of moving radios are renewed: 20 cm at 20 m/s.
const MOTION_STEP: Duration = Duration::from_millis(10);

/// The hearers of a radio, nearest first.
#[derive(Debug, Default)]
struct Row {
    hearers: Vec<Hearer>,
    is_stale: bool,
    /// Transmissions that run over this row: it stays as it is until they have ended.
    in_use: u32,
}

/// All radios and everything on the air.
#[derive(Debug)]
pub struct Medium {
    radios: Table<RadioId, RadioState>,
    sites: Table<RadioId, Site>,
    positions: Vec<Position>,
    /// Where the radios are, for finding neighbours.
    grid: Grid,
    /// The furthest that anybody is heard, by anybody.
    range: Metres,
    /// Radios that move, from where and how.
    moving: Vec<(usize, Position, Mobility)>,
    moved_at: Instant,
    /// The shadowing of the paths between radios, the lower index first; made at first use.
    shadows: BTreeMap<(RadioId, RadioId), Shadow>,
    has_shadows: bool,
    seed: u64,
    /// For each radio who hears it.
    rows: Table<RadioId, Row>,
    /// Transmissions on the air, by number; `None` while the end of one is processed. The entries of ended ones are
    /// free.
    transmissions: Table<TransmissionId, Option<Box<Transmission>>>,
    free: Vec<TransmissionId>,
    /// Of the last reception of a PPDU the MPDUs that are intact, where not all of them are.
    intact: Option<Box<MpduSet>>,
    /// Number of its MPDUs that were judged as they ended.
    ended_early: u32,
    /// When the first MPDU ends of the PPDU to which the radio of the last event has begun to listen, if its MAC is to
    /// hear of that.
    first_mpdu: Option<Instant>,
    /// The primary channel that is idle at the radio of the last event, where that has changed.
    secondary: Option<Width>,
    /// Made only where a radio decides by SINR: the tables take some milliseconds.
    error_rates: Option<Box<ErrorRates>>,
    spectrum: Spectrum,
}

impl Medium {
    /// A silent medium with the radios of `spec`, in their order, at their positions, moving as it says.
    pub fn new<'s>(spec: &'s Spec, seed: u64) -> Self {
        let of_node = |(index, node): (u32, &'s Node)| node.radios.iter().map(move |radio| (&**radio, (node, index)));
        let radios = || (0..).zip(&spec.nodes).flat_map(of_node);
        let (spectrum, tunings) = Spectrum::new(radios().map(|(radio, _)| radio).zip(places(spec)));
        let count = tunings.len();
        let (mut states, mut rows) = (Table::with_capacity(count), Table::with_capacity(count));
        let mut sites: Table<RadioId, Site> = Table::with_capacity(count);
        let (mut positions, mut moving) = (Vec::with_capacity(count), Vec::new());
        let mut last: Option<(&Radio, Arc<SiteKind>)> = None;
        for (index, ((radio, (node, number)), place)) in radios().zip(places(spec)).enumerate() {
            let random = Stream::new(seed, index as u64, "medium.error");
            states.push(RadioState::new(radio, &place, acts_early(spec, number as usize), random));
            let kind = match &last {
                Some((other, kind)) if std::ptr::eq(*other, radio) => Arc::clone(kind),
                _ => Arc::new(SiteKind::new(radio)),
            };
            sites.push(Site { tuning: tunings[index], node: number, kind: Arc::clone(&kind) });
            last = Some((radio, kind));
            positions.push(node.position);
            rows.push(Row { is_stale: true, ..Row::default() });
            if node.mobility != Mobility::Static {
                moving.push((index, node.position, node.mobility.clone()));
            }
        }
        let range = furthest(&sites, &spectrum);
        let by_sinr = states.iter().any(|state| matches!(state.errors, Errors::Sinr));
        let has_shadows = sites.iter().any(|site| site.kind.shadowing.is_some());
        let error_rates = by_sinr.then(|| Box::new(ErrorRates::new()));
        Self {
            grid: Grid::new(range, &positions),
            range,
            radios: states,
            sites,
            positions,
            moving,
            moved_at: Instant::ZERO,
            shadows: BTreeMap::new(),
            has_shadows,
            seed,
            rows,
            transmissions: Table::default(),
            free: Vec::new(),
            intact: None,
            ended_early: 0,
            first_mpdu: None,
            secondary: None,
            error_rates,
            spectrum,
        }
    }

    /// Puts moving radios where they are, and lets shadows move on.
    fn follow_motion(&mut self, now: Instant) {
        if (self.moving.is_empty() && !self.has_shadows) || now.saturating_since(self.moved_at) < MOTION_STEP {
            return;
        }
        self.moved_at = now;
        for (radio, start, mobility) in &self.moving {
            self.positions[*radio] = position_at(*start, mobility, now);
        }
        if !self.moving.is_empty() {
            self.grid.rebuild(&self.positions);
        }
        for row in self.rows.iter_mut() {
            row.is_stale = true;
        }
    }

    /// Switches a radio on or off: off, it neither sends nor hears. Returns whether it senses energy that it did not
    /// sense before, or no longer does.
    pub fn set_up(&mut self, radio: RadioId, is_up: bool) -> bool {
        let state = &mut self.radios[radio];
        let is_other = state.is_up != is_up;
        (state.is_up, state.lock) = (is_up, None);
        is_other && state.is_busy
    }

    /// Changes how a radio's receptions fail.
    pub fn set_errors(&mut self, radio: RadioId, errors: ErrorModel) {
        self.radios[radio].errors = Errors::new(errors);
    }

    /// Whether `to` can decode a frame of `from` where they stand.
    pub fn reaches(&mut self, from: RadioId, to: RadioId) -> bool {
        self.renew_row(from);
        self.rows[from].hearers.iter().any(|hearer| hearer.radio == to && self.can_decode(from, hearer))
    }

    /// The radios that can decode a frame of `from` where they stand, by number.
    pub fn reached_by(&mut self, from: RadioId) -> Vec<RadioId> {
        self.renew_row(from);
        let able = self.rows[from].hearers.iter().filter(|hearer| self.can_decode(from, hearer));
        let mut reached: Vec<RadioId> = able.map(|hearer| hearer.radio).collect();
        reached.sort_unstable();
        reached
    }

    /// The radios at which a frame of `from` is anything but noise.
    pub fn disturbed_by(&mut self, from: RadioId) -> impl Iterator<Item = RadioId> {
        self.renew_row(from);
        self.rows[from].hearers.iter().map(|hearer| hearer.radio)
    }

    /// Takes over radios of the same scenario.
    pub fn take_over(&mut self, other: Self, things: &Things) {
        self.radios.take_over(other.radios, |radio| things.radios[radio]);
        self.rows.take_over(other.rows, |radio| things.radios[radio]);
    }

    fn can_decode(&self, from: RadioId, hearer: &Hearer) -> bool {
        let threshold = self.radios[hearer.radio].limits.reception;
        if hearer.is_whole() {
            return hearer.power() >= threshold;
        }
        // To a station of a narrower channel a wide one sends in that part of its own.
        let link = link(&self.sites, &self.spectrum, from, hearer.radio);
        let couplings = Width::ALL.map(|width| self.spectrum.coupling(link, Some(width)).1);
        let is_enough = |part: f64| hearer.power() * part >= threshold;
        couplings.iter().any(|coupling| coupling.decodable.is_some() && is_enough(coupling.in_band))
    }

    /// Distance of two radios.
    pub fn distance(&self, a: RadioId, b: RadioId) -> Metres {
        distance(self.positions[a.index()], self.positions[b.index()])
    }

    /// The distance from which on `to` cannot decode frames of `from`, without shadowing.
    pub fn range(&self, from: RadioId, to: RadioId) -> Metres {
        let threshold = Milliwatt(self.radios[to].limits.reception);
        self.sites[from].kind.transmitter.range(self.sites[to].kind.antenna, threshold)
    }

    /// Ratio of a received power to the noise of a radio.
    pub fn signal_to_noise(&self, radio: RadioId, power: f64) -> Db {
        Db(10.0 * libm::log10(power / self.radios[radio].limits.noise))
    }
    /// The same of a frame of another radio: to the noise in the channel that both have in common.
    pub fn signal_to_noise_of(&self, radio: RadioId, from: RadioId, power: f64) -> Db {
        let (own, others) = (self.radios[radio].wide.units, self.radios[from].wide.units);
        if others >= own {
            return self.signal_to_noise(radio, power);
        }
        self.signal_to_noise(radio, power * own as f64 / others as f64)
    }

    /// The radios that a radio senses on its channel, as they stood when it last transmitted.
    pub fn sensed_by(&self, radio: RadioId) -> impl Iterator<Item = RadioId> {
        let own = &self.radios[radio];
        let hearers = self.rows[radio].hearers.iter();
        let coupling = move |to: RadioId| link(&self.sites, &self.spectrum, radio, to);
        let has_preamble = move |to: RadioId| self.spectrum.coupling(coupling(to), None).1.has_preamble;
        let fills = move |hearer: &Hearer| hearer.is_whole() || has_preamble(hearer.radio);
        let is_sensed = move |hearer: &&Hearer| hearer.power() >= own.limits.carrier_sense && fills(hearer);
        let sensed = hearers.filter(is_sensed).map(|hearer| hearer.radio);
        sensed.filter(move |other| self.radios[*other].tuned == own.tuned)
    }

    /// The transmission of an event.
    pub fn transmission(&self, id: TransmissionId) -> Option<&Transmission> {
        self.transmissions[id].as_deref()
    }

    /// The same, to be changed.
    pub fn transmission_mut(&mut self, id: TransmissionId) -> Option<&mut Transmission> {
        self.transmissions[id].as_deref_mut()
    }

    /// Takes out a transmission, to go through its end; [`Medium::put_transmission`] puts it back.
    pub fn take_transmission(&mut self, id: TransmissionId) -> Option<Box<Transmission>> {
        self.transmissions[id].take()
    }

    /// Puts a transmission back.
    pub fn put_transmission(&mut self, id: TransmissionId, transmission: Box<Transmission>) {
        self.transmissions[id] = Some(transmission);
    }

    #[inline]
    fn renew_row(&mut self, from: RadioId) {
        let row = &self.rows[from];
        if row.is_stale && row.in_use == 0 {
            self.find_hearers(from);
        }
    }

    #[cold]
    fn find_hearers(&mut self, from: RadioId) {
        let sender = &self.sites[from];
        let mut near = Vec::new();
        self.grid.within(self.positions[from.index()], self.range, &mut near);
        let mut hearers = std::mem::take(&mut self.rows[from].hearers);
        hearers.clear();
        for index in near {
            let index = RadioId::new(index as usize);
            let site = &self.sites[index];
            if index == from {
                continue;
            }
            let Some(link) = self.spectrum.link(sender.tuning, site.tuning) else { continue };
            let (mut in_band, mut gain) = (1.0, 1.0);
            if !link.is_whole {
                in_band = self.spectrum.strongest(link.coupling);
                gain = if site.node == sender.node { sender.kind.isolation } else { 1.0 };
                if gain == 0.0 {
                    continue;
                }
            }
            let span = distance(self.positions[from.index()], self.positions[index.index()]);
            let mut power = sender.kind.transmitter.received(site.kind.antenna, span).0 * gain;
            if let Some(shadowing) = &sender.kind.shadowing {
                let pair = (index.min(from), index.max(from));
                let shadow = self.shadows.entry(pair).or_insert_with(|| shadow(&self.sites, pair, self.seed));
                power *= shadowing.factor(span, shadow.at(self.moved_at.as_nanos() / MOTION_STEP.as_nanos()));
            }
            if power * in_band >= site.kind.interference_floor {
                hearers.push(Hearer::new(index, propagation_delay(span), power, link.is_whole));
            }
        }
        hearers.sort_unstable_by_key(|hearer| hearer.delay().as_nanos() << 32 | hearer.radio.index() as u64);
        if self.moving.is_empty() {
            hearers.shrink_to_fit();
        }
        self.rows[from] = Row { hearers, is_stale: false, in_use: 0 };
    }

    /// A radio is committed to a transmission from `start` to `end`. Gives its number; `None` if nobody hears it.
    pub fn begin(
        &mut self,
        from: RadioId,
        frame: &Frame<Msdu>,
        ppdu: Option<&Arc<Ppdu<Msdu>>>,
        (start, end): (Instant, Instant),
        commitment: Commitment,
    ) -> Option<TransmissionId> {
        let radio = &mut self.radios[from];
        radio.transmitting_until = end;
        radio.turn_deaf();
        let channel = if radio.tuned == DEAF { radio.next_channel } else { radio.tuned };
        if !radio.is_up {
            return None;
        }
        self.follow_motion(start);
        self.renew_row(from);
        let row = &mut self.rows[from];
        if row.hearers.is_empty() {
            return None;
        }
        row.in_use += 1;
        let narrowed = self.radios[from].wide.narrowed(frame.kind, frame.rate, ppdu.map(|ppdu| &ppdu.vector));
        let ppdu = ppdu.cloned();
        let transmission = Transmission {
            frame: *frame,
            ppdu,
            from,
            channel,
            narrowed,
            start,
            end,
            commitment,
            stage: Stage::PutOff,
            begun: 0,
            ended: 0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                match &mut self.transmissions[id] {
                    Some(over) => **over = transmission,
                    place => *place = Some(Box::new(transmission)),
                }
                id
            }
            None => self.transmissions.push(Some(Box::new(transmission))),
        };
        Some(id)
    }

    /// The hearers of a sender that is on the air, nearest first.
    pub fn row(&self, from: RadioId) -> &[Hearer] {
        &self.rows[from].hearers
    }

    /// Takes out the row of a sender that is on the air, to go through it; [`Medium::put_row`] puts it back.
    pub fn take_row(&mut self, from: RadioId) -> Vec<Hearer> {
        std::mem::take(&mut self.rows[from].hearers)
    }

    /// Puts a row back.
    pub fn put_row(&mut self, from: RadioId, hearers: Vec<Hearer>) {
        self.rows[from].hearers = hearers;
    }

    /// Remembers how many hearers the beginning of a transmission has reached.
    pub fn set_begun(&mut self, id: TransmissionId, count: usize) {
        if let Some(transmission) = self.transmissions[id].as_mut() {
            transmission.begun = count;
        }
    }

    /// A transmission of `from` has ended at its last hearer.
    pub fn finish(&mut self, id: TransmissionId, from: RadioId) {
        self.free.push(id);
        self.rows[from].in_use -= 1;
    }

    /// A radio changes its channel and hears nothing until `ready`. It can only sense frames that are on the air there
    /// already: returns whether it does so at once.
    pub fn tune(&mut self, now: Instant, radio: RadioId, channel: Channel, ready: Instant) -> bool {
        self.turn_away(radio);
        self.radios[radio].next_channel = channel;
        ready <= now && self.on_tuned(radio)
    }

    /// The sender of the frame that a radio receives, its kind and its end, if it is for that radio.
    pub fn incoming(&self, radio: RadioId) -> Option<(RadioId, FrameKind, Instant)> {
        let lock = self.radios[radio].lock.as_ref().filter(|lock| lock.decodable)?;
        let sent = self.transmissions[lock.transmission].as_ref()?;
        (sent.frame.to == radio.address()).then_some((sent.from, sent.frame.kind, lock.until))
    }

    /// A radio announces and requests in this part of its channel from now on.
    pub fn announce_in(&mut self, radio: RadioId, part: Width) {
        self.radios[radio].wide.announces_in = Some(part);
    }

    /// A radio hears nothing more on its channel.
    pub fn turn_away(&mut self, radio: RadioId) {
        let state = &mut self.radios[radio];
        state.tuned = DEAF;
        (state.lock, state.energy, state.foreign, state.is_busy) = (None, 0.0, 0.0, false);
    }

    /// A radio has changed its channel, or listens again; gives whether it senses energy there.
    pub fn on_tuned(&mut self, radio: RadioId) -> bool {
        let state = &mut self.radios[radio];
        state.tuned = state.next_channel;
        // What has come or gone in the meantime was not counted.
        state.uneven = 1;
        state.add_up(&self.spectrum);
        self.secondary = state.secondary_change(&self.spectrum);
        state.is_busy = state.senses(&self.spectrum);
        state.is_busy && state.is_up
    }

    /// The widest primary channel that is idle beyond the primary 20 MHz at the radio of the last event, if that has
    /// just changed.
    #[inline]
    pub fn take_secondary(&mut self) -> Option<Width> {
        self.secondary.take()
    }

    /// Whether there is anything beside energy and frames for the MAC of the radio of the last event:
    /// [`Medium::take_secondary`], [`Medium::take_first_mpdu`].
    #[inline]
    pub fn has_news(&self) -> bool {
        self.secondary.is_some() || self.first_mpdu.is_some()
    }

    /// Number of frames for a radio that were lost to another before it had begun to receive them.
    pub fn missed(&self, radio: RadioId) -> u64 {
        self.radios[radio].missed
    }

    /// A transmission begins to arrive at a radio.
    #[inline(always)]
    pub fn on_beginning(&mut self, now: Instant, begun: Begun, hearer: Hearer) -> Beginning {
        let Self { radios, sites, transmissions, error_rates, spectrum, secondary, first_mpdu, .. } = self;
        let Begun { id, channel, end, is_wide } = begun;
        let radio = &mut radios[hearer.radio];
        if radio.settles {
            radio.settle_lock(now, |lock| transmissions[lock].as_deref(), (error_rates.as_deref(), spectrum));
        }
        radio.sum_up(spectrum);
        let before = radio.energy;
        let arrival = if is_wide && hearer.is_whole() {
            Arrival::whole(id, channel, hearer.power())
        } else {
            let Some(transmission) = &transmissions[id] else { return Beginning::Nothing };
            let link = link(sites, spectrum, transmission.from, hearer.radio);
            let arrival = Arrival::in_part(id, transmission, (hearer, link), spectrum);
            if radio.knows(transmission.frame.rate) { arrival } else { arrival.as_energy() }
        };
        let power = arrival.power(spectrum);
        radio.arrivals.push(arrival);
        if channel != radio.tuned {
            return Beginning::Nothing;
        }
        radio.energy = before + power;
        if arrival.is_in_part() {
            radio.uneven += 1;
            *secondary = radio.secondary_change(spectrum);
            if !arrival.is_own() {
                return radio.on_foreign(now, power, spectrum);
            }
        }
        let is_ignored = radio.is_up && power >= radio.limits.carrier_sense && radio.ignores(power);
        let losses = radio.on_frame(now, (arrival, power), end + hearer.delay(), before, spectrum);
        if radio.ppdu.early.is_some() {
            *first_mpdu = radio.expect_mpdus(id, transmissions[id].as_deref(), hearer);
        }
        for lost in [losses.0, losses.1].into_iter().flatten() {
            radio.missed += u64::from(is_for(transmissions, lost, hearer.radio));
        }
        match radio.notice(spectrum) {
            Beginning::Nothing if is_ignored => Beginning::Ignored,
            noticed => noticed,
        }
    }

    /// A transmission ends at a radio.
    #[inline]
    pub fn on_ending(&mut self, now: Instant, id: TransmissionId, ended: &Transmission, hearer: Hearer) -> Ending {
        let Self { radios, transmissions, error_rates, spectrum, secondary, .. } = self;
        // One of a narrower channel fills that.
        let sent_in = match ended.narrowed {
            None if !hearer.is_whole() => radios[ended.from].wide.width(),
            narrowed => narrowed,
        };
        let radio = &mut radios[hearer.radio];
        if radio.settles {
            let on_air = |lock| if lock == id { Some(ended) } else { transmissions[lock].as_deref() };
            radio.settle_lock(now, on_air, (error_rates.as_deref(), spectrum));
        }
        let was_uneven = radio.uneven > 0;
        radio.remove(id, spectrum);
        if was_uneven {
            *secondary = radio.secondary_change(spectrum);
        }
        let lock = radio.unlock(id);
        let was_busy = radio.is_busy;
        radio.is_busy = radio.still_senses(spectrum);
        let falls_idle = was_busy && !radio.is_busy;
        if let Some(lock) = lock {
            let is_receiver = ended.frame.to == hearer.radio.address();
            if is_receiver {
                radio.wide.answers_in = sent_in;
            }
            let result = match &ended.ppdu {
                None => radio.judge(&lock, &ended.frame),
                Some(ppdu) => {
                    self.ended_early = if is_receiver { radio.ended_early() } else { 0 };
                    let judged = radio.judge_mpdus(&lock, (ended, ppdu), is_receiver, error_rates.as_deref());
                    judged.map(|intact| self.intact = intact)
                }
            };
            return Ending::Reception { result, idle: !radio.is_busy };
        }
        if falls_idle && radio.is_up { Ending::Idle } else { Ending::Nothing }
    }
}

/// The coupling of the channels of two radios, of which one hears the other.
fn link(sites: &Table<RadioId, Site>, spectrum: &Spectrum, from: RadioId, to: RadioId) -> CouplingId {
    spectrum.link(sites[from].tuning, sites[to].tuning).map_or(CouplingId::WHOLE, |link| link.coupling)
}

/// Whether a transmission is for this radio.
fn is_for(
    transmissions: &Table<TransmissionId, Option<Box<Transmission>>>,
    id: TransmissionId,
    radio: RadioId,
) -> bool {
    transmissions[id].as_ref().is_some_and(|transmission| transmission.frame.to == radio.address())
}
