//! Numbers and strings as C's `printf` writes them, but fast: the arguments of every event are formatted when
//! a trace is read. Not the layout of lines.

/// The destination of text: a buffer for a file, or a [`Line`].
pub trait Out {
    /// Appends.
    fn text(&mut self, text: &str);

    /// Appends bytes that are ASCII.
    fn ascii(&mut self, bytes: &[u8]);
}

impl Out for Vec<u8> {
    #[inline]
    fn text(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn ascii(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Bytes that a [`Line`] buffers; most events need less.
const ROOM: usize = 256;

/// Appends many short pieces to a string: UTF-8 is checked once, not for each piece.
#[derive(Debug)]
pub struct Line<'a> {
    out: &'a mut String,
    bytes: [u8; ROOM],
    used: usize,
}

impl<'a> Line<'a> {
    /// What is appended is there when [`Line::finish`] was called.
    pub fn new(out: &'a mut String) -> Self {
        Self { out, bytes: [0; ROOM], used: 0 }
    }

    /// The string, with all that was appended.
    pub fn finish(&mut self) -> &mut String {
        let bytes = self.bytes.get(..self.used).unwrap_or_default();
        // Only ASCII is in there, so that nothing is ever lost.
        self.out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
        self.used = 0;
        self.out
    }
}

impl Out for Line<'_> {
    #[inline]
    fn text(&mut self, text: &str) {
        if text.is_ascii() {
            self.ascii(text.as_bytes());
        } else {
            self.finish().push_str(text);
        }
    }

    #[inline]
    fn ascii(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.used..self.used + bytes.len()) {
            room.copy_from_slice(bytes);
            self.used += bytes.len();
        } else {
            self.finish().extend(bytes.iter().map(|b| char::from(b & 0x7f)));
        }
    }
}

/// The digits of a half byte.
const HEX: &[u8; 16] = b"0123456789abcdef";

#[inline]
fn hex_digit(value: u64) -> u8 {
    HEX[(value & 15) as usize]
}

/// `0x%08x`.
#[inline]
pub fn hex08(out: &mut impl Out, value: u32) {
    let mut text = *b"0x00000000";
    for (n, slot) in text.iter_mut().rev().take(8).enumerate() {
        *slot = hex_digit(u64::from(value) >> (4 * n));
    }
    out.ascii(&text);
}

/// `%x` with zeros up to a width.
pub fn hex_padded(out: &mut impl Out, value: u64, width: usize) {
    let mut text = [b'0'; 16];
    for (n, slot) in text.iter_mut().rev().enumerate() {
        *slot = hex_digit(value >> (4 * n));
    }
    let digits = (16 - value.leading_zeros() as usize / 4).max(width).min(16);
    out.ascii(text.get(16 - digits..).unwrap_or_default());
}

/// `%d`.
#[inline]
pub fn dec(out: &mut impl Out, value: i64) {
    // Most numbers of events are small ones.
    if let Ok(small @ 0..10) = u8::try_from(value) {
        return out.ascii(&[b'0' + small]);
    }
    decimal(out, value.unsigned_abs(), value < 0, 1);
}

/// `%02d` and the like, of numbers without a sign.
pub fn dec_padded(out: &mut impl Out, value: u64, width: usize) {
    decimal(out, value, false, width);
}

fn decimal(out: &mut impl Out, value: u64, negative: bool, width: usize) {
    let mut text = [b'0'; 21];
    let width = width.min(20);
    let (mut value, mut used) = (value, 0);
    for slot in text.iter_mut().rev().take(20) {
        if value == 0 && used >= width {
            break;
        }
        *slot = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
    }
    let mut start = text.len() - used;
    if negative {
        start -= 1;
        if let Some(sign) = text.get_mut(start) {
            *sign = b'-';
        }
    }
    out.ascii(text.get(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_printf() {
        let text = |out: Vec<u8>| String::from_utf8(out).unwrap();
        let mut out = Vec::new();
        for value in [0, 1, 0x4f, u32::MAX] {
            hex08(&mut out, value);
            out.push(b' ');
        }
        assert_eq!(text(out), "0x00000000 0x00000001 0x0000004f 0xffffffff ");
        for value in [0, -1, i64::MIN, i64::MAX, 10, 1_234_567_890_123] {
            let mut out = Vec::new();
            dec(&mut out, value);
            assert_eq!(text(out), value.to_string());
            let (mut out, value) = (Vec::new(), value.unsigned_abs());
            hex_padded(&mut out, value, 1);
            assert_eq!(text(out), format!("{value:x}"));
        }
        let mut out = Vec::new();
        dec_padded(&mut out, 7, 2);
        hex_padded(&mut out, u64::MAX, 16);
        dec_padded(&mut out, u64::MAX, 99);
        assert_eq!(text(out), format!("07{:x}{}", u64::MAX, u64::MAX));
    }

    #[test]
    fn lines_lose_nothing_however_long() {
        for piece in ["a", "abc", "0123456789abcdef", "ä", "aäa"] {
            let mut out = "x".to_owned();
            let mut line = Line::new(&mut out);
            for n in 0..1000 {
                line.text(piece);
                dec(&mut line, n);
            }
            line.finish();
            let expected: String = (0..1000).map(|n| format!("{piece}{n}")).collect();
            assert_eq!(out, format!("x{expected}"));
        }
    }
}
