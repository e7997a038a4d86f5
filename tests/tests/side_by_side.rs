//! Parts of a scenario that have nothing to do with each other may be played on several threads: the result is the same
//! to the byte.

use airbraid_sim::scenario::Scenario;
use airbraid_sim::scenario::spec::Spec;
use airbraid_sim::{RunError, RunOptions, Task, Threads, run};
use airbraid_tests::{airbraid, spec};

const HEAD: &str = "schema = 1\ntitle = \"t\"\nquestion = \"q\"\n";

/// A cell, a trunk over radios, a chain, a bond, a multi-link pair and an idle node; receptions fail, and so do a radio
/// and a link.
const MIXTURE: &str = r#"
node = [
  { name = "sink", position = ["0 m", "0 m"], radios = [1] }, { name = "s0", position = ["9 m", "0 m"], radios = [1] },
  { name = "s1", position = ["0 m", "7 m"], radios = [1] }, { name = "s2", position = ["-5 m", "3 m"], radios = [1] },
  { name = "west", position = ["5 km", "0 m"], radios = [1, 6, 11] },
  { name = "east", position = ["5.05 km", "0 m"], radios = [1, 6, 11] },
  { name = "h0", position = ["9 km", "0 m"], radios = [1] }, { name = "h1", position = ["9.2 km", "0 m"], radios = [1] },
  { name = "h2", position = ["9.4 km", "0 m"], radios = [1] }, { name = "server" }, { name = "home" },
  { name = "ap", position = ["20 km", "0 m"], radios = [36, 149], radio = { standard = "802.11be", band = "5 GHz", width = "80 MHz", mcs = 9 } },
  { name = "phone", position = ["20.005 km", "0 m"], radios = [36, 149], radio = { standard = "802.11be", band = "5 GHz", width = "80 MHz", mcs = 9 } },
  { name = "idle", position = ["40 km", "0 m"], radios = [1] },
]
trunk = [
  { name = "air", between = ["west", "east"] }, { name = "bond", over = "links", between = ["server", "home"] },
  { name = "mld", over = "mld", between = ["ap", "phone"] },
]
link = [
  { name = "dsl", between = ["server", "home"], delay = "10 ms", queue = 60, forward = { rate = "16 Mbit/s" }, backward = { rate = "2 Mbit/s" } },
  { name = "lte", between = ["server", "home"], delay = "25 ms", jitter = "8 ms", queue = 60, forward = { rate = "8 Mbit/s", loss = 0.01 }, backward = { rate = "3 Mbit/s" } },
]
flow = [
  { name = "a", from = "s0", to = "sink", transport = { udp = "1000 byte" }, source = "greedy" },
  { name = "b", from = "west", to = "east", transport = { tcp = "newreno" } },
  { name = "c", from = "s0", to = "s1", transport = { udp = "700 byte" }, source = "greedy" },
  { name = "d", from = "h0", to = "h2", transport = { tcp = "cubic" } },
  { name = "e", from = "server", to = "home", transport = { tcp = "bbr" } },
  { name = "f", from = "s1", to = "sink", transport = { udp = "1000 byte" }, source = { poisson = "2 Mbit/s" } },
  { name = "g", from = "s2", to = "sink", transport = { tcp = "newreno" }, source = { rate = "300 kbit/s" } },
  { name = "h", from = "phone", to = "ap", transport = { tcp = "cubic" } },
  { name = "i", from = "idle", to = "sink", transport = { udp = "100 byte" }, source = { rate = "10 kbit/s" } },
]
at = [
  { time = "700 ms", link = "dsl", state = "down" }, { time = "1200 ms", link = "dsl", state = "up" },
  { time = "900 ms", radio = "s1/ch1", state = "down" },
]

[run]
duration = "2 s"
warm_up  = "300 ms"

[radio]
standard = "802.11b"
error    = { ber = 1e-5 }

[record]
interval = "100 ms"
"#;

/// Six chains under AODV, out of each other's range.
fn chains() -> String {
    let mut text = format!("{HEAD}routing = \"aodv\"\n[run]\nduration = \"3 s\"\n[radio]\nstandard = \"802.11b\"\n");
    for chain in 0..6 {
        for hop in 0..4 {
            text += &format!("[[node]]\nname = \"n{chain}{hop}\"\nradios = [1]\n");
            text += &format!("position = [\"{} m\", \"{} m\"]\n", 200 * hop, 5_000 * chain);
        }
        text += &format!("[[flow]]\nname = \"f{chain}\"\nfrom = \"n{chain}0\"\nto = \"n{chain}3\"\n");
        text += "transport = { tcp = \"newreno\" }\n";
    }
    text
}

fn side_by_side(tasks: Vec<Task<'_>>, own: &mut dyn FnMut()) {
    std::thread::scope(|scope| {
        tasks.into_iter().for_each(|task| {
            scope.spawn(task);
        });
        own();
    });
}

/// The facts of a run on this many threads, and how many tasks it lent out.
fn facts(spec: &Spec, seed: u64, count: usize) -> (String, usize) {
    let lent = std::cell::Cell::new(0);
    let carry_out = |tasks: Vec<Task<'_>>, own: &mut dyn FnMut()| {
        lent.set(tasks.len());
        side_by_side(tasks, own);
    };
    let threads = Some(Threads { count, carry_out: &carry_out });
    let output = run(spec, seed, RunOptions { limits: true, threads, ..RunOptions::default() }).unwrap();
    (serde_json::to_string_pretty(&output.result).unwrap(), lent.get())
}

fn is_the_same(spec: &Spec, most: usize) {
    for seed in 1..4 {
        let (alone, lent) = facts(spec, seed, 1);
        assert_eq!(lent, 0);
        for count in [2, 3, 16] {
            let (together, lent) = facts(spec, seed, count);
            assert_eq!(lent + 1, count.min(most));
            assert!(alone == together, "seed {seed}, {count} threads");
        }
    }
}

#[test]
fn unlike_parts_give_the_same_on_several_threads() {
    is_the_same(&spec(&format!("{HEAD}{MIXTURE}")), 5);
}

#[test]
fn chains_with_routing_on_demand_give_the_same_on_several_threads() {
    is_the_same(&spec(&chains()), 6);
}

#[test]
fn what_may_come_to_meet_is_one_part() {
    let parts = |set: &[&str]| {
        let mut scenario = Scenario::parse("test", &format!("{HEAD}{MIXTURE}")).unwrap();
        set.iter().for_each(|value| scenario.set("--set", value).unwrap());
        let plan = scenario.plan().unwrap();
        plan.parts().iter().map(Vec::len).collect::<Vec<usize>>()
    };
    // The idle node sends to the cell: no way leads there, but they belong together.
    assert_eq!(parts(&[]), [5, 2, 3, 2, 2]);
    assert_eq!(parts(&["flow.i.to=\"h1\""]), [4, 2, 4, 2, 2]);
    assert_eq!(parts(&["radio.shadowing={deviation=[[\"5 m\",\"2 dB\"]],time=\"0.5 s\"}"]), [14]);
}

#[test]
fn one_that_is_stopped_stops_all() {
    let spec = spec(&format!("{HEAD}{MIXTURE}").replace("2 s", "2000 s"));
    let mut reports = 0;
    let mut stop = |_| {
        reports += 1;
        reports < 3
    };
    let threads = Some(Threads { count: 3, carry_out: &side_by_side });
    let options = RunOptions { threads, on_progress: Some(&mut stop), ..RunOptions::default() };
    assert!(matches!(run(&spec, 1, options), Err(RunError::Interrupted(_))));
}

#[test]
fn the_command_says_which_parts_there_are() {
    let dir = std::env::temp_dir().join(format!("airbraid-parts-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("chains.toml");
    std::fs::write(&file, chains()).unwrap();
    let output = airbraid(&["explain", file.to_str().unwrap()]);
    std::fs::remove_dir_all(&dir).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("6 parts that have nothing to do with each other, for as many cores:\n  n00, n01, n02, n03\n")
    );
}
