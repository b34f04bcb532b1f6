//! What btfdb can do, one file per verb, without a terminal: each function takes values and gives values.
//! Not the commands that print them (see `cli`).

mod assemble;
mod control;

mod describe;
mod files;
pub mod grasp;
mod import;
pub mod ingest;
mod kernel;
pub mod map;
mod mapped;
mod order;
mod parts;
mod reading;
mod rows;
mod runs;
mod setup;

pub use control::{Control, Progress};
pub use describe::{RecordingSummary, summary};
