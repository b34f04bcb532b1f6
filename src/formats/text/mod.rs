//! What readers of line-based formats share: lines, names by number, the ends of fields, numbers with vectors, located
//! findings. Knows no format.

mod byte_map;
mod field_ends;
mod findings;
mod line;
mod names;
pub(super) mod stops;
pub(super) mod swar;
mod vectors;
mod word_map;

pub(super) use byte_map::ByteMap;
pub(super) use field_ends::{FieldEnds, LineEnds};
pub(super) use findings::Findings;
pub(super) use line::{Line, likely, line_end, sign, without_bom};
pub(super) use names::Names;
#[cfg(target_arch = "x86_64")]
pub(super) use vectors::Wide;
pub(super) use vectors::{Bytes, Pattern, Vectors};
pub(super) use word_map::WordMap;
