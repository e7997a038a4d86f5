//! The part of what waits that a link takes, so that others have what they deliver before.
//!
//! ```text
//!   this link    |=====================|          k MPDUs, from now on
//!   another      . ready .|============|          what it can have delivered by then
//!   a slow one   . . . ready . . . . . |. .       nothing
//!                now                   T          all that waits has come
//! ```
//!
//! Of `n` MPDUs that wait this link takes as many as it has delivered at the time `T` when all have come, if each
//! other link takes its part as soon as it is ready: `own T + sum(speed (T - ready)) = n`, over the links that are
//! ready before `T`. So a slow link does not take a short burst that a fast one would have delivered before, and where
//! much waits each takes what it delivers in the same time.

use airbraid_units::{Bytes, Duration};

/// Number of `waiting` MPDUs that this link takes, one or more. `own` is its speed \[bit/s\]; the others have each a
/// time until they are ready, and a speed.
pub(super) fn first_here(own: u64, mut others: Vec<(Duration, u64)>, mpdu: Bytes, waiting: u32) -> u32 {
    // Bits times a second, in nanoseconds.
    let scale = |bits: u64| u128::from(bits) * 1_000_000_000;
    others.sort_unstable();
    let (mut bits, mut speed) = (scale(mpdu.bits() * u64::from(waiting)), u128::from(own));
    for (ready, other) in others {
        let ready = u128::from(ready.as_nanos());
        // All have come before it is ready.
        if ready * speed >= bits {
            break;
        }
        bits += ready * u128::from(other);
        speed += u128::from(other);
    }
    let mpdus = bits * u128::from(own) / speed.max(1) / scale(mpdu.bits()).max(1);
    mpdus.clamp(1, u128::from(waiting.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MPDUs of 1000 bit; times in us, speeds in Mbit/s.
    fn takes(own: u64, others: &[(u64, u64)], waiting: u32) -> u32 {
        let other = |&(ready, speed): &(u64, u64)| (Duration::from_micros(ready), speed * 1_000_000);
        first_here(own * 1_000_000, others.iter().map(other).collect(), Bytes::new(125), waiting)
    }

    #[test]
    fn links_that_are_ready_share_by_their_speeds() {
        assert_eq!(takes(300, &[(0, 100)], 400), 300);
        assert_eq!(takes(100, &[(0, 300)], 400), 100);
        assert_eq!(takes(100, &[(0, 100), (0, 200)], 400), 100);
    }

    #[test]
    fn a_slow_link_leaves_a_short_burst_to_a_fast_one() {
        // Ten take 100 us on the slow link; the fast one is ready after 20 us and takes 1 us each.
        assert_eq!(takes(100, &[(20, 1_000)], 10), 2);
        assert_eq!(takes(1_000, &[(20, 100)], 10), 10);
    }

    #[test]
    fn a_link_that_is_ready_too_late_gets_nothing() {
        assert_eq!(takes(100, &[(100, 1_000)], 10), 10);
        assert_eq!(takes(100, &[(99, 1_000), (5_000, 1_000)], 10), 9);
    }

    #[test]
    fn one_goes_in_any_case() {
        assert_eq!(takes(1, &[(0, 10_000)], 10), 1);
        assert_eq!(takes(1, &[(0, 10_000)], 0), 1);
    }
}
