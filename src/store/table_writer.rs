//! Writes one Parquet file of a table, on any thread. Knows nothing of the transaction it belongs to.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;

use super::checksum::SealedFile;
use super::columns::{Compressor, RowGroup};
use super::folder::Folder;
use super::occurrences::Occurring;
use super::page_sums::{self, PageSum};
use super::recording::FileEntry;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnType, ROW_GROUP_ROWS, TableSpec, compression};

/// A file in the making. Nothing is on the disk before the first row. The bytes of a file depend on its rows,
/// not on how they are split into batches.
pub struct TableWriter {
    folder: Folder,
    table: &'static TableSpec,
    schema: SchemaRef,
    entry: FileEntry,
    /// Where the file is until its commit, relative to the database.
    place: String,
    state: State,
}

enum State {
    New,
    Open(Box<OpenFile>),
    /// A write failed; what is on the disk is useless.
    Failed,
}

/// A file on the disk, and the row group that is not yet in it.
struct OpenFile {
    file: SerializedFileWriter<SealedFile>,
    group: Option<RowGroup>,
    compressor: Compressor,
    /// Of all pages in it.
    sums: Vec<PageSum>,
    /// [`RowGroup::capacities`] of the last row group in it.
    capacities: Vec<usize>,
    occurring: Option<Occurring>,
}

/// A file with all its rows.
struct Complete {
    file: SealedFile,
    /// Where its tail begins.
    end_of_pages: u64,
    /// The earliest and latest of all instants in it.
    times: Option<(i64, i64)>,
}

/// A finished file that waits for its commit (see [`super::Transaction::add`]).
#[derive(Debug, Clone)]
#[must_use = "a file that is not added to its transaction is thrown away"]
pub struct StagedFile {
    /// `rows` is 0 when there was nothing to write, and then there is no file.
    pub(super) entry: FileEntry,
    /// Where it is until then, relative to the database.
    pub(super) place: String,
}

impl TableWriter {
    /// `entry` is complete except for what the rows decide; the file is written at `place`.
    pub(super) fn new(folder: Folder, table: &'static TableSpec, entry: FileEntry, place: String) -> Self {
        Self { folder, table, schema: table.arrow_schema(), entry, place, state: State::New }
    }

    /// Appends rows, which have [`TableSpec::arrow_schema`] and are in the order of the table.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.schema_ref().fields() != self.schema.fields() {
            let message = format!("a batch is not of the table '{}'", self.table.name);
            return Err(Error::new(ErrorKind::Bug, message));
        }
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.entry.rows += batch.num_rows() as u64;
        let mut open = match std::mem::replace(&mut self.state, State::Failed) {
            State::New => self.open()?,
            State::Open(open) => open,
            State::Failed => return Err(failed_before()),
        };
        if let Some(occurring) = &mut open.occurring {
            occurring.add(batch)?;
        }
        let written = open.write(batch, self.table);
        written.map_err(|e| unwritable(&self.folder.path(&self.place), e))?;
        self.state = State::Open(open);
        Ok(())
    }

    /// Completes the file and puts it on the disk for good.
    pub fn finish(mut self) -> Result<StagedFile> {
        let path = self.folder.path(&self.place);
        match self.state {
            State::New => {}
            State::Open(open) => {
                let complete = open.finish(self.table).map_err(|e| unwritable(&path, e))?;
                let Complete { file, end_of_pages, times } = complete;
                let seal = file.finish().map_err(|e| Error::io("write", &path, e))?;
                (self.entry.bytes, self.entry.checksum) = (seal.bytes, seal.checksum);
                self.entry.tail = seal.bytes.saturating_sub(end_of_pages);
                (self.entry.begin_at, self.entry.end_at) = times.unzip();
            }
            State::Failed => return Err(failed_before()),
        }
        Ok(StagedFile { entry: self.entry, place: self.place })
    }

    fn open(&self) -> Result<Box<OpenFile>> {
        let mut file = self.folder.create(&self.place)?;
        // Until the tail begins.
        file.seal_from(u64::MAX);
        // Without the Arrow schema in the file, every engine reads names as plain strings.
        let opened = ArrowSchemaConverter::new().convert(&self.schema).and_then(|schema| {
            let properties = Arc::new(self.table.writer_properties());
            let compressor = Compressor::new(compression())?;
            let file = SerializedFileWriter::new(file, schema.root_schema_ptr(), properties)?;
            let (sums, capacities, occurring) = (Vec::new(), Vec::new(), Occurring::of(self.table));
            Ok(OpenFile { file, group: None, compressor, sums, capacities, occurring })
        });
        opened.map(Box::new).map_err(|e| unwritable(&self.folder.path(&self.place), e))
    }
}

impl OpenFile {
    fn write(&mut self, batch: &RecordBatch, table: &TableSpec) -> Result<(), ParquetError> {
        let mut at = 0;
        while at < batch.num_rows() {
            let mut group = match self.group.take() {
                Some(group) => group,
                None => RowGroup::new(&self.file, table, &self.capacities),
            };
            let rows = (batch.num_rows() - at).min(ROW_GROUP_ROWS - group.rows);
            group.write(&batch.slice(at, rows), &mut self.compressor)?;
            at += rows;
            match group.rows < ROW_GROUP_ROWS {
                true => self.group = Some(group),
                false => {
                    self.capacities = group.capacities();
                    group.close(&mut self.file, &mut self.compressor, &mut self.sums)?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, table: &TableSpec) -> Result<Complete, ParquetError> {
        if let Some(group) = self.group {
            group.close(&mut self.file, &mut self.compressor, &mut self.sums)?;
        }
        let mut times: Option<(i64, i64)> = None;
        for group in self.file.flushed_row_groups() {
            let columns = table.file_columns().zip(group.columns());
            for (_, column) in columns.filter(|(column, _)| column.ty == ColumnType::Instant) {
                if let Some(Statistics::Int64(of)) = column.statistics()
                    && let (Some(min), Some(max)) = (of.min_opt(), of.max_opt())
                {
                    let (begin, end) = times.unwrap_or((*min, *max));
                    times = Some((begin.min(*min), end.max(*max)));
                }
            }
        }
        if let Some(stated) = self.occurring.and_then(Occurring::finish) {
            self.file.append_key_value_metadata(stated);
        }
        let end_of_pages = self.file.bytes_written() as u64;
        self.file.inner_mut().seal_from(end_of_pages);
        self.file.write_all(&page_sums::encode(&self.sums))?;
        Ok(Complete { file: self.file.into_inner()?, end_of_pages, times })
    }
}

fn failed_before() -> Error {
    Error::new(ErrorKind::Bug, "a file goes on that could not be written")
}

/// An error of the Parquet writer; nearly always it is one of the disk.
fn unwritable(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(io) => Error::io("write", path, *io),
            Err(other) => Error::io("write", path, io::Error::other(other)),
        },
        other => Error::io("write", path, io::Error::other(other)),
    }
}
