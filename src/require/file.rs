//! The text of a file of requirements → what is required. Not for measuring anything.

use std::path::Path;

use serde::Deserialize;

use crate::chain::{ChainStep, Instance};
use crate::error::{Error, Result};
use crate::time::{TimeScale, parse_time_argument};

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
}

/// `[[limit]]`: every sample of a metric, or a statistic of it, lies within bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A metric, as `btfdb metrics --list` shows it.
    pub metric: String,
    /// A task, ISR, runnable or core; each one when left out.
    pub entity: Option<String>,
    /// `count`, `min`, `avg`, `max`, `stddev`, `p50`, `p95`, `p99`, `p999`, `jitter`; every sample when left
    /// out.
    pub statistic: Option<String>,
    /// Least value: a time with a unit for durations, else a number.
    pub lower: Option<Bound>,
    /// Greatest value, likewise.
    pub upper: Option<Bound>,
}

/// `[[deadline]]`: every instance terminates at most so long after its activation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// What it is called in reports.
    pub name: Option<String>,
    /// A task or ISR.
    pub entity: String,
    /// The time it has.
    pub deadline: Bound,
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
    pub period: Bound,
    /// By how much it may be missed, in both directions.
    pub jitter: Bound,
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
    pub window: Bound,
    /// Distance between the begins of two windows; the window itself when left out.
    pub step: Option<Bound>,
    /// Greatest load, in percent.
    pub upper: f64,
}

/// `[[chain]]`: what begins with the first step has an effect in the last one in time. Bounds may be left out
/// where the file only says what the chain is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// What it is called in reports, SQL and metrics.
    pub name: String,
    /// The steps, cause first; two at least.
    pub steps: Vec<ChainStep>,
    /// Longest time from a first step to the first last step that follows from it or from a later one.
    pub reaction: Option<Bound>,
    /// Greatest age of what a last step has to do with: the time since the first step that it follows from.
    pub age: Option<Bound>,
    /// Most first steps from which no last step follows, as a later one came before.
    pub lost: Option<u32>,
    /// Most last steps that follow from the same first step as one before.
    pub repeated: Option<u32>,
}

/// `[[synchronisation]]`: whenever one of some events happens, so do the others, within a tolerance.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synchronisation {
    /// What it is called in reports.
    pub name: String,
    /// The events; two at least.
    pub events: Vec<ChainStep>,
    /// Longest time between an event and the nearest one of each other kind.
    pub tolerance: Bound,
}

/// A number, or a time with a unit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Bound {
    /// Plain; for times, ticks.
    Integer(i64),
    Number(f64),
    /// `10ms`
    Text(String),
}

impl Bound {
    /// The bound as a number; times in ticks of `scale`.
    pub fn value(&self, scale: TimeScale) -> Result<f64> {
        match self {
            Self::Integer(n) => Ok(*n as f64),
            Self::Number(n) => Ok(*n),
            Self::Text(_) => Ok(self.ticks(scale)? as f64),
        }
    }

    /// The bound as a time, in ticks of `scale`.
    pub fn ticks(&self, scale: TimeScale) -> Result<i64> {
        match self {
            Self::Integer(n) => Ok(*n),
            Self::Number(n) => {
                Err(Error::input(format!("{n} is no time")).hint("write for example \"1.5ms\""))
            }
            Self::Text(text) => parse_time_argument(text, scale).map_err(Error::input),
        }
    }
}

/// All keys, for suggestions.
const KEYS: &str = "limit deadline period load chain synchronisation name metric entity statistic lower upper \
    jitter core window step steps reaction age action source instance lost repeated events tolerance";

impl Requirements {
    /// Reads the text of a file; `path` is only for messages.
    ///
    /// # Errors
    /// Anything TOML or serde refuses, with file and line, and a "did you mean" for unknown keys; a file that
    /// requires nothing, or an entry that does not.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let requirements: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        let mistake = |message: String| Err(Error::input(message).at(path));
        if let Some(limit) = requirements.limit.iter().find(|l| l.lower.is_none() && l.upper.is_none()) {
            return mistake(format!("the limit of {} has neither lower nor upper", limit.metric));
        }
        for synchronisation in &requirements.synchronisation {
            let Synchronisation { name, events, .. } = synchronisation;
            if events.len() < 2 {
                return mistake(format!("the synchronisation '{name}' has less than two events"));
            }
            if events.iter().any(|event| event.instance != Instance::Any) {
                return mistake(format!("the synchronisation '{name}' has an instance; only chains have"));
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
        let requirements: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        match requirements.chains() {
            none if none.is_empty() => Err(Error::input("the file has no chains")
                .at(path)
                .hint("e.g. [[chain]] with name and steps = [{ entity, action }, …]")),
            chains => Ok(chains),
        }
    }

    /// The chains, without their bounds.
    pub fn chains(&self) -> Vec<crate::chain::Chain> {
        let chain = |c: &Chain| crate::chain::Chain { name: c.name.clone(), steps: c.steps.clone() };
        self.chain.iter().map(chain).collect()
    }

    fn is_empty(&self) -> bool {
        let Self { limit, deadline, period, load, chain, synchronisation } = self;
        let bounded =
            |c: &Chain| c.reaction.is_some() || c.age.is_some() || c.lost.is_some() || c.repeated.is_some();
        limit.is_empty()
            && deadline.is_empty()
            && period.is_empty()
            && load.is_empty()
            && synchronisation.is_empty()
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
        assert_eq!(requirements.limit[0].upper.as_ref().unwrap().ticks(TimeScale::Ns).unwrap(), 5_000_000);
        assert_eq!(requirements.load[0].upper, 80.0);
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
        assert!(
            Bound::Number(1.5).ticks(TimeScale::Ns).is_err()
                && Bound::Text("5 m".into()).value(TimeScale::Ns).is_err()
        );
    }
}
