//! Tables → files for other tools: BTF text, traces for the Perfetto UI, scripts for the Grasp player, lines of traceprinter,
//! and any table in any format of [`crate::render`]. Not for the layout of the database, which other engines read as it is.

mod btf;
mod cursor;
mod grasp;
mod perfetto;
mod selection;
mod table;
pub mod traceprinter;

pub use btf::{BtfOptions, Exported, export_btf};
pub use grasp::{Dialect as GraspDialect, GraspDone, GraspOptions, export_grasp};
pub use perfetto::{PerfettoDone, export_perfetto};
pub use selection::Selection;
pub(crate) use selection::spellings;
pub use table::{ExportedTable, export_table};

#[cfg(test)]
mod tests;
