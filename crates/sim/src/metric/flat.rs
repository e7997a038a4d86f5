//! Metrics among the other fields of a JSON object.

use airbraid_units::metric::{Declared, Kind, Metrics, Value};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Metrics that JSON has by their keys, in order of declaration; for `#[serde(flatten)]`.
///
/// A value that is missing is left out, as is a rare sum that is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flat<T>(pub T);

impl<T> Deref for Flat<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Flat<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Metrics> Metrics for Flat<T> {
    fn each(&self, show: &mut dyn FnMut(&'static Declared, Option<Value>)) {
        self.0.each(show);
    }
    fn read(find: &mut dyn FnMut(&'static Declared) -> Option<Value>) -> Self {
        Self(T::read(find))
    }
}

impl<T: Metrics> Serialize for Flat<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut result = Ok(());
        self.0.each(&mut |declared, value| {
            if result.is_ok() {
                result = match value {
                    None => Ok(()),
                    Some(Value::Count(0)) if declared.kind == Kind::Rare => Ok(()),
                    Some(Value::Count(count)) => map.serialize_entry(declared.key, &count),
                    Some(Value::Number(number)) => map.serialize_entry(declared.key, &number),
                };
            }
        });
        result?;
        map.end()
    }
}

impl<'de, T: Metrics> Deserialize<'de> for Flat<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Numbers(PhantomData))
    }
}

/// Takes the numbers of a map; the object has other fields, too.
struct Numbers<T>(PhantomData<T>);

impl<'de, T: Metrics> Visitor<'de> for Numbers<T> {
    type Value = Flat<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Flat<T>, A::Error> {
        let mut numbers: BTreeMap<String, Value> = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, serde_json::Value>()? {
            let number = match value {
                serde_json::Value::Number(n) => n.as_u64().map(Value::Count).or(n.as_f64().map(Value::Number)),
                serde_json::Value::Bool(is_so) => Some(Value::Count(is_so.into())),
                _ => None,
            };
            numbers.extend(number.map(|number| (key, number)));
        }
        Ok(Flat(T::read(&mut |declared| numbers.get(declared.key).copied())))
    }
}
