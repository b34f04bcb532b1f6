//! What a column can mean and how it can be encoded. The build script includes this file, so that
//! `schemas/*.toml` and the program share one list: nothing here may depend on other modules or on Arrow.

use serde::Deserialize;

/// What the values of a column mean; decides how they are held in memory and in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// A point in time, in ticks of the database's time scale (`i64`).
    Instant,
    /// A length of time, in ticks (`i64`).
    Duration,
    /// One of not too many words: entities, actions, states (dictionary in memory, string for other engines).
    Name,
    /// Free text (string).
    Text,
    /// A number without a unit: instance, sequence number (`i64`).
    Integer,
    /// Bits read as an unsigned number (`u64`).
    Unsigned,
    /// How many (`i64`).
    Count,
    /// Yes or no (`bool`).
    Flag,
    /// A size in bytes (`i64`).
    Bytes,
}

/// How a column is encoded in a Parquet file, before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// `DELTA_BINARY_PACKED`: small steps between neighbours.
    Delta,
    /// A dictionary; where it does not pay, `DELTA_BINARY_PACKED` for numbers and `PLAIN` for strings.
    Dictionary,
    /// `PLAIN`: texts and flags.
    Plain,
}

impl ColumnType {
    /// True for what an `i64` or `u64` holds.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Name | Self::Text | Self::Flag)
    }
}
