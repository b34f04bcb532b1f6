//! Grasp traces (Holenderski et al., WATERS 2010): scripts of Tcl that draw a recording when the Grasp player runs them.
//! Here nothing is run: the commands that recorders write are read, in both dialects, and everything else is kept as it is.
//!
//! * `words`, `escape`, `quote` – Tcl's words, and texts as such words

mod escape;
mod quote;
#[cfg(test)]
mod tests;
pub mod words;

pub use quote::{join, quote};
