//! Stimuli: their instances, and that they are triggered before they cause something. Not what they activate.

use std::collections::HashMap;

use super::Checker;
use super::entities::{EntityId, NO_INSTANCE};
use super::report::{Findings, Occurrence, Step, event_line};
use super::rules::Id;
use crate::btf::spec::EntityType;

/// What stimuli caused without a trigger, stored until it is known whether the trace records triggers: not
/// every entity type has to be in a file (2.3.0 §2.3), and the listings 2-3, 2-7 and 2-11 have activations
/// only.
#[derive(Debug, Default)]
pub(super) struct Stimuli {
    /// True once any stimulus was triggered.
    triggers: bool,
    /// By stimulus without a trigger so far: how often it caused something, and the first time.
    untriggered: HashMap<EntityId, (u64, Occurrence)>,
}

impl Stimuli {
    /// Reports missing triggers if the trace records triggers, and is not a part of one.
    pub(super) fn finish(self, is_part: bool, findings: &mut Findings) {
        if !self.triggers || is_part {
            return;
        }
        let mut faults: Vec<_> = self.untriggered.into_values().collect();
        faults.sort_by_key(|(_, first)| first.place.seq);
        for (count, first) in faults {
            findings.add_many(Id::StimulusOrder, count, || first);
        }
    }
}

impl Checker {
    pub(super) fn stimulus_triggered(&mut self, step: &Step<'_>) {
        let (id, instance) = step.target;
        if instance == NO_INSTANCE || !step.rule.counts {
            return;
        }
        self.stimuli.triggers = true;
        let Some(entity) = self.entities.get_mut(id) else { return };
        let first = entity.last().is_none();
        let caused = entity.last_cause;
        let expected = entity.count(instance);
        if let Some(expected) = expected {
            step.fault(&mut self.findings, Id::StimulusInstance, || {
                format!("the next instance is {expected}")
            });
        }
        // Only at the first trigger: later ones are compared when the stimulus causes something.
        if let Some(caused) = caused.filter(|caused| first && *caused >= instance) {
            step.fault(&mut self.findings, Id::StimulusOrder, || {
                format!("instance {caused} has caused something before")
            });
            // Trigger and cause in the wrong order are one fault.
            self.stimuli.untriggered.remove(&id);
        }
    }

    pub(super) fn stimulus_causes(&mut self, step: &Step<'_>) {
        let (id, instance) = step.source;
        if !step.rule.caused || instance == NO_INSTANCE {
            return;
        }
        let Some(entity) = self.entities.get_mut(id) else { return };
        // In 2.1 processes and cores can be the source of the same event.
        let only_stimuli =
            !step.rule.sources.has(EntityType::Core) && !step.rule.sources.has(EntityType::Task);
        if !entity.kind.map_or(only_stimuli, |kind| kind == EntityType::Stimulus) {
            return;
        }
        entity.last_cause = entity.last_cause.max(Some(instance));
        let time = step.record.time;
        let (first, since) = *entity.first_cause.get_or_insert((instance, time));
        match entity.last() {
            Some(last) if last < instance && entity.is_to_come(instance) => {
                step.fault(&mut self.findings, Id::StimulusOrder, || {
                    format!("the last trigger is of instance {last}")
                })
            }
            Some(_) => {}
            // The first instance may have been triggered before the trace, unless it is the first of all and
            // the trace begins earlier.
            None if instance == first && (instance > 0 || Some(since) == self.first_time) => {}
            None => {
                let new = || Occurrence {
                    place: step.place,
                    time: Some(time),
                    message: format!("instance {instance} was not triggered before, and others are"),
                    text: event_line(step.record),
                };
                self.stimuli.untriggered.entry(id).or_insert_with(|| (0, new())).0 += 1;
            }
        }
    }
}
