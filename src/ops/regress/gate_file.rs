//! The text of a file with a gate → what is compared, and what has to be shown. Not for comparing anything.

use super::RegressOptions;
use crate::error::{Error, Result, line_of};
use crate::regress::{Direction, Matters, Statistic};
use crate::time::{TimeScale, parse_time_argument};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Spanned, Value};

/// A gate. Every key may be left out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateFile {
    /// Metrics of durations.
    #[serde(default)]
    metrics: Vec<String>,
    /// Names and patterns.
    #[serde(default)]
    entities: Vec<String>,
    /// `mean`, `p99`, `max`.
    statistics: Option<Spanned<Vec<Spanned<String>>>>,
    /// `either` or `greater`.
    direction: Option<Spanned<String>>,
    /// A probability.
    alpha: Option<Spanned<Value>>,
    /// The least changes that matter.
    #[serde(default)]
    smallest_change: SmallestChange,
    /// The file and its text, for the places of mistakes.
    #[serde(skip)]
    file: (PathBuf, String),
}

/// `[smallest_change]`, by statistic.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SmallestChange {
    mean: Option<Change>,
    p99: Option<Change>,
    max: Option<Change>,
}

/// The greater one of both counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Of the value before.
    percent: Option<Spanned<Value>>,
    /// With a unit.
    time: Option<Spanned<String>>,
}

/// All keys, for suggestions.
const KEYS: &str = "metrics entities statistics direction alpha smallest_change mean p99 max percent time";

impl GateFile {
    /// Reads the text of a file; `path` is only for messages.
    ///
    /// # Errors
    /// Anything TOML or serde refuses, with file and line, and a "did you mean" for unknown keys.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut file: Self = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        file.file = (path.to_owned(), text.to_owned());
        Ok(file)
    }

    /// What it says, with times in ticks of `scale`; defaults where it says nothing.
    ///
    /// # Errors
    /// For a statistic or direction that there is not, a number out of its range, and what is no time, each
    /// with file and line.
    pub fn options(&self, scale: TimeScale) -> Result<RegressOptions> {
        let mut options = RegressOptions { metrics: self.metrics.clone(), ..RegressOptions::default() };
        options.entities = (!self.entities.is_empty()).then(|| self.entities.join(","));
        let gate = &mut options.gate;
        if let Some(words) = &self.statistics {
            gate.statistics.clear();
            for word in words.get_ref() {
                let statistic = self.statistic(word)?;
                if !gate.statistics.contains(&statistic) {
                    gate.statistics.push(statistic);
                }
            }
            if gate.statistics.is_empty() {
                return Err(self
                    .mistake(words, Error::input("the gate compares no statistic"))
                    .hint("write for example statistics = [\"mean\", \"p99\"]"));
            }
        }
        if let Some(word) = &self.direction {
            gate.direction = match word.get_ref().as_str() {
                "either" => Direction::Either,
                "greater" => Direction::Greater,
                other => {
                    let error = Error::input(format!("there is no direction '{other}'"));
                    return Err(self.mistake(word, error).hint("write \"either\" or \"greater\""));
                }
            };
        }
        if let Some(alpha) = &self.alpha {
            gate.alpha =
                number(alpha.get_ref()).filter(|alpha| *alpha > 0.0 && *alpha < 0.5).ok_or_else(|| {
                    self.mistake(alpha, Error::input("alpha is no number between 0 and 0.5"))
                        .hint("0.01: a false alarm in a hundred comparisons of builds")
                })?;
        }
        let SmallestChange { mean, p99, max } = &self.smallest_change;
        for (change, matters) in [(mean, &mut gate.mean), (p99, &mut gate.p99), (max, &mut gate.max)] {
            if let Some(change) = change {
                self.matters(change, matters, scale)?;
            }
        }
        Ok(options)
    }

    fn statistic(&self, word: &Spanned<String>) -> Result<Statistic> {
        Ok(match word.get_ref().as_str() {
            "mean" => Statistic::Mean,
            "p99" => Statistic::P99,
            "max" => Statistic::Max,
            other => {
                let error = Error::input(format!("the statistic '{other}' is not compared"));
                return Err(self.mistake(word, error).hint("those that are: mean, p99, max"));
            }
        })
    }

    fn matters(&self, change: &Change, matters: &mut Matters, scale: TimeScale) -> Result<()> {
        if let Some(percent) = &change.percent {
            let share = number(percent.get_ref()).filter(|percent| (0.0..=1000.0).contains(percent));
            matters.relative = share.ok_or_else(|| {
                self.mistake(percent, Error::input("percent is no number from 0 to 1000"))
                    .hint("write for example percent = 0.5")
            })? / 100.0;
        }
        if let Some(time) = &change.time {
            let ticks = parse_time_argument(time.get_ref(), scale).map_err(Error::input);
            let ticks = ticks.map_err(|error| self.mistake(time, error))?;
            if ticks < 0 {
                let error = Error::input(format!("time is '{}', and has to be 0 or more", time.get_ref()));
                return Err(self.mistake(time, error).hint("write for example time = \"1us\""));
            }
            // Ticks beyond 2^53 are no change of a duration.
            matters.absolute = ticks as f64;
        }
        Ok(())
    }

    /// An error about a value of the file, with its place.
    fn mistake<T>(&self, value: &Spanned<T>, error: Error) -> Error {
        let (path, text) = &self.file;
        error.within(path, line_of(text, value.span().start))
    }
}

/// A number, with or without a fraction.
fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).filter(|n| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<RegressOptions> {
        GateFile::parse(text, Path::new("gate.toml"))?.options(TimeScale::Ns)
    }

    #[test]
    fn a_gate_says_what_it_changes_only() {
        let text = "metrics = [\"ResponseTime\"]\nentities = [\"T_*\", \"T2\"]\nstatistics = [\"mean\"]\n\
            direction = \"greater\"\nalpha = 0.001\n[smallest_change]\nmean = { percent = 2, time = \"1us\" }\n";
        let options = options(text).unwrap();
        assert_eq!(options.metrics, ["ResponseTime"]);
        assert_eq!(options.entities.as_deref(), Some("T_*,T2"));
        let gate = options.gate;
        assert_eq!((gate.direction, gate.statistics), (Direction::Greater, vec![Statistic::Mean]));
        assert_eq!((gate.alpha, gate.mean.relative, gate.mean.absolute), (0.001, 0.02, 1000.0));
        assert_eq!(gate.p99, crate::regress::Gate::default().p99);
    }

    #[test]
    fn every_mistake_has_a_line() {
        for (text, line, message) in [
            ("metric = [\"x\"]\n", 1, "unknown field"),
            ("\nstatistics = [\"median\"]\n", 2, "'median' is not compared"),
            ("statistics = []\n", 1, "no statistic"),
            ("direction = \"up\"\n", 1, "no direction 'up'"),
            ("\n\nalpha = 0\n", 3, "no number between 0 and 0.5"),
            ("alpha = \"x\"\n", 1, "no number between 0 and 0.5"),
            ("[smallest_change]\nmean = { percent = -1 }\n", 2, "no number from 0 to 1000"),
            ("[smallest_change]\nmean = { time = \"fast\" }\n", 2, ""),
            ("[smallest_change]\nmean = { time = \"-1us\" }\n", 2, "0 or more"),
        ] {
            let e = options(text).unwrap_err().to_string();
            assert!(e.starts_with(&format!("gate.toml:{line}: ")) && e.contains(message), "{text}\n{e}");
        }
    }
}
