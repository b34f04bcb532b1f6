//! The description of a trace format, and how it opens a recording. Not the reading (see `reader`).

use super::{InputEnd, Reader};
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::input::Source;
use crate::options::{OptionSpec, OptionValues};
use crate::schema::TableSpec;
use crate::time::TimeScale;
use std::fmt::Debug;
use std::path::PathBuf;

/// What a trace format says of itself.
#[derive(Debug)]
pub struct FormatInfo {
    /// Its name on the command line, e.g. `btf`.
    pub name: &'static str,
    /// One line for the help of `--format`, without a full stop.
    pub help: &'static str,
    /// The noun for a recording of it in messages, e.g. `Grasp trace`.
    pub noun: &'static str,
    /// How its files are recognised, for the hint of an error about a file of no format:
    /// `Grasp traces have lines like …`.
    pub signature: &'static str,
    /// The options that it takes.
    pub options: &'static [OptionSpec],
    /// The tables that its readers fill, and the order of their rows.
    pub tables: &'static [TableUse],
    /// What its events can mean, for formats whose events a scheduler wrote.
    pub profiles: &'static [&'static ProfileFile],
    /// The meaning of a time before the time of the previous row.
    pub disorder: Disorder,
    /// The keys of the inputs of a core in a description; none for formats that need no description.
    pub roles: &'static [&'static str],
    /// The finding of an input without any event.
    pub no_events: &'static str,
    /// Why a recording of it cannot be continued by a later piece of its trace, and what to do instead.
    /// `None` if it can: then readers start from [`Input::after`] and return [`super::Ending::end`].
    pub not_continued: Option<NotContinued>,
    /// How many threads one input can use: for reading, parsing and writing, if there is nothing else to do.
    pub threads_per_input: usize,
}

impl FormatInfo {
    /// What most formats have in common, and no name.
    pub const DEFAULT: Self = Self {
        name: "",
        help: "",
        noun: "",
        signature: "",
        options: &[],
        profiles: &[],
        tables: &[],
        disorder: Disorder::Expected,
        roles: &[],
        no_events: "the trace holds no event",
        not_continued: Some(NotContinued {
            why: "its reader knows whole traces only",
            instead: "give both pieces a name of their own",
        }),
        threads_per_input: 3,
    };

    /// Whether its readers fill a table.
    pub(crate) fn fills(&self, table: &TableSpec) -> bool {
        self.tables.iter().any(|filled| filled.table.name == table.name)
    }
}

/// Why recordings of a format cannot be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotContinued {
    /// The reason, after "because".
    pub why: &'static str,
    /// What to do instead: a hint.
    pub instead: &'static str,
}

/// A trace format. The module describes how it is used.
pub trait TraceFormat: Debug + Sync {
    /// What it says of itself.
    fn info(&self) -> &'static FormatInfo;

    /// How certain it is that an input with these first bytes is of its own. Decides by content alone.
    fn probe(&self, head: &[u8]) -> Confidence;

    /// The unit of time of an input with these first bytes, if they state it.
    fn unit(&self, _head: &[u8]) -> Option<TimeScale> {
        None
    }

    /// The meaning of a file name, for formats whose files belong together by their names.
    fn part(&self, _file_name: &str) -> Option<Part> {
        None
    }

    /// The files of a folder that are one recording of this format, in the order in which they are read.
    /// `names`: all files of the folder by their paths in it, sorted, with `/` between folders. None: it is
    /// no recording.
    fn files_of_folder(&self, _names: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// How the files are called that describe a trace file of this name, if they lie beside it: they are read
    /// with it.
    fn description_of(&self, _file_name: &str) -> Option<NamePattern> {
        None
    }

    /// Opens a recording: looks at its first bytes, reads metadata if there are any, and makes a reader for
    /// every input with rows.
    ///
    /// # Errors
    /// Input of another format than stated; options that do not fit.
    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>>;
}

/// How files are called that describe others, in lower case; capital letters do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamePattern {
    /// How the name begins.
    pub begin: &'static str,
    /// How it ends.
    pub end: &'static str,
}

impl NamePattern {
    /// Whether a file is called so.
    pub fn fits(&self, file_name: &str) -> bool {
        let name = file_name.to_ascii_lowercase();
        name.strip_prefix(self.begin).is_some_and(|rest| rest.ends_with(self.end))
    }
}

/// How certain a format is of an input; the greatest one wins, and among equals the first format of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is not of this format.
    None,
    /// It may be, if no other format recognises it.
    Weak,
    /// It looks like this format.
    Possible,
    /// It looks like this format, and other formats do not have what it looks for.
    Likely,
    /// It states its format: reading it as another one would be a mistake.
    Certain,
}

/// A file that says what events mean (see `description::SchedulerProfile`).
#[derive(Debug)]
pub struct ProfileFile {
    /// Its name, by which a database refers to it: it never changes.
    pub name: &'static str,
    /// The events by which a trace is known to be of it, for formats whose traces declare their events.
    pub known_by: &'static [&'static str],
    /// Its content.
    pub text: &'static str,
}

/// A table that a format fills.
#[derive(Debug, Clone, Copy)]
pub struct TableUse {
    /// The table.
    pub table: &'static TableSpec,
    /// The order of its rows from the reader.
    pub order: RowOrder,
}

/// In which order the rows of a table come from a reader, and therefore how to sort them by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// In the final order.
    AsGiven,
    /// By time, with exceptions: each batch is sorted, and a batch that begins before the last row of the
    /// previous one begins another file.
    WithinBatches,
    /// The same, and disorder across two batches is sorted as well: cores written one after the other.
    AcrossBatches,
}

/// The meaning of a time before the time of the previous row. The rows are stored and sorted in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disorder {
    /// A fault: every place is a finding of this severity.
    Fault(Severity),
    /// Normal for such traces: one finding at the end, for information, has their number.
    Expected,
}

/// The meaning of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its core.
    pub core: String,
    /// Its key in a description, e.g. `data`.
    pub role: &'static str,
}

/// One input of a recording, opened but not read.
pub struct Input {
    /// The name given by the user or the description.
    pub name: String,
    /// Its path, for messages; `-` for standard input.
    pub path: PathBuf,
    /// Its core, if that is known from outside.
    pub core: Option<String>,
    /// Its key in the description, e.g. `data` or `functions`.
    pub role: Option<&'static str>,
    /// Ticks to add to its times.
    pub time_offset: i64,
    /// The end of the input that this one continues.
    pub after: Option<InputEnd>,
    /// Its bytes.
    pub source: Source,
}

/// Settings for all inputs of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The tick of all times.
    pub scale: TimeScale,
    /// The options, given by the user or by a description.
    pub options: &'a OptionValues,
}

/// An input and its reader.
pub struct Stream {
    /// The input.
    pub input: Input,
    /// Its reader.
    pub reader: Box<dyn Reader>,
}
