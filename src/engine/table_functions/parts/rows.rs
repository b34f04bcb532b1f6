//! Explained responses as rows of `response_parts()`: names as views into a list that all batches of a
//! recording share. Only the columns that a statement needs are made.

use std::iter;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanBufferBuilder, Int64Array, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::Result;

use super::feed::Made;
use super::names::Names;
use super::processes::Processes;
use super::words::Words;
use crate::engine::time_columns::time_column;
use crate::explain::{Explained, Part, Reason, Source};

/// A result has batches of about as many rows: each column is a walk over the parts, which stay in the cache.
const BATCH_ROWS: usize = 16 * 1024;

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
    Length,
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
/// whether it can be NULL. All of them are made here: of a statement that computes one, the engine shares the
/// rows out to its threads, and they come in any order.
const COLUMNS: &[(&str, bool, bool, Column)] = &[
    ("recording", false, false, Column::Recording),
    ("process", false, false, Column::Process),
    ("type", false, false, Column::Type),
    ("instance", true, false, Column::Instance),
    ("part", true, false, Column::Part),
    ("begin_at", true, false, Column::Begin),
    ("end_at", true, false, Column::End),
    ("length", true, false, Column::Length),
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
    if matches!(column, Column::Begin | Column::End | Column::Length) { time_column(&field) } else { field }
}

/// Makes rows of the responses of a recording.
#[derive(Debug)]
pub(super) struct PartRows {
    columns: Vec<Column>,
    schema: SchemaRef,
    words: Words,
    /// All names as they were last, and as views: no text is copied into rows.
    names: (Arc<StringArray>, ArrayRef),
}

impl PartRows {
    /// `columns`: the places of those that are wanted.
    pub fn new(columns: &[usize], names: &Names) -> Result<Self> {
        let of = |place: &usize| COLUMNS.get(*place).map(|column| column.3);
        let (words, names) = (names.words(), names.array());
        let views = cast(names.as_ref(), &DataType::Utf8View)?;
        Ok(Self {
            columns: columns.iter().filter_map(of).collect(),
            schema: projected(columns)?,
            words,
            names: (names, views),
        })
    }

    /// The rows of these.
    pub fn batches(&mut self, made: &Made) -> Result<Vec<RecordBatch>> {
        if !Arc::ptr_eq(&self.names.0, &made.names) {
            self.names = (Arc::clone(&made.names), cast(made.names.as_ref(), &DataType::Utf8View)?);
        }
        let all: Vec<Explained> = made.explanations.iter().collect();
        let mut batches = Vec::new();
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let mut parts = 0;
            let mut fits = |one: &Explained| {
                parts += one.parts.len();
                parts < BATCH_ROWS
            };
            let (these, others) = rest.split_at(rest.iter().take_while(|one| fits(one)).count().max(1));
            batches.push(self.batch(&Rows { explained: these, processes: &made.processes })?);
            rest = others;
        }
        Ok(batches)
    }

    fn batch(&self, rows: &Rows<'_>) -> Result<RecordBatch> {
        let columns = self.columns.iter().map(|column| self.column(*column, rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let count = rows.explained.iter().map(|one| one.parts.len()).sum();
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }

    fn column(&self, column: Column, rows: &Rows<'_>) -> Result<ArrayRef> {
        let (words, processes) = (&self.words, rows.processes);
        let names = |keys: UInt32Array| -> Result<ArrayRef> { Ok(take(&self.names.1, &keys, None)?) };
        let type_of = |process| words.type_of(process, processes);
        match column {
            Column::Recording => names(rows.same(|_| words.recording)),
            Column::Process => names(rows.same(|one| one.actor.process)),
            Column::Type => names(rows.same(|one| type_of(one.actor.process))),
            Column::Instance => Ok(Arc::new(rows.same::<Int64Type>(|one| one.actor.instance))),
            Column::Part => {
                let numbers = rows.explained.iter().flat_map(|one| 0..one.parts.len() as i64);
                Ok(Arc::new(numbers.collect::<Int64Array>()))
            }
            Column::Begin => Ok(Arc::new(rows.all::<Int64Type>(|part| part.begin))),
            Column::End => Ok(Arc::new(rows.all::<Int64Type>(|part| part.end))),
            Column::Length => Ok(Arc::new(rows.all::<Int64Type>(|part| part.end.saturating_sub(part.begin)))),
            Column::Kind => names(rows.all(|part| words.kind(part.kind))),
            Column::State => names(rows.some(|part| words.state(part.state))),
            Column::Core => names(rows.some(|part| part.core)),
            Column::Runnable => names(rows.some(|part| part.runnable)),
            Column::By => names(rows.some(|part| part.by.map(name_of))),
            Column::ByType => names(rows.some(|part| words.type_of_source(part.by?, processes))),
            Column::ByInstance => Ok(Arc::new(rows.some::<Int64Type>(|part| instance_of(part.by?)))),
            Column::Reason => names(rows.some(|part| words.reason(part.reason?))),
            Column::Held => names(rows.some(|part| match part.reason? {
                Reason::LowerPriorityHolds(object) => Some(object),
                _ => None,
            })),
            Column::Object => names(rows.some(|part| part.object)),
            Column::HolderState => names(rows.some(|part| words.state(part.holder_state))),
            Column::Behind => names(rows.some(|part| Some(part.by_behind?.process))),
            Column::BehindInstance => {
                Ok(Arc::new(rows.some::<Int64Type>(|part| Some(part.by_behind?.instance))))
            }
            Column::ActivatedBy => names(rows.same_or_none(|one| one.activated_by.map(name_of))),
            Column::ActivatedByInstance => {
                Ok(Arc::new(rows.same_or_none::<Int64Type>(|one| instance_of(one.activated_by?))))
            }
            Column::TriggeredBy => names(rows.same_or_none(|one| Some(one.triggered_by?.process))),
            Column::TriggeredByInstance => {
                Ok(Arc::new(rows.same_or_none::<Int64Type>(|one| Some(one.triggered_by?.instance))))
            }
        }
    }
}

/// The responses whose parts become rows.
struct Rows<'a> {
    explained: &'a [Explained<'a>],
    processes: &'a Processes,
}

impl Rows<'_> {
    /// A value of each row.
    fn all<T: ArrowPrimitiveType>(&self, of: impl Fn(&Part) -> T::Native) -> PrimitiveArray<T> {
        let mut values = Vec::with_capacity(self.count());
        for one in self.explained {
            values.extend(one.parts.iter().map(&of));
        }
        PrimitiveArray::new(values.into(), None)
    }

    /// A value of each row, or none.
    fn some<T: ArrowPrimitiveType>(&self, of: impl Fn(&Part) -> Option<T::Native>) -> PrimitiveArray<T> {
        let mut values = Vec::with_capacity(self.count());
        let mut valid = BooleanBufferBuilder::new(self.count());
        for part in self.explained.iter().flat_map(|one| one.parts) {
            let value = of(part);
            valid.append(value.is_some());
            values.push(value.unwrap_or_default());
        }
        PrimitiveArray::new(values.into(), Some(NullBuffer::new(valid.finish())))
    }

    /// A value that all rows of a response have.
    fn same<T: ArrowPrimitiveType>(&self, of: impl Fn(&Explained<'_>) -> T::Native) -> PrimitiveArray<T> {
        let mut values = Vec::with_capacity(self.count());
        for one in self.explained {
            values.extend(iter::repeat_n(of(one), one.parts.len()));
        }
        PrimitiveArray::new(values.into(), None)
    }

    /// A value that all rows of a response have, or none.
    fn same_or_none<T: ArrowPrimitiveType>(
        &self,
        of: impl Fn(&Explained<'_>) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        let mut values = Vec::with_capacity(self.count());
        let mut valid = BooleanBufferBuilder::new(self.count());
        for one in self.explained {
            let (value, rows) = (of(one), one.parts.len());
            valid.append_n(rows, value.is_some());
            values.extend(iter::repeat_n(value.unwrap_or_default(), rows));
        }
        PrimitiveArray::new(values.into(), Some(NullBuffer::new(valid.finish())))
    }

    fn count(&self) -> usize {
        self.explained.iter().map(|one| one.parts.len()).sum()
    }
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
