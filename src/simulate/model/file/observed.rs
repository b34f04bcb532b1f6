//! The text of observed times → their runs. Not the other distributions (see `random_times`).

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::values::{Count, Scalar, Time};
use crate::error::{Error, Result};
use crate::simulate::model::{Distribution, Runs};

/// A time, or `{ value = "1ms", times = 40 }`: so many times in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedText {
    time: Time,
    times: Count,
}

/// Equal times in a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunText {
    value: Time,
    #[serde(default)]
    times: Count,
}

/// Written by hand, so that the place of a mistake in the list is kept.
impl<'de> Deserialize<'de> for ObservedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = ObservedText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"1.5ms\", or { value = \"1.5ms\", times = 40 }")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ObservedText, E> {
                once(Scalar::Text(text.to_owned()))
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<ObservedText, E> {
                once(Scalar::Integer(n.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ObservedText, A::Error> {
                let run = RunText::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ObservedText { time: run.value, times: run.times })
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

fn once<E: serde::de::Error>(scalar: Scalar) -> Result<ObservedText, E> {
    let time = Time::try_from(scalar).map_err(E::custom)?;
    Ok(ObservedText { time, times: Count::default() })
}

/// The distribution of a list: in its order, or any of it.
pub(super) fn lower(list: &[ObservedText], in_turn: bool) -> Result<Distribution> {
    if list.is_empty() {
        let key = if in_turn { "in_turn" } else { "one_of" };
        return Err(Error::input(format!("{key} has no time"))
            .hint(format!("write for example {{ {key} = [\"1ms\", \"1.2ms\"] }}")));
    }
    let mut values = Runs::default();
    list.iter().for_each(|observed| values.push_equal(observed.times.0, observed.time.0));
    Ok(Distribution::Observed { values, in_turn })
}
