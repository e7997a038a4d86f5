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
    /// A power, as its ratio to a milliwatt.
    DecibelMilliwatt,
}

/// Endings of keys, the longer of two before the shorter.
const SUFFIXES: [(&str, Unit); 5] = [
    ("_bps", Unit::BitPerSecond),
    ("_bytes", Unit::Byte),
    ("_dbm", Unit::DecibelMilliwatt),
    ("_db", Unit::Decibel),
    ("_s", Unit::Second),
];

impl Unit {
    /// Returns the unit that `key` ends with, or that of its type.
    ///
    /// # Panics
    /// If they contradict each other: at compile time, for it is called there.
    pub const fn of_key(key: &str, of_type: Self) -> Self {
        let mut i = 0;
        while i < SUFFIXES.len() {
            if ends_with(key, SUFFIXES[i].0) {
                let unit = SUFFIXES[i].1;
                let is_quantity = !matches!(of_type, Self::Count | Self::Share);
                assert!(
                    !is_quantity || unit as u8 == of_type as u8,
                    "the key ends with another unit than its type has"
                );
                return unit;
            }
            i += 1;
        }
        assert!(matches!(of_type, Self::Count | Self::Share), "the key of a quantity ends with its unit");
        of_type
    }

    /// Returns how a key of this unit ends.
    pub fn suffix(self) -> &'static str {
        SUFFIXES.iter().find(|(_, unit)| *unit == self).map_or("", |(suffix, _)| suffix)
    }

    /// Returns how a Prometheus family of this unit ends.
    pub const fn prometheus(self) -> &'static str {
        match self {
            Self::BitPerSecond => "_bits_per_second",
            Self::Byte => "_bytes",
            Self::Second => "_seconds",
            Self::Share => "_ratio",
            Self::Decibel => "_db",
            Self::DecibelMilliwatt => "_dbm",
            Self::Count => "",
        }
    }

    /// Returns the unit in words, for a table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BitPerSecond => "bit/s",
            Self::Byte => "byte",
            Self::Second => "s",
            Self::Count => "count",
            Self::Share => "share",
            Self::Decibel => "dB",
            Self::DecibelMilliwatt => "dBm",
        }
    }

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
            Self::DecibelMilliwatt => format!("{} dBm", four(x)),
        }
    }
}

const fn ends_with(text: &str, end: &str) -> bool {
    let (text, end) = (text.as_bytes(), end.as_bytes());
    let mut i = 0;
    while i < end.len() && i < text.len() && text[text.len() - 1 - i] == end[end.len() - 1 - i] {
        i += 1;
    }
    i == end.len()
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
