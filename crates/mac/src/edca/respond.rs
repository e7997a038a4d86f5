//! Answers to frames of others: acknowledgements, block acknowledgements, CTS (802.11-2020, 10.3.2.9, 10.3.2.11,
//! 10.25.6.5), and the packets that come with them.

use super::Edca;
use super::config::MU_RTS_CTS_RATE;
use super::frames::{BlockAck, Content, MpduSet, Ppdu, Vector};
use super::plan::Answer;
use crate::dcf::{ACK_SIZE, CTS_SIZE};
use crate::frame::{Address, Frame, FrameKind, duration_field};
use crate::service::{Access, Complete, MacOutput};
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration, Instant};
use std::ops::Range;
use std::sync::Arc;

impl<P: Packet + Copy> Edca<P> {
    /// A reception ends; returns whether the station could hear it: half duplex, it hears nothing of what ends while it
    /// transmits, or turns round to.
    fn end_reception(&mut self, now: Instant, idle: bool) -> bool {
        if idle {
            self.fall_idle(now);
        }
        self.transmitting_until <= now
    }

    /// A reception ends with an error.
    pub(super) fn on_error(&mut self, now: Instant, idle: bool) {
        if self.end_reception(now, idle) {
            self.sense.on_error(now);
            self.conclude(now, None);
        }
    }

    /// A frame for another station sets the NAV.
    pub(super) fn on_overheard(&mut self, now: Instant, frame: &Frame<()>, idle: bool) {
        if self.end_reception(now, idle) {
            self.on_decoded();
            self.conclude(now, None);
            let is_request = matches!(frame.kind, FrameKind::Rts | FrameKind::MuRts);
            let probation = (self.planner.config.nav_reset && is_request).then(|| {
                let config = &self.planner.config;
                let rate = if frame.kind == FrameKind::MuRts { MU_RTS_CTS_RATE } else { frame.rate };
                config.nav_probation(config.answer_time(rate, CTS_SIZE))
            });
            self.sense.nav.update(now, frame.nav, probation);
            if self.planner.link.is_shared && frame.kind == FrameKind::Cts && frame.from == frame.to {
                self.listening.holder = Some((frame.from, now + frame.nav));
            }
        }
    }

    /// A plain frame for this station, or for all.
    pub(super) fn on_received(&mut self, now: Instant, frame: &Frame<P>, idle: bool) {
        if !self.end_reception(now, idle) {
            return;
        }
        self.on_decoded();
        if self.planner.link.is_shared {
            self.on_peer_frame(now, &frame.header());
        }
        let answer = match frame.kind {
            FrameKind::Cts => Some(Answer::Cts),
            FrameKind::Ack => Some(Answer::Ack),
            _ => None,
        };
        self.conclude(now, answer.map(|answer| (frame.from, answer, None)));
        match frame.kind {
            FrameKind::Data => self.on_plain_data(now, frame),
            FrameKind::Rts | FrameKind::MuRts => self.on_rts(now, frame),
            _ => {}
        }
    }

    /// A frame to all, or from a station without QoS.
    fn on_plain_data(&mut self, now: Instant, frame: &Frame<P>) {
        if frame.to != Address::BROADCAST {
            self.acknowledge(now, &frame.header(), &Vector::NonHt(frame.rate));
        }
        let Some(packet) = frame.payload else { return };
        if frame.to == Address::BROADCAST || self.duplicates.is_new(frame.from, frame.sequence, frame.retry) {
            self.outputs.push_back(MacOutput::Deliver { from: frame.from, packet });
        } else {
            self.stats.duplicates += 1;
        }
    }

    pub(super) fn acknowledge(&mut self, now: Instant, header: &Frame<()>, vector: &Vector) {
        let config = &self.planner.config;
        let rate = config.answer_rate(vector);
        let (sifs, airtime) = (config.phy.sifs, config.answer_time(rate, ACK_SIZE));
        let ack = self.planner.frame(FrameKind::Ack, header.from, ACK_SIZE, rate);
        let nav = reserved_behind(header, sifs + airtime);
        self.transmit(Frame { nav, ..ack }, now + sifs, airtime, Access::Response);
    }

    fn on_rts(&mut self, now: Instant, frame: &Frame<P>) {
        self.sense.nav.settle(now);
        // 10.3.2.9: a station whose NAV is set does not answer, unless the TXOP holder itself has set it (10.23.2.4).
        let is_holder = self.listening.holder.is_some_and(|holder| holder == (frame.from, self.sense.nav.until()));
        if self.sense.nav.is_set(now) && !is_holder {
            return;
        }
        if frame.kind == FrameKind::MuRts {
            self.take_radio();
        }
        let config = &self.planner.config;
        let rate = config.cts_rate(frame.kind, frame.rate);
        let (sifs, airtime) = (config.phy.sifs, config.answer_time(rate, CTS_SIZE));
        let nav = reserved_behind(&frame.header(), sifs + airtime);
        let cts = self.planner.frame(FrameKind::Cts, frame.from, CTS_SIZE, rate);
        self.transmit(Frame { nav, ..cts }, now + sifs, airtime, Access::Response);
    }

    /// MPDUs of a PPDU that has `left` to go. The answer follows when all of it has come.
    pub(super) fn on_mpdus(&mut self, now: Instant, ppdu: &Arc<Ppdu<P>>, places: Range<u32>, left: Duration) {
        if self.transmitting_until <= now {
            let from = self.planner.link.device(ppdu.header.from);
            return self.traffic.receive_early((now, left), from, ppdu, places, &mut self.outputs);
        }
        let mut alone = MpduSet::default();
        places.for_each(|place| alone.insert(place as usize));
        self.discard(ppdu, (Some(&alone), 0));
    }

    /// A PPDU for this station: its intact MPDUs, and the number of those that have ended before.
    pub(super) fn on_ppdu(&mut self, now: Instant, ppdu: &Arc<Ppdu<P>>, came: (Option<&MpduSet>, u32), idle: bool) {
        if !self.end_reception(now, idle) {
            return self.discard(ppdu, came);
        }
        self.on_decoded();
        if self.planner.link.is_shared {
            self.on_peer_frame(now, &ppdu.header);
        }
        let from = ppdu.header.from;
        match &ppdu.content {
            Content::BlockAck(block_ack) => self.conclude(now, Some((from, Answer::BlockAck, Some(block_ack)))),
            _ => self.conclude(now, None),
        }
        match &ppdu.content {
            Content::Data(data) => {
                if data.mpdus().len() > 1 {
                    self.traffic.receive(now, self.planner.link.device(from), ppdu, came, &mut self.outputs);
                    self.answer_block(now, ppdu);
                } else {
                    self.acknowledge(now, &ppdu.header, &ppdu.vector);
                    self.receive_single(now, ppdu, came);
                }
            }
            Content::BlockAckRequest { start } => {
                self.traffic.recipient(self.planner.link.device(from), ppdu.tid).on_request(
                    now,
                    *start,
                    &mut self.outputs,
                );
                self.answer_block(now, ppdu);
            }
            Content::Agreement(frame) => self.on_setup_frame(now, ppdu, *frame),
            Content::BlockAck(_) => {}
        }
    }

    /// A single MPDU: in order with the others where there is an agreement, or only new.
    fn receive_single(&mut self, now: Instant, ppdu: &Arc<Ppdu<P>>, came: (Option<&MpduSet>, u32)) {
        let (header, from) = (&ppdu.header, self.planner.link.device(ppdu.header.from));
        if self.traffic.is_recipient(from, ppdu.tid) {
            return self.traffic.receive(now, from, ppdu, came, &mut self.outputs);
        }
        let sender = Address(from.0 * 8 + u32::from(ppdu.tid));
        let setups = self.traffic.setups.as_deref_mut();
        let filter = setups.map_or(&mut self.single_duplicates, |setups| &mut setups.singles);
        if filter.is_new(sender, header.sequence, header.retry) {
            let complete = Complete::AtItsEnd { left: Duration::ZERO };
            self.outputs.push_back(MacOutput::DeliverRun { ppdu: ppdu.clone(), mpdus: 0..1, complete });
        } else {
            self.stats.duplicates += 1;
            self.discard(ppdu, came);
        }
    }

    /// The packets of a PPDU that nobody wants.
    fn discard(&mut self, ppdu: &Ppdu<P>, (intact, ended): (Option<&MpduSet>, u32)) {
        let Some(data) = ppdu.data() else { return };
        for (place, mpdu) in data.mpdus().iter().enumerate().skip(ended as usize) {
            if intact.is_none_or(|intact| intact.contains(place)) {
                for packet in data.msdus_of(mpdu) {
                    self.outputs.push_back(MacOutput::Discard { packet: *packet, is_duplicate: true });
                }
            }
        }
    }

    /// Answers with what has come of a peer's MPDUs.
    fn answer_block(&mut self, now: Instant, ppdu: &Ppdu<P>) {
        let (from, tid) = (ppdu.header.from, ppdu.tid);
        let block_ack = self.traffic.recipient(self.planner.link.device(from), tid).answer();
        let config = &self.planner.config;
        let (rate, size): (_, Bytes) = (config.answer_rate(&ppdu.vector), BlockAck::size(block_ack.window));
        let (at, airtime) = (now + config.phy.sifs, config.answer_time(rate, size));
        let nav = reserved_behind(&ppdu.header, config.phy.sifs + airtime);
        let header = Frame { nav, ..self.planner.frame(FrameKind::BlockAck, from, size, rate) };
        let answer = Ppdu { header, vector: Vector::NonHt(rate), tid, content: Content::BlockAck(block_ack) };
        self.transmit_ppdu(&Arc::new(answer), at, airtime, Access::Response);
    }
}

/// The Duration field of an answer: what the frame that it answers has reserved, less the answer itself (9.2.5.7).
fn reserved_behind(header: &Frame<()>, answer: Duration) -> Duration {
    duration_field(header.nav.saturating_sub(answer))
}
