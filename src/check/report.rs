//! The result of a check, and the event that can add to it: every violation is counted, the first ones are
//! stored with their line. Not the rules, and not the text or JSON that a user sees.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entities::Key;
use super::rules::{Id, RULES, Rule};
use crate::btf::spec::{ActionRule, EntityType, Version};
use crate::btf::{Place, Record};
use crate::diagnostics::{Severity, excerpt};

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The version that the trace was checked against.
    pub version: Version,
    pub events: u64,
    /// The largest step back in time, in ticks; 0 if there is none.
    pub largest_step_back: u64,
    /// Rules that were violated, in the order of [`RULES`].
    pub findings: Vec<Finding>,
}

impl Report {
    /// Adds a violation without a BTF event in a Grasp trace: the id of its rule, line and time in the file.
    pub fn add(&mut self, rule: &str, line: Option<u64>, time: i64, message: String) {
        let rules = GRASP.iter().filter_map(|id| RULES.get(*id as usize));
        let Some(rule) = rules.into_iter().find(|r| r.id == rule) else { return };
        let found = self.findings.iter().position(|f| f.rule.id == rule.id);
        let n = found.unwrap_or_else(|| {
            self.findings.push(Finding { rule, count: 0, first: Vec::new(), words: BTreeMap::new() });
            self.findings.len() - 1
        });
        if let Some(finding) = self.findings.get_mut(n) {
            finding.count += 1;
            if finding.first.len() < Finding::MAX_STORED {
                let place = Place { seq: 0, line };
                finding.first.push(Occurrence { place, time: Some(time), message, text: String::new() });
            }
        }
        self.findings.sort_by_key(|f| RULES.iter().position(|r| std::ptr::eq(r, f.rule)));
    }

    /// How many violations are at least this severe.
    pub fn violations(&self, at_least: Severity) -> u64 {
        self.findings.iter().filter(|f| f.rule.severity >= at_least).map(|f| f.count).sum()
    }
}

/// A rule that was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    #[serde(serialize_with = "id_of", deserialize_with = "rule_of")]
    pub rule: &'static Rule,
    /// How often.
    pub count: u64,
    /// The first [`Finding::MAX_STORED`] violations.
    pub first: Vec<Occurrence>,
    /// The first [`Finding::WORDS`] different words at fault and their counts, for rules about words.
    pub words: BTreeMap<String, u64>,
}

impl Finding {
    /// Maximum number of violations of a rule that are stored.
    pub const MAX_STORED: usize = 5;
    /// Maximum number of different words of a rule that are counted.
    pub const WORDS: usize = 64;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// Its place; for a line that is not an event, `seq` is the number of events before it.
    pub place: Place,
    /// Its time, in ticks; `None` for a line that is not an event.
    pub time: Option<i64>,
    /// What is wrong, without a full stop.
    pub message: String,
    /// The line in BTF, escaped and shortened; empty if something is missing.
    pub text: String,
}

/// A rule is passed on by its name.
fn id_of<S: Serializer>(rule: &&'static Rule, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(rule.id)
}

fn rule_of<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Rule, D::Error> {
    let id = String::deserialize(from)?;
    let rule = RULES.iter().find(|rule| rule.id == id);
    rule.ok_or_else(|| serde::de::Error::custom(format!("there is no rule '{id}'")))
}

/// Rules that concern Grasp traces only.
const GRASP: [Id; 4] = [Id::BudgetNegative, Id::MutexNotHeld, Id::MutexNotNested, Id::MutexTaken];

/// The message about a line that was not UTF-8.
pub(super) const NOT_UTF8: &str = "bytes that are no UTF-8 are shown as \\x and two digits, or as \u{fffd}";

#[derive(Debug)]
pub(super) struct Findings(Vec<Option<Finding>>);

impl Findings {
    pub(super) fn new() -> Self {
        Self(RULES.iter().map(|_| None).collect())
    }

    /// Counts a violation; `occurrence` is called only if it is stored.
    pub(super) fn add(&mut self, rule: Id, occurrence: impl FnOnce() -> Occurrence) {
        self.add_many(rule, 1, occurrence);
    }

    /// Counts `count` violations, of which one can be stored.
    pub(super) fn add_many(&mut self, rule: Id, count: u64, occurrence: impl FnOnce() -> Occurrence) {
        let n = rule as usize;
        if let (Some(slot), Some(rule)) = (self.0.get_mut(n), RULES.get(n)) {
            let new = || Finding { rule, count: 0, first: Vec::new(), words: BTreeMap::new() };
            let finding = slot.get_or_insert_with(new);
            finding.count += count;
            if finding.first.len() < Finding::MAX_STORED {
                finding.first.push(occurrence());
            }
        }
    }

    /// Counts a word at fault, after its violation was counted.
    pub(super) fn word(&mut self, rule: Id, word: &[&str]) {
        if let Some(Some(finding)) = self.0.get_mut(rule as usize) {
            let word = excerpt(word.join(" ").as_bytes());
            let room = finding.words.len() < Finding::WORDS;
            match finding.words.get_mut(&word) {
                Some(count) => *count += 1,
                None if room => drop(finding.words.insert(word, 1)),
                None => {}
            }
        }
    }

    /// Counts a violation by an event.
    pub(super) fn event(
        &mut self,
        rule: Id,
        place: Place,
        record: &Record<'_>,
        message: impl FnOnce() -> String,
    ) {
        self.add(rule, || Occurrence {
            place,
            time: Some(record.time),
            message: message(),
            text: event_line(record),
        });
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.0.into_iter().flatten().collect()
    }
}

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

/// A name or word of a file, quoted for a message.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", excerpt(text.as_bytes()))
}

/// The line of an event in BTF, shortened for a message.
pub(super) fn event_line(record: &Record<'_>) -> String {
    let number = |instance: Option<i64>| instance.map_or_else(String::new, |n| n.to_string());
    let (from, to) = (number(record.source_instance), number(record.target_instance));
    let Record { time, source, target_type, target, action, .. } = record;
    let mut line = format!("{time},{source},{from},{target_type},{target},{to},{action}");
    if let Some(note) = record.note {
        // Writing to a String cannot fail.
        let _ = write!(line, ",{note}");
    }
    excerpt(line.as_bytes())
}
