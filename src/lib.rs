//! btfdb: a columnar trace database for embedded real-time systems.
//!
//! btfdb stores traces as compressed Parquet: hardware trace exports (variable accesses, function entries and
//! exits, per core), and traces of kernels, schedulers and simulators in the formats of [`FORMATS`]. It maps
//! the recorded events to system events in BTF (Best Trace Format). The rules for hardware traces follow a
//! published method. Results are SQL answers, timing metrics, pictures and slices of a trace in BTF.
//!
//! # The picture
//!
//! ```text
//!  files ─► input ─► formats ─► schema ─► store ─► map ─► derive ─► store ─► engine ─► export, render ─► cli
//!           bytes    rows and   typed     Parquet  system instances Parquet  SQL,      BTF, CSV,
//!                    findings   columns            events                    metrics   Parquet
//!
//!  timing model ─► simulate ─► events as BTF, recording of a probe (files again)
//!  system events ─► reconstruct ─► timing model
//!  messages between control units ─► clocks ─► their recordings as one, on one clock
//! ```
//!
//! Data flows from left to right. `ops` connects the stages, one file per verb. `description` has what is
//! known about a recording in addition to its trace. Imports do not follow the data: the table of rooms says
//! which room may import which. `tests/it/architecture.rs` reads the table. It fails on any other import, and
//! on a cycle of imports.
//!
//! # The rooms
//!
//! | module | what it is for | may import | must not know |
//! |---|---|---|---|
//! | `error`, `time` | failures; exact ticks | – | everything else |
//! | `diagnostics` | findings about the content of inputs | words | everything else |
//! | `encoding` | the bytes of texts as UTF-8: UTF-16, one byte per character, unknown bytes | error, words | what a text means |
//! | `names` | interned names: interners, dictionary-encoded columns, memos per dictionary | error | what a name means |
//! | `btf` | the specification of BTF as data, the fields of a line, the event that mappers write | diagnostics, error, names, words | how events are made |
//! | `options` | options that formats and exports declare for the command line | error, time | the command line |
//! | `words` | a macro for enumerations of words | – | the words |
//! | `sql_text` | texts in SQL statements that are made here | – | what a statement asks |
//! | `chance` | random bits and probabilities that are the same on every machine | – | what they are for |
//! | `varint` | variable-length integers, as Parquet and Protocol Buffers write them | – | everything else |
//! | `threads` | handles of threads, which are always joined | – | what a thread does |
//! | `qnx` | the vocabulary of QNX kernel traces | encoding, error, schema, sql_text, words | records, files |
//! | `input` | the bytes of files and pipes, plain or compressed | encoding, error, threads | trace formats |
//! | `pipeline` | stages on a small worker pool; each stage keeps its order | error, threads | what is computed |
//! | `formats` | trace formats: one folder each, behind one trait; the list of formats | btf, derive, diagnostics, encoding, error, input, names, options, qnx, schema, time, words | files, Parquet, mapping, each other |
//! | `schema` | tables and columns, from `schemas/*.toml` | error, names | the disk, SQL |
//! | `store` | the database, in a folder or in a bucket: log of commits, snapshots, vacuum | error, names, pipeline, schema, threads, time, varint | formats, mapping, SQL |
//! | `description` | what is not a trace: `recording.toml`, ORTI, OIL, OS headers, symbols, mapping profiles, Profiler XML | diagnostics, encoding, error, formats, options, time, words | trace data |
//! | `map` | the rules: software events, task events, events of kernels and schedulers, Grasp commands → system events | btf, description, diagnostics, error, names, qnx, schema, time, words | bytes, paths, Parquet, SQL |
//! | `derive` | system events, in the dialect of their writer → instances and states | btf, error, names, schema | files, the text of BTF |
//! | `clocks` | messages between control units → the time of one clock as that of another, with its bound | error, words | where messages come from |
//! | `explain` | states and events of processes → the parts of each response, and their causes | – | tables, SQL, names |
//! | `bound` | events of processes → the most that a response can take, what that assumes, and what contradicts it | words | tables, SQL, names |
//! | `check` | whether a trace conforms to its BTF version | btf, diagnostics, encoding, words | readers, the store, mapping |
//! | `compare` | two streams of BTF records → their differences | btf, error, names, words | files, Parquet, SQL |
//! | `regress` | samples of a metric in recordings of two builds → whether it changed, how surely, and what made it so | chance | tables, SQL, recordings |
//! | `simulate` | timing models → the events of a simulated system as BTF, and the recording of a probe | chance, diagnostics, error, time, words | mapping, `derive`, readers, folders |
//! | `reconstruct` | system events of any recording → a timing model, with what each value rests on | btf, diagnostics, error, simulate, time, words | databases, files |
//! | `tail` | samples of a metric → how rare greater ones are, by extreme value statistics | chance | where samples come from |
//! | `temporal` | events and states in order → verdicts on templates in time, with the intervals and events of violations | – | tables, SQL, names |
//! | `ops` | what btfdb can do, one file per verb | bound, btf, chain, check, clocks, compare, derive, description, diagnostics, encoding, engine, error, export, formats, input, library, map, metrics, names, options, picture, pipeline, plot, reconstruct, regress, render, require, schema, selection, sql_text, store, tail, time, words | the terminal, the environment |
//! | `picture` | a picture as data: rows over time, what happens in them, merged where one pixel has several | btf, time, words | tables, how a row is drawn |
//! | `render` | results → text; pictures → SVG, PNG, pages | error, names, picture, threads, time, varint, words | the database |
//! | `library` | the SQL files of `queries/` and of the user: headers, names, documentation | error, schema, words | running SQL |
//! | `chain` | event chains: which event follows from which, how long that takes, and which chains there are | sql_text | where events come from |
//! | `engine` | SQL over a database: sessions; tables, functions, operators and optimizer rules for DataFusion | btf, chain, error, explain, library, names, pipeline, schema, sql_text, store, threads, time | metrics, the terminal |
//! | `metrics` | rows of metrics → statistics, histograms, comparisons | engine, error, library, pipeline, render, schema, selection, time | DataFusion, the terminal |
//! | `selection` | a part of a database: recording, window, entities, types → a condition in SQL | btf, chain, engine, error, schema | what is done with it |
//! | `export` | tables and results → files, also in formats of other tools | btf, chain, engine, error, formats, metrics, names, options, qnx, render, schema, selection, store, time, varint, words | arguments |
//! | `plot` | a window of a recording → its picture | btf, engine, error, library, metrics, names, picture, schema, selection, store, time, words | how it is drawn |
//! | `require` | timing requirements: bounds and measured values; templates over events and states | btf, chain, engine, error, library, metrics, render, schema, selection, sql_text, temporal, time, words | the terminal |
//! | `cluster` | commands on many recordings, done by a cluster: tasks for executors, and their results as those of one process | btf, chain, check, description, diagnostics, encoding, engine, error, formats, library, metrics, ops, options, require, schema, store, time | the terminal, DataFusion |
//! | `cli` | arguments, the shell, progress, signals, exit codes | all | Parquet, Arrow builders |
//!
//! # Invariants
//!
//! 1. Content never crashes a reader. Bad content becomes a counted, located [`Diagnostic`]. An [`Error`] is
//!    for I/O, limits, or "not this format".
//! 2. Every input record is accounted for: rows + rejected + skipped = records, per row of table `source`.
//! 3. Only `store` creates, renames, syncs or removes files inside a database, through `store::Disk` in a
//!    folder and `store::bucket` in an object store. At any time, a database is either the old one or the new
//!    one.
//! 4. Only `cli` prints, reads the environment, or ends the process.
//! 5. Only `engine` names DataFusion. `map` takes batches and returns events.
//! 6. The same input, rules and version give byte-identical tables, with any number of threads.
//! 7. Times are ticks of type `i64`, never floating-point numbers.
//! 8. Names of tables and columns are spelled in `schemas/` only. Code uses generated constants.
//!
//! # An example
//!
//! Longer examples are in `examples/`.
//!
//! ```
//! use btfdb::{
//!     Control, Database, Description, FORMATS, IngestOptions, RealDisk, ingest, plan, read_batches, tables,
//! };
//! use std::sync::Arc;
//!
//! # fn main() -> btfdb::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("btfdb-tour-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&folder);
//! let plans = plan(&["demo/recording".into()], &Description::default(), FORMATS)?;
//! let options = IngestOptions { strict: true, threads: 2, ..IngestOptions::default() };
//! let control = Arc::new(Control::default());
//! let reports = ingest(Arc::new(RealDisk), &folder, &plans, &options, &control)?;
//! assert!(reports[0].mapped.as_ref().is_some_and(|m| m.events > 0));
//!
//! let db = Database::open(&folder)?;
//! for file in db.files(tables::PROCESS_INSTANCE, None)? {
//!     for batch in read_batches(&db.place_of(&file), tables::PROCESS_INSTANCE, None, 1024)? {
//!         assert!(batch?.num_rows() > 0);
//!     }
//! }
//! # let _ = std::fs::remove_dir_all(&folder);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    not(feature = "engine"),
    allow(dead_code, unused_imports, reason = "some code is used with the engine only")
)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and break files"))]

// The rooms. The public interface is re-exported below.
mod btf;
mod chain;
mod chance;
mod check;
mod clocks;
mod derive;
mod description;
mod diagnostics;
mod encoding;
mod error;
mod formats;
mod input;
mod library;
mod map;
mod names;
mod ops;
mod options;
mod pipeline;
mod qnx;
mod require;
mod schema;
mod simulate;
mod sql_text;
mod store;
mod time;
mod varint;
mod words;

#[cfg(feature = "engine")]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "tests compare it with systems of the literature, which no recording shows")
)]
mod bound;
#[cfg(feature = "engine")]
#[allow(rustdoc::broken_intra_doc_links, reason = "comments on arguments are help texts")]
mod cli;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "engine")]
mod compare;
#[cfg(feature = "engine")]
mod engine;
#[cfg(feature = "engine")]
mod explain;
#[cfg(feature = "engine")]
mod export;
#[cfg(feature = "engine")]
mod metrics;
#[cfg(feature = "engine")]
mod picture;
#[cfg(feature = "engine")]
mod plot;
#[cfg(feature = "engine")]
mod reconstruct;
#[cfg(feature = "engine")]
mod regress;
#[cfg(feature = "engine")]
mod render;
#[cfg(feature = "engine")]
mod selection;
#[cfg(feature = "engine")]
mod tail;
#[cfg(feature = "engine")]
#[cfg_attr(
    not(test),
    allow(
        dead_code,
        unused_imports,
        reason = "tests compare it with monitors that know more of a recording"
    )
)]
mod temporal;
mod threads;

// A simulated machine that writes recordings. It shares no code with the readers.
#[cfg(test)]
#[path = "../tests/neutrino/mod.rs"]
#[allow(dead_code, unused_imports, reason = "`tests/it` and `benches` use the rest")]
mod neutrino;

// The seeds of the fuzz targets, which are part of `tests/it` if there is the engine. `tests/run.sh sanitize`
// does without.
#[cfg(all(test, not(feature = "engine")))]
extern crate self as btfdb;
#[cfg(all(test, not(feature = "engine")))]
#[path = "../tests/it/fuzz_corpus.rs"]
mod fuzz_corpus;

// The interface: descriptions and inputs, readers of formats, ingest, the database, findings.
pub use crate::description::{
    CoreDescription, Description, FileList, HookKind, HookStep, HookVariable, NameList, OtherStep, Plan,
    ProcessStep, plan,
};
pub use crate::diagnostics::{Diagnostic, Log, Severity};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::formats::{
    Confidence, FORMATS, FormatInfo, Input, Output, Reader, Rows, RowsToMake, Settings, Stream, TraceFormat,
};
pub use crate::input::{Piece, Source};
pub use crate::ops::ingest::{Report, ingest};
pub use crate::ops::{Control, IngestOptions, Progress, RecordingSummary, remove, summary};
#[cfg(feature = "engine")]
pub use crate::ops::{map::MapOptions, map_again::map_again};
pub use crate::options::{OptionSpec, OptionValues};
pub use crate::schema::{TABLES, TableSpec, columns, tables};
pub use crate::store::{
    Database, DeltaReport, Location, Place, RealDisk, Remote, VacuumReport, VerifyReport, publish_delta,
    read_batches, vacuum, verify,
};
pub use crate::time::{TimeScale, format_duration, parse_time_argument};

// The interface with the engine: SQL, metrics, checks, comparisons, pictures and exports.
#[cfg(feature = "engine")]
pub use crate::engine::{
    Operation, Param, ResultStream, RowsAsked, Session, SessionOptions, queries_with_folders, split,
};
#[cfg(feature = "engine")]
pub use crate::export::{Content, EXPORTERS, ExportRequest, Exported, Exporter, ExporterInfo};
#[cfg(feature = "engine")]
pub use crate::library::{Metric, Queries};
#[cfg(feature = "engine")]
pub use crate::metrics::{Bin, Histogram, MetricComparison, MetricDelta, MetricFilter, summaries};
#[cfg(feature = "engine")]
pub use crate::ops::Choice;
#[cfg(feature = "engine")]
pub use crate::ops::align::{AlignOptions, AlignReport, ClockReport, align};
#[cfg(feature = "engine")]
pub use crate::ops::check::check;
#[cfg(feature = "engine")]
pub use crate::ops::compare::Pair;
#[cfg(feature = "engine")]
pub use crate::ops::made::operations;
#[cfg(feature = "engine")]
pub use crate::ops::open::{OpenOptions, Trace};
#[cfg(feature = "engine")]
pub use crate::ops::require::{Measured, requirements};
#[cfg(feature = "engine")]
pub use crate::render::{Format, render as render_rows};
#[cfg(feature = "engine")]
pub use crate::selection::Selection;
#[cfg(feature = "engine")]
pub use crate::time::TimeWindows;

/// Items outside of the interface, for the program, the tests and the fuzz targets. They may change at any
/// time. Each one is named, so that the compiler reports unused code.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "engine")]
    pub use crate::cli::run;

    // Readers.
    pub mod btf {
        pub use crate::btf::spec::{Version, rule};
        pub use crate::btf::{Action, EntityType, Place, Record, State};
        pub use crate::check::{CheckOptions, Checker};
        pub use crate::formats::btf::{
            Btf, EventRows, Header, LineKind, Parser, parse_chunk, probe, speaks_freertos,
        };
    }
    pub mod clocks {
        pub use crate::clocks::{Alignment, Limit, Limits};
        pub use crate::description::ClocksFile;
    }
    pub mod grasp {
        pub use crate::formats::grasp::words::split;
        pub use crate::formats::grasp::{CommandReader, join, probe};
    }
    pub mod hooks {
        pub use crate::description::{CoreFiles, HookSetup, SetupFile};
    }
    pub mod orti {
        pub use crate::description::orti::{
            Finding, Formula, Oil, OilObject, Orti, OsHeader, Symbols, Width, canonical_path,
        };
    }
    pub mod qnx {
        pub use crate::formats::qnx::listing::{ListingReader, MAX_WORDS, OwnedEvent, probe};
        pub use crate::formats::qnx::{Batch, Decoder, Listed, Qnx};
        pub use crate::qnx::{Event, Flavour, Version, arguments, event_name, subject, text};
    }
    pub mod trace32 {
        pub use crate::formats::trace32::{
            Column, ExportRows, ExportSettings, FUNCTION_KINDS, Gap, Radix, detect_data_layout, parse_data,
            parse_functions, probe,
        };
    }
    pub mod model {
        pub use crate::simulate::{Model, ProbeOptions, Shape, TracedOs, simulate};
    }
    pub mod sql_file {
        pub use crate::library::{Alias, Documented, Fold, Metric, Mistake, Query, View};
    }
    pub use crate::description::Profile;
    pub use crate::require::Requirements;
    pub use crate::time::{Rounded, read_decimal};

    // What a database keeps, in addition to its tables.
    pub mod stored {
        pub use crate::description::StoredSetup;
        pub use crate::map::grasp::GraspMapper;
        pub use crate::map::osek::OsekMapper;
        pub use crate::map::qnx::QnxMapper;
        pub use crate::map::{Mapper, Recording};
        pub use crate::ops::{Ends, MappingSetup};
        pub use crate::store::{PageSum, PageSums, TableSeal, as_written, encode_page_sums, repair_log};
    }

    // Types for the implementation of a format.
    pub use crate::formats::{
        Counts, Disorder, Ending, FROM_BEGIN, InputEnd, NamePattern, NotContinued, OpenEnd, RowOrder, Setup,
        TableUse,
    };
    pub use crate::input::Chunk;
    pub use crate::names::TextList;
    pub use crate::schema::{BtfEventRow, BtfEventRows, ProcessInstanceView, TraceEventView};

    #[cfg(feature = "engine")]
    pub use crate::ops::made_requirements::operations_of;
    // The disk as a trait: tests implement one that fails.
    #[cfg(feature = "engine")]
    pub use crate::ops::repair::{RepairReport, repair};
    pub use crate::store::{Disk, DiskFile};

    // Pictures and pages.
    #[cfg(feature = "engine")]
    pub mod picture {
        pub use crate::picture::{
            Curve, ExplainedPart, Explanation, Explanations, Highlight, Link, LinkKind, Mark, MarkKind,
            Picture, Point, Row, RowKind, Run, Shape, State,
        };
        pub use crate::render::html::write as write_page;
    }

    // The content of the generated documents.
    #[cfg(feature = "engine")]
    pub use crate::cli::shell_docs;
    #[cfg(feature = "engine")]
    pub use crate::library::{
        Alias, Documented, MADE_FUNCTIONS, MadeFunction, TABLE_FUNCTIONS, TableFunction, Unit, View,
    };
    pub use crate::schema::{ColumnSpec, ColumnType};
}
