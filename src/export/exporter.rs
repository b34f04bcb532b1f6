//! What an export format is: its name, its options, and its writer. Not the formats themselves.

use super::{EXPORTERS, FALLBACK};
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{OptionSpec, OptionValues};
use crate::qnx::KernelFilter;
use crate::schema::tables;
use crate::selection::Selection;
use crate::time::check_order;
use std::fmt;
use std::io::Write;
use std::path::Path;

/// A format that a part of a recording can be written in.
pub trait Exporter: Sync {
    /// What is known about the format.
    fn info(&self) -> &ExporterInfo;

    /// Writes what is requested. [`ExportRequest::check`] has accepted the request.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when the recording is ambiguous or an option makes no sense,
    /// [`crate::error::ErrorKind::Io`] when `out` fails (the cause is then the [`std::io::Error`]), otherwise
    /// those of a query.
    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported>;
}

/// What is known about a format.
#[derive(Debug)]
pub struct ExporterInfo {
    /// The word for it on the command line.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// The help: a few words, without a full stop.
    pub help: &'static str,
    /// Extensions of files in this format, without dots.
    pub extensions: &'static [&'static str],
    /// What it contains.
    pub content: Content,
    /// Options of this format only.
    pub options: &'static [OptionSpec],
}

/// What a format contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The system events of a recording.
    SystemEvents,
    /// The events of a QNX kernel trace.
    KernelEvents,
    /// Any table.
    Table,
}

/// What to write.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// The part of the recording.
    pub selection: Selection,
    /// The table, for formats that hold any.
    pub table: String,
    /// Which kernel events, for formats of these.
    pub kernel_filter: KernelFilter,
    /// Lines in the order of time, not of the imported file.
    pub by_time: bool,
    /// Values for the options that formats declare.
    pub options: OptionValues,
}

impl Default for ExportRequest {
    /// Everything.
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            table: tables::BTF_EVENT.name.to_owned(),
            kernel_filter: KernelFilter::default(),
            by_time: false,
            options: OptionValues::default(),
        }
    }
}

impl ExportRequest {
    /// Checks that the request fits the format, before anything is written.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] for a window that does not end after it begins, and for a table, an
    /// option or a filter that the format does not have.
    pub fn check(&self, exporter: &dyn Exporter) -> Result<()> {
        check_order(self.selection.from, self.selection.to).map_err(Error::usage)?;
        if exporter.info().content == Content::SystemEvents && self.table != tables::BTF_EVENT.name {
            let (name, table) = (exporter.info().name, &self.table);
            return Err(Error::usage(format!("{name} holds system events, not table '{table}'"))
                .hint("use --format csv or --format parquet"));
        }
        let declares = |exporter: &dyn Exporter, name| exporter.info().options.iter().any(|o| o.name == name);
        // In the order of the help.
        for owner in EXPORTERS {
            let foreign = |o: &&OptionSpec| self.options.has(o.name) && !declares(exporter, o.name);
            if let Some(option) = owner.info().options.iter().find(foreign) {
                return Err(Error::usage(format!("--{} is for {} only", option.name, owner.info().title))
                    .hint(format!("use --format {}", owner.info().name)));
            }
        }
        let of_system = !self.selection.entities.is_empty() || !self.selection.types.is_empty();
        if exporter.info().content == Content::KernelEvents && of_system {
            return Err(Error::usage("--entity and --type select system events, not those of a kernel")
                .hint("events of a kernel are selected by --class, --event, --pid and --tid"));
        }
        let has_kernel_events =
            exporter.info().content == Content::KernelEvents || self.table == tables::KERNEL_EVENT.name;
        if !self.kernel_filter.is_all() && !has_kernel_events {
            return Err(Error::usage("filters of kernel events are for kernel events only")
                .hint("use --format traceprinter, or --table kernel_event"));
        }
        Ok(())
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// How much of what, e.g. `12 events`.
    pub summary: String,
    /// Nothing is selected.
    pub is_empty: bool,
    /// How the file differs from the database, in sentences without full stops.
    pub warnings: Vec<String>,
}

impl Exported {
    /// Without warnings.
    pub(super) fn new(summary: String, is_empty: bool) -> Self {
        Self { summary, is_empty, warnings: Vec::new() }
    }

    /// Adds a warning about `count` things, if there are any.
    pub(super) fn warn(mut self, count: u64, sentence: impl FnOnce() -> String) -> Self {
        if count > 0 {
            self.warnings.push(sentence());
        }
        self
    }
}

impl dyn Exporter {
    /// The format of that name.
    pub fn named(name: &str) -> Option<&'static dyn Exporter> {
        EXPORTERS.iter().copied().find(|exporter| exporter.info().name == name)
    }

    /// The format of a file, by its extension; BTF for unknown extensions.
    pub fn of_file(path: &Path) -> &'static dyn Exporter {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = EXPORTERS.iter().find(|exporter| exporter.info().extensions.contains(&extension));
        found.copied().unwrap_or(FALLBACK)
    }
}

impl fmt::Debug for dyn Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// Events of a query are not as their table is.
pub(super) fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "the events of a query do not have the columns of their table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture::engine;

    /// The example export of `CONTRIBUTING.md`.
    struct Toy;

    impl Exporter for Toy {
        fn info(&self) -> &ExporterInfo {
            &ExporterInfo {
                name: "toy",
                title: "toys",
                help: "One line: how many system events there are",
                extensions: &["toy"],
                content: Content::SystemEvents,
                options: &[],
            }
        }

        fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
            let recording = request.selection.recording(session)?;
            let condition = request.selection.condition(tables::BTF_EVENT, &recording);
            let sql = format!("SELECT time FROM btf_event {}", condition.sql());
            let mut events = 0;
            for batch in session.sql(&sql, &condition.params())? {
                events += batch?.num_rows();
            }
            writeln!(out, "{events}").map_err(|e| Error::io("write to", "the toy", e))?;
            Ok(Exported::new(format!("{events} events"), events == 0))
        }
    }

    #[test]
    fn a_new_export_needs_the_trait_only() {
        let (_dir, session) = engine(&["r"]);
        let mut request = ExportRequest::default();
        request.selection.to = Some(20);
        request.check(&Toy).unwrap();
        let mut out = Vec::new();
        let exported = Toy.write(&session, &request, &mut out).unwrap();
        assert_eq!(exported.summary, format!("{} events", String::from_utf8(out).unwrap().trim()));
        assert!(!exported.is_empty && exported.warnings.is_empty());
        // Options of other formats are refused.
        request.options.set("tick", ["1us".to_owned()]);
        assert_eq!(request.check(&Toy).unwrap_err().hints(), ["use --format grasp"]);
    }

    #[test]
    fn names_and_extensions_lead_to_one_format() {
        let mut words: Vec<&str> = EXPORTERS.iter().map(|e| e.info().name).collect();
        for exporter in EXPORTERS {
            assert_eq!(
                <dyn Exporter>::named(exporter.info().name).unwrap().info().name,
                exporter.info().name
            );
            for extension in exporter.info().extensions {
                let path = Path::new("a").with_extension(extension);
                assert_eq!(<dyn Exporter>::of_file(&path).info().name, exporter.info().name);
            }
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), EXPORTERS.len());
    }

    #[test]
    fn an_option_of_another_format_is_refused() {
        for exporter in EXPORTERS {
            for owner in EXPORTERS {
                for option in owner.info().options {
                    let mut request = ExportRequest::default();
                    request.options.set(option.name, ["1".to_owned()]);
                    let own = exporter.info().options.iter().any(|o| o.name == option.name);
                    let checked = request.check(*exporter);
                    assert_eq!(checked.is_ok(), own, "{} --{}", exporter.info().name, option.name);
                }
            }
        }
    }
}
