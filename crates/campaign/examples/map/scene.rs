//! The scenario of a run: members between a server and a client, as a bond or as one plain link, and its transfers.
//!
//! A packet of a full segment has 1383 byte of payload, 52 of TCP and IP with time stamps, and in a bond 65 more: 1500
//! on the link. The plain link carries the packet alone: its rate is what the members' losses leave, times 1435/1500.

use crate::member::Member;
use airbraid_sim::scenario::Scenario;
use airbraid_sim::scenario::spec::Spec;
use std::fmt::Write;

/// Usual time from the start of the bond to that of the transfers \[ms\]: users have a bond that is up.
const HEAD_START_MS: u64 = 3_000;
/// Payload of a full segment \[byte\]: the inner MTU of 1435 byte less 52 byte of headers.
pub const SEGMENT: u64 = 1_383;
/// A full packet \[byte\].
pub const PACKET: u64 = 1_435;
/// The same as a frame of the bond on a link \[byte\].
pub const FRAME: u64 = 1_500;
/// Flows begin at any time within this, by the seed \[ms\]: without losses nothing else differs between seeds.
const JITTER_MS: u64 = 200;
/// Linux' largest receive window, half of `tcp_rmem`'s 6 MiB \[byte\].
const RECEIVE_BUFFER: u64 = 3 << 20;
/// Linux' largest send buffer, of `tcp_wmem` \[byte\].
const SEND_BUFFER: u64 = 4 << 20;
/// The largest window that a connection can offer (RFC 7323, 2.3) \[byte\].
const WINDOW_MAX: u64 = 65_535 << 14;

/// The congestion control of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Control {
    Cubic,
    Bbr,
}

impl Control {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// The path between the two hosts.
#[derive(Clone, Debug)]
pub enum Path {
    /// A bond of these members, one or several.
    Bond(Vec<Member>),
    /// One link without a bond. Its rate is its packets', not its frames'.
    Plain(Member),
}

/// Transfers of one kind, from the server to the client but for uploads.
#[derive(Clone, Debug)]
pub enum Transfer {
    /// TCPs that always have something to send.
    Bulk { control: Control, count: u64, is_upload: bool },
    /// A TCP of this many bytes, from a time after the head start \[ms\] on.
    File { control: Control, bytes: u64, start_ms: u64 },
    /// Datagrams of 100 byte payload each 20 ms, best effort: their delay is a ping's way there.
    Ping,
    /// Datagrams of full packets at this rate.
    Constant { kbps: u64 },
}

impl Transfer {
    /// One TCP that always has something to send.
    pub const fn download(control: Control) -> Self {
        Self::Bulk { control, count: 1, is_upload: false }
    }

    const fn is_upload(&self) -> bool {
        matches!(self, Self::Bulk { is_upload: true, .. })
    }
}

/// One run but for its seed.
#[derive(Clone, Debug)]
pub struct Scene {
    pub path: Path,
    pub transfers: Vec<Transfer>,
    /// Time from the head start to the end.
    pub seconds: u64,
    /// Seconds of these that do not count.
    pub uncounted: u64,
    /// Queue of each link, in time at its mean rate.
    pub queue_ms: u64,
    /// Time from the start of the bond to that of the transfers.
    pub head_start_ms: u64,
    /// Interval at which members are sampled, if they are.
    pub sample_ms: Option<u64>,
}

impl Path {
    pub fn members(&self) -> &[Member] {
        match self {
            Self::Bond(members) => members,
            Self::Plain(link) => std::slice::from_ref(link),
        }
    }
}

impl Scene {
    /// These transfers over links with queues of 100 ms, the bond up before them.
    pub fn new(path: Path, transfers: Vec<Transfer>, seconds: u64, uncounted: u64) -> Self {
        let (queue_ms, head_start_ms, sample_ms) = (100, HEAD_START_MS, None);
        Self { path, transfers, seconds, uncounted, queue_ms, head_start_ms, sample_ms }
    }

    /// Time of the run that counts \[ms\].
    pub const fn counted_ms(&self) -> (u64, u64) {
        (self.head_start_ms + self.uncounted * 1_000, self.end_ms())
    }

    const fn end_ms(&self) -> u64 {
        self.head_start_ms + self.seconds * 1_000
    }

    /// The number of directions that have transfers.
    pub fn ways(&self) -> f64 {
        if self.transfers.iter().any(Transfer::is_upload) { 2.0 } else { 1.0 }
    }

    /// The name of a transfer in the metrics: its kind, and its place among all. Each of several has its number, too.
    pub fn name(&self, transfer: usize) -> String {
        let kind = match &self.transfers[transfer] {
            Transfer::Bulk { .. } => "bulk",
            Transfer::File { .. } => "file",
            Transfer::Ping => "ping",
            Transfer::Constant { .. } => "constant",
        };
        format!("{kind}{transfer}")
    }

    /// Packets that the links can carry in the run: what a run costs is in proportion to them.
    pub fn packets(&self) -> f64 {
        let kbps: f64 = self.path.members().iter().map(|member| member.carried_kbps(0, self.end_ms())).sum();
        self.ways() * kbps * self.end_ms() as f64 / 8.0 / FRAME as f64
    }

    /// Windows of TCP, receiving and sending \[byte\]: Linux' defaults, or twice what the path holds with its queues.
    fn buffers(&self) -> [u64; 2] {
        let members = self.path.members();
        let kbps: u64 = members.iter().map(|member| member.rate_kbps).sum();
        let delay_us = members.iter().map(|member| member.delay_us).max().unwrap_or_default();
        // kbit/s times us are thousandths of a bit.
        let holds = kbps.saturating_mul(2 * delay_us + 200_000) / 8_000;
        [RECEIVE_BUFFER, SEND_BUFFER].map(|least| least.max(2 * holds).min(WINDOW_MAX))
    }

    /// The scenario file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "schema = 1\ntitle = \"map\"\nquestion = \"what does it carry?\"\n\
             run = {{ duration = \"{} ms\", warm_up = \"{} ms\" }}\n\
             node = [{{ name = \"server\" }}, {{ name = \"client\" }}]\n",
            self.end_ms(),
            self.counted_ms().0,
        );
        if let Some(sample_ms) = self.sample_ms {
            let _ = writeln!(text, "record = {{ interval = \"{sample_ms} ms\", members = true }}");
        }
        let frame = match &self.path {
            Path::Bond(_) => {
                text += "[[trunk]]\nname = \"bond\"\nover = \"links\"\nbetween = [\"server\", \"client\"]\n";
                FRAME
            }
            Path::Plain(_) => PACKET,
        };
        (0..self.transfers.len()).for_each(|index| self.write_transfer(&mut text, index));
        for (index, member) in self.path.members().iter().enumerate() {
            self.write_link(&mut text, index, member, frame);
        }
        text
    }

    fn write_transfer(&self, text: &mut String, index: usize) {
        let [receive, send] = self.buffers();
        let tcp = |control: Control| {
            format!(
                "{{ tcp = \"{}\", profile = \"linux\", mss = \"{SEGMENT} byte\", receive_buffer = \"{receive} byte\", \
                 send_buffer = \"{send} byte\" }}",
                control.name()
            )
        };
        let transfer = &self.transfers[index];
        let (transport, source, start_ms) = match transfer {
            Transfer::Bulk { control, .. } => (tcp(*control), "\"greedy\"".to_owned(), 0),
            Transfer::File { control, bytes, start_ms } => {
                (tcp(*control), format!("{{ file = \"{bytes} byte\" }}"), *start_ms)
            }
            Transfer::Ping => ("{ udp = \"100 byte\" }".to_owned(), "{ rate = \"40 kbit/s\" }".to_owned(), 0),
            Transfer::Constant { kbps } => {
                (format!("{{ udp = \"{} byte\" }}", PACKET - 28), format!("{{ rate = \"{kbps} kbit/s\" }}"), 0)
            }
        };
        let [from, to] = if transfer.is_upload() { ["client", "server"] } else { ["server", "client"] };
        let _ = write!(
            text,
            "[[flow]]\nname = \"{}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {transport}\nsource = {source}\n\
             start = \"{} ms\"\nstart_jitter = \"{JITTER_MS} ms\"\n",
            self.name(index),
            self.head_start_ms + start_ms,
        );
        if let Transfer::Bulk { count: count @ 2.., .. } = transfer {
            let _ = writeln!(text, "count = {count}");
        }
    }

    fn write_link(&self, text: &mut String, index: usize, member: &Member, frame: u64) {
        let queue = (member.rate_kbps * self.queue_ms / (frame * 8)).max(20);
        let delay_us = member.delay_us;
        let _ = write!(
            text,
            "[[link]]\nname = \"l{index}\"\nbetween = [\"server\", \"client\"]\ndelay = \"{delay_us} us\"\nqueue = {queue}\n"
        );
        if let Some(jitter) = member.jitter {
            let _ = writeln!(text, "jitter = \"{} us\"\nreorder = {}", jitter.most_us, jitter.reorders);
        }
        if let Some(losses) = member.losses {
            let _ = writeln!(text, "loss = {{ mean_loss = {}, mean_burst = {:.3} }}", losses.mean, losses.burst);
        }
        let course = member.course(self.end_ms());
        // A link that is down at first has the rate that it will have.
        let first = course.iter().map(|(_, kbps)| *kbps).find(|kbps| *kbps > 0).unwrap_or(1);
        let _ = writeln!(text, "rate = \"{first} kbit/s\"");
        let mut before = (first, true);
        for (ms, kbps) in course {
            let now = (if kbps > 0 { kbps } else { before.0 }, kbps > 0);
            if now == before {
                continue;
            }
            let _ = writeln!(text, "[[at]]\ntime = \"{ms} ms\"\nlink = \"l{index}\"");
            if now.0 != before.0 {
                let _ = writeln!(text, "rate = \"{} kbit/s\"", now.0);
            }
            if now.1 != before.1 {
                let _ = writeln!(text, "state = \"{}\"", if now.1 { "up" } else { "down" });
            }
            before = now;
        }
    }

    /// The scenario, ready to run.
    ///
    /// # Errors
    /// The scenario is none: a fault of this tool.
    pub fn spec(&self) -> Result<Spec, String> {
        let plan = Scenario::parse("map", &self.text()).and_then(|scenario| scenario.plan());
        let mut plan = plan.map_err(|error| format!("{error}\n{}", self.text()))?;
        Ok(plan.cells.remove(0).spec)
    }
}
