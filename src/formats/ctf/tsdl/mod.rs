//! TSDL, the language of the metadata of CTF 1.8. Not what is declared in it (see `model`).

mod blocks;
mod lexer;
mod types;

use super::model::{ByteOrder, Trace};
use crate::error::Result;
pub(super) use blocks::uuid;

/// Reads metadata. `native`: the byte order if the text does not declare it.
///
/// # Errors
/// With the line: what is no TSDL, and what is declared by nothing.
pub(super) fn parse(text: &str, native: ByteOrder) -> Result<Trace> {
    let tokens = lexer::tokens(text)?;
    let native = blocks::native_order(&tokens).unwrap_or(native);
    types::Parser::new(tokens, native).trace()
}
