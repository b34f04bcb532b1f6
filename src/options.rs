//! Options that a trace format or an export declares for itself, and the values that were given for them. The
//! command line makes its arguments, its help and its completions from the declarations. Not the parsing of a
//! command line (see `cli`).

use crate::error::{Error, Result};
use crate::time::{TimeScale, parse_time_argument};
use std::collections::BTreeMap;

/// The declaration of one option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// Long name, without dashes.
    pub name: &'static str,
    /// The help: one sentence, without the full stop.
    pub help: &'static str,
    /// What it takes.
    pub value: ValueSpec,
    /// The option that cannot be given together with this one.
    pub conflict: Option<&'static str>,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSpec {
    /// Nothing: it is given or not.
    Flag,
    /// A text; the placeholder stands for it in the help.
    Text(&'static str),
    /// Texts, separated by commas; the option can also be repeated.
    List(&'static str),
    /// One of some words.
    Choice {
        /// Stands for the word in the help.
        placeholder: &'static str,
        /// The words.
        words: &'static [Word],
        /// The word that holds when the option is not given.
        default: Option<&'static str>,
    },
}

/// A word that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word itself.
    pub name: &'static str,
    /// What it means; may be empty.
    pub help: &'static str,
}

impl Word {
    /// A word that needs no explanation.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, help: "" }
    }
}

impl OptionSpec {
    /// An option without a value.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, help, value: ValueSpec::Flag, conflict: None }
    }

    /// An option with one value.
    pub const fn text(name: &'static str, placeholder: &'static str, help: &'static str) -> Self {
        Self { name, help, value: ValueSpec::Text(placeholder), conflict: None }
    }

    /// An option with any number of values.
    pub const fn list(name: &'static str, placeholder: &'static str, help: &'static str) -> Self {
        Self { name, help, value: ValueSpec::List(placeholder), conflict: None }
    }

    /// An option whose value is one of some words.
    pub const fn choice(
        name: &'static str,
        placeholder: &'static str,
        words: &'static [Word],
        help: &'static str,
    ) -> Self {
        let value = ValueSpec::Choice { placeholder, words, default: None };
        Self { name, help, value, conflict: None }
    }

    /// The same option, with the word that holds when it is not given.
    pub const fn with_default(self, word: &'static str) -> Self {
        let value = match self.value {
            ValueSpec::Choice { placeholder, words, .. } => {
                ValueSpec::Choice { placeholder, words, default: Some(word) }
            }
            other => other,
        };
        Self { value, ..self }
    }

    /// The same option, which cannot be given together with another one.
    pub const fn conflicts_with(self, other: &'static str) -> Self {
        Self { conflict: Some(other), ..self }
    }
}

/// The options that were given, by name. Defaults are not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionValues(BTreeMap<&'static str, Vec<String>>);

impl OptionValues {
    /// Adds an option with its values; none for a flag.
    pub fn set(&mut self, name: &'static str, values: impl IntoIterator<Item = String>) {
        self.0.insert(name, values.into_iter().collect());
    }

    /// Whether the option is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of the options that are given, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// The value of an option, if it is given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.list(name).first().map(String::as_str)
    }

    /// All values of an option; none when it is not given.
    pub fn list(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of an option, as `parse` understands it.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when `parse` does not understand it.
    pub fn parsed<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let misfit = |text| Error::usage(format!("--{name}: '{text}' is not among its values"));
        self.text(name).map(|text| parse(text).ok_or_else(|| misfit(text))).transpose()
    }

    /// The value of an option as a time, in ticks of `scale`.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when the value is no time.
    pub fn ticks(&self, name: &str, scale: TimeScale) -> Result<Option<i64>> {
        let parse = |text| parse_time_argument(text, scale);
        self.text(name).map(parse).transpose().map_err(|e| Error::usage(format!("--{name}: {e}")))
    }
}
