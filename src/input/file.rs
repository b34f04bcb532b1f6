//! A file as it was when it was opened: what is written behind its end afterwards is not read, and one that
//! becomes shorter, or whose content changes, is an error. Not for pipes.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::Error;

/// What is wrong with a file that ends earlier than it did.
pub(super) const SHORTER: &str = "the file has become shorter while it was read";

/// What is wrong with a file whose content was replaced.
pub(super) const CHANGED: &str = "the file was written to while it was read";

/// A file, and the length that it had. Clones share its position.
#[derive(Clone)]
pub(super) struct WholeFile {
    file: Arc<File>,
    length: u64,
    /// When it was written to for the last time; `None` where the system does not say.
    written_at: Option<SystemTime>,
}

impl WholeFile {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let (length, written_at) = (metadata.len(), metadata.modified().ok());
        Ok(Self { file: Arc::new(file), length, written_at })
    }

    /// Whether somebody has written to it since; what was read may be a mixture, or more lines came behind
    /// it.
    pub fn is_changed(&self) -> io::Result<bool> {
        // Files of the kernel are new whenever they are looked at.
        Ok(self.length > 0 && self.file.metadata()?.modified().ok() != self.written_at)
    }

    /// The same file, from its begin.
    pub fn again(&self) -> io::Result<Self> {
        let mut file = &*self.file;
        file.rewind()?;
        Ok(self.clone())
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn shared(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        // Files of the kernel, such as those in /proc, say that they are empty.
        if self.length == 0 {
            return file.read(buffer);
        }
        let left = self.length.saturating_sub(file.stream_position()?);
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(buffer.get_mut(..wanted).unwrap_or_default())?;
        match read == 0 && wanted > 0 {
            true => Err(io::Error::other(Error::input(SHORTER))),
            false => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_is_written_later_is_not_read() {
        let mut written = tempfile::NamedTempFile::new().unwrap();
        written.write_all(b"before").unwrap();
        let mut file = WholeFile::open(written.path()).unwrap();
        written.write_all(b"after").unwrap();
        let mut read = String::new();
        file.read_to_string(&mut read).unwrap();
        assert_eq!((read.as_str(), file.length()), ("before", 6));
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let mut written = tempfile::NamedTempFile::new().unwrap();
        written.write_all(b"before").unwrap();
        let mut file = WholeFile::open(written.path()).unwrap();
        file.read_exact(&mut [0; 2]).unwrap();
        written.as_file().set_len(3).unwrap();
        let error = file.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("shorter"), "{error}");
    }
}
