//! A picture of a recording as data: rows over time and what happens in them. Not how it is read from a
//! database (see `plot`) or drawn (see [`crate::render`]).
//!
//! A picture never grows with the trace: spans and instants on one pixel become one [`Run`] or [`Mark`] with
//! their number, the length of the longest and the time they cover. Rare marks are not lost: a mark of a
//! violation is never merged into one of another kind.

mod axis;
mod chart;
mod columns;
mod curves;
mod grid;
mod marks;
mod response;
mod runs;
#[cfg(test)]
mod tests;

use crate::btf;
use crate::time::TimeScale;
use crate::words::words;

pub use axis::{Axis, exact};
pub use chart::{Bar, Chart, Column, Content, Exceedance, Measure, Panel, Rare, Shares};
pub use curves::Values;
pub use grid::Grid;
pub use marks::Marks;
pub use response::{Band, Cause, ExplainedPart, Explanation, Explanations, Remark, Response};
pub use runs::{Runs, Span, spread};
pub(crate) use runs::{SHADES, join_each, shades};

/// Rows over one window of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// First line above the picture.
    pub title: String,
    /// The picture in one sentence: the alternative text, also shown below the title.
    pub description: String,
    /// The unit of all ticks.
    pub scale: TimeScale,
    /// Begin of the window, in ticks.
    pub from: i64,
    /// End of the window, in ticks, not part of it.
    pub to: i64,
    /// Texts of runs and marks, each once: names of processes, instances, messages.
    pub names: Vec<String>,
    /// The colours of tasks and ISRs, if there are rows of cores, which use them: names, and the number of a
    /// colour that no other name of the recordings has. Sorted.
    pub colours: Vec<(Name, u16)>,
    /// From top to bottom. A child follows its parent.
    pub rows: Vec<Row>,
    /// Lines from one row to another, in order of time.
    pub links: Vec<Link>,
    /// The subject of the picture, if there is one: an instance and its life.
    pub highlight: Option<Highlight>,
    /// The path of its response, if that is explained.
    pub response: Option<Response>,
    /// The responses of instances, for pages.
    pub explanations: Explanations,
    /// Notes for the reader: what was merged, what was left out and why. One sentence each.
    pub notes: Vec<String>,
}

/// An index in [`Picture::names`].
pub type Name = u32;

words! {
    /// What a row shows. Words are in lower case, for identifiers and classes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum RowKind {
        /// A core: which process runs on it.
        Core = "core",
        /// A task: its states.
        Task = "task",
        /// An interrupt service routine: its states.
        Isr = "isr",
        /// A runnable: its executions, one track for each depth of nesting.
        Runnable = "runnable",
        /// A semaphore, mutex or resource: the processes that hold it and wait for it.
        Semaphore = "semaphore",
        /// An event of the operating system: set, waited for, cleared.
        Event = "event",
        /// A signal: its value as a curve of steps, writes and reads as marks.
        Signal = "signal",
        /// A stimulus.
        Stimulus = "stimulus",
        /// A server of a hierarchical scheduler: its budget as a curve.
        Server = "server",
        /// A buffer: the number of its items as a curve of steps.
        Buffer = "buffer",
        /// Marks that belong to the recording as a whole: messages, gaps.
        Trace = "trace",
        /// One of several recordings: the parent of its rows. Its runs are where it has not begun, or has
        /// ended.
        Recording = "recording",
        /// The parts of the response of an instance: a child of the row of its process.
        Response = "response",
    }
}

/// A row of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Identifies the row in all pictures of the recording: kind and name, as in `task:T_1`.
    pub id: String,
    /// Its label.
    pub label: String,
    /// What it shows.
    pub kind: RowKind,
    /// The row it belongs to, as an index in [`Picture::rows`]: it is drawn below that one, indented.
    pub parent: Option<usize>,
    /// Number of tracks within the row, at least 1: runs that overlap are on different tracks.
    pub tracks: u16,
    /// Sorted by begin, then track; runs on one track do not overlap.
    pub runs: Vec<Run>,
    /// Sorted by time.
    pub marks: Vec<Mark>,
    /// A number over time.
    pub curve: Option<Curve>,
    /// The cores it is of, by which gaps concern it: of a row of gaps, those that were not recorded. Empty:
    /// all, or not known.
    pub cores: Vec<Name>,
    /// Of its instances, those that the recording does not show as a whole, as its begin, its end or a gap
    /// cuts them off: numbers, and in a row of runnables the name. Sorted.
    pub cut: Vec<(Option<Name>, i64)>,
}

impl Row {
    /// A row of one track with nothing in it, whose name is its label.
    pub fn new(kind: RowKind, name: &str) -> Self {
        Self {
            id: format!("{}:{name}", kind.as_str()),
            label: name.to_owned(),
            kind,
            parent: None,
            tracks: 1,
            runs: Vec::new(),
            marks: Vec::new(),
            curve: None,
            cores: Vec::new(),
            cut: Vec::new(),
        }
    }

    /// True if nothing is known of this row in the gaps of another one: they have a core in common.
    pub fn is_blind_in(&self, gaps: &Self) -> bool {
        self.cores.is_empty()
            || gaps.cores.is_empty()
            || self.cores.iter().any(|core| gaps.cores.contains(core))
    }
}

words! {
    /// The kind of a span. The first six are the states of `process_state` (BTF 2.3 §2.2.1), with the same
    /// words; `running` and `suspended` are those of `runnable_state`; the last six are the kinds of parts of
    /// `response_part`. Words are in lower case, for identifiers and classes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum State {
        /// Activated, not started.
        Active = "active",
        /// On a core.
        Running = "running",
        /// Preempted: could run.
        Ready = "ready",
        /// Waits passively.
        Waiting = "waiting",
        /// Waits actively, on its core.
        Polling = "polling",
        /// Was preempted while it waited actively.
        Parking = "parking",
        /// On a core, and holds a semaphore, mutex or resource: a critical section.
        Critical = "critical",
        /// Holds (rows of semaphores).
        Held = "held",
        /// Requested but not held (rows of semaphores).
        Wanted = "wanted",
        /// Nothing was recorded: `gap`.
        Gap = "gap",
        /// Interrupted with its process (rows of runnables).
        Suspended = "suspended",
        /// Part of a response: it runs.
        Executes = "executes",
        /// Part of a response: another one has its core.
        Delayed = "delayed",
        /// Part of a response: the kernel is at work.
        Kernel = "kernel",
        /// Part of a response: it polls or waits for a semaphore.
        Blocked = "blocked",
        /// Part of a response: it waits for an event.
        Awaits = "awaits",
        /// Part of a response: the recording does not show it.
        Unknown = "unknown",
    }
}

/// A span of time, or several that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Begin, in ticks; may lie before the window.
    pub begin: i64,
    /// End, in ticks, not part of it; may lie after the window.
    pub end: i64,
    /// 0 is the lowest.
    pub track: u16,
    /// Its state; of several, the one that covers most.
    pub state: State,
    /// The text in it; of several, the name of the longest.
    pub name: Option<Name>,
    /// Number of the instance, if there is one run and it has one.
    pub instance: Option<i64>,
    /// How many runs it stands for; 1 if it is exact.
    pub count: u32,
    /// Ticks covered by them; `end - begin` if it is exact.
    pub covered: i64,
    /// The part of `covered` in which a core is occupied (running, polling, critical) or something is held.
    pub occupied: i64,
    /// Length of the longest, in ticks.
    pub longest: i64,
    /// Begin of the longest, in ticks.
    pub longest_at: i64,
}

words! {
    /// What happens at an instant. Words are in lower case, for identifiers and classes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum MarkKind {
        /// An instance is activated, a job arrives: an arrow down.
        Activation = "activation",
        /// A deadline: an arrow up.
        Deadline = "deadline",
        /// An instance ends.
        Termination = "termination",
        /// An instance goes on on another core.
        Migration = "migration",
        /// An activation was lost: more were pending than allowed.
        ActivationLost = "activation-lost",
        /// A requirement or a rule is violated: a deadline missed, a budget below zero.
        Violation = "violation",
        /// A signal is written.
        Write = "write",
        /// A signal is read.
        Read = "read",
        /// An event is set.
        Set = "set",
        /// An event is waited for.
        Wait = "wait",
        /// An event is cleared.
        Clear = "clear",
        /// A stimulus triggers.
        Trigger = "trigger",
        /// A server's budget is filled up.
        Replenished = "replenished",
        /// A server's budget is used up.
        Depleted = "depleted",
        /// Words of the trace, an annotation.
        Message = "message",
    }
}

impl Picture {
    /// The rows above `row` that it belongs to, other than a recording.
    pub fn depth(&self, row: &Row) -> usize {
        let above = |row: &Row| self.rows.get(row.parent?).filter(|row| row.kind != RowKind::Recording);
        // A parent precedes its children: this ends.
        std::iter::successors(above(row), |row| above(row)).take(self.rows.len()).count()
    }

    /// The rows of each recording, or all rows: indexes of the first and behind the last.
    pub fn sections(&self) -> Vec<(usize, usize)> {
        let begins = |(at, row): (usize, &Row)| (at == 0 || row.kind == RowKind::Recording).then_some(at);
        let begins: Vec<usize> = self.rows.iter().enumerate().filter_map(begins).collect();
        let ends = begins.iter().skip(1).copied().chain([self.rows.len()]);
        begins.iter().copied().zip(ends).collect()
    }
}

impl State {
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// The drawing state of a state of BTF; `None` for states that are not drawn.
    pub fn of_btf(state: btf::State) -> Option<Self> {
        Self::parse(state.as_str())
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Those of the parts of responses.
    pub(crate) fn of_responses() -> [Self; 6] {
        [Self::Executes, Self::Delayed, Self::Kernel, Self::Blocked, Self::Awaits, Self::Unknown]
    }

    /// True while a core is occupied, or something is held.
    pub fn is_occupied(self) -> bool {
        matches!(self, Self::Running | Self::Polling | Self::Critical | Self::Held)
    }
}

impl MarkKind {
    pub(crate) const COUNT: usize = Self::ALL.len();

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// True for marks that are drawn individually, however many other marks there are.
    pub fn is_rare(self) -> bool {
        matches!(self, Self::ActivationLost | Self::Violation)
    }
}

/// An instant, or several of one kind that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Its time in ticks; of several, the first.
    pub at: i64,
    /// The last of several, in ticks.
    pub last: i64,
    /// The kind of event.
    pub kind: MarkKind,
    /// Its text; of several, that of the first.
    pub name: Option<Name>,
    /// How many marks it stands for.
    pub count: u32,
}

words! {
    /// What a line between two rows means.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum LinkKind {
        /// The process of the first row is preempted by that of the second.
        Preemption = "preemption",
        /// The first activates the second.
        Activation = "activation",
        /// The first is the cause of the second, in a chain of events.
        Chain = "chain",
    }
}

/// A line from an instant in one row to an instant in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// What it means.
    pub kind: LinkKind,
    /// Where it starts: an index in [`Picture::rows`].
    pub from_row: usize,
    /// When it starts, in ticks.
    pub from_at: i64,
    /// Where it ends: an index in [`Picture::rows`].
    pub to_row: usize,
    /// When it ends, in ticks.
    pub to_at: i64,
}

/// A span in one row that the picture was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlight {
    /// The row: an index in [`Picture::rows`].
    pub row: usize,
    /// Begin, in ticks.
    pub begin: i64,
    /// End, in ticks, not part of it.
    pub end: i64,
    /// A text for it: `ResponseTime of T_5: 3.025 ms`.
    pub label: String,
}

/// How the points of a curve are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A value holds until the next point.
    Steps,
    /// Straight lines from point to point; two points at one instant are a jump.
    Lines,
}

/// A number over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// How the points are joined.
    pub shape: Shape,
    /// Sorted by time.
    pub points: Vec<Point>,
    /// The greatest value that is possible: capacity of a buffer or server.
    pub limit: Option<f64>,
    /// The unit of the values, empty for plain numbers.
    pub unit: String,
}

/// A point of a curve: one value, or the least and the greatest of several on one pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its time in ticks; of several, the last. Before the window: the value at its begin.
    pub at: i64,
    /// The value; of several, the last. NaN: it is not known from this time on.
    pub value: f64,
    /// The least of several; `value` if there is one.
    pub least: f64,
    /// The greatest of several; `value` if there is one.
    pub greatest: f64,
    /// How many values it stands for; 0 for the end of what is known.
    pub count: u32,
}
