//! Turns contents into pages. All columns of a file share one compressor: its tables and buffers of some
//! hundred kilobytes then stay in the processor's cache. Not for what is in a page (see `pages`).

use std::io::Write as _;
use std::mem::take;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use zstd::zstd_safe::CParameter;

use super::blocks::Blocks;
use super::crc::with_crc;
use crate::store::page_sums::PageSum;

pub(crate) struct Compressor {
    pub(super) compression: Compression,
    zstd: zstd::bulk::Compressor<'static>,
    /// Which repetitions it looks for.
    matches: Matches,
    /// Content of the current page, the same compressed, and the whole page; kept to reuse their memory.
    content: Vec<u8>,
    packed: Vec<u8>,
    page: Vec<u8>,
}

/// A page that was written.
pub(super) struct Written {
    /// Where it begins.
    pub offset: u64,
    pub sum: PageSum,
    /// Its size before compression, with the header.
    pub uncompressed: usize,
}

/// How long a repetition must be for a page to refer back to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Matches {
    /// The default of the level of compression for pages of that size: five or six bytes.
    LevelDefault,
    /// Seven bytes. That two or three times or values repeat in order is mostly chance: finding such
    /// references takes time and saves hardly any bytes. (Keys of names and numbers of instances do recur in
    /// pairs; all measured in `benches/NOTES.md`.)
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
        Ok(Self {
            compression,
            zstd,
            matches: Matches::LevelDefault,
            content: Vec::new(),
            packed: Vec::new(),
            page: Vec::new(),
        })
    }

    fn look_for(&mut self, matches: Matches) -> Result<()> {
        if matches != self.matches {
            // 0: the default of the level. 2^14 entries have room for the long ones of a whole page.
            let (shortest, table) = match matches {
                Matches::LevelDefault => (0, 0),
                Matches::Long => (7, 14),
            };
            self.zstd.set_parameter(CParameter::MinMatch(shortest))?;
            self.zstd.set_parameter(CParameter::HashLog(table))?;
            self.matches = matches;
        }
        Ok(())
    }

    /// Appends a page to `out`: `encode` appends the content to its argument, and `page` gives its kind.
    pub(super) fn page(
        &mut self,
        matches: Matches,
        out: &mut TrackedWrite<Blocks>,
        encode: impl FnOnce(&mut Vec<u8>),
        page: impl FnOnce(Bytes) -> Page,
    ) -> Result<Written> {
        self.look_for(matches)?;
        self.content.clear();
        encode(&mut self.content);
        let mut packed = take(&mut self.packed);
        packed.clear();
        packed.reserve(zstd::zstd_safe::compress_bound(self.content.len()));
        self.zstd.compress_to_buffer(&self.content, &mut packed)?;
        let packed = Bytes::from(packed);
        let page = CompressedPage::new(page(packed.clone()), self.content.len());
        let mut written = TrackedWrite::new(Vec::with_capacity(packed.len() + 64));
        SerializedPageWriter::new(&mut written).write_page(page)?;
        let written = written.into_inner()?;
        let header = written.strip_suffix(&*packed).unwrap_or_default();
        self.page.clear();
        with_crc(header, &packed, &mut self.page)?;
        let header = self.page.len();
        self.page.extend_from_slice(&packed);
        // This is the only owner by now, so that nothing is copied.
        self.packed = packed.into();
        let offset = out.bytes_written() as u64;
        out.write_all(&self.page)?;
        Ok(Written { offset, sum: PageSum::of(&self.page), uncompressed: header + self.content.len() })
    }
}
