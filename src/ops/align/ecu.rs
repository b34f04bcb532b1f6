//! A control unit of an aligned recording: its clock, the names of its entities there, and its rows. Not
//! which tables it has (see `copied`).

use crate::btf::EntityType;
use crate::btf::spec::is_environment;
use crate::clocks::Alignment;
use crate::description::ClocksFile;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::parts::ROWS_OUT;
use crate::schema::tables::{BTF_EVENT, ENTITY};
use crate::schema::{ColumnSpec, ColumnType, EntityRow, EntityView, TableSpec};
use crate::store::{Transaction, read_batches};
use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow::datatypes::{Int64Type, UInt32Type};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Columns that name entities.
const ENTITIES: [&str; 7] = ["source", "target", "process", "runnable", "entity", "core", "task"];

/// What names an entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    pub ty: String,
    pub entity: String,
}

/// The entities of a recording.
fn entities(tx: &Transaction, recording: &str) -> Result<Vec<Named>> {
    let mut all = Vec::new();
    for (_, place) in tx.files(ENTITY, recording)? {
        for batch in read_batches(&place, ENTITY, None, ROWS_OUT)? {
            let batch = batch?;
            let rows = EntityView::of(&batch)?;
            let named = |row: EntityRow<'_>| Named {
                ty: row.r#type.text().to_owned(),
                entity: row.entity.text().to_owned(),
            };
            all.extend(rows.rows().map(named));
        }
    }
    Ok(all)
}

/// A control unit whose recording becomes a part of another one.
pub(super) struct Ecu<'a> {
    pub name: &'a str,
    pub recording: &'a str,
    pub clock: Alignment,
    /// The names of entities that it does not have alone.
    shared: &'a BTreeSet<String>,
    /// Its own.
    known: &'a Known,
}

/// The names of the entities of a recording.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub all: BTreeSet<String>,
    cores: BTreeSet<String>,
}

impl Known {
    /// Those that table `entity` has, and others in its system events, such as stimuli of imported traces.
    pub fn of(tx: &Transaction, recording: &str) -> Result<Self> {
        let mut known = Self::default();
        for Named { ty, entity } in entities(tx, recording)? {
            if EntityType::parse_tolerant(&ty) == Some(EntityType::Core) {
                known.cores.insert(entity.clone());
            }
            known.all.insert(entity);
        }
        for (_, place) in tx.files(BTF_EVENT, recording)? {
            for batch in read_batches(&place, BTF_EVENT, Some(&["source", "target"]), ROWS_OUT)? {
                for column in batch?.columns() {
                    let names = column.as_dictionary_opt::<UInt32Type>().ok_or_else(misfit)?;
                    let names = names.values().as_string_opt::<i32>().ok_or_else(misfit)?;
                    for name in names.iter().flatten().filter(|name| !is_environment(name)) {
                        if !known.all.contains(name) {
                            known.all.insert(name.to_owned());
                        }
                    }
                }
            }
        }
        Ok(known)
    }
}

impl<'a> Ecu<'a> {
    pub fn new(
        clocks: &'a ClocksFile,
        number: usize,
        clock: Alignment,
        (shared, known): (&'a BTreeSet<String>, &'a Known),
    ) -> Self {
        let recording = clocks.clock.get(number).map_or("", |clock| clock.recording.get_ref().as_str());
        Self { name: clocks.ecu(number), recording, clock, shared, known }
    }

    /// Its cores, by their names among those of all control units.
    pub fn cores(&self) -> impl Iterator<Item = String> {
        self.known.cores.iter().map(|core| self.entity(core).into_owned())
    }

    /// The name of an entity of it among those of all control units. An ISR that is another process on each
    /// core is called by both names (rule I9 of docs/mapping.md).
    pub fn entity<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.shared.contains(name) {
            return Cow::Owned(format!("{}.{name}", self.name));
        }
        let parts =
            name.match_indices('.').filter_map(|(dot, _)| Some((name.get(..dot)?, name.get(dot + 1..)?)));
        let mut of_core = parts.filter(|(core, _)| self.known.cores.contains(*core));
        match of_core.next().filter(|_| !self.known.all.contains(name)) {
            Some((core, isr)) => Cow::Owned(format!("{}.{}", self.entity(core), self.entity(isr))),
            None => Cow::Borrowed(name),
        }
    }

    /// A batch of a table with aligned times and other names. `seq` is added to sequence numbers.
    pub fn aligned(&self, table: &TableSpec, batch: &RecordBatch, seq: i64) -> Result<RecordBatch> {
        let column = |(spec, column): (&ColumnSpec, &ArrayRef)| -> Result<ArrayRef> {
            let numbers = |f: &dyn Fn(i64) -> i64| -> Result<ArrayRef> {
                let numbers = column.as_primitive_opt::<Int64Type>().ok_or_else(misfit)?;
                Ok(Arc::new(numbers.unary::<_, Int64Type>(f)))
            };
            match spec.ty {
                ColumnType::Instant => numbers(&|time| self.clock.aligned(time)),
                ColumnType::Name if ENTITIES.contains(&spec.name) => self.renamed(column),
                ColumnType::Name if spec.name == "note" => {
                    self.renamed_notes(column, batch.column_by_name("target_type").ok_or_else(misfit)?)
                }
                _ if spec.name == "seq" => numbers(&|number| number.saturating_add(seq)),
                _ => Ok(Arc::clone(column)),
            }
        };
        let columns = table.file_columns().zip(batch.columns()).map(column).collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(batch.schema(), columns).map_err(|e| misfit().because(e))
    }

    fn renamed(&self, names: &ArrayRef) -> Result<ArrayRef> {
        let (names, dictionary) = names_of(names)?;
        if self.shared.is_empty() {
            return Ok(Arc::new(names.clone()));
        }
        let renamed: StringArray = dictionary.iter().map(|name| name.map(|name| self.entity(name))).collect();
        let renamed = DictionaryArray::try_new(names.keys().clone(), Arc::new(renamed));
        Ok(Arc::new(renamed.map_err(|e| misfit().because(e))?))
    }

    /// The note of an action on an event names its owner; the notes of others are values and texts, even if
    /// they are those of a name.
    fn renamed_notes(&self, notes: &ArrayRef, types: &ArrayRef) -> Result<ArrayRef> {
        let ((notes, texts), (types, names)) = (names_of(notes)?, names_of(types)?);
        let is_event = |ty: &str| EntityType::parse_tolerant(ty) == Some(EntityType::OsEvent);
        let of_events: Vec<bool> = names.iter().map(|ty| ty.is_some_and(is_event)).collect();
        if self.shared.is_empty() || !of_events.contains(&true) {
            return Ok(Arc::new(notes.clone()));
        }
        // Texts with another name have it behind all texts.
        let mut all: Vec<Option<Cow<'_, str>>> = texts.iter().map(|text| text.map(Cow::Borrowed)).collect();
        let mut place = |(n, text): (u32, Option<&_>)| match text.map(|text| self.entity(text)) {
            Some(Cow::Owned(other)) => {
                all.push(Some(Cow::Owned(other)));
                all.len() as u32 - 1
            }
            _ => n,
        };
        let places: Vec<u32> = (0..).zip(texts).map(&mut place).collect();
        let of = |(note, ty): (Option<u32>, Option<u32>)| {
            let is_of_event = ty.and_then(|ty| of_events.get(ty as usize)).is_some_and(|is| *is);
            if is_of_event { places.get(note? as usize).copied() } else { note }
        };
        let keys: UInt32Array = notes.keys().iter().zip(types.keys()).map(of).collect();
        let renamed: StringArray = all.into_iter().collect();
        let renamed = DictionaryArray::try_new(keys, Arc::new(renamed));
        Ok(Arc::new(renamed.map_err(|e| misfit().because(e))?))
    }
}

/// A column of names, and its names.
fn names_of(column: &ArrayRef) -> Result<(&DictionaryArray<UInt32Type>, &StringArray)> {
    let names = column.as_dictionary_opt::<UInt32Type>().ok_or_else(misfit)?;
    Ok((names, names.values().as_string_opt::<i32>().ok_or_else(misfit)?))
}

fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "a batch is not of its table")
}

/// Puts other numbers in place of columns of a batch.
pub(super) fn with_columns(batch: &RecordBatch, columns: Vec<(&str, Vec<i64>)>) -> Result<RecordBatch> {
    let schema = batch.schema();
    let mut all = batch.columns().to_vec();
    for (name, numbers) in columns {
        let place = schema.index_of(name).ok().and_then(|n| all.get_mut(n)).ok_or_else(misfit)?;
        let nulls = place.nulls().cloned();
        *place = Arc::new(Int64Array::new(numbers.into(), nulls));
    }
    RecordBatch::try_new(schema, all).map_err(|e| misfit().because(e))
}
