//! Tests of the TRACE32 readers as their users see them; the small parts are tested beside their code.

mod corpus;
mod data_lines;
mod function_lines;
mod layouts;
mod properties;

use super::*;
use crate::diagnostics::Log;
use crate::input::Beside;
use crate::time::TimeScale;

/// Hexadecimal values, nanoseconds, no offset.
fn settings() -> Settings {
    Settings { radix: Radix::Hex, scale: TimeScale::Ns, offset: 0, source: "core0.csv".to_owned() }
}

/// The columns of the thesis.
fn usual() -> DataLayout {
    detect_data_layout(b"", None).unwrap()
}

/// As the reader does, of text that nobody hashes.
fn parse_data(chunk: &[u8], first: bool, layout: &DataLayout, settings: &Settings) -> DataRows {
    super::parse_data(chunk, first, layout, settings, &mut Beside::nothing())
}

fn parse_functions(chunk: &[u8], settings: &Settings) -> FunctionRows {
    super::parse_functions(chunk, settings, &mut Beside::nothing())
}

fn data(text: &str) -> DataRows {
    parse_data(text.as_bytes(), true, &usual(), &settings())
}

fn functions(text: &str) -> FunctionRows {
    parse_functions(text.as_bytes(), &settings())
}

/// The codes of what was found, in order, with their lines.
fn findings(log: &Log) -> Vec<(&'static str, u64)> {
    log.entries().iter().map(|entry| (entry.code, entry.line.unwrap())).collect()
}

/// Lines, rows, gaps, rejected, skipped.
fn account(counts: Counts) -> [u64; 5] {
    [counts.lines, counts.rows, counts.gaps, counts.rejected, counts.skipped]
}

fn assert_complete(counts: Counts) {
    assert_eq!(counts.lines, counts.rows + counts.gaps + counts.rejected + counts.skipped, "{counts:?}");
}
