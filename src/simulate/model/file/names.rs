//! Names in the text of a model → indices, with "did you mean". Not the places of anything but names.

use std::collections::BTreeMap;

use super::values::Name;
use crate::error::{Error, Result};
use crate::simulate::model::places::Source;

/// The names of one kind, in the order of the model.
pub(super) struct Kind {
    /// The kind, with its article: "a task".
    kind: &'static str,
    names: Vec<String>,
    by_name: BTreeMap<String, usize>,
}

impl Kind {
    pub(super) fn new<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Self {
        let mut new = Self { kind, names: Vec::new(), by_name: BTreeMap::new() };
        for name in names {
            new.add(name);
        }
        new
    }

    /// Adds a name; of two that are equal, the first one has it. `check` refuses the second.
    pub(super) fn add(&mut self, name: &str) -> usize {
        let ix = self.names.len();
        self.names.push(name.to_owned());
        self.by_name.entry(name.to_owned()).or_insert(ix);
        ix
    }

    /// In the order of the model.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

/// All names that something else may name.
pub(super) struct AllNames<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) cores: Kind,
    pub(super) tasks: Kind,
    pub(super) isrs: Kind,
    pub(super) runnables: Kind,
    pub(super) signals: Kind,
    pub(super) events: Kind,
    pub(super) resources: Kind,
    pub(super) spinlocks: Kind,
}

impl AllNames<'_> {
    /// The index of what a name names.
    ///
    /// # Errors
    /// For a name that nothing of this kind has.
    pub(super) fn find(&self, kind: &Kind, name: &Name) -> Result<usize> {
        kind.get(name.get_ref()).ok_or_else(|| self.source.mistake(name, self.unknown(kind, name.get_ref())))
    }

    fn unknown(&self, kind: &Kind, name: &str) -> Error {
        let what = kind.kind;
        let kinds = [
            &self.cores,
            &self.tasks,
            &self.isrs,
            &self.runnables,
            &self.signals,
            &self.events,
            &self.resources,
            &self.spinlocks,
        ];
        if let Some(other) = kinds.into_iter().find(|other| other.get(name).is_some()) {
            let error = Error::input(format!("'{name}' is {}, not {what}", other.kind));
            return error.hint(format!("this needs the name of {what}"));
        }
        let plain = what.split_once(' ').map_or(what, |(_, plain)| plain);
        let known = kind.by_name.keys().map(String::as_str);
        Error::input(format!("there is no {plain} '{name}'")).hint_near(name, known, |all| match all {
            "" => format!("the model has no {plain}; add [[{plain}]] with name = \"{name}\""),
            _ if all.len() > 200 => format!("add [[{plain}]] with name = \"{name}\", or correct the name"),
            all => format!("known: {all}"),
        })
    }
}
