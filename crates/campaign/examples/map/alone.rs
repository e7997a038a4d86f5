//! Standards of comparison for a bond: its best member alone, and an oracle.
//!
//! The **best member alone** is the best of all bonds of one member, under the same engine and with the same transfer.
//!
//! The **oracle** is an ideal bond that knows all that is to come. For each set that is a prefix of the members in the
//! order of their delays it is one plain link without a bond: its rate is at every time the sum of what the members'
//! losses leave, times 1435/1500 for the bond's frames; its delay is the largest of the set; it loses nothing but what
//! finds its queue full (100 ms unless it is said otherwise). The oracle's goodput is that of the best set. (A member
//! alone is never better than the prefix that ends with it: that has at least its rate and the same delay.)
//!
//! Both are looked for in the order of what a candidate could reach; the search ends where no other can be better.

use crate::bench::{Bench, Halt};
use crate::member::{Change, Member};
use crate::scene::{FRAME, PACKET, Path, SEGMENT, Scene};

/// Margin of a bound of goodput: a seed may lose less than the mean, and a queue was filled before counting began.
const MARGIN: f64 = 1.02;

/// A metric of a transfer; `None` where the run has none.
///
/// # Errors
/// The run's.
pub fn metric(bench: &Bench, scene: &Scene, seed: u64, transfer: usize, metric: &str) -> Result<Option<f64>, Halt> {
    let name = format!("flow.{}.{metric}", scene.name(transfer));
    Ok(bench.run(scene, seed)?.metrics.get(&name).copied())
}

/// The goodput of all transfers that always have something to send \[bit/s\].
///
/// # Errors
/// The run's.
pub fn goodput_bps(bench: &Bench, scene: &Scene, seed: u64) -> Result<f64, Halt> {
    let facts = bench.run(scene, seed)?;
    let is_bulk = |name: &str| name.starts_with("flow.bulk") && name.ends_with(".goodput_bps");
    Ok(facts.metrics.iter().filter(|(name, _)| is_bulk(name)).map(|(_, bps)| bps).sum())
}

/// The mean of `measure` over the seeds.
///
/// # Errors
/// Those of `measure`.
pub fn mean(seeds: &[u64], mut measure: impl FnMut(u64) -> Result<f64, Halt>) -> Result<f64, Halt> {
    let sum = seeds.iter().try_fold(0.0, |sum, seed| measure(*seed).map(|value| sum + value))?;
    Ok(sum / seeds.len().max(1) as f64)
}

/// The best mean goodput over the seeds among `candidates` \[bit/s\]: paths with a bound of their goodput. No number if
/// standards are not measured.
fn best_of(bench: &Bench, scene: &Scene, mut candidates: Vec<(f64, Path)>, seeds: &[u64]) -> Result<f64, Halt> {
    if !bench.has_standards {
        return Ok(f64::NAN);
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    // One bit/s where nothing comes through: it is a divisor.
    let mut best = 1.0_f64;
    for (bound, path) in candidates {
        if best >= bound * MARGIN {
            break;
        }
        let scene = Scene { path, ..scene.clone() };
        best = best.max(mean(seeds, |seed| goodput_bps(bench, &scene, seed))?);
    }
    Ok(best)
}

/// The mean of what the members' losses leave of their rates while it counts, in all directions that have transfers
/// \[bit/s\].
pub fn sum_bps(scene: &Scene) -> f64 {
    let (from, until) = scene.counted_ms();
    scene.path.members().iter().map(|member| member.carried_kbps(from, until)).sum::<f64>() * 1e3 * scene.ways()
}

/// The goodput of the best member of the scene's bond alone \[bit/s\].
///
/// # Errors
/// A run's.
pub fn best_member_bps(bench: &Bench, scene: &Scene, seeds: &[u64]) -> Result<f64, Halt> {
    let (from, until) = scene.counted_ms();
    let one = |member: &Member| {
        let bound = scene.ways() * member.carried_kbps(from, until) * 1e3 * SEGMENT as f64 / FRAME as f64;
        (bound, Path::Bond(vec![member.clone()]))
    };
    best_of(bench, scene, scene.path.members().iter().map(one).collect(), seeds)
}

/// The goodput of the oracle over the members of the scene's bond, with a queue of `queue_ms` \[bit/s\].
///
/// # Errors
/// A run's.
pub fn oracle_bps(bench: &Bench, scene: &Scene, queue_ms: u64, seeds: &[u64]) -> Result<f64, Halt> {
    let (from, until) = scene.counted_ms();
    let scene = &Scene { queue_ms, ..scene.clone() };
    let one = |link: Member| {
        let bound = link.carried_kbps(from, until) * 1e3 * SEGMENT as f64 / PACKET as f64;
        (bound, Path::Plain(link))
    };
    let links = ideal_links(scene.path.members(), until);
    best_of(bench, scene, links.into_iter().map(one).collect(), seeds)
}

/// The ideal link of all members of the scene's bond.
pub fn ideal_link_of_all(scene: &Scene) -> Member {
    let members: Vec<&Member> = scene.path.members().iter().collect();
    ideal_link(&members, scene.counted_ms().1)
}

/// The ideal links of all prefixes of the members in the order of their delays.
pub fn ideal_links(members: &[Member], until_ms: u64) -> Vec<Member> {
    let mut members: Vec<&Member> = members.iter().collect();
    members.sort_by_key(|member| member.delay_us);
    (1..=members.len()).map(|count| ideal_link(&members[..count], until_ms)).collect()
}

/// One link with what the losses of `members` leave of their rates.
fn ideal_link(members: &[&Member], until_ms: u64) -> Member {
    let courses: Vec<_> = members.iter().map(|member| (member.kept(), member.course(until_ms))).collect();
    let mut dates: Vec<u64> = courses.iter().flat_map(|(_, course)| course.iter().map(|(at, _)| *at)).collect();
    dates.sort_unstable();
    dates.dedup();
    let rate = |at: u64| {
        let of = |(kept, course): &(f64, Vec<(u64, u64)>)| {
            let index = course.partition_point(|(begin, _)| *begin <= at);
            index.checked_sub(1).map_or(0.0, |index| course[index].1 as f64) * kept
        };
        (courses.iter().map(of).sum::<f64>() * PACKET as f64 / FRAME as f64) as u64
    };
    let course: Vec<(u64, u64)> = dates.into_iter().map(|at| (at, rate(at))).collect();
    let delay_us = members.iter().map(|member| member.delay_us).max().unwrap_or_default();
    let mean = crate::member::mean(&course, 0, until_ms) as u64;
    Member { change: Change::Dated(course), ..Member::plain(mean.max(1), delay_us) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Losses;
    use crate::scene::{Control, Transfer};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_oracle_of_two_equal_links_is_one_of_twice_their_rate() {
        let links = ideal_links(&[Member::plain(15_000, 20_000), Member::plain(15_000, 5_000)], 60_000);
        let seen: Vec<_> = links.iter().map(|link| (link.rate_kbps, link.delay_us)).collect();
        // 15 Mbit/s of frames are 14.35 of packets.
        assert_eq!(seen, [(14_350, 5_000), (28_700, 20_000)]);
    }

    #[test]
    fn the_oracle_carries_what_two_equal_links_can_and_is_measured_once() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let dir = std::env::temp_dir().join(format!("airbraid-map-{}", std::process::id()));
        let bench = Bench::open(&dir, &STOP, 1).unwrap();
        let members = vec![Member::plain(5_000, 5_000); 2];
        let scene = Scene::new(Path::Bond(members), vec![Transfer::download(Control::Cubic)], 10, 3);
        let share = oracle_bps(&bench, &scene, 100, &[1]).unwrap() / sum_bps(&scene);
        // 1383 of 1500 byte are payload.
        assert!((0.9..0.923).contains(&share), "{share} of 10 Mbit/s");
        assert_eq!(oracle_bps(&bench, &scene, 100, &[1]).unwrap() / sum_bps(&scene), share);
        let spent = bench.spent();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!((spent.runs, spent.stored), (2, 1), "the link alone cannot be better and is not run");
    }

    #[test]
    fn the_oracles_link_follows_what_losses_leave_of_each_rate() {
        let lossy = Member { losses: Some(Losses { mean: 0.1, burst: 2.0 }), ..Member::plain(15_000, 1_000) };
        let falls = Member { change: Change::Dated(vec![(0, 15_000), (10_000, 0)]), ..Member::plain(15_000, 2_000) };
        let [first, second] = ideal_links(&[lossy, falls], 20_000).try_into().unwrap();
        assert_eq!(first.course(20_000), [(0, 12_915)]);
        assert_eq!(second.course(20_000), [(0, 27_265), (10_000, 12_915)]);
    }
}
