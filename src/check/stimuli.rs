//! Stimuli: their instances, and that they are triggered before they cause something. Not what they activate.

use super::entities::NO_INSTANCE;
use super::rules::Id;
use super::{Checker, Step};
use crate::btf::spec::Kind;

impl Checker {
    /// A stimulus is triggered.
    pub(super) fn stimulus_triggered(&mut self, step: &Step<'_>) {
        let (id, instance) = step.target;
        if instance == NO_INSTANCE || !step.rule.counts {
            return;
        }
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
        }
    }

    /// A stimulus causes something. Traces without triggers are legal: not every type has to be recorded.
    pub(super) fn stimulus_causes(&mut self, step: &Step<'_>) {
        let (id, instance) = step.source;
        if !step.rule.caused || instance == NO_INSTANCE {
            return;
        }
        let Some(entity) = self.entities.get_mut(id) else { return };
        // In 2.1 processes and cores can be the source of the same event.
        let only_stimuli = !step.rule.sources.has(Kind::Core) && !step.rule.sources.has(Kind::Task);
        if !entity.kind.map_or(only_stimuli, |kind| kind == Kind::Stimulus) {
            return;
        }
        entity.last_cause = entity.last_cause.max(Some(instance));
        if let Some(last) = entity.last().filter(|last| *last < instance) {
            step.fault(&mut self.findings, Id::StimulusOrder, || {
                format!("the last trigger is of instance {last}")
            });
        }
    }
}
