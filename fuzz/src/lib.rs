//! What every reader must hold for any bytes, for the fuzz targets beside this file. The checks themselves live
//! with the tests, which replay `seeds/` on every run (`tests/it/fuzz_corpus.rs`).
//!
//! ```text
//! cargo install cargo-fuzz
//! cargo fuzz run -s none trace32_data fuzz/corpus/trace32_data fuzz/seeds/trace32_data -- -max_total_time=120
//! ```
//!
//! New inputs go to `corpus/`, which is not committed; an input that found a bug goes to `seeds/` with the fix.
//! `unsafe` is only what calls functions for instructions that the processor is known to have; none of them has a pointer. (What asks
//! the system about open files has, but no target opens a file.) The sanitizers, which need a nightly compiler, are for the target
//! `hash` and left out elsewhere (`-s none`).

#[path = "../../tests/it/fuzz_corpus/checks/mod.rs"]
mod checks;

pub use checks::*;
