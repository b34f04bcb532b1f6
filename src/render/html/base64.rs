//! Bytes → base64 (RFC 4648 §4) as they come, in lines: how binary data lies in a page of text. Not for reading it back.

use std::io::{self, Write};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters of a line: an editor that opens the page shall not choke on one line of megabytes.
const LINE: usize = 1 << 10;

/// Writes what it is given as base64. Call [`Base64::finish`]: the last bytes wait for it.
pub(super) struct Base64<W: Write> {
    out: W,
    /// Bytes that make no group of three yet.
    rest: Vec<u8>,
    line: Vec<u8>,
}

impl<W: Write> Base64<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, rest: Vec::with_capacity(3), line: Vec::with_capacity(LINE + 1) }
    }

    /// Writes the last group, padded, and the last line.
    pub(super) fn finish(mut self) -> io::Result<W> {
        if let Some(&first) = self.rest.first() {
            let second = self.rest.get(1).copied();
            let digits = digits([first, second.unwrap_or(0), 0]);
            let third = if second.is_some() { digits[2] } else { b'=' };
            self.line.extend([digits[0], digits[1], third, b'=']);
        }
        self.out.write_all(&self.line)?;
        Ok(self.out)
    }

    fn group(&mut self, bytes: [u8; 3]) -> io::Result<()> {
        self.line.extend(digits(bytes));
        if self.line.len() >= LINE {
            self.line.push(b'\n');
            self.out.write_all(&self.line)?;
            self.line.clear();
        }
        Ok(())
    }
}

/// The four digits of three bytes.
fn digits([a, b, c]: [u8; 3]) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift & 63) as usize])
}

impl<W: Write> Write for Base64<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while let [first, others @ ..] = left {
            if self.rest.is_empty() && left.len() >= 3 {
                break;
            }
            left = others;
            self.rest.push(*first);
            if let [a, b, c] = self.rest[..] {
                self.rest.clear();
                self.group([a, b, c])?;
            }
        }
        let (groups, end) = left.as_chunks::<3>();
        for group in groups {
            self.group(*group)?;
        }
        self.rest.extend(end);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
