//! Runs a scenario once, with the account of what limits its flows or without it, for a counter of instructions.
//!
//! `valgrind --tool=callgrind account bench/two-nodes-tcp.toml on`

use airbraid_sim::{RunOptions, run};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(account)) = (arguments.next(), arguments.next()) else {
        panic!("usage: account SCENARIO on|off");
    };
    let spec = airbraid_tests::spec_of_file(&file, &[]);
    let options = RunOptions { limits: account == "on", ..RunOptions::default() };
    match run(&spec, 1, options) {
        Ok(output) => println!("{} events", output.result.events),
        Err(error) => panic!("{file}: {error}"),
    }
}
