//! What the words of an event are: names and kinds of its arguments in their order, and their values. Not how
//! they are printed (see `arguments`) and not which layout an event has (see `vocabulary`).

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word, printed in hexadecimal.
    Hex,
    /// A word with a sign.
    Dec,
    /// An address of 32 bits.
    Pointer,
    /// Two words, printed in hexadecimal.
    Hex64,
    /// Two words with a sign.
    Dec64,
    /// An address of 64 bits.
    Pointer64,
    /// This many words of a message, text or not.
    Text(u8),
    /// A string up to its NUL; nothing follows.
    Name,
    /// A `struct sigevent`; nothing follows.
    SigEvent,
}

impl Kind {
    /// The kind that a word of the tables means.
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "x" => Self::Hex,
            "d" => Self::Dec,
            "p" => Self::Pointer,
            "X" => Self::Hex64,
            "D" => Self::Dec64,
            "P" => Self::Pointer64,
            "n" => Self::Name,
            "e" => Self::SigEvent,
            _ => Self::Text(word.strip_prefix('s')?.parse().ok().filter(|n| (1..=8).contains(n))?),
        })
    }

    /// How many words it takes; `None`: all that are left.
    pub fn words(self) -> Option<usize> {
        match self {
            Self::Hex | Self::Dec | Self::Pointer => Some(1),
            Self::Hex64 | Self::Dec64 | Self::Pointer64 => Some(2),
            Self::Text(words) => Some(usize::from(words)),
            Self::Name | Self::SigEvent => None,
        }
    }
}

/// An argument of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// What traceprinter prints before its value: its name and a colon.
    pub label: &'static str,
    /// What it is.
    pub kind: Kind,
}

/// What traceprinter 1.02 prints for a thread that begins, in mode wide: the label of the priority is wrong.
pub const CREATE: &[Field] = &[
    Field { label: "pid:", kind: Kind::Dec },
    Field { label: "tid:", kind: Kind::Dec },
    Field { label: "policy:", kind: Kind::Dec },
];

/// The arguments of an event in its two modes, which differ in the number of words only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    pub fast: Box<[Field]>,
    pub wide: Box<[Field]>,
}

impl Layout {
    /// Reads a column of the tables: `coid:x! sparts:d`, `fast | wide`.
    pub(super) fn parse(text: &'static str) -> Option<Self> {
        if text == "-" {
            return Some(Self::default());
        }
        if let Some((fast, wide)) = text.split_once('|') {
            let fields = |part: &'static str| part.split_whitespace().map(field).collect::<Option<Box<_>>>();
            return Some(Self { fast: fields(fast)?, wide: fields(wide)? });
        }
        let (mut fast, mut wide) = (Vec::new(), Vec::new());
        for word in text.split_whitespace() {
            let marked = word.strip_suffix('!');
            let field = field(marked.unwrap_or(word))?;
            wide.push(field);
            if marked.is_some() {
                fast.push(field);
            }
        }
        Some(Self { fast: fast.into(), wide: wide.into() })
    }

    /// The arguments of an event with this number of words; empty when the tables do not have them. The fast
    /// ones for a `complete` event of at most two words: an event with missing parts is never taken for a
    /// fast one.
    pub fn fields(&self, words: usize, complete: bool) -> &[Field] {
        if words <= 2 && complete && !self.fast.is_empty() { &self.fast } else { &self.wide }
    }
}

impl Field {
    /// The name alone.
    pub fn name(&self) -> &'static str {
        self.label.strip_suffix(':').unwrap_or(self.label)
    }
}

fn field(word: &'static str) -> Option<Field> {
    let (label, kind) = word.split_at_checked(word.rfind(':')? + 1)?;
    (label.len() > 1).then_some(Field { label, kind: Kind::parse(kind)? })
}

/// The value of an argument. Text, names and sigevents are left as words, because their bytes depend on the
/// target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Of [`Kind::Hex`].
    Hex(u32),
    /// Of [`Kind::Dec`].
    Dec(i32),
    /// Of both pointers.
    Pointer(u64),
    /// Of [`Kind::Hex64`].
    Hex64(u64),
    /// Of [`Kind::Dec64`].
    Dec64(i64),
    /// The words of the text that there are.
    Text(&'a [u32]),
    /// All words from here on.
    Name(&'a [u32]),
    /// All words from here on.
    SigEvent(&'a [u32]),
}

/// Values of arguments, in order, as far as there are words. Words after the last argument are left out.
#[derive(Debug, Clone)]
pub struct Values<'f, 'w> {
    fields: std::slice::Iter<'f, Field>,
    words: &'w [u32],
    big_endian: bool,
}

impl<'f, 'w> Values<'f, 'w> {
    /// The values of `words` as `fields` say.
    pub fn new(fields: &'f [Field], words: &'w [u32], big_endian: bool) -> Self {
        Self { fields: fields.iter(), words, big_endian }
    }
}

impl<'f, 'w> Iterator for Values<'f, 'w> {
    type Item = (&'f Field, Value<'w>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&first, rest) = self.words.split_first()?;
        let field = self.fields.next()?;
        let value = match field.kind {
            Kind::Hex => Value::Hex(first),
            Kind::Dec => Value::Dec(first as i32),
            Kind::Pointer => Value::Pointer(u64::from(first)),
            Kind::Hex64 => Value::Hex64(pair(first, rest, self.big_endian)),
            Kind::Dec64 => Value::Dec64(pair(first, rest, self.big_endian) as i64),
            Kind::Pointer64 => Value::Pointer(pair(first, rest, self.big_endian)),
            Kind::Text(words) => Value::Text(self.words.get(..usize::from(words)).unwrap_or(self.words)),
            Kind::Name => Value::Name(self.words),
            Kind::SigEvent => Value::SigEvent(self.words),
        };
        let taken = field.kind.words().unwrap_or(self.words.len());
        self.words = self.words.get(taken..).unwrap_or_default();
        Some((field, value))
    }
}

/// Two words as one number; a missing word is zero. The low word comes first, except on big-endian targets.
fn pair(first: u32, rest: &[u32], big_endian: bool) -> u64 {
    let (first, second) = (u64::from(first), u64::from(rest.first().copied().unwrap_or(0)));
    if big_endian { first << 32 | second } else { second << 32 | first }
}

#[cfg(test)]
mod tests {
    use super::{Field, Kind, Layout, Value, Values};

    #[test]
    fn a_column_becomes_two_lists() {
        let layout = Layout::parse("coid:x! sparts:d msg:s3!").unwrap();
        let names = |fields: &[Field]| fields.iter().map(Field::name).collect::<Vec<_>>();
        assert_eq!(names(layout.fields(2, true)), ["coid", "msg"]);
        assert_eq!(names(layout.fields(6, true)), ["coid", "sparts", "msg"]);
        assert_eq!(names(layout.fields(2, false)), ["coid", "sparts", "msg"]);
        let layout = Layout::parse("a:x b:d | a:X c:n").unwrap();
        assert_eq!(layout.fast.len(), 2);
        assert_eq!(layout.wide[0], Field { label: "a:", kind: Kind::Hex64 });
        for bad in ["a", "a:q", ":x", "a:s0", "a:s99", "a:x! |b"] {
            assert_eq!(Layout::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn values_take_their_words_in_the_order_of_the_target() {
        let layout = Layout::parse("pid:d at:X name:n").unwrap();
        let words = [u32::MAX, 1, 2, 3, 4];
        let values = |big| Values::new(&layout.wide, &words, big).map(|(_, v)| v).collect::<Vec<_>>();
        let little = [Value::Dec(-1), Value::Hex64(0x2_0000_0001), Value::Name(&[3, 4])];
        assert_eq!(values(false), little);
        assert_eq!(values(true)[1], Value::Hex64(0x1_0000_0002));
        // Cut off inside a number.
        assert_eq!(Values::new(&layout.wide, &[7, 8], false).last().unwrap().1, Value::Hex64(8));
        assert_eq!(Values::new(&layout.wide, &[], false).count(), 0);
    }
}
