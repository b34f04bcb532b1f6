//! Shared by the readers of line-based formats: lines, interned names, ends of fields, numbers read with
//! vector instructions, located findings. Knows no format.

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
pub(super) use names::{MAX_NAMES, Names};
#[cfg(target_arch = "x86_64")]
pub(super) use vectors::Avx2;
pub(super) use vectors::{Pattern, Scalar, Vectors};
pub(super) use word_map::WordMap;
