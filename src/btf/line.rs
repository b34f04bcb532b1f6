//! The fields of a line of BTF text, or why it is no event. Not reading files, nor what the fields mean.

use crate::diagnostics::excerpt;
use std::fmt;

/// The fields of one line, blanks around them removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields<'a> {
    /// When, in the unit of the file.
    pub time: i64,
    /// Entity that caused the event.
    pub source: &'a [u8],
    /// `None` when the field is empty.
    pub source_instance: Option<i64>,
    pub target_type: &'a [u8],
    /// Entity that the event happened to.
    pub target: &'a [u8],
    /// `None` when the field is empty.
    pub target_instance: Option<i64>,
    pub action: &'a [u8],
    /// The rest of the line, commas included: BTF has no quoting. `None` when the line has seven fields.
    pub note: Option<&'a [u8]>,
}

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// It has this many fields.
    FieldCount(usize),
    /// Its time is no whole number of 64 bits.
    Time(String),
    /// An instance is no whole number of 64 bits.
    Instance(String),
    /// It is longer than the limit at which readers cut lines.
    TooLong,
}

impl Unreadable {
    /// Stable name, kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::FieldCount(_) => "wrong-field-count",
            Self::Time(_) => "bad-time",
            Self::Instance(_) => "bad-instance",
            Self::TooLong => "line-too-long",
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount(count) => write!(f, "an event has 7 or 8 fields, this line has {count}"),
            Self::Time(text) => write!(f, "'{text}' is no time in whole ticks"),
            Self::Instance(text) => write!(f, "'{text}' is no instance number"),
            Self::TooLong => f.write_str("the line has 1 MiB or more"),
        }
    }
}

impl<'a> Fields<'a> {
    /// Splits a line. Fails when the line is no event.
    pub fn split(text: &'a [u8]) -> Result<Self, Unreadable> {
        let mut fields = [&b""[..]; 8];
        let mut count = 0;
        for (field, slot) in text.splitn(8, |b| *b == b',').zip(&mut fields) {
            *slot = field.trim_ascii();
            count += 1;
        }
        let [time, source, source_instance, target_type, target, target_instance, action, note] = fields;
        if count < 7 {
            return Err(Unreadable::FieldCount(count));
        }
        let instance = |field: &[u8]| match field {
            [] => Ok(None),
            _ => integer(field).map(Some).ok_or_else(|| Unreadable::Instance(excerpt(field))),
        };
        Ok(Self {
            time: integer(time).ok_or_else(|| Unreadable::Time(excerpt(time)))?,
            source,
            source_instance: instance(source_instance)?,
            target_type,
            target,
            target_instance: instance(target_instance)?,
            action,
            note: (count == 8).then_some(note),
        })
    }
}

/// A whole number with an optional sign that fits 64 bits.
fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_event_or_says_why_not() {
        let line = Fields::split(b" 5 , C 0,,T,A , -1,start, a,b ").unwrap();
        assert_eq!((line.time, line.source, line.source_instance), (5, &b"C 0"[..], None));
        assert_eq!(
            (line.target_instance, line.action, line.note),
            (Some(-1), &b"start"[..], Some(&b"a,b"[..]))
        );
        assert_eq!(Fields::split(b"5,C,0,T,A,0,start").unwrap().note, None);
        let why = |text: &[u8]| Fields::split(text).map_err(|why| (why.code(), why.to_string())).unwrap_err();
        assert_eq!(
            why(b"5,C,0"),
            ("wrong-field-count", "an event has 7 or 8 fields, this line has 3".to_owned())
        );
        assert_eq!(why(b"1.5,C,0,T,A,0,start"), ("bad-time", "'1.5' is no time in whole ticks".to_owned()));
        assert_eq!(why(b"5,C,x,T,A,0,start"), ("bad-instance", "'x' is no instance number".to_owned()));
        assert_eq!(why(b"5,C,0,T,A,9223372036854775808,start").0, "bad-instance");
        assert_eq!(Unreadable::TooLong.code(), "line-too-long");
    }
}
