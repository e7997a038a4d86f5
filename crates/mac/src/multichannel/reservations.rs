//! A station's knowledge of the data channels: until when each is taken, which stations are away, and which channel to
//! choose.
//!
//! It knows what it has heard on the control channel and nothing of what happened while it was away: a reservation that
//! it missed is a channel that it takes to be free.

use super::config::ChannelChoice;
use crate::frame::{Address, Channel, ChannelSet};
use airbraid_engine::Stream;
use airbraid_units::Instant;

/// Virtual carrier sense of the data channels, with the addresses of the stations on them.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    data_channels: u8,
    until: [Instant; Channel::MAX],
    /// By address: end of the station's exchange with another.
    away_until: Vec<Instant>,
    /// Number of reservations of each channel, heard or made.
    uses: [u64; Channel::MAX],
    /// The channel of the last exchange that succeeded.
    last: Option<Channel>,
    random: Stream,
}

impl Reservations {
    pub(super) fn new(data_channels: u8, random: Stream) -> Self {
        Self {
            data_channels,
            until: [Instant::ZERO; Channel::MAX],
            away_until: Vec::new(),
            uses: [0; Channel::MAX],
            last: None,
            random,
        }
    }

    fn data_channels(&self) -> impl Iterator<Item = Channel> + use<> {
        (1..=self.data_channels).map(Channel)
    }

    /// Whether `channel` is one of the data channels.
    pub(super) fn knows(&self, channel: Channel) -> bool {
        (1..=self.data_channels).contains(&channel.0)
    }

    /// The data channels that are believed free.
    pub(super) fn free(&self, now: Instant) -> ChannelSet {
        let free = self.data_channels().filter(|channel| self.until[usize::from(channel.0)] <= now);
        free.fold(ChannelSet::EMPTY, ChannelSet::with)
    }

    /// The time at which the first data channel will be free.
    pub(super) fn first_free_at(&self) -> Instant {
        let ends = self.data_channels().map(|channel| self.until[usize::from(channel.0)]);
        ends.min().unwrap_or(Instant::ZERO)
    }

    /// End of the absence of `peer`, as far as is known.
    pub(super) fn away_until(&self, peer: Address) -> Instant {
        self.away_until.get(peer.0 as usize).copied().unwrap_or(Instant::ZERO)
    }

    /// Two stations have reserved `channel`. A CTS and its CRN say the same and count once.
    pub(super) fn reserve(&mut self, channel: Channel, stations: [Address; 2], until: Instant) {
        if !self.knows(channel) {
            return;
        }
        let index = usize::from(channel.0);
        if until > self.until[index] {
            self.until[index] = until;
            self.uses[index] += 1;
        }
        for station in stations {
            let index = station.0 as usize;
            if index >= self.away_until.len() {
                self.away_until.resize(index + 1, Instant::ZERO);
            }
            self.away_until[index] = self.away_until[index].max(until);
        }
    }

    /// Counts a reservation of `channel` by this station. It knows when it is back, so there is nothing to remember.
    pub(super) fn count_own(&mut self, channel: Channel) {
        self.uses[usize::from(channel.0)] += 1;
    }

    /// An exchange on `channel` has succeeded.
    pub(super) fn on_success(&mut self, channel: Channel) {
        self.last = Some(channel);
    }

    /// Chooses one of `candidates`.
    pub(super) fn choose(&mut self, candidates: ChannelSet, choice: ChannelChoice) -> Option<Channel> {
        match choice {
            ChannelChoice::Hysteresis => {
                self.last.filter(|&last| candidates.contains(last)).or_else(|| candidates.lowest())
            }
            ChannelChoice::Lowest => candidates.lowest(),
            ChannelChoice::LeastUsed => candidates.iter().min_by_key(|channel| self.uses[usize::from(channel.0)]),
            ChannelChoice::Random => {
                let last = candidates.len().checked_sub(1)?;
                candidates.iter().nth(self.random.up_to(last) as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }
    const PAIR: [Address; 2] = [Address(3), Address(5)];

    #[test]
    fn a_reservation_takes_a_channel_and_two_stations() {
        let mut known = Reservations::new(3, Stream::new(1, 0, "test"));
        assert_eq!(known.free(at(0)).iter().collect::<Vec<_>>(), [Channel(1), Channel(2), Channel(3)]);
        known.reserve(Channel(2), PAIR, at(100));
        assert_eq!(known.free(at(99)).iter().collect::<Vec<_>>(), [Channel(1), Channel(3)]);
        assert_eq!((known.free(at(100)).len(), known.first_free_at()), (3, at(0)));
        assert_eq!((known.away_until(PAIR[0]), known.away_until(PAIR[1])), (at(100), at(100)));
        assert_eq!((known.away_until(Address(4)), known.away_until(Address(900))), (at(0), at(0)));
        known.reserve(Channel(1), PAIR, at(70));
        known.reserve(Channel(3), PAIR, at(80));
        assert_eq!((known.free(at(10)), known.first_free_at()), (ChannelSet::EMPTY, at(70)));
        assert_eq!(known.away_until(PAIR[0]), at(100));
        // What is no channel of this station changes nothing.
        known.reserve(Channel(200), PAIR, at(900));
        assert_eq!(known.first_free_at(), at(70));
    }

    #[test]
    fn channels_are_chosen_by_rule() {
        let mut known = Reservations::new(3, Stream::new(1, 0, "test"));
        let all = known.free(at(0));
        for rule in [ChannelChoice::Hysteresis, ChannelChoice::Lowest, ChannelChoice::LeastUsed] {
            assert_eq!(known.choose(all, rule), Some(Channel(1)));
            assert_eq!(known.choose(ChannelSet::EMPTY, rule), None);
        }
        assert_eq!(known.choose(ChannelSet::EMPTY, ChannelChoice::Random), None);
        known.on_success(Channel(3));
        // Of two reservations with one end the second is the CRN of the first.
        known.reserve(Channel(1), PAIR, at(50));
        known.reserve(Channel(1), PAIR, at(50));
        known.reserve(Channel(3), PAIR, at(60));
        known.reserve(Channel(3), PAIR, at(90));
        known.reserve(Channel(2), PAIR, at(90));
        known.reserve(Channel(2), PAIR, at(95));
        assert_eq!(known.choose(all, ChannelChoice::Hysteresis), Some(Channel(3)));
        assert_eq!(known.choose(ChannelSet::only(Channel(2)), ChannelChoice::Hysteresis), Some(Channel(2)));
        assert_eq!(known.choose(all, ChannelChoice::Lowest), Some(Channel(1)));
        assert_eq!(known.choose(all, ChannelChoice::LeastUsed), Some(Channel(1)));
        let drawn: Vec<_> = (0..300).filter_map(|_| known.choose(all, ChannelChoice::Random)).collect();
        for channel in all.iter() {
            // Expected 100, standard deviation 8: five of them.
            assert!(drawn.iter().filter(|&&one| one == channel).count().abs_diff(100) < 41);
        }
    }
}
