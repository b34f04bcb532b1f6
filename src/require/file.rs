//! The text of a file of requirements → what is required. Not for measuring anything.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::bound::{Bound, Count, Percent};
use super::templates::{self, Rule, Temporal};
use crate::chain::{ChainStep, Instance};
use crate::error::{Error, Result, line_of};
use crate::time::TimeScale;

/// What a recording has to keep. Every list may be left out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirements {
    /// Bounds of a metric.
    #[serde(default)]
    pub limit: Vec<Limit>,
    /// Latest terminations after activations.
    #[serde(default)]
    pub deadline: Vec<Deadline>,
    /// Distances between activations.
    #[serde(default)]
    pub period: Vec<Period>,
    /// Highest loads of cores in a window of time.
    #[serde(default)]
    pub load: Vec<Load>,
    /// Latencies of chains of events.
    #[serde(default)]
    pub chain: Vec<Chain>,
    /// Events that happen together.
    #[serde(default)]
    pub synchronisation: Vec<Synchronisation>,
    /// Templates over events and states.
    #[serde(default)]
    pub temporal: Vec<Temporal>,
    /// The file and its text, for the places of mistakes.
    #[serde(skip)]
    file: (PathBuf, String),
}

/// `[[limit]]`: every sample of a metric, or a statistic of it, lies within bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A metric, as `btfdb metrics --list` shows it.
    pub metric: Spanned<String>,
    /// A task, ISR, runnable or core; each one when left out.
    pub entity: Option<String>,
    /// `count`, `min`, `avg`, `max`, `stddev`, `p50`, `p95`, `p99`, `p999`, `jitter`; every sample when left
    /// out.
    pub statistic: Option<Spanned<String>>,
    /// Least value: a time with a unit for durations, else a number.
    pub lower: Option<Spanned<Bound>>,
    /// Greatest value, likewise.
    pub upper: Option<Spanned<Bound>>,
}

/// `[[deadline]]`: every instance terminates at most so long after its activation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A task or ISR.
    pub entity: Spanned<String>,
    /// The time it has.
    pub deadline: Spanned<Bound>,
}

/// `[[period]]`: the distance between two activations is the period, give or take the jitter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Period {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A task or ISR.
    pub entity: String,
    /// The distance.
    pub period: Spanned<Bound>,
    /// By how much it may be missed, in both directions.
    pub jitter: Spanned<Bound>,
}

/// `[[load]]`: a core is never occupied by more than a share of a window of time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A core; each one when left out.
    pub core: Option<String>,
    /// Length of the window.
    pub window: Spanned<Bound>,
    /// Distance between the begins of two windows; the window itself when left out.
    pub step: Option<Spanned<Bound>>,
    /// Greatest load, in percent.
    pub upper: Percent,
}

/// `[[chain]]`: what begins with the first step has an effect in the last one in time. Bounds may be left out
/// where the file only says what the chain is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// What it is called in reports, SQL and metrics.
    pub name: Spanned<String>,
    /// The steps, cause first; two at least.
    pub steps: Spanned<Vec<ChainStep>>,
    /// Longest time from a first step to the first last step that follows from it or from a later one.
    pub reaction: Option<Spanned<Bound>>,
    /// Greatest age of what a last step has to do with: the time since the first step that it follows from.
    pub age: Option<Spanned<Bound>>,
    /// Most first steps from which no last step follows, as a later one came before.
    pub lost: Option<Count>,
    /// Most last steps that follow from the same first step as one before.
    pub repeated: Option<Count>,
}

/// `[[synchronisation]]`: whenever one of some events happens, so do the others, within a tolerance.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synchronisation {
    /// What it is called in reports.
    pub name: String,
    /// The events; two at least.
    pub events: Spanned<Vec<ChainStep>>,
    /// Longest time between an event and the nearest one of each other kind.
    pub tolerance: Spanned<Bound>,
}

/// All keys, for suggestions.
const KEYS: &str = "limit deadline period load chain synchronisation name metric entity statistic lower upper \
    jitter core window step steps reaction age action source instance lost repeated events tolerance \
    temporal after then within never during between at_most of alternate once held until value state";

impl Requirements {
    /// Reads the text of a file; `path` is only for messages.
    ///
    /// # Errors
    /// Anything TOML or serde refuses, with file and line, and a "did you mean" for unknown keys; a file that
    /// requires nothing, or an entry that does not.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let requirements = Self::read(text, path)?;
        if let Some(limit) = requirements.limit.iter().find(|l| l.lower.is_none() && l.upper.is_none()) {
            let message = format!("the limit of {} has neither lower nor upper", limit.metric.get_ref());
            return Err(requirements.mistake(&limit.metric, Error::input(message)));
        }
        for synchronisation in &requirements.synchronisation {
            let Synchronisation { name, events, .. } = synchronisation;
            let mistake = |message: String| Err(requirements.mistake(events, Error::input(message)));
            if events.get_ref().len() < 2 {
                return mistake(format!("the synchronisation '{name}' has less than two events"));
            }
            if events.get_ref().iter().any(|event| event.instance != Instance::Any) {
                return mistake(format!("the synchronisation '{name}' has an instance; only chains have"));
            }
        }
        if let Some(temporal) = requirements.temporal.get(templates::MOST) {
            let message = format!("there are more than {} temporal requirements", templates::MOST);
            let error = Error::input(message).hint("put the others into a file of their own");
            return Err(requirements.mistake(&temporal.name, error));
        }
        for temporal in &requirements.temporal {
            requirements.rule(temporal)?.check().map_err(|e| requirements.mistake(&temporal.name, e))?;
            for state in [&temporal.during, &temporal.held].into_iter().flatten() {
                state.states().map_err(|e| requirements.mistake(&state.state, e))?;
            }
        }
        if requirements.is_empty() {
            return Err(Error::input("the file requires nothing")
                .at(path)
                .hint("e.g. [[limit]] with metric and upper"));
        }
        Ok(requirements)
    }

    /// The chains of a file, whatever else it says; see
    /// [`Session::with_chains`](crate::engine::Session::with_chains).
    ///
    /// # Errors
    /// As [`Self::parse`]; a file without chains.
    pub fn parse_chains(text: &str, path: &Path) -> Result<Vec<crate::chain::Chain>> {
        match Self::read(text, path)?.chains() {
            none if none.is_empty() => Err(Error::input("the file has no chains")
                .at(path)
                .hint("e.g. [[chain]] with name and steps = [{ entity, action }, …]")),
            chains => Ok(chains),
        }
    }

    /// What TOML and the types of keys refuse, and chains that cannot be.
    fn read(text: &str, path: &Path) -> Result<Self> {
        let mut requirements: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        requirements.file = (path.to_owned(), text.to_owned());
        let mut names = HashSet::new();
        for chain in &requirements.chain {
            let name = chain.name.get_ref();
            if chain.steps.get_ref().len() < 2 {
                let error = Error::input(format!("the chain '{name}' has less than two steps"));
                return Err(requirements.mistake(&chain.steps, error));
            }
            if !names.insert(name) {
                let error = Error::input(format!("two chains are called '{name}'"));
                return Err(requirements.mistake(&chain.name, error));
            }
        }
        Ok(requirements)
    }

    /// An error about a value of the file, with its place.
    pub(super) fn mistake<T>(&self, value: &Spanned<T>, error: Error) -> Error {
        let (path, text) = &self.file;
        error.within(path, line_of(text, value.span().start))
    }

    /// What an entry of `[[temporal]]` requires.
    ///
    /// # Errors
    /// If its keys do not fit together; with its place.
    pub(super) fn rule<'a>(&self, temporal: &'a Temporal) -> Result<Rule<'a>> {
        temporal.rule().map_err(|error| self.mistake(&temporal.name, error))
    }

    /// A time in ticks of `scale`, that of a key of the file.
    ///
    /// # Errors
    /// For what is no time, and for a time less than `least`, which is 0 or 1 tick.
    pub(super) fn ticks(
        &self,
        key: &str,
        bound: &Spanned<Bound>,
        least: i64,
        scale: TimeScale,
    ) -> Result<i64> {
        let ticks = bound.get_ref().ticks(scale).map_err(|error| self.mistake(bound, error))?;
        if ticks < least {
            let (wanted, shown) = (if least > 0 { "greater than 0" } else { "0 or more" }, bound.get_ref());
            let error = Error::input(format!("{key} is {shown}, and has to be {wanted}"))
                .hint(format!("write for example {key} = \"1.5ms\""));
            return Err(self.mistake(bound, error));
        }
        Ok(ticks)
    }

    /// The chains, without their bounds.
    pub fn chains(&self) -> Vec<crate::chain::Chain> {
        let chain = |c: &Chain| crate::chain::Chain {
            name: c.name.get_ref().clone(),
            steps: c.steps.get_ref().clone(),
            is_silent: false,
        };
        self.chain.iter().map(chain).collect()
    }

    fn is_empty(&self) -> bool {
        let Self { limit, deadline, period, load, chain, synchronisation, temporal, file: _ } = self;
        let bounded =
            |c: &Chain| c.reaction.is_some() || c.age.is_some() || c.lost.is_some() || c.repeated.is_some();
        limit.is_empty()
            && deadline.is_empty()
            && period.is_empty()
            && load.is_empty()
            && synchronisation.is_empty()
            && temporal.is_empty()
            && !chain.iter().any(bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Requirements> {
        Requirements::parse(text, Path::new("limits.toml"))
    }

    #[test]
    fn entries_are_read_and_mistakes_located() {
        let good = "[[limit]]\nmetric = \"ResponseTime\"\nupper = \"5ms\"\n[[load]]\nwindow = \"10ms\"\nupper = 80\n";
        let requirements = parse(good).unwrap();
        let upper = requirements.limit[0].upper.as_ref().unwrap();
        assert_eq!(upper.get_ref().ticks(TimeScale::Ns).unwrap(), 5_000_000);
        assert_eq!(requirements.load[0].upper, Percent(80.0));
        let e = parse("[[limit]]\nmetric = \"ResponseTime\"\nuper = 1\n").unwrap_err();
        assert!(e.to_string().starts_with("limits.toml:3:"), "{e}");
        assert_eq!(e.hints(), ["did you mean 'upper'?"]);
    }

    #[test]
    fn what_requires_nothing_is_a_mistake() {
        for text in [
            "",
            "[[limit]]\nmetric = \"x\"\n",
            "[[synchronisation]]\nname = \"s\"\ntolerance = 1\nevents = [{entity = \"S\", action = \"write\"}]\n",
            "[[chain]]\nname = \"c\"\nsteps = [{entity = \"S\", action = \"write\"}, {entity = \"S\", action = \"read\"}]\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_mistake_has_a_line_and_plain_words() {
        let step = "{entity = \"S\", action = \"write\"}";
        let chain = format!("[[chain]]\nname = \"c\"\nsteps = [{step}, {step}]\n");
        for (text, line, message) in [
            (
                "[[load]]\nwindow = \"1ms\"\nupper = \"60\"\n".to_owned(),
                3,
                "'60' is no share: write a number of percent",
            ),
            (format!("{chain}lost = -1\n"), 4, "-1 is no number of events: write a whole number"),
            (format!("{chain}reaction = true\n"), 4, "expected a number, or a time with a unit"),
            (chain.replace("write\"}]", "write\", instance = 3}]"), 3, "invalid type: integer `3`"),
            (chain.replace("write\"}]", "write\", instance = \"x\"}]"), 3, "write \"any\" or \"same\""),
            (chain.replace(&format!("{step}, "), ""), 3, "the chain 'c' has less than two steps"),
            (format!("{chain}{chain}"), 5, "two chains are called 'c'"),
            ("\n[[limit]]\nmetric = \"x\"\n".to_owned(), 3, "neither lower nor upper"),
        ] {
            let e = parse(&text).unwrap_err().to_string();
            assert!(e.starts_with(&format!("limits.toml:{line}: ")) && e.contains(message), "{text}\n{e}");
            let plain = ["f64", "u32", "i64", "untagged", "variant"].iter().all(|word| !e.contains(word));
            assert!(plain, "{e}");
        }
    }
}
