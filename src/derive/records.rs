//! Rows of `btf_event`, as any writer may have written them, to the events that instances are derived from: spellings,
//! instances that are missing, dialects. Not the reading of BTF text.

use super::Derive;
use super::freertos::FreeRtos;
use crate::btf::{Action, EntityType, Event, IdMap, NameId, Names, Note};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::begins_with;
use crate::schema::columns::btf_event;
use arrow::array::{Array, AsArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, UInt32Type};

/// How the events of tasks are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// As the specification says.
    #[default]
    Standard,
    /// As the FreeRTOS loggers mean them.
    FreeRtos,
}

/// Feeds batches of `btf_event` to a [`Derive`].
#[derive(Debug)]
pub struct FromRecords {
    /// The names of all entities.
    pub names: Names,
    freertos: Option<FreeRtos>,
    sources: Known,
    targets: Known,
    /// Instances of entities that have none in the trace: the present one, and whether it is open.
    unnumbered: IdMap<NameId, (i64, bool)>,
}

/// An event of a process or runnable, before its instance is known.
pub(super) struct Step {
    pub kind: EntityType,
    pub source: NameId,
    pub target: NameId,
    pub action: Action,
}

impl FromRecords {
    /// Nothing seen yet.
    pub fn new(dialect: Dialect) -> Self {
        let freertos = (dialect == Dialect::FreeRtos).then(FreeRtos::default);
        let (sources, targets) = (Known::default(), Known::default());
        Self { names: Names::default(), freertos, sources, targets, unnumbered: IdMap::default() }
    }

    /// Takes the rows of a batch into account, in their order.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when the batch is not of the table `btf_event`.
    pub fn batch(&mut self, batch: &RecordBatch, derive: &mut Derive) -> Result<()> {
        let rows = Rows::of(batch).ok_or_else(|| {
            Error::new(ErrorKind::Bug, "a batch of events does not have the columns of its table")
        })?;
        let kinds = rows.kind.words(EntityType::parse_tolerant);
        let actions = rows.action.words(Action::parse_tolerant);
        self.sources.follow(rows.source.values);
        self.targets.follow(rows.target.values);
        for row in 0..batch.num_rows() {
            let kind = kinds.get(rows.kind.key(row)).copied().flatten();
            let Some(kind @ (EntityType::Task | EntityType::Isr | EntityType::Runnable)) = kind else {
                continue;
            };
            let Some(action) = actions.get(rows.action.key(row)).copied().flatten() else { continue };
            let source = self.sources.name(rows.source.key(row), &mut self.names);
            let target = self.targets.name(rows.target.key(row), &mut self.names);
            let mut step = Step { kind, source, target, action };
            if let Some(freertos) = &mut self.freertos {
                let note = rows.note.is_valid(row).then(|| rows.note_text(row));
                match freertos.read(step, note, &mut self.names) {
                    Some(meant) => step = meant,
                    None => continue,
                }
            }
            let process_names = kind == EntityType::Runnable;
            let source_instance = match rows.source_instance.is_valid(row) {
                true => rows.source_instance.value(row),
                false if process_names => self.unnumbered.get(&step.source).map_or(0, |(n, _)| *n),
                false => 0,
            };
            let target_instance = match rows.target_instance.is_valid(row) {
                true => rows.target_instance.value(row),
                false => self.number(&step),
            };
            let event = Event {
                time: rows.time.value(row),
                source: step.source,
                source_instance,
                target_type: kind,
                target: step.target,
                target_instance,
                action: step.action,
                note: Note::None,
            };
            derive.event(&event, &self.names);
        }
        Ok(())
    }

    /// The instance of an entity whose trace gives none: a new one when it is activated, or started without that.
    fn number(&mut self, step: &Step) -> i64 {
        let present = self.unnumbered.entry(step.target).or_insert((-1, false));
        let begins = match step.action {
            Action::Activate => true,
            Action::Start => !present.1 || step.kind == EntityType::Runnable,
            _ => !present.1,
        };
        present.0 += i64::from(begins);
        present.1 = step.action != Action::Terminate;
        present.0
    }
}

/// The ids of what the keys of a column stand for, kept from batch to batch.
#[derive(Debug, Default)]
struct Known {
    values: Option<StringArray>,
    ids: Vec<Option<NameId>>,
}

impl Known {
    fn follow(&mut self, values: &StringArray) {
        if !self.values.as_ref().is_some_and(|before| begins_with(values, before)) {
            self.ids.clear();
        }
        self.ids.resize(values.len(), None);
        self.values = Some(values.clone());
    }

    fn name(&mut self, key: usize, names: &mut Names) -> NameId {
        match (self.ids.get_mut(key), &self.values) {
            (Some(id), Some(values)) => *id.get_or_insert_with(|| names.intern(values.value(key))),
            _ => names.intern(""),
        }
    }
}

/// A column of names.
struct NameRows<'a> {
    keys: &'a DictionaryArray<UInt32Type>,
    values: &'a StringArray,
}

impl<'a> NameRows<'a> {
    fn of(batch: &'a RecordBatch, column: &str) -> Option<Self> {
        let keys = batch.column_by_name(column)?.as_dictionary_opt::<UInt32Type>()?;
        Some(Self { keys, values: keys.values().as_string_opt::<i32>()? })
    }

    fn key(&self, row: usize) -> usize {
        self.keys.keys().value(row) as usize
    }

    fn words<T>(&self, parse: impl Fn(&str) -> Option<T>) -> Vec<Option<T>> {
        self.values.iter().map(|word| word.and_then(&parse)).collect()
    }
}

struct Rows<'a> {
    time: &'a Int64Array,
    source: NameRows<'a>,
    source_instance: &'a Int64Array,
    kind: NameRows<'a>,
    target: NameRows<'a>,
    target_instance: &'a Int64Array,
    action: NameRows<'a>,
    note: &'a DictionaryArray<UInt32Type>,
    notes: &'a StringArray,
}

impl<'a> Rows<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Self> {
        let number = |column: &str| batch.column_by_name(column)?.as_primitive_opt::<Int64Type>();
        let note = NameRows::of(batch, btf_event::NOTE)?;
        Some(Self {
            time: number(btf_event::TIME)?,
            source: NameRows::of(batch, btf_event::SOURCE)?,
            source_instance: number(btf_event::SOURCE_INSTANCE)?,
            kind: NameRows::of(batch, btf_event::TARGET_TYPE)?,
            target: NameRows::of(batch, btf_event::TARGET)?,
            target_instance: number(btf_event::TARGET_INSTANCE)?,
            action: NameRows::of(batch, btf_event::ACTION)?,
            note: note.keys,
            notes: note.values,
        })
    }

    fn note_text(&self, row: usize) -> &'a str {
        let key = self.note.keys().value(row) as usize;
        if key < self.notes.len() { self.notes.value(key) } else { "" }
    }
}
