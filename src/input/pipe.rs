//! Pipes, which may be silent for ever: a thread of their own opens and reads them, so that who waits for
//! them can be stopped. Not for files.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use crate::error::Error;
use crate::threads::Thread;

/// Bytes of a block, and how many blocks wait at most.
const BLOCK: usize = 256 * 1024;
const BLOCKS: usize = 4;
/// How long a request to stop can go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// A pipe that is read.
pub(super) struct Pipe {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    /// How much of the block was returned.
    at: usize,
    /// Its end was said: an empty block.
    at_end: bool,
    stop: Arc<AtomicBool>,
}

impl Pipe {
    /// `open` may block until somebody writes. Reading ends with [`Error::interrupted`] soon after `stop`
    /// becomes true.
    pub fn start<R: Read>(
        stop: Arc<AtomicBool>,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(BLOCKS);
        // The thread ends with the pipe, with its reader, or with the process.
        Thread::start(Builder::new().name("btfdb-pipe".into()), move || {
            let mut pipe = match open() {
                Ok(pipe) => pipe,
                Err(e) => return drop(sender.send(Err(e))),
            };
            loop {
                let mut block = vec![0; BLOCK];
                match pipe.read(&mut block) {
                    Ok(0) => return drop(sender.send(Ok(Vec::new()))),
                    Ok(length) => {
                        block.truncate(length);
                        if sender.send(Ok(block)).is_err() {
                            return;
                        }
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return drop(sender.send(Err(e))),
                }
            }
        })?;
        Ok(Self { blocks, block: Vec::new(), at: 0, at_end: false, stop })
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.block.len() && !self.at_end {
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => {
                    (self.block, self.at) = (block?, 0);
                    self.at_end = self.block.is_empty();
                }
                // Not an end: a part would be missing without a word.
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(io::Error::other(Error::interrupted()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let length = self.block.get(self.at..).unwrap_or_default().read(buffer)?;
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_and_errors_too() {
        let content: Vec<u8> = (0..3 * BLOCK + 7).map(|n| n as u8).collect();
        let expected = content.clone();
        let mut pipe = Pipe::start(Arc::default(), move || Ok(io::Cursor::new(content))).unwrap();
        let mut read = Vec::new();
        pipe.read_to_end(&mut read).unwrap();
        assert!(read == expected);
        let failing = || Err::<io::Empty, _>(io::ErrorKind::PermissionDenied.into());
        let error = Pipe::start(Arc::default(), failing).unwrap().read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_silent_pipe_can_be_stopped() {
        let (silent, _writer) = io::pipe().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let mut pipe = Pipe::start(Arc::clone(&stop), move || Ok(silent)).unwrap();
        stop.store(true, Ordering::Relaxed);
        let error = pipe.read(&mut [0]).unwrap_err();
        assert!(error.get_ref().is_some_and(|e| e.is::<Error>()));
    }
}
