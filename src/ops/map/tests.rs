//! A recording that is cut in two gives the events of the whole, if the second part is mapped from the state
//! at the end of the first.

mod toy;

use super::*;
use crate::btf::{Names, Note};
use crate::description::{Description, plan};
use crate::map::Output;
use crate::ops::ingest::ingest;
use crate::ops::ingest_options::Options;
use crate::store::RealDisk;
use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Rows in memory: table, core, batch.
struct Memory(Vec<(&'static TableSpec, Option<String>, RecordBatch)>);

impl Memory {
    fn of(db: &Database, recording: &str, tables: &[&'static TableSpec]) -> Self {
        let mut rows = Vec::new();
        for table in tables {
            for file in db.files(table, Some(recording)).unwrap() {
                for batch in read_batches(&db.place_of(&file), table, None, 1000).unwrap() {
                    rows.push((*table, file.core.clone(), batch.unwrap()));
                }
            }
        }
        Self(rows)
    }

    fn times(table: &TableSpec, batch: &RecordBatch) -> Vec<i64> {
        batch.column_by_name(table.sort[0]).unwrap().as_primitive::<Int64Type>().values().to_vec()
    }

    fn all_times(&self) -> BTreeSet<i64> {
        self.0.iter().flat_map(|(table, _, batch)| Self::times(table, batch)).collect()
    }

    /// The rows in `[from, to)`.
    fn between(&self, from: i64, to: i64) -> Self {
        let part = |(table, core, batch): &(&'static TableSpec, Option<String>, RecordBatch)| {
            let times = Self::times(table, batch);
            let wanted: BooleanArray = times.iter().map(|t| Some(from <= *t && *t < to)).collect();
            (*table, core.clone(), filter_record_batch(batch, &wanted).unwrap())
        };
        Self(self.0.iter().map(part).collect())
    }
}

impl StoredRows for Memory {
    fn cores(&self, table: &TableSpec) -> Vec<String> {
        let rows = self.0.iter().filter(|(of, ..)| of.name == table.name);
        rows.filter_map(|(_, core, _)| core.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn read<T: Send + 'static>(
        &self,
        table: &'static TableSpec,
        core: Option<String>,
        _columns: &'static [&'static str],
        decode: impl FnMut(RecordBatch) -> Result<T> + Send + 'static,
    ) -> impl Iterator<Item = Result<T>> {
        let rows = self.0.iter().filter(move |(of, c, _)| of.name == table.name && *c == core);
        rows.map(|(.., batch)| batch.clone()).collect::<Vec<_>>().into_iter().map(decode)
    }
}

fn line(output: &Output, names: &Names) -> String {
    let e = match output {
        Output::Handler { isr, process } => {
            let [isr, process] = [isr, process].map(|(name, n)| format!("{}/{n}", names.text(*name)));
            return format!("{isr} is {process}");
        }
        Output::Gap { core, begin, end } => return format!("gap {} {begin} {end}", names.text(*core)),
        Output::Event(e) | Output::Closing(e) | Output::Assumed(e) => e,
        Output::Known(known) => return format!("{} {known:?}", names.text(known.process.0)),
        Output::Lost { process, time } => return format!("lost {} {time}", names.text(process.0)),
    };
    let note = if let Note::Name(name) = e.note { names.text(name) } else { "" };
    format!(
        "{} {}/{} {} {}/{} {} {note}",
        e.time,
        names.text(e.source),
        e.source_instance,
        e.target_type,
        names.text(e.target),
        e.target_instance,
        e.action
    )
}

/// A state without the order of lists: maps with names as keys are lists in the order of ids, which differ
/// between recordings.
fn unordered(state: &str) -> Value {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(sort);
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Object(fields) => fields.values_mut().for_each(sort),
            _ => {}
        }
    }
    let mut state = serde_json::from_str(state).unwrap();
    sort(&mut state);
    state
}

/// The events of a recording, and the text of its state.
fn mapped<M: Mapper>(rows: &Memory, settings: &Value, from: Option<&str>) -> (Vec<String>, String) {
    let times = rows.all_times();
    let (begin, end) = (*times.first().unwrap(), *times.last().unwrap());
    let recording = Recording { begin, end, time_scale: crate::time::TimeScale::Ns, gaps: &[] };
    let mut mapper = M::new(serde_json::from_value(settings.clone()).unwrap(), &recording).unwrap();
    if let Some(state) = from {
        serde_json::from_str::<SavedState>(state).unwrap().resume(&mut mapper).unwrap();
    }
    for pass in 0..M::LOOK_AHEADS {
        mapper.read(rows, pass, |mapper, event| Ok(mapper.look_ahead(pass, event))).unwrap();
        mapper.end_look_ahead(pass);
    }
    let read = mapper.read(rows, M::LOOK_AHEADS, |mapper, event| {
        mapper.event(event);
        Ok(ControlFlow::Continue(()))
    });
    read.unwrap();
    let finished = mapper.finish();
    let state = SavedState::of(&mapper, &finished.state).unwrap();
    let lines = finished.outputs.iter().map(|output| line(output, mapper.names())).collect();
    (lines, serde_json::to_string_pretty(&state).unwrap())
}

/// Ingests `input` without mapping it; its name.
fn stored(database: &Path, input: &str) -> String {
    let plans = plan(
        &[Path::new(env!("CARGO_MANIFEST_DIR")).join(input)],
        &Description::default(),
        crate::formats::FORMATS,
    );
    let options = Options { map: false, ..Options::default() };
    let control = Arc::new(Control::default());
    ingest(Arc::new(RealDisk), database, &plans.unwrap(), &options, &control).unwrap().remove(0).name
}

/// Ingests `input` and compares the whole with parts, cut at `cuts` instants.
fn cut_in_two<M: Mapper>(input: &str, cuts: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let name = stored(&path, input);
    let db = Database::open(&path).unwrap();
    let tx = Database::begin(Arc::new(RealDisk), &path, None).unwrap();
    let setup = MappingSetup::read(&tx, &name).unwrap().unwrap();
    assert_eq!(setup.mapper.as_deref(), Some(M::NAME));
    let rows = Memory::of(&db, &name, M::TABLES);
    let (whole, end) = mapped::<M>(&rows, &setup.settings, None);
    assert!(whole.len() > 10 && end.contains("\"@\""), "{end}");
    let times: Vec<i64> = rows.all_times().into_iter().collect();
    // Only the first part shows what held before the first event, so a part of a single event is too short.
    let step = (times.len() / cuts).max(1);
    for cut in (step..times.len()).step_by(step) {
        let at = times[cut];
        let (mut lines, state) = mapped::<M>(&rows.between(i64::MIN, at), &setup.settings, None);
        let (second, at_end) = mapped::<M>(&rows.between(at, i64::MAX), &setup.settings, Some(&state));
        lines.extend(second);
        assert_eq!(lines, whole, "{input} cut at {at}");
        assert_eq!(unordered(&at_end), unordered(&end), "{input} cut at {at}");
    }
}

#[test]
fn software_events() {
    for input in ["tests/data/erika2/events", "tests/data/osek/isr", "demo/recording"] {
        cut_in_two::<OsekMapper>(input, 20);
    }
}

#[test]
fn kernel_events() {
    cut_in_two::<QnxMapper>("tests/data/qnx/services.txt", 20);
}

#[test]
fn commands_of_grasp() {
    cut_in_two::<GraspMapper>("tests/data/grasp/control.grasp", 20);
}

#[test]
fn a_state_of_another_mapper_is_refused() {
    let text = r#"{"mapper": "qnx", "version": 1, "state": null}"#;
    let state: SavedState = serde_json::from_str(text).unwrap();
    let recording = Recording { begin: 0, end: 0, time_scale: crate::time::TimeScale::Ns, gaps: &[] };
    let mut mapper = GraspMapper::new(grasp::Settings {}, &recording).unwrap();
    let e = state.resume(&mut mapper).unwrap_err();
    assert!(e.to_string().contains("'qnx' 1, not of 'grasp' 1"), "{e}");
}
