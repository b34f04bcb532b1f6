//! The names of a column as they are written: each is checked when it first occurs in a dictionary, and
//! copied from then on. Does not know what the other columns say.

use super::numbers::Numbers;
use crate::names::{IdMap, Memo};
use crate::render::append;
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, StringBuilder, UInt32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, UInt32Type};
use std::borrow::Cow;
use std::sync::Arc;

pub(super) type Names = DictionaryArray<UInt32Type>;

/// A column of names. The engine returns views; those with the same bits are the same name.
pub(super) fn names(column: &ArrayRef) -> Option<Names> {
    if let Some(names) = column.as_dictionary_opt() {
        return Some(names.clone());
    }
    let column = cast(column, &DataType::Utf8View).ok()?;
    let views = column.as_string_view_opt()?;
    let (mut keys, mut texts) = (IdMap::default(), StringBuilder::new());
    let mut key = |(row, view): (usize, &u128)| {
        views.is_valid(row).then(|| {
            let new = keys.len() as u32;
            *keys.entry(((view >> 64) as u64, *view as u64)).or_insert_with(|| {
                texts.append_value(views.value(row));
                new
            })
        })
    };
    let rows: UInt32Array = views.views().iter().enumerate().map(&mut key).collect();
    Names::try_new(rows, Arc::new(texts.finish())).ok()
}

/// What a name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Entity,
    Kind,
    Action,
    Note,
}

impl Field {
    /// Appends a comma and the name; true if the name had to be altered.
    pub fn write(self, name: &str, numbers: Option<&Numbers>, out: &mut Vec<u8>) -> bool {
        let number = numbers.and_then(|numbers| match self {
            Self::Entity => numbers.entity(name),
            Self::Kind => numbers.kind(name),
            Self::Action | Self::Note => None,
        });
        let text = match number {
            Some(number) => Cow::Borrowed(number),
            None => expressible(name, self == Self::Note),
        };
        out.push(b',');
        out.extend_from_slice(text.as_bytes());
        matches!(text, Cow::Owned(_))
    }
}

/// The names of one dictionary.
#[derive(Debug)]
pub(super) struct Texts {
    field: Field,
    texts: Memo<Option<Text>>,
    bytes: Vec<u8>,
    /// How many names had to be altered.
    pub altered: u64,
}

/// A range of the bytes; the text begins with a comma.
#[derive(Debug, Clone, Copy, Default)]
struct Text {
    begin: usize,
    end: usize,
    altered: bool,
}

impl Texts {
    /// Without names.
    pub fn new(field: Field) -> Self {
        Self { field, texts: Memo::default(), bytes: Vec::new(), altered: 0 }
    }

    /// Switches to the dictionary of `names`.
    pub fn turn_to(&mut self, names: &Names) {
        let Some(dictionary) = names.values().as_string_opt::<i32>() else { return };
        if !self.texts.turn_to(dictionary) {
            self.bytes.clear();
        }
    }

    /// Appends a comma and the name, if there is one.
    pub fn write(&mut self, key: Option<usize>, numbers: Option<&Numbers>, out: &mut Vec<u8>) {
        let Some(key) = key else { return out.push(b',') };
        let (field, bytes) = (self.field, &mut self.bytes);
        let text = self.texts.get_or_compute(key, |name| {
            let begin = bytes.len();
            let altered = field.write(name, numbers, bytes);
            Text { begin, end: bytes.len(), altered }
        });
        let Some(text) = text else { return out.push(b',') };
        self.altered += u64::from(text.altered);
        append::<32>(self.bytes.get(text.begin..).unwrap_or_default(), text.end - text.begin, out);
    }
}

/// BTF has no quoting: a line break ends the event, and a comma ends any field but the last.
pub(super) fn expressible(text: &str, last: bool) -> Cow<'_, str> {
    let comma = if last { b'\n' } else { b',' };
    match memchr::memchr3(b'\n', b'\r', comma, text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.replace(['\n', '\r', char::from(comma)], "_")),
    }
}
