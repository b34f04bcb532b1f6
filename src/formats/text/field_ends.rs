//! The ends of the fields of lines: one pass over the text finds them, 64 bytes at a time, before any field
//! is read. With known ends, a line can be read without waiting for the line before it. Not for the content
//! of fields.

use super::vectors::{BLOCK, Scalar, Vectors};

/// Number of bytes that are scanned at once. They and their ends fit in the first-level cache.
const SCAN_BYTES: usize = 8 << 10;

/// Maximum number of fields of a line; [`FieldEnds::whole_line`] returns `None` for lines with more.
pub(in crate::formats) const MAX_FIELDS: usize = 255;

/// The ends of the fields of successive lines.
#[derive(Debug, Clone)]
pub(in crate::formats) struct FieldEnds {
    delimiter: u8,
    /// Whether a delimiter between quotes is part of the field.
    quotes: bool,
    /// The offset before the first line, then the offsets of delimiters and line ends. Only the first `count`
    /// elements are valid.
    ends: Box<[u32]>,
    count: usize,
    /// Index of the first end that is not consumed. The element before it is the end of the line before.
    next: usize,
    /// Offset in the text where the last scan started; `usize::MAX` if there was none.
    scan_start: usize,
}

/// The end of the line before a line, then the ends of its fields, as offsets in the text. Elements after
/// these belong to later lines.
pub(in crate::formats) type LineEnds = [u32; 2 + MAX_FIELDS];

impl FieldEnds {
    /// Fields end at the byte `delimiter` and at line ends. `quotes`: a delimiter between quotes does not end
    /// a field; a line end always does.
    pub(in crate::formats) fn new(delimiter: u8, quotes: bool) -> Self {
        // The last block adds up to 64 ends, and a line is returned as a whole `LineEnds`, whatever its
        // number of fields.
        let ends = vec![0; SCAN_BYTES + 3 * BLOCK + 2 + MAX_FIELDS].into_boxed_slice();
        Self { delimiter, quotes, ends, count: 1, next: 1, scan_start: usize::MAX }
    }

    /// Drops all ends. To be called before another text.
    pub(in crate::formats) fn clear(&mut self) {
        (self.count, self.next, self.scan_start) = (1, 1, usize::MAX);
    }

    /// Makes sure that at least `fields` ends are known from the line at `at` on, if [`SCAN_BYTES`] bytes of
    /// the text have that many.
    pub(in crate::formats) fn ensure(
        &mut self,
        vectors: impl Vectors,
        text: &[u8],
        at: usize,
        fields: usize,
    ) {
        if self.count - self.next < fields && self.scan_start != at {
            self.scan(vectors, text, at);
        }
    }

    /// The ends that are not consumed: their number, and a slice that starts with the end of the line before
    /// them. The elements after these ends are unspecified.
    #[inline(always)]
    pub(in crate::formats) fn remaining(&self) -> (usize, &[u32]) {
        (self.count - self.next, self.ends.get(self.next - 1..).unwrap_or_default())
    }

    /// The next `fields` ends. Does not check that the last of them, and no other, is a line end.
    fn peek_line(&self, fields: usize) -> Option<&LineEnds> {
        let (count, ends) = self.remaining();
        ends.first_chunk().filter(|_| fields <= count)
    }

    /// All ends of the line at `at`, and the number of its fields. The line must be the first that is not
    /// consumed. `None` for a line without a line end, and for one with too many fields.
    pub(in crate::formats) fn whole_line(&mut self, text: &[u8], at: usize) -> Option<(&LineEnds, usize)> {
        let is_line_end = |end: &u32| text.get(*end as usize) == Some(&b'\n');
        let fields = |it: &Self| Some(it.ends.get(it.next..it.count)?.iter().position(is_line_end)? + 1);
        let fields = fields(self).or_else(|| {
            self.scan(Scalar, text, at);
            fields(self)
        })?;
        self.peek_line(fields).map(|ends| (ends, fields)).filter(|_| fields <= MAX_FIELDS)
    }

    /// Marks the ends of a line as consumed.
    #[inline(always)]
    pub(in crate::formats) fn consume(&mut self, fields: usize) {
        self.next += fields;
    }

    /// Skips all ends before `at`, where another line starts.
    pub(in crate::formats) fn skip_to(&mut self, at: usize) {
        while self.next < self.count && self.ends.get(self.next).is_some_and(|end| (*end as usize) < at) {
            self.next += 1;
        }
    }

    /// Finds the ends from the line at `at` on, in [`SCAN_BYTES`] bytes. Bytes at the end of the text that do
    /// not fill a block are not scanned.
    fn scan(&mut self, vectors: impl Vectors, text: &[u8], at: usize) {
        self.clear();
        self.scan_start = at;
        if let [before, ends @ ..] = &mut *self.ends {
            *before = (at as u32).wrapping_sub(1);
            let range = at..text.len().min(at + SCAN_BYTES);
            self.count = 1 + vectors.find_ends(text, range, self.delimiter, self.quotes, ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The ends, found byte by byte.
    fn naive(text: &[u8], delimiter: u8, quotes: bool) -> Vec<u32> {
        let (mut ends, mut open) = (Vec::new(), false);
        for (at, byte) in text.iter().enumerate() {
            open ^= quotes && *byte == b'"';
            if *byte == b'\n' {
                open = false;
            }
            if *byte == b'\n' || *byte == delimiter && !open {
                ends.push(at as u32);
            }
        }
        ends
    }

    proptest! {
        #[test]
        fn all_ends_are_found(text in "[a,;\"\n]{0,300}|([a,]{90}\n){120}|,{200}", quotes: bool) {
            let text = format!("{text}{}", " ".repeat(BLOCK));
            let expected = naive(text.as_bytes(), b',', quotes);
            let mut fields = FieldEnds::new(b',', quotes);
            let (mut found, mut at) = (Vec::new(), 0);
            for line in text.split_inclusive('\n') {
                let wanted = naive(line.as_bytes(), b',', quotes).len().min(MAX_FIELDS);
                if wanted == 0 {
                    break;
                }
                fields.ensure(Scalar, text.as_bytes(), at, wanted);
                let ends = fields.peek_line(wanted).unwrap();
                prop_assert_eq!(ends[0].wrapping_add(1) as usize, at);
                found.extend_from_slice(&ends[1..=wanted]);
                let rest = expected.iter().filter(|end| (at..at + line.len()).contains(&(**end as usize)));
                found.extend(rest.skip(wanted));
                at += line.len();
                if at % 2 == 0 {
                    fields.consume(wanted);
                }
                fields.skip_to(at);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
