//! The table functions `read_csv('FILE')` and `read_parquet('FILE')`: files of the user next to the tables of
//! the database, e.g. limits of tasks. Not for the files of the database (see `table`), and not for traces.

use std::fmt;
use std::fs::File;
use std::io::ErrorKind::InvalidInput;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow::csv::reader::Format;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::config::CsvOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileScanConfigBuilder, FileSource, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::Expr;
use datafusion::object_store::ObjectMeta;
use datafusion::physical_plan::ExecutionPlan;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::sql::refused;
use super::table::object_store;
use crate::names::distinct;

/// Rows of a CSV file that tell the types of its columns.
const TYPED_ROWS: usize = 20_000;
/// The hint where files cannot be read.
const ALLOWED: &str = "statements read files in the folder where btfdb was started, and in its subfolders";

/// The folder whose files statements may read, once it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder(Arc<OnceLock<PathBuf>>);

impl Folder {
    /// Sets the folder, if there is none.
    pub fn set(&self, folder: &Path) {
        // The first one stays.
        drop(self.0.set(folder.to_owned()));
    }

    /// The true path of a file that may be read.
    fn file(&self, path: &str) -> Result<PathBuf> {
        let Some(folder) = self.0.get() else {
            return Err(refused(
                format!("'{path}' cannot be read: files are off"),
                None,
                "--no-files turns them off",
            ));
        };
        let unreadable = |e: std::io::Error| refused(format!("cannot read '{path}': {e}"), None, ALLOWED);
        let found = folder.join(path).canonicalize().map_err(unreadable)?;
        if !found.starts_with(folder.canonicalize().map_err(unreadable)?) {
            let message = format!("'{path}' is outside of the folder where btfdb was started");
            return Err(refused(message, None, "start btfdb in the folder of the file, or copy the file"));
        }
        match found.metadata().map_err(unreadable)?.is_file() {
            true => Ok(found),
            false => Err(refused(format!("'{path}' is no file"), None, ALLOWED)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv,
    Parquet,
}

/// One of the functions.
#[derive(Debug)]
pub(super) struct ReadFile {
    kind: Kind,
    folder: Folder,
}

impl ReadFile {
    /// `read_csv` and `read_parquet`, for the files of a folder.
    pub fn both(folder: &Folder) -> [Self; 2] {
        [Kind::Csv, Kind::Parquet].map(|kind| Self { kind, folder: folder.clone() })
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Csv => "read_csv",
            Kind::Parquet => "read_parquet",
        }
    }
}

impl TableFunctionImpl for ReadFile {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let path = match args.exprs() {
            [Expr::Literal(ScalarValue::Utf8(Some(path)) | ScalarValue::Utf8View(Some(path)), _)] => path,
            _ => {
                let message = format!("{} takes the path of one file", self.name());
                return Err(refused(message, None, &format!("SELECT * FROM {}('limits.csv')", self.name())));
            }
        };
        let file = self.folder.file(path)?;
        if self.kind == Kind::Csv
            && let Some((what, hint)) = not_text(&file)
        {
            return Err(refused(format!("'{path}' cannot be read: {what}"), None, hint));
        }
        let bad = |e: &std::io::Error| {
            let hint = match self.kind {
                Kind::Csv => {
                    "a line of names, then one line per row, with commas, semicolons or tabs between the cells"
                }
                Kind::Parquet if e.kind() == InvalidInput => "write it with names of their own: AS …",
                Kind::Parquet => "read_csv reads text",
            };
            refused(format!("'{path}' cannot be read: {e}"), None, hint)
        };
        let table = match self.kind {
            Kind::Csv => csv(&file),
            Kind::Parquet => parquet(&file),
        };
        table.map(|table| Arc::new(table) as Arc<dyn TableProvider>).map_err(|e| bad(&e))
    }
}

/// What a file is that is no text in UTF-8, and how to make one of it; `None` if its begin is such a text.
fn not_text(file: &Path) -> Option<(&'static str, &'static str)> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(1 << 20).read_to_end(&mut head).ok()?;
    Some(match head.as_slice() {
        [0x1f, 0x8b, ..] => ("it is compressed with gzip", "gunzip -k FILE decompresses it"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("it is compressed with zstd", "zstd -d FILE decompresses it"),
        [b'P', b'K', 3, 4, ..] => ("it is a zip file, or one of a spreadsheet", "save the table as CSV"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => ("it is UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > NEW"),
        // The last character may be cut.
        bytes => match std::str::from_utf8(bytes) {
            Err(e) if e.error_len().is_some() => {
                ("its text is not UTF-8", "iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW")
            }
            _ => return None,
        },
    })
}

/// A file as a table.
struct FileTable {
    path: PathBuf,
    bytes: u64,
    schema: SchemaRef,
    source: Arc<dyn FileSource>,
}

impl fmt::Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable").field("path", &self.path).finish_non_exhaustive()
    }
}

fn csv(path: &Path) -> std::io::Result<FileTable> {
    let mut file = BufReader::new(File::open(path)?);
    let bytes = file.get_ref().metadata()?.len();
    let mut header = String::new();
    file.by_ref().take(1 << 20).read_line(&mut header)?;
    if header.trim().is_empty() {
        return Err(std::io::Error::other("its first line, with the names of the columns, is empty"));
    }
    file.rewind()?;
    let separator = separator(&header);
    let format = Format::default().with_header(true).with_delimiter(separator);
    let (schema, _) = format.infer_schema(file, Some(TYPED_ROWS)).map_err(std::io::Error::other)?;
    // Spreadsheets write a byte order mark.
    let names = schema.fields().iter().map(|field| field.name().trim_start_matches('\u{feff}').trim());
    // Texts as the tables of the database have them; a column of which nothing is known is text.
    let field = |(field, name): (&Arc<Field>, String)| match field.data_type() {
        DataType::Utf8 | DataType::Null => Field::new(name, DataType::Utf8View, true),
        ty => Field::new(name, ty.clone(), true),
    };
    let fields = schema.fields().iter().zip(distinct(names)).map(field);
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = CsvOptions {
        has_header: Some(true),
        delimiter: separator,
        newlines_in_values: Some(true),
        ..CsvOptions::default()
    };
    let source = Arc::new(CsvSource::new(Arc::clone(&schema)).with_csv_options(options));
    Ok(FileTable { path: path.to_owned(), bytes, schema, source })
}

/// What separates the names in the first line: a comma, unless there is none.
fn separator(header: &str) -> u8 {
    [b',', b';', b'\t'].into_iter().find(|s| header.as_bytes().contains(s)).unwrap_or(b',')
}

fn parquet(path: &Path) -> std::io::Result<FileTable> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(std::io::Error::other)?;
    let schema = Arc::new(Schema::new(reader.schema().fields().clone()));
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    // The reader finds columns by their names.
    if let Some((name, _)) = names().zip(distinct(names())).find(|(name, own)| name != own) {
        return Err(std::io::Error::new(InvalidInput, format!("it has two columns '{name}'")));
    }
    let source = Arc::new(ParquetSource::new(Arc::clone(&schema)));
    Ok(FileTable { path: path.to_owned(), bytes, schema, source })
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let file = PartitionedFile::new_from_meta(ObjectMeta {
            location: object_store::location(&self.path)?,
            last_modified: Default::default(),
            size: self.bytes,
            e_tag: None,
            version: None,
        });
        let config = FileScanConfigBuilder::new(object_store::of_files(), Arc::clone(&self.source))
            .with_file(file)
            .with_limit(limit)
            .with_projection_indices(projection.cloned())?
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}

#[cfg(test)]
mod tests {
    use super::separator;

    #[test]
    fn the_first_line_tells_the_separator() {
        assert_eq!(separator("task,limit\n"), b',');
        assert_eq!(separator("task;limit\n"), b';');
        assert_eq!(separator("task\tlimit\n"), b'\t');
        assert_eq!(separator("task\n"), b',');
    }
}
