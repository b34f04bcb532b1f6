//! The bits of a word as a step of a process or of something else; what has no meaning is counted. Not what
//! follows from a step (see `rules`).

use super::words::Word;
use crate::description::{HookEncoding, HookSetup, HookStep, OtherStep, Space};
use crate::diagnostics::{Severity, UNKNOWN_NAME};
use std::collections::BTreeMap;

/// A word whose bits have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub time: i64,
    /// An index into the cores of the recording, and those that words have added.
    pub core: usize,
    /// An index into the objects of the setup; `None` of a service that has no name.
    pub object: Option<usize>,
    /// The number of the object.
    pub id: u64,
    pub what: HookStep,
    /// It may interrupt what runs, of which there is no word.
    pub interrupts: bool,
}

/// Why a word is no step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// It lacks the bits that all steps have, or all of its bits are 0.
    Cleared,
    State(u64),
    Id(u64),
    /// It names one of very many cores that are not described.
    Core,
}

pub(super) struct Decoder {
    variables: Vec<HookEncoding>,
    /// The number of each core in the words.
    cores: Vec<u64>,
    /// By variable.
    others: BTreeMap<(usize, Why), u64>,
    /// Cores that only words name.
    added: Vec<String>,
    /// Whether a variable was written.
    written: Vec<bool>,
}

/// Words are random in a variable that is none: so many kinds of words without a meaning are told one by one.
const MOST_KINDS: usize = 100;

impl Decoder {
    pub fn new(setup: &HookSetup) -> Self {
        let cores = setup.cores.iter().map(|(_, id)| *id).collect();
        let variables = setup.variables.clone();
        let written = vec![false; variables.len()];
        Self { variables, cores, others: BTreeMap::new(), added: Vec::new(), written }
    }

    /// The step that a word says; `None` if it says none. `add_core` gets the name of a core that is not
    /// described.
    pub fn step(&mut self, word: &Word, mut add_core: impl FnMut(&str)) -> Option<Step> {
        if let Some(written) = self.written.get_mut(word.variable) {
            *written = true;
        }
        let variable = self.variables.get(word.variable)?;
        let why = match variable.step(word.value) {
            _ if word.value & variable.valid != variable.valid => Err(Why::Cleared),
            None if word.value == 0 => Err(Why::Cleared),
            None => Err(Why::State(variable.state_of(word.value).unwrap_or_default())),
            Some((what, space, id)) => match variable.ids.get(&(space, id)) {
                Some(object) => Ok(object.map(|object| (Some(object), id, what))),
                None if space == Space::Services || what == HookStep::Other(OtherStep::Return) => {
                    Ok(Some((None, id, what)))
                }
                None if variable.others_are_nobody => Ok(None),
                None => Err(Why::Id(id)),
            },
        };
        let (object, id, what) = match why {
            Ok(step) => step?,
            Err(why) => {
                let is_new = !self.others.contains_key(&(word.variable, why));
                let why = if is_new && self.others.len() >= MOST_KINDS { Why::State(u64::MAX) } else { why };
                *self.others.entry((word.variable, why)).or_default() += 1;
                return None;
            }
        };
        let core = match variable.core.map(|bits| bits.of(word.value)) {
            None => word.export,
            Some(number) => match self.cores.iter().position(|core| *core == number) {
                Some(core) => core,
                None if self.added.len() >= MOST_KINDS => {
                    *self.others.entry((word.variable, Why::Core)).or_default() += 1;
                    return None;
                }
                None => {
                    let name = format!("Core_{number}");
                    add_core(&name);
                    self.added.push(name);
                    self.cores.push(number);
                    self.cores.len() - 1
                }
            },
        };
        let interrupts = self.variables.get(word.variable).is_some_and(|variable| variable.interrupts);
        Some(Step { time: word.time, core, object, id, what, interrupts })
    }

    /// What was found in words that are no steps: severity, code and message.
    pub fn findings(&self) -> Vec<(Severity, &'static str, String)> {
        let mut findings = Vec::new();
        for (variable, _) in self.variables.iter().zip(&self.written).filter(|(_, written)| !**written) {
            let message = format!("the recording has no writes of the hook variable '{}'", variable.name);
            findings.push((Severity::Warning, UNKNOWN_NAME, message));
        }
        for ((variable, why), count) in &self.others {
            let name = self.variables.get(*variable).map_or("", |variable| variable.name.as_str());
            findings.push(match why {
                Why::Cleared => (
                    Severity::Info,
                    "hook-cleared",
                    format!("{count} writes clear '{name}': they say nothing"),
                ),
                Why::State(u64::MAX) => (
                    Severity::Warning,
                    "hook-state",
                    format!("{count} more writes of '{name}' have other states or ids without a meaning"),
                ),
                Why::State(state) => (
                    Severity::Warning,
                    "hook-state",
                    format!(
                        "{count} writes of '{name}' have state {state}, which has no meaning: see 'states'"
                    ),
                ),
                Why::Core => (
                    Severity::Warning,
                    "hook-core",
                    format!("{count} writes of '{name}' name yet other cores: is core_mask right?"),
                ),
                Why::Id(id) => (
                    Severity::Warning,
                    "hook-id",
                    format!("{count} writes of '{name}' have id {id}, which is not in the list of ids"),
                ),
            });
        }
        for name in &self.added {
            let message = format!("words name a core that no [[core]] has as its id; it is called '{name}'");
            findings.push((Severity::Warning, "hook-core", message));
        }
        findings
    }
}
