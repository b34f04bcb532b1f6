//! What every reader promises for any bytes, for the fuzz targets. The checks are part of the tests, which
//! replay `seeds/` on every run (`tests/it/fuzz_corpus.rs`).
//!
//! `tests/fuzz.py` looks for new inputs, so many seconds for each target, and goes on where it ended. Of one
//! target, with cargo-fuzz:
//!
//! ```text
//! ulimit -v 4000000
//! cargo fuzz run -s none trace32_data fuzz/corpus/trace32_data fuzz/seeds/trace32_data -- -max_total_time=120
//! ```
//!
//! The limit in KiB makes a finding of a small input that asks for much memory. The target `log` writes files
//! where `TMPDIR` says: a folder in memory is the fastest.
//!
//! New inputs go to `corpus/`, which is not committed; an input that found a bug goes to `seeds/` with the
//! fix. The `unsafe` code that a target reaches calls functions for instructions that the processor is known
//! to have, none of which reads through a pointer (docs/unsafe.md). So the targets look for new inputs
//! without sanitizers, which makes them faster (`-s none`); `tests/run.sh sanitize` replays the seeds with one.

#[path = "../../tests/it/fuzz_corpus/checks/mod.rs"]
mod checks;

pub use checks::*;
