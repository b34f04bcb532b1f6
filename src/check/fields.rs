//! The fields of one event line: words, names, instances, note, source. Not what the event does.

use super::Checker;
use super::entities::{EntityId, NameFit, is_damaged};
use super::report::{NOT_UTF8, Step, quoted};
use super::rules::Id;
use super::words::Meaning;
use crate::btf::spec::{Content, EntityType, EntityTypes, State, Version};
use crate::btf::{Place, Record};

impl Checker {
    pub(super) fn word_faults(&mut self, place: Place, record: &Record<'_>, meaning: Meaning) {
        let version = self.version;
        let fields = [
            ("source", record.source),
            ("type", record.target_type),
            ("target", record.target),
            ("event", record.action),
        ];
        for (field, _) in fields.iter().filter(|(_, text)| text.is_empty()) {
            self.findings.event(Id::EmptyField, place, record, || format!("no {field}"));
        }
        if let Some(fault) = meaning.kind_fault.filter(|_| !record.target_type.is_empty()) {
            let word = record.target_type;
            self.findings.event(fault, place, record, || match meaning.kind {
                Some(kind) if fault == Id::TypeAlias => format!("{} means {}", quoted(word), kind),
                _ => format!("{} is not in BTF {version}", quoted(word)),
            });
            self.findings.word(fault, &[word]);
        }
        // The thesis, section 2.2.3: "cannot be used as a target entity themselves".
        let on_core = meaning.kind == Some(EntityType::Core) && record.source != record.target;
        if on_core && meaning.action_fault == Some(Id::VendorAction) {
            self.findings.event(Id::CoreTarget, place, record, || {
                format!("{} cannot do that to a core", quoted(record.source))
            });
        } else if let Some(fault) = meaning.action_fault {
            let (kind, word) = (record.target_type, record.action);
            self.findings.event(fault, place, record, || match meaning.rule {
                Some(rule) if fault == Id::ActionAlias => format!("{} means {}", quoted(word), rule.action),
                _ => format!("{} of {} is not in BTF {version}", quoted(word), quoted(kind)),
            });
            self.findings.word(fault, &[kind, word]);
        }
    }

    /// The bytes of the line are UTF-8.
    pub(super) fn encoding(
        &mut self,
        place: Place,
        record: &Record<'_>,
        names: [EntityId; 2],
        meaning: Meaning,
    ) {
        let damaged = |id: &EntityId| self.entities.get(*id).is_some_and(|entity| entity.damaged);
        if meaning.damaged || names.iter().any(damaged) || record.note.is_some_and(is_damaged) {
            self.findings.event(Id::NotUtf8, place, record, || NOT_UTF8.to_owned());
        }
    }

    /// Checks that the name of the target has the type on the line. Returns the entity of that name and type.
    pub(super) fn target(
        &mut self,
        place: Place,
        record: &Record<'_>,
        id: EntityId,
        kind: EntityType,
    ) -> EntityId {
        self.kinds = self.kinds.with(kind);
        let (target, learnt) = self.entities.of_kind(id, kind);
        if let Some(entity) = self.entities.get_mut(id) {
            entity.is_target = true;
        }
        match learnt {
            NameFit::Fits => {}
            // The simulation environment is recognised by its name, which is also its type: no conflict.
            NameFit::Is(EntityType::Simulation)
                if matches!(kind, EntityType::Simulation | EntityType::System) => {}
            NameFit::Is(other) => self.findings.event(Id::NameOfTwoTypes, place, record, || {
                format!("{} is {} elsewhere", quoted(record.target), other)
            }),
            // One of the two lines is wrong; it is unknown which.
            NameFit::Acted => self.findings.event(Id::SourceKind, place, record, || {
                let (name, kind) = (quoted(record.target), kind);
                format!(
                    "{name} caused events before that {kind} does not: a wrong source, or a name of two types"
                )
            }),
        }
        target
    }

    pub(super) fn instances(
        &mut self,
        place: Place,
        record: &Record<'_>,
        source: EntityId,
        meaning: Meaning,
    ) {
        let old = self.version == Version::V2_1_5;
        // A line does not have the type of the source: it follows from earlier lines and the kind of event.
        let sources =
            meaning.rule.filter(|_| meaning.action_fault.is_none()).map_or(EntityTypes::ANY, |r| r.sources);
        let sides = [
            ("source", record.source_instance, self.entities.possible(source, sources), old),
            (
                "target",
                record.target_instance,
                meaning.kind.map_or(EntityTypes::ANY, |kind| EntityTypes::of(&[kind])),
                false,
            ),
        ];
        for (side, instance, kinds, may_be_empty) in sides {
            let Some(instance) = instance else {
                if !may_be_empty {
                    let message = || format!("the {side} has no instance");
                    self.findings.event(Id::EmptyInstance, place, record, message);
                }
                continue;
            };
            let has_type = !kinds.is_empty();
            // 2.1.5: -1 for the simulation and schedulers, and for the entity of a tag at the start.
            let of_simulation = has_type
                && kinds.within(EntityTypes::of(&[
                    EntityType::Simulation,
                    EntityType::System,
                    EntityType::Scheduler,
                ]))
                || meaning.kind == Some(EntityType::Simulation);
            if instance < 0 && !(old && instance == -1 && of_simulation) {
                self.findings
                    .event(Id::NegativeInstance, place, record, || format!("the {side} is below zero"));
            } else if instance > 0 && !old && has_type && kinds.and(EntityTypes::WITH_INSTANCES).is_empty() {
                let what = kinds.words();
                self.findings
                    .event(Id::InstanceNotZero, place, record, || format!("the {side} is {what}: always 0"));
            }
        }
    }

    pub(super) fn note(&mut self, step: &Step<'_>) {
        let note = step.record.note.unwrap_or("").trim();
        let rule = step.rule.note;
        let faults = &mut self.findings;
        if note.is_empty() {
            if rule.required {
                step.fault(faults, Id::NoteMissing, || format!("{} needs a note", step.rule.action));
            }
            return;
        }
        match rule.content {
            Content::Nothing => {
                step.fault(faults, Id::NoteUnused, || format!("{} has no note", step.rule.action));
            }
            content @ Content::Number if !content.fits(note) => {
                step.fault(faults, Id::NoteNotNumber, || format!("{} is no number", quoted(note)));
            }
            Content::Process => self.note_of_process(step, note),
            Content::Number | Content::Text => {}
        }
    }

    pub(super) fn source(&mut self, step: &Step<'_>) {
        let (rule, record) = (step.rule, step.record);
        let wanted = rule.sources;
        match self.entities.acts_as(step.source.0, wanted) {
            NameFit::Fits => {}
            NameFit::Is(kind) => {
                let rule = match kind {
                    EntityType::Simulation if self.is_outside(step.kind) => Id::SimOutside,
                    EntityType::Simulation => Id::SimSource,
                    _ => Id::SourceKind,
                };
                step.fault(&mut self.findings, rule, || {
                    format!("{} is {}, not {}", quoted(record.source), kind, wanted.words())
                });
                return;
            }
            NameFit::Acted => {
                step.fault(&mut self.findings, Id::SourceKind, || {
                    format!("{} caused events before that {} does not", quoted(record.source), wanted.words())
                });
                return;
            }
        }
        let kind = self.entities.kind(step.source.0);
        let new_trigger = step.kind == EntityType::Stimulus && rule.sources.has(EntityType::Stimulus);
        if new_trigger && kind == Some(EntityType::Simulation) {
            step.fault(&mut self.findings, Id::SimTrigger, || "defined with itself as the source".to_owned());
        }
        let own = rule.own || (new_trigger && kind == Some(EntityType::Stimulus));
        if own && step.source != step.target {
            step.fault(&mut self.findings, Id::SourceNotSelf, || {
                format!("{} causes it itself", quoted(record.target))
            });
        }
        if rule.source_running
            && !(EntityTypes::PROCESS.and(wanted)).is_empty()
            && let Some(state) = self.source_state(step).filter(|state| *state != State::Running)
        {
            step.fault(&mut self.findings, Id::SourceNotRunning, || {
                let state = self.entities.condition(step.source, state);
                format!("{} is {state}", self.entities.named(step.source))
            });
        }
    }

    /// True where the thesis, section 4.2, lets SIM do what no process did: code outside of every process
    /// uses signals, runs functions and takes locks. Since 2.2.0 there is no SIM.
    fn is_outside(&self, target: EntityType) -> bool {
        use EntityType::{OsEvent, Runnable, Semaphore, Signal};
        self.version == Version::V2_1_5 && matches!(target, OsEvent | Runnable | Semaphore | Signal)
    }
}
