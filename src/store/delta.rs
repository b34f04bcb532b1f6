//! Publishes a snapshot as tables of Delta Lake: a `_delta_log` beside the files of each table, so that other
//! engines read exactly the files of the snapshot, with partitions and without a glob. The log of the
//! database stays the truth. Follows the Delta transaction log protocol: reader version 1, writer version 2.
//!
//! Delta has no unsigned integers, so that columns of them are not in its schema; readers leave them out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::bucket::{Bucket, Put};
use super::checksum::Seal;
use super::database::Database;
use super::disk::Disk;
use super::folder::Folder;
use super::layout;
use super::location::{Kind, Location};
use super::lock::Lock;
use super::recording::FileEntry;
use super::staging::Staging;
use super::target::publish;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnSpec, ColumnType, TABLES, TableSpec};

/// The name of the application in transactions.
const APPLICATION: &str = "btfdb";

/// What was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeltaReport {
    /// Tables with files, now or before.
    pub tables: u64,
    /// Files that were added to them.
    pub added: u64,
    /// Files that were removed from them.
    pub removed: u64,
}

/// Publishes the newest state of a database. `now` is written into the log, in milliseconds since
/// 1970; readers show it.
///
/// # Errors
/// [`crate::error::ErrorKind::Database`] when there is no database, or a log of Delta is not ours; the disk.
pub fn publish_delta(disk: Arc<dyn Disk>, at: impl Into<Location>, now: i64) -> Result<DeltaReport> {
    let location = at.into();
    Database::open(location.clone())?;
    let publisher = Publisher::new(disk, &location)?;
    let database = Database::open(location.clone())?;
    let mut report = DeltaReport::default();
    for table in TABLES {
        let log = DeltaLog::read(&location, table)?;
        let files = database.files(table, None)?;
        if files.is_empty() && log.next == 0 {
            continue;
        }
        report.tables += 1;
        let live: BTreeMap<String, &FileEntry> = files.iter().map(|f| (path_in_table(table, f), f)).collect();
        let added: Vec<_> = live.iter().filter(|(path, _)| !log.files.contains_key(*path)).collect();
        let removed: Vec<_> = log.files.keys().filter(|path| !live.contains_key(*path)).collect();
        let schema = schema_of(table).to_string();
        let is_new_schema = log.schema.as_ref() != Some(&schema);
        if added.is_empty() && removed.is_empty() && !is_new_schema {
            continue;
        }
        let mut actions = Vec::new();
        if log.next == 0 {
            actions.push(json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}));
        }
        if is_new_schema {
            actions.push(metadata_of(table, &database, &schema, log.id.as_deref(), now)?);
        }
        let generation = database.generation();
        actions.push(json!({"txn": {"appId": APPLICATION, "version": generation, "lastUpdated": now}}));
        actions.extend(added.iter().map(|(path, file)| add(table, path, file, now)));
        actions.extend(
            removed
                .iter()
                .map(|path| json!({"remove": {"path": path, "deletionTimestamp": now, "dataChange": true}})),
        );
        actions.push(
            json!({"commitInfo": {"timestamp": now, "operation": "WRITE", "engineInfo": database.creator()}}),
        );
        let lines: Vec<String> = actions.iter().map(Value::to_string).collect();
        publisher.put(table, log.next, &(lines.join("\n") + "\n"))?;
        (report.added, report.removed) =
            (report.added + added.len() as u64, report.removed + removed.len() as u64);
    }
    publisher.end()?;
    Ok(report)
}

/// Makes versions of logs of Delta.
enum Publisher {
    Folder { folder: Folder, staging: Staging, _lock: Lock },
    Bucket(Arc<Bucket>),
}

impl Publisher {
    fn new(disk: Arc<dyn Disk>, location: &Location) -> Result<Self> {
        match &location.0 {
            Kind::Folder(root) => {
                let folder = Folder::new(disk, root);
                let lock = Lock::for_commit(&folder)?;
                publish::recover(&folder)?;
                let staging = Staging::new(&folder)?;
                Ok(Self::Folder { folder, staging, _lock: lock })
            }
            Kind::Bucket(bucket) => Ok(Self::Bucket(Arc::clone(bucket))),
        }
    }

    fn put(&self, table: &TableSpec, version: u64, content: &str) -> Result<()> {
        let place = layout::delta(table.name, version);
        match self {
            Self::Folder { folder, staging, .. } => {
                // The first version comes with its folder: other engines take an empty one for a broken
                // table.
                let log = layout::folders_of(&place).next().unwrap_or_default();
                let staged = format!("{}/{place}", staging.name());
                folder.write(&staged, content.as_bytes())?;
                if !folder.exists(log)? {
                    folder.sync(&format!("{}/{log}", staging.name()))?;
                    folder.rename(&format!("{}/{log}", staging.name()), log)?;
                    return folder.sync(table.name);
                }
                folder.publish(&staged, &place)?;
                folder.remove_file(&staged)
            }
            Self::Bucket(bucket) => match bucket.put_new(&place, content.to_owned().into())? {
                Put::Made => Ok(()),
                // The answer of an earlier try may have been lost.
                Put::Taken if bucket.content(&place)?.as_deref() == Some(content.as_bytes()) => Ok(()),
                Put::Taken => Err(Error::database("another btfdb has just published the database")
                    .at(format!("{}/{place}", bucket.url()))
                    .hint("try again")),
            },
        }
    }

    fn end(self) -> Result<()> {
        match self {
            Self::Folder { folder, staging, .. } => staging.remove(&folder),
            Self::Bucket(_) => Ok(()),
        }
    }
}

/// What the log of a table says.
#[derive(Debug, Default)]
struct DeltaLog {
    /// The version that comes next.
    next: u64,
    /// The files of the table, by their paths in it.
    files: BTreeMap<String, ()>,
    schema: Option<String>,
    id: Option<String>,
}

impl DeltaLog {
    fn read(location: &Location, table: &TableSpec) -> Result<Self> {
        let mut log = Self::default();
        loop {
            let place = location.place(&layout::delta(table.name, log.next));
            let Some(content) = place.content()? else { return Ok(log) };
            let foreign = || Error::database("the log of Delta is not one of btfdb").at(place.path());
            for line in content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let action: Value = serde_json::from_slice(line).map_err(|e| foreign().because(e))?;
                log.apply(&action).ok_or_else(foreign)?;
            }
            log.next += 1;
        }
    }

    fn apply(&mut self, action: &Value) -> Option<()> {
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        if let Some(add) = action.get("add") {
            self.files.insert(text(add, "path")?, ());
        } else if let Some(remove) = action.get("remove") {
            self.files.remove(&text(remove, "path")?);
        } else if let Some(metadata) = action.get("metaData") {
            self.schema = Some(text(metadata, "schemaString")?);
            self.id = Some(text(metadata, "id")?);
        }
        Some(())
    }
}

/// The path of a file in the folder of its table, as a URI: a `%` in it is a character.
fn path_in_table(table: &TableSpec, file: &FileEntry) -> String {
    let path = file.path.strip_prefix(table.name).unwrap_or(&file.path).trim_start_matches('/');
    path.chars()
        .map(|c| match c {
            '%' => "%25".to_owned(),
            c if c.is_ascii() => c.to_string(),
            c => c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
        })
        .collect()
}

fn add(table: &TableSpec, path: &str, file: &FileEntry, now: i64) -> Value {
    let values = [Some(file.recording.as_str()), file.core.as_deref()];
    let partitions =
        table.partition_columns().zip(values).map(|(column, value)| (column.name.to_owned(), value.into()));
    let stats = json!({"numRecords": file.rows}).to_string();
    json!({"add": {
        "path": path,
        "partitionValues": Value::Object(partitions.collect()),
        "size": file.bytes,
        "modificationTime": now,
        "dataChange": true,
        "stats": stats,
    }})
}

fn metadata_of(
    table: &TableSpec,
    database: &Database,
    schema: &str,
    id: Option<&str>,
    now: i64,
) -> Result<Value> {
    let id = match id {
        Some(id) => id.to_owned(),
        None => id_of(table, database)?,
    };
    let partitions: Vec<_> = table.partition_columns().map(|column| column.name).collect();
    Ok(json!({"metaData": {
        "id": id,
        "name": table.name,
        "description": table.doc,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": partitions,
        "configuration": {},
        "createdTime": now,
    }}))
}

/// A number for the table that no other one has, in the form of a UUID.
fn id_of(table: &TableSpec, database: &Database) -> Result<String> {
    let path = database.location().path();
    let path = match database.location().folder() {
        Some(folder) => std::path::absolute(folder).map_err(|e| Error::io("find", path, e))?,
        None => path.to_path_buf(),
    };
    let seal = Seal::of(format!("{} {}", table.name, path.display()).as_bytes());
    let digits = seal.checksum.rsplit(':').next().unwrap_or_default();
    let part = |from: usize, to: usize| digits.get(from..to);
    let parts = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
    let parts: Option<Vec<&str>> = parts.into_iter().collect();
    parts.map(|parts| parts.join("-")).ok_or_else(|| Error::new(ErrorKind::Bug, "a checksum has no digits"))
}

/// The columns in the words of Delta.
fn schema_of(table: &TableSpec) -> Value {
    let field = |column: &ColumnSpec| {
        let ty = match column.ty {
            ColumnType::Instant
            | ColumnType::Duration
            | ColumnType::Integer
            | ColumnType::Count
            | ColumnType::Bytes => "long",
            ColumnType::Name | ColumnType::Text => "string",
            ColumnType::Flag => "boolean",
            ColumnType::Unsigned => return None,
        };
        let metadata = json!({"comment": column.doc});
        Some(
            json!({"name": column.name, "type": ty, "nullable": column.null.is_some(), "metadata": metadata}),
        )
    };
    let fields: Vec<Value> = table.columns.iter().filter_map(field).collect();
    json!({"type": "struct", "fields": fields})
}
