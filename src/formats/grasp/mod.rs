//! Grasp traces (Holenderski et al., WATERS 2010): Tcl scripts that draw a recording when the Grasp player
//! runs them. Nothing is run here: the commands that recorders write are parsed, in both dialects, and
//! everything else is stored as it is.
//!
//! * `words`, `escape`, `quote` – Tcl's words, and texts as such words
//! * `ticks` – decimal times, exact
//! * `vocabulary`, `command` – the list of commands, events and options, and the meaning of one command
//! * `reader`, `rows`, `probe` – chunks to commands, those to rows; whether a file is such a trace
//! * `format` – the trace format

mod command;
mod escape;
mod format;
mod probe;
mod quote;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod ticks;
mod vocabulary;
pub mod words;

pub use format::Grasp;
pub use probe::probe;
pub use quote::join;
pub use reader::CommandReader;
