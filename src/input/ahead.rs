//! The chunks of a [`Source`] for a pipeline: read, hashed and decompressed on a thread of their own, a few ahead of who
//! uses them. Not the reading itself.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::{Chunk, Digest, Source};
use crate::error::{Error, ErrorKind, Result};

/// How many chunks wait to be used. With those in use, this bounds the memory.
const WAITING: usize = 2;

/// The chunks of an input, one after the other.
pub struct Chunks(Reading);

enum Reading {
    Here(Box<Source>),
    Ahead {
        chunks: Receiver<Result<(Chunk, u64)>>,
        spare: Sender<Vec<u8>>,
        thread: JoinHandle<Result<Digest>>,
    },
}

impl Source {
    /// The chunks from here on, read on another thread if `ahead`. That thread ends when the input does, or when nobody
    /// wants its chunks any more.
    pub fn chunks(mut self, ahead: bool) -> Chunks {
        if !ahead {
            return Chunks(Reading::Here(Box::new(self)));
        }
        let (send, chunks) = sync_channel(WAITING);
        let (spare, used) = channel();
        let thread = std::thread::spawn(move || {
            let complete = read_all(&mut self, &send, &used);
            drop(send);
            // Nobody is told a hash of half an input, and the other half may take for ever.
            if complete { self.finish() } else { Err(Error::new(ErrorKind::Bug, "the reading was stopped")) }
        });
        Chunks(Reading::Ahead { chunks, spare, thread })
    }

    /// As [`Source::next_chunk`], with how many raw bytes were read for it.
    ///
    /// # Errors
    /// As there.
    pub fn next_counted(&mut self) -> Result<Option<(Chunk, u64)>> {
        let before = self.progress().0;
        let chunk = self.next_chunk()?;
        let raw = self.progress().0.saturating_sub(before);
        Ok(chunk.map(|chunk| (chunk, raw)))
    }
}

/// Reads until nobody wants more; true at the end of the input.
fn read_all(source: &mut Source, send: &SyncSender<Result<(Chunk, u64)>>, used: &Receiver<Vec<u8>>) -> bool {
    while let Some(read) = source.next_counted().transpose() {
        let failed = read.is_err();
        if send.send(read).is_err() || failed {
            return false;
        }
        used.try_iter().for_each(|buffer| source.recycle(buffer));
    }
    true
}

impl Chunks {
    /// The next chunk and how many raw bytes were read for it, which is what progress counts; `None` at the end.
    ///
    /// # Errors
    /// As [`Source::next_chunk`].
    pub fn next_chunk(&mut self) -> Result<Option<(Chunk, u64)>> {
        match &mut self.0 {
            Reading::Here(source) => source.next_counted(),
            Reading::Ahead { chunks, .. } => chunks.recv().ok().transpose(),
        }
    }

    /// Takes back the buffer of a chunk that is no longer needed.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        match &mut self.0 {
            Reading::Here(source) => source.recycle(buffer),
            // A thread that is done needs none.
            Reading::Ahead { spare, .. } => drop(spare.send(buffer)),
        }
    }

    /// Length and hash of the raw input, once [`Chunks::next_chunk`] gave `None`.
    ///
    /// # Errors
    /// `Io` when reading fails.
    pub fn finish(self) -> Result<Digest> {
        match self.0 {
            Reading::Here(source) => source.finish(),
            Reading::Ahead { chunks, thread, .. } => {
                drop(chunks);
                thread.join().map_err(|_| Error::new(ErrorKind::Bug, "the thread that reads died"))?
            }
        }
    }
}
