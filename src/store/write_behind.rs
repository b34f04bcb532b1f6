//! A file that a background thread syncs while it is written, so that the last sync, which everything waits
//! for, has little left to do. Small files are synced once.

use std::fs::File;
use std::io::{self, Write};
use std::thread::Builder;

use super::disk::DiskFile;
use crate::threads::Thread;

/// A background sync begins when at least this many bytes were written since the last one.
const SYNC_BYTES: usize = 8 << 20;

/// A file being written, and the thread that syncs it.
pub(super) struct WriteBehind {
    file: File,
    /// Bytes written since the last background sync began.
    unsynced: usize,
    syncing: Option<Thread<io::Result<()>>>,
}

impl WriteBehind {
    pub(super) fn new(file: File) -> Self {
        Self { file, unsynced: 0, syncing: None }
    }

    /// Begins a background sync if enough was written and the previous one is done. Without a thread or a
    /// second handle of the file, everything is left to the last sync.
    fn sync_in_background(&mut self) -> io::Result<()> {
        if self.unsynced < SYNC_BYTES || self.syncing.as_ref().is_some_and(|thread| !thread.has_ended()) {
            return Ok(());
        }
        self.join()?;
        self.unsynced = 0;
        if let Ok(file) = self.file.try_clone() {
            self.syncing = Thread::start(Builder::new().name("sync".into()), move || file.sync_data()).ok();
        }
        Ok(())
    }

    /// Waits for the background sync. Its error must not be lost: the system reports a failed write once, at
    /// the first sync.
    fn join(&mut self) -> io::Result<()> {
        match self.syncing.take().map(Thread::join) {
            None => Ok(()),
            Some(Ok(synced)) => synced,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs has panicked")),
        }
    }
}

impl Write for WriteBehind {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.sync_in_background()?;
        let written = self.file.write(buffer)?;
        self.unsynced += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for WriteBehind {
    fn sync(&mut self) -> io::Result<()> {
        self.join()?;
        self.file.sync_all()
    }
}

impl Drop for WriteBehind {
    /// The file is closed when this returns, so that it can be removed. A file that is dropped without a sync
    /// is abandoned: its errors do not matter.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(dir: &tempfile::TempDir) -> WriteBehind {
        WriteBehind::new(File::create(dir.path().join("f")).unwrap())
    }

    #[test]
    fn what_was_written_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let piece: Vec<u8> = (0..1_000_003u32).map(|n| (n * 7) as u8).collect();
        let mut file = new(&dir);
        let mut syncs = 0;
        for _ in 0..40 {
            file.write_all(&piece).unwrap();
            syncs += usize::from(file.syncing.is_some());
        }
        assert_eq!(syncs, 31, "a background sync from the tenth piece on");
        file.sync().unwrap();
        assert!(file.syncing.is_none());
        drop(file);
        assert!(std::fs::read(dir.path().join("f")).unwrap() == piece.repeat(40));
    }

    #[test]
    fn an_error_of_the_background_sync_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let failed = |file: &mut WriteBehind| {
            let syncing = Thread::start(Builder::new(), || Err(io::Error::other("lost"))).unwrap();
            while !syncing.has_ended() {
                std::thread::yield_now();
            }
            file.syncing = Some(syncing);
        };
        let mut file = new(&dir);
        failed(&mut file);
        assert_eq!(file.sync().unwrap_err().to_string(), "lost");
        failed(&mut file);
        assert!(file.write(b"little").is_ok(), "not asked yet");
        file.unsynced = SYNC_BYTES;
        assert_eq!(file.write(b"more").unwrap_err().to_string(), "lost");
    }
}
