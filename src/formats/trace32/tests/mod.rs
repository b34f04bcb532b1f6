//! Tests of the TRACE32 readers through their interface. Small parts are tested next to their code.

mod corpus;
mod data_lines;
mod function_lines;
mod layouts;
mod properties;
mod shapes;

use super::*;
use crate::diagnostics::Log;
use crate::time::TimeScale;

/// Hexadecimal values, nanoseconds, no offset.
fn settings() -> ExportSettings {
    ExportSettings { radix: Radix::Hex, scale: TimeScale::Ns, offset: 0, source: "core0.csv".to_owned() }
}

/// The columns of the thesis.
fn thesis_layout() -> DataLayout {
    detect_data_layout(b"", None).unwrap()
}

fn data(text: &str) -> ExportRows {
    parse_data(text.as_bytes(), true, &thesis_layout(), &settings())
}

fn functions(text: &str) -> ExportRows {
    parse_functions(text.as_bytes(), &settings())
}

/// The codes of the findings, in order, with their lines.
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
