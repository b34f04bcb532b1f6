//! Tables → files for other tools. Each format is one folder with an [`Exporter`] and one line in
//! [`EXPORTERS`]; the command line, its help, its completions and its errors come from there. Not for the
//! layout of the database, which other engines read as it is.

mod btf;
mod cursor;
mod exporter;
mod grasp;
mod handlers;
mod perfetto;
mod table;
mod traceprinter;

pub(crate) use btf::{Gaps, Translation, Translator};
pub use exporter::{Content, ExportRequest, Exported, Exporter, ExporterInfo};

/// The option that names a file with chains of events. Chains belong to a session, so the code that opens the
/// session reads the file.
pub const CHAINS_OPTION: &str = "chains";

/// The formats, in the order of the help.
pub const EXPORTERS: &[&dyn Exporter] = &[
    &btf::Btf,
    &table::CSV,
    &table::PARQUET,
    &perfetto::Perfetto,
    &grasp::Grasp,
    &traceprinter::Traceprinter,
];

/// The format for unknown extensions.
const FALLBACK: &dyn Exporter = &btf::Btf;

#[cfg(test)]
mod tests;
