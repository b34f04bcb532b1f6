//! The bytes of texts as UTF-8: UTF-16, encodings of one byte per character, and bytes of an unknown one. Not
//! what a text means, nor how inputs are read (see `input`).

use crate::error::{Error, Result};
use crate::words::words;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

words! {
    /// How the characters of an input are written. The words are those of `--encoding`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Encoding {
        /// UTF-8, of which ASCII is a part.
        Utf8 = "utf-8",
        /// UTF-16, the low byte of a unit first: what Windows PowerShell 5 writes with `>`.
        Utf16Le = "utf-16le",
        /// UTF-16, the high byte first.
        Utf16Be = "utf-16be",
        /// The code page of Windows for western Europe.
        Windows1252 = "windows-1252",
        /// ISO 8859-1.
        Latin1 = "latin-1",
    }
}

/// So many units without a byte order mark must be ASCII to be taken for UTF-16; all of a shorter text.
const OBVIOUS_UNITS: usize = 16;

/// The characters of Windows-1252 from 0x80 to 0x9f. The five that it does not define stay what they are in
/// ISO 8859-1, so that no two bytes become one character.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// UTF-16 by its byte order mark, or because every other byte of a text is 0. `None`: anything else.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, rest @ ..] if !rest.starts_with(&[0, 0]) => return Some(Self::Utf16Le),
            [0xfe, 0xff, ..] => return Some(Self::Utf16Be),
            _ => {}
        }
        let units = head.as_chunks::<2>().0.get(..OBVIOUS_UNITS.min(head.len() / 2)).unwrap_or_default();
        let is_text = |byte: u8| matches!(byte, b'\t' | b'\r' | b'\n' | b' '..=b'~');
        let all = |text: usize, zero: usize| {
            let is = |unit: &[u8; 2]| {
                unit.get(text).is_some_and(|byte| is_text(*byte)) && unit.get(zero) == Some(&0)
            };
            units.len() > 3 && units.iter().all(is)
        };
        match (all(0, 1), all(1, 0)) {
            (true, _) => Some(Self::Utf16Le),
            (_, true) => Some(Self::Utf16Be),
            _ => None,
        }
    }

    /// Appends whole characters; returns the bytes that are left, of a character that is not complete.
    fn decode<'b>(self, bytes: &'b [u8], out: &mut Vec<u8>, replaced: &mut u64) -> &'b [u8] {
        let mut push = |c: char| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        match self {
            Self::Utf8 => out.extend_from_slice(bytes),
            Self::Latin1 => bytes.iter().for_each(|byte| push(char::from(*byte))),
            Self::Windows1252 => bytes.iter().for_each(|byte| {
                let special = byte.checked_sub(0x80).and_then(|n| WINDOWS_1252.get(usize::from(n)));
                push(special.copied().unwrap_or(char::from(*byte)));
            }),
            Self::Utf16Le | Self::Utf16Be => {
                let unit = |pair: &[u8; 2]| match self {
                    Self::Utf16Le => u16::from_le_bytes(*pair),
                    _ => u16::from_be_bytes(*pair),
                };
                let (mut pairs, mut rest) = bytes.as_chunks::<2>();
                // The first half of a character waits for the second one.
                if pairs.last().is_some_and(|pair| (0xd800..0xdc00).contains(&unit(pair))) {
                    let whole = (pairs.len() - 1) * 2;
                    rest = bytes.get(whole..).unwrap_or_default();
                    pairs = bytes.get(..whole).unwrap_or_default().as_chunks::<2>().0;
                }
                for c in char::decode_utf16(pairs.iter().map(unit)) {
                    *replaced += u64::from(c.is_err());
                    push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                return rest;
            }
        }
        &[]
    }
}

/// Turns the bytes of an input into UTF-8 as they are read.
#[derive(Debug)]
pub struct Transcoder {
    /// `None`: bytes stay as they are.
    encoding: Option<Encoding>,
    /// A carriage return ends a line, also without a line feed.
    pub carriage_returns: bool,
    /// The last byte was one, and a line feed that follows belongs to it.
    after_return: bool,
    /// Bytes of a character that is not complete.
    carried: Vec<u8>,
    /// UTF-8 that was not returned, from `at` on.
    decoded: Vec<u8>,
    at: usize,
    /// Units that are no characters; each became U+FFFD.
    pub replaced: u64,
}

impl Transcoder {
    /// How many bytes are read at a time.
    const PIECE: usize = 64 * 1024;

    pub fn new(encoding: Option<Encoding>) -> Self {
        let (carried, decoded) = (Vec::new(), Vec::new());
        Self { encoding, carriage_returns: false, after_return: false, carried, decoded, at: 0, replaced: 0 }
    }

    /// What it decodes.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// From `head` on, which was read before, a carriage return ends a line.
    pub fn end_lines(&mut self, head: &mut [u8]) {
        self.carriage_returns = true;
        self.after_return = end_lines(head);
        self.end_lines_from(self.at);
    }

    /// Ends the lines of what was decoded, from a place on.
    fn end_lines_from(&mut self, begin: usize) {
        if self.after_return && self.decoded.get(begin) == Some(&b'\n') {
            self.decoded.remove(begin);
        }
        let new = self.decoded.get_mut(begin..).unwrap_or_default();
        if !new.is_empty() {
            self.after_return = end_lines(new);
        }
    }

    /// Adds bytes that were read before.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.decoded.drain(..self.at);
        self.at = 0;
        let begin = self.decoded.len();
        match self.encoding {
            None => self.decoded.extend_from_slice(bytes),
            Some(encoding) => {
                self.carried.extend_from_slice(bytes);
                let all = std::mem::take(&mut self.carried);
                let rest = encoding.decode(&all, &mut self.decoded, &mut self.replaced);
                self.carried = rest.to_vec();
            }
        }
        if self.carriage_returns {
            self.end_lines_from(begin);
        }
    }

    /// Reads from `source`, and returns how many bytes of UTF-8 are in `room`; 0 at the end.
    pub fn read(&mut self, source: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.decoded.len() && !room.is_empty() {
            let mut piece = vec![0; Self::PIECE];
            let count = source.read(&mut piece)?;
            if count == 0 {
                if std::mem::take(&mut self.carried).is_empty() {
                    return Ok(0);
                }
                self.replaced += 1;
                let mut mark = [0; 4];
                self.decoded = char::REPLACEMENT_CHARACTER.encode_utf8(&mut mark).as_bytes().to_vec();
                self.at = 0;
                break;
            }
            self.feed(piece.get(..count).unwrap_or_default());
        }
        let mut left = self.decoded.get(self.at..).unwrap_or_default();
        let count = left.read(room)?;
        self.at += count;
        Ok(count)
    }
}

/// Makes line feeds of carriage returns that no line feed follows. True if the last byte was one: what
/// follows is not known.
fn end_lines(text: &mut [u8]) -> bool {
    for at in 0..text.len() {
        if text.get(at) == Some(&b'\r') && text.get(at + 1) != Some(&b'\n') {
            text.get_mut(at).into_iter().for_each(|byte| *byte = b'\n');
            if at + 1 == text.len() {
                return true;
            }
        }
    }
    false
}

/// True for the beginning of a text whose lines end with carriage returns only, as on old Macintoshes: all of
/// them, or some, where texts were put together.
pub fn has_carriage_returns_alone(head: &[u8]) -> bool {
    let is_alone = |at: usize| head.get(at + 1).is_none_or(|next| !matches!(next, b'\n' | b'\r'));
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\r' | b'\n' | b'\t');
    let last = head.len().saturating_sub(1);
    memchr::memchr_iter(b'\r', head).any(|at| at < last && is_alone(at)) && !head.iter().any(is_control)
}

/// A text in UTF-8, or UTF-16 if that is obvious. Bytes of other encodings are escaped, see [`escaped`].
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match Encoding::detect(bytes) {
        Some(encoding) => {
            let mut text = Transcoder::new(Some(encoding));
            text.feed(bytes);
            let text = String::from_utf8_lossy(&text.decoded).into_owned();
            Cow::Owned(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
        }
        None => escaped(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    }
}

/// The same, where the encoding of a text that is neither was told.
pub fn decoded_from(bytes: &[u8], stated: Option<Encoding>) -> Cow<'_, str> {
    let stated = stated.filter(|_| Encoding::detect(bytes).is_none() && std::str::from_utf8(bytes).is_err());
    let Some(encoding) = stated else { return decoded(bytes) };
    let mut text = Transcoder::new(Some(encoding));
    text.feed(bytes);
    Cow::Owned(String::from_utf8_lossy(&text.decoded).into_owned())
}

/// The length of an escape as in [`escaped`] at the begin of a text; 0 if there is none.
pub fn escape(text: &[u8]) -> usize {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match text {
        [b'\\', b'x', b'8' | b'9' | b'a'..=b'f', last, ..] if is_digit(last) => 4,
        _ => 0,
    }
}

/// The finding about such bytes.
pub const NOT_UTF8: &str = "bytes that are no UTF-8 are written as \\x and two digits (--encoding windows-1252 or latin-1 reads them)";

/// True for a text in which bytes were escaped, or replaced by a program before.
pub fn shows_other_bytes(text: &str) -> bool {
    let is_escape = |(at, _): (usize, &str)| escape(text.as_bytes().get(at..).unwrap_or_default()) > 0;
    text.contains(char::REPLACEMENT_CHARACTER) || text.match_indices("\\x").any(is_escape)
}

/// A text whose bytes that are not UTF-8 are read as characters of Latin-1: for a language in which the
/// escapes of [`escaped`] mean something else.
pub fn latin1(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(2 * bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
    }
    Cow::Owned(out)
}

/// Reads a file that people write, in UTF-8 or UTF-16.
///
/// # Errors
/// [`crate::error::ErrorKind::Io`] when it cannot be read, `Input` for another encoding.
pub fn read_text(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    if Encoding::detect(&bytes).is_none() && std::str::from_utf8(&bytes).is_err() {
        return Err(Error::input("neither UTF-8 nor UTF-16 text")
            .at(file)
            .hint("save it as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8"));
    }
    Ok(decoded(&bytes).into_owned())
}

/// A text whose bytes that are not UTF-8 are written as `\xd6`: other than with a mark for "something", texts
/// that differ stay different.
pub fn escaped(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut out = String::with_capacity(bytes.len() + 8);
            for chunk in bytes.utf8_chunks() {
                out.push_str(chunk.valid());
                chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
            }
            Cow::Owned(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    /// Decodes in pieces of this size.
    fn read(encoding: Option<Encoding>, bytes: &[u8], size: usize) -> (Vec<u8>, u64) {
        struct Pieces<'b>(&'b [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                let most = self.1.min(room.len());
                self.0.read(&mut room[..most])
            }
        }
        let (mut text, mut source, mut out) = (Transcoder::new(encoding), Pieces(bytes, size), Vec::new());
        let mut room = vec![0; size];
        loop {
            match text.read(&mut source, &mut room).unwrap() {
                0 => return (out, text.replaced),
                count => out.extend_from_slice(&room[..count]),
            }
        }
    }

    #[test]
    fn utf16_is_recognised_by_its_mark_or_its_zeros() {
        use Encoding::{Utf16Be, Utf16Le};
        assert_eq!(Encoding::detect(&utf16("\u{feff}1,Ä", false)), Some(Utf16Le));
        assert_eq!(Encoding::detect(&utf16("\u{feff}1,Ä", true)), Some(Utf16Be));
        assert_eq!(Encoding::detect(&utf16("#version 2.1.5\n#creator Ä", false)), Some(Utf16Le));
        assert_eq!(Encoding::detect(&utf16("#version 2.1.5\n#creator Ä", true)), Some(Utf16Be));
        for other in [&b""[..], b"#version 2.1.5", &[0; 64], b"\xff\xfe\0\0a\0\0\0", b"a\0", b"\xef\xbb\xbfa"]
        {
            assert_eq!(Encoding::detect(other), None, "{other:?}");
        }
    }

    #[test]
    fn single_bytes_become_one_character_each() {
        let all: Vec<u8> = (0..=255).collect();
        for encoding in [Encoding::Windows1252, Encoding::Latin1] {
            let text = String::from_utf8(read(Some(encoding), &all, 7).0).unwrap();
            let distinct: std::collections::HashSet<char> = text.chars().collect();
            assert_eq!((text.chars().count(), distinct.len()), (256, 256));
        }
        let text = |encoding| String::from_utf8(read(Some(encoding), b"\x80 \xd6l", 1).0).unwrap();
        assert_eq!(text(Encoding::Windows1252), "€ Öl");
        assert_eq!(text(Encoding::Latin1), "\u{80} Öl");
    }

    #[test]
    fn what_is_no_character_is_counted() {
        assert_eq!(read(Some(Encoding::Utf16Le), b"a\0\0\xdcb\0c", 3), ("a\u{fffd}b\u{fffd}".into(), 2));
        assert_eq!(read(Some(Encoding::Utf16Le), b"a\0\x3d\xd8", 64), ("a\u{fffd}".into(), 1));
    }

    #[test]
    fn texts_that_differ_stay_different() {
        assert_eq!(escaped(b"\xd6l"), "\\xd6l");
        assert_eq!(escaped(b"\xc4l"), "\\xc4l");
        assert_eq!(escaped("Öl".as_bytes()), "Öl");
        assert_eq!(latin1(b"\xd6l \xc3\x96l"), "Öl Öl");
        assert!(shows_other_bytes("\\xd6l") && shows_other_bytes("a\u{fffd}"));
        assert!(!shows_other_bytes("\\x41 \\xyz \\x") && !shows_other_bytes("Öl"));
        assert_eq!(decoded(&utf16("\u{feff}[[core]]", false)), "[[core]]");
        assert_eq!(decoded(b"\xef\xbb\xbfname"), "name");
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        assert!(has_carriage_returns_alone(b"#version 2.1.5\r0,C"));
        assert!(has_carriage_returns_alone(b"#version 2.1.5\r0,C\n1,C"));
        assert!(!has_carriage_returns_alone(b"#version 2.1.5\r\n0,C\r"));
        assert!(!has_carriage_returns_alone(b"a\r\r\nb") && !has_carriage_returns_alone(b"a\r\0"));
        // Wherever the text was cut, also within CR and LF.
        let whole = b"a\rb\r\nc\n\rd\r";
        for cut in 0..=whole.len() {
            let (mut head, tail) = (whole[..cut].to_vec(), &whole[cut..]);
            let mut text = Transcoder::new(None);
            text.end_lines(&mut head);
            text.feed(tail);
            let found = [head, text.decoded].concat();
            let lines: Vec<_> = found.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
            assert_eq!(lines, [&b"a"[..], b"b", b"c", b"", b"d", b""], "{cut}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text: String, size in 1usize..9, big: bool) {
            let encoding = if big { Encoding::Utf16Be } else { Encoding::Utf16Le };
            let (found, replaced) = read(Some(encoding), &utf16(&text, big), size);
            prop_assert_eq!((String::from_utf8(found).unwrap(), replaced), (text, 0));
        }

        #[test]
        fn any_bytes_are_text(bytes: Vec<u8>, size in 1usize..9) {
            for encoding in Encoding::ALL {
                let (found, _) = read(Some(encoding), &bytes, size);
                prop_assert!(encoding == Encoding::Utf8 || String::from_utf8(found).is_ok());
            }
            let _ = (decoded(&bytes), escaped(&bytes), has_carriage_returns_alone(&bytes));
        }
    }
}
