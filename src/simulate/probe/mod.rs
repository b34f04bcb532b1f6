//! The recording that a hardware probe would export from a simulated system: accesses and functions per
//! core, and the files that describe it. Not what happens in the system (see `kernel`).

mod names;
mod orti;
mod writer;

pub use orti::description;
pub use writer::{Exports, Probe};
