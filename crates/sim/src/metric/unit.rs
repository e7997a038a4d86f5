//! Units of metrics, and how a person reads them.

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    BitPerSecond,
    /// Bytes.
    Byte,
    /// Seconds.
    Second,
    /// A number of packets, frames or events.
    Count,
    /// A share between 0 and 1.
    Share,
    /// A ratio of powers.
    Decibel,
}

impl Unit {
    /// `x` of this unit for a person, four significant digits: `5.021 Mbit/s`.
    pub fn show(self, x: f64) -> String {
        let scaled = |table: &[(f64, &str)]| {
            let fits = table.iter().find(|(factor, _)| x.abs() >= *factor).or(table.last());
            fits.map_or_else(String::new, |(factor, unit)| format!("{} {unit}", four(x / factor)))
        };
        match self {
            Self::BitPerSecond => scaled(&[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")]),
            Self::Byte => scaled(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "byte")]),
            Self::Second => scaled(&[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]),
            Self::Count if x.abs() < 1e3 && x != libm::trunc(x) => format!("{x:.1}"),
            Self::Count => four(x),
            Self::Share => format!("{} %", four(x * 100.0)),
            Self::Decibel => format!("{} dB", four(x)),
        }
    }
}

/// Four significant digits, whole numbers in full.
fn four(x: f64) -> String {
    let whole = x == libm::trunc(x);
    match x.abs() {
        a if whole && a < 1e15 => format!("{x:.0}"),
        a if a >= 1e3 => format!("{x:.0}"),
        a if a >= 1e2 => format!("{x:.1}"),
        a if a >= 1e1 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}
