//! Draws scenes, and compares the cause that is named with what removing each cause gives.
//!
//! `cargo run --profile checked -p airbraid-tests --example causes -- FIRST COUNT [SEEDS]`

use airbraid_sim::limits;
use airbraid_tests::causes::{Random, Scene, draw};

fn goodput(scene: &Scene, seeds: u64) -> f64 {
    (1..=seeds).map(|seed| scene.flow(seed).goodput_bps).sum::<f64>() / seeds as f64
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (first, count) = (arguments.first().copied().unwrap_or(1), arguments.get(1).copied().unwrap_or(50));
    let seeds = arguments.get(2).copied().unwrap_or(2);
    let is_long = std::env::args().any(|word| word == "--text");
    let mut right = 0;
    for number in first..first + count {
        let scene = draw(&mut Random(number));
        let runs: Vec<_> = (1..=seeds).map(|seed| scene.flow(seed)).collect();
        let before = runs.iter().map(|run| run.goodput_bps).sum::<f64>() / seeds as f64;
        let refs: Vec<_> = runs.iter().filter_map(|run| run.limits.as_ref()).collect();
        let named = limits::first(&refs).and_then(|limit| scene.removal_of(&limit));
        let mut gains: Vec<_> = scene
            .removals()
            .into_iter()
            .map(|removal| (goodput(&scene.without(&removal), seeds) / before.max(1.0), removal))
            .collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_right = named.as_ref() == gains.first().map(|(_, removal)| removal);
        right += u64::from(is_right);
        let shown: Vec<String> = gains.iter().take(4).map(|(gain, removal)| format!("{removal:?} {gain:.2}")).collect();
        println!(
            "{} {number} {}: {:.0} kbit/s | {} | {}",
            if is_right { "ok   " } else { "WRONG" },
            scene.family,
            before / 1e3,
            limits::line(&refs),
            shown.join(", ")
        );
        if is_long {
            println!("{}\n{:?}", scene.text(), runs[0].limits);
        }
    }
    println!("{right} of {count}");
}
