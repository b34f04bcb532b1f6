//! SQL tests: every `*.slt` of this folder against a database made from the recordings that its comments name
//! (`# recording: demo/recording`, relative to the repository; `# recordings: corpus` for all of the corpus,
//! where `BTFDB_CORPUS` says where it is), or an empty one. `# align: FILE` puts them on one clock, as
//! recording `aligned`. `# param: NAME=VALUE` gives `$NAME` a value, `# chains: FILE` has the event chains,
//! `# requirements: FILE` the requirements, and `{ResponseTime}` stands for the samples of that metric.
//! `--complete` in the arguments rewrites the expected results; any other argument selects files by name.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make and break files, and stop at the first surprise"
)]

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use btfdb::internals::{Requirements, Unit, operations_of};
use btfdb::{
    AlignOptions, Control, Database, Description, FORMATS, IngestOptions, Metric, MetricFilter, Param,
    Queries, RealDisk, Session, SessionOptions, Severity, TimeScale, align, ingest, operations, plan,
    summaries,
};
use sqllogictest::{DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// A session, and the parameters of all statements.
struct Engine(Session, Vec<(String, Param)>);

#[derive(Debug)]
struct Failure(String);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl sqllogictest::DB for Engine {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let fail = |e: btfdb::Error| Failure(e.to_string());
        let params: Vec<_> = self.1.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let result =
            self.0.sql(&with_metrics(sql, &self.0, &params).map_err(fail)?, &params).map_err(fail)?;
        let types = vec![DefaultColumnType::Any; result.schema().fields().len()];
        let options = FormatOptions::default().with_null("NULL");
        let mut rows = Vec::new();
        for batch in result {
            let batch = batch.map_err(fail)?;
            let columns: Vec<ArrayFormatter<'_>> =
                batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
            for row in 0..batch.num_rows() {
                rows.push(columns.iter().map(|c| c.value(row).to_string()).collect());
            }
        }
        Ok(DBOutput::Rows { types, rows })
    }
}

/// The statement with the samples of a metric in the place of each `{NAME}`: its SQL or, where its rows are
/// folded into one value per entity, these values.
fn with_metrics(sql: &str, session: &Session, params: &[(&str, Param)]) -> btfdb::Result<String> {
    let mut pieces = sql.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
        let metric = session.queries().metric(name)?;
        let samples = match metric.fold {
            None => metric.sql.to_string(),
            Some(_) => folded(metric, session, params)?,
        };
        out.push_str(&format!("(\n{samples}\n){rest}"));
    }
    Ok(out)
}

/// What `btfdb metrics` shows of a metric that has one value per entity, in the window of the parameters.
fn folded(metric: &Metric, session: &Session, params: &[(&str, Param)]) -> btfdb::Result<String> {
    let time = |name| {
        params.iter().find(|p| p.0 == name).and_then(|p| if let Param::Int(t) = p.1 { Some(t) } else { None })
    };
    let filter = MetricFilter { from: time("from"), to: time("to"), ..MetricFilter::default() };
    let lines = summaries(session, &[metric.name.to_string()], &filter)?;
    let column = |name: &str| cast(lines.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
    let columns = ["recording", "entity", "type", "core", "max", "max_at"].map(column);
    let mut out = String::from(
        "SELECT recording, entity, type, CAST(core AS VARCHAR) AS core, value, CAST(at AS BIGINT) AS at FROM (VALUES ",
    );
    // The last row is none, but says what type the columns have.
    for row in 0..lines.num_rows() {
        let [recording, entity, ty, core, value, at] = columns.each_ref().map(|column| {
            let column = column.as_string::<i32>();
            column.is_valid(row).then(|| column.value(row))
        });
        let text =
            |name: Option<&str>| name.map_or("NULL".to_owned(), |n| format!("'{}'", n.replace('\'', "''")));
        let value = match metric.unit {
            Unit::Count => value.map(|v| v.trim_end_matches(".0")),
            _ => value,
        };
        let [value, at] = [value, at].map(|v| v.unwrap_or("NULL"));
        let [recording, entity, ty, core] = [recording, entity, ty, core].map(text);
        out.push_str(&format!("({recording}, {entity}, {ty}, {core}, {value}, {at}),"));
    }
    let none = if metric.unit == Unit::Count { "0" } else { "0.0" };
    out.push_str(&format!(
        "(NULL, NULL, NULL, NULL, {none}, 0)) AS v (recording, entity, type, core, value, at) "
    ));
    out.push_str("WHERE recording IS NOT NULL");
    Ok(out)
}

/// The recordings that a test names.
fn recordings(text: &str, root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        text.lines().filter_map(|l| l.strip_prefix("# recording: ")).map(|path| root.join(path)).collect();
    if let (true, Some(corpus)) =
        (text.contains("\n# recordings: corpus\n"), std::env::var_os("BTFDB_CORPUS"))
    {
        let folders = std::fs::read_dir(Path::new(&corpus).join("ee")).unwrap().map(|e| e.unwrap().path());
        found.extend(folders.filter(|f| f.join("recording.toml").is_file()));
    }
    found.sort();
    found
}

fn make(database: &Path, recordings: &[PathBuf]) {
    let empty = Database::begin(Arc::new(RealDisk), database, Some(TimeScale::Ns));
    empty.unwrap().commit().unwrap();
    for path in recordings {
        let plans = plan(std::slice::from_ref(path), &Description::default(), FORMATS).unwrap();
        let options = IngestOptions { threads: 2, ..IngestOptions::default() };
        let control = Arc::new(Control::default());
        let reports = ingest(Arc::new(RealDisk), database, &plans, &options, &control).unwrap();
        // Not strict: descriptions list names of what never ran in some recordings.
        let errors: u64 = reports.iter().map(|report| report.log.count_at_least(Severity::Error)).sum();
        assert_eq!(errors, 0, "{}", path.display());
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root.join("tests/slt")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "slt"));
    files.sort();
    let name = |f: &Path| format!("slt::{}", f.file_stem().unwrap().to_string_lossy());
    if args.iter().any(|a| a == "--list") {
        // The protocol of test runners that start one process per test.
        if !args.iter().any(|a| a == "--ignored") {
            files.iter().for_each(|f| println!("{}: test", name(f)));
        }
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
    let mut failed = 0;
    for file in
        files.iter().filter(|f| wanted.is_empty() || wanted.iter().any(|w| name(f).contains(w.as_str())))
    {
        let dir = tempfile::TempDir::new().unwrap();
        let database = dir.path().join("slt.db");
        let text = std::fs::read_to_string(file).unwrap();
        let param = |line: &str| {
            let (name, value) = line.strip_prefix("# param: ")?.split_once('=')?;
            Some((name.to_owned(), value.parse().map_or_else(|_| Param::Text(value.to_owned()), Param::Int)))
        };
        let params: Vec<_> = text.lines().filter_map(param).collect();
        make(&database, &recordings(&text, &root));
        if let Some(clocks) = text.lines().find_map(|l| l.strip_prefix("# align: ")) {
            let options = AlignOptions { session: SessionOptions::default(), queries: Queries::shipped() };
            let (disk, control) = (Arc::new(RealDisk), Arc::new(Control::default()));
            align(disk, &database, &root.join(clocks), "aligned", &options, &control).unwrap();
        }
        let chains = text.lines().find_map(|l| l.strip_prefix("# chains: ")).map_or(Vec::new(), |file| {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            Requirements::parse_chains(&text, Path::new(file)).unwrap()
        });
        let made = || {
            let mut made = operations();
            made.extend(text.lines().filter_map(|l| l.strip_prefix("# requirements: ")).flat_map(|file| {
                let text = std::fs::read_to_string(root.join(file)).unwrap();
                operations_of(Requirements::parse(&text, Path::new(file)).unwrap())
            }));
            made
        };
        let open = || {
            let options =
                SessionOptions { threads: Some(2), memory_limit: Some(1 << 30), ..SessionOptions::default() };
            let session = Session::open(Database::open(&database).unwrap(), options).unwrap();
            let session = session.with_operations(made()).with_chains(&chains).unwrap();
            std::future::ready(Ok(Engine(session, params.clone())))
        };
        let mut runner = Runner::new(open);
        let result = if args.iter().any(|a| a == "--complete") {
            let update = runner.update_test_file(
                file,
                "\t",
                sqllogictest::default_validator,
                sqllogictest::default_normalizer,
                sqllogictest::default_column_validator,
            );
            futures::executor::block_on(update).map_err(|e| e.to_string())
        } else {
            runner.run_file(file).map_err(|e| e.display(false).to_string())
        };
        match result {
            Ok(()) => println!("ok {}", name(file)),
            Err(e) => {
                failed += 1;
                println!("FAILED {}\n{e}", name(file));
            }
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
