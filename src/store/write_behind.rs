//! A file that goes to the disk while it is written, so that its last sync finds little left to do: that sync is time in
//! which nothing else happens. Not for small files, which stay as they are, nor for what is in them.

use std::fs::File;
use std::io::{self, Write};
use std::thread::{self, JoinHandle};

use super::disk::DiskFile;

/// So many bytes are worth a sync of their own.
const WORTH: usize = 8 << 20;

/// A file being written, and who syncs what is there.
pub(super) struct WriteBehind {
    file: File,
    /// Written since the helper began, in bytes.
    behind: usize,
    helper: Option<JoinHandle<io::Result<()>>>,
}

impl WriteBehind {
    pub(super) fn new(file: File) -> Self {
        Self { file, behind: 0, helper: None }
    }

    /// Lets a helper sync what is there, if there is enough of it and the last one is done. Where the system has no thread or no
    /// handle for one, all is left to the last sync.
    fn go_on(&mut self) -> io::Result<()> {
        if self.behind < WORTH || self.helper.as_ref().is_some_and(|helper| !helper.is_finished()) {
            return Ok(());
        }
        self.join()?;
        self.behind = 0;
        if let Ok(file) = self.file.try_clone() {
            self.helper = thread::Builder::new().name("sync".into()).spawn(move || file.sync_data()).ok();
        }
        Ok(())
    }

    /// Waits for the helper. Its error must not be lost: the system tells of a write that failed once, to whoever syncs first.
    fn join(&mut self) -> io::Result<()> {
        match self.helper.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(synced)) => synced,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs has panicked")),
        }
    }
}

impl Write for WriteBehind {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.go_on()?;
        let written = self.file.write(buffer)?;
        self.behind += written;
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
    /// Nobody has the file open any more when it is removed. Who drops it without a sync does not want to know how it went.
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
        let mut helped = 0;
        for _ in 0..40 {
            file.write_all(&piece).unwrap();
            helped += usize::from(file.helper.is_some());
        }
        assert_eq!(helped, 31, "a helper from the tenth piece on");
        file.sync().unwrap();
        assert!(file.helper.is_none());
        drop(file);
        assert!(std::fs::read(dir.path().join("f")).unwrap() == piece.repeat(40));
    }

    #[test]
    fn what_the_helper_fails_with_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let failed = |file: &mut WriteBehind| {
            let helper = thread::spawn(|| Err(io::Error::other("lost")));
            while !helper.is_finished() {
                thread::yield_now();
            }
            file.helper = Some(helper);
        };
        let mut file = new(&dir);
        failed(&mut file);
        assert_eq!(file.sync().unwrap_err().to_string(), "lost");
        failed(&mut file);
        assert!(file.write(b"little").is_ok(), "not asked yet");
        file.behind = WORTH;
        assert_eq!(file.write(b"more").unwrap_err().to_string(), "lost");
    }
}
