//! The strings in events: their bytes from words, and the string that an event carries. Not how a listing
//! shows them.

use super::layout::{Kind, Value, Values};
use super::vocabulary::fields;
use super::{Class, Event, Flavour, Status};
use crate::encoding::escaped;

/// The bytes of words in the order of the target. Words were converted to numbers of the host; strings need
/// that undone.
pub fn bytes_of(words: &[u32], big_endian: bool) -> impl Iterator<Item = u8> + Clone + '_ {
    words.iter().flat_map(move |word| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() })
}

/// The bytes up to the first NUL, or all.
pub fn c_string(words: &[u32], big_endian: bool) -> impl Iterator<Item = u8> + Clone + '_ {
    bytes_of(words, big_endian).take_while(|byte| *byte != 0)
}

/// True for what `isprint` holds printable in the C locale.
pub fn is_print(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte)
}

/// The string that an event carries: the name of a process, thread or mapping, a path, a message to the
/// system log, or what a program inserted, where that can be text. Bytes that are no UTF-8 are escaped.
/// `None` for an empty string and for an event of which parts are missing.
pub fn text(flavour: Flavour, event: &Event<'_>) -> Option<String> {
    if event.status != Status::Ok {
        return None;
    }
    let words = match event.class {
        Class::User => user_string(event.words, flavour.big_endian)?,
        Class::Process | Class::System | Class::Sec => {
            let fields = fields(flavour.version, event)?;
            // Most have none.
            fields.last().filter(|field| field.kind == Kind::Name)?;
            match Values::new(fields, event.words, flavour.big_endian).last()? {
                (_, Value::Name(words)) => words,
                _ => return None,
            }
        }
        _ => return None,
    };
    let bytes: Vec<u8> = c_string(words, flavour.big_endian).collect();
    (!bytes.is_empty()).then(|| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => escaped(e.as_bytes()).into_owned(),
    })
}

/// A record does not say whether it holds a string or numbers. A user event is taken for a string when all
/// its bytes up to the NUL are printable or may be letters beyond ASCII, and the NUL is in the last two
/// words, as it is for a string. An event of two words, mostly numbers, must have at least four letters.
fn user_string(words: &[u32], big_endian: bool) -> Option<&[u32]> {
    let string = c_string(words, big_endian);
    let length = string.clone().count();
    let plausible = string.clone().all(|b| is_print(b) || b >= 0x80 || matches!(b, b'\t' | b'\n' | b'\r'));
    let least = if words.len() <= 2 { 4 } else { 1 };
    if !plausible || length < least || words.len() * 4 - length > 8 {
        return None;
    }
    // Numbers are hardly ever well-formed UTF-8 beyond ASCII.
    let ascii = string.clone().all(|b| b < 0x80);
    (ascii || std::str::from_utf8(&string.collect::<Vec<u8>>()).is_ok()).then_some(words)
}

/// True when an event of a user carries a string (see [`text`]).
pub fn is_user_string(flavour: Flavour, event: &Event<'_>) -> bool {
    event.class == Class::User && user_string(event.words, flavour.big_endian).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qnx::Version;

    fn words(text: &[u8], big: bool) -> Vec<u32> {
        let mut bytes = text.to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().div_ceil(8) * 8, 0);
        let word = |b: &[u8]| <[u8; 4]>::try_from(b).unwrap();
        bytes
            .chunks(4)
            .map(|b| if big { u32::from_be_bytes(word(b)) } else { u32::from_le_bytes(word(b)) })
            .collect()
    }

    fn of(class: Class, event: u16, words: &[u32], big_endian: bool) -> Option<String> {
        let (cpu, flags, is64, status) = (0, 0, false, Status::Ok);
        let event = Event { record: 0, cpu, flags, class, event, is64, status, cycles: 0, words };
        text(Flavour { version: Version::V7_1, big_endian }, &event)
    }

    #[test]
    fn names_have_the_bytes_of_the_target() {
        for big in [false, true] {
            let name = |class, event, head: &[u32], text: &[u8]| {
                of(class, event, &[head, &words(text, big)[..]].concat(), big)
            };
            assert_eq!(name(Class::Process, 3, &[1, 2], b"bin/srv").as_deref(), Some("bin/srv"));
            assert_eq!(name(Class::Process, 5, &[1, 2], "fäden".as_bytes()).as_deref(), Some("fäden"));
            assert_eq!(name(Class::System, 12, &[1, 2], b"a\xff\nb").as_deref(), Some("a\\xff\nb"));
            assert_eq!(name(Class::System, 6, &[0; 12], b"/dev/mem").as_deref(), Some("/dev/mem"));
            assert_eq!(name(Class::Process, 3, &[1, 2], b""), None);
            assert_eq!(name(Class::Process, 1, &[1, 2], b"x"), None);
            assert_eq!(name(Class::User, 555, &[], b"Hello world").as_deref(), Some("Hello world"));
        }
        // Without a NUL, and cut off before the string.
        assert_eq!(of(Class::Process, 3, &[1, 2, 0x6161_6161], false).as_deref(), Some("aaaa"));
        assert_eq!(of(Class::System, 6, &[1, 2, 3, 4, 5, 6], false), None);
    }

    #[test]
    fn numbers_of_a_user_are_no_text() {
        assert_eq!(of(Class::User, 1, &[1, 0x0b], false), None);
        assert_eq!(of(Class::User, 1, &[65, 0], false), None);
        assert_eq!(of(Class::User, 1, &[0x6c6c_6548, 0x6f], false).as_deref(), Some("Hello"));
        assert_eq!(of(Class::User, 1, &[1, 2, 3, 4, 5, 0], false), None);
        assert_eq!(of(Class::User, 1, &[65, 0, 0, 0, 0, 0], false), None, "the NUL is too early");
        assert_eq!(of(Class::User, 1, &[0x6161_61ff; 4], false), None);
        assert_eq!(of(Class::User, 1, &[], false), None);
    }
}
