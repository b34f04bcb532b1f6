//! Rows of `btf_event`, as any writer may have written them, to the events that instances are derived from: spellings,
//! instances that are missing, dialects. Not the reading of BTF text.

use super::Derive;
use super::freertos::FreeRtos;
use crate::btf::{Action, EntityType, Event, IdMap, NameId, Names, Note};
use crate::error::Result;
use crate::schema::{BtfEventView, begins_with};
use arrow::array::{Array as _, RecordBatch, StringArray};

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
        let rows = BtfEventView::of(batch)?;
        let kinds = rows.target_type.translate(EntityType::parse_tolerant);
        let actions = rows.action.translate(Action::parse_tolerant);
        self.sources.follow(rows.source.dictionary());
        self.targets.follow(rows.target.dictionary());
        for row in 0..rows.len() {
            let Some(kind @ (EntityType::Task | EntityType::Isr | EntityType::Runnable)) = kinds.get(row)
            else {
                continue;
            };
            let Some(action) = actions.get(row) else { continue };
            let source = self.sources.name(rows.source.key(row), &mut self.names);
            let target = self.targets.name(rows.target.key(row), &mut self.names);
            let mut step = Step { kind, source, target, action };
            if let Some(freertos) = &mut self.freertos {
                match freertos.read(step, rows.note.get(row), &mut self.names) {
                    Some(meant) => step = meant,
                    None => continue,
                }
            }
            let process_names = kind == EntityType::Runnable;
            let source_instance = match rows.source_instance.get(row) {
                Some(instance) => instance,
                None if process_names => self.unnumbered.get(&step.source).map_or(0, |(n, _)| *n),
                None => 0,
            };
            let target_instance = rows.target_instance.get(row).unwrap_or_else(|| self.number(&step));
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

    fn name(&mut self, key: Option<usize>, names: &mut Names) -> NameId {
        match (key.and_then(|key| Some((key, self.ids.get_mut(key)?))), &self.values) {
            (Some((key, id)), Some(values)) => *id.get_or_insert_with(|| names.intern(values.value(key))),
            _ => names.intern(""),
        }
    }
}
