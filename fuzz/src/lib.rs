//! What every reader promises for any bytes, for the fuzz targets. The checks are part of the tests, which
//! replay `seeds/` on every run (`tests/it/fuzz_corpus.rs`).
//!
//! ```text
//! cargo install cargo-fuzz
//! ulimit -v 4000000
//! cargo fuzz run -s none trace32_data fuzz/corpus/trace32_data fuzz/seeds/trace32_data -- -max_total_time=120
//! ```
//!
//! The limit in KiB makes a finding of a small input that asks for much memory. The target `log` writes files
//! where `TMPDIR` says: a folder in memory is the fastest.
//!
//! New inputs go to `corpus/`, which is not committed; an input that found a bug goes to `seeds/` with the
//! fix. `unsafe` code calls functions for instructions that the processor is known to have, none of which has
//! a pointer, or asks the system about the files of inputs, of which no target has one. So they run without
//! sanitizers, which need a nightly compiler (`-s none`).

#[path = "../../tests/it/fuzz_corpus/checks/mod.rs"]
mod checks;

pub use checks::*;
