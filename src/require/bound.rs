//! The bounds in a file of requirements: numbers, and times with a unit. Not what they bound.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::time::{TimeScale, parse_time_argument};

/// A number, or a time with a unit.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Plain; for times, ticks.
    Integer(i64),
    Number(f64),
    /// `10ms`
    Text(String),
}

impl Bound {
    /// The bound as a number; times in ticks of `scale`.
    pub fn value(&self, scale: TimeScale) -> Result<f64> {
        match self {
            Self::Integer(n) => Ok(*n as f64),
            Self::Number(n) => Ok(*n),
            Self::Text(_) => Ok(self.ticks(scale)? as f64),
        }
    }

    /// The bound as a time, in ticks of `scale`.
    pub fn ticks(&self, scale: TimeScale) -> Result<i64> {
        match self {
            Self::Integer(n) => Ok(*n),
            Self::Number(n) => {
                Err(Error::input(format!("{n} is no time")).hint("write for example \"1.5ms\""))
            }
            Self::Text(text) => parse_time_argument(text, scale).map_err(Error::input),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(n) => write!(f, "{n}"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

/// Written by hand, so that errors are in plain words.
impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Bounds)
    }
}

struct Bounds;

impl Visitor<'_> for Bounds {
    type Value = Bound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a time with a unit such as \"1.5ms\"")
    }

    fn visit_i64<E>(self, n: i64) -> Result<Bound, E> {
        Ok(Bound::Integer(n))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Bound, E> {
        Ok(Bound::Number(n))
    }

    fn visit_str<E>(self, text: &str) -> Result<Bound, E> {
        Ok(Bound::Text(text.to_owned()))
    }
}

/// How many there may be.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Bound")]
pub struct Count(pub u32);

impl TryFrom<Bound> for Count {
    type Error = String;

    fn try_from(bound: Bound) -> Result<Self, String> {
        let count = match &bound {
            Bound::Integer(n) => u32::try_from(*n).ok(),
            Bound::Number(_) | Bound::Text(_) => None,
        };
        count
            .map(Self)
            .ok_or_else(|| format!("{bound} is no number of events: write a whole number, such as 0"))
    }
}

/// A share, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Bound")]
pub struct Percent(pub f64);

impl TryFrom<Bound> for Percent {
    type Error = String;

    fn try_from(bound: Bound) -> Result<Self, String> {
        let percent = match &bound {
            Bound::Integer(n) => Some(*n as f64),
            Bound::Number(n) => Some(*n),
            Bound::Text(_) => None,
        };
        let percent = percent.filter(|percent| *percent >= 0.0).map(Self);
        percent.ok_or_else(|| format!("{bound} is no share: write a number of percent, such as 60"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_says_so() {
        assert!(Bound::Number(1.5).ticks(TimeScale::Ns).is_err());
        assert!(Bound::Text("5 m".into()).value(TimeScale::Ns).is_err());
        assert_eq!(Bound::Text("5us".into()).ticks(TimeScale::Ns).unwrap(), 5000);
        assert!(
            Count::try_from(Bound::Integer(-1)).is_err() && Percent::try_from(Bound::Number(-0.5)).is_err()
        );
    }
}
