//! What every reader promises for any bytes, for the fuzz targets. The checks are part of the tests, which
//! replay `seeds/` on every run (`tests/it/fuzz_corpus.rs`).
//!
//! ```text
//! cargo install cargo-fuzz
//! cargo fuzz run -s none trace32_data fuzz/corpus/trace32_data fuzz/seeds/trace32_data -- -max_total_time=120
//! ```
//!
//! New inputs go to `corpus/`, which is not committed; an input that found a bug goes to `seeds/` with the
//! fix. `unsafe` code calls functions for instructions that the processor is known to have, none of which has
//! a pointer, or asks the system about open files, which no target opens. So the targets run without
//! sanitizers, which need a nightly compiler (`-s none`).

#[path = "../../tests/it/fuzz_corpus/checks/mod.rs"]
mod checks;

pub use checks::*;
