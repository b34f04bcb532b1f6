//! What each reader promises for any bytes, as functions that panic if a promise is broken. The replay of the
//! seeds uses them and, through a `#[path]`, the fuzz targets do. So they use the public interface of btfdb
//! and the standard library, nothing else.

mod btf;
mod descriptions;
mod grasp;
mod orti;
mod qnx;
mod times;
mod trace32;

pub use btf::btf;
pub use descriptions::{profile_toml, recording_toml};
pub use grasp::grasp;
pub use orti::{formula, koil_parse, oil, os_header, symbols};
pub use qnx::{qnx_kev, qnx_listing};
pub use times::times;
pub use trace32::{trace32_data, trace32_functions};

use std::path::Path;

/// Panics when what it checks does not hold for the given bytes.
pub type Check = fn(&[u8]);

/// The checks by the name of their fuzz target, which is also their folder of seeds.
pub const CHECKS: [(&str, Check); 14] = [
    ("btf", btf),
    ("formula", formula),
    ("grasp", grasp),
    ("koil_parse", koil_parse),
    ("oil", oil),
    ("os_header", os_header),
    ("profile_toml", profile_toml),
    ("qnx_kev", qnx_kev),
    ("qnx_listing", qnx_listing),
    ("recording_toml", recording_toml),
    ("symbols", symbols),
    ("times", times),
    ("trace32_data", trace32_data),
    ("trace32_functions", trace32_functions),
];

/// Checks every seed: the files in the folder of each target.
pub fn replay(folder: &Path) {
    for (target, check) in CHECKS {
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
