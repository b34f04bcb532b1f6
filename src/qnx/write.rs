//! Numbers and strings as C's `printf` writes them, without its machinery: arguments of every event are written once
//! when a trace is read. Not for the layout of lines.

/// Where text goes: a string, or bytes on their way to a file.
pub trait Out {
    /// Appends.
    fn text(&mut self, text: &str);
}

impl Out for String {
    #[inline]
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl Out for Vec<u8> {
    #[inline]
    fn text(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// `0x%08x`.
#[inline]
pub fn hex08(out: &mut impl Out, value: u32) {
    out.text("0x");
    hex_padded(out, u64::from(value), 8);
}

/// `%x` with zeros up to a width.
#[inline]
pub fn hex_padded(out: &mut impl Out, value: u64, width: usize) {
    digits::<16>(out, value, width);
}

/// `%d`.
#[inline]
pub fn dec(out: &mut impl Out, value: i64) {
    if value < 0 {
        out.text("-");
    }
    digits::<10>(out, value.unsigned_abs(), 1);
}

/// `%02d` and the like, of numbers without a sign.
#[inline]
pub fn dec_padded(out: &mut impl Out, value: u64, width: usize) {
    digits::<10>(out, value, width);
}

fn digits<const BASE: u64>(out: &mut impl Out, mut value: u64, width: usize) {
    let mut buffer = [b'0'; 20];
    let mut used = 0;
    for slot in buffer.iter_mut().rev() {
        if value == 0 && used >= width {
            break;
        }
        let digit = (value % BASE) as u8;
        *slot = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        value /= BASE;
        used += 1;
    }
    let text = buffer.get(buffer.len() - used..).unwrap_or_default();
    out.text(std::str::from_utf8(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_printf() {
        let mut out = String::new();
        for value in [0, 1, 0x4f, u32::MAX] {
            hex08(&mut out, value);
            out.push(' ');
        }
        assert_eq!(out, "0x00000000 0x00000001 0x0000004f 0xffffffff ");
        for value in [0, -1, i64::MIN, i64::MAX, 10, 1_234_567_890_123] {
            let mut out = String::new();
            dec(&mut out, value);
            assert_eq!(out, value.to_string());
            let (mut out, value) = (Vec::new(), value.unsigned_abs());
            hex_padded(&mut out, value, 1);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{value:x}"));
        }
        let mut out = String::new();
        dec_padded(&mut out, 7, 2);
        hex_padded(&mut out, u64::MAX, 16);
        dec_padded(&mut out, u64::MAX, 99);
        assert_eq!(out, format!("07{:x}{}", u64::MAX, u64::MAX));
    }
}
