//! Replays the seeds of the fuzz targets (`fuzz/seeds/TARGET/*`), so that mended faults stay mended.
//! `cargo fuzz` looks for new ones (see `fuzz/src/lib.rs`).

// Where it is, because it is also part of the unit tests of the library (`src/lib.rs`).
#[path = "fuzz_corpus/checks/mod.rs"]
mod checks;

use std::path::Path;

#[test]
fn every_seed_of_every_fuzz_target_holds() {
    checks::replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds"));
}

#[test]
fn every_check_has_a_fuzz_target_and_every_target_a_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut targets: Vec<_> = files.map(|path| path.file_stem().unwrap().to_owned()).collect();
    let mut names = checks::CHECKS.map(|(name, _)| name);
    targets.sort();
    names.sort_unstable();
    assert_eq!(targets, names);
}
