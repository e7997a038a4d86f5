//! The receiving side of stop-and-wait: one packet at a time of each class, its bytes in order.

use super::header::{Ack, Segment};
use super::service::Output;
use super::stats::Stats;
use std::collections::VecDeque;

/// The receive progress of one class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reassembly {
    ack: Ack,
}

impl Reassembly {
    /// The acknowledgement to send.
    pub fn ack(&self) -> Ack {
        self.ack
    }

    /// Takes a segment that arrived undamaged.
    pub fn receive<H, P>(
        &mut self,
        segment: Segment,
        packet: P,
        stats: &mut Stats,
        outputs: &mut VecDeque<Output<H, P>>,
    ) {
        let Segment { class, seq, offset, is_last, .. } = segment;
        let end = u16::try_from(segment.end());
        // Behind a packet that the sender has given up comes the next one, from its beginning.
        if seq.is_after(self.ack.next) && offset == 0 {
            if self.ack.good > 0 {
                outputs.push_back(Output::Abandon { class, seq: self.ack.next });
            }
            self.ack = Ack { next: seq, good: 0 };
        }
        let is_next = seq == self.ack.next && offset <= self.ack.good;
        match end {
            Ok(end) if is_next && is_last && end >= self.ack.good => {
                self.ack = Ack { next: seq.next(), good: 0 };
                stats.delivered[class as usize] += 1;
                outputs.push_back(Output::Deliver { class, seq, offset, packet });
            }
            Ok(end) if is_next && end > self.ack.good => {
                self.ack.good = end;
                outputs.push_back(Output::Piece { class, seq, offset, packet });
            }
            _ => {
                stats.duplicates += 1;
                outputs.push_back(Output::Release(packet));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TrafficClass;
    use airbraid_units::SeqNum;

    fn segment(seq: u32, offset: u16, count: u16, is_last: bool) -> Segment {
        Segment { class: TrafficClass::Bulk, seq: SeqNum(seq), offset, count, is_last, parity: 0 }
    }

    /// The segments of two packets, one given up between them, and their results.
    #[test]
    fn transcript() {
        let mut text = String::new();
        let (mut receiver, mut stats) = (Reassembly::default(), Stats::default());
        for (seq, offset, count, is_last) in [
            (1, 0, 100, false),
            (1, 0, 60, false),
            (1, 60, 90, false),
            (1, 200, 50, true),
            (1, 100, 150, true),
            (1, 0, 250, true),
            (2, 0, 50, false),
            (4, 30, 10, true),
            (4, 0, 40, true),
            (3, 0, 10, true),
        ] {
            let mut outputs = VecDeque::<Output<(), ()>>::new();
            receiver.receive(segment(seq, offset, count, is_last), (), &mut stats, &mut outputs);
            let outcome: Vec<_> = outputs
                .iter()
                .map(|output| match output {
                    Output::Piece { .. } => "piece".to_owned(),
                    Output::Deliver { .. } => "deliver".to_owned(),
                    Output::Abandon { seq, .. } => format!("abandon {seq}"),
                    _ => "release".to_owned(),
                })
                .collect();
            let Ack { next, good } = receiver.ack();
            text +=
                &format!("{seq} [{offset}..{}): {}; expects {next} from {good}\n", offset + count, outcome.join(", "));
        }
        assert_eq!(
            text,
            "\
1 [0..100): piece; expects 1 from 100
1 [0..60): release; expects 1 from 100
1 [60..150): piece; expects 1 from 150
1 [200..250): release; expects 1 from 150
1 [100..250): deliver; expects 2 from 0
1 [0..250): release; expects 2 from 0
2 [0..50): piece; expects 2 from 50
4 [30..40): release; expects 2 from 50
4 [0..40): abandon 2, deliver; expects 5 from 0
3 [0..10): release; expects 5 from 0
"
        );
    }

    #[test]
    fn a_segment_that_brings_nothing_new_is_given_back_and_counted() {
        let (mut receiver, mut stats) = (Reassembly::default(), Stats::default());
        let mut outputs = VecDeque::<Output<(), ()>>::new();
        for (offset, count) in [(0, 100), (0, 100), (50, 50), (0, 20)] {
            receiver.receive(segment(1, offset, count, false), (), &mut stats, &mut outputs);
        }
        assert!(matches!(outputs.pop_front(), Some(Output::Piece { .. })));
        assert!(outputs.len() == 3 && outputs.iter().all(|output| matches!(output, Output::Release(()))));
        assert_eq!((stats.duplicates, receiver.ack()), (3, Ack { next: SeqNum(1), good: 100 }));
    }
}
