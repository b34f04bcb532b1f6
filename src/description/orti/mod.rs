//! ORTI/KOIL files of OSEK generators and the files that complete them (OIL, OS headers, symbols): reading
//! only. Not for what the objects mean to a trace (`map`), and not for writing ORTI.
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
mod oil;
mod os_header;
mod parser;
mod symbols;
#[cfg(test)]
mod tests;

pub use evaluation::Width;
pub use findings::Finding;
pub use formula::{Formula, canonical_path};
pub use model::{EnumElement, EnumValue, Object, Orti};
pub use oil::{Oil, OilObject};
pub use os_header::OsHeader;
pub use symbols::Symbols;
