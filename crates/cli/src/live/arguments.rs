//! Words of the commands that need Linux: the lab and the daemon.

use crate::completions::daemons;
#[cfg(feature = "simulator")]
use crate::completions::{files, scenarios};
use airbraid_live::daemon::site::Prefix;
use clap::{Args, Subcommand};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use std::path::PathBuf;

/// A command of the lab or the daemon.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario in real time, with network namespaces as hosts and real programs in them (Linux, root)
    #[cfg(feature = "simulator")]
    #[command(after_help = LAB_EXAMPLES)]
    Lab(Lab),
    /// Make one encrypted interface out of several uplinks, as a file says (Linux, root)
    #[command(after_help = UP_EXAMPLES)]
    Up(Up),
    /// End a daemon, and put right what a killed one has left
    Down(Named),
    /// Show what a daemon does now, link by link
    #[command(after_help = STATUS_EXAMPLES)]
    Status(Status),
    /// Watch a daemon's links and events in a terminal: rate, delay, loss, share, queue, and why
    #[command(after_help = TOP_EXAMPLES)]
    Top(Named),
    /// Switch an uplink of a daemon on or off
    Link(Link),
    /// Let a daemon read its file again, as SIGHUP does
    Reload(Named),
    /// Translate a daemon's file into OpenWrt's configuration (UCI), or back
    #[command(after_help = UCI_EXAMPLES)]
    Uci(Uci),
    /// Make a tunnel between this machine and another: print a line here, paste it there (Linux, root)
    #[command(after_help = PAIR_EXAMPLES)]
    Pair(Pair),
    /// Undo a pairing: this end's own, or that with a peer
    Unpair(Unpair),
    /// Run the commands of a file for a daemon that may start no program any more
    #[command(hide = true)]
    Commands,
    /// Print a new private key
    Genkey,
    /// Print a new preshared key, a secret that both ends have
    Genpsk,
    /// Read a private key from standard input and print its public key
    Pubkey,
}

#[cfg(feature = "simulator")]
const LAB_EXAMPLES: &str = "\
Examples:
  airbraid lab scenarios/lab/trunk.toml
      the commands of its [[exec]] tables, what they wrote, and a table of what
      went through

  airbraid lab trunk.toml --exec sender='iperf3 -c receiver -t 20' \\
    --exec receiver='iperf3 -s -1'
      a command that names another node waits until the commands of that node
      listen; of the file only the nodes count

  airbraid lab scenarios/lab/wifi6.toml --shell laptop
      a shell on a host, with which the lab ends; in another terminal
      `ip netns exec airbraid-wifi6-ap iperf3 -s` serves on the access point

  airbraid lab scenarios/lab/mld.toml --set trunk.air.mode=emlsr
      two links of 802.11be by one radio

  airbraid lab trunk.toml --exec sender='ping -c 5 receiver' --out look \\
    --pcap --json
      captures of all radios for Wireshark, and everything as one JSON object

  airbraid lab --clean
      removes what a lab has left that was killed

Exit status: 0 fine, 1 a command failed, 2 the input is wrong.";

const UP_EXAMPLES: &str = "\
Examples:
  umask 077; airbraid genkey > /etc/airbraid/site.key
  airbraid pubkey < /etc/airbraid/site.key
      a private key, and the public one that the other end's file names

  airbraid up --check /etc/airbraid/site.toml
      what is wrong with a file, with line and column

  airbraid up site
      /etc/airbraid/site.toml: says which peers have answered; the log is
      /run/airbraid/site.log

  airbraid up /etc/airbraid/site.toml --foreground
      the same until Ctrl-C, the log on standard error; AIRBRAID_LOG=debug says
      more

The daemon is called as its file: site. docs/reference/daemon.md has all keys,
docs/guide/sites two machines.

Exit status: 0 fine, 1 the system refused, 2 the input is wrong.";

const PAIR_EXAMPLES: &str = "\
Examples:
  airbraid pair                        on the server: prints one line, and waits
  airbraid pair --join                 on the other machine: paste the line
      it asks which uplinks, all traffic or some networks, tests each uplink,
      and says what it measured

  airbraid pair --address hub.example --name hub
      with another address than this host's own, and another name

  airbraid pair --join --uplink eth0 --uplink wwan0 --lan eth1 < LINE
      asks nothing; hosts behind eth1 use the tunnel, too

  airbraid pair --join --network 10.0.0.0/8 --yes < LINE
      only this network, by every uplink that has a default route

  airbraid unpair office               undoes it, at either end

The line is a secret for ten minutes, and is never an argument: every user of
the machine can read what a command was called with.

Exit status: 0 paired, 1 nobody came or answered, 2 the input is wrong.";

const STATUS_EXAMPLES: &str = "\
Examples:
  airbraid status                      all daemons that run
  airbraid status site --watch         the report every second, until Ctrl-C
  airbraid status site --json |
    jq '.peers[].members[] | {uplink, rate_bps, rtt_s, loss}'";

const TOP_EXAMPLES: &str = "\
Keys: q ends it, s sorts by the next column, o the other way round, p pauses,
1 to 4 show the last minute, hour, day and month, up and down scroll.

Examples:
  airbraid top                         the only daemon that runs
  airbraid top site | cat              one frame as text";

/// Arguments of `lab`.
#[cfg(feature = "simulator")]
#[derive(Args, Debug)]
pub struct Lab {
    /// The scenario, a TOML file with nodes that say host = "namespace"
    #[arg(required_unless_present = "clean", add = ArgValueCompleter::new(files()))]
    pub file: Option<PathBuf>,
    /// Runs a command in a node's namespace, instead of those of the file; may be repeated. With a port, commands that
    /// name this node wait for up to 10 s until something listens there, instead of 3 s for any port
    #[arg(long, value_name = "NODE[:PORT]=COMMAND")]
    pub exec: Vec<String>,
    /// Runs a shell in a node's namespace
    #[arg(long, value_name = "NODE", add = ArgValueCompleter::new(scenarios::nodes))]
    pub shell: Option<String>,
    /// Sets a key of the scenario; may be repeated, the last one counts
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(scenarios::settings))]
    pub set: Vec<String>,
    /// Seed of losses, errors and backoffs
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Ends the lab after this time, with its unit [default: the duration of the scenario]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Name of the lab: its namespaces are airbraid-NAME-NODE [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The result is not trusted when more than one event of a thousand is later than this
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub max_lateness: String,
    /// Writes summary.json, and captures if asked for, into this directory, which is made or replaced
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Captures frames and packets of radios, links, trunks and hosts as pcapng
    #[arg(long, requires = "out")]
    pub pcap: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Removes the remains of labs that were killed
    #[arg(long, exclusive = true)]
    pub clean: bool,
}

const UCI_EXAMPLES: &str = "\
A table is a section `config uplink`, a key an option; keys of a table within a
table have `__` between. Nothing is lost either way.

Examples:
  airbraid uci /etc/airbraid/office.toml > /etc/config/airbraid
  airbraid uci /etc/config/airbraid > /tmp/office.toml
      what is not called *.toml is UCI

Exit status: 0 fine, 2 the input is wrong.";

/// Arguments of `uci`.
#[derive(Args, Debug)]
pub struct Uci {
    /// A daemon's file (*.toml), or UCI
    pub file: PathBuf,
}

/// Arguments of `up`.
#[derive(Args, Debug)]
pub struct Up {
    /// The daemon's file, a TOML file, or the name of one in /etc/airbraid
    #[arg(add = ArgValueCompleter::new(daemons::sites))]
    pub file: PathBuf,
    /// Says what is wrong with the file, and does nothing else
    #[arg(long)]
    pub check: bool,
    /// Waits up to this many seconds for an answer of each peer that has an endpoint, and reports the result; the
    /// daemon works either way
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds, conflicts_with_all = ["check", "foreground"])]
    pub wait: f64,
    /// Returns as soon as the interface is there
    #[arg(long, conflicts_with_all = ["check", "foreground", "wait"])]
    pub no_wait: bool,
    /// Works until Ctrl-C or SIGTERM, instead of in the background; the log says what `--wait` does
    #[arg(long, conflicts_with = "check")]
    pub foreground: bool,
    /// Leaves the terminal: what `up` does in the background
    #[arg(long, hide = true, requires = "foreground")]
    pub detached: bool,
}

/// A time that a person would wait.
fn seconds(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|seconds| (0.0..=3_600.0).contains(seconds));
    read.ok_or_else(|| "write a number of seconds from 0 to 3600".to_owned())
}

/// A daemon by its name.
#[derive(Args, Debug)]
pub struct Named {
    /// The daemon, called as its file is [default: the only one]
    #[arg(add = ArgValueCandidates::new(daemons::names))]
    pub name: Option<String>,
}

/// Arguments of `status`.
#[derive(Args, Debug)]
pub struct Status {
    /// The daemon, called as its file is [default: all]
    #[arg(add = ArgValueCandidates::new(daemons::names))]
    pub name: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Prints it again every second, with the rates of that second
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
}

/// Arguments of `link`.
#[derive(Args, Debug)]
pub struct Link {
    /// The uplink, by its name in the file
    #[arg(add = ArgValueCandidates::new(daemons::uplinks))]
    pub uplink: String,
    /// The new state
    #[arg(value_parser = ["on", "off"])]
    pub state: String,
    /// The daemon, called as its file is [default: the only one]
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(daemons::names))]
    pub daemon: Option<String>,
}

/// Arguments of `pair`.
#[derive(Args, Debug)]
pub struct Pair {
    /// This is the other machine: reads the line from standard input
    #[arg(long)]
    pub join: bool,
    /// Name of this end: of its file, and of the peer at the other end [default: hub; with --join this host's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Folder of the files
    #[arg(long, value_name = "DIR", default_value = "/etc/airbraid")]
    pub folder: PathBuf,
    /// Name or address at which the other machine reaches this one [default: that of the default route]
    #[arg(long, value_name = "HOST", conflicts_with = "join")]
    pub address: Option<String>,
    /// UDP port of a daemon that is made
    #[arg(long, value_name = "PORT", default_value_t = 5182, conflicts_with = "join", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Time for which the line is good, in seconds
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 600, conflicts_with = "join", value_parser = clap::value_parser!(u16).range(1..=600))]
    pub valid: u16,
    /// A device to use as an uplink; may be repeated [default: asks, or those with a default route]
    #[arg(long, value_name = "DEVICE", requires = "join")]
    pub uplink: Vec<String>,
    /// Only this network goes through the tunnel; may be repeated [default: asks, or everything]
    #[arg(long, value_name = "PREFIX", requires = "join", value_parser = Prefix::parse)]
    pub network: Vec<Prefix>,
    /// This network does not go through the tunnel; may be repeated
    #[arg(long, value_name = "PREFIX", requires = "join", value_parser = Prefix::parse)]
    pub except: Vec<Prefix>,
    /// A device whose hosts use the tunnel, too; may be repeated [default: asks, or none]
    #[arg(long, value_name = "DEVICE", requires = "join")]
    pub lan: Vec<String>,
    /// Time of each test of speed; 0 tests the round trip alone
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = test_seconds, requires = "join")]
    pub test: f64,
    /// Longest wait for the other end
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0, value_parser = seconds, requires = "join")]
    pub wait: f64,
    /// Asks nothing
    #[arg(long)]
    pub yes: bool,
    /// Prints the result as one JSON object and nothing else
    #[arg(long, requires = "join")]
    pub json: bool,
}

/// A time that a test may take.
fn test_seconds(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|seconds| (0.0..=10.0).contains(seconds));
    read.ok_or_else(|| "write a number of seconds from 0 to 10".to_owned())
}

/// Arguments of `unpair`.
#[derive(Args, Debug)]
pub struct Unpair {
    /// This end's name, or a peer's
    pub name: String,
    /// Folder of the files
    #[arg(long, value_name = "DIR", default_value = "/etc/airbraid")]
    pub folder: PathBuf,
}
