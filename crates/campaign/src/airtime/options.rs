//! The options of `airbraid plan airtime`, as a person types them.

use crate::slots::options::quantity;
use airbraid_sim::models::airtime::{Band, Choice, Coding, Format, GuardInterval, Ltf, Padding, Rules, Width};
use airbraid_units::Duration;
use clap::Args;
use serde::Deserialize;

pub(super) const STANDARD: &str = "standard";
pub(super) const NS3: &str = "ns-3";
const STANDARDS: [&str; 7] = ["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"];

/// One PPDU.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AirtimeOptions {
    /// The standard of the radio
    #[arg(long, value_name = "NAME", value_parser = STANDARDS)]
    pub standard: String,
    /// Size of the PSDU: MAC headers, frame check sequences and A-MPDU delimiters included
    #[arg(long, value_name = "N")]
    pub bytes: u64,
    /// Modulation and code rate, 0 to 13 (from 802.11n on)
    #[arg(long, value_name = "N")]
    pub mcs: Option<u8>,
    /// Width of the channel (from 802.11n on) [default: 20 MHz]
    #[arg(long, value_name = "WIDTH")]
    pub width: Option<String>,
    /// Spatial streams (from 802.11n on) [default: 1]
    #[arg(long, value_name = "N")]
    pub streams: Option<u8>,
    /// Guard interval: 400 or 800 ns, from 802.11ax on 800, 1600 or 3200 ns [default: 800 ns]
    #[arg(long, value_name = "TIME")]
    pub guard_interval: Option<String>,
    /// 2.4 GHz, 5 GHz or 6 GHz [default: 2.4 GHz for 802.11b and g, 6 GHz for 320 MHz, else 5 GHz]
    #[arg(long, value_name = "BAND")]
    pub band: Option<String>,
    /// bcc or ldpc (from 802.11n on) [default: bcc where the standard has it]
    #[arg(long, value_name = "CODE")]
    pub coding: Option<String>,
    /// Size of the training symbols: 1x, 2x or 4x (from 802.11ax on) [default: 4x with 3200 ns, else 2x]
    #[arg(long, value_name = "SIZE")]
    pub ltf: Option<String>,
    /// Nominal packet padding that the receiver asks for: 0, 8 or 16 us, 802.11be also 20 us [default: 0 us]
    #[arg(long, value_name = "TIME")]
    pub packet_extension: Option<String>,
    /// Rate of 802.11b, a and g
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Preamble of 802.11b: long or short [default: long]
    #[arg(long, value_name = "NAME")]
    pub preamble: Option<String>,
    /// Counts by the standard or as ns-3.44 does
    #[arg(long, value_name = "NAME", default_value = STANDARD, value_parser = [STANDARD, NS3])]
    pub rules: String,
}

impl AirtimeOptions {
    /// The mode that is asked for.
    ///
    /// # Errors
    /// A message that names the wrong option.
    pub(crate) fn choice(&self, format: Format) -> Result<Choice, String> {
        let older = [("rate", &self.rate), ("preamble", &self.preamble)];
        if let Some((name, _)) = older.iter().find(|(_, given)| given.is_some()) {
            return Err(format!("--{name} is for 802.11b, a and g; {} has --mcs and --streams", format.name()));
        }
        let width = named("width", &self.width, Width::ALL, |width| format!("{} MHz", width.mhz()))?;
        let width = width.unwrap_or(Width::Mhz20);
        let default_band = if width == Width::Mhz320 && format == Format::Eht { Band::Ghz6 } else { Band::Ghz5 };
        let missing = || format!("--mcs is missing: {} has MCS 0 to {}", format.name(), format.mcs_max());
        Ok(Choice {
            band: self.band()?.unwrap_or(default_band),
            width,
            mcs: self.mcs.ok_or_else(missing)?,
            streams: self.streams.unwrap_or(1),
            guard_interval: self.guard_interval()?,
            coding: named("coding", &self.coding, [Coding::Bcc, Coding::Ldpc], |code| code.name().to_owned())?,
            ltf: named("ltf", &self.ltf, Ltf::ALL, |ltf| ltf.name().to_owned())?,
            padding: self.padding()?,
            rules: if self.rules == NS3 { Rules::Ns3 } else { Rules::Standard },
            ..Choice::new(format)
        })
    }

    pub(super) fn band(&self) -> Result<Option<Band>, String> {
        named("band", &self.band, Band::ALL, |band| band.name().to_owned())
    }

    fn guard_interval(&self) -> Result<GuardInterval, String> {
        let Some(text) = &self.guard_interval else { return Ok(GuardInterval::Ns800) };
        let time: Duration = quantity("guard-interval", text)?;
        let found = GuardInterval::ALL.into_iter().find(|guard| guard.time() == time);
        found.ok_or_else(|| format!("--guard-interval {text}: allowed are 400 ns, 800 ns, 1600 ns, 3200 ns"))
    }

    fn padding(&self) -> Result<Padding, String> {
        let Some(text) = &self.packet_extension else { return Ok(Padding::Us0) };
        let time: Duration = quantity("packet-extension", text)?;
        let found = Padding::ALL.into_iter().find(|padding| padding.time() == time);
        found.ok_or_else(|| format!("--packet-extension {text}: allowed are 0 us, 8 us, 16 us, 20 us"))
    }

    /// The first option that 802.11b, a and g do not have.
    pub(super) fn newer(&self) -> Option<&'static str> {
        let given = [
            ("mcs", self.mcs.is_some()),
            ("width", self.width.is_some()),
            ("streams", self.streams.is_some()),
            ("guard-interval", self.guard_interval.is_some()),
            ("coding", self.coding.is_some()),
            ("ltf", self.ltf.is_some()),
            ("packet-extension", self.packet_extension.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// The value of that name; spaces between number and unit do not matter.
fn named<T: Copy, const N: usize>(
    option: &str,
    given: &Option<String>,
    all: [T; N],
    name: impl Fn(&T) -> String,
) -> Result<Option<T>, String> {
    let Some(text) = given else { return Ok(None) };
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let found = all.iter().find(|value| bare(&name(value)) == bare(text)).copied();
    let names = all.iter().map(&name).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| format!("--{option} {text}: allowed are {names}"))
}
