//! `[[temporal]]` of a file of requirements: five templates over events and states. Not for what they mean
//! (see [`crate::temporal`]), and not for judging recordings by them (see `in_time`).

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::bound::{Bound, Count};
use crate::btf::{Action, State};
use crate::chain::{ChainStep, Instance};
use crate::error::{Error, Result};

/// Most entries of a file.
pub(super) const MOST: usize = 1000;
/// The word for all states of an entity: it exists.
const ANY: &str = "any";
/// The states of processes and runnables.
const STATES: [State; 7] = [
    State::Active,
    State::Running,
    State::Ready,
    State::Waiting,
    State::Polling,
    State::Parking,
    State::Suspended,
];

/// `[[temporal]]`: one template, which its keys name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Temporal {
    /// What it is called in reports.
    pub name: Spanned<String>,
    /// After this event,
    pub after: Option<Happening>,
    /// this one,
    pub then: Option<Happening>,
    /// within this time.
    pub within: Option<Spanned<Bound>>,
    /// Never this event,
    pub never: Option<Happening>,
    /// while an entity is in a state,
    pub during: Option<Condition>,
    /// or from an event to another one.
    pub between: Option<[Happening; 2]>,
    /// At most so many
    pub at_most: Option<Count>,
    /// of this event,
    pub of: Option<Happening>,
    /// in any window of this length.
    pub window: Option<Spanned<Bound>>,
    /// Two events that alternate.
    pub alternate: Option<[Happening; 2]>,
    /// Once this event happened,
    pub once: Option<Happening>,
    /// an entity is in a state,
    pub held: Option<Condition>,
    /// until this event.
    pub until: Option<Happening>,
}

/// An event: something happens to an entity.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happening {
    /// The entity that it happens to.
    pub entity: String,
    /// The action, in the words of BTF.
    pub action: String,
    /// The entity that causes it; any if left out.
    pub source: Option<String>,
    /// The value of a signal, or what else BTF notes of the action; any if left out.
    pub value: Option<Value>,
}

/// An entity is in a state.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A process or runnable.
    pub entity: String,
    /// A state of BTF, or `any`: it exists.
    pub state: Spanned<String>,
}

/// A value as a trace notes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Value(pub String);

/// A requirement, whose keys fit together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule<'a> {
    Response { a: &'a Happening, b: &'a Happening, within: &'a Spanned<Bound> },
    During { a: &'a Happening, state: &'a Condition },
    Between { a: &'a Happening, from: &'a Happening, to: &'a Happening },
    Rate { a: &'a Happening, at_most: u32, window: &'a Spanned<Bound> },
    Alternation { a: &'a Happening, b: &'a Happening },
    Hold { start: &'a Happening, held: &'a Condition, until: &'a Happening },
}

/// The key that a template begins with, the others, and how it is written.
const TEMPLATES: [(&str, &[&str], &str); 5] = [
    ("after", &["then", "within"], "after = { … }, then = { … }, within = \"2ms\""),
    ("never", &["during", "between"], "never = { … }, and during = { … } or between = [{ … }, { … }]"),
    ("at_most", &["of", "window"], "at_most = 3, of = { … }, window = \"10ms\""),
    ("alternate", &[], "alternate = [{ … }, { … }]"),
    ("once", &["held", "until"], "once = { … }, held = { … }, until = { … }"),
];

impl Temporal {
    /// What is required.
    ///
    /// # Errors
    /// If the keys are those of no template, of several, or of a part of one; if two events have to be
    /// different and are not; for a word that is no state.
    pub(super) fn rule(&self) -> Result<Rule<'_>> {
        let given = self.keys();
        let name = self.name.get_ref();
        let mut templates = TEMPLATES.iter().filter(|(first, ..)| given.contains(first));
        let Some((first, rest, form)) = templates.next() else {
            let keys = TEMPLATES.map(|(first, ..)| first).join(", ");
            return Err(Error::input(format!("the temporal requirement '{name}' has no template"))
                .hint(format!("write one of the keys {keys}")));
        };
        if let Some((other, ..)) = templates.next() {
            return Err(Error::input(format!(
                "the temporal requirement '{name}' has both {first} and {other}"
            ))
            .hint("each template is an entry of its own"));
        }
        if let Some(key) = given.iter().find(|key| **key != *first && !rest.contains(key)) {
            let message =
                format!("the temporal requirement '{name}' has {key}, which does not go with {first}");
            return Err(Error::input(message).hint(format!("write {form}")));
        }
        if let ["during", "between"] = given.get(1..).unwrap_or_default() {
            let message = format!("the temporal requirement '{name}' has both during and between");
            return Err(Error::input(message).hint("each of them is an entry of its own"));
        }
        self.of_keys().ok_or_else(|| {
            Error::input(format!(
                "the temporal requirement '{name}' has {first} without all that goes with it"
            ))
            .hint(format!("write {form}"))
        })
    }

    /// Those that are there.
    fn keys(&self) -> Vec<&'static str> {
        let all = [
            ("after", self.after.is_some()),
            ("then", self.then.is_some()),
            ("within", self.within.is_some()),
            ("never", self.never.is_some()),
            ("during", self.during.is_some()),
            ("between", self.between.is_some()),
            ("at_most", self.at_most.is_some()),
            ("of", self.of.is_some()),
            ("window", self.window.is_some()),
            ("alternate", self.alternate.is_some()),
            ("once", self.once.is_some()),
            ("held", self.held.is_some()),
            ("until", self.until.is_some()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key).collect()
    }

    /// The template of keys that go together; `None` if some are missing, or one is too many.
    fn of_keys(&self) -> Option<Rule<'_>> {
        if let Some(a) = &self.after {
            return Some(Rule::Response { a, b: self.then.as_ref()?, within: self.within.as_ref()? });
        }
        if let Some(a) = &self.never {
            return match (&self.during, &self.between) {
                (Some(state), None) => Some(Rule::During { a, state }),
                (None, Some([from, to])) => Some(Rule::Between { a, from, to }),
                _ => None,
            };
        }
        if let Some(Count(at_most)) = self.at_most {
            return Some(Rule::Rate { a: self.of.as_ref()?, at_most, window: self.window.as_ref()? });
        }
        if let Some([a, b]) = &self.alternate {
            return Some(Rule::Alternation { a, b });
        }
        let (start, held, until) = (self.once.as_ref()?, self.held.as_ref()?, self.until.as_ref()?);
        Some(Rule::Hold { start, held, until })
    }
}

impl<'a> Rule<'a> {
    /// # Errors
    /// If two events have to be different and are not: each of them would be the other one, too.
    pub fn check(self) -> Result<()> {
        let same = match self {
            Self::Alternation { a, b } if a.is(b) => Some("alternate: the two events are the same"),
            Self::Between { from, to, .. } if from.is(to) => {
                Some("between: the event that ends it is the one that begins it")
            }
            Self::Between { a, to, .. } if a.is(to) => Some("never: this event ends what it is forbidden in"),
            _ => None,
        };
        same.map_or(Ok(()), |message| Err(Error::input(message).hint("two different events are needed")))
    }

    /// The events, the one first that begins an obligation.
    pub fn events(self) -> Vec<&'a Happening> {
        match self {
            Self::Response { a, b, .. } | Self::Alternation { a, b } => vec![a, b],
            Self::During { a, .. } | Self::Rate { a, .. } => vec![a],
            Self::Between { a, from, to } => vec![from, a, to],
            Self::Hold { start, until, .. } => vec![start, until],
        }
    }

    /// The state.
    pub fn state(self) -> Option<&'a Condition> {
        match self {
            Self::During { state, .. } => Some(state),
            Self::Hold { held, .. } => Some(held),
            _ => None,
        }
    }
}

impl Happening {
    /// Whether both are the same event.
    fn is(&self, other: &Self) -> bool {
        self.entity == other.entity
            && Action::same(&self.action, &other.action)
            && (&self.source, &self.value) == (&other.source, &other.value)
    }

    /// The event, with any value.
    pub(super) fn step(&self) -> ChainStep {
        ChainStep {
            entity: self.entity.clone(),
            action: self.action.clone(),
            source: self.source.clone(),
            instance: Instance::Any,
        }
    }
}

impl Condition {
    /// The states; empty for all of them.
    ///
    /// # Errors
    /// For a word that is no state, with a suggestion.
    pub(super) fn states(&self) -> Result<Vec<State>> {
        let word = self.state.get_ref();
        if word == ANY {
            return Ok(Vec::new());
        }
        let words = || STATES.iter().map(|state| state.as_str()).chain([ANY]);
        let state = STATES.into_iter().find(|state| state.as_str() == word);
        state.map(|state| vec![state]).ok_or_else(|| {
            let error = Error::input(format!("there is no state '{word}'"));
            error.hint_near(word, words(), |all| format!("the states are: {all}"))
        })
    }
}

/// Written by hand, so that values need no quotes, and errors are in plain words.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl Visitor<'_> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, or a text in quotes as the trace has it")
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value(n.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::require::Requirements;
    use std::path::Path;

    fn parse(text: &str) -> Result<Requirements> {
        Requirements::parse(text, Path::new("limits.toml"))
    }

    #[test]
    fn temporal_requirements_are_templates_by_their_keys() {
        let write = "{entity = \"S\", action = \"write\", value = 3}";
        let read = "{entity = \"S\", action = \"read\", source = \"T\"}";
        let state = "{entity = \"T\", state = \"running\"}";
        let mut text = String::new();
        for rest in [
            format!("after = {write}\nthen = {read}\nwithin = \"1ms\""),
            format!("never = {write}\nduring = {state}"),
            format!("never = {write}\nbetween = [{read}, {read}]").replacen("read", "write", 1),
            format!("at_most = 2\nof = {write}\nwindow = \"1ms\""),
            format!("alternate = [{write}, {read}]"),
            format!("once = {write}\nheld = {state}\nuntil = {read}"),
        ] {
            text += &format!("[[temporal]]\nname = \"t\"\n{rest}\n");
        }
        let requirements = parse(&text).unwrap();
        let rules: Vec<_> = requirements.temporal.iter().map(|t| t.rule().unwrap()).collect();
        assert!(matches!(
            rules[..],
            [
                Rule::Response { .. },
                Rule::During { .. },
                Rule::Between { .. },
                Rule::Rate { at_most: 2, .. },
                Rule::Alternation { .. },
                Rule::Hold { .. },
            ]
        ));
        assert_eq!(rules[0].events()[0].value.as_ref().unwrap().0, "3");
        assert_eq!(rules[1].state().unwrap().states().unwrap(), [State::Running]);
    }

    #[test]
    fn keys_that_do_not_fit_together_are_mistakes() {
        let step = "{entity = \"S\", action = \"write\"}";
        let state = "during = {entity = \"T\", state = \"ready\"}";
        let temporal = |rest: &str| format!("[[temporal]]\nname = \"t\"\n{rest}\n");
        for (text, line, message) in [
            ("[[temporal]]\nname = \"t\"\n".to_owned(), 2, "'t' has no template"),
            (temporal(&format!("after = {step}")), 2, "'t' has after without all that goes with it"),
            (temporal(&format!("after = {step}\nnever = {step}")), 2, "has both after and never"),
            (
                temporal(&format!("never = {step}\nwithin = 1")),
                2,
                "'t' has within, which does not go with never",
            ),
            (
                temporal(&format!("never = {step}\n{state}\nbetween = [{step}, {step}]")),
                2,
                "has both during and between",
            ),
            (temporal(&format!("alternate = [{step}, {step}]")), 2, "alternate: the two events are the same"),
            (
                temporal(&format!("alternate = [{step}, {}]", step.replace("write", "Write"))),
                2,
                "alternate: the two events are the same",
            ),
            (temporal(&format!("alternate = [{step}]")), 3, "2"),
            (
                temporal(&format!("never = {step}\nbetween = [{step}, {step}]")),
                2,
                "between: the event that ends it is the one that begins it",
            ),
            (
                temporal(&format!("never = {step}\nbetween = [{}, {step}]", step.replace("write", "read"))),
                2,
                "never: this event ends what it is forbidden in",
            ),
            (
                temporal(&format!("never = {step}\n{}", state.replace("ready", "redy"))),
                4,
                "there is no state 'redy'",
            ),
            (temporal(&format!("at_most = -1\nof = {step}\nwindow = 1")), 3, "-1 is no number of events"),
            (
                temporal(&format!("at_most = 1\nof = {}\nwindow = 1", step.replace('}', ", value = 1.5}"))),
                4,
                "expected a whole number, or a text in quotes",
            ),
            (temporal("").repeat(1001), 3002, "there are more than 1000 temporal requirements"),
        ] {
            let e = parse(&text).unwrap_err().to_string();
            assert!(e.starts_with(&format!("limits.toml:{line}: ")) && e.contains(message), "{text}\n{e}");
        }
        let e = parse(&temporal(&format!("never = {step}\nuntill = {step}"))).unwrap_err();
        assert_eq!(e.hints(), ["did you mean 'until'?"]);
    }
}
