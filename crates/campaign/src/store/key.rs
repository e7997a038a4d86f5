//! The key of a result: scenario, seed, build.

use airbraid_sim::scenario::spec::{Pcap, Spec};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The version of airbraid with the commit that it was built from.
pub const RELEASE: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("AIRBRAID_COMMIT"), ")");

/// The layout of facts and of canonical scenarios: another number matches no older result.
const SCHEMA: u32 = 1;

/// The sources that results are computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    digest: Vec<u8>,
    commit: String,
}

impl Build {
    /// This build: a digest over the simulator's sources and its locked dependencies, taken when it was compiled.
    pub fn this() -> Self {
        Self { digest: unhex(env!("AIRBRAID_SOURCES")), commit: env!("AIRBRAID_COMMIT").to_owned() }
    }
    /// This build but for the bond's engine: for runs without a trunk over links, which it cannot change.
    pub fn without_bond() -> Self {
        Self { digest: unhex(env!("AIRBRAID_SOURCES_WITHOUT_BOND")), ..Self::this() }
    }
    /// A build of other sources.
    pub fn named(name: &str) -> Self {
        Self { digest: Sha256::digest(name.as_bytes()).to_vec(), commit: name.to_owned() }
    }
    /// The digest, 32 bytes.
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }
    /// The first digits of the digest.
    pub fn short(&self) -> String {
        hex(&self.digest[..self.digest.len().min(6)])
    }
    /// The commit that was checked out; `+`: with changes; `unknown` where there was no git.
    pub fn commit(&self) -> &str {
        &self.commit
    }
}

/// A text that is hashed as it is written: that of 4,096 nodes has 10 MB.
#[derive(Default)]
struct Hashed {
    digest: Sha256,
    /// The end of the text, which is not hashed yet: pieces of a few bytes are hashed together.
    waiting: Vec<u8>,
}

impl Hashed {
    /// Bytes that are hashed together.
    const WAITING_MAX: usize = 4_096;

    fn digest(mut self) -> [u8; 32] {
        self.digest.update(&self.waiting);
        self.digest.finalize().into()
    }
}

impl std::fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.waiting.extend_from_slice(text.as_bytes());
        if self.waiting.len() >= Self::WAITING_MAX {
            self.digest.update(&self.waiting);
            self.waiting.clear();
        }
        Ok(())
    }
}

/// One run: a scenario as resolved, and a seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// SHA-256 of the scenario's canonical text.
    pub scenario: [u8; 32],
    pub seed: u64,
}

impl Key {
    /// The key of `spec` with `seed`: of the simulation, not of title, question, number of replications or recordings.
    pub fn new(spec: &Spec, seed: u64) -> Self {
        Self::of(spec, seed, "")
    }

    /// The key of the same run without the account of what limits its flows: its facts have no such shares.
    pub fn without_limits(spec: &Spec, seed: u64) -> Self {
        Self::of(spec, seed, " without limits")
    }

    fn of(spec: &Spec, seed: u64, part: &str) -> Self {
        let mut spec = spec.clone();
        (spec.title, spec.question) = (String::new(), String::new());
        (spec.seed, spec.replications) = (0, 0);
        (spec.record.pcap, spec.record.timeline, spec.record.perfetto) = (Pcap::default(), false, false);
        // Every field of a resolved scenario prints itself, numbers to their last digit.
        let mut text = Hashed::default();
        // Hashing cannot fail.
        let _ = write!(text, "airbraid {SCHEMA}{part} {spec:?}");
        Self { scenario: text.digest(), seed }
    }

    /// The first digits of the scenario's hash.
    pub fn short(&self) -> String {
        hex(&self.scenario[..6])
    }

    /// The checksum of a row: its text, and the key under which it belongs.
    pub(super) fn checksum(&self, build: &Build, text: &[u8]) -> Vec<u8> {
        let mut digest = Sha256::new();
        digest.update(self.scenario);
        digest.update(self.seed.to_be_bytes());
        digest.update(&build.digest);
        digest.update(text);
        digest.finalize().to_vec()
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |i: usize| text.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..text.len()).step_by(2).filter_map(pair).collect()
}
