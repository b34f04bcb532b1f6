//! Rows of `btf_event` of any writer to the events that instances are derived from: other spellings, missing
//! instances, dialects. Not the reading of BTF text.

use super::Derive;
use super::freertos::FreeRtos;
use super::step::{self, Instances, Step};
use crate::btf::{Action, EntityType, Event, NameId, Names, Note};
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
    instances: Instances,
}

impl FromRecords {
    /// Nothing seen yet.
    pub fn new(dialect: Dialect) -> Self {
        let freertos = (dialect == Dialect::FreeRtos).then(FreeRtos::default);
        let (sources, targets) = (Known::default(), Known::default());
        Self { names: Names::default(), freertos, sources, targets, instances: Instances::default() }
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
            if !step::concerns_instances(kind, action) {
                continue;
            }
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
                None if process_names => self.instances.current(step.source),
                None => 0,
            };
            let target_instance =
                rows.target_instance.get(row).unwrap_or_else(|| self.instances.of_event(&step));
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
