//! The innermost layer of an input: raw bytes are counted and hashed as they are read, and the decompressor
//! sits on top. Not for lines or chunks, which are [`super::Source`]'s.
//!
//! The digest is made here and nowhere else. It covers the bytes as they are stored, so it is the same for
//! plain and compressed inputs, and readers of formats never see it. Reading and hashing are one stage of the
//! pipeline: what was just read is still in the processor's cache.

use blake3::Hasher;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// First bytes of a gzip member (RFC 1952, 2.3.1: ID1, ID2 and the only method, deflate).
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];
/// Bytes that begin a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// First bytes of a skippable zstd frame after the first one, whose low nibble is its kind (RFC 8878, 3.1.2).
/// Parallel compressors begin with such a frame.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// First bytes of what btfdb does not unpack: the name, and a program that writes the content to a pipe.
const FOREIGN: [(&[u8], &str, &str); 8] = [
    (&[0xfd, b'7', b'z', b'X'], "xz", "xz -dc"),
    (&[b'P', b'K', 3, 4], "zip", "unzip -p"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (&[b'7', b'z', 0xbc, 0xaf], "7-Zip", "7z x -so"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4", "lz4 -dc"),
    (&[0x1f, 0x9d], "compress", "gzip -dc"),
    (b"Rar!", "RAR", "unrar p -inul"),
    (b"LZIP", "lzip", "lzip -dc"),
];

/// Raw bytes are read in pieces that stay in the core's cache between reading and hashing.
const READ_BYTES: usize = 256 * 1024;

/// Names the kind of hash in a digest.
const DIGEST_PREFIX: &str = "blake3:";

/// A reader that counts and hashes what it returns.
pub(super) struct Raw {
    inner: Box<dyn Read + Send>,
    /// Bytes taken from `inner` to recognise the compression, not yet returned.
    peeked: Vec<u8>,
    /// `None` when no digest is wanted.
    hasher: Option<Box<Hasher>>,
    bytes: u64,
}

impl Raw {
    pub(super) fn new(inner: Box<dyn Read + Send>) -> Self {
        Self { inner, peeked: Vec::new(), hasher: Some(Box::default()), bytes: 0 }
    }

    /// Raw bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn skip_digest(&mut self) {
        self.hasher = None;
    }

    /// The first bytes, without consuming them; fewer than four only at the end of the input.
    fn peek_magic(&mut self) -> io::Result<&[u8]> {
        let missing = ZSTD_MAGIC.len().saturating_sub(self.peeked.len());
        (&mut self.inner).take(missing as u64).read_to_end(&mut self.peeked)?;
        Ok(&self.peeked)
    }

    /// The name of an archive or a compression that btfdb does not unpack, and a program that does.
    pub(super) fn foreign(&mut self) -> io::Result<Option<(&'static str, &'static str)>> {
        let magic = self.peek_magic()?;
        let found = FOREIGN.iter().find(|(first, ..)| magic.starts_with(first));
        Ok(found.map(|(_, name, program)| (*name, *program)))
    }

    /// Counts and hashes the next bytes of the input.
    pub(super) fn account_for(&mut self, bytes: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        self.bytes += bytes.len() as u64;
    }

    /// Reads what is left and returns the number of all bytes and their digest, if one is wanted.
    pub(super) fn finish(mut self) -> io::Result<(u64, Option<String>)> {
        let mut rest = vec![0; READ_BYTES];
        loop {
            match self.read(&mut rest) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok((self.bytes, self.hasher.map(|hasher| format!("{DIGEST_PREFIX}{}", hasher.finalize()))))
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(READ_BYTES);
        let buffer = buffer.get_mut(..wanted).unwrap_or_default();
        let count = if self.peeked.is_empty() {
            self.inner.read(buffer)?
        } else {
            let count = self.peeked.as_slice().read(buffer)?;
            self.peeked.drain(..count);
            count
        };
        self.account_for(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Members of a gzip file one after another, and zeros behind them: `tar`, tapes and `dd` fill the last block
/// up, and gzip itself takes no offence (gzip(1), "trailing zeros").
pub(super) struct Gzip {
    member: GzDecoder<BufReader<Raw>>,
    /// The member has ended.
    is_between: bool,
}

impl Gzip {
    pub fn new(raw: BufReader<Raw>) -> Self {
        Self { member: GzDecoder::new(raw), is_between: false }
    }

    pub fn raw(&self) -> &Raw {
        self.member.get_ref().get_ref()
    }

    pub fn raw_mut(&mut self) -> &mut Raw {
        self.member.get_mut().get_mut()
    }

    pub fn into_raw(self) -> Raw {
        self.member.into_inner().into_inner()
    }

    /// Skips zeros. Returns whether another member follows.
    fn skip_zeros(&mut self) -> io::Result<bool> {
        let raw = self.member.get_mut();
        loop {
            let bytes = raw.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                return Ok(!bytes.is_empty());
            }
            raw.consume(zeros);
        }
    }
}

impl Read for Gzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_between {
                let count = self.member.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.is_between = true;
            }
            if !self.skip_zeros()? {
                return Ok(0);
            }
            // The decoder takes the next member from the same reader, which it has to give back for that.
            let nothing = BufReader::with_capacity(0, Raw::new(Box::new(io::empty())));
            let raw = self.member.reset(nothing);
            self.member.reset(raw);
            self.is_between = false;
        }
    }
}

/// The decompressed view of a [`Raw`].
pub(super) enum Decoder {
    /// Not compressed.
    Plain(Raw),
    /// One or more gzip members.
    Gzip(Box<Gzip>),
    /// One or more zstd frames.
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Raw>>>),
}

impl Decoder {
    /// Looks at the first bytes, never at a name, to choose the decompressor.
    pub(super) fn detect(mut raw: Raw) -> io::Result<Self> {
        let magic = raw.peek_magic()?;
        if magic.starts_with(&GZIP_MAGIC) {
            let buffered = BufReader::with_capacity(READ_BYTES, raw);
            Ok(Self::Gzip(Box::new(Gzip::new(buffered))))
        } else if magic.starts_with(&ZSTD_MAGIC) || is_skippable_frame(magic) {
            let buffered = BufReader::with_capacity(READ_BYTES, raw);
            Ok(Self::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?)))
        } else {
            Ok(Self::Plain(raw))
        }
    }

    /// The name of the compression, for messages; `None` for plain bytes.
    pub(super) fn compression(&self) -> Option<&'static str> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some("gzip"),
            Self::Zstd(_) => Some("zstd"),
        }
    }

    /// The reader of the raw bytes.
    pub(super) fn raw(&self) -> &Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.raw(),
            Self::Zstd(decoder) => decoder.get_ref().get_ref(),
        }
    }

    /// The same, to be changed.
    pub(super) fn raw_mut(&mut self) -> &mut Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.raw_mut(),
            Self::Zstd(decoder) => decoder.get_mut().get_mut(),
        }
    }

    /// Gives the reader of the raw bytes back.
    pub(super) fn into_raw(self) -> Raw {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.into_raw(),
            Self::Zstd(decoder) => decoder.finish().into_inner(),
        }
    }
}

fn is_skippable_frame(magic: &[u8]) -> bool {
    matches!(magic, [first, rest @ ..] if first >> 4 == 5 && rest.starts_with(&ZSTD_SKIPPABLE))
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}
