//! The frames between the two ends of a bond. Their bytes are in [`crate::wire`].
//!
//! Each member link has numbers of its own, used once: a retransmission has a new one, so losses are known for each
//! member apart. The packet's number in its flow is a second one, which it keeps.

use super::coded::Coded;
use super::flow_seq::FlowSeq;
use crate::trunk::Member;
use airbraid_units::{Bytes, SeqNum};
use arrayvec::ArrayVec;

/// Length of the header before a packet \[byte\].
pub const HEADER_LEN: usize = 9;
/// Length of a probe without its padding \[byte\].
pub const PROBE_LEN: usize = 9;
/// Length of a path challenge, and of the answer to it \[byte\].
pub const PATH_LEN: usize = 9;
/// Length of the header before a repair symbol \[byte\].
pub const REPAIR_LEN: usize = 5;
/// Length of feedback without reports \[byte\].
const FEEDBACK_LEN: usize = 9;
/// Length of a report without its span and its runs \[byte\].
pub const REPORT_LEN: usize = 9;
/// Length of a full frame, for estimates \[byte\].
pub const FULL: u64 = 1_500;
/// Largest number of members: as many as one feedback frame reports.
pub const MEMBERS_MAX: usize = 16;
/// Runs of received numbers that a report on one member holds. At 10 % random loss that is 160 frames.
pub const RUNS_MAX: usize = 16;
/// Largest length of a run in a feedback frame, and half of that of a report's head \[byte\].
const LONGEST_PART: usize = 10;
/// The header of a packet on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BondHeader {
    /// Number of the frame on its member.
    pub number: SeqNum,
    /// The packet's place in its flow.
    pub place: FlowSeq,
}

/// The header of a repair symbol, the sum of a group of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairHeader {
    /// Number of the frame on its member; only the low 16 bits travel.
    pub number: SeqNum,
    /// Packets of its group: at least 1. They have the numbers before `number - index`.
    pub sources: u8,
    /// Index of the symbol: frames that have left since the last of the group's packets. Below 255 together with
    /// `sources`.
    pub index: u8,
}

/// A frame that is answered at once, unless it is padded: it measures a member, keeps its address translation alive,
/// asks for the fates of the frames before it, and carries the sender's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// Number of the frame on its member.
    pub number: SeqNum,
    /// The sender's life: another than in each life before.
    pub epoch: u32,
    /// Zeros that follow \[byte\]. A padded frame belongs to a packet train or tries a length; a short one behind it
    /// asks for the answer.
    pub padding: u16,
}

/// A run of numbers that came, behind a gap of numbers that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckRange {
    /// Numbers above it that did not come; zero only for the first run.
    pub gap: u32,
    /// Numbers that came; at least 1.
    pub len: u32,
}

/// The arrivals on one member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub member: Member,
    /// The newest number that came.
    pub newest: SeqNum,
    /// Age of its arrival when the feedback left \[us\]; below 2^24, whose largest value stands for all longer ones.
    pub age_us: u32,
    /// Numbers from the first frame that came since the last report to the newest one, and the time between the two
    /// arrivals \[us\]: what a packet train shows of the link's rate. Zero where only one came.
    pub span: u32,
    pub span_us: u32,
    /// Runs from the newest number downward. Numbers that were reported often enough are left out.
    pub runs: ArrayVec<AckRange, RUNS_MAX>,
}

/// Recent arrivals on all members, at the time at which it leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The life of the sender whose numbers these are.
    pub epoch: u32,
    /// Departure by its sender's clock \[us\], modulo 2^32, with any origin.
    pub sent_at_us: u32,
    /// One for each member with recent arrivals.
    pub reports: ArrayVec<Report, MEMBERS_MAX>,
}

/// Length of a number that is written with seven bits a byte.
const fn number_len(number: u32) -> usize {
    match number.checked_ilog2() {
        Some(bits) => bits as usize / 7 + 1,
        None => 1,
    }
}

impl Feedback {
    /// Its length \[byte\].
    pub fn len(&self) -> usize {
        let runs = |report: &Report| -> usize {
            let gaps = report.runs.iter().skip(1).map(|run| number_len(run.gap));
            gaps.chain(report.runs.iter().map(|run| number_len(run.len))).sum()
        };
        FEEDBACK_LEN
            + self
                .reports
                .iter()
                .map(|report| REPORT_LEN + number_len(report.span) + number_len(report.span_us) + runs(report))
                .sum::<usize>()
    }
    /// Never: it has a head.
    pub const fn is_empty(&self) -> bool {
        false
    }
    /// Drops the oldest runs until it is at most `most` byte long.
    pub fn shorten(&mut self, most: usize) {
        // Most are far shorter: an upper bound saves the exact count.
        while self.reports.iter().map(|report| 2 + report.runs.len()).sum::<usize>() * LONGEST_PART > most
            && self.len() > most
        {
            let longest = self.reports.iter_mut().max_by_key(|report| report.runs.len());
            if longest.and_then(|report| report.runs.pop()).is_none() {
                return;
            }
        }
    }
}

/// The secret of a path challenge and of its answer: 64 random bits (RFC 9000, section 19.17).
pub type PathToken = [u8; 8];

/// A frame between the ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<P: Coded> {
    Data {
        header: BondHeader,
        packet: P,
    },
    /// A repair symbol of a group.
    Repair {
        header: RepairHeader,
        symbol: P::Symbol,
    },
    /// Acknowledgements, boxed because it is large and rare.
    Feedback(Box<Feedback>),
    Probe(Probe),
    /// A path challenge, which is returned on the same member.
    PathChallenge(PathToken),
    /// The answer to a path challenge.
    PathResponse(PathToken),
}

impl<P: Coded> Frame<P> {
    /// Its length before it is sealed \[byte\].
    pub fn len(&self) -> Bytes {
        let len = match self {
            Self::Data { packet, .. } => HEADER_LEN as u64 + packet.len().as_u64(),
            Self::Repair { symbol, .. } => REPAIR_LEN as u64 + P::symbol_len(symbol).as_u64(),
            Self::Feedback(feedback) => feedback.len() as u64,
            Self::Probe(probe) => PROBE_LEN as u64 + u64::from(probe.padding),
            Self::PathChallenge(_) | Self::PathResponse(_) => PATH_LEN as u64,
        };
        Bytes::new(len)
    }
    /// Never.
    pub const fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(span: u32, runs: &[(u32, u32)]) -> Report {
        let runs = runs.iter().map(|&(gap, len)| AckRange { gap, len }).collect();
        Report { span, runs, ..Report::default() }
    }

    fn feedback(reports: impl IntoIterator<Item = Report>) -> Feedback {
        Feedback { reports: reports.into_iter().collect(), ..Feedback::default() }
    }

    #[test]
    fn a_number_takes_a_byte_for_each_seven_bits() {
        let lens = [0, 1, 127, 128, 16_383, 16_384, u32::MAX].map(number_len);
        assert_eq!(lens, [1, 1, 1, 2, 2, 3, 5]);
    }

    #[test]
    fn feedback_is_as_long_as_its_reports_and_their_runs() {
        assert_eq!(feedback([]).len(), 9);
        // A report has 9 byte, its span and the time of that one each; the first run has no gap.
        assert_eq!(feedback([report(0, &[(0, 5)])]).len(), 9 + 9 + 2 + 1);
        assert_eq!(feedback([report(200, &[(0, 5), (1, 300)])]).len(), 9 + 9 + 3 + 1 + 1 + 2);
        assert_eq!(feedback([report(0, &[(0, 5)]), report(0, &[])]).len(), 21 + 9 + 2);
    }

    #[test]
    fn feedback_that_is_too_long_loses_the_oldest_runs_of_the_longest_reports() {
        let many: Vec<(u32, u32)> = (0..16).map(|_| (1, 1)).collect();
        let mut shortened = feedback([report(0, &many), report(0, &many[..3])]);
        // 9 and twice 11 byte, and 31 and 5 for the runs.
        assert_eq!(shortened.len(), 67);
        shortened.shorten(67);
        assert_eq!(shortened.reports[0].runs.len(), 16);
        shortened.shorten(66);
        assert_eq!(shortened.reports.iter().map(|report| report.runs.len()).collect::<Vec<_>>(), [15, 3]);
        shortened.shorten(0);
        assert_eq!((shortened.reports.len(), shortened.len()), (2, 31), "the reports stay");
    }
}
