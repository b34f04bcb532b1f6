//! Replays the seeds of the fuzz targets (`fuzz/seeds/TARGET/*`), so that mended faults stay mended.
//! `cargo fuzz` looks for new ones (see `fuzz/src/lib.rs`).

mod checks;

use std::path::Path;

#[test]
fn every_seed_of_every_fuzz_target_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    for (target, check) in checks::CHECKS {
        let seeds =
            std::fs::read_dir(folder.join(target)).unwrap_or_else(|e| panic!("seeds of {target}: {e}"));
        let mut count = 0;
        for seed in seeds.map(|entry| entry.unwrap().path()) {
            // Shown only if the check fails: the seed on which it does.
            println!("{}", seed.display());
            check(&std::fs::read(&seed).unwrap());
            count += 1;
        }
        assert!(count > 0, "{target} has no seeds");
    }
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
