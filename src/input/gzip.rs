//! Members of a gzip file one after another, and zeros behind them: `tar`, tapes and `dd` fill the last block
//! up, and gzip itself takes no offence (gzip(1), "trailing zeros"). Not deflate, which is the library's.

use super::raw::Raw;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

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
