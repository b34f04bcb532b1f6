//! The CRC of a page in its header, which the crate `parquet` reads but does not write (parquet.thrift, field
//! 4 of `PageHeader`: CRC-32 of the compressed content, without the header). Other engines check it. Not the
//! sum that btfdb checks, which covers the header as well (see `page_sums`).

use parquet::errors::{ParquetError, Result};

/// The first byte of a number of 32 bits whose field comes next: distance 1, type 5 of the compact protocol.
const NEXT_NUMBER: u8 = 0x15;
/// Distance 1 from the field before, in the upper half of a first byte.
const DISTANCE: u8 = 0x10;

/// Appends `header`, whose first three fields are numbers, with the CRC of the content as its fourth field.
pub(super) fn with_crc(header: &[u8], content: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let unknown = || ParquetError::General("the header of a page has other fields than expected".into());
    let mut at = 0;
    for _ in 0..3 {
        let (first, number) = header.get(at..).and_then(<[u8]>::split_first).ok_or_else(unknown)?;
        let length = number.iter().position(|byte| byte & 0x80 == 0).ok_or_else(unknown)? + 1;
        if *first != NEXT_NUMBER {
            return Err(unknown());
        }
        at += 1 + length;
    }
    let (numbers, rest) = header.split_at(at);
    // What comes next is the header of the kind of page, so that it is two fields away at least.
    let (next, rest) = rest.split_first().filter(|(next, _)| **next >= 2 * DISTANCE).ok_or_else(unknown)?;
    out.extend_from_slice(numbers);
    out.push(NEXT_NUMBER);
    number(crc32fast::hash(content).cast_signed(), out);
    out.push(next - DISTANCE);
    out.extend_from_slice(rest);
    Ok(())
}

/// A number of the compact protocol: zigzag, then seven bits at a time, the lowest first.
fn number(number: i32, out: &mut Vec<u8>) {
    let mut bits = ((number << 1) ^ (number >> 31)).cast_unsigned();
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_the_fourth_field() {
        // Type 0, sizes 300 and 5, then the header of a data page (field 5) or of a dictionary (field 7).
        for (kind, moved) in [(0x2c, 0x1c), (0x4c, 0x3c)] {
            let header = [0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x0a, kind, 0x15, 0x02, 0x00, 0x00];
            let mut out = Vec::new();
            with_crc(&header, b"123456789", &mut out).unwrap();
            // The check value of CRC-32 is cbf43926; as a signed number, -873187034.
            let zigzag = (873_187_034_u32 << 1) - 1;
            let crc: Vec<u8> =
                (0..5).map(|n| (zigzag >> (7 * n)) as u8 & 0x7f | if n < 4 { 0x80 } else { 0 }).collect();
            let expected = [&header[..7], &[0x15], &crc, &[moved], &header[8..]].concat();
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn other_headers_are_refused() {
        for header in [&[][..], &[0x15, 0x80], &[0x25, 0x00], &[0x15, 0, 0x15, 0, 0x15, 0, 0x1c]] {
            assert!(with_crc(header, b"", &mut Vec::new()).is_err(), "{header:?}");
        }
    }
}
