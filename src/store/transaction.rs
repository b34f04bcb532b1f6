//! One change of a database, all or nothing. Not the order of its steps on the disk (see [`super::commit`]).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commit;
use super::disk::Disk;
use super::folder::Folder;
use super::layout::{self, LOCK, MANIFEST, NEXT_MANIFEST, STAGING};
use super::lock::Lock;
use super::manifest::{BlobEntry, FileEntry, Manifest, RecordingEntry};
use super::table_writer::{StagedFile, TableWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::RecordBatch;

/// A change in the making. It holds the lock of the database; dropped without [`Transaction::commit`], it
/// leaves the database as it was, and no folder where there was none.
#[derive(Debug)]
pub struct Transaction {
    folder: Folder,
    /// What the database will hold.
    manifest: Manifest,
    /// The next part of each folder that has been given one.
    next_parts: HashMap<String, u32>,
    /// The database exists only once this is committed.
    is_first: bool,
    created_folder: bool,
    /// There is nothing to clean up: not begun yet, or committed.
    is_done: bool,
    // Dropped last: the clean-up happens under the lock.
    _lock: Lock,
}

impl Transaction {
    /// Takes the lock, finishes what an interrupted commit left to do, and removes what interrupted
    /// transactions left. `time_scale` is that of a new database; `None` means that there must be one
    /// already. Fails with [`ErrorKind::Database`] when another writer is at work, when there is no database
    /// and none may be made, or when the folder holds something else.
    pub(super) fn begin(disk: Arc<dyn Disk>, path: &Path, time_scale: Option<TimeScale>) -> Result<Self> {
        let folder = Folder::new(disk, path);
        let created_folder = prepare_folder(&folder, time_scale.is_some())?;
        let lock = match Lock::take(&folder) {
            Ok(lock) => lock,
            Err(e) => {
                if created_folder {
                    // Fails if another writer has begun to use it, which is right.
                    let _ = folder.disk().remove_dir(folder.root());
                }
                return Err(e);
            }
        };
        let is_first = !folder.exists(MANIFEST)?;
        let mut tx = Self {
            folder,
            manifest: Manifest::new(time_scale.unwrap_or(TimeScale::Ns)),
            next_parts: HashMap::new(),
            is_first,
            created_folder,
            // Staged files must stay where they are until their commit is settled.
            is_done: !is_first,
            _lock: lock,
        };
        if is_first {
            commit::sweep(&tx.folder)?;
        } else {
            tx.manifest = commit::settle(&tx.folder, &Manifest::read(path)?)?;
            tx.is_done = false;
        }
        tx.manifest.generation += 1;
        tx.manifest.creator = format!("btfdb {}", env!("CARGO_PKG_VERSION"));
        Ok(tx)
    }

    /// What the database will hold after the commit, as far as it is certain yet.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Unit of every tick in the database.
    pub fn time_scale(&self) -> TimeScale {
        self.manifest.time_scale
    }

    pub fn has_recording(&self, name: &str) -> bool {
        self.manifest.recording(name).is_some()
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
        let folder = layout::folder(table, recording, core)?;
        let in_folder = |f: &&FileEntry| f.path.rsplit_once('/').is_some_and(|p| p.0 == folder);
        let numbers =
            self.manifest.files.iter().filter(in_folder).filter_map(|f| layout::part_number(&f.path));
        let free = numbers.max().map_or(0, |n| n.saturating_add(1));
        let given = self.next_parts.get(&folder).copied().unwrap_or(0);
        let number = self.manifest.next_part.max(free).max(given);
        let path = layout::part(&folder, number);
        self.next_parts.insert(folder, number.saturating_add(1));
        let entry = FileEntry {
            staged: Some(layout::staged(self.manifest.generation, &path)),
            path,
            table: table.name.to_owned(),
            recording: recording.to_owned(),
            core: core.map(str::to_owned),
            ..FileEntry::default()
        };
        Ok(TableWriter::new(self.folder.clone(), table, entry))
    }

    /// Makes a file part of the commit; a file without rows is left out.
    pub fn add(&mut self, file: StagedFile) {
        if file.entry.rows > 0 {
            self.manifest.files.push(file.entry);
            self.manifest.sort();
        }
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
        self.add(writer.finish()?);
        Ok(())
    }

    /// Adds a file that is not a table to the commit, in place of the one of that name. Fails when it cannot
    /// be written, or a name cannot be part of a path.
    pub fn put_blob(&mut self, kind: &str, recording: &str, name: &str, content: &[u8]) -> Result<()> {
        let path = layout::blob(kind, recording, name)?;
        let staged = layout::staged(self.manifest.generation, &path);
        let seal = self.folder.write(&staged, content)?;
        self.drop_blobs(|b| b.path == path);
        self.manifest.blobs.push(BlobEntry {
            path,
            kind: kind.to_owned(),
            recording: recording.to_owned(),
            name: name.to_owned(),
            bytes: seal.bytes,
            checksum: seal.checksum,
            staged: Some(staged),
        });
        self.manifest.sort();
        Ok(())
    }

    /// Removes a file that is not a table, if there is one of that name.
    pub fn drop_blob(&mut self, kind: &str, recording: &str, name: &str) {
        self.drop_blobs(|b| b.kind == kind && b.recording == recording && b.name == name);
    }

    /// The content of a file that is not a table, after the commit; `None` if there is none of that name.
    pub fn blob(&self, kind: &str, recording: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let wanted = |b: &&BlobEntry| b.kind == kind && b.recording == recording && b.name == name;
        let blob = self.manifest.blobs.iter().find(wanted);
        blob.map(|blob| blob.read(&self.folder.path(""))).transpose()
    }

    /// Removes the rows of one table and recording, including those added in this transaction.
    pub fn drop_table(&mut self, table: &TableSpec, recording: &str) {
        self.drop_files(|f| f.table == table.name && f.recording == recording);
    }

    /// Removes a recording with everything that belongs to it, if there is one of that name.
    pub fn drop_recording(&mut self, name: &str) {
        self.drop_files(|f| f.recording == name);
        self.drop_blobs(|b| b.recording == name);
        self.manifest.recordings.retain(|r| r.name != name);
    }

    fn drop_files(&mut self, wanted: impl Fn(&FileEntry) -> bool) {
        let manifest = &mut self.manifest;
        let dropped = manifest.files.extract_if(.., |f| wanted(f));
        for file in dropped.filter(|f| f.staged.is_none()) {
            let after = layout::part_number(&file.path).map_or(0, |n| n.saturating_add(1));
            manifest.next_part = manifest.next_part.max(after);
            manifest.removals.push(file.path);
        }
    }

    fn drop_blobs(&mut self, wanted: impl Fn(&BlobEntry) -> bool) {
        let manifest = &mut self.manifest;
        let dropped = manifest.blobs.extract_if(.., |b| wanted(b));
        manifest.removals.extend(dropped.filter(|b| b.staged.is_none()).map(|b| b.path));
    }

    /// Adds a recording, or replaces the entry of that name.
    pub fn set_recording(&mut self, recording: RecordingEntry) {
        let recordings = &mut self.manifest.recordings;
        match recordings.iter_mut().find(|r| r.name == recording.name) {
            Some(present) => *present = recording,
            None => recordings.push(recording),
        }
    }

    /// The files that a table of a recording will have after the commit, in order, and where they lie now.
    pub fn files(&self, table: &TableSpec, recording: &str) -> Vec<(FileEntry, PathBuf)> {
        let place = |f: &FileEntry| self.folder.path(f.staged.as_deref().unwrap_or(&f.path));
        self.manifest.files_of(table, Some(recording)).map(|f| (f.clone(), place(f))).collect()
    }

    /// Makes the new state the state of the database. Tidying up afterwards may fail and is left to the next
    /// writer; that is no error, because the new state is complete without it. Fails when something could not
    /// be written; the database is then as it was.
    pub fn commit(mut self) -> Result<()> {
        let (files, blobs) = (self.manifest.files.iter(), self.manifest.blobs.iter());
        let mut owners = files.map(|f| &f.recording).chain(blobs.map(|b| &b.recording));
        if let Some(name) = owners.find(|name| !self.has_recording(name)) {
            let message = format!("there are files of '{name}', which is no recording");
            return Err(Error::new(ErrorKind::Bug, message));
        }
        // A blob that replaces another one has the same name.
        let live: Vec<_> = self.manifest.blobs.iter().map(|b| b.path.clone()).collect();
        self.manifest.removals.retain(|r| !live.contains(r));
        if self.created_folder {
            self.sync_parent()?;
        }
        commit::publish(&self.folder, &self.manifest)?;
        self.is_done = true;
        let _ = commit::settle(&self.folder, &self.manifest);
        Ok(())
    }

    /// Makes the name of a new database survive a power cut.
    fn sync_parent(&self) -> Result<()> {
        let parent_of = parent_of(self.folder.root());
        self.folder.disk().sync_dir(parent_of).map_err(|e| Error::io("sync", parent_of, e))
    }

    fn abandon(&self) -> Result<()> {
        commit::sweep(&self.folder)?;
        if self.is_first {
            self.folder.remove_file(LOCK)?;
        }
        if self.created_folder {
            let root = self.folder.root();
            self.folder.disk().remove_dir(root).map_err(|e| Error::io("remove", root, e))?;
        }
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_done {
            // What cannot be removed now is removed by the next writer.
            let _ = self.abandon();
        }
    }
}

/// Makes sure that the folder is a database, or can become one: then it is new, or holds only leftovers of a
/// first transaction. Returns true if it was created here.
fn prepare_folder(folder: &Folder, may_create: bool) -> Result<bool> {
    let root = folder.root();
    if folder.exists(MANIFEST).unwrap_or(false) {
        return Ok(false);
    }
    if !may_create || root.is_file() {
        return Manifest::read(root).map(|_| false);
    }
    if root.is_dir() {
        let entries = fs::read_dir(root).map_err(|e| Error::io("list", root, e))?;
        let ours = [LOCK, STAGING, NEXT_MANIFEST];
        let foreign = entries.flatten().map(|e| e.file_name()).find(|n| ours.iter().all(|o| *n != **o));
        return foreign.map_or(Ok(false), |name| {
            let name = name.to_string_lossy();
            Err(Error::database(format!(
                "'{}' is neither a btfdb database nor empty: it holds '{name}'",
                root.display()
            ))
            .hint("choose another folder for the database"))
        });
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

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
