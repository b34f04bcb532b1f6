//! What btfdb adds to the SQL of its engine, written as plain SQL before the engine plans it: times with a
//! unit, columns that are named as typed, functions under the names of other databases, `SUMMARIZE`; and what
//! is refused, with the next step. Not for planning (see `plan`) and not for splitting scripts (see
//! `statement`).

mod depth;
mod duplicates;
mod names;
mod numbers;
mod parse;
mod refusals;
mod spellings;
mod summarize;
mod units;

pub(super) use depth::{MAX_DEPTH, check_types};
pub(super) use names::Names;
pub(super) use parse::{ParseOptions, Parsed, parse};
pub(super) use refusals::{check_meaning, refused};
pub(super) use spellings::SPELLINGS;
pub(super) use summarize::{described, summary};
