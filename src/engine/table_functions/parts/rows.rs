//! Explained responses as rows of `response_parts()`: names as views into a list that all batches of a
//! recording share. Only the columns that a statement needs are made.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;

use super::feed::Feed;
use crate::engine::time_columns::time_column;
use crate::explain::{Explained, Kind, Part, Reason, Source, State};

/// A result has batches of about as many rows.
const BATCH_ROWS: usize = 64 * 1024;

/// How a column is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Recording,
    Process,
    Type,
    Instance,
    Part,
    Begin,
    End,
    Kind,
    State,
    Core,
    Runnable,
    By,
    ByType,
    ByInstance,
    Reason,
    Held,
    Object,
    HolderState,
    Behind,
    BehindInstance,
    ActivatedBy,
    ActivatedByInstance,
    TriggeredBy,
    TriggeredByInstance,
}

/// The columns, as `queries/processes/response_part.sql` describes them: name, whether it is a number,
/// whether it can be NULL.
const COLUMNS: &[(&str, bool, bool, Column)] = &[
    ("recording", false, false, Column::Recording),
    ("process", false, false, Column::Process),
    ("type", false, false, Column::Type),
    ("instance", true, false, Column::Instance),
    ("part", true, false, Column::Part),
    ("begin_at", true, false, Column::Begin),
    ("end_at", true, false, Column::End),
    ("kind", false, false, Column::Kind),
    ("state", false, true, Column::State),
    ("core", false, true, Column::Core),
    ("runnable", false, true, Column::Runnable),
    ("by_process", false, true, Column::By),
    ("by_type", false, true, Column::ByType),
    ("by_instance", true, true, Column::ByInstance),
    ("reason", false, true, Column::Reason),
    ("held", false, true, Column::Held),
    ("object", false, true, Column::Object),
    ("holder_state", false, true, Column::HolderState),
    ("behind_process", false, true, Column::Behind),
    ("behind_instance", true, true, Column::BehindInstance),
    ("activated_by", false, true, Column::ActivatedBy),
    ("activated_by_instance", true, true, Column::ActivatedByInstance),
    ("triggered_by", false, true, Column::TriggeredBy),
    ("triggered_by_instance", true, true, Column::TriggeredByInstance),
];

/// All columns.
pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

/// Some of them.
pub(super) fn projected(columns: &[usize]) -> Result<SchemaRef> {
    Ok(Arc::new(schema().project(columns)?))
}

fn field((name, is_number, null, column): &(&str, bool, bool, Column)) -> Field {
    let ty = match is_number {
        true => DataType::Int64,
        false => DataType::Utf8View,
    };
    let field = Field::new(*name, ty, *null);
    if matches!(column, Column::Begin | Column::End) { time_column(&field) } else { field }
}

/// Makes rows of the responses of a recording.
#[derive(Debug, Clone)]
pub(super) struct PartRows {
    recording: String,
    columns: Vec<Column>,
    schema: SchemaRef,
}

impl PartRows {
    /// `columns`: the places of those that are wanted.
    pub fn new(recording: &str, columns: &[usize]) -> Result<Self> {
        let of = |place: &usize| COLUMNS.get(*place).map(|column| column.3);
        Ok(Self {
            recording: recording.to_owned(),
            columns: columns.iter().filter_map(of).collect(),
            schema: projected(columns)?,
        })
    }

    /// The rows of what was explained since the last time.
    pub fn batches(&self, feed: &mut Feed) -> Result<Vec<RecordBatch>> {
        let explained = feed.take();
        self.of(&explained, feed)
    }

    /// The rows of these.
    pub fn of(&self, explained: &[Explained], feed: &mut Feed) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        let mut rest = explained;
        while !rest.is_empty() {
            let mut parts = 0;
            let mut fits = |one: &Explained| {
                parts += one.parts.len();
                parts < BATCH_ROWS
            };
            let (these, others) = rest.split_at(rest.iter().take_while(|one| fits(one)).count().max(1));
            batches.push(self.batch(these, feed)?);
            feed.forget(these);
            rest = others;
        }
        Ok(batches)
    }

    fn batch(&self, explained: &[Explained], feed: &mut Feed) -> Result<RecordBatch> {
        let rows = explained.iter().map(|one| one.parts.len()).sum();
        let words = Words::of(feed, &self.recording);
        let names = feed.names_array();
        let columns = self.columns.iter().map(|column| words.column(*column, explained, rows, feed, &names));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

/// The numbers of the words that rows use, in the dictionary of names.
struct Words {
    recording: u32,
    types: [u32; 3],
    kinds: [u32; 6],
    states: [u32; 6],
    reasons: [u32; 6],
}

impl Words {
    fn of(feed: &mut Feed, recording: &str) -> Self {
        let mut all = |words: &[&str]| words.iter().map(|word| feed.intern(word)).collect::<Vec<_>>();
        let mut six = |words: [&str; 6]| <[u32; 6]>::try_from(all(&words)).unwrap_or_default();
        let kinds = six(["executes", "behind", "os", "lock", "event", "unknown"]);
        let states = six(["active", "running", "ready", "waiting", "polling", "parking"]);
        let reasons = six([
            "isr",
            "higher_priority",
            "equal_priority",
            "previous_instance",
            "holds",
            "not_preemptable",
        ]);
        let [task, isr, stimulus, recording, ..] = six(["T", "I", "STI", recording, "", ""]);
        Self { recording, types: [task, isr, stimulus], kinds, states, reasons }
    }

    fn column(
        &self,
        column: Column,
        explained: &[Explained],
        rows: usize,
        feed: &Feed,
        names: &Arc<StringArray>,
    ) -> Result<ArrayRef> {
        let key = |of: &dyn Fn(&Explained, &Part) -> Option<u32>| -> Result<ArrayRef> {
            let keys = explained.iter().flat_map(|one| one.parts.iter().map(|part| of(one, part)));
            let keys = keys.collect::<UInt32Array>();
            let names = DictionaryArray::try_new(keys, Arc::clone(names) as ArrayRef)?;
            // Views into the dictionary: no text is copied.
            Ok(cast(&names, &DataType::Utf8View)?)
        };
        let number = |of: &dyn Fn(&Explained, &Part) -> Option<i64>| -> Result<ArrayRef> {
            let mut numbers = Int64Array::builder(rows);
            for one in explained {
                one.parts.iter().for_each(|part| numbers.append_option(of(one, part)));
            }
            Ok(Arc::new(numbers.finish()))
        };
        match column {
            Column::Recording => key(&|_, _| Some(self.recording)),
            Column::Process => key(&|one, _| Some(one.actor.process)),
            Column::Type => key(&|one, _| Some(self.type_of(one.actor.process, feed))),
            Column::Instance => number(&|one, _| Some(one.actor.instance)),
            Column::Part => {
                let numbers = explained.iter().flat_map(|one| 0..one.parts.len() as i64);
                Ok(Arc::new(numbers.collect::<Int64Array>()))
            }
            Column::Begin => number(&|_, part| Some(part.begin)),
            Column::End => number(&|_, part| Some(part.end)),
            Column::Kind => key(&|_, part| self.kinds.get(kind(part.kind)).copied()),
            Column::State => key(&|_, part| self.state(part.state)),
            Column::Core => key(&|_, part| part.core),
            Column::Runnable => key(&|_, part| part.runnable),
            Column::By => key(&|_, part| part.by.map(name_of)),
            Column::ByType => key(&|_, part| self.type_of_source(part.by?, feed)),
            Column::ByInstance => number(&|_, part| instance_of(part.by?)),
            Column::Reason => key(&|_, part| self.reasons.get(reason(part.reason?)?).copied()),
            Column::Held => key(&|_, part| match part.reason? {
                Reason::LowerPriorityHolds(object) => Some(object),
                _ => None,
            }),
            Column::Object => key(&|_, part| part.object),
            Column::HolderState => key(&|_, part| self.state(part.holder_state)),
            Column::Behind => key(&|_, part| Some(part.by_behind?.process)),
            Column::BehindInstance => number(&|_, part| Some(part.by_behind?.instance)),
            Column::ActivatedBy => key(&|one, _| one.activated_by.map(name_of)),
            Column::ActivatedByInstance => number(&|one, _| instance_of(one.activated_by?)),
            Column::TriggeredBy => key(&|one, _| Some(feed.triggered_by(one.actor)?.process)),
            Column::TriggeredByInstance => number(&|one, _| Some(feed.triggered_by(one.actor)?.instance)),
        }
    }

    fn state(&self, state: Option<State>) -> Option<u32> {
        let place = match state? {
            State::Active => 0,
            State::Running => 1,
            State::Ready => 2,
            State::Waiting => 3,
            State::Polling => 4,
            State::Parking => 5,
        };
        self.states.get(place).copied()
    }

    fn type_of(&self, process: u32, feed: &Feed) -> u32 {
        let [task, isr, _] = self.types;
        if feed.is_isr(process) { isr } else { task }
    }

    fn type_of_source(&self, source: Source, feed: &Feed) -> Option<u32> {
        match source {
            Source::Process(actor) => Some(self.type_of(actor.process, feed)),
            // An alarm that is called like a task: which of them it was, the trace does not say.
            Source::Stimulus(name) => (!feed.is_process(name)).then_some(self.types[2]),
        }
    }
}

fn kind(kind: Kind) -> usize {
    match kind {
        Kind::Executes => 0,
        Kind::Behind => 1,
        Kind::Os => 2,
        Kind::Lock => 3,
        Kind::WaitsFor => 4,
        Kind::Unknown => 5,
    }
}

fn reason(reason: Reason) -> Option<usize> {
    Some(match reason {
        Reason::Isr => 0,
        Reason::HigherPriority => 1,
        Reason::EqualPriority => 2,
        Reason::PreviousInstance => 3,
        Reason::LowerPriorityHolds(_) => 4,
        Reason::LowerPriorityNotPreemptable => 5,
        Reason::NotKnown => return None,
    })
}

fn name_of(source: Source) -> u32 {
    match source {
        Source::Process(actor) => actor.process,
        Source::Stimulus(name) => name,
    }
}

fn instance_of(source: Source) -> Option<i64> {
    match source {
        Source::Process(actor) => Some(actor.instance),
        Source::Stimulus(_) => None,
    }
}
