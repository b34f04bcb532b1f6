//! Words that tell writers and commits apart. Not secrets.

use std::hash::{BuildHasher as _, RandomState};

/// 16 hexadecimal digits that no other writer, process or machine has: of the randomness with which each
/// process begins.
pub(super) fn fresh() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Whether a text can be such a word.
pub(super) fn is_one(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())
}
