//! A link that does not hear at times, or whose peers do not: when it is blind, when its radio leaves, and when peers
//! listen again ([`emlsr`](super::emlsr), [`coupling`](super::coupling)).

use super::emlsr::MediumSync;
use super::exchange::State;
use super::{Edca, Timer};
use crate::alarm::Alarm;
use crate::frame::{Address, Frame, FrameKind};
use crate::service::MacOutput;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};

/// The radio of a device in EMLSR mode, at a link because a peer has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// The peer's next frame must begin by then.
    Until(Instant),
    /// A reception has begun that may be this frame.
    Receiving,
}

/// A change to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The device listens on all links again.
    Listens,
    /// The radio leaves this link, arrives at another one, or should have heard of its peer.
    Departs,
    Arrives,
    Silence,
    /// A peer does.
    PeerListens(Address),
    /// This link begins to send, and has sent: others of a pair are blind in between.
    Sends,
    Sent,
}

/// The state of a link that does not hear at times, or whose peers do not.
#[derive(Clone, Debug, Default)]
pub(super) struct Listening {
    pub medium_sync: MediumSync,
    /// The radio of the device is here because a peer has asked.
    pub visit: Option<Visit>,
    /// Changes to come, each at its time.
    pub changes: Vec<(Instant, Change)>,
    /// Until then nothing fits beside what another link sends.
    pub crowded_until: Instant,
    /// The TXOP holder that has reserved the medium last by a CTS to itself, and the end of that.
    pub holder: Option<(Address, Instant)>,
}

impl Listening {
    /// A change comes then, and not when it was to come before.
    pub fn set(&mut self, change: Change, at: Instant) {
        self.changes.retain(|(_, known)| *known != change);
        self.changes.push((at, change));
    }
}

impl<P: Packet + Copy> Edca<P> {
    /// Time without the beginning of a frame after which an exchange is over (35.3.17).
    pub(super) fn silence(&self) -> Duration {
        let phy = &self.planner.config.phy;
        phy.sifs + phy.slot + phy.rx_start_delay
    }

    /// A frame was decoded.
    #[inline]
    pub(super) fn on_decoded(&mut self) {
        self.sense.on_success();
        if self.planner.link.is_shared {
            self.listening.medium_sync.synchronise();
            self.couple(|coupling, link| coupling.set_unsure(link, None));
        }
    }

    /// The medium of a link is taken from now on.
    #[cold]
    pub(super) fn on_shared_busy(&mut self, now: Instant) {
        if !self.is_in_exchange() {
            self.alarm = self.listening_alarm();
        }
        self.traffic.on_medium(now, self.planner.link.id, true);
        self.publish_access();
    }
    /// It is free.
    #[cold]
    pub(super) fn on_shared_idle(&mut self, now: Instant) {
        self.traffic.on_medium(now, self.planner.link.id, false);
    }

    /// A TXOP begins, or a peer's initial control frame is answered.
    pub(super) fn take_radio(&mut self) {
        if let Some(radio) = &mut self.traffic.radio {
            radio.go_to(self.planner.link.id);
            self.listening.visit = None;
        }
    }

    /// The exchange for which the radio came is over.
    fn leave_radio(&mut self, now: Instant) {
        let link = self.planner.link.id;
        let Some(radio) = self.traffic.radio.as_mut().filter(|radio| radio.is_at(link)) else { return };
        self.listening.visit = None;
        if radio.delays.transition.is_zero() {
            return radio.listen();
        }
        radio.leave();
        self.listening.changes.push((now + radio.delays.transition, Change::Listens));
        self.follow_radio(now);
    }

    /// The link becomes blind, or hears again, as the radio goes.
    pub(super) fn follow_radio(&mut self, now: Instant) {
        let link = self.planner.link.id;
        if !self.traffic.must_tell(link) {
            return;
        }
        let (is_blind, medium_sync) = self.traffic.tell(link);
        if is_blind {
            self.traffic.on_medium(now, link, false);
            self.listening.medium_sync.lose(now);
            self.stop_counters(now);
            self.sense.lose(now);
        } else {
            self.listening.medium_sync.recover(now, medium_sync);
            self.sense.find(now);
            let until = self.listening.medium_sync.unsure_until();
            self.couple(|coupling, link| coupling.set_unsure(link, until));
            // An answer that was due in the meantime has not come.
            if let State::Overdue(awaited) = self.state {
                self.fail(now, awaited);
            }
        }
        self.outputs.push_back(MacOutput::Listen(!is_blind));
    }

    /// This link answers a frame until `end`: what has come for it may go on.
    pub(super) fn on_answer_sent(&mut self, end: Instant) {
        if self.traffic.radio.as_ref().is_some_and(|radio| radio.is_at(self.planner.link.id)) {
            self.listening.visit = Some(Visit::Until(end + self.silence()));
        }
    }

    /// A peer begins an exchange, or goes on with it: it listens nowhere else until that is over.
    pub(super) fn on_peer_frame(&mut self, now: Instant, header: &Frame<()>) {
        self.on_power_management(now, header);
        let device = self.planner.link.device(header.from);
        let Some(delays) = self.traffic.emlsr(device) else { return };
        if matches!(
            header.kind,
            FrameKind::Rts
                | FrameKind::Data
                | FrameKind::BlockAckRequest
                | FrameKind::AddbaRequest
                | FrameKind::AddbaResponse
        ) {
            // Its TXOP ends with the answer to its last frame.
            self.close(now, device, now + header.nav + delays.transition);
        }
    }

    /// A TXOP goes on with this device: others that it has called to the link go their way.
    pub(super) fn dismiss_others(&mut self, now: Instant, device: Address) {
        for (other, delays) in self.traffic.called_to(self.planner.link.id) {
            if other != device {
                self.close(now, other, now + self.silence() + delays.transition);
            }
        }
    }

    /// A TXOP is over. An answer was its last frame, or silence.
    pub(super) fn end_shared_txop(&mut self, now: Instant, is_success: bool) {
        let quiet = if is_success { self.silence() } else { Duration::ZERO };
        for (device, delays) in self.traffic.called_to(self.planner.link.id) {
            self.close(now, device, now + quiet + delays.transition);
            self.traffic.set_open(device, |peer| peer.reopen(now));
        }
        self.leave_radio(now);
        self.note_answer(now, is_success);
        self.couple(|coupling, link| coupling.set_exchange(link, None));
    }

    /// A peer listens nowhere until then.
    fn close(&mut self, now: Instant, device: Address, until: Instant) {
        let until = self.traffic.set_open(device, |peer| peer.close_until(until)).unwrap_or(until);
        self.listening.changes.retain(|(_, change)| *change != Change::PeerListens(device));
        if until > now {
            self.listening.changes.push((until, Change::PeerListens(device)));
        }
    }

    /// The earliest of the timers of this page.
    pub(super) fn listening_alarm(&self) -> Alarm<Timer> {
        let visit = match self.listening.visit {
            Some(Visit::Until(end)) => Some(end),
            _ => None,
        };
        let first = self.listening.changes.iter().map(|(at, _)| *at).chain(visit).min();
        first.map_or(Alarm::NEVER, |at| Alarm::of(at, Timer::Listening))
    }

    /// Whatever of this page is due.
    pub(super) fn settle_listening(&mut self, now: Instant) {
        if let Some(Visit::Until(end)) = self.listening.visit
            && end <= now
        {
            self.listening.visit = Some(Visit::Receiving);
        }
        // A visit ends when nothing more is received that could go on with it.
        if self.listening.visit == Some(Visit::Receiving) && !self.sense.has_reception_begun(now) {
            self.leave_radio(now);
        }
        if self.listening.changes.iter().all(|(at, _)| *at > now) {
            return;
        }
        let (due, left) = std::mem::take(&mut self.listening.changes).into_iter().partition(|(at, _)| *at <= now);
        self.listening.changes = left;
        let due: Vec<(Instant, Change)> = due;
        for (_, change) in due {
            match change {
                Change::Listens => {
                    if let Some(radio) = &mut self.traffic.radio {
                        radio.listen();
                    }
                }
                Change::PeerListens(device) => {
                    self.traffic.set_open(device, |peer| peer.reopen(now));
                }
                Change::Departs => self.depart(now),
                Change::Arrives => self.arrive(),
                Change::Silence => self.on_silence(now),
                Change::Sends => self.couple(|coupling, link| coupling.begin(link)),
                Change::Sent => self.couple(|coupling, link| coupling.end(link)),
            }
        }
        self.follow_radio(now);
        self.take_over(now);
    }
}
