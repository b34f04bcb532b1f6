//! Makes pages of what they contain. There is one for all columns of a file: its tables and buffers are a few hundred kilobytes,
//! which stay in the processor's cache when they are not those of one column among thirty. Not for what is in a page (see
//! `pages`).

use std::mem::take;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter as _};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

use super::blocks::Blocks;

/// Compresses page after page.
pub(crate) struct Compressor {
    compression: Compression,
    zstd: zstd::bulk::Compressor<'static>,
    /// The page in the making, and what it is compressed to; kept, so that their memory is.
    content: Vec<u8>,
    packed: Vec<u8>,
}

impl Compressor {
    /// With the settings of a file.
    pub fn new(compression: Compression) -> Result<Self> {
        let level = match compression {
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("pages compressed with {other}"))),
        };
        let zstd = zstd::bulk::Compressor::new(level)?;
        Ok(Self { compression, zstd, content: Vec::new(), packed: Vec::new() })
    }

    /// What the footer says of it.
    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// Appends a page to `out`: `encode` appends what is in it to what it is given, and `page` tells which one it is.
    pub(super) fn page(
        &mut self,
        out: &mut TrackedWrite<Blocks>,
        encode: impl FnOnce(&mut Vec<u8>),
        page: impl FnOnce(Bytes) -> Page,
    ) -> Result<PageWriteSpec> {
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
