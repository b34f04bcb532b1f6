//! One event with the rule of its action: the input of every part of the checker.

use super::entities::Key;
use super::report::Findings;
use super::rules::Id;
use crate::btf::spec::{ActionRule, EntityType};
use crate::btf::{Place, Record};

/// An event and the rule of its action.
pub(super) struct Step<'a> {
    pub(super) place: Place,
    pub(super) record: &'a Record<'a>,
    pub(super) source: Key,
    pub(super) target: Key,
    pub(super) kind: EntityType,
    pub(super) rule: &'static ActionRule,
}

impl Step<'_> {
    /// Counts a violation by this event.
    pub(super) fn fault(&self, findings: &mut Findings, rule: Id, message: impl FnOnce() -> String) {
        findings.event(rule, self.place, self.record, message);
    }
}
