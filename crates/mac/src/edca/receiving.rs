//! Receiving ends of agreements, by peer and TID ([`recipient`](super::recipient)).

use super::category::TIDS;
use super::config::window_max;
use super::frames::{MpduSet, Ppdu};
use super::recipient::Recipient;
use super::traffic::Traffic;
use crate::frame::Address;
use crate::service::MacOutput;
use airbraid_engine::Packet;
use airbraid_units::{Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

impl<P: Packet + Copy> Traffic<P> {
    /// The receiving end of the agreement with a peer, made at its first data or request.
    #[inline]
    pub fn recipient(&mut self, from: Address, tid: u8) -> &mut Recipient<P> {
        let (index, window) = (from.0 as usize, self.window_with(from));
        if index >= self.recipients.len() {
            self.recipients.resize_with(index + 1, Default::default);
        }
        self.recipients[index][usize::from(tid) % TIDS].get_or_insert_with(|| Box::new(Recipient::new(window, 0)))
    }

    /// Whether there is an agreement with a peer that sends data.
    #[inline]
    pub fn is_recipient(&self, from: Address, tid: u8) -> bool {
        let has_one = |tids: &[Option<_>; TIDS]| tids[usize::from(tid) % TIDS].is_some();
        let may_have_one = self.has_agreements && self.window_with(from) > 0;
        may_have_one && (!self.is_by_frames || self.recipients.get(from.0 as usize).is_some_and(has_one))
    }
    /// An agreement with a peer begins, in place of one that there may be.
    pub fn renew_recipient(
        &mut self,
        (from, tid): (Address, u8),
        (window, start): (u16, u16),
        now: Instant,
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let recipient = self.recipient(from, tid);
        std::mem::replace(recipient, Recipient::new(window, start)).finish(now, outputs);
    }

    /// MPDUs that wait for the sake of order.
    pub fn holding(&self) -> u32 {
        self.recipients.iter().flatten().flatten().map(|recipient| recipient.holding()).sum()
    }

    /// The same of one peer.
    pub fn holding_of(&self, peer: Address) -> u32 {
        let recipients = self.recipients.get(peer.0 as usize);
        recipients.into_iter().flatten().flatten().map(|recipient| recipient.holding()).sum()
    }

    /// The MPDUs of a PPDU have come from a peer under an agreement.
    pub fn receive(
        &mut self,
        now: Instant,
        from: Address,
        ppdu: &Arc<Ppdu<P>>,
        came: (Option<&MpduSet>, u32),
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let Some(data) = ppdu.data() else { return };
        let recipient = self.recipient(from, ppdu.tid);
        recipient.narrow(window_max(&ppdu.vector));
        recipient.on_ppdu(now, (ppdu, data), came, outputs);
    }

    /// MPDUs of a peer have come, before the end of their PPDU, which goes on for a while.
    pub fn receive_early(
        &mut self,
        at: (Instant, Duration),
        from: Address,
        ppdu: &Arc<Ppdu<P>>,
        places: Range<u32>,
        outputs: &mut VecDeque<MacOutput<P>>,
    ) {
        let Some(data) = ppdu.data() else { return };
        let recipient = self.recipient(from, ppdu.tid);
        recipient.narrow(window_max(&ppdu.vector));
        recipient.on_mpdus(at, (ppdu, data), places, outputs);
    }
}
