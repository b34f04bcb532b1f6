//! The values of parameters of a statement. Not for what a parameter means.

use datafusion::common::ScalarValue;
use serde::{Deserialize, Serialize};

/// The value of a parameter, written `$NAME` in SQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Param {
    /// An integer; times are ticks.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// NULL, of any type.
    Null,
}

impl From<i64> for Param {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Param {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Param> for ScalarValue {
    fn from(value: Param) -> Self {
        match value {
            Param::Int(i) => Self::Int64(Some(i)),
            Param::Float(f) => Self::Float64(Some(f)),
            Param::Text(t) => Self::Utf8View(Some(t)),
            Param::Null => Self::Null,
        }
    }
}
