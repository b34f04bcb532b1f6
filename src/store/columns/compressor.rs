//! Makes pages of what they contain. There is one for all columns of a file: its tables and buffers are a few
//! hundred kilobytes, which stay in the processor's cache when they are not those of one column among thirty.
//! Not for what is in a page (see `pages`).

use std::mem::take;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter as _};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use zstd::zstd_safe::CParameter;

use super::blocks::Blocks;

/// Compresses page after page.
pub(crate) struct Compressor {
    compression: Compression,
    zstd: zstd::bulk::Compressor<'static>,
    /// What it looks for.
    matches: Matches,
    /// The page in the making, and what it is compressed to; kept, so that their memory is.
    content: Vec<u8>,
    packed: Vec<u8>,
}

/// How long the bytes must be that a page refers back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Matches {
    /// As the level of compression has it for pages of that size: five or six bytes.
    AsUsual,
    /// Seven bytes. That two or three times, or values, follow one another as they did before is chance in
    /// most cases: such references take the time to be found and hardly fewer bytes than what they stand for.
    /// (Keys of names and numbers of instances do recur in pairs; all measured in `benches/NOTES.md`.)
    Long,
}

impl Compressor {
    /// With the settings of a file.
    pub fn new(compression: Compression) -> Result<Self> {
        let level = match compression {
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("pages compressed with {other}"))),
        };
        let zstd = zstd::bulk::Compressor::new(level)?;
        Ok(Self { compression, zstd, matches: Matches::AsUsual, content: Vec::new(), packed: Vec::new() })
    }

    /// What the footer says of it.
    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// From now on.
    fn look_for(&mut self, matches: Matches) -> Result<()> {
        if matches != self.matches {
            // 0: as the level has it. The long ones of a whole page have room in a table of 2^14 places.
            let (shortest, table) = match matches {
                Matches::AsUsual => (0, 0),
                Matches::Long => (7, 14),
            };
            self.zstd.set_parameter(CParameter::MinMatch(shortest))?;
            self.zstd.set_parameter(CParameter::HashLog(table))?;
            self.matches = matches;
        }
        Ok(())
    }

    /// Appends a page to `out`: `encode` appends what is in it to what it is given, and `page` tells which
    /// one it is.
    pub(super) fn page(
        &mut self,
        matches: Matches,
        out: &mut TrackedWrite<Blocks>,
        encode: impl FnOnce(&mut Vec<u8>),
        page: impl FnOnce(Bytes) -> Page,
    ) -> Result<PageWriteSpec> {
        self.look_for(matches)?;
        self.content.clear();
        encode(&mut self.content);
        let mut packed = take(&mut self.packed);
        packed.clear();
        packed.reserve(zstd::zstd_safe::compress_bound(self.content.len()));
        self.zstd.compress_to_buffer(&self.content, &mut packed)?;
        let packed = Bytes::from(packed);
        let page = CompressedPage::new(page(packed.clone()), self.content.len());
        let written = SerializedPageWriter::new(out).write_page(page)?;
        // Nobody else has it any more, so this is its memory and no copy.
        self.packed = packed.into();
        Ok(written)
    }
}
