//! Records of 16 bytes and the parts of events, in the target's byte order. Not when and where they are
//! written.

use super::codes::Code;

/// The byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ByteOrder {
    /// x86, ARM.
    #[default]
    Little,
    /// PowerPC, MIPS.
    Big,
}

impl ByteOrder {
    /// A word as the target stores it.
    pub fn bytes(self, word: u32) -> [u8; 4] {
        match self {
            Self::Little => word.to_le_bytes(),
            Self::Big => word.to_be_bytes(),
        }
    }

    /// Appends a string with its NUL, as words that have its bytes in memory order on this target. The last
    /// word is filled up with NULs.
    pub fn push_text(self, words: &mut Vec<u32>, text: &str) {
        let mut word = [0; 4];
        let mut filled = 0;
        for byte in text.bytes().chain([0]) {
            if filled == 4 {
                words.push(self.word(word));
                (word, filled) = ([0; 4], 0);
            }
            if let Some(slot) = word.get_mut(filled) {
                *slot = byte;
            }
            filled += 1;
        }
        words.push(self.word(word));
    }

    /// Appends a number of 64 bits as two words of memory: the order of the halves depends on the target.
    pub fn push_64(self, words: &mut Vec<u32>, number: u64) {
        let (low, high) = (number as u32, (number >> 32) as u32);
        words.extend(match self {
            Self::Little => [low, high],
            Self::Big => [high, low],
        });
    }

    fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// Which part of an event a record is: bits 31 and 30.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Simple = 0,
    /// The first of several.
    Begin = 1,
    /// One between.
    Continue = 2,
    /// The last of several.
    End = 3,
}

/// A record, before it becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Part, CPU, flags, class and event.
    pub header: u32,
    /// The lower 32 bits of the clock when the event happened; all parts of an event have the same.
    pub timeoff: u32,
    /// Two words of the event.
    pub data: [u32; 2],
}

impl Record {
    /// The header's fields: part in bits 31 and 30, CPU 29 to 24, flags 23 to 16, class and event below 15.
    pub fn new(part: Part, cpu: u8, flags: u8, code: Code, timeoff: u32, data: [u32; 2]) -> Self {
        let part = (part as u32) << 30;
        let cpu = u32::from(cpu & 0x3f) << 24;
        let flags = u32::from(flags) << 16;
        Self { header: part | cpu | flags | u32::from(code.bits & 0x7fff), timeoff, data }
    }

    /// The bytes in the file.
    pub fn bytes(&self, order: ByteOrder) -> [u8; 16] {
        let mut bytes = [0; 16];
        let words = [self.header, self.timeoff, self.data[0], self.data[1]];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&order.bytes(word));
        }
        bytes
    }

    /// The same record with the number of another CPU: a fault of 8.0.
    #[must_use]
    pub fn of_cpu(self, cpu: u8) -> Self {
        Self { header: self.header & !0x3f00_0000 | u32::from(cpu & 0x3f) << 24, ..self }
    }
}

/// The records of an event, one after the other: the writer decides how many others come between them. Up to
/// two words are a simple event, more begin one and end it; the last record is padded with zero.
#[derive(Debug, Clone)]
pub struct Parts<'a> {
    cpu: u8,
    flags: u8,
    code: Code,
    timeoff: u32,
    words: &'a [u32],
    begun: bool,
    ended: bool,
}

impl<'a> Parts<'a> {
    /// The records of an event that happened at `timeoff` on `cpu`.
    pub fn new(cpu: u8, flags: u8, code: Code, timeoff: u32, words: &'a [u32]) -> Self {
        Self { cpu, flags, code, timeoff, words, begun: false, ended: false }
    }
}

impl Iterator for Parts<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.ended {
            return None;
        }
        let (data, rest) = match self.words {
            [a, b, rest @ ..] => ([*a, *b], rest),
            [a] => ([*a, 0], &[][..]),
            [] => ([0, 0], &[][..]),
        };
        self.words = rest;
        self.ended = rest.is_empty();
        let part = match (self.begun, self.ended) {
            (false, true) => Part::Simple,
            (false, false) => Part::Begin,
            (true, false) => Part::Continue,
            (true, true) => Part::End,
        };
        self.begun = true;
        Some(Record::new(part, self.cpu, self.flags, self.code, self.timeoff, data))
    }
}
