//! What each reader promises for any bytes, as functions that panic if a promise is broken. The replay of the
//! seeds uses them and, through a `#[path]`, the fuzz targets do. So they use the public interface of btfdb
//! and the standard library, nothing else.

mod btf;
mod clocks;
mod ctf;
mod descriptions;
mod ftrace;
mod grasp;
mod model;
mod orti;
mod page_sums;
mod qnx;
mod readers;
mod requirements;
mod sql_file;
mod stored;
mod systemview;
mod times;
mod trace32;

pub use btf::btf;
pub use clocks::{clock_messages, clocks_toml};
pub use ctf::{ctf_metadata, ctf_stream};
pub use descriptions::{profile_toml, profiler_xml, recording_toml};
pub use ftrace::ftrace;
pub use grasp::grasp;
pub use model::{model_toml, simulation};
pub use orti::{formula, koil_parse, oil, os_header, symbols};
pub use page_sums::page_sums;
pub use qnx::{qnx_kev, qnx_listing};
pub use requirements::{chains_toml, requirements_toml};
pub use sql_file::sql_file;
pub use stored::{ends_json, log, setup_json};
pub use systemview::systemview;
pub use times::times;
pub use trace32::{trace32_data, trace32_functions};

use std::path::Path;

/// Panics when what it checks does not hold for the given bytes.
pub type Check = fn(&[u8]);

/// The checks by the name of their fuzz target, which is also their folder of seeds.
pub const CHECKS: [(&str, Check); 30] = [
    ("btf", btf),
    ("chains_toml", chains_toml),
    ("clock_messages", clock_messages),
    ("clocks_toml", clocks_toml),
    ("ctf_metadata", ctf_metadata),
    ("ctf_stream", ctf_stream),
    ("ends_json", ends_json),
    ("formula", formula),
    ("ftrace", ftrace),
    ("grasp", grasp),
    ("koil_parse", koil_parse),
    ("log", log),
    ("model_toml", model_toml),
    ("oil", oil),
    ("os_header", os_header),
    ("page_sums", page_sums),
    ("profile_toml", profile_toml),
    ("profiler_xml", profiler_xml),
    ("qnx_kev", qnx_kev),
    ("qnx_listing", qnx_listing),
    ("recording_toml", recording_toml),
    ("requirements_toml", requirements_toml),
    ("setup_json", setup_json),
    ("simulation", simulation),
    ("sql_file", sql_file),
    ("symbols", symbols),
    ("systemview", systemview),
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

/// An error names the file, and a line only if the text has it.
fn is_located(error: &btfdb::Error, file: &str, text: &str) {
    let shown = error.to_string();
    let Some(rest) = shown.strip_prefix(file).and_then(|rest| rest.strip_prefix(':')) else {
        panic!("no place: {shown}");
    };
    let lines = 1 + text.matches('\n').count();
    match rest.split_once(':').map(|(line, _)| line.parse::<usize>()) {
        Some(Ok(line)) => assert!((1..=lines).contains(&line), "{lines} lines: {shown}"),
        _ => assert!(rest.starts_with(' ') && rest.len() > 1, "no reason: {shown}"),
    }
}
