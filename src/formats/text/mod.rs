//! What readers of line-based formats share: lines, names by number, the ends of fields, numbers eight and sixteen bytes at a time, located
//! findings.
//! Knows no format.

mod findings;
mod line;
mod names;
pub(super) mod stops;
pub(super) mod swar;
#[cfg(target_arch = "x86_64")]
pub(super) mod wide;

pub(super) use findings::Findings;
pub(super) use line::{Line, line_end, sign, usual, without_bom};
pub(super) use names::Names;
