//! Metrics: every number that is counted or measured is declared once, in the struct that counts it.
//!
//! [`crate::metrics!`] declares the struct. From it come the JSON of a run and of the daemon, summaries, the paths of
//! `[expect]`, columns, Prometheus families and the tables of the reference pages.

mod measure;
mod unit;

pub use measure::{Measure, Millionths, Value};
pub use unit::Unit;

/// The behaviour of a metric over time and over several things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows; those of several things can be added.
    Sum,
    /// A sum that JSON leaves out where it is zero.
    Rare,
    /// A present value; it is not added.
    Gauge,
}

/// The declaration of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name with the unit last, in JSON, summaries and columns: `goodput_bps`.
    pub key: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its kind.
    pub kind: Kind,
    /// Its place in a summary: those with a higher one come later, equal ones in the order of declaration.
    pub place: u8,
    /// Its description, a sentence or more.
    pub doc: &'static str,
}

impl Declared {
    /// Returns the name without the unit, as `[expect]` has it: `goodput`.
    pub fn name(&self) -> &'static str {
        self.key.strip_suffix(self.unit.suffix()).unwrap_or(self.key)
    }

    /// Tells whether those of several things can be added.
    pub fn is_sum(&self) -> bool {
        self.kind != Kind::Gauge
    }

    /// Returns the description on one line.
    pub fn text(&self) -> String {
        self.doc.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A struct whose metrics are declared; [`crate::metrics!`] implements it.
pub trait Metrics: Default {
    /// Shows every metric in the order of declaration, with its value if there is one.
    fn each(&self, show: &mut dyn FnMut(&'static Declared, Option<Value>));

    /// Makes one of values; what `find` does not know has its default.
    fn read(find: &mut dyn FnMut(&'static Declared) -> Option<Value>) -> Self;

    /// Returns the declarations, in order.
    fn declared() -> Vec<&'static Declared> {
        let mut all = Vec::new();
        Self::default().each(&mut |declared, _| all.push(declared));
        all
    }

    /// Returns the sums over `all`; gauges have their default.
    fn total<'a>(all: impl Iterator<Item = &'a Self>) -> Self
    where
        Self: 'a,
    {
        let mut sums: Vec<(&str, u64)> = Vec::new();
        for one in all {
            let mut place = 0;
            one.each(&mut |declared, value| {
                let (true, Some(Value::Count(count))) = (declared.is_sum(), value) else { return };
                match sums.get_mut(place) {
                    Some((_, sum)) => *sum += count,
                    None => sums.push((declared.key, count)),
                }
                place += 1;
            });
        }
        Self::read(&mut |declared| {
            let sum = sums.iter().find(|(key, _)| *key == declared.key);
            sum.map(|(_, sum)| Value::Count(*sum))
        })
    }

    /// Returns what was counted since `before`; gauges have their present value.
    fn since(&self, before: &Self) -> Self {
        let mut earlier = Vec::new();
        before.each(&mut |_, value| earlier.push(value));
        let mut earlier = earlier.into_iter();
        let mut since = Vec::new();
        self.each(&mut |declared, value| {
            let counted = match (value, earlier.next().flatten()) {
                (Some(Value::Count(now)), Some(Value::Count(then))) if declared.is_sum() => {
                    Some(Value::Count(now - then))
                }
                _ => value,
            };
            since.push((declared.key, counted));
        });
        Self::read(&mut |declared| since.iter().find(|(key, _)| *key == declared.key)?.1)
    }
}

/// Of nothing the metrics are shown without values.
impl<T: Metrics> Metrics for Option<T> {
    fn each(&self, show: &mut dyn FnMut(&'static Declared, Option<Value>)) {
        match self {
            Some(inner) => inner.each(show),
            None => T::default().each(&mut |declared, _| show(declared, None)),
        }
    }
    fn read(find: &mut dyn FnMut(&'static Declared) -> Option<Value>) -> Self {
        let mut is_there = false;
        let inner = T::read(&mut |declared| find(declared).inspect(|_| is_there = true));
        is_there.then_some(inner)
    }
}

/// Declares a struct and its metrics.
///
/// A field without `=` is no metric. `= KIND [UNIT] ["key"] [@ PLACE]` makes it one: KIND is `sum`, `rare` (a sum that
/// JSON leaves out where it is zero) or `gauge`; the key is the field's name unless it is given, and ends with the unit
/// (`_s`, `_bytes`, `_bps`, `_db`, `_dbm`); a number without unit is a count, a floating one a share, unless UNIT says
/// otherwise. `= part` takes in the metrics of a struct in this place. Attributes of `serde` come after the
/// description.
///
/// ```
/// use airbraid_units::metric::{Metrics, Unit};
/// use airbraid_units::{Duration, metrics};
///
/// metrics! {
///     /// Counts of a link.
///     #[derive(Clone, Debug, Default)]
///     pub struct LinkCounts {
///         /// Number of the link.
///         pub link: u32,
///         /// Packets sent.
///         pub sent_packets: u64 = sum,
///         /// Smoothed round trip.
///         pub rtt: Duration = gauge "rtt_s",
///     }
/// }
///
/// let declared = LinkCounts::declared();
/// assert_eq!(declared[1].unit, Unit::Second);
/// assert_eq!((declared[1].name(), declared[1].key), ("rtt", "rtt_s"));
/// ```
#[macro_export]
macro_rules! metrics {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Struct:ident {
            $(
                $(#[doc = $doc:literal])* $(#[serde $serde:tt])*
                $field_vis:vis $field:ident : $type:ty
                $(= $kind:ident $($unit:ident)? $($key:literal)? $(@ $place:literal)?)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $Struct {
            $($(#[doc = $doc])* $(#[serde $serde])* $field_vis $field: $type),*
        }

        impl $crate::metric::Metrics for $Struct {
            fn each(
                &self,
                show: &mut dyn FnMut(&'static $crate::metric::Declared, Option<$crate::metric::Value>),
            ) {
                $($crate::metrics!(
                    @each (self.$field) show [$($kind)?]
                    $type, $field, [$($($unit)?)?] [$($($key)?)?] [$($($place)?)?] [$($doc)*]
                );)*
            }

            fn read(
                find: &mut dyn FnMut(&'static $crate::metric::Declared) -> Option<$crate::metric::Value>,
            ) -> Self {
                let mut made = Self::default();
                $($crate::metrics!(
                    @read (made.$field) find [$($kind)?]
                    $type, $field, [$($($unit)?)?] [$($($key)?)?] [$($($place)?)?] [$($doc)*]
                );)*
                made
            }
        }
    };

    (@each ($value:expr) $show:ident [] $($rest:tt)*) => {};
    (@each ($value:expr) $show:ident [part] $($rest:tt)*) => {
        $crate::metric::Metrics::each(&$value, $show)
    };
    (@each ($value:expr) $show:ident [$kind:ident] $($rest:tt)*) => {{
        static DECLARED: $crate::metric::Declared = $crate::metrics!(@declared $kind $($rest)*);
        $show(&DECLARED, $crate::metric::Measure::value(&$value))
    }};
    (@read ($value:expr) $find:ident [] $($rest:tt)*) => {};
    (@read ($value:expr) $find:ident [part] $($rest:tt)*) => {
        $value = $crate::metric::Metrics::read($find)
    };
    (@read ($value:expr) $find:ident [$kind:ident] $($rest:tt)*) => {{
        static DECLARED: $crate::metric::Declared = $crate::metrics!(@declared $kind $($rest)*);
        if let Some(value) = $find(&DECLARED).and_then($crate::metric::Measure::of) {
            $value = value;
        }
    }};

    (
        @declared $kind:ident $type:ty, $field:ident,
        [$($unit:ident)?] [$($key:literal)?] [$($place:literal)?] [$($doc:literal)*]
    ) => {{
        const KEY: &str = $crate::metrics!(@or [$($key)?] stringify!($field));
        $crate::metric::Declared {
            key: KEY,
            unit: $crate::metrics!(
                @or [$($crate::metric::Unit::$unit)?]
                $crate::metric::Unit::of_key(KEY, <$type as $crate::metric::Measure>::UNIT)
            ),
            kind: $crate::metrics!(@kind $kind),
            place: $crate::metrics!(@or [$($place)?] 0),
            doc: concat!($($doc, "\n"),*),
        }
    }};

    (@or [] $default:expr) => { $default };
    (@or [$given:expr] $default:expr) => { $given };

    (@kind sum) => { $crate::metric::Kind::Sum };
    (@kind rare) => { $crate::metric::Kind::Rare };
    (@kind gauge) => { $crate::metric::Kind::Gauge };
    (@kind $other:ident) => {
        compile_error!(concat!("`", stringify!($other), "` is no kind of metric: it is sum, rare, gauge or part"))
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitRate, Bytes, Duration};

    metrics! {
        /// Counters of an inner machine.
        #[derive(Clone, Debug, Default, PartialEq)]
        struct Inner {
            /// By class.
            packets: [u64; 2] = sum,
            hidden: u32,
        }
    }
    metrics! {
        /// Counters of an outer one.
        #[derive(Clone, Debug, Default, PartialEq)]
        struct Outer {
            name: String,
            /// Bytes sent,
            /// all of them.
            sent: Bytes = sum "sent_bytes",
            inner: Inner = part,
            /// The rate.
            rate: BitRate = gauge "rate_bps" @ 1,
            delay_s: Option<f64> = gauge,
            hold: Duration = gauge "hold_s",
            spread: f64 = gauge Count,
            loss: Millionths = gauge,
        }
    }

    fn outer() -> Outer {
        Outer {
            name: "a".to_owned(),
            sent: Bytes::new(7),
            inner: Inner { packets: [2, 3], hidden: 9 },
            rate: BitRate::from_bps(8),
            delay_s: None,
            hold: Duration::from_millis(250),
            spread: 1.5,
            loss: Millionths(500),
        }
    }

    #[test]
    fn keys_units_and_values_are_those_declared() {
        let mut shown = Vec::new();
        outer().each(&mut |declared, value| shown.push((declared.key, declared.unit, value.map(Value::as_f64))));
        let expected = [
            ("sent_bytes", Unit::Byte, Some(7.0)),
            ("packets", Unit::Count, Some(5.0)),
            ("rate_bps", Unit::BitPerSecond, Some(8.0)),
            ("delay_s", Unit::Second, None),
            ("hold_s", Unit::Second, Some(0.25)),
            ("spread", Unit::Count, Some(1.5)),
            ("loss", Unit::Share, Some(0.0005)),
        ];
        assert_eq!(shown, expected);
        let declared = Outer::declared();
        assert_eq!(declared[0].text(), "Bytes sent, all of them.");
        assert_eq!((declared[0].name(), declared[2].place), ("sent", 1));
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        let mut values = Vec::new();
        outer().each(&mut |declared, value| values.push((declared.key, value)));
        let find = |declared: &Declared| values.iter().find(|(key, _)| *key == declared.key)?.1;
        let read = Outer::read(&mut |declared| find(declared));
        // Classes are shown together; what is no metric is not shown.
        let expected = Outer { name: String::new(), inner: Inner { packets: [5, 0], hidden: 0 }, ..outer() };
        assert_eq!(read, expected);
    }

    #[test]
    fn sums_are_added_and_gauges_are_not() {
        let all = [outer(), outer()];
        let total = Outer::total(all.iter());
        assert_eq!((total.sent, total.inner.packets, total.rate), (Bytes::new(14), [10, 0], BitRate::default()));
    }

    #[test]
    fn what_was_counted_since_leaves_gauges_as_they_are() {
        let now = Outer { sent: Bytes::new(9), ..outer() };
        let since = now.since(&outer());
        assert_eq!((since.sent, since.inner.packets, since.rate), (Bytes::new(2), [0, 0], BitRate::from_bps(8)));
    }
}
