//! Where in a text each part of a model is written, for errors that name a line. Not the model, and not what
//! a run needs.

use std::path::{Path, PathBuf};

use toml::Spanned;

use super::Step;
use crate::error::Error;

/// The text of a model: its file and where its lines begin. `error::line_of` counts from the begin of the
/// text each time, which is too slow for one place per step of a large model.
pub(super) struct Source<'a> {
    path: &'a Path,
    begins: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &str, path: &'a Path) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { path, begins: std::iter::once(0).chain(ends).collect() }
    }

    /// The file.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// The 1-based line of a value.
    pub(super) fn line<T>(&self, value: &Spanned<T>) -> u64 {
        self.begins.partition_point(|begin| *begin <= value.span().start) as u64
    }

    /// An error about a value.
    pub(super) fn mistake<T>(&self, value: &Spanned<T>, error: Error) -> Error {
        error.within(self.path, self.line(value))
    }
}

/// The lines of a model. A model that was made by a program has none: its errors name no line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The file.
    pub(super) path: PathBuf,
    pub(super) duration: Option<u64>,
    pub(super) cores: Vec<u64>,
    pub(super) tasks: Vec<Body>,
    pub(super) isrs: Vec<Body>,
    pub(super) runnables: Vec<Body>,
    pub(super) signals: Vec<u64>,
    pub(super) events: Vec<u64>,
    pub(super) resources: Vec<u64>,
    pub(super) spinlocks: Vec<u64>,
    pub(super) alarms: Vec<u64>,
    pub(super) schedule_tables: Vec<u64>,
}

/// The lines of a task, ISR or runnable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) line: u64,
    pub(super) steps: Vec<StepPlace>,
}

/// The line of a step, and of the steps in it, in the order of `Step::inside`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StepPlace {
    pub(super) line: u64,
    pub(super) inside: Vec<Vec<StepPlace>>,
}

impl Places {
    /// An error about what is on a line, if it is on one.
    pub(super) fn mistake(&self, line: Option<u64>, error: Error) -> Error {
        match line {
            Some(line) => error.within(&self.path, line),
            None if self.path.as_os_str().is_empty() => error,
            None => error.at(&self.path),
        }
    }
}

impl Body {
    /// The line of the name.
    pub(super) fn line_of(bodies: &[Self], ix: usize) -> Option<u64> {
        bodies.get(ix).map(|body| body.line)
    }

    /// The places of the steps; none without a text.
    pub(super) fn steps_of(bodies: &[Self], ix: usize) -> &[StepPlace] {
        bodies.get(ix).map_or(&[], |body| &body.steps)
    }
}

/// Steps with their places; without a text the places are missing.
pub(super) fn with_places<'a>(
    steps: &'a [Step],
    places: &'a [StepPlace],
) -> impl Iterator<Item = (&'a Step, Option<&'a StepPlace>)> {
    steps.iter().enumerate().map(|(ix, step)| (step, places.get(ix)))
}

/// The places in one list of steps of a step, by its index in `Step::inside`.
pub(super) fn inside(place: Option<&StepPlace>, way: usize) -> &[StepPlace] {
    place.and_then(|place| place.inside.get(way)).map_or(&[], Vec::as_slice)
}
