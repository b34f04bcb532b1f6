//! btfdb: a columnar trace database for embedded real-time systems.
//!
//! Hardware trace exports (variable accesses, function entries and exits, per core), traces of the QNX kernel and of
//! Grasp become compressed Parquet; the software events in them are mapped to system events in BTF (Best Trace
//! Format), the first after a published method; SQL, timing metrics, pictures and BTF slices come out.
//!
//! # The picture
//!
//! ```text
//!  files ─► input ─► formats ─► schema rows ─► store ─► map ─► derive ─► store ─► engine ─► export / render ─► cli
//!           bytes    rows and   typed columns  Parquet  system  instances         SQL,     BTF, CSV, Parquet
//!                    findings                           events                    metrics
//! ```
//!
//! Data flows from left to right; imports point to the left or down, never back. `ops` wires the stages, one
//! file per verb; `description` says what a recording consists of.
//!
//! # The rooms
//!
//! | module | what it is for | what it must not know |
//! |---|---|---|
//! | [`error`], [`diagnostics`], [`time`], `varint` | failures; findings about content; exact ticks; variable-length integers | everything else |
//! | [`btf`] | the vocabulary, the fields of a line and the state charts of BTF | how events come about |
//! | [`input`] | bytes: files, pipes, compressed | trace formats |
//! | [`formats`] | one folder per foreign format | files, Parquet, each other |
//! | [`schema`] | tables and columns, from `schemas/*.toml` | the disk, SQL |
//! | [`store`] | the database folder: manifest, commit, lock | formats, mapping, SQL |
//! | [`map`] | software events, kernel events, commands of Grasp → system events: the rules | bytes, paths, Parquet, SQL |
//! | [`qnx`] | the vocabulary of QNX kernel traces | records, files |
//! | [`simulate`] | simulated systems that write recordings, for tests and benchmarks | every other room: tests compare the two |
//! | [`mod@derive`] | system events, as their writer means them → instances and states | files, the text of BTF |
//! | [`check`] | does a trace keep the rules of its BTF version | readers, the store, mapping |
//! | [`compare`] | two streams of BTF records → where they differ | files, Parquet, SQL |
//! | [`description`] | what is not a trace: `recording.toml`, ORTI, OS headers, symbols | trace data |
//! | [`picture`] | rows over time and what happens in them: what is drawn | tables, pixels |
//! | [`options`] | options that a format or an export declares for itself | the command line |
//! | `library` | the SQL files of `queries/` and of the user: headers, names, documentation | running SQL |
//! | `chain` | chains of events: which event follows from which | where events come from |
//! | `engine` | SQL over a database: tables, functions, operators and optimizer rules of DataFusion, sessions | metrics, the terminal |
//! | `metrics` | rows of metrics → statistics, histograms, comparisons | DataFusion, the terminal |
//! | `selection` | which part of a recording is meant: window, entities, types | what is done with it |
//! | `plot` | a window of a recording → its picture | how it is drawn |
//! | `require` | timing requirements: what is required, what was measured | the terminal |
//! | `export`, [`render`] | tables and results → files, also in the formats of others; results → text; pictures → SVG, PNG, pages | arguments |
//! | [`ops`] | what btfdb can do, one file per verb | the terminal, the environment |
//! | `cli` | arguments, the shell, progress, signals, exit codes | Parquet, Arrow builders |
//!
//! # Invariants
//!
//! 1. Content never crashes a reader. Bad content becomes a counted, located [`diagnostics::Diagnostic`]; an
//!    [`error::Error`] is for I/O, limits, or "not this format".
//! 2. Every input record is accounted for: rows + rejected + skipped = records, per source, in table `source`.
//! 3. Only [`store`] creates, renames, syncs or removes files inside a database, through [`store::Disk`]. A
//!    database is either the old one or the new one.
//! 4. Only `cli` prints, reads the environment, or ends the process.
//! 5. Only `engine` names DataFusion. [`map`] sees batches in and events out.
//! 6. Same input, same rules, same version: byte-identical tables, whatever the number of threads.
//! 7. No floating point in time. Ticks are `i64`.
//! 8. Tables and columns are spelled in `schemas/` only; code uses the constants made from them.
//!
//! # A tour
//!
//! ```
//! use btfdb::ops::{Control, ingest::{Options, ingest}};
//! use btfdb::description::{Description, plan};
//! use btfdb::store::{Database, RealDisk, read_batches};
//! use btfdb::schema::tables;
//! use std::sync::Arc;
//!
//! # fn main() -> btfdb::error::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("btfdb-tour-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&folder);
//! let plans = plan(&["demo/recording".into()], &Description::default(), false)?;
//! let options = Options { strict: true, threads: 2, ..Options::default() };
//! let control = Arc::new(Control::default());
//! let reports = ingest(Arc::new(RealDisk), &folder, &plans, &options, &control)?;
//! assert!(reports[0].mapped.as_ref().is_some_and(|m| m.events > 0));
//!
//! let db = Database::open(&folder)?;
//! for file in db.files(tables::PROCESS_INSTANCE, None) {
//!     for batch in read_batches(&db.path_of(&file), tables::PROCESS_INSTANCE, None, 1024)? {
//!         assert!(batch?.num_rows() > 0);
//!     }
//! }
//! # let _ = std::fs::remove_dir_all(&folder);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and break files"))]

pub mod btf;
pub mod check;
pub mod compare;
pub mod derive;
pub mod description;
pub mod diagnostics;
pub mod error;
pub mod formats;
pub mod input;
pub mod map;
pub mod ops;
pub mod options;
pub mod picture;
mod pipeline;
pub mod qnx;
pub mod render;
pub mod schema;
pub mod simulate;
pub mod store;
pub mod time;
mod varint;

#[cfg(feature = "engine")]
pub mod chain;
#[cfg(feature = "engine")]
pub mod cli;
#[cfg(feature = "engine")]
pub mod engine;
#[cfg(feature = "engine")]
pub mod export;
#[cfg(feature = "engine")]
pub mod library;
#[cfg(feature = "engine")]
pub mod metrics;
#[cfg(feature = "engine")]
pub mod plot;
#[cfg(feature = "engine")]
pub mod require;
#[cfg(feature = "engine")]
pub mod selection;
