//! Turns `schemas/*.toml` into Rust: table descriptions, column names, typed rows to write and typed views to read (see
//! `src/schema`); and `queries/` into a list of the SQL that ships (see `src/library`). Not used when the program runs.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script reads its environment, writes its output and talks to cargo"
)]

use std::path::PathBuf;
use std::{env, error, fs};

#[path = "../src/schema/column_type.rs"]
mod column_type;
mod queries;
mod rows;
mod sources;
mod specs;
mod tables;
mod views;

type Result<T, E = Box<dyn error::Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for input in ["build", "src/schema/column_type.rs", "schemas", "queries"] {
        println!("cargo::rerun-if-changed={input}");
    }
    // Processes of a cluster have to be of the same sources.
    if env::var_os("CARGO_FEATURE_CLUSTER").is_some() {
        println!("cargo::rustc-env=BTFDB_SOURCES={:016x}", sources::sum(&root)?);
    }
    let tables = tables::read_tables(&root.join("schemas"))?;
    fs::write(out.join("schema.rs"), specs::generate(&tables))?;
    fs::write(out.join("queries.rs"), queries::generate(&root.join("queries"))?)?;
    Ok(())
}
