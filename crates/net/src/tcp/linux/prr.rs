//! Proportional rate reduction: the segments that a recovery may send for each arrival (RFC 6937, with the standard's
//! rule for when to grow back by slow start), as Linux has it, in segments.
//!
//! It never says which segment to send, and it knows no window: the sender adds what it says to the pipe.

#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// The window before (`RecoverFS`).
    prior: u64,
    delivered: u64,
    /// Segments sent since the recovery began.
    pub out: u64,
}

impl Prr {
    /// A recovery begins at a window of `cwnd`.
    pub const fn new(cwnd: u64) -> Self {
        Self { prior: cwnd, delivered: 0, out: 0 }
    }

    /// `delivered` segments arrived, and `pipe` are in the network: returns how many may leave. Above `ssthresh` in
    /// proportion of the reduction; below as many as arrived (CRB), and one more if the acknowledgement moved on
    /// without news of a loss (`safe`, SSRB).
    pub fn allowance(&mut self, ssthresh: u64, pipe: u64, delivered: u64, safe: bool) -> u64 {
        if delivered == 0 || self.prior == 0 {
            return 0;
        }
        self.delivered += delivered;
        let count = if pipe > ssthresh {
            (ssthresh * self.delivered).div_ceil(self.prior).saturating_sub(self.out)
        } else {
            let conserve = self.delivered.saturating_sub(self.out).max(delivered);
            (conserve + u64::from(safe)).min(ssthresh - pipe)
        };
        // The fast retransmission itself always goes.
        count.max(u64::from(self.out == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proportional reduction (RFC 6937) worked by hand: a window of 20, of which 10 remain. Returns the segments sent
    /// for each arrival.
    fn run(lost: u64) -> (Vec<u64>, u64) {
        let (mut prr, mut sent) = (Prr::new(20), Vec::new());
        // The first two duplicates let two new segments go (limited transmit); the third begins the recovery.
        let mut pipe: u64 = 20 - lost;
        let mut arrivals = 20 - lost;
        for n in 0..arrivals {
            pipe -= 1;
            if n < 2 {
                pipe += 1;
                continue;
            }
            let delivered = if n == 2 { 3 } else { 1 };
            let allowed = prr.allowance(10, pipe, delivered, false);
            prr.out += allowed;
            pipe += allowed;
            sent.push(allowed);
        }
        arrivals = 0;
        (sent, pipe + arrivals)
    }

    #[test]
    fn one_loss_of_twenty_sends_for_every_second_arrival() {
        // The first example: R at once, then one segment for each two acknowledgements, to the threshold exactly.
        let (sent, pipe) = run(1);
        assert_eq!(sent, [2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(sent.iter().sum::<u64>(), 10);
        assert!((10..=12).contains(&pipe), "{pipe}");
    }

    #[test]
    fn fifteen_losses_of_twenty_conserve_what_arrives_and_grow_when_it_is_safe() {
        // The second example: the pipe (4, then less) is below the threshold, so each arrival is answered.
        let (sent, _) = run(15);
        assert_eq!(sent, [3, 1, 1], "conservative: as many as arrived");
        let mut prr = Prr::new(20);
        prr.out = 1;
        assert_eq!(prr.allowance(10, 4, 1, true), 2, "slow start: one more");
        assert_eq!(prr.allowance(10, 9, 1, true), 1, "never beyond the threshold");
        assert_eq!(prr.allowance(10, 9, 0, true), 0, "nothing arrived");
    }

    #[test]
    fn at_the_threshold_nothing_more_leaves() {
        let begun = |pipe, delivered| {
            let mut prr = Prr { out: 3, ..Prr::new(20) };
            prr.allowance(10, pipe, delivered, true)
        };
        assert_eq!((begun(10, 1), begun(9, 1)), (0, 1));
        // Above it half of what has arrived, less what has left.
        assert_eq!([6, 7, 8, 9].map(|delivered| begun(11, delivered)), [0, 1, 1, 2]);
        // Below it as many as arrived and have not been answered, and one more.
        assert_eq!([1, 3, 5].map(|delivered| begun(2, delivered)), [2, 4, 6]);
        assert_eq!(Prr::default().allowance(10, 5, 3, true), 0, "no recovery");
        assert_eq!(Prr::new(20).allowance(10, 11, 1, false), 1);
        assert_eq!(Prr::new(40).allowance(10, 11, 1, false), 1, "the retransmission goes in any case");
    }
}
