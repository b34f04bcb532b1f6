//! The TOML text of a model → the model. Not what a model may not do, which `check` refuses, nor its writing.

mod lower;
mod masks;
mod names;
mod observed;
mod random_times;
mod steps;
mod values;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use self::random_times::{CurveText, PeriodicText, SporadicText};
use self::steps::Steps;
use self::values::{Name, Seed, Time, Whole};
use super::Model;
use super::places::{Places, Source};
use crate::diagnostics::Log;
use crate::error::{Error, Result};

/// The text of a model. Every list may be left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelText {
    name: Option<String>,
    #[serde(default)]
    seed: Seed,
    duration: Spanned<Time>,
    #[serde(default)]
    os: OsText,
    #[serde(default)]
    core: Vec<CoreText>,
    #[serde(default)]
    task: Vec<TaskText>,
    #[serde(default)]
    isr: Vec<IsrText>,
    #[serde(default)]
    runnable: Vec<RunnableText>,
    #[serde(default)]
    signal: Vec<SignalText>,
    #[serde(default)]
    event: Vec<EventText>,
    #[serde(default)]
    resource: Vec<ResourceText>,
    #[serde(default)]
    spinlock: Vec<SpinlockText>,
    #[serde(default)]
    alarm: Vec<AlarmText>,
    #[serde(default)]
    schedule_table: Vec<ScheduleTableText>,
}

/// `[os]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "the section [os]")]
struct OsText {
    access: Time,
    dispatch: Time,
    service: Time,
    interrupt: Time,
    remote_call: Time,
    tick: Option<Spanned<Time>>,
    timer_drift: Time,
    timer_isr: bool,
}

impl Default for OsText {
    fn default() -> Self {
        Self {
            access: Time(10),
            dispatch: Time(0),
            service: Time(0),
            interrupt: Time(0),
            remote_call: Time(900),
            tick: None,
            timer_drift: Time(0),
            timer_isr: true,
        }
    }
}

/// `[[core]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[core]]")]
struct CoreText {
    name: Name,
}

/// `[[task]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[task]]")]
struct TaskText {
    name: Name,
    core: Option<Name>,
    priority: Whole,
    activations: Option<Whole>,
    preemption: Option<Name>,
    group: Option<Name>,
    #[serde(default)]
    autostart: bool,
    #[serde(default)]
    events: Vec<Name>,
    #[serde(default)]
    steps: Steps,
}

/// `[[isr]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[isr]]")]
struct IsrText {
    name: Name,
    core: Option<Name>,
    priority: Whole,
    category: Option<Spanned<Whole>>,
    periodic: Option<PeriodicText>,
    sporadic: Option<Spanned<SporadicText>>,
    at: Option<Vec<Time>>,
    curve: Option<CurveText>,
    #[serde(default)]
    steps: Steps,
}

/// `[[runnable]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[runnable]]")]
struct RunnableText {
    name: Name,
    #[serde(default)]
    steps: Steps,
}

/// `[[signal]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[signal]]")]
struct SignalText {
    name: Name,
    initial: Option<Whole>,
}

/// `[[event]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[event]]")]
struct EventText {
    name: Name,
    mask: Option<Spanned<Whole>>,
}

/// `[[resource]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[resource]]")]
struct ResourceText {
    name: Name,
    #[serde(default)]
    internal: bool,
}

/// `[[spinlock]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[spinlock]]")]
struct SpinlockText {
    name: Name,
}

/// `[[alarm]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[alarm]]")]
struct AlarmText {
    name: Name,
    activate: Option<Name>,
    set_event: Option<Name>,
    task: Option<Name>,
    offset: Option<Spanned<Time>>,
    period: Option<Spanned<Time>>,
    #[serde(default)]
    once: bool,
}

/// `[[schedule_table]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section [[schedule_table]]")]
struct ScheduleTableText {
    name: Name,
    core: Option<Name>,
    offset: Option<Spanned<Time>>,
    length: Spanned<Time>,
    repeats: Option<bool>,
    points: Vec<Spanned<PointText>>,
}

/// A point of a schedule table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a point such as { at = \"2ms\", activate = \"T_1\" }")]
struct PointText {
    at: Spanned<Time>,
    activate: Option<Name>,
    set_event: Option<Name>,
    task: Option<Name>,
}

/// All keys, for suggestions.
const KEYS: &str = "name seed duration os core task isr runnable signal event resource spinlock alarm \
    schedule_table access dispatch service interrupt remote_call tick timer_drift timer_isr \
    priority activations preemption group autostart events steps category periodic sporadic at \
    curve offset period jitter distance more limits initial mask internal activate set_event once length \
    repeats points execute call read write value chain terminate clear_event wait_event get_resource \
    release_resource get_spinlock try_to_get_spinlock every release_spinlock schedule branch then else \
    repeat turns times uniform normal weibull beta log_normal in_turn one_of mean deviation min max shape \
    scale alpha mu sigma";

impl Model {
    /// Reads and checks the file of a model; also returns what is strange about it, see [`Self::check`].
    ///
    /// # Errors
    /// Those of [`Self::parse`]; a file that cannot be read.
    pub fn read(path: &Path) -> Result<(Self, Log)> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        Self::parse(&text, path)
    }

    /// Reads and checks the text of a model; `path` is for messages, and for the name of a model that has
    /// none.
    ///
    /// # Errors
    /// Anything that TOML, serde or [`Self::check`] refuse, with file and line, and a "did you mean" for
    /// unknown keys and names.
    pub fn parse(text: &str, path: &Path) -> Result<(Self, Log)> {
        let (model, places) = Self::lower(text, path)?;
        let log = model.check_at(&places)?;
        Ok((model, log))
    }

    /// The model and its places, before the checks.
    fn lower(text: &str, path: &Path) -> Result<(Self, Places)> {
        let parsed: ModelText = toml::from_str(text).map_err(|e| Error::toml(&e, text, path, KEYS))?;
        lower::model(&parsed, &Source::new(text, path))
    }
}
