//! One change of a database, all or nothing. Not the order of its steps on the disk (see [`super::commit`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commit;
use super::database::Database;
use super::disk::Disk;
use super::draft::Draft;
use super::folder::Folder;
use super::layout::{self, LOCK, LOG, REMOVED, STAGING};
use super::lock::Lock;
use super::log::{Commit, Head, Snapshot};
use super::open;
use super::recording::{BlobEntry, FileEntry, Recording};
use super::staging::Staging;
use super::table_writer::{StagedFile, TableWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::RecordBatch;

/// A change in the making; dropped without [`Transaction::commit`], it leaves the database as it was, and no
/// folder where there was none. Several can be in the making at once, of different recordings.
#[derive(Debug)]
pub struct Transaction {
    shared: Arc<Shared>,
    /// What differs, by the name of a recording.
    drafts: BTreeMap<String, Draft>,
    /// The names in `drafts` of recordings that are not in `base`, in the order in which they came.
    new: Vec<String>,
    /// New parts get at least this number.
    next_part: u32,
}

/// What the parts of a transaction share.
#[derive(Debug)]
struct Shared {
    folder: Folder,
    /// The database without the change.
    base: Arc<Snapshot>,
    staging: Staging,
    created_folder: bool,
}

impl Database {
    /// Begins to change a database, or to make a new one when `time_scale_if_new` says how. Fails with
    /// [`crate::error::ErrorKind::Database`] when there is no database and none may be made, or when the
    /// folder holds something else.
    pub fn begin(
        disk: Arc<dyn Disk>,
        path: &Path,
        time_scale_if_new: Option<TimeScale>,
    ) -> Result<Transaction> {
        Transaction::begin(disk, path, time_scale_if_new)
    }
}

impl Transaction {
    /// Finishes what writers that are gone have left. `time_scale` is that of a new database; `None` means
    /// that there must be one already. Fails with [`ErrorKind::Database`] when there is no database and none
    /// may be made, or when the folder holds something else.
    pub(super) fn begin(disk: Arc<dyn Disk>, path: &Path, time_scale: Option<TimeScale>) -> Result<Self> {
        let folder = Folder::new(disk, path);
        let created_folder = prepare_folder(&folder, time_scale.is_some())?;
        let begun = begin(&folder, time_scale);
        if begun.is_err() {
            let _ = leave(&folder, created_folder);
        }
        let (base, staging) = begun?;
        let next_part = base.head().next_part;
        let shared = Arc::new(Shared { folder, base: Arc::new(base), staging, created_folder });
        Ok(Self { shared, drafts: BTreeMap::new(), new: Vec::new(), next_part })
    }

    /// A part of this transaction for a thread of its own. It sees the database without the change, and
    /// nothing sees its own changes until it is [absorbed](Self::absorb).
    pub fn part(&self) -> Self {
        let (shared, next_part) = (Arc::clone(&self.shared), self.shared.base.head().next_part);
        Self { shared, drafts: BTreeMap::new(), new: Vec::new(), next_part }
    }

    /// Takes over the changes of a part. Fails when both change the same recording.
    pub fn absorb(&mut self, part: Self) -> Result<()> {
        if let Some(name) = part.drafts.keys().find(|name| self.drafts.contains_key(*name)) {
            return Err(Error::usage(format!("two inputs make a recording '{name}'"))
                .hint("give each a name of its own with --name, or ingest them one after the other"));
        }
        self.next_part = self.next_part.max(part.next_part);
        self.drafts.extend(part.drafts);
        self.new.extend(part.new);
        Ok(())
    }

    /// The database as it was when this began.
    pub fn before(&self) -> Database {
        Database::of(self.shared.folder.root(), Arc::clone(&self.shared.base))
    }

    /// Unit of every tick in the database.
    pub fn time_scale(&self) -> TimeScale {
        self.shared.base.head().time_scale
    }

    /// Whether there will be a recording of this name.
    pub fn has_recording(&self, name: &str) -> Result<bool> {
        match self.drafts.get(name) {
            Some(draft) => Ok(draft.is_there),
            None => Ok(self.shared.base.recording(name)?.is_some()),
        }
    }

    /// The draft of a recording, which may be a new one.
    fn draft(&mut self, name: &str) -> Result<&mut Draft> {
        if !self.drafts.contains_key(name) {
            let draft = match self.shared.base.recording(name)? {
                Some(present) => {
                    Draft { recording: Recording::clone(&present), is_there: true, ..Draft::default() }
                }
                None => {
                    self.new.push(name.to_owned());
                    let recording = Recording { name: name.to_owned(), ..Recording::default() };
                    Draft { recording, ..Draft::default() }
                }
            };
            self.drafts.insert(name.to_owned(), draft);
        }
        self.drafts.get_mut(name).ok_or_else(|| Error::new(ErrorKind::Bug, "a recording has no draft"))
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
        let least = self.next_part;
        let draft = self.draft(recording)?;
        let number = draft.next_part(&parent).max(least);
        let path = layout::part(&parent, number);
        draft.next_parts.insert(parent, number.saturating_add(1));
        let entry = FileEntry {
            path: path.clone(),
            table: table.name.to_owned(),
            recording: recording.to_owned(),
            core: core.map(str::to_owned),
            ..FileEntry::default()
        };
        Ok(TableWriter::new(self.shared.folder.clone(), table, entry, self.shared.staging.place(&path)))
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
        let number = self.next_part;
        let draft = self.draft(recording)?;
        let number = draft.next_part(&layout::blob_key(kind, name)).max(number);
        draft.next_parts.insert(layout::blob_key(kind, name), number.saturating_add(1));
        let path = layout::blob(kind, recording, name, number)?;
        let place = self.shared.staging.place(&path);
        let seal = self.shared.folder.write(&place, content)?;
        let draft = self.draft(recording)?;
        draft.staged.insert(path.clone(), place);
        draft.recording.blobs.push(BlobEntry {
            path,
            kind: kind.to_owned(),
            name: name.to_owned(),
            bytes: seal.bytes,
            checksum: seal.checksum,
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
        self.next_part = self.next_part.max(after.unwrap_or(0));
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
        match self.drafts.get(name) {
            Some(draft) => Ok(Some(Arc::new(draft.recording.clone()))),
            None => self.shared.base.recording(name),
        }
    }

    /// The files that a table of a recording will have after the commit, in order, and where they lie now.
    pub fn files(&self, table: &TableSpec, recording: &str) -> Result<Vec<(FileEntry, PathBuf)>> {
        let Some(owner) = self.recording(recording)? else { return Ok(Vec::new()) };
        Ok(owner.files_of(table).map(|f| (f.clone(), self.place(recording, &f.path))).collect())
    }

    /// Where a file of a recording lies now.
    fn place(&self, recording: &str, path: &str) -> PathBuf {
        match self.drafts.get(recording).and_then(|draft| draft.staged.get(path)) {
            Some(staged) => self.shared.folder.path(staged),
            None => open::place(self.shared.folder.root(), path),
        }
    }

    /// Makes the new state the state of the database. Tidying up afterwards may fail and is left to the next
    /// writer; that is no error, because the new state is complete without it. Fails when another writer has
    /// changed one of the recordings meanwhile, or when something could not be written; the database is then
    /// without this change.
    pub fn commit(self) -> Result<()> {
        let homeless = |d: &Draft| !d.is_there && d.recording.paths().next().is_some();
        if let Some((name, _)) = self.drafts.iter().find(|(_, draft)| homeless(draft)) {
            let message = format!("there are files of '{name}', which is no recording");
            return Err(Error::new(ErrorKind::Bug, message));
        }
        let _lock = Lock::for_commit(&self.shared.folder)?;
        commit::recover(&self.shared.folder)?;
        let tip = Snapshot::open(self.shared.folder.root())?;
        if let Some(tip) = &tip {
            self.check_time_scale(tip)?;
            commit::check_conflicts(&self.shared.folder, &self.shared.base, tip, |name| {
                self.drafts.contains_key(name)
            })?;
        }
        let head = tip.as_ref().map_or(self.shared.base.head(), |tip| tip.head());
        let commit = self.to_commit(head)?;
        let mut moves: Vec<_> = commit
            .puts
            .iter()
            .filter_map(|put| self.drafts.get(&put.name))
            .flat_map(|draft| draft.staged.iter().map(|(path, place)| (place.clone(), path.clone())))
            .collect();
        moves.sort();
        if self.shared.created_folder {
            self.sync_parent()?;
        }
        let published = commit::publish(&self.shared.folder, &self.shared.staging, &commit, &moves);
        let is_made = published.is_ok()
            || matches!(commit::begun(self.shared.folder.root(), &self.shared.staging), Ok(Some((_, true))));
        // What cannot be done now is done by the next writer.
        let _ = commit::finish(&self.shared.folder, &self.shared.staging);
        if is_made { Ok(()) } else { published }
    }

    /// Another writer may have made the database in the meantime.
    fn check_time_scale(&self, tip: &Snapshot) -> Result<()> {
        let scale = tip.head().time_scale;
        if scale == self.time_scale() {
            return Ok(());
        }
        let message = format!("another btfdb has just made the database, which counts time in {scale}");
        Err(Error::database(message).hint("nothing was written; try again"))
    }

    fn to_commit(&self, before: &Head) -> Result<Commit> {
        let mut head = before.clone();
        head.number += 1;
        head.creator = format!("btfdb {}", env!("CARGO_PKG_VERSION"));
        head.next_part = head.next_part.max(self.next_part);
        let (mut puts, mut drops, mut freed) = (Vec::new(), Vec::new(), Vec::new());
        for (name, draft) in &self.drafts {
            let present = self.shared.base.recording(name)?;
            let live: BTreeSet<&str> = draft.recording.paths().collect();
            let gone = present.iter().flat_map(|present| present.paths());
            freed.extend(gone.filter(|path| !live.contains(path)).map(str::to_owned));
            head.count(present.as_deref(), draft.is_there.then_some(&draft.recording));
            match (draft.is_there, present) {
                (true, _) => puts.push(draft.recording.clone()),
                (false, Some(_)) => {
                    drops.push(name.clone());
                    head.recordings -= 1;
                }
                (false, None) => {}
            }
        }
        for name in &self.new {
            if let Some(put) = puts.iter_mut().find(|put| put.name == *name) {
                put.ordinal = head.next_ordinal;
                head.next_ordinal += 1;
                head.recordings += 1;
            }
        }
        Ok(Commit { head, puts, drops, freed })
    }

    /// Makes the name of a new database survive a power cut.
    fn sync_parent(&self) -> Result<()> {
        let parent_of = parent_of(self.shared.folder.root());
        self.shared.folder.disk().sync_dir(parent_of).map_err(|e| Error::io("sync", parent_of, e))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The next writer removes what cannot be removed now, and finishes a commit that was begun.
        if let Ok(None) = commit::begun(self.folder.root(), &self.staging) {
            let _ = self.staging.remove(&self.folder);
        }
        if self.base.head().number == 0 {
            let _ = leave(&self.folder, self.created_folder);
        }
    }
}

/// The state to begin from, and a folder for what is new.
fn begin(folder: &Folder, time_scale: Option<TimeScale>) -> Result<(Snapshot, Staging)> {
    let _lock = Lock::for_commit(folder)?;
    commit::recover(folder)?;
    let base = match Snapshot::open(folder.root())? {
        Some(base) => base,
        None => {
            check_foreign(folder.root())?;
            Snapshot::empty(Head::new(time_scale.unwrap_or(TimeScale::Ns)))
        }
    };
    Ok((base, Staging::new(folder)?))
}

/// Removes what a database that was not made has left in its folder, and the folder if it was created for it,
/// unless another writer makes a database there.
fn leave(folder: &Folder, created_folder: bool) -> Result<()> {
    let _lock = Lock::for_commit(folder)?;
    if Database::is_at(folder.root()) || folder.exists(STAGING)? {
        return Ok(());
    }
    folder.remove_tree(LOG)?;
    folder.remove_file(LOCK)?;
    if created_folder {
        let root = folder.root();
        folder.disk().remove_dir(root).map_err(|e| Error::io("remove", root, e))?;
    }
    Ok(())
}

/// Makes sure that the folder is a database, or can become one: then it is new, or holds only leftovers of a
/// first transaction. Returns true if it was created here.
fn prepare_folder(folder: &Folder, may_create: bool) -> Result<bool> {
    let root = folder.root();
    if Database::is_at(root) {
        return Ok(false);
    }
    if !may_create || root.is_file() {
        return Database::open(root).map(|_| false);
    }
    if root.is_dir() {
        // With a lock, it may be a database in the making: then only its holder knows (see `begin`).
        return if folder.exists(LOCK)? { Ok(false) } else { check_foreign(root).map(|()| false) };
    }
    if !parent_of(root).is_dir() {
        return Err(Error::database(format!(
            "there is no folder '{}' to make a database in",
            parent_of(root).display()
        )));
    }
    folder.disk().create_dir_all(root).map_err(|e| Error::io("create", root, e))?;
    Ok(true)
}

/// Fails if a folder without a database holds what is not of a database in the making.
fn check_foreign(root: &Path) -> Result<()> {
    let entries = fs::read_dir(root).map_err(|e| Error::io("list", root, e))?;
    let ours = [LOCK, STAGING, LOG, REMOVED];
    let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let Some(name) = names.find(|name| !ours.contains(&name.as_str())) else { return Ok(()) };
    let root = root.display();
    Err(Error::database(format!("'{root}' is neither a btfdb database nor empty: it holds '{name}'"))
        .hint("choose another folder for the database"))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
