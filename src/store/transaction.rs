//! One change of a database, all or nothing. Not how it becomes the newest state (see [`super::target`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::database::Database;
use super::disk::Disk;
use super::draft::{Change, Draft};
use super::folder::Folder;
use super::layout;
use super::location::Location;
use super::log::Snapshot;
use super::place::Place;
use super::recording::{BlobEntry, FileEntry, Recording, Unknown};
use super::reserve;
use super::table_writer::{StagedFile, TableWriter};
use super::target::Target;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::RecordBatch;

/// A change in the making; dropped without [`Transaction::commit`], it leaves the database as it was, and no
/// folder where there was none. Several can be in the making at once, of different recordings.
#[derive(Debug)]
pub struct Transaction {
    shared: Arc<Shared>,
    change: Change,
}

/// What the parts of a transaction share.
#[derive(Debug)]
struct Shared {
    target: Target,
    /// The database without the change.
    base: Arc<Snapshot>,
}

impl Database {
    /// Begins to change a database, or to make a new one when `time_scale_if_new` says how. Finishes what
    /// writers that are gone have left. Fails with [`crate::error::ErrorKind::Database`] when there is no
    /// database and none may be made, or when the folder holds something else.
    pub fn begin(
        disk: Arc<dyn Disk>,
        at: impl Into<Location>,
        time_scale_if_new: Option<TimeScale>,
    ) -> Result<Transaction> {
        let (target, base) = Target::begin(disk, &at.into(), time_scale_if_new)?;
        let change = Change { next_part: base.head().next_part, ..Change::default() };
        Ok(Transaction { shared: Arc::new(Shared { target, base: Arc::new(base) }), change })
    }

    /// Begins a change that only removes, as [`Database::begin`] does. A database in a folder gives its
    /// reserve up for it, so that this works on a full disk.
    pub fn begin_removal(disk: Arc<dyn Disk>, at: impl Into<Location>) -> Result<Transaction> {
        let location = at.into();
        if let Some(root) = location.folder() {
            reserve::spend(&Folder::new(Arc::clone(&disk), root))?;
        }
        Self::begin(disk, location, None)
    }
}

impl Transaction {
    /// A part of this transaction for a thread of its own. It sees the database without the change, and
    /// nothing sees its own changes until it is [absorbed](Self::absorb).
    pub fn part(&self) -> Self {
        let next_part = self.shared.base.head().next_part;
        Self { shared: Arc::clone(&self.shared), change: Change { next_part, ..Change::default() } }
    }

    /// Takes over the changes of a part. Fails when both change the same recording.
    pub fn absorb(&mut self, part: Self) -> Result<()> {
        let (own, part) = (&mut self.change, part.change);
        if let Some(name) = part.drafts.keys().find(|name| own.drafts.contains_key(*name)) {
            return Err(Error::usage(format!("two inputs make a recording '{name}'"))
                .hint("give each a name of its own with --name, or ingest them one after the other"));
        }
        own.next_part = own.next_part.max(part.next_part);
        own.drafts.extend(part.drafts);
        own.new.extend(part.new);
        Ok(())
    }

    /// The database as it was when this began.
    pub fn before(&self) -> Database {
        Database::of(self.shared.target.location().clone(), Arc::clone(&self.shared.base))
    }

    /// Unit of every tick in the database.
    pub fn time_scale(&self) -> TimeScale {
        self.shared.base.head().time_scale
    }

    /// Whether there will be a recording of this name.
    pub fn has_recording(&self, name: &str) -> Result<bool> {
        match self.change.drafts.get(name) {
            Some(draft) => Ok(draft.is_there),
            None => Ok(self.shared.base.recording(name)?.is_some()),
        }
    }

    /// The draft of a recording, which may be a new one.
    fn draft(&mut self, name: &str) -> Result<&mut Draft> {
        if !self.change.drafts.contains_key(name) {
            let draft = match self.shared.base.recording(name)? {
                Some(present) => {
                    Draft { recording: Recording::clone(&present), is_there: true, ..Draft::default() }
                }
                None => {
                    self.change.new.push(name.to_owned());
                    let recording = Recording { name: name.to_owned(), ..Recording::default() };
                    Draft { recording, ..Draft::default() }
                }
            };
            self.change.drafts.insert(name.to_owned(), draft);
        }
        self.change.drafts.get_mut(name).ok_or_else(|| Error::new(ErrorKind::Bug, "a recording has no draft"))
    }

    /// A writer of one more file of a table. Writers can work on several threads at once; the order of the
    /// files is the order in which their writers were requested. `core` is given for tables that are divided
    /// by core. Fails when a name cannot be part of a path.
    pub fn writer(
        &mut self,
        table: &'static TableSpec,
        recording: &str,
        core: Option<&str>,
    ) -> Result<TableWriter> {
        let parent = layout::folder(table, recording, core)?;
        let least = self.change.next_part;
        let shared = Arc::clone(&self.shared);
        let draft = self.draft(recording)?;
        let number = draft.next_part(&parent).max(least);
        let path = layout::part(&parent, number, shared.target.writer());
        draft.next_parts.insert(parent, number.saturating_add(1));
        let entry = FileEntry {
            path: path.clone(),
            table: table.name.to_owned(),
            recording: recording.to_owned(),
            core: core.map(str::to_owned),
            ..FileEntry::default()
        };
        let (folder, staging) = shared.target.scratch();
        Ok(TableWriter::new(folder.clone(), table, entry, staging.place(&path)))
    }

    /// Makes a file part of the commit; a file without rows is left out.
    pub fn add(&mut self, file: StagedFile) -> Result<()> {
        if file.entry.rows > 0 {
            let draft = self.draft(&file.entry.recording)?;
            draft.staged.insert(file.entry.path.clone(), file.place);
            draft.recording.files.push(file.entry);
            draft.recording.sort();
        }
        Ok(())
    }

    /// Writes one more file of a table that is not divided by core.
    pub fn put_rows(
        &mut self,
        table: &'static TableSpec,
        recording: &str,
        rows: &[RecordBatch],
    ) -> Result<()> {
        let mut writer = self.writer(table, recording, None)?;
        rows.iter().try_for_each(|batch| writer.write(batch))?;
        self.add(writer.finish()?)
    }

    /// Adds a file that is not a table to the commit, in place of the one of that name. Fails when it cannot
    /// be written, or a name cannot be part of a path.
    pub fn put_blob(&mut self, kind: &str, recording: &str, name: &str, content: &[u8]) -> Result<()> {
        self.drop_blob(kind, recording, name)?;
        let number = self.change.next_part;
        let draft = self.draft(recording)?;
        let number = draft.next_part(&layout::blob_key(kind, name)).max(number);
        draft.next_parts.insert(layout::blob_key(kind, name), number.saturating_add(1));
        let path = layout::blob((kind, recording, name), number, self.shared.target.writer())?;
        let (folder, staging) = self.shared.target.scratch();
        let place = staging.place(&path);
        let seal = folder.write(&place, content)?;
        let draft = self.draft(recording)?;
        draft.staged.insert(path.clone(), place);
        draft.recording.blobs.push(BlobEntry {
            path,
            kind: kind.to_owned(),
            name: name.to_owned(),
            bytes: seal.bytes,
            checksum: seal.checksum,
            other: Unknown::default(),
        });
        draft.recording.sort();
        Ok(())
    }

    /// Removes a file that is not a table, if there is one of that name.
    pub fn drop_blob(&mut self, kind: &str, recording: &str, name: &str) -> Result<()> {
        self.drop_blobs(recording, |b| b.kind == kind && b.name == name)
    }

    /// The content of a file that is not a table, after the commit; `None` if there is none of that name.
    pub fn blob(&self, kind: &str, recording: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let wanted = |b: &&BlobEntry| b.kind == kind && b.name == name;
        let Some(owner) = self.recording(recording)? else { return Ok(None) };
        let blob = owner.blobs.iter().find(wanted);
        blob.map(|blob| blob.read(&self.place(recording, &blob.path))).transpose()
    }

    /// Removes the rows of one table and recording, including those added in this transaction.
    pub fn drop_table(&mut self, table: &TableSpec, recording: &str) -> Result<()> {
        self.drop_files(recording, |f| f.table == table.name)
    }

    /// Removes a recording with everything that belongs to it, if there is one of that name.
    pub fn drop_recording(&mut self, name: &str) -> Result<()> {
        self.drop_files(name, |_| true)?;
        self.drop_blobs(name, |_| true)?;
        let draft = self.draft(name)?;
        draft.is_there = false;
        draft.recording.labels.clear();
        Ok(())
    }

    fn drop_files(&mut self, recording: &str, wanted: impl Fn(&FileEntry) -> bool) -> Result<()> {
        let draft = self.draft(recording)?;
        let dropped: Vec<_> = draft.recording.files.extract_if(.., |f| wanted(f)).map(|f| f.path).collect();
        self.forget(recording, dropped)
    }

    fn drop_blobs(&mut self, recording: &str, wanted: impl Fn(&BlobEntry) -> bool) -> Result<()> {
        let draft = self.draft(recording)?;
        let dropped: Vec<_> = draft.recording.blobs.extract_if(.., |b| wanted(b)).map(|b| b.path).collect();
        self.forget(recording, dropped)
    }

    /// The numbers of committed files are not given again.
    fn forget(&mut self, recording: &str, paths: Vec<String>) -> Result<()> {
        let draft = self.draft(recording)?;
        let committed = paths.into_iter().filter(|path| draft.staged.remove(path).is_none());
        let after = committed.filter_map(|path| layout::number(&path)).map(|n| n.saturating_add(1)).max();
        self.change.next_part = self.change.next_part.max(after.unwrap_or(0));
        Ok(())
    }

    /// Adds a recording, or sets the extent of the one of that name.
    pub fn set_recording(&mut self, name: &str, begin_at: Option<i64>, end_at: Option<i64>) -> Result<()> {
        let draft = self.draft(name)?;
        draft.is_there = true;
        (draft.recording.begin_at, draft.recording.end_at) = (begin_at, end_at);
        Ok(())
    }

    /// Sets the labels of a recording. They are also rows of a table, which the caller writes.
    pub fn set_labels(&mut self, name: &str, labels: BTreeMap<String, String>) -> Result<()> {
        self.draft(name)?.recording.labels = labels;
        Ok(())
    }

    /// A recording with its files, as it will be, also while it is only the owner of files.
    pub fn recording(&self, name: &str) -> Result<Option<Arc<Recording>>> {
        match self.change.drafts.get(name) {
            Some(draft) => Ok(Some(Arc::new(draft.recording.clone()))),
            None => self.shared.base.recording(name),
        }
    }

    /// The files that a table of a recording will have after the commit, in order, and where they lie now.
    pub fn files(&self, table: &TableSpec, recording: &str) -> Result<Vec<(FileEntry, Place)>> {
        let Some(owner) = self.recording(recording)? else { return Ok(Vec::new()) };
        Ok(owner
            .files_of(table)
            .map(|f| (f.clone(), self.place(recording, &f.path).sealed(f.seal())))
            .collect())
    }

    /// Where a file of a recording lies now.
    fn place(&self, recording: &str, path: &str) -> Place {
        let target = &self.shared.target;
        match self.change.drafts.get(recording).and_then(|draft| draft.staged.get(path)) {
            Some(staged) => Place::file(target.scratch().0.path(staged)),
            None => target.location().place_now(path),
        }
    }

    /// Makes the new state the state of the database. Fails when another writer has changed one of the
    /// recordings meanwhile, or when something could not be written; the database is then without this
    /// change, unless the error says that this is not known.
    pub fn commit(self) -> Result<()> {
        self.change.check()?;
        self.shared.target.commit(&self.shared.base, &self.change)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.target.end(&self.base);
    }
}
