//! ORTI/KOIL files of OSEK generators and the files that complete them: reading only. Not for what the
//! objects mean to a trace (`map`), and not for writing ORTI.
//!
//! * `lexer`: bytes to tokens, with comments and preprocessor lines dropped.
//! * `parser`: tokens, taken through `cursor`, to [`Orti`]; recovers at `;` and `}`. `check` then compares
//!   the two halves.
//! * `model`: the content of an ORTI file; `findings`: what is unusual in its text.
//! * `formula`: the C expressions of the information section; `formula_parser` compiles them, `evaluation`
//!   computes them over traced values.
//! * `os_header`: the numbers of `eecfg.h`, which ORTI lacks (event masks, spinlocks, remote tasks).
//! * `symbols`: an address table, for values that are handler addresses.
//!
//! The grammar is that of ORTI 2.2 Part A, widened by what generators really write. Nothing here fails:
//! unusable text becomes a [`Finding`]. No crate reads ORTI, and a parser generator does not recover from the
//! mistakes of ORTI generators.

mod check;
mod cursor;
mod evaluation;
mod findings;
mod formula;
mod formula_parser;
mod lexer;
mod model;
mod os_header;
mod parser;
mod symbols;
#[cfg(test)]
mod tests;

pub use evaluation::Width;
pub use findings::Finding;
pub use formula::{Formula, canonical_path};
pub use model::{EnumElement, EnumValue, Orti};
pub use os_header::OsHeader;
pub use symbols::Symbols;
