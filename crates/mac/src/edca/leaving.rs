//! The part of what waits that a link of a device leaves to others, as the traffic knows it: the expectation of each
//! queue ([`expectation`](super::expectation)), and the part of it that goes on a link.

use super::Edca;
use super::category::AccessCategory;
use super::delivery::{Backlog, Part};
use super::expectation::SentPpdu;
use super::frames::DataMpdus;
use super::link::LinkId;
use super::traffic::{QueueId, Traffic};
use airbraid_engine::Packet;
use airbraid_units::{Bytes, Duration, Instant};

/// Length that a packet has more as an MPDU: header, LLC and FCS of QoS data (9.3.2.1).
const HEADER: Bytes = Bytes::new(38);

impl<P: Packet + Copy> Edca<P> {
    /// A link that contends for the first time for what waits for a peer: it is expected to send in its highest format.
    pub(super) fn expect_link(&mut self, category: AccessCategory) {
        let (link, formats, traffic) = (&self.planner.link, &self.planner.formats, &mut self.traffic);
        for place in 0..traffic.by_category[category.index()].len() {
            let id = traffic.by_category[category.index()][place];
            let queue = traffic.queue_mut(id);
            let (to, leads) = (link.address(queue.to), queue.leads_over(link.id));
            if let Some(deliveries) = queue.deliveries.as_mut().filter(|_| leads) {
                deliveries.expect(link.id, || formats.highest(to).rate().bit_rate);
            }
        }
    }
}

impl<P: Packet + Copy> Traffic<P> {
    /// A PPDU of a queue on a link was answered, or was not: of its MPDUs those were acknowledged of which it is said.
    pub fn on_answer(&mut self, id: QueueId, link: LinkId, data: &DataMpdus<P>, is_acknowledged: impl Fn(u16) -> bool) {
        if let Some(deliveries) = &mut self.queue_mut(id).deliveries {
            let lost = data.mpdus().iter().filter(|mpdu| !is_acknowledged(mpdu.sequence));
            let sent = data.mpdus().len() as u32;
            let count = lost.clone().count() as u32;
            deliveries.on_answer(link, (sent - count, sent), lost.last().map(|mpdu| mpdu.sequence));
        }
    }
    /// A link sends a PPDU of a queue from this time on.
    pub fn note_delivery(&mut self, at: Instant, id: QueueId, sent: &SentPpdu) {
        let category = AccessCategory::of_priority(self.queue(id).tid);
        if let Some(accesses) = &mut self.accesses {
            accesses.on_sent(at, sent.link, category, sent.until);
        }
        if let Some(deliveries) = &mut self.queue_mut(id).deliveries {
            deliveries.on_sent(sent);
        }
    }
    /// The first frame of a TXOP on a link was answered, or was not.
    pub fn note_first_answer(&mut self, link: LinkId, has_come: bool) {
        if let Some(accesses) = &mut self.accesses {
            accesses.on_first_answer(link, has_come);
        }
    }
    /// Expected part of a PPDU of this airtime that is lost on a link, for nothing answers it.
    pub fn risk(&self, link: LinkId, airtime: Duration) -> Duration {
        self.accesses.as_ref().map_or(Duration::ZERO, |accesses| accesses.risk(link, airtime))
    }
    /// A link has something to send in a category, or nothing.
    pub fn note_work(&mut self, now: Instant, link: LinkId, category: AccessCategory, has_work: bool) {
        if let Some(accesses) = &mut self.accesses {
            accesses.set(now, link, category, has_work);
        }
    }
    /// A link could send in a category, and leaves it to others.
    pub fn note_left(&mut self, now: Instant, link: LinkId, category: AccessCategory) {
        if let Some(accesses) = &mut self.accesses {
            accesses.on_left(now, link, category);
        }
        let demand = self.demand(now, link);
        for place in 0..self.by_category[category.index()].len() {
            let id = self.by_category[category.index()][place];
            let until = self.part_here(now, id, link).and_then(|part| part.others).map(|others| now + others);
            let queue = self.queue_mut(id);
            if let Some(uses) = &mut queue.uses {
                uses.on_left(link, demand);
            }
            if let (Some(deliveries), Some(until)) = (&mut queue.deliveries, until) {
                deliveries.on_left(link, until);
            }
        }
    }
    /// The part of what waits in a queue that a link delivers before others could, where it leaves the rest to those.
    /// Counts lost MPDUs, too. Returns `None` where the window has no space for all that waits.
    fn part_here(&self, now: Instant, id: QueueId, link: LinkId) -> Option<Part> {
        let (queue, accesses) = (self.queue(id), self.accesses.as_deref()?);
        let deliveries = queue.deliveries.as_ref()?;
        if queue.waiting.len() > queue.originator.space() {
            return None;
        }
        let (count, lost) = queue.originator.lost();
        let count = queue.waiting.len() as u64 + count;
        let all: u64 = queue.waiting.iter().map(|(packet, _)| bits_of(packet)).sum::<u64>() + lost;
        let known = (accesses, AccessCategory::of_priority(queue.tid));
        let waiting = Backlog { all, one: all.checked_div(count)?, lost };
        deliveries.first_here(now, link, waiting, known)
    }
    /// Number of the new packets of this part: what was lost goes before.
    pub fn first_here(&self, now: Instant, id: QueueId, link: LinkId) -> Option<u32> {
        let part = self.part_here(now, id, link)?;
        let queue = self.queue(id);
        let (_, lost_bits) = queue.originator.lost();
        let mut left = part.here.saturating_sub(lost_bits);
        let least = u32::from(left > 0);
        let fits = |(packet, _): &&(P, u64)| left.checked_sub(bits_of(packet)).map(|rest| left = rest).is_some();
        Some((queue.waiting.iter().take_while(fits).count() as u32).max(least))
    }
    /// Whether a link leaves to others everything of a queue.
    pub fn leaves_all(&self, now: Instant, id: QueueId, link: LinkId) -> bool {
        let queue = self.queue(id);
        let leaves = || self.part_here(now, id, link).is_some_and(|part| part.here == 0);
        queue.deliveries.is_some() && !queue.needs_request(link) && leaves()
    }
}

/// Length of a packet as an MPDU.
fn bits_of<P: Packet>(packet: &P) -> u64 {
    (packet.len() + HEADER).bits()
}
