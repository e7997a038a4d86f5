//! Admission of first messages when there are more than there is time for.
//!
//! A cookie shows that a source is where it says; behind it each source has a bucket of its own, and the emptier the
//! budget of all is, the fuller the bucket of a source must be. So one that floods gets what nobody else wants, a
//! thousand of them leave room for one that comes for the first time, and while there is little to do nobody is
//! limited. Those with whom there is a session have a budget beside, so that they get new keys whatever strangers do.
//!
//! The memory is bounded: a table of fixed size, hashed under a secret key.

use super::address::Address;
use super::material::{Entropy, Secret};
use airbraid_units::{Duration, Instant};
use ring::hmac;

/// Sets of the table. A thousand sources are one a set: nine in one, of which one is forgotten, are one set in a
/// million.
const SETS: usize = 1 << 10;
/// Sources in a set: 8,192 in all, 24 bytes each.
const WAYS: usize = 8;
/// Largest credit of a source \[first messages\]: three attempts, and one more.
const CREDIT: u64 = 4;
/// Time for one more message of credit: a thousand sources that flood take 250 a second of the 500 that there are.
const EVERY: Duration = Duration::from_secs(4);
/// Rest of a budget, in eighths, that a source with each credit needs.
const LEFT: [u64; CREDIT as usize + 1] = [7, 6, 4, 2, 0];
/// The same for sources with a session: these compete only with their neighbours behind one translator.
const LEFT_HOME: [u64; CREDIT as usize + 1] = [4, 2, 0, 0, 0];

/// A network that counts as one sender: an IPv4 address, or the first 64 bits of an IPv6 address, of which one
/// subscriber has all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source([u8; 16]);

impl Source {
    pub fn of(address: &Address) -> Self {
        let mut network = [0; 16];
        let is_mapped = address.0.starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]);
        let length = if is_mapped { 16 } else { 8 };
        network[..length].copy_from_slice(&address.0[..length]);
        Self(network)
    }
}

/// A token bucket that fills with time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    rate: u32,
    /// Capacity and level \[ns of filling\].
    full: Duration,
    level: Duration,
    at: Instant,
}

impl Bucket {
    /// A bucket that holds the tokens of one second.
    pub fn new(rate: u32) -> Self {
        Self::holding(rate, Duration::from_secs(1))
    }

    fn holding(rate: u32, full: Duration) -> Self {
        Self { rate, full, level: full, at: Instant::ZERO }
    }

    /// Takes one token, if there is one.
    pub fn take(&mut self, now: Instant) -> bool {
        self.take_above(now, 0)
    }

    /// Takes one token, if the bucket is filled by at least this many eighths.
    fn take_above(&mut self, now: Instant, eighths: u64) -> bool {
        self.level = self.full.min(self.level + now.saturating_since(self.at).min(self.full));
        self.at = now;
        let cost = Duration::from_secs(1) / u64::from(self.rate.max(1));
        if self.rate == 0 || self.level < cost.max(self.full / 8 * eighths) {
            return false;
        }
        self.level -= cost;
        true
    }
}

/// The entry of a source: its recent first messages only.
#[derive(Clone, Copy, Debug)]
struct SourceCredit {
    tag: u64,
    /// Its credit, as the time that it takes to accrue.
    level: Duration,
    at: Instant,
}

impl SourceCredit {
    const FULL: Duration = EVERY.saturating_mul(CREDIT);
    const NOBODY: Self = Self { tag: 0, level: Self::FULL, at: Instant::ZERO };

    fn level(&self, now: Instant) -> Duration {
        Self::FULL.min(self.level + now.saturating_since(self.at).min(Self::FULL))
    }
}

/// The budgets of all, and the credit of each.
#[derive(Debug)]
pub(super) struct Admission {
    strangers: Bucket,
    homes: Bucket,
    /// The key that hashes sources: drawn when the first shows a cookie.
    key: Option<hmac::Key>,
    seen: Vec<SourceCredit>,
}

impl Admission {
    /// Admits this many a second from anyone, and as many more from sources with a session.
    pub fn new(strangers: u32, homes: u32) -> Self {
        // What comes in two seconds: a thousand sources that come at once are all looked into.
        let holding = |rate| Bucket::holding(rate, Duration::from_secs(2));
        Self {
            strangers: holding(strangers),
            homes: holding(homes),
            key: None,
            seen: vec![SourceCredit::NOBODY; SETS * WAYS],
        }
    }

    /// Returns whether there is time for a first message from a source that has shown a cookie; `is_home`: a peer with
    /// a session was met there last.
    pub fn take(&mut self, now: Instant, source: Source, is_home: bool, entropy: &mut impl Entropy) -> bool {
        let Self { strangers, homes, key, seen } = self;
        let key = key.get_or_insert_with(|| hmac::Key::new(hmac::HMAC_SHA256, Secret::draw(entropy).bytes()));
        let hash = hmac::sign(key, &source.0);
        let part = |at: usize| hash.as_ref()[at..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let set = part(0) as usize % SETS * WAYS;
        let seen = entry(&mut seen[set..set + WAYS], now, part(8).max(1));
        let credit = seen.level.div_floor(EVERY).min(CREDIT) as usize;
        let is_taken = (is_home && homes.take_above(now, LEFT_HOME[credit])) || strangers.take_above(now, LEFT[credit]);
        if is_taken {
            seen.level = seen.level.saturating_sub(EVERY);
        }
        is_taken
    }
}

/// Returns the entry of a source in its set, up to date. A new one replaces the one with most credit, of which the
/// least is forgotten.
fn entry(set: &mut [SourceCredit], now: Instant, tag: u64) -> &mut SourceCredit {
    let known = set.iter().position(|seen| seen.tag == tag);
    let fullest = || (0..set.len()).max_by_key(|at| set[*at].level(now)).unwrap_or(0);
    let at = known.unwrap_or_else(fullest);
    let level = if known.is_some() { set[at].level(now) } else { SourceCredit::FULL };
    set[at] = SourceCredit { tag, level, at: now };
    &mut set[at]
}

#[cfg(test)]
mod tests {
    use super::super::material::Simulated;
    use super::*;
    use crate::random::Stream;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn source(number: u32) -> Source {
        Source(u128::from(number).to_be_bytes())
    }

    fn entropy() -> Simulated {
        Simulated(Stream::new(1, 0, "admission"))
    }

    #[test]
    fn a_bucket_lets_its_rate_through() {
        let mut bucket = Bucket::new(10);
        let taken = |bucket: &mut Bucket, from: u64, to: u64| (from..to).filter(|ms| bucket.take(at(*ms))).count();
        assert_eq!(taken(&mut bucket, 0, 500), 10 + 4);
        assert_eq!(taken(&mut bucket, 500, 5_500), 50);
        assert_eq!(taken(&mut Bucket::new(0), 0, 5_000), 0);
    }

    #[test]
    fn an_ipv4_address_is_a_source_and_so_are_64_bits_of_ipv6() {
        let address = |ip: u128, port: u8| {
            let mut bytes = [port; Address::LEN];
            bytes[..16].copy_from_slice(&ip.to_be_bytes());
            Source::of(&Address(bytes))
        };
        // ::ffff:10.0.0.1 and 2001:db8::
        let (four, six) = (0xffff_0a00_0001, 0x2001_0db8 << 96);
        assert_eq!(address(four, 1), address(four, 2));
        assert_ne!(address(four, 1), address(four + 1, 1));
        assert_eq!(address(six + 1, 1), address(six + (0xffff << 16) + 1, 1));
        assert_ne!(address(six + 1, 1), address(six + (1 << 64) + 1, 1));
    }

    #[test]
    fn while_there_is_little_to_do_nobody_is_limited() {
        let (mut admission, mut entropy) = (Admission::new(500, 100), entropy());
        assert!((0..1_000).all(|number| admission.take(at(number * 10), source(1), false, &mut entropy)));
    }

    #[test]
    fn one_that_floods_leaves_most_of_the_budget_to_others() {
        let (mut admission, mut entropy) = (Admission::new(500, 100), entropy());
        let taken = (0..50_000).filter(|at_20us| {
            let now = Instant::ZERO + Duration::from_micros(at_20us * 20);
            admission.take(now, source(1), false, &mut entropy)
        });
        assert!(taken.count() < 1_000);
        let others = (2..502).filter(|number| admission.take(at(1_000), source(*number), false, &mut entropy));
        assert_eq!(others.count(), 500);
    }

    #[test]
    fn a_session_that_is_up_has_a_budget_beside() {
        let (mut admission, mut entropy) = (Admission::new(10, 10), entropy());
        assert_eq!((0..1_000).filter(|number| admission.take(at(0), source(*number), false, &mut entropy)).count(), 20);
        assert!(!admission.take(at(0), source(5_000), false, &mut entropy));
        assert!(admission.take(at(0), source(5_001), true, &mut entropy));
    }

    #[test]
    fn who_has_had_most_is_forgotten_last() {
        let (mut admission, mut entropy) = (Admission::new(u32::MAX, 0), entropy());
        let mut take = |number| admission.take(at(0), source(number), false, &mut entropy);
        (0..CREDIT).for_each(|_| assert!(take(0)));
        (1..100_000).for_each(|number| assert!(take(number)));
        let set = &admission.seen;
        assert_eq!(set.iter().filter(|seen| seen.level.is_zero()).count(), 1);
        assert_eq!(set.len(), SETS * WAYS);
    }
}
