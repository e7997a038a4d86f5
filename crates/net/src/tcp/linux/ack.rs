//! The information in an acknowledgement: which segments arrived, their round trips, and needless retransmissions.
//!
//! RFC 2018 and 2883 (blocks), RFC 8985 section 6.2 steps 1 to 3, RFC 6298 with Karn's rule. It decides nothing about
//! loss or the window: it makes a [`AckNews`] of the acknowledgement and hands that on.

use super::super::segment::Segment;
use super::bbr::Ack;
use super::news::{AckNews, FollowUp};
use super::probe::Answer;
use super::sent::Sent;
use super::{Linux, Phase, State};
use airbraid_units::{Duration, Instant};

/// Reordering is not believed to reach further \[segments\] (`tcp_max_reordering`).
const REORDERING_MAX: u64 = 300;

fn widen(span: &mut Option<(Instant, Instant)>, at: Instant) {
    *span = Some(span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
}

impl Linux {
    /// Takes in an acknowledgement and sends what it lets go.
    pub(super) fn on_ack(&mut self, now: Instant, segment: &Segment) {
        if segment.ack > self.tcp.nxt {
            return;
        }
        let mut news = AckNews {
            una: self.tcp.una,
            delivered: self.delivery.delivered,
            prior_pipe: self.flight.pipe(),
            echo: segment.timestamp.map(|(_, echo)| echo),
            ..AckNews::default()
        };
        let had_flight = !self.flight.is_empty();
        let highest = self.flight.highest_sacked(self.tcp.una);
        let opened = segment.ack >= self.tcp.una && u64::from(segment.window) != self.tcp.rwnd;
        if segment.ack >= self.tcp.una {
            self.tcp.note_window(segment);
        }
        if segment.ack > self.tcp.una {
            news.advanced = true;
            self.expiries = 0;
            self.probes = 0;
        }
        if !segment.sack.is_empty() {
            self.read_blocks(now, segment, &mut news);
        }
        if had_flight {
            self.take_acknowledged(now, segment.ack, highest, &mut news);
            self.judge(now, segment.ack, opened, &mut news);
        } else if news.duplicate {
            self.alert(now, &mut news);
        }
        if self.tcp.state == State::Established {
            self.transmit(now);
        }
    }

    /// Reads the blocks: new arrivals, needless retransmissions (RFC 2883), reordering.
    fn read_blocks(&mut self, now: Instant, segment: &Segment, news: &mut AckNews) {
        let needless = segment.sack.duplicate(segment.ack);
        if let Some(block) = needless {
            self.on_needless(self.with_fin(block), news);
        }
        let (una, nxt) = (self.tcp.una, self.tcp.nxt);
        let highest = self.flight.highest_sacked(una);
        let blocks = segment.sack.iter(segment.ack).skip(usize::from(needless.is_some()));
        for block in blocks.clone().filter(|&(start, end)| start >= una && end <= nxt) {
            for place in self.flight.news_within(self.with_fin(block)) {
                let sent = *self.flight.get(place);
                if sent.sacked {
                    continue;
                }
                self.on_arrival(now, &sent, news);
                news.sacked = true;
                if !sent.repeated {
                    if sent.start < highest {
                        news.reordered = Some(news.reordered.map_or(sent.start, |low| low.min(sent.start)));
                    }
                    news.original |= sent.end <= self.high;
                    widen(&mut news.held, sent.at);
                }
                self.flight.sack(place);
            }
        }
        self.flight.remember(blocks);
        if self.phase != Phase::Loss || self.undo.marker.is_some() {
            self.check_reordering(news.reordered.take());
        }
        self.tcp.stats.dup_acks += u64::from(news.sacked);
    }

    /// Blocks count data only: one that reaches the end of the stream includes the FIN of its last segment.
    fn with_fin(&self, (start, end): (u64, u64)) -> (u64, u64) {
        let joined =
            self.tcp.nxt > self.tcp.written && self.flight.last_start().is_some_and(|start| start < self.tcp.written);
        (start, end + u64::from(joined && end == self.tcp.written))
    }

    /// The peer got `start..end` twice.
    fn on_needless(&mut self, (start, end): (u64, u64), news: &mut AckNews) {
        let count = (end - start).div_ceil(self.tcp.mss).max(1);
        let probe = self.probe.is_some_and(|probe| probe.end == end);
        news.duplicate_probe = probe;
        self.duplicates += count;
        if self.duplicates > self.tcp.stats.retransmits {
            // More than was repeated: the network duplicates.
            return;
        }
        news.duplicate = true;
        self.rack.duplicate_seen |= self.reordered && !probe;
        if self.undo.marker.is_some_and(|marker| end > marker)
            && let Some(open) = &mut self.undo.open
        {
            *open = open.saturating_sub(count);
        }
        for place in self.flight.within((start, end)) {
            self.flight.repetition_arrived(place);
        }
    }

    /// A segment is known to have arrived.
    fn on_arrival(&mut self, now: Instant, sent: &Sent, news: &mut AckNews) {
        self.delivery.on_arrival(sent, true);
        news.sent_at = news.sent_at.max(Some(sent.stamp.delivered));
        self.rack.on_arrival(now, sent, self.rtt.least());
    }

    /// The cumulative acknowledgement comes to `ack`.
    fn take_acknowledged(&mut self, now: Instant, ack: u64, highest: u64, news: &mut AckNews) {
        let mut low = None;
        let mut any = false;
        while let Some(sent) = self.flight.pop(ack) {
            any = true;
            if sent.again || sent.repeated {
                news.repetition = true;
            } else if !sent.sacked {
                widen(&mut news.acked, sent.at);
                low = low.or(Some(sent.start));
                news.original |= sent.end <= self.high;
            }
            if !sent.sacked {
                let spurious = sent.repeated && news.echo.is_some_and(|echo| echo < sent.at);
                if spurious {
                    self.delivery.on_arrival(&sent, false);
                } else {
                    self.on_arrival(now, &sent, news);
                }
            }
        }
        self.tcp.una = self.tcp.una.max(ack);
        self.measure(now, any, news);
        news.restart |= any;
        self.check_reordering(low.filter(|&low| low < highest));
        if self.tcp.finish() {
            self.timer = None;
        }
    }

    /// Measures round trips: of segments never retransmitted, else by the echo.
    fn measure(&mut self, now: Instant, any: bool, news: &mut AckNews) {
        let acked = news.acked.filter(|_| !news.repetition);
        let since = |at: Instant| now.saturating_since(at);
        let (sample, latest) = match (acked, news.held, news.echo) {
            (Some((first, last)), held, _) => (since(first), since(held.map_or(last, |(_, last)| last))),
            (None, Some((first, last)), _) => (since(first), since(last)),
            (None, None, Some(echo)) if any => (since(echo), since(echo)),
            _ => return,
        };
        if !any {
            // A delay measured on what left after the first segment did proves that this is not yet overdue.
            news.restart = self.flight.first().is_some_and(|first| sample > since(first.at));
        }
        news.rtt = Some(latest);
        self.rtt.note_least(now, latest);
        self.rtt.sample(sample, self.tcp.una, self.tcp.nxt);
        self.tcp.stats.rtt_samples += 1;
        self.tcp.stats.rtt_sum += sample;
        if any {
            self.window.on_rtt(now, self.tcp.una, self.tcp.nxt, latest);
        }
    }

    fn check_reordering(&mut self, low: Option<u64>) {
        if let Some(low) = low {
            self.note_reordering(low, self.flight.highest_sacked(self.tcp.una));
        }
    }
    /// The segment at `low` came after something below `highest`.
    pub(super) fn note_reordering(&mut self, low: u64, highest: u64) {
        let Some(metric) = highest.checked_sub(low).filter(|&metric| metric > 0) else { return };
        self.reordering = self.reordering.max(metric.div_ceil(self.tcp.mss).min(REORDERING_MAX));
        self.reordered = true;
    }

    /// Draws the consequences: loss, recovery, growth.
    fn judge(&mut self, now: Instant, ack: u64, opened: bool, news: &mut AckNews) {
        if let Some(sent_at) = news.sent_at {
            self.rack.adapt(sent_at, self.delivery.delivered);
        }
        self.answer_probe(ack, opened, news);
        let dubious = !(news.advanced || opened) || news.sacked || news.duplicate || self.phase != Phase::Open;
        let follow = if dubious { self.alert(now, news) } else { FollowUp::Nothing };
        if news.restart && self.tcp.state == State::Established {
            self.restart_timer(now);
        }
        let delivered = self.delivery.delivered - news.delivered;
        if self.bbr.is_some() {
            self.follow_model(now, delivered, news);
        } else if self.phase == Phase::Recovery {
            let safe = news.advanced && !news.lost;
            let pipe = self.flight.pipe();
            let allowance = self.prr.allowance(self.window.target(), pipe, delivered, safe);
            if delivered > 0 {
                self.window.cwnd = pipe + allowance;
            }
        } else if news.advanced || self.reordering > super::REORDERING && delivered > 0 {
            self.window.on_ack(now, delivered);
        }
        match follow {
            FollowUp::Nothing => {}
            FollowUp::Repeat => self.repeat_lost(now),
            FollowUp::SendNew => self.send_instead(now),
        }
    }

    /// Sets the window that BBR gives.
    fn follow_model(&mut self, now: Instant, acked: u64, news: &AckNews) {
        let Some(bbr) = &mut self.bbr else { return };
        let pipe = self.flight.pipe();
        let ack = Ack {
            now,
            delivered: self.delivery.delivered,
            acked,
            lost: news.losses,
            sample: self.delivery.sample(now, news.delivered, self.rtt.least()),
            rtt: news.rtt,
            prior_pipe: news.prior_pipe,
            pipe,
            busy_until: self.pacer.busy_until(),
            phase: self.phase,
        };
        self.window.cwnd = bbr.on_ack(self.window.cwnd, &ack);
        if bbr.is_looking() {
            self.delivery.on_limited(pipe);
        }
    }

    fn answer_probe(&mut self, ack: u64, opened: bool, news: &AckNews) {
        let Some(probe) = self.probe else { return };
        let bare = !(news.advanced || opened || news.sacked);
        match probe.answer(ack, news.duplicate_probe, bare) {
            Answer::Open => {}
            Answer::NoLoss => self.probe = None,
            Answer::Repaired => {
                self.probe = None;
                self.high = self.tcp.nxt;
                self.reduce(false);
                self.window.end_reduction();
                self.keep_open();
            }
        }
    }

    /// A round trip, or nothing before the first.
    pub(super) fn smoothed(&self) -> Duration {
        self.rtt.srtt().unwrap_or(Duration::ZERO)
    }
}
