//! Grasp traces (Holenderski et al., WATERS 2010): Tcl scripts that draw a recording when the Grasp player
//! runs them. Nothing is run here: the commands that recorders write are parsed, in both dialects, and
//! everything else is stored as it is.

mod command;
mod format;
mod quote;
mod reader;
mod rows;
#[cfg(test)]
mod tests;
mod ticks;
mod vocabulary;
pub mod words;

pub use format::{Grasp, probe};
pub use quote::join;
pub use reader::CommandReader;
