//! A position in a line, and what can be read there. Not the words of any format.

/// The rest of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn skip_blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Skips `word` if it is here.
    pub fn eat(&mut self, word: &[u8]) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// The bytes for which `is` holds.
    pub fn take_while(&mut self, is: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|b| !is(*b)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at_checked(end).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }

    /// Up to the next blank.
    pub fn word(&mut self) -> &'a [u8] {
        self.take_while(|b| !b.is_ascii_whitespace())
    }

    /// Hexadecimal digits of at most `bits` bits.
    pub fn hex(&mut self, bits: usize) -> Option<u64> {
        let digits = self.take_while(|b| b.is_ascii_hexdigit());
        if digits.is_empty() || digits.len() > bits / 4 {
            return None;
        }
        u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// `0x` and hexadecimal digits.
    pub fn hex0x(&mut self, bits: usize) -> Option<u64> {
        if self.eat(b"0x") { self.hex(bits) } else { None }
    }

    /// `%#x`: a zero has no `0x`.
    pub fn alternate(&mut self) -> Option<u32> {
        let value = if self.eat(b"0x") { self.hex(32)? } else { u64::from(self.eat(b"0").then_some(0_u8)?) };
        u32::try_from(value).ok()
    }

    /// A decimal number, with or without a sign, of 64 bits.
    pub fn dec(&mut self) -> Option<i128> {
        let negative = self.eat(b"-");
        let digits = self.take_while(|b| b.is_ascii_digit());
        if digits.is_empty() || digits.len() > 20 {
            return None;
        }
        let value: i128 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(if negative { -value } else { value })
    }

    /// A decimal number that fits a word, with or without a sign.
    pub fn dec32(&mut self) -> Option<u32> {
        let value = self.dec()?;
        i32::try_from(value).map(|v| v as u32).or_else(|_| u32::try_from(value)).ok()
    }
}
