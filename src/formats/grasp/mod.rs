//! Grasp traces (Holenderski et al., WATERS 2010): scripts of Tcl that draw a recording when the Grasp player
//! runs them. Here nothing is run: the commands that recorders write are read, in both dialects, and
//! everything else is kept as it is.
//!
//! * `words`, `escape`, `quote` – Tcl's words, and texts as such words
//! * `ticks` – decimal times, exact
//! * `vocabulary`, `command` – what commands, events and options there are, and what one command says
//! * `reader`, `rows`, `probe` – chunks to commands, those to rows; whether a file is such a trace
//! * `format` – all of it as a trace format

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

pub use command::{Command, Status};
pub use format::Grasp;
pub use probe::probe;
pub use quote::{join, quote};
pub use reader::{CommandReader, Place};
pub use ticks::{NotTicks, ticks};
