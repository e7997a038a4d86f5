//! Words of the simulator's commands.

use crate::completions::{files, scenarios};
use airbraid_campaign::airtime::AirtimeOptions;
use airbraid_campaign::efficiency::EfficiencyOptions;
use airbraid_campaign::saturation::{AccessOptions, FrameOptions, RadioOptions};
use airbraid_campaign::slots::PlanOptions;
use airbraid_sim::killer::environment::ENVIRONMENTS;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use std::path::PathBuf;

/// A command of the simulator.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario: every cell of its sweep, every replication
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Write the report of a result that `run --out` has written
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Run scenarios and compare them with what they expect of themselves
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Print every resolved value of a scenario and where it came from
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Reproduce a paper: its figures and tables, ours beside the paper's
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(Reproduce),
    /// Plan the slots in which one radio serves several access points, so that TCP waits little
    #[command(after_help = PLAN_EXAMPLES, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
    Plan(Box<Plan>),
    /// Generate the effect of a packet killer on frames at some place, and compare its rates with the printed ones
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(Trace),
    /// Print or install the dissector of our headers for Wireshark
    #[command(after_help = WIRESHARK_EXAMPLES)]
    Wireshark(Wireshark),
}

const RUN_EXAMPLES: &str = "\
Examples:
  airbraid run scenarios/examples/three_channels.toml
      a table of goodput, delay and drops, with 99 % confidence intervals

  airbraid run three_channels.toml --replications 20 --jobs 4 --out results
      20 seeds on 4 cores; report.html, summary.json, flows.csv in results

  airbraid run three_channels.toml --set radio.rate=\"5.5 Mbit/s\" \\
    --set flow.download.transport.tcp=cubic
      what if; a path names tables by key and list elements by name

  airbraid run one_channel.toml \\
    --set 'sweep.radio.rate=[\"1 Mbit/s\", \"11 Mbit/s\"]'
      a sweep that the file does not have

  airbraid run one_channel.toml --duration \"2 s\" --pcap --timeline --out look
      captures for Wireshark, frames as a page and a list, of the first seed

  airbraid run three_channels.toml --why
      what limited each flow, for which share of its time, and where

  airbraid run three_channels.toml --metrics 'mac.*.retries' --metrics 'total.*'
      chosen metrics; all are in docs/reference/metrics.md

  airbraid run lossy_link.toml --out loss \\
    --plot 'flow.download.timeouts ~ link.wan.forward.loss'
      a picture over a swept key; a line for each value of the others

  airbraid run look
      that result again; says whether its numbers are the same

  airbraid run three_channels.toml --json |
    jq '.cells[].summary[\"flow.download.goodput_bps\"].mean'

Exit status: 0 fine, 1 a run failed, 2 the input is wrong.";

const REPORT_EXAMPLES: &str = "\
`run --out` writes this page with its result. An older result gets it, or that
of this version, here: only what is stored is read, nothing is run.

Examples:
  airbraid report results
      results/report.html

Exit status: 0 fine, 1 it could not be written, 2 there is no result.";

const CHECK_EXAMPLES: &str = "\
Examples:
  airbraid check scenarios/            all scenarios below a directory
  airbraid check one.toml two.toml

A scenario becomes a test by its [expect] table:
  [expect]
  \"flow.download.goodput\" = { min = \"14 Mbit/s\" }
Cells of a sweep that have no expectation are not run.

Exit status: 0 all hold, 1 an expectation does not hold or a run failed,
2 the input is wrong.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  airbraid explain three_channels.toml
  airbraid explain three_channels.toml --set radio.standard=802.11a
  airbraid explain three_channels.toml --json |
    jq '.values[] | select(.from | startswith(\"default\"))'";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  airbraid reproduce
      the papers that there are

  airbraid reproduce wang2005 --quick
      a first answer in seconds: short runs, two replications

  airbraid reproduce wang2005
      everything; the page is wang2005-report/report.html

  airbraid reproduce wang2005 --only fig12 --only 000.fig23.ber1e5
      a figure with its rows, and one row

  airbraid reproduce wang2005 --json |
    jq '.rows[] | select(.verdict == \"off\")'

  airbraid reproduce sanchez2006 --quick --rows tests/rows
      is every row where it was? With --renew: it is where it is now

Every run that is finished is kept (--store): interrupt it and start it again,
it goes on where it was.

Exit status: 0 fine, 1 a run failed, a row is missing or was moved, 2 the
input is wrong, 130 interrupted.
That a value is off is a result, not a failure.";

const PLAN_EXAMPLES: &str = "\
A station with one radio can be associated with several access points on
different channels, one at a time; the others keep its packets meanwhile
(802.11 power save). TCP waits out each absence, so many short slots are better
than one long block, and it matters in which order they come. A duty cycle is
the part of the time that an access point gets. The period is as long as the
smallest duty cycle needs for one slot; each access point has as many slots as
its duty cycle holds the smallest one. Policies:
  no-policy   one block each
  random      every slot by lot
  min-max     the most slots first, each access point so that its longest
              absence is least (Giustiniano et al. 2013)
  blind       the best sum of 1 / longest absence (their Alg. 1, equation 6),
              with a proof
  worst-case  the best sum of worst throughputs with given delays (their
              equation 5), likewise
  measured    the best sum of throughputs by the model of round-trip times
              with given delays; never below min-max

Examples:
  airbraid plan --duty 0.5,0.125,0.375 --slot 12.5ms
      map, absences, round-trip times and throughput; delays are assumed

  airbraid plan --duty 1/2,1/8,3/8 --slot 12.5ms --delay 20ms,60ms,35ms \\
    --svg plan.svg
      with measured delays; a drawing. --switch says what a change of channels
      costs

  airbraid plan --backhaul 6Mbit/s,3Mbit/s,8Mbit/s \\
    --wireless 22Mbit/s,18Mbit/s,20Mbit/s
      duty cycles from rates; fatvap takes the largest sum, --scheduler themis
      shares fairly

  airbraid plan --duty 50%,30%,20% --periods 50ms,100ms,200ms,400ms --delay 40ms
      which period is best

  airbraid plan --duty 0.5,0.125,0.375 --slot 12.5ms --json |
    jq '.plans[].aggregate_bps'

Exit status: 0 fine, 2 the input is wrong, such as duty cycles that add up to
more than 1.";

const TRACE_EXAMPLES: &str = "\
The recordings of Eckhardt and Steenkiste 1998 are not available. A generated
trace has the rates that their table 1 prints for office, walking, adjacent,
table and walls; the other places are made up. What a trace file says:
docs/reference/traces.md.

Examples:
  airbraid trace walls
      the rates of the trace that trace = \"walls\" stands for, beside the
      printed ones

  airbraid trace walls --seed 2 --out walls.trace
      another one, as a file; in a [[killer]]:
      trace = { file = \"walls.trace\" }

  airbraid trace --read recorded.trace
      the rates of a file

  airbraid trace table --json | jq '.rates[] | select(.name == \"corrupted\")'

Exit status: 0 fine, 1 a rate is more than a tenth from the printed one, 2 the
input is wrong.";

const WIRESHARK_EXAMPLES: &str = "\
`run --pcap` writes run.pcapng, with the frames of all radios and links and the
packets above each trunk, and ip-NODE.pcapng, with the packets of a host alone:
there Wireshark's analysis of TCP sees each segment once. Radios and IP need no
dissector; the headers of trunks and tunnels, and IP behind them, do.
More in docs/guide/wireshark.md.

Examples:
  airbraid wireshark --install
      ~/.local/lib/wireshark/plugins/airbraid.lua; a different file of that
      name is kept as airbraid.lua.old

  airbraid wireshark > airbraid.lua
  tshark -X lua_script:airbraid.lua -r look/run.pcapng
      without installing it

  tshark -r look/run.pcapng -Y 'frame.interface_name == \"sender/ch1\"'
      what one radio has sent and heard

  tshark -r look/ip-sender.pcapng -q -z conv,tcp
      the TCP connections of a host

Exit status: 0 fine, 1 it could not be written.";

/// Overrides of a scenario.
#[derive(Args, Debug, Default)]
pub struct Over {
    /// Sets a key of the scenario; may be repeated, the last one counts
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(scenarios::settings))]
    pub set: Vec<String>,
    /// Seed of the first replication; replication k runs on seed + k
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Replications of each cell
    #[arg(long, value_name = "N")]
    pub replications: Option<String>,
    /// Simulated time, with its unit
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct Run {
    /// The scenario, a TOML file, `-` for standard input, or the directory of a result, which is made again
    #[arg(add = ArgValueCompleter::new(files()))]
    pub file: PathBuf,
    #[command(flatten)]
    pub over: Over,
    /// Writes report.html, summary.json, series as CSV and plot.svg into this directory, which is made or replaced
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs at a time, or with fewer runs parts of one that never hear each other [default: as many as cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Captures frames and packets of radios, links, trunks and hosts as pcapng, first seed only (`wireshark --help`)
    #[arg(long, requires = "out")]
    pub pcap: bool,
    /// Writes frames as a page to zoom and search and as a readable list, first seed only
    #[arg(long, requires = "out")]
    pub timeline: bool,
    /// Writes a trace for Perfetto's interface, first seed only
    #[arg(long, requires = "out")]
    pub perfetto: bool,
    /// Draws a metric over a swept key, with a line for each value of others [default: goodput of each flow]; may be
    /// repeated
    #[arg(long, value_name = "METRIC ~ KEY | KEY", requires = "out")]
    pub plot: Vec<String>,
    /// Keeps the runs that are finished when Ctrl-C stops it: they are printed, and written with --out
    #[arg(long)]
    pub keep: bool,
    /// Prints how the time of each flow divides among causes, and how busy the devices on its way were
    #[arg(long)]
    pub why: bool,
    /// Prints airtime, retries and collisions of radios and the shares of a trunk's members, too
    #[arg(short, long)]
    pub verbose: bool,
    /// Prints the metrics that fit, such as 'mac.*'; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub metrics: Vec<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `wireshark`.
#[derive(Args, Debug)]
pub struct Wireshark {
    /// Puts it into Wireshark's folder of personal plugins
    #[arg(long)]
    pub install: bool,
    /// Puts it into this folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct Report {
    /// Directories that `airbraid run FILE --out DIR` has written
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct Check {
    /// Scenarios, or directories with scenarios in them
    #[arg(required = true, add = ArgValueCompleter::new(files()))]
    pub paths: Vec<PathBuf>,
    /// Runs at a time [default: as many as cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// The scenario, a TOML file, `-` for standard input, or the directory of a result
    #[arg(add = ArgValueCompleter::new(files()))]
    pub file: PathBuf,
    #[command(flatten)]
    pub over: Over,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `reproduce`.
#[derive(Args, Debug)]
pub struct Reproduce {
    /// The paper, such as wang2005; without it the papers are listed
    #[arg(add = ArgValueCandidates::new(scenarios::papers))]
    pub paper: Option<String>,
    /// Short runs, few replications: a first answer
    #[arg(long)]
    pub quick: bool,
    /// Only this figure or row, or the rows that begin so; may be repeated
    #[arg(long, value_name = "ID")]
    pub only: Vec<String>,
    /// Runs at a time [default: as many as cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Prints one JSON object and nothing else; writes a report only with --out
    #[arg(long)]
    pub json: bool,
    /// Writes report.html, rows.json and rows.csv into this directory, which is made or replaced [default:
    /// PAPER-report]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Compares each row with PAPER.quick.tsv or PAPER.full.tsv of this directory, and draws nothing; a row that moved
    /// beyond its interval, or has another verdict, origin or formula, is a failure
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "out"])]
    pub rows: Option<PathBuf>,
    /// Writes that file again; rows that --only leaves out keep their line
    #[arg(long, requires = "rows")]
    pub renew: bool,
    /// Where finished runs are kept [default: airbraid in the user's cache directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_store")]
    pub store: Option<PathBuf>,
    /// Keeps and recalls nothing
    #[arg(long)]
    pub no_store: bool,
    /// Papers of this directory, a folder each, beside those that airbraid brings along
    #[arg(long, value_name = "DIR")]
    pub papers: Option<PathBuf>,
}

/// Arguments of `trace`.
#[derive(Args, Debug)]
pub struct Trace {
    #[arg(required_unless_present = "read", value_parser = PossibleValuesParser::new(ENVIRONMENTS.map(|place| place.name)))]
    pub place: Option<String>,
    /// Reads this trace file instead of generating one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["place", "seed", "out"])]
    pub read: Option<PathBuf>,
    /// Seed of random draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Writes the trace into this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `plan`. Lists have commas between; one value stands for every access point where that makes sense.
#[derive(Args, Debug)]
pub struct Plan {
    /// Another plan.
    #[command(subcommand)]
    pub other: Option<OtherPlan>,
    #[command(flatten)]
    pub options: PlanOptions,
    /// Compares these periods
    #[arg(long, value_name = "LIST", conflicts_with_all = ["period", "slot", "svg"])]
    pub periods: Option<String>,
    /// Draws map and round-trip times into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Plans besides slots.
#[derive(Debug, Subcommand)]
pub enum OtherPlan {
    /// Airtime of one frame under 802.11b to 802.11be, part by part, by arithmetic
    #[command(after_help = AIRTIME_EXAMPLES)]
    Airtime(Airtime),
    /// TCP's throughput between two nodes under 802.11, MCMAC and Bi-MCMAC, by arithmetic
    #[command(after_help = EFFICIENCY_EXAMPLES)]
    Efficiency(Efficiency),
    /// Goodput of a saturated cell of 802.11a to 802.11be, by closed forms
    #[command(after_help = WIFI_EXAMPLES)]
    Wifi(Box<PlanWifi>),
}

const WIFI_EXAMPLES: &str = "\
One sender with A-MPDUs and block acknowledgements; n stations that all hear
each other by Bianchi's fixed point; and the same cell by random draws, access
by access, which also has several categories. Nothing is lost but by collision.

Examples:
  airbraid plan wifi --standard 802.11ax --width \"80 MHz\" --mcs 11
      one sender, A-MPDUs of up to 256 frames

  airbraid plan wifi --standard 802.11ax --mcs 7 --ampdu off --stations 10
      ten stations without aggregation: a third of all frames collides

  airbraid plan wifi --standard 802.11ax --mcs 7 --ampdu off --categories vo,be
      a station of voice beside one of best effort

  airbraid plan wifi --standard 802.11a --rate \"54 Mbit/s\" --txop \"4096 us\"
      several frames an access

  airbraid plan wifi --standard 802.11n --mcs 7 --json | jq .alone_bps

The models: docs/models/wifi-saturation.md.

Exit status: 0 fine, 2 the input is wrong.";

/// `airbraid plan wifi`.
#[derive(Debug, Args)]
pub struct PlanWifi {
    #[command(flatten)]
    pub radio: RadioOptions,
    #[command(flatten)]
    pub frames: FrameOptions,
    #[command(flatten)]
    pub access: AccessOptions,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

const AIRTIME_EXAMPLES: &str = "\
A PPDU is a preamble, a whole number of data symbols, and an extension. The
PSDU is what the symbols carry: an MPDU, or an A-MPDU of many. Times are those
of the standard, exact to the nanosecond. The standard has not every
combination: what it lacks is refused, with what is near.

Examples:
  airbraid plan airtime --standard 802.11ax --width \"80 MHz\" --mcs 11 \\
    --bytes 1536
      one frame at 600 Mbit/s: most of its time is preamble

  airbraid plan airtime --standard 802.11ax --width \"80 MHz\" --mcs 11 \\
    --bytes 65532
      42 frames in one A-MPDU: the preamble is paid once

  airbraid plan airtime --standard 802.11be --width \"320 MHz\" --mcs 13 \\
    --streams 2 --guard-interval \"1600 ns\" --bytes 1536 --json | jq .airtime_ns

  airbraid plan airtime --standard 802.11a --rate \"24 Mbit/s\" --bytes 32
      a block acknowledgement; answers are sent at 802.11a's or g's rates

  airbraid plan airtime --standard 802.11b --rate \"11 Mbit/s\" \\
    --preamble short --bytes 1023

  airbraid plan airtime --standard 802.11ax --mcs 0 --bytes 76 --rules ns-3
      as ns-3.44 counts, to compare with its results

The model: docs/models/wifi-phy.md.

Exit status: 0 fine, 2 the input is wrong.";

/// `airbraid plan airtime`.
#[derive(Debug, Args)]
pub struct Airtime {
    #[command(flatten)]
    pub options: AirtimeOptions,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

const EFFICIENCY_EXAMPLES: &str = "\
Every frame after RTS and CTS (and CRN), handshakes one after the other at DIFS,
nothing lost: the steady state of a TCP transfer (Kuang and Williamson 2004,
appendix A). Sizes are those of IP packets. The last column is what a long chain
of nodes could carry at best: a third on one channel, half with data channels.

Examples:
  airbraid plan efficiency
      the paper's own: 77.8, 73.2 and 78.4 % of 1 Mbit/s

  airbraid plan efficiency --packets-per-ack 1
      without delayed acknowledgements

  airbraid plan efficiency --rate \"11 Mbit/s\" --packet \"1500 byte\" --batch 4 \\
    --switching \"224 us\" --backoff \"310 us\"
      four frames a handshake, a real radio, and the mean backoff

  airbraid plan efficiency --json | jq '.macs[] | {mac, efficiency}'

Exit status: 0 fine, 2 the input is wrong.";

/// `airbraid plan efficiency`.
#[derive(Debug, Args)]
pub struct Efficiency {
    #[command(flatten)]
    pub options: EfficiencyOptions,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}
