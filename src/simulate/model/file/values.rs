//! The values in the text of a model: times, numbers, names; with errors in plain words. Not their meaning.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::time::{TimeScale, parse_time_argument};

/// A name, with its place.
pub(super) type Name = Spanned<String>;

/// A number, or a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Integer(i128),
    Number(f64),
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(n) => write!(f, "{n}"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

/// Written by hand, so that errors are in plain words.
impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a time with a unit such as \"1.5ms\"")
            }

            fn visit_i64<E>(self, n: i64) -> Result<Scalar, E> {
                Ok(Scalar::Integer(n.into()))
            }

            fn visit_u64<E>(self, n: u64) -> Result<Scalar, E> {
                Ok(Scalar::Integer(n.into()))
            }

            fn visit_i128<E>(self, n: i128) -> Result<Scalar, E> {
                Ok(Scalar::Integer(n))
            }

            fn visit_f64<E>(self, n: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(n))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// The longest time, in ns: 36 years, so that a few of them can be added in 64 bits.
const LONGEST: i64 = i64::MAX / 8;

/// A time in ns, 0 or more: text with a unit, or a whole number of ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct Time(pub(super) i64);

impl TryFrom<Scalar> for Time {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        let ns = match &scalar {
            Scalar::Text(text) => parse_time_argument(text, TimeScale::Ns)?,
            Scalar::Integer(n) => i64::try_from(*n).map_err(|_| format!("{n} does not fit 64 bits of ns"))?,
            Scalar::Number(n) => return Err(format!("{n} has no unit; write for example \"1.5ms\"")),
        };
        match ns {
            ..0 => Err(format!("{scalar} is less than 0; no time of a model is")),
            0..=LONGEST => Ok(Self(ns)),
            _ => Err(format!(
                "{scalar} is longer than {} s, the longest time of a model",
                LONGEST / 1_000_000_000
            )),
        }
    }
}

/// A time in ns that need not be whole: the mean of a distribution, for example. A number is of ns.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct FineTime(pub(super) f64);

impl TryFrom<Scalar> for FineTime {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        let ns = match &scalar {
            Scalar::Number(n) => *n,
            Scalar::Integer(n) => *n as f64,
            Scalar::Text(text) => match parse_time_argument(text, TimeScale::Ns) {
                Ok(ns) => ns as f64,
                // Finer than 1 ns.
                Err(_) => parse_time_argument(text, TimeScale::Ps)? as f64 / 1000.0,
            },
        };
        if ns >= 0.0 && ns.is_finite() {
            Ok(Self(ns))
        } else {
            Err(format!("{scalar} is less than 0 or no number; write for example \"1.5ms\""))
        }
    }
}

/// Any number.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct Number(pub(super) f64);

impl TryFrom<Scalar> for Number {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        match scalar {
            Scalar::Number(n) if n.is_finite() => Ok(Self(n)),
            Scalar::Integer(n) => Ok(Self(n as f64)),
            other => Err(format!("{other} is no number; write for example 0.3")),
        }
    }
}

/// A whole number of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct Whole(pub(super) u32);

impl TryFrom<Scalar> for Whole {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        let whole = match &scalar {
            Scalar::Integer(n) => u32::try_from(*n).ok(),
            Scalar::Number(_) | Scalar::Text(_) => None,
        };
        whole.map(Self).ok_or_else(|| format!("{scalar} is no whole number from 0 to {}", u32::MAX))
    }
}

/// How often something is done: a whole number of 32 bits, 1 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct Count(pub(super) u32);

impl TryFrom<Scalar> for Count {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        match Whole::try_from(scalar)? {
            Whole(0) => Err("0 times is never; write 1 or more, or leave it out".to_owned()),
            Whole(count) => Ok(Self(count)),
        }
    }
}

impl Default for Count {
    fn default() -> Self {
        Self(1)
    }
}

/// A seed, of 64 bits: a number, or text where it exceeds the integers of TOML, which have a sign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Scalar")]
pub(super) struct Seed(pub(super) u64);

impl TryFrom<Scalar> for Seed {
    type Error = String;

    fn try_from(scalar: Scalar) -> Result<Self, String> {
        let seed = match &scalar {
            Scalar::Integer(n) => u64::try_from(*n).ok(),
            Scalar::Text(text) => text.parse().ok(),
            Scalar::Number(_) => None,
        };
        seed.map(Self).ok_or_else(|| format!("{scalar} is no seed: write a whole number of 0 or more"))
    }
}

/// One name, or a list of them.
#[derive(Debug, Clone)]
pub(super) enum Names {
    One(String),
    Several(Vec<Name>),
}

impl Names {
    /// The names with their places.
    pub(super) fn each(names: &Spanned<Self>) -> Vec<Name> {
        match names.get_ref() {
            Self::One(name) => vec![Spanned::new(names.span(), name.clone())],
            Self::Several(names) => names.clone(),
        }
    }
}

/// Written by hand: an untagged enumeration would lose the places.
impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, or a list of names")
            }

            fn visit_str<E>(self, name: &str) -> Result<Names, E> {
                Ok(Names::One(name.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Names, A::Error> {
                let names = Vec::<Name>::deserialize(SeqAccessDeserializer::new(seq))?;
                if names.is_empty() {
                    Err(A::Error::custom("the list names nothing"))
                } else {
                    Ok(Names::Several(names))
                }
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
