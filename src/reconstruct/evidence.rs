//! What a derived value rests on. Not the values themselves.

use std::collections::BTreeMap;

use crate::words::words;

words! {
    /// How well a derived value is known.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Confidence {
        /// Every sample says the same, and no other value fits them.
        Exact = "exact",
        /// A distribution, a count or an order that the samples have; other samples may have another one.
        Observed = "observed",
        /// The simplest value of several that fit the samples equally well.
        Fitted = "fitted",
        /// A description of the system says so, not the trace.
        Described = "described",
        /// Nothing says so: a default.
        Assumed = "assumed",
    }
}

/// A derived value and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The kind of the entity, as the section of a model: `task`, `alarm`, `os`.
    pub kind: &'static str,
    /// The name of the entity in the model; empty for `os`.
    pub entity: String,
    /// What was derived, such as `period`.
    pub what: &'static str,
    /// The value as text, with its unit.
    pub value: String,
    /// How many observations it rests on.
    pub samples: u64,
    /// How well it is known.
    pub confidence: Confidence,
    /// What else is to be known; may be empty.
    pub note: String,
}

impl Evidence {
    /// One line: `period 10 ms: 99 samples, exact`.
    pub fn line(&self) -> String {
        let Self { what, value, samples, confidence, note, .. } = self;
        let plural = if *samples == 1 { "" } else { "s" };
        let samples = match samples {
            0 => String::new(),
            samples => format!("{samples} sample{plural}, "),
        };
        let note = if note.is_empty() { String::new() } else { format!("; {note}") };
        let value = if value.is_empty() { String::new() } else { format!(" {value}") };
        format!("{what}{value}: {samples}{}{note}", confidence.as_str())
    }
}

/// The comments of a model: per section and name, the lines of its evidence.
pub fn comments(evidence: &[Evidence]) -> BTreeMap<(String, String), Vec<String>> {
    let mut comments: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for of in evidence {
        comments.entry((of.kind.to_owned(), of.entity.clone())).or_default().push(of.line());
    }
    comments
}
