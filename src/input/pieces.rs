//! The chunks of a [`Source`] as an iterator, so that a pipeline can prefetch them; used buffers come back.
//! Neither the reading itself, nor the threads.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::{Buffer, Chunk, Provenance, Source};
use crate::error::Result;

/// A piece of an input.
#[derive(Debug)]
pub enum Piece {
    /// The next chunk.
    Chunk {
        /// Its text.
        chunk: Chunk,
        /// Raw bytes that were read for it, which progress counts.
        raw: u64,
    },
    /// There are no more chunks.
    End(Provenance),
}

/// The chunks of an input, then its end or the error of a read.
pub struct Pieces {
    source: Option<Source>,
    used: Receiver<Buffer>,
}

/// Takes back buffers that are no longer needed.
pub struct Used(Sender<Buffer>);

impl Source {
    /// The input from here on.
    pub fn pieces(self) -> (Pieces, Used) {
        let (send, used) = channel();
        (Pieces { source: Some(self), used }, Used(send))
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut source = self.source.take()?;
        self.used.try_iter().for_each(|buffer| source.recycle(buffer));
        let before = source.progress().0;
        match source.next_chunk() {
            Ok(Some(chunk)) => {
                let raw = source.progress().0.saturating_sub(before);
                self.source = Some(source);
                Some(Ok(Piece::Chunk { chunk, raw }))
            }
            Ok(None) => Some(source.finish().map(Piece::End)),
            Err(error) => Some(Err(error)),
        }
    }
}

impl Used {
    /// Gives back the buffer of a chunk.
    pub fn give(&self, buffer: Buffer) {
        // After the end of the input no buffer is needed.
        drop(self.0.send(buffer));
    }
}
