//! Earliest delivery against brute force: all members' completions computed from the whole history.

use crate::paper::model::Packet;
use airbraid_engine::step;
use airbraid_engine::trunk::Member;
use airbraid_engine::trunk::paper::{
    Choice, Distributor, Forecast, FrameFate, PaperInput, PaperOutput, PaperPolicy, PaperTrunk,
};
use airbraid_units::{Duration, Instant};
use proptest::prelude::*;

/// Members of fixed speed: time for a packet, and for each byte \[ns\].
fn speed() -> impl Strategy<Value = (u64, u64)> {
    (0u64..2_000_000, 100u64..8_000)
}

/// A real member: it serves one packet after the other.
#[derive(Clone, Debug)]
struct Server {
    speed: (u64, u64),
    /// When each packet that it holds is done.
    done: Vec<u64>,
}

impl Server {
    fn completion(&self, now: u64, len: u64) -> u64 {
        let start = self.done.last().copied().unwrap_or(now).max(now);
        start + self.speed.0 + self.speed.1 * len
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Once members of constant speed are known, the choice is the one with the earliest completion.
    #[test]
    fn it_chooses_what_brute_force_chooses(
        speeds in prop::collection::vec(speed(), 1..5),
        limit in 1u32..10,
        packets in prop::collection::vec((0u64..4_000_000, prop_oneof![Just(40u64), Just(1_500)]), 1..100),
    ) {
        let mut forecast = Forecast::new(speeds.len(), limit);
        let mut servers: Vec<Server> = speeds.iter().map(|&speed| Server { speed, done: vec![] }).collect();
        let mut now = 0;
        // Each member is shown one small and one large packet.
        for (index, server) in servers.iter_mut().enumerate() {
            for len in [40, 1_500] {
                forecast.on_given(Instant::from_nanos(now), index, len);
                now = server.completion(now, len);
                forecast.on_finished(Instant::from_nanos(now), Member(index as u8));
            }
        }
        for (gap, len) in packets {
            let until = now + gap;
            // Completions in the order of time.
            while let Some((at, index)) = servers.iter().enumerate()
                .filter_map(|(index, server)| Some((*server.done.first()?, index)))
                .filter(|&(at, _)| at <= until)
                .min()
            {
                servers[index].done.remove(0);
                forecast.on_finished(Instant::from_nanos(at), Member(index as u8));
            }
            now = until;
            let best = servers.iter().map(|server| server.completion(now, len)).min().unwrap();
            match forecast.choose(Instant::from_nanos(now), len, |_| true) {
                Choice::Take(index) => {
                    prop_assert!(servers[index].done.len() < limit as usize);
                    let ours = servers[index].completion(now, len);
                    // Rounding of the averages: a part in 1,000.
                    prop_assert!(ours - best <= (best - now) / 1_000 + 1_000, "{} and not {}", ours, best);
                    servers[index].done.push(ours);
                    forecast.on_given(Instant::from_nanos(now), index, len);
                }
                Choice::Wait(_) => {
                    let one = |server: &Server| server.speed.0 + server.speed.1 * len;
                    let horizon = servers.iter().map(one).max().unwrap();
                    // Full: at its limit, or occupied for what the slowest takes, but for rounding.
                    let full = servers.iter().filter(|server| {
                        let occupied = server.done.last().map_or(0, |&at| at.saturating_sub(now));
                        server.done.len() >= limit as usize || occupied + horizon / 1_000 + 1_000 >= horizon
                    });
                    let first = full.map(|server| server.completion(now, len)).min();
                    prop_assert!(first.is_some_and(|first| first <= best + (best - now) / 1_000 + 1_000));
                }
            }
        }
    }
}

/// A trunk whose members serve at these speeds, kept full; gives the packets that each member carried in `span`.
fn carried(speeds: &[(u64, u64)], limit: u32, span: Duration) -> Vec<u64> {
    let policy = PaperPolicy {
        distributor: Distributor::EarliestDelivery,
        member_limit: limit,
        queue_limit: 10,
        ..PaperPolicy::default()
    };
    let mut trunk = PaperTrunk::new(policy, speeds.len() as u8, 1);
    let mut servers: Vec<Server> = speeds.iter().map(|&speed| Server { speed, done: vec![] }).collect();
    let (mut now, mut id) = (0u64, 0);
    while now < span.as_nanos() {
        let mut inputs = vec![];
        for (index, server) in servers.iter_mut().enumerate() {
            if server.done.first().is_some_and(|&at| at <= now) {
                server.done.remove(0);
                inputs.push(Some(PaperInput::Finished(Member(index as u8), FrameFate::Delivered)));
            }
        }
        inputs.push(None);
        while trunk.queue_len() + inputs.len() < 12 {
            id += 1;
            inputs.push(Some(PaperInput::Packet(Packet { id, len: 1_500, segments: 1, bucket: 0 })));
        }
        let mut wake = None;
        for input in inputs {
            wake = step(&mut trunk, Instant::from_nanos(now), input, |output| {
                if let PaperOutput::Transmit { header, .. } = output {
                    let server = &mut servers[usize::from(header.member.0)];
                    let done = server.completion(now, 1_500);
                    server.done.push(done);
                }
            });
        }
        let next = servers.iter().filter_map(|server| server.done.first().copied());
        now = next.chain(wake.map(|wake| wake.at.as_nanos())).min().unwrap();
    }
    trunk.sender_counts().sent_by_member.clone()
}

#[test]
fn a_saturated_trunk_uses_members_of_unequal_speed_to_the_full() {
    // 2, 4 and 7 ms for a packet: the speeds of 11, 5.5 and 2 Mbit/s.
    let carried = carried(&[(2_000_000, 0), (4_000_000, 0), (7_000_000, 0)], 8, Duration::from_secs(7));
    let expected = [3_500, 1_750, 1_000];
    for (ours, expected) in carried.iter().zip(expected) {
        assert!(ours.abs_diff(expected) <= expected / 50, "{carried:?}");
    }
}

#[test]
fn a_useless_member_stays_idle_but_for_a_look_now_and_then() {
    // Full, the fast one needs 9 ms for a new packet, the slow one always 300.
    let carried = carried(&[(1_000_000, 0), (300_000_000, 0)], 8, Duration::from_secs(10));
    assert!(carried[1] <= 10, "{carried:?}");
    assert!(carried[0] >= 9_900, "{carried:?}");
}
