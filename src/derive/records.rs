//! Rows of `btf_event` of any writer to the events that instances are derived from: handles other spellings,
//! missing instances, dialects. Not the reading of BTF text.

use super::Derive;
use super::freertos::FreeRtos;
use super::step::{self, Instances, Step};
use crate::btf::{Action, EntityType, Event, NameId, Names, Note};
use crate::error::Result;
use crate::names::{IdMap, Memo};
use crate::schema::BtfEventView;
use arrow::array::RecordBatch;

/// How to interpret the events of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// According to the specification.
    #[default]
    Standard,
    /// As in the FreeRTOS loggers.
    FreeRtos,
}

/// Feeds batches of `btf_event` to a [`Derive`].
#[derive(Debug)]
pub struct FromRecords {
    pub names: Names,
    freertos: Option<FreeRtos>,
    /// The ids of the names in the dictionaries of the columns.
    sources: Memo<Option<NameId>>,
    targets: Memo<Option<NameId>>,
    instances: Instances,
    /// Names of ISRs that are another process on each core.
    shared: IdMap<NameId, ()>,
    /// The next instance of each of these processes.
    next: IdMap<NameId, i64>,
}

impl FromRecords {
    pub fn new(dialect: Dialect) -> Self {
        let freertos = (dialect == Dialect::FreeRtos).then(FreeRtos::default);
        let (sources, targets) = (Memo::default(), Memo::default());
        Self {
            names: Names::default(),
            freertos,
            sources,
            targets,
            instances: Instances::default(),
            shared: IdMap::default(),
            next: IdMap::default(),
        }
    }

    /// ISRs of this name are another process on each core (rule I9 of docs/mapping.md).
    pub fn share(&mut self, name: &str) {
        self.shared.insert(self.names.intern(name), ());
    }

    /// The trace has a gap here, of a core or of all of them.
    pub fn gap(&mut self, core: Option<&str>, span: (i64, i64), derive: &mut Derive) {
        let core = core.map(|core| self.names.intern(core));
        self.instances.gap(core);
        derive.gap(core, span, &self.names);
    }

    /// An ISR starts, which may be the process of its core.
    fn starts(&mut self, event: &Event, derive: &mut Derive) {
        if self.shared.contains_key(&event.target) {
            let [core, name] = [event.source, event.target].map(|name| self.names.text(name));
            let process = self.names.intern(&format!("{core}.{name}"));
            let next = self.next.entry(process).or_insert(0);
            if derive.begins_as((event.target, event.target_instance), (process, *next)) {
                *next += 1;
            }
        }
    }

    /// Adds the rows of a batch, in order.
    pub fn batch(&mut self, batch: &RecordBatch, derive: &mut Derive) -> Result<()> {
        let rows = BtfEventView::of(batch)?;
        let kinds = rows.target_type.translate(EntityType::parse_tolerant);
        let actions = rows.action.translate(Action::parse_tolerant);
        self.sources.turn_to(rows.source.dictionary());
        self.targets.turn_to(rows.target.dictionary());
        for row in 0..rows.len() {
            let Some(kind) = kinds.get(row) else { continue };
            let mut intern = |memo: &mut Memo<Option<NameId>>, key: Option<usize>| {
                let known = key.and_then(|key| memo.get_or_compute(key, |name| self.names.intern(name)));
                known.unwrap_or_else(|| self.names.intern(""))
            };
            if !matches!(kind, EntityType::Task | EntityType::Isr | EntityType::Runnable) {
                derive.occurs(intern(&mut self.targets, rows.target.key(row)), kind);
                continue;
            }
            let Some(action) = actions.get(row).filter(|action| step::concerns_instances(kind, *action))
            else {
                continue;
            };
            let source = intern(&mut self.sources, rows.source.key(row));
            let target = intern(&mut self.targets, rows.target.key(row));
            let mut step = Step { kind, source, target, action };
            if let Some(freertos) = &mut self.freertos {
                match freertos.read(step, rows.note.get(row), &mut self.names) {
                    Some(meant) => step = meant,
                    None => continue,
                }
            }
            let is_called = kind == EntityType::Runnable;
            let source_instance = match rows.source_instance.get(row) {
                Some(instance) => instance,
                None if is_called => self.instances.of_caller(&step),
                None => 0,
            };
            let target_instance = match rows.target_instance.get(row) {
                Some(instance) => instance,
                None if is_called => self.instances.of_runnable(&step, source_instance),
                None => self.instances.of_process(&step),
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
            if kind == EntityType::Isr && event.action == Action::Start && !self.shared.is_empty() {
                self.starts(&event, derive);
            }
            derive.event(&event, &self.names);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
