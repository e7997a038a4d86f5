//! Random scenarios of which any cause may limit the flow, and what removing each cause gives.
//!
//! A scene is drawn; each removal changes one thing in it: a window doubled, a rate doubled, losses gone, the others
//! gone. The cause that `airbraid run` names first is right if its removal raises the goodput most.

use airbraid_sim::limits::{Cause, Limit};
use airbraid_sim::result::FlowResult;
use airbraid_sim::{RunOptions, run};
use std::fmt::Write as _;

/// A plain link of a scene.
#[derive(Clone, Debug)]
pub struct Link {
    pub name: &'static str,
    pub between: [&'static str; 2],
    pub mbps: f64,
    pub delay_ms: f64,
    pub queue: u32,
    pub loss: f64,
    /// Uniform extra delay that reorders \[ms\].
    pub jitter_ms: f64,
}

/// The radios of a scene: nodes in a row.
#[derive(Clone, Debug)]
pub struct Air {
    pub standard: &'static str,
    /// Places in the standard's rates.
    pub rate: usize,
    pub nodes: usize,
    pub ber: f64,
    pub queue: u32,
    /// Channels of each node, which make a trunk where there are several.
    pub channels: usize,
}

/// A scene: radios `n0`, `n1`, ... and links behind them; the flow goes from the first node to the last.
#[derive(Clone, Debug)]
pub struct Scene {
    pub family: &'static str,
    pub air: Option<Air>,
    pub links: Vec<Link>,
    /// The links are members of one trunk.
    pub is_trunk: bool,
    /// Number of other flows, and whether they are UDP without end.
    pub others: usize,
    pub others_greedy: bool,
    pub tcp: Option<&'static str>,
    pub buffer: u64,
    /// Rate of the source \[Mbit/s\]; none: without end.
    pub source: Option<f64>,
    pub initial_window: Option<u32>,
    pub seconds: u32,
}

/// A change that removes one cause.
#[derive(Clone, Debug, PartialEq)]
pub enum Removal {
    Window,
    Source,
    Rate(&'static str),
    RadioRate,
    Losses(&'static str),
    RadioLosses,
    Queue(&'static str),
    RadioQueue,
    Others,
    Reordering,
    InitialWindow,
}

const RATES_B: [&str; 4] = ["1", "2", "5.5", "11"];
const RATES_A: [&str; 4] = ["6", "12", "24", "48"];

impl Air {
    fn rates(&self) -> [&'static str; 4] {
        if self.standard == "802.11b" { RATES_B } else { RATES_A }
    }
}

impl Scene {
    /// The names of the nodes on the flow's way.
    fn ends(&self) -> [String; 2] {
        let first = if self.air.is_some() { "n0" } else { self.links[0].between[0] };
        let last = match (&self.air, self.links.last()) {
            (_, Some(link)) => link.between[1].to_owned(),
            (Some(air), None) => format!("n{}", air.nodes - 1),
            (None, None) => String::new(),
        };
        [first.to_owned(), last]
    }

    /// The scenario as text.
    pub fn text(&self) -> String {
        let mut out = format!(
            "schema = 1\ntitle = \"{}\"\nquestion = \"What limits the flow?\"\n[run]\nduration = \"{} s\"\n",
            self.family, self.seconds
        );
        let mut nodes: Vec<String> = Vec::new();
        if let Some(air) = &self.air {
            let error = if air.ber > 0.0 { format!("error = {{ ber = {} }}\n", air.ber) } else { String::new() };
            let _ = write!(
                out,
                "[radio]\nstandard = \"{}\"\nrate = \"{} Mbit/s\"\nqueue = {}\n{error}",
                air.standard,
                air.rates()[air.rate],
                air.queue
            );
            for node in 0..air.nodes {
                let x = node * 200;
                let _ = write!(
                    out,
                    "[[node]]\nname = \"n{node}\"\nposition = [\"{x} m\", \"0 m\"]\nradios = {:?}\n",
                    &[1, 5, 9][..air.channels]
                );
                nodes.push(format!("n{node}"));
            }
            for other in 0..self.others {
                let _ = write!(
                    out,
                    "[[node]]\nname = \"o{other}\"\nposition = [\"{} m\", \"{} m\"]\nradios = [1]\n",
                    10 * other,
                    20 + 10 * other
                );
            }
        }
        for link in &self.links {
            for node in link.between {
                if !nodes.iter().any(|known| known == node) {
                    nodes.push(node.to_owned());
                    let _ = write!(out, "[[node]]\nname = \"{node}\"\nposition = [\"0 m\", \"0 m\"]\nradios = []\n");
                }
            }
            let jitter = if link.jitter_ms > 0.0 {
                format!("jitter = \"{} ms\"\nreorder = true\n", link.jitter_ms)
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "[[link]]\nname = \"{}\"\nbetween = [\"{}\", \"{}\"]\nrate = \"{} Mbit/s\"\n\
                 delay = \"{} ms\"\nqueue = {}\n{jitter}",
                link.name, link.between[0], link.between[1], link.mbps, link.delay_ms, link.queue
            );
            if link.loss > 0.0 {
                let _ = writeln!(out, "forward = {{ loss = \"{} %\" }}", link.loss * 100.0);
            }
        }
        if self.air.as_ref().is_some_and(|air| air.channels > 1) {
            out.push_str("[[trunk]]\nname = \"t\"\nbetween = [\"n0\", \"n1\"]\n");
        }
        if self.is_trunk {
            let [from, to] = self.links[0].between;
            let members: Vec<String> = self.links.iter().map(|link| format!("\"{}\"", link.name)).collect();
            let _ = write!(
                out,
                "[[trunk]]\nname = \"t\"\nover = \"links\"\nbetween = [\"{from}\", \"{to}\"]\nmembers = [{}]\n\
                 policy = {{ distributor = \"earliest_delivery\" }}\n",
                members.join(", ")
            );
        }
        let [from, to] = self.ends();
        let window = self.initial_window.map_or_else(String::new, |window| format!(", initial_window = {window}"));
        let transport = match self.tcp {
            Some(tcp) => {
                format!("{{ {tcp}, receive_buffer = \"{} byte\", send_buffer = \"16 MiB\"{window} }}", self.buffer)
            }
            None => "{ udp = \"1200 byte\" }".to_owned(),
        };
        let source = self.source.map_or("\"greedy\"".to_owned(), |rate| format!("{{ rate = \"{rate} Mbit/s\" }}"));
        let _ = write!(
            out,
            "[[flow]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {transport}\nsource = {source}\n"
        );
        for other in 0..self.others {
            let (from, to) =
                if self.air.is_some() { (format!("o{other}"), "n1".to_owned()) } else { (from.clone(), to.clone()) };
            let transport =
                if self.others_greedy { "\"udp\"" } else { "{ tcp = \"newreno\", receive_buffer = \"1 MiB\" }" };
            let _ = write!(
                out,
                "[[flow]]\nname = \"o{other}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 transport = {transport}\nsource = \"greedy\"\n"
            );
        }
        out
    }

    /// Everything that can be removed from it.
    pub fn removals(&self) -> Vec<Removal> {
        let mut all = Vec::new();
        if self.tcp.is_some() {
            all.extend([Removal::Window, Removal::InitialWindow]);
        }
        all.extend(self.source.map(|_| Removal::Source));
        all.extend((self.others > 0).then_some(Removal::Others));
        if let Some(air) = &self.air {
            all.extend((air.rate + 1 < air.rates().len()).then_some(Removal::RadioRate));
            all.extend((air.ber > 0.0).then_some(Removal::RadioLosses));
            all.push(Removal::RadioQueue);
        }
        if self.is_trunk {
            all.push(Removal::Rate("t"));
        }
        for link in &self.links {
            if !self.is_trunk {
                all.push(Removal::Rate(link.name));
                all.push(Removal::Queue(link.name));
            }
            all.extend((link.loss > 0.0).then_some(Removal::Losses(link.name)));
            all.extend((link.jitter_ms > 0.0).then_some(Removal::Reordering));
        }
        all
    }

    /// The scene without one cause.
    pub fn without(&self, removal: &Removal) -> Self {
        let mut scene = self.clone();
        let air = |scene: &mut Self, change: fn(&mut Air)| scene.air.iter_mut().for_each(change);
        match removal {
            Removal::Window => scene.buffer *= 2,
            Removal::InitialWindow => scene.initial_window = Some(64),
            Removal::Source => scene.source = scene.source.map(|rate| rate * 2.0),
            Removal::Others => scene.others = 0,
            Removal::RadioRate => air(&mut scene, |air| air.rate += 1),
            Removal::RadioLosses => air(&mut scene, |air| air.ber = 0.0),
            Removal::RadioQueue => air(&mut scene, |air| air.queue *= 4),
            Removal::Reordering => scene.links.iter_mut().for_each(|link| link.jitter_ms = 0.0),
            Removal::Rate(name) => {
                let own = |link: &&mut Link| *name == "t" || link.name == *name;
                scene.links.iter_mut().filter(own).for_each(|link| link.mbps *= 2.0);
            }
            Removal::Losses(name) => {
                scene.links.iter_mut().filter(|link| link.name == *name).for_each(|link| link.loss = 0.0);
            }
            Removal::Queue(name) => {
                scene.links.iter_mut().filter(|link| link.name == *name).for_each(|link| link.queue *= 4);
            }
        }
        scene
    }

    /// The change that removes what was named.
    pub fn removal_of(&self, limit: &Limit) -> Option<Removal> {
        let cause = Cause::ALL.into_iter().find(|cause| cause.name() == limit.cause)?;
        let link = self.links.iter().find(|link| limit.place.starts_with(&format!("link {},", link.name)));
        let link = link.map(|link| link.name);
        Some(match cause {
            Cause::ReceiveWindow => Removal::Window,
            Cause::SlowStart => Removal::InitialWindow,
            Cause::Application => Removal::Source,
            Cause::OtherFlows => Removal::Others,
            Cause::Rate if self.is_trunk => Removal::Rate("t"),
            Cause::Rate => Removal::Rate(link?),
            Cause::Airtime => Removal::RadioRate,
            Cause::Retries => Removal::RadioLosses,
            Cause::Losses => link.map_or(Removal::RadioLosses, Removal::Losses),
            Cause::Queue => link.map_or(Removal::RadioQueue, Removal::Queue),
            Cause::Reordering => Removal::Reordering,
            _ => return None,
        })
    }

    /// Runs it: the flow's result.
    ///
    /// # Panics
    /// If the text is no scenario or the run fails.
    pub fn flow(&self, seed: u64) -> FlowResult {
        let spec = crate::spec(&self.text());
        let options = RunOptions { limits: true, ..RunOptions::default() };
        match run(&spec, seed, options) {
            Ok(mut output) => output.result.flows.swap_remove(0),
            Err(error) => panic!("{error}\n{}", self.text()),
        }
    }
}

/// Random numbers for scenes: SplitMix64 (Steele et al. 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below 1.
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Between two numbers, even on a logarithmic scale.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let exponent = libm::log2(low) + self.unit() * libm::log2(high / low);
        (libm::exp2(exponent) * 1000.0).round() / 1000.0
    }
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.draw() % of.len() as u64) as usize]
    }
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

fn link(random: &mut Random, name: &'static str, between: [&'static str; 2]) -> Link {
    Link {
        name,
        between,
        mbps: random.between(1.0, 50.0),
        delay_ms: random.between(1.0, 100.0),
        queue: random.between(5.0, 300.0) as u32,
        loss: if random.chance(0.35) { (random.between(0.0005, 0.04) * 1e5).round() / 1e5 } else { 0.0 },
        jitter_ms: 0.0,
    }
}

fn air(random: &mut Random, nodes: usize) -> Air {
    Air {
        standard: random.one(&["802.11b", "802.11a"]),
        rate: random.one(&[0, 1, 2]),
        nodes,
        ber: if random.chance(0.35) { (random.between(1e-6 * 1e6, 4e-5 * 1e6)) * 1e-6 } else { 0.0 },
        queue: random.between(10.0, 100.0) as u32,
        channels: 1,
    }
}

/// Draws a scene.
pub fn draw(random: &mut Random) -> Scene {
    let tcp = random.one(&[
        "tcp = \"newreno\"",
        "tcp = \"sack\"",
        "tcp = \"cubic\", profile = \"linux\"",
        "tcp = \"reno\", profile = \"linux\"",
    ]);
    let mut scene = Scene {
        family: "",
        air: None,
        links: Vec::new(),
        is_trunk: false,
        others: 0,
        others_greedy: false,
        tcp: Some(tcp),
        buffer: random.between(8192.0, 1_048_576.0) as u64,
        source: random.chance(0.15).then(|| random.between(0.2, 10.0)),
        initial_window: None,
        seconds: 30,
    };
    match random.draw() % 12 {
        0 | 1 => {
            scene.family = "link";
            scene.links = vec![link(random, "wan", ["a", "b"])];
        }
        2 => {
            scene.family = "two links";
            scene.links = vec![link(random, "first", ["a", "b"]), link(random, "second", ["b", "c"])];
        }
        3 => {
            scene.family = "shared link";
            scene.links = vec![link(random, "wan", ["a", "b"])];
            scene.others = random.one(&[1, 2, 3]);
        }
        4 => {
            scene.family = "radio";
            scene.air = Some(air(random, 2));
            scene.others = random.one(&[0, 0, 1, 2, 4]);
            scene.others_greedy = random.chance(0.5);
        }
        5 => {
            scene.family = "radio and link";
            scene.air = Some(air(random, 2));
            scene.links = vec![link(random, "wan", ["n1", "server"])];
            scene.others = random.one(&[0, 0, 1, 2]);
            scene.others_greedy = random.chance(0.5);
        }
        6 => {
            scene.family = "chain";
            let nodes = random.one(&[3, 4, 5]);
            scene.air = Some(air(random, nodes));
        }
        7 => {
            scene.family = "datagrams";
            scene.tcp = None;
            scene.source = Some(random.between(0.2, 20.0));
            if random.chance(0.5) {
                scene.air = Some(air(random, 2));
                scene.others = random.one(&[0, 1, 2]);
            } else {
                scene.links = vec![link(random, "wan", ["a", "b"])];
                scene.others = random.one(&[0, 1]);
            }
        }
        8 => {
            scene.family = "trunk of radios";
            let channels = random.one(&[2, 3]);
            scene.air = Some(Air { channels, ..air(random, 2) });
        }
        9 => {
            scene.family = "long link";
            let delay_ms = random.between(50.0, 300.0);
            scene.links = vec![Link { delay_ms, ..link(random, "wan", ["a", "b"]) }];
            scene.buffer = random.between(16_384.0, 262_144.0) as u64;
        }
        10 => {
            scene.family = "reordering link";
            let jitter_ms = random.between(1.0, 30.0);
            scene.links = vec![Link { jitter_ms, ..link(random, "wan", ["a", "b"]) }];
        }
        _ => {
            scene.family = "trunk of links";
            scene.links = vec![link(random, "fibre", ["a", "b"]), link(random, "lte", ["a", "b"])];
            scene.is_trunk = true;
        }
    }
    scene
}
