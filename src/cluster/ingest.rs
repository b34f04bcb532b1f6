//! Ingest of many recordings by a cluster: each executor ingests some of the inputs, and commits each
//! recording by itself. Not the ingest of one.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::deal::deal_by_bytes;
use super::inputs::Inputs;
use super::task::{Given, Task, Work};
use crate::description::{Description, plan};
use crate::diagnostics::Severity;
use crate::engine::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::FORMATS;
use crate::ops::findings::findings;
use crate::ops::ingest::{finest, ingest};
use crate::ops::{Control, IngestOptions as Options};
use crate::schema::result::{Integers, Texts, columns};
use crate::schema::{SourceView, tables};
use crate::store::{Database, Location, RealDisk, read_batches};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// What became of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ingested {
    /// The name of its recording; of the input, if it failed.
    pub name: String,
    /// System events.
    pub events: i64,
    /// Findings that are warnings, and errors.
    pub findings: [i64; 2],
    /// Why it failed.
    pub error: Option<String>,
}

fn schema() -> SchemaRef {
    let text = |name: &str, null| Field::new(name, DataType::Utf8, null);
    let integer = |name: &str| Field::new(name, DataType::Int64, false);
    let fields = vec![
        text("input", false),
        text("recording", false),
        text("error", true),
        integer("events"),
        integer("warnings"),
        integer("errors"),
    ];
    Arc::new(Schema::new(fields))
}

/// Has inputs ingested, each of which is a recording, and returns what became of each, in their order.
///
/// # Errors
/// An input that is several recordings, or part of one; a recording that the database has already; when the
/// cluster is not there, or fails. What an executor does not ingest is no error.
pub(crate) fn ingest_all(
    at: &Location,
    inputs: &[PathBuf],
    (over, options): (&Description, &Options),
    address: &str,
    interrupt: Arc<AtomicBool>,
) -> Result<Vec<Ingested>> {
    if options.continues.is_some() || options.keep.is_some() {
        return Err(Error::usage(
            "a cluster ingests whole recordings: without --continue and without filters",
        ));
    }
    let formats = options.format.as_ref().map_or(FORMATS, std::slice::from_ref);
    let database = if Database::is_at(at)? { Some(Database::open(at)?) } else { None };
    let (mut sized, mut plans) = (Vec::new(), Vec::new());
    for input in inputs {
        let of_input = plan(std::slice::from_ref(input), over, formats)?;
        let [one] = of_input.as_slice() else {
            return Err(Error::usage(format!("'{}' is not one recording", input.display()))
                .hint("with --cluster, each input is a recording: a folder of exports, or a trace"));
        };
        if plans.iter().any(|other: &crate::description::Plan| other.name == one.name) {
            return Err(Error::usage(format!("two inputs are recordings called '{}'", one.name)));
        }
        if let Some(database) = &database
            && database.recording(&one.name)?.is_some()
        {
            return Err(Error::database(format!("the database already has a recording '{}'", one.name)));
        }
        let path = std::fs::canonicalize(input).map_err(|e| Error::io("find", input, e))?;
        let Some(path) = path.to_str() else {
            return Err(Error::usage(format!("the path '{}' is no text", path.display())));
        };
        let bytes = one.inputs.iter().filter_map(|input| input.path.metadata().ok()).map(|m| m.len()).sum();
        sized.push((path.to_owned(), bytes));
        plans.extend(of_input);
    }
    let scale = match (&database, options.time_scale) {
        (None, None) => Some(finest(&plans, options.formats)),
        (_, given) => given,
    };
    let work = Work::Ingest(Box::new(Inputs::new(over, options, scale)));
    let began = database.map_or(0, |database| database.generation());
    let task = Task::new(at.shared()?, began, Given::default(), work);
    let cluster = Cluster::at(address, interrupt)?;
    // More tasks than cores: what an executor has not begun when it dies is done by others.
    let shares = deal_by_bytes(&sized, cluster.cores()?.saturating_mul(TASKS_PER_CORE));
    let places: HashMap<&str, usize> = sized.iter().map(|(path, _)| path.as_str()).zip(0..).collect();
    let mut done: Vec<(Option<usize>, Ingested)> = Vec::new();
    cluster.run((&task.text()?, &schema()), None, &shares, |batch| {
        let ([paths, names, errors], [events, warnings, wrong]): ([Texts; 3], [Integers; 3]) =
            columns(&batch)?;
        for row in 0..batch.num_rows() {
            done.push((
                places.get(paths.value(row)).copied(),
                Ingested {
                    name: names.value(row).to_owned(),
                    events: events.value(row),
                    findings: [warnings.value(row), wrong.value(row)],
                    error: errors.get(row).map(str::to_owned),
                },
            ));
        }
        Ok(true)
    })?;
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}

/// Tasks of an ingest per core.
const TASKS_PER_CORE: usize = 4;

/// The work of an executor; `began`: the commit of the database when the ingest began.
pub(super) fn ingest_some(
    at: &Location,
    inputs: &Inputs,
    (paths, began): (&[String], u64),
    stop: &Arc<AtomicBool>,
    rows: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<()> {
    let options = inputs.options()?;
    for path in paths {
        let one = match inputs.ingest(at, Path::new(path), &options, stop) {
            Err(e) if e.kind() == ErrorKind::Interrupted => return Err(e),
            Err(e) => match inputs.came_before(at, Path::new(path), &options, began) {
                Ok(Some(one)) => one,
                _ => failed(path, &e),
            },
            Ok(one) => one,
        };
        if !rows(batch(path, &one)?) {
            break;
        }
    }
    Ok(())
}

fn failed(path: &str, error: &Error) -> Ingested {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Ingested { name: path.to_owned(), events: 0, findings: [0, 0], error: Some(text) }
}

fn batch(path: &str, one: &Ingested) -> Result<RecordBatch> {
    let number = |value: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![path])),
        Arc::new(StringArray::from(vec![one.name.as_str()])),
        Arc::new(StringArray::from(vec![one.error.as_deref()])),
        number(one.events),
        number(one.findings[0]),
        number(one.findings[1]),
    ];
    let batch = RecordBatch::try_new(schema(), columns);
    batch.map_err(|e| {
        Error::new(ErrorKind::Bug, "what became of an input does not fit its columns").because(e)
    })
}

impl Inputs {
    fn ingest(
        &self,
        at: &Location,
        path: &Path,
        options: &Options,
        stop: &Arc<AtomicBool>,
    ) -> Result<Ingested> {
        let formats = options.format.as_ref().map_or(FORMATS, std::slice::from_ref);
        let plans = plan(&[path.to_owned()], &self.over, formats)?;
        if stop.load(Ordering::Relaxed) {
            return Err(Error::interrupted());
        }
        let reports = ingest(Arc::new(RealDisk), at, &plans, options, &Arc::new(Control::stopped_by(stop)))?;
        let Some(report) = reports.first() else {
            return Err(Error::new(ErrorKind::Bug, "an input gave no recording"));
        };
        let events = report.mapped.as_ref().map(|m| m.events).or(report.imported.as_ref().map(|i| i.events));
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let errors = report.log.count_at_least(Severity::Error);
        let warnings = report.log.count_at_least(Severity::Warning) - errors;
        Ok(Ingested {
            name: report.name.clone(),
            events: count(events.unwrap_or(0)),
            findings: [count(warnings), count(errors)],
            error: None,
        })
    }

    /// The recording of an input, if it has come since the ingest began: an executor committed it, and died
    /// before it could say so. The digests tell that it is the same input.
    fn came_before(
        &self,
        at: &Location,
        path: &Path,
        options: &Options,
        began: u64,
    ) -> Result<Option<Ingested>> {
        let formats = options.format.as_ref().map_or(FORMATS, std::slice::from_ref);
        let plans = plan(&[path.to_owned()], &self.over, formats)?;
        let [plan] = plans.as_slice() else { return Ok(None) };
        let database = Database::open(at)?;
        if database.generation() <= began {
            return Ok(None);
        }
        let mut digests = Vec::new();
        for file in database.files(tables::SOURCE, Some(&plan.name))? {
            for batch in read_batches(&database.place_of(&file), tables::SOURCE, None, ROWS)? {
                let batch = batch?;
                let sources = SourceView::of(&batch)?;
                digests.extend((0..batch.num_rows()).map(|row| sources.digest.get(row).map(str::to_owned)));
            }
        }
        let mut found = Vec::new();
        for input in &plan.inputs {
            let mut hasher = blake3::Hasher::new();
            let file = File::open(&input.path).map_err(|e| Error::io("read", &input.path, e))?;
            hasher.update_reader(file).map_err(|e| Error::io("read", &input.path, e))?;
            found.push(Some(format!("blake3:{}", hasher.finalize())));
        }
        found.sort_unstable();
        digests.sort_unstable();
        let is_same = !found.is_empty() && found == digests;
        if !is_same {
            return Ok(None);
        }
        let files = database.files(tables::BTF_EVENT, Some(&plan.name))?;
        let events = i64::try_from(files.iter().map(|file| file.rows).sum::<u64>()).unwrap_or(i64::MAX);
        let of = |severity| {
            let found = findings(&database, Some(&plan.name))?.into_iter();
            Ok(found.filter(|found| found.severity == severity).map(|found| found.count).sum::<u64>())
        };
        let counts =
            [of(Severity::Warning)?, of(Severity::Error)?].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        Ok(Some(Ingested { name: plan.name.clone(), events, findings: counts, error: None }))
    }
}

/// Rows that are read at once.
const ROWS: usize = 1024;
