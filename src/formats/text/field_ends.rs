//! Where the fields of lines end: one pass over the text, 64 bytes at a time, before anything is read. With the ends known, a
//! line need not wait for the one before it. Not for what is in the fields.

use super::vectors::{BLOCK as STEP, Bytes, Vectors};

/// About so many bytes are looked at together: they and their ends stay in the first cache of the processor.
const BLOCK: usize = 8 << 10;

/// Lines with more fields have no ends here.
pub(in crate::formats) const MOST_FIELDS: usize = 255;

/// The ends of the fields of some lines.
#[derive(Debug, Clone)]
pub(in crate::formats) struct FieldEnds {
    delimiter: u8,
    /// Delimiters between quotes end no field.
    quotes: bool,
    /// Behind the place in front of the first line: the places of delimiters and line ends. Behind `count` of all there is only
    /// room.
    ends: Box<[u32]>,
    count: usize,
    /// The first end that is not taken; in front of it is the end of the line before.
    next: usize,
    /// Where they were looked for.
    begin: usize,
}

/// The end of the line before a line, and those of its fields.
pub(in crate::formats) type LineEnds = [u32; 2 + MOST_FIELDS];

impl FieldEnds {
    /// Ends are the byte `delimiter` and line ends. `quotes`: a delimiter between quotes is none; a line end always is one.
    pub(in crate::formats) fn new(delimiter: u8, quotes: bool) -> Self {
        // A step writes up to 64 places, and a line without ends looks at as many as it could have.
        let ends = vec![0; BLOCK + 3 * STEP + 2 + MOST_FIELDS].into_boxed_slice();
        Self { delimiter, quotes, ends, count: 1, next: 1, begin: usize::MAX }
    }

    /// Forgets all: another text follows.
    pub(in crate::formats) fn clear(&mut self) {
        (self.count, self.next, self.begin) = (1, 1, usize::MAX);
    }

    /// Makes sure that at least `fields` ends of the line at `at` and those behind it are found, if the text has as many.
    pub(in crate::formats) fn provide(
        &mut self,
        vectors: impl Vectors,
        text: &[u8],
        at: usize,
        fields: usize,
    ) {
        if self.count - self.next < fields && self.begin != at {
            self.find(vectors, text, at);
        }
    }

    /// The ends that are not taken: how many there are, and what begins with the end of the line in front of them. Behind them
    /// is something else.
    #[inline(always)]
    pub(in crate::formats) fn rest(&self) -> (usize, &[u32]) {
        (self.count - self.next, self.ends.get(self.next - 1..).unwrap_or_default())
    }

    /// The next `fields` ends. That the last one is a line end, and no other, is for the caller to see.
    fn of_line(&self, fields: usize) -> Option<&LineEnds> {
        let (count, ends) = self.rest();
        ends.first_chunk().filter(|_| fields <= count)
    }

    /// All ends of the line at `at`, which is the first that is not taken, behind the end of the line before; `None` for a line
    /// without a line end, or with too many fields.
    pub(in crate::formats) fn whole_line(&mut self, text: &[u8], at: usize) -> Option<(&LineEnds, usize)> {
        let is_line_end = |end: &u32| text.get(*end as usize) == Some(&b'\n');
        let fields = |it: &Self| Some(it.ends.get(it.next..it.count)?.iter().position(is_line_end)? + 1);
        let fields = fields(self).or_else(|| {
            self.find(Bytes, text, at);
            fields(self)
        })?;
        self.of_line(fields).map(|ends| (ends, fields)).filter(|_| fields <= MOST_FIELDS)
    }

    /// Takes the ends of a line.
    #[inline(always)]
    pub(in crate::formats) fn go_on(&mut self, fields: usize) {
        self.next += fields;
    }

    /// Leaves out all ends before `at`, where another line begins.
    pub(in crate::formats) fn skip_to(&mut self, at: usize) {
        while self.next < self.count && self.ends.get(self.next).is_some_and(|end| (*end as usize) < at) {
            self.next += 1;
        }
    }

    /// Finds the ends of the lines from `at` on, up to the last bytes of the text.
    fn find(&mut self, vectors: impl Vectors, text: &[u8], at: usize) {
        self.clear();
        self.begin = at;
        if let [before, ends @ ..] = &mut *self.ends {
            *before = (at as u32).wrapping_sub(1);
            let range = at..text.len().min(at + BLOCK);
            self.count = 1 + vectors.find_ends(text, range, self.delimiter, self.quotes, ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Byte by byte.
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
            let text = format!("{text}{}", " ".repeat(STEP));
            let expected = naive(text.as_bytes(), b',', quotes);
            let mut fields = FieldEnds::new(b',', quotes);
            let (mut found, mut at) = (Vec::new(), 0);
            for line in text.split_inclusive('\n') {
                let wanted = naive(line.as_bytes(), b',', quotes).len().min(MOST_FIELDS);
                if wanted == 0 {
                    break;
                }
                fields.provide(Bytes, text.as_bytes(), at, wanted);
                let ends = fields.of_line(wanted).unwrap();
                prop_assert_eq!(ends[0].wrapping_add(1) as usize, at);
                found.extend_from_slice(&ends[1..=wanted]);
                let rest = expected.iter().filter(|end| (at..at + line.len()).contains(&(**end as usize)));
                found.extend(rest.skip(wanted));
                at += line.len();
                if at % 2 == 0 {
                    fields.go_on(wanted);
                }
                fields.skip_to(at);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
