//! Ingests the recording of the demo into a database and asks it: with SQL, for a metric, and for a slice as BTF.
//!
//! `cargo run --example ingest_and_ask`

use btfdb::{
    Control, Database, Description, ExportRequest, Exporter, FORMATS, Format, IngestOptions, MetricFilter,
    RealDisk, Result, Selection, Session, SessionOptions, ingest, plan, render_rows, summaries,
};
use std::path::Path;
use std::sync::Arc;

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "an example is a program of its own")]
fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("btfdb-example-{}", std::process::id()));
    println!("{}", run(Path::new("demo/recording"), &folder)?);
    Ok(())
}

/// Makes the database in `folder`; what was asked, as text.
pub fn run(recording: &Path, folder: &Path) -> Result<String> {
    let plans = plan(&[recording.to_path_buf()], &Description::default(), FORMATS)?;
    let options = IngestOptions { strict: true, threads: 2, ..IngestOptions::default() };
    let control = Arc::new(Control::default());
    ingest(Arc::new(RealDisk), folder, &plans, &options, &control)?;

    let session = Session::open(Database::open(folder)?, SessionOptions::default())?;
    let mut text = Vec::new();
    let sql = "SELECT process, count(*) AS instances FROM process_instance GROUP BY process ORDER BY process";
    let mut rows = session.sql(sql, &[])?;
    let schema = rows.schema().clone();
    render_rows(&schema, &mut rows, Format::Table, &mut text, None, 1)?;

    // Times are ticks of the database, here nanoseconds; windows are half-open.
    let window = MetricFilter { from: Some(0), to: Some(100_000_000), ..MetricFilter::default() };
    let metric = summaries(&session, &["ResponseTime".into()], &window)?;
    let schema = metric.schema();
    let mut rows = std::iter::once(Ok(metric));
    render_rows(&schema, &mut rows, Format::Csv, &mut text, None, 1)?;

    let selection = Selection { from: Some(117_000_000), to: Some(117_100_000), ..Selection::default() };
    let request = ExportRequest { selection, ..ExportRequest::default() };
    let btf = <dyn Exporter>::of_file(Path::new("slice.btf"));
    btf.write(&session, &request, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
