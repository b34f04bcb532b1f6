//! What a trace format says of itself, and how a recording of it is opened. Not the reading (see `reader`).

use super::Reader;
use crate::diagnostics::Severity;
use crate::error::Result;
use crate::input::Source;
use crate::options::{OptionSpec, OptionValues};
use crate::schema::TableSpec;
use crate::time::TimeScale;
use std::fmt::Debug;
use std::path::PathBuf;

/// A trace format. See the module for what is made from it.
pub trait TraceFormat: Debug + Sync {
    /// Its name on the command line, e.g. `btf`.
    fn name(&self) -> &'static str;

    /// One line for the help of `--format`, without a full stop.
    fn help(&self) -> &'static str;

    /// What a recording of it is called in messages, e.g. `Grasp trace`.
    fn noun(&self) -> &'static str;

    /// How its files are recognised, for the hint of an error about a file of no format: `Grasp traces have
    /// lines like …`.
    fn signature(&self) -> &'static str;

    /// The options that it takes.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// What is wrong with giving its options for an input of another format; `None` where they are of no
    /// consequence there.
    fn options_elsewhere(&self) -> Option<&'static str> {
        None
    }

    /// The tables that its readers fill, and in which order their rows come.
    fn tables(&self) -> &'static [TableUse];

    /// What a time means that is before the time of the row in front of it.
    fn disorder(&self) -> Disorder;

    /// How sure it is that `head`, the first bytes of an input, begins one of its own. Decides by content
    /// alone.
    fn probe(&self, head: &[u8]) -> Confidence;

    /// The unit in which an input with these first bytes counts time, where they say so.
    fn unit(&self, _head: &[u8]) -> Option<TimeScale> {
        None
    }

    /// The keys under which a description names the inputs of a core; none for formats whose recordings need
    /// no description.
    fn roles(&self) -> &'static [&'static str] {
        &[]
    }

    /// What the name of a file says about it, for formats whose files belong together by their names.
    fn part(&self, _file_name: &str) -> Option<Part> {
        None
    }

    /// The finding of an input without any event.
    fn no_events(&self) -> &'static str {
        "the trace holds no event"
    }

    /// How many threads can be busy with one input: with the reading, the parsing and the writing, if nothing
    /// else.
    fn threads_per_input(&self) -> usize {
        3
    }

    /// Opens a recording: looks at its first bytes, reads metadata if there are any, and makes a reader for
    /// every input with rows.
    ///
    /// # Errors
    /// Input that is not what it is said to be; options that do not fit.
    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>>;
}

/// How sure a format is of an input; the greatest one wins, and among equals the first format of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is none of its own.
    None,
    /// It may be one, if no other format wants it.
    Weak,
    /// It looks like one.
    Possible,
    /// It looks like one, and other formats do not have what it looks for.
    Likely,
    /// It says so: to read it as another format is a mistake.
    Certain,
}

/// A table that a format fills.
#[derive(Debug, Clone, Copy)]
pub struct TableUse {
    /// The table.
    pub table: &'static TableSpec,
    /// In which order its rows come from the reader.
    pub order: RowOrder,
}

/// In which order the rows of a table come from a reader, and so what has to be done to have them in the
/// order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// As they have to be.
    AsGiven,
    /// By time, but for a few; each batch is sorted, and one that begins before the last row of the one in
    /// front of it begins another file.
    WithinBatches,
    /// The same, and what is out of order across two batches is put right as well: cores that are written one
    /// after the other.
    AcrossBatches,
}

/// What a time means that is before the time of the row in front of it. The rows are kept and sorted in any
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disorder {
    /// Something is wrong: every place is a finding of this severity.
    Fault(Severity),
    /// It is how such traces are written; one finding at the end says how often, and that is for information.
    Expected,
}

/// What the name of a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The core it is of.
    pub core: String,
    /// The key that names it in a description, e.g. `data`.
    pub role: &'static str,
}

/// One input of a recording, opened but not read.
pub struct Input {
    /// As the user or the description names it.
    pub name: String,
    /// Where it is, for messages; `-` for standard input.
    pub path: PathBuf,
    /// The core that it is of, where that is known from outside.
    pub core: Option<String>,
    /// The key under which the description names it, e.g. `data` or `functions`.
    pub role: Option<&'static str>,
    /// Ticks to be added to its times.
    pub time_offset: i64,
    /// Its bytes.
    pub source: Source,
}

/// What is the same for all inputs of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The tick that times are counted in.
    pub scale: TimeScale,
    /// The options that were given, or that a description has.
    pub options: &'a OptionValues,
}

/// An input and what reads it.
pub struct Stream {
    /// The input.
    pub input: Input,
    /// Its reader.
    pub reader: Box<dyn Reader>,
}
