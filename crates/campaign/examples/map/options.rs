//! Options that all tables have.

use crate::draw;
use crate::scene::Control;

#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Number of the draw; the same number draws the same parameters and seeds. Default: another each day
    #[arg(long)]
    pub draw: Option<u64>,
    /// Seeds that each value is the mean of
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: u32,
    /// Seconds of a run, of which the first ten (a third of less than thirty) do not count; default: 60, or as the
    /// table needs
    #[arg(long)]
    seconds: Option<u64>,
    /// Queue of the oracle's links, in ms at their mean rate
    #[arg(long, default_value_t = 100)]
    pub oracle_queue: u64,
    /// Largest rate of a member, in Mbit/s
    #[arg(long)]
    pub rates_up_to: Option<u64>,
    /// Rows to measure, by their keys
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Rows to print, the worst ones
    #[arg(long, default_value_t = 5)]
    pub worst: usize,
    /// Column by which rows are the worst, from 0 on; default: as the table has it
    #[arg(long)]
    pub by: Option<usize>,
    /// Print every row as well
    #[arg(long)]
    pub all: bool,
}

/// Those of tables whose flows have either congestion control.
#[derive(Clone, Debug, clap::Args)]
pub struct Controlled {
    #[command(flatten)]
    pub common: Common,
    /// Congestion controls
    #[arg(long = "cc", value_delimiter = ',', default_values = ["cubic", "bbr"])]
    pub controls: Vec<Control>,
}

/// Those of tables over random sets of members.
#[derive(Clone, Debug, clap::Args)]
pub struct Random {
    #[command(flatten)]
    pub common: Common,
    /// Let each member lose, not a third of them
    #[arg(long)]
    pub lossy: bool,
    /// Give all members of a set the rate and delay of its first
    #[arg(long)]
    pub equal: bool,
    /// Let each member's delay vary, by up to 1 to 20 ms; half of them reorder
    #[arg(long)]
    pub unsteady: bool,
    /// Largest number of members of a set
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(2..=8))]
    pub members_up_to: u64,
}

impl Common {
    /// The number of the draw, which `main` has set.
    pub fn draw(&self) -> u64 {
        self.draw.unwrap_or_default()
    }

    pub fn seeds(&self) -> Vec<u64> {
        draw::seeds(self.draw(), self.seeds.max(1))
    }

    /// Seconds of a run where the table needs no others, and how many of these do not count.
    pub fn seconds(&self) -> [u64; 2] {
        self.seconds_or(60)
    }

    /// Seconds of a run, `usual` if the user names none, and how many of these do not count.
    pub fn seconds_or(&self, usual: u64) -> [u64; 2] {
        let seconds = self.seconds.unwrap_or(usual).max(1);
        [seconds, (seconds / 3).min(10)]
    }

    pub fn rate_max_kbps(&self) -> u64 {
        self.rates_up_to.map_or(u64::MAX, |mbps| mbps.saturating_mul(1_000))
    }
}
