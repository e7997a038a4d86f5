//! One TCP over a trunk of a few links: the scenario of the test `link_sets` and of the example `coding`.

use airbraid_sim::scenario::Scenario;
use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate_kbps: u64,
    pub delay_us: u64,
    /// Mean loss \[1/10 000\].
    pub loss: u64,
    /// Mean length of a burst of losses \[packets\].
    pub burst: u64,
}

/// Time from the start of the trunk to that of TCP \[s\]: users have a tunnel that is up, and the lab waits too.
const HEAD_START: u32 = 3;

/// The scenario of one TCP for `seconds` over a trunk of `links`, with queues of 100 ms of full packets, at least 20.
pub fn scenario(links: &[Link], seconds: u32) -> Scenario {
    let mut text = format!(
        "schema = 1\ntitle = \"a set of links\"\nquestion = \"what does one TCP get?\"\n[run]\nduration = \"{} s\"\n\
         [[node]]\nname = \"server\"\n[[node]]\nname = \"client\"\n\
         [[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"server\", \"client\"]\n\
         [[flow]]\nname = \"download\"\nfrom = \"server\"\nto = \"client\"\n\
         transport = {{ tcp = \"cubic\", profile = \"linux\", mss = \"1383 byte\" }}\n\
         start = \"{HEAD_START} s\"\n",
        HEAD_START + seconds
    );
    for (index, link) in links.iter().enumerate() {
        let Link { rate_kbps, delay_us, loss, burst } = link;
        let queue = (rate_kbps * 100 / 12_000).max(20);
        let _ = writeln!(text, "[[link]]\nname = \"l{index}\"\nbetween = [\"server\", \"client\"]");
        let _ = writeln!(text, "rate = \"{rate_kbps} kbit/s\"\ndelay = \"{delay_us} us\"\nqueue = {queue}");
        if *loss > 0 {
            let _ = writeln!(text, "loss = {{ mean_loss = {}, mean_burst = {burst}.0 }}", *loss as f64 / 1e4);
        }
    }
    Scenario::parse("set", &text).expect("the set is a scenario")
}
