//! What btfdb can do, one file per verb, without a terminal: each function takes values and returns values.
//! Not the commands that print them (see `cli`).

mod after;
#[cfg(feature = "engine")]
pub mod align;
#[cfg(feature = "engine")]
pub mod archive;
#[cfg(feature = "engine")]
pub mod bound;
#[cfg(feature = "engine")]
pub mod chains;
#[cfg(feature = "engine")]
pub mod check;
#[cfg(feature = "engine")]
mod choice;
#[cfg(feature = "engine")]
pub mod compare;
mod continued;
mod control;
mod coverage;
mod derived;
mod describe;
mod entities;
#[cfg(feature = "engine")]
pub mod explain;
mod extent;
pub mod findings;
mod forget;
pub mod ingest;
mod ingest_one;
mod ingest_options;
mod keep;
mod labels;
#[cfg(feature = "engine")]
pub mod made;
#[cfg(feature = "engine")]
pub mod made_requirements;
pub mod map;
#[cfg(feature = "engine")]
pub mod map_again;
mod mapped;
#[cfg(feature = "engine")]
pub mod metrics;
#[cfg(feature = "engine")]
pub mod model;
#[cfg(feature = "engine")]
pub mod open;
mod order;
mod parts;
#[cfg(feature = "engine")]
pub mod plot;
mod read;
mod recognise;
#[cfg(feature = "engine")]
pub mod regress;
mod remove;
#[cfg(feature = "engine")]
pub mod repair;
#[cfg(feature = "engine")]
pub mod require;
mod runs;
mod setup;
#[cfg(feature = "engine")]
pub mod tail;

#[cfg(feature = "engine")]
pub use choice::Choice;
pub use continued::Ends;
pub use control::{Control, Progress};
pub use describe::{RecordingSummary, summary};
pub use ingest_options::{Keep, Options as IngestOptions};
#[cfg(feature = "engine")]
pub use labels::label;
pub use remove::remove;
pub use setup::MappingSetup;
