//! The integration tests: one binary, because every binary that links the query engine is large. What
//! needs no command line is tested through the library.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make and break files, and stop at the first surprise"
)]

mod absent;
mod align;
mod architecture;
mod archive;
mod bad_input;
mod bound;
mod btf;
mod causes;
mod chains;
mod cli;
mod conform;
mod continued;
mod cores;
mod corpus;
mod ctf;
mod derived_models;
mod described;
mod documents;
mod doubts;
mod encodings;
mod examples;
mod explain;
mod explain_one;
mod faults;
mod faults_of_verbs;
#[path = "../faulty_disk/mod.rs"]
#[allow(dead_code, reason = "the unit tests of `store` use the rest")]
mod faulty_disk;
mod fleet;
mod follow;
mod ftrace;
mod fuzz_corpus;
mod grasp;
mod grasp_out;
mod hostile_names;
mod in_sql;
mod in_time;
mod judge;
mod metrics;
mod mutations;
mod names;
#[path = "../neutrino/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the unit tests of the library and `benches` use the rest")]
mod neutrino;
mod on_disk_versions;
mod osek;
mod page;
mod pictures;
mod plot;
mod qnx;
mod qnx_truth;
mod reference;
mod regress;
mod requirements;
mod shell;
mod simulated;
mod support;
#[cfg(unix)]
mod systemview;
mod tail;
mod terminal;
mod tidy;
mod tour;
mod toy;
mod trust;
mod typed_columns;
mod typed_sql;
mod unsafe_code;
mod with_state;

// For `faulty_disk`.
use btfdb::RealDisk;
use btfdb::internals::{Disk, DiskFile};
