//! Bytes in: a file, a pipe or standard input, plain or compressed, as chunks cut at line ends. Text in
//! UTF-16, or in an encoding that the user names, becomes UTF-8 here. Knows no trace format, and holds a
//! fixed number of pieces, whatever the length of the input.

mod buffer;
mod direct;
mod file;
mod pieces;
mod pipe;
mod raw;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::encoding::{Encoding, Transcoder, has_carriage_returns_alone};
use crate::error::{Error, ErrorKind, Result};
pub use buffer::Buffer;
use direct::Direct;
use file::{CHANGED, WholeFile};
pub use pieces::{Piece, Used};
use pipe::Pipe;
use raw::{Decoder, Raw};

/// An input is read in pieces of this size, in bytes. A chunk ends with the last line that ends in a piece.
pub const CHUNK_BYTES: usize = 2 * 1024 * 1024;

/// Longest line that stays whole, in bytes. A longer one may be cut at the end of a piece; readers of lines
/// refuse every line or part of a line that is at least this long.
pub const MAX_LINE: usize = 1024 * 1024;

/// How many bytes of the start [`Source::head`] returns.
pub const HEAD_BYTES: usize = 64 * 1024;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// A part of the decompressed input. The chunks of a source, in their order, are its exact content. The cuts
/// between them depend on this content only.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk {
    /// 0 for the first chunk, rising by one.
    pub index: u64,
    /// Offset of the first byte in the decompressed input.
    pub offset: u64,
    /// Whole lines with their line ends. The last chunk may end without one, and so may a chunk that ends
    /// inside a line of which it has more than [`MAX_LINE`] bytes.
    pub bytes: Buffer,
    /// True for the chunk that ends the input; an empty input has no chunk at all.
    pub last: bool,
}

impl Chunk {
    /// Of bytes that come from no source; at most [`CHUNK_BYTES`] of them.
    ///
    /// # Errors
    /// More bytes; no memory.
    pub fn of(bytes: &[u8], offset: u64, last: bool) -> io::Result<Self> {
        Ok(Self { index: u64::from(offset > 0), offset, bytes: Buffer::of(bytes)?, last })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Length of the raw input (as stored, maybe compressed), in bytes.
    pub bytes: u64,
    /// BLAKE3 of the raw input: `blake3:` and 64 lower-case hexadecimal digits. `None` after
    /// [`Source::skip_digest`].
    pub digest: Option<String>,
    /// Units of the text that are no characters of its encoding; each became U+FFFD.
    pub replaced: u64,
}

/// An open input. Reading is sequential and needs no seeking, so that pipes work like files.
pub struct Source {
    path: PathBuf,
    decoder: Decoder,
    /// A file of plain bytes, until its second piece is read.
    file: Option<WholeFile>,
    /// Reads the pieces that are not in the page cache.
    direct: Option<Direct>,
    length: Option<u64>,
    /// The file, to look at when it was read.
    whole: Option<WholeFile>,
    /// The encoding that the user names.
    stated: Option<Encoding>,
    /// Whether the encoding was looked for.
    is_recognised: bool,
    /// Turns what is read into UTF-8; `None` if it is UTF-8, or no text.
    transcoder: Option<Transcoder>,
    /// Decompressed bytes that were not returned yet; `None` if nothing was read.
    buffer: Option<Buffer>,
    at_end: bool,
    spare: Vec<Buffer>,
    index: u64,
    offset: u64,
    /// The most bytes that compressed data may have.
    max_unpacked: u64,
}

impl Source {
    /// Opens a file, a named pipe, or with `-` standard input. gzip and zstd are recognised by their first
    /// bytes, whatever the name says. A file is read as far as it goes now.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Input`] for a missing file or a folder, `Io` if the system refuses.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_until(path, &Arc::default())
    }

    /// The same; waiting for a pipe ends soon after `stop` becomes true.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Interrupted`] then, here or when it is read.
    pub fn open_until(path: &Path, stop: &Arc<AtomicBool>) -> Result<Self> {
        let failed = |error| Error::io("open", path, error);
        if path.as_os_str() == STDIN {
            let stdin = Pipe::start(Arc::clone(stop), || Ok(io::stdin())).map_err(failed)?;
            return Self::from_reader(Box::new(stdin), path, None);
        }
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::input("no such file").at(path).because(error).hint(
                    "check the path; a path inside recording.toml counts from the folder of that file",
                ));
            }
            Err(error) => return Err(failed(error)),
        };
        if metadata.is_dir() {
            return Err(Error::input("is a folder, not a file")
                .at(path)
                .hint("name a file inside it, or give the folder itself to 'btfdb ingest' as a recording"));
        }
        if !metadata.is_file() {
            let named = path.to_path_buf();
            let pipe = Pipe::start(Arc::clone(stop), move || File::open(named)).map_err(failed)?;
            return Self::from_reader(Box::new(pipe), path, None);
        }
        let file = WholeFile::open(path).map_err(failed)?;
        let mut source = Self::from_reader(Box::new(file.clone()), path, Some(file.length()))?;
        if source.decoder.compression().is_none() {
            source.file = Some(file.clone());
        }
        source.whole = Some(file);
        Ok(source)
    }

    /// The same over any reader; `path` is for messages, `length` for [`Source::progress`].
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_reader(reader: Box<dyn Read + Send>, path: &Path, length: Option<u64>) -> Result<Self> {
        let mut raw = Raw::new(reader);
        if let Some((name, program)) = raw.foreign().map_err(|error| unreadable(path, error))? {
            let file = path.display();
            return Err(Error::input(format!("is packed with {name}, which btfdb does not unpack"))
                .at(path)
                .hint(format!("unpack it first, or pipe it: {program} {file} | btfdb ingest DB -")));
        }
        let decoder = Decoder::detect(raw).map_err(|error| unreadable(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            decoder,
            file: None,
            direct: None,
            length,
            whole: None,
            stated: None,
            is_recognised: false,
            transcoder: None,
            buffer: None,
            at_end: false,
            spare: Vec::new(),
            index: 0,
            offset: 0,
            max_unpacked: u64::MAX,
        })
    }

    /// The input is text in this encoding. To be called before anything is read.
    pub fn decode_from(&mut self, encoding: Option<Encoding>) {
        self.stated = encoding;
    }

    /// Reading fails behind so many bytes of compressed data, which unpack to any size.
    pub fn unpack_at_most(&mut self, bytes: u64) {
        self.max_unpacked = bytes;
    }

    /// How its text became UTF-8, for people; `None` if it is UTF-8, or no text. Known after the first read.
    pub fn transcoded(&self) -> Option<String> {
        let transcoder = self.transcoder.as_ref()?;
        let encoding = transcoder.encoding().map(|encoding| format!("encoded in {}", encoding.as_str()));
        let ends = transcoder.carriage_returns.then(|| "in lines that end with CR".to_owned());
        Some([encoding, ends].into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// Up to [`HEAD_BYTES`] of the decompressed bytes that come next, without consuming them; fewer only at
    /// the end of the input.
    ///
    /// # Errors
    /// `Io` when reading fails, `Input` when compressed data are damaged.
    pub fn head(&mut self) -> Result<&[u8]> {
        self.fill(HEAD_BYTES)?;
        let content = self.buffer.as_deref().unwrap_or_default();
        Ok(content.get(..content.len().min(HEAD_BYTES)).unwrap_or_default())
    }

    /// The next chunk, `None` at the end.
    ///
    /// # Errors
    /// `Io` when reading fails, `Input` when compressed data are damaged, `Limit` when they are more than
    /// [`Source::unpack_at_most`] permits.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        self.fill(CHUNK_BYTES)?;
        let Some(mut bytes) = self.buffer.take().filter(|content| !content.is_empty()) else {
            return Ok(None);
        };
        // After the first piece the whole file will be read, so from here on direct reads pay.
        if let Some(file) = self.file.take() {
            self.direct = Direct::open(&file, self.decoder.raw().bytes());
        }
        // Only the next piece shows whether this chunk is the last.
        let mut next = self.begin()?;
        let last = next.is_empty();
        let length = if last { bytes.len() } else { cut(&bytes) };
        next.prepend(bytes.get(length..).unwrap_or_default());
        self.buffer = Some(next);
        bytes.truncate(length);
        let chunk = Chunk { index: self.index, offset: self.offset, bytes, last };
        self.index += 1;
        self.offset += length as u64;
        if self.offset > self.max_unpacked && self.decoder.compression().is_some() {
            let most = self.max_unpacked;
            return Err(Error::new(ErrorKind::Limit, format!("unpacks to more than {most} bytes"))
                .at(&self.path)
                .hint("if that is what it holds, permit more with --max-unpacked"));
        }
        Ok(Some(chunk))
    }

    /// Takes back the buffer of a chunk that is no longer needed, to avoid an allocation.
    pub fn recycle(&mut self, mut buffer: Buffer) {
        // Eight are enough for the chunks in flight.
        if self.spare.len() < 8 && buffer.is_huge {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Raw bytes read so far, and the raw length if the system knows it (not for pipes).
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.decoder.raw().bytes(), self.length)
    }

    /// Makes no digest of this input.
    pub fn skip_digest(&mut self) {
        self.decoder.raw_mut().skip_digest();
    }

    /// Reads the rest without looking at it and returns length and digest of the raw input.
    ///
    /// # Errors
    /// `Io` when reading fails; `Input` when the content of the file was changed meanwhile.
    pub fn finish(self) -> Result<Provenance> {
        let Self { path, decoder, direct, transcoder, whole, .. } = self;
        let replaced = transcoder.map_or(0, |transcoder| transcoder.replaced);
        let left = direct.map_or(Ok(()), Direct::leave);
        let finished = left.and_then(|()| decoder.into_raw().finish());
        let (bytes, digest) = finished.map_err(|error| unreadable(&path, error))?;
        if let Some(file) = whole {
            check_unchanged(&file, digest.as_deref()).map_err(|error| unreadable(&path, error))?;
        }
        Ok(Provenance { bytes, digest, replaced })
    }

    /// Reads until `wanted` bytes of a piece are in the buffer or the input ends.
    fn fill(&mut self, wanted: usize) -> Result<()> {
        let mut buffer = match self.buffer.take() {
            Some(buffer) => buffer,
            None => self.begin()?,
        };
        self.read(&mut buffer, wanted)?;
        if !std::mem::replace(&mut self.is_recognised, true) {
            self.recognise(&mut buffer, wanted)?;
        }
        self.buffer = Some(buffer);
        Ok(())
    }

    /// Finds out how the text is encoded, from its first bytes, which it decodes.
    fn recognise(&mut self, buffer: &mut Buffer, wanted: usize) -> Result<()> {
        let encoding = self.stated.or_else(|| Encoding::detect(buffer));
        if let Some(encoding) = encoding.filter(|encoding| *encoding != Encoding::Utf8) {
            let mut transcoder = Transcoder::new(Some(encoding));
            transcoder.feed(buffer);
            buffer.clear();
            (self.transcoder, self.at_end) = (Some(transcoder), false);
            self.read(buffer, wanted)?;
        }
        let head = buffer.get(..buffer.len().min(HEAD_BYTES)).unwrap_or_default();
        if has_carriage_returns_alone(head) {
            let transcoder = self.transcoder.get_or_insert_with(|| Transcoder::new(None));
            transcoder.end_lines(buffer.content_mut());
        }
        if self.transcoder.is_some() {
            // Its bytes are not those of the file.
            self.file = None;
        }
        Ok(())
    }

    /// The next piece, or at least a byte of it; nothing at the end.
    fn begin(&mut self) -> Result<Buffer> {
        // Many files may be open of which only the first bytes are needed, so the first buffer is small.
        let is_first = self.decoder.raw().bytes() == 0;
        let made = match self.spare.pop() {
            Some(buffer) => Ok(buffer),
            None if is_first => Buffer::new(),
            None => Buffer::huge(),
        };
        let mut buffer = made.map_err(|error| Error::io("get memory for", &self.path, error))?;
        if let Some(mut direct) = self.direct.take() {
            match direct.next(buffer) {
                Ok(piece) => {
                    self.decoder.raw_mut().account_for(&piece);
                    self.direct = Some(direct);
                    return Ok(piece);
                }
                Err(spare) => buffer = spare,
            }
            direct.leave().map_err(|error| Error::io("read", &self.path, error))?;
        }
        self.read(&mut buffer, 1)?;
        Ok(buffer)
    }

    /// Reads until `wanted` bytes of a piece are in a buffer or the input ends.
    fn read(&mut self, buffer: &mut Buffer, wanted: usize) -> Result<()> {
        while !self.at_end && buffer.filled() < wanted {
            let room = buffer.room(wanted);
            let read = match &mut self.transcoder {
                None => self.decoder.read(room),
                Some(transcoder) => transcoder.read(&mut self.decoder, room),
            };
            match read {
                Ok(0) => self.at_end = true,
                Ok(count) => buffer.add(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.reading_failed(error)),
            }
        }
        Ok(())
    }

    /// The error of a failed read: a refusal of the system, or damage inside a compressed file.
    fn reading_failed(&self, error: io::Error) -> Error {
        match self.decoder.compression() {
            Some(name) if error.raw_os_error().is_none() && !is_ours(&error) => Error::input(format!(
                "the {name} data are damaged, end too early, or are followed by something else"
            ))
            .at(&self.path)
            .because(error)
            .hint(format!("test the file with '{name} -t', and copy it again")),
            _ => unreadable(&self.path, error),
        }
    }
}

/// Fails if a file that was read is not what it was at its begin. Lines behind its end do not count, if the
/// digest of what was read says that nothing else is new.
fn check_unchanged(file: &WholeFile, digest: Option<&str>) -> io::Result<()> {
    if !file.is_changed()? {
        return Ok(());
    }
    let again = digest.map(|_| Raw::new(Box::new(file.again()?)).finish()).transpose()?;
    match again {
        Some((_, again)) if again.as_deref() == digest => Ok(()),
        _ => Err(io::Error::other(Error::input(CHANGED))),
    }
}

/// Standard input; waiting for it ends soon after `stop` becomes true.
///
/// # Errors
/// When there is no thread for it.
pub fn stdin(stop: &Arc<AtomicBool>) -> Result<impl Read + use<>> {
    Pipe::start(Arc::clone(stop), || Ok(io::stdin())).map_err(|e| Error::io("read", STDIN, e))
}

/// A failed read, or one that was stopped.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(ours) if ours.kind() == ErrorKind::Interrupted => Error::interrupted(),
        Some(ours) => Error::input(ours.to_string()).at(path).hint("ingest it again when it is complete"),
        None => Error::io("read", path, error),
    }
}

fn is_ours(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Error>())
}

/// The length of a chunk that is not the last one: up to its last line end, or all of it if the line after
/// that is too long to be carried over.
fn cut(chunk: &[u8]) -> usize {
    let lines = memchr::memrchr(b'\n', chunk).map_or(0, |at| at + 1);
    if chunk.len() - lines > MAX_LINE { chunk.len() } else { lines }
}
