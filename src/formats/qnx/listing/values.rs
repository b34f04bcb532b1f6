//! Printed arguments → words, according to a layout. Not which layout it is.

use super::MAX_WORDS;
use super::cursor::Cursor;
use crate::qnx::layout::{Field, Kind};

/// The words of `name:value name:value…` if its names are the first of `fields` in order and there is nothing
/// else; `None` otherwise. Also returns how many of the fields there are.
pub(super) fn words(fields: &[Field], text: &[u8], big_endian: bool) -> Option<(Vec<u32>, usize)> {
    let mut cursor = Cursor(text);
    let mut words = Vec::new();
    let mut used = 0;
    for field in fields {
        cursor.skip_blanks();
        if cursor.is_empty() {
            break;
        }
        argument(&mut cursor, field, big_endian, &mut words)?;
        used += 1;
    }
    cursor.skip_blanks();
    (cursor.is_empty() && used > 0 && words.len() <= MAX_WORDS).then_some((words, used))
}

/// The words of the arguments before the first one that is not the next of `fields`.
pub(super) fn leading(fields: &[Field], text: &[u8], big_endian: bool) -> Vec<u32> {
    let (mut cursor, mut words) = (Cursor(text), Vec::new());
    for field in fields {
        cursor.skip_blanks();
        let before = words.len();
        let read = argument(&mut cursor, field, big_endian, &mut words);
        let ends = cursor.is_empty() || cursor.0.starts_with(b" ");
        if read.is_none() || !ends || words.len() > MAX_WORDS {
            words.truncate(before);
            break;
        }
    }
    words
}

/// What a call returned, as 8.0 may print it for any call: `ret_val:0x0000000000000020`, then `empty:0x…` or
/// nothing. Also returns whether the result has 64 bits.
pub(super) fn returned(text: &[u8], big_endian: bool) -> Option<(bool, Vec<u32>)> {
    let (mut cursor, mut words) = (Cursor(text), Vec::new());
    cursor.skip_blanks();
    if !cursor.eat(b"ret_val:") {
        return None;
    }
    let digits =
        cursor.0.strip_prefix(b"0x").map(|hex| hex.iter().take_while(|b| b.is_ascii_hexdigit()).count());
    let kind = match digits {
        Some(9..) => Kind::Hex64,
        Some(_) => Kind::Hex,
        None => Kind::Dec,
    };
    value(&mut cursor, kind, big_endian, &mut words)?;
    cursor.skip_blanks();
    if cursor.eat(b"empty:") {
        value(&mut cursor, Kind::Hex, big_endian, &mut words)?;
        cursor.skip_blanks();
    }
    cursor.is_empty().then_some((kind == Kind::Hex64, words))
}

/// An argument: `name:value`; a message also as `msg[0]:"…" (0x…)`, with its other words as `msg[1]:…`.
fn argument(cursor: &mut Cursor<'_>, field: &Field, big_endian: bool, words: &mut Vec<u32>) -> Option<()> {
    match field.kind {
        Kind::Text(most) if eat_element(cursor, field, 0) => {
            let before = words.len();
            for element in 1..=u32::from(most) {
                let left = usize::from(most).saturating_sub(words.len() - before);
                message(cursor, left, big_endian, words)?;
                let mut next = *cursor;
                next.skip_blanks();
                if words.len() - before >= usize::from(most) || !eat_element(&mut next, field, element) {
                    break;
                }
                *cursor = next;
            }
        }
        kind if cursor.eat(field.label.as_bytes()) => value(cursor, kind, big_endian, words)?,
        _ => return None,
    }
    // Version 0.94 has commas.
    cursor.eat(b",");
    Some(())
}

/// Skips `name[number]:`.
fn eat_element(cursor: &mut Cursor<'_>, field: &Field, number: u32) -> bool {
    let mut rest = *cursor;
    let is_here = rest.eat(field.name().as_bytes()) && rest.eat(format!("[{number}]:").as_bytes());
    if is_here {
        *cursor = rest;
    }
    is_here
}

/// `d0:0x… d1:0x…`.
pub(super) fn raw(text: &[u8]) -> Option<Vec<u32>> {
    let mut cursor = Cursor(text);
    let mut words = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.is_empty() {
            return Some(words);
        }
        if !cursor.eat(b"d") || cursor.dec()? != words.len() as i128 || !cursor.eat(b":") {
            return None;
        }
        words.push(u32::try_from(cursor.hex0x(32)?).ok()?);
        if words.len() > MAX_WORDS {
            return None;
        }
    }
}

fn value(cursor: &mut Cursor<'_>, kind: Kind, big_endian: bool, words: &mut Vec<u32>) -> Option<()> {
    match kind {
        Kind::Hex => words.push(u32::try_from(cursor.hex0x(32)?).ok()?),
        Kind::Dec => words.push(cursor.dec32()?),
        Kind::Pointer => words.push(u32::try_from(pointer(cursor, 32)?).ok()?),
        Kind::Hex64 => pair(words, cursor.hex0x(64)?, big_endian),
        Kind::Pointer64 => pair(words, pointer(cursor, 64)?, big_endian),
        Kind::Dec64 => {
            let value = cursor.dec()?;
            let value = i64::try_from(value).map(|v| v as u64).or_else(|_| u64::try_from(value)).ok()?;
            pair(words, value, big_endian);
        }
        Kind::Text(most) => message(cursor, usize::from(most), big_endian, words)?,
        Kind::Name => string(cursor.rest(), big_endian, words),
        Kind::SigEvent => sigevent(cursor.rest(), words)?,
    }
    Some(())
}

/// Neutrino's library prints bare digits, that of a host may print `0x` or `(nil)`.
fn pointer(cursor: &mut Cursor<'_>, bits: usize) -> Option<u64> {
    if cursor.eat(b"(nil)") {
        return Some(0);
    }
    cursor.eat(b"0x");
    cursor.hex(bits)
}

/// A number of 64 bits as two words in the order of the target.
fn pair(words: &mut Vec<u32>, value: u64, big_endian: bool) {
    let (low, high) = (value as u32, (value >> 32) as u32);
    words.extend(if big_endian { [high, low] } else { [low, high] });
}

pub(super) fn string(text: &[u8], big_endian: bool, words: &mut Vec<u32>) {
    for at in (0..=text.len()).step_by(4) {
        let byte = |n: usize| text.get(at + n).copied().unwrap_or(0);
        let bytes = [byte(0), byte(1), byte(2), byte(3)];
        words.push(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) });
    }
}

/// `"text" (0x… 0x…)`: the words are sufficient, but they are the bytes in the order of a little-endian host.
/// The text may contain quotes, so the words begin after the first quote that is followed by words.
fn message(cursor: &mut Cursor<'_>, most: usize, big_endian: bool, words: &mut Vec<u32>) -> Option<()> {
    let text = cursor.0.strip_prefix(b"\"")?;
    // At most four letters per word, so the search is short.
    for end in 0..=(4 * most).min(text.len()) {
        let mut rest = Cursor(text.get(end..)?);
        if !rest.eat(b"\" (") {
            continue;
        }
        let before = words.len();
        while words.len() < before + most {
            let Some(word) = rest.hex0x(32) else { break };
            let word = word as u32;
            words.push(if big_endian { word.swap_bytes() } else { word });
            if !rest.eat(b" ") {
                break;
            }
        }
        if words.len() > before && rest.eat(b")") {
            *cursor = rest;
            return Some(());
        }
        words.truncate(before);
    }
    None
}

/// The words of a sigevent. A host's traceprinter prints none of it (`INTR EVENT`): then there are no words.
fn sigevent(text: &[u8], words: &mut Vec<u32>) -> Option<()> {
    let text = text.trim_ascii_end();
    let (text, critical) = match text.strip_suffix(b" CRITICAL") {
        Some(text) => (text, 0x100),
        None => (text, 0),
    };
    let mut cursor = Cursor(text);
    let kind = cursor.word();
    cursor.skip_blanks();
    let simple = |kind: u32| vec![kind | critical, 0, 0, 0];
    let mut event = match kind {
        b"NONE" => vec![critical],
        b"UNBLOCK" => simple(5),
        b"INTR" if cursor.0 == b"EVENT" => return Some(()),
        b"INTR" => simple(6),
        b"SIGNAL" => vec![1 | critical, cursor.dec32()?, 0, 0],
        b"SIGNAL_CODE" | b"SIGNAL_THREAD" => {
            let kind = if kind == b"SIGNAL_CODE" { 2 } else { 3 };
            let signal = cursor.dec32()?;
            cursor.skip_blanks();
            let code = cursor.alternate()? & 0xffff;
            let value = if cursor.eat(b":") { cursor.alternate()? } else { return None };
            vec![kind | critical, signal, value, code]
        }
        b"PULSE" => {
            // The connection was part of the first word here.
            return pulse(text, critical, words);
        }
        b"THREAD" => {
            let code = cursor.hex(32)? & 0xffff;
            let value = if cursor.eat(b":") { cursor.hex(32)? } else { return None };
            vec![7 | critical, 0, value as u32, code as u32]
        }
        other => {
            let mut number = Cursor(other.strip_prefix(b"UNKNOWN(")?);
            let kind = number.alternate()?;
            if number.0 != b")" {
                return None;
            }
            simple(kind)
        }
    };
    cursor.skip_blanks();
    if matches!(kind, b"NONE" | b"UNBLOCK" | b"INTR") && !cursor.is_empty() {
        return None;
    }
    words.append(&mut event);
    Some(())
}

/// `PULSE 0x40000001:10 0x1:0x2`: connection, priority, code, value.
fn pulse(text: &[u8], critical: u32, words: &mut Vec<u32>) -> Option<()> {
    let mut cursor = Cursor(text.strip_prefix(b"PULSE ")?);
    let connection = cursor.alternate()?;
    let priority = if cursor.eat(b":") { cursor.dec32()? } else { return None };
    cursor.skip_blanks();
    let code = cursor.alternate()? & 0xffff;
    let value = if cursor.eat(b":") { cursor.alternate()? } else { return None };
    words.extend([4 | critical, connection, value, code | priority << 16]);
    cursor.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_where_their_words_begin() {
        let read = |text: &[u8], most, big| {
            let (mut cursor, mut words) = (Cursor(text), Vec::new());
            message(&mut cursor, most, big, &mut words).map(|()| (words, cursor.0.len()))
        };
        assert_eq!(read(b"\"\" (0x00040116) x", 3, false), Some((vec![0x40116], 2)));
        assert_eq!(read(b"\"abc\" (0x00636261)", 1, true), Some((vec![0x6162_6300], 0)));
        // Text that looks like words.
        assert_eq!(read(b"\"\" (0\" (0x30282022)", 3, false), Some((vec![0x3028_2022], 0)));
        assert_eq!(read(b"\"abcdefgh\" (0x1)", 1, false), None, "more letters than words");
        assert_eq!(read(b"\"a\" ()", 3, false), None);
    }

    #[test]
    fn messages_may_be_printed_as_elements() {
        let fields =
            [Field { label: "rcvid:", kind: Kind::Hex }, Field { label: "rmsg:", kind: Kind::Text(3) }];
        let read = |text: &str| words(&fields, text.as_bytes(), false).map(|(words, _)| words);
        let all = Some(vec![0x11, 1, 2, 3]);
        assert_eq!(read("rcvid:0x11 rmsg:\"\" (0x1 0x2 0x3)"), all);
        assert_eq!(read("rcvid:0x11 rmsg[0]:\"\" (0x1 0x2 0x3)"), all);
        assert_eq!(read("rcvid:0x11 rmsg[0]:\"\" (0x1) rmsg[1]:\"\" (0x2) rmsg[2]:\"\" (0x3)"), all);
        assert_eq!(read("rcvid:0x11 rmsg[0]:\"\" (0x1)"), Some(vec![0x11, 1]));
        assert_eq!(read("rcvid:0x11 rmsg[1]:\"\" (0x1)"), None);
        assert_eq!(leading(&fields, b"rcvid:0x11 more:3", false), [0x11]);
        assert_eq!(leading(&fields, b"rcvid:0x11x more:3", false), [0; 0]);
    }

    #[test]
    fn results_stand_alone() {
        let read = |text: &str| returned(text.as_bytes(), false);
        assert_eq!(read("ret_val:0x0000000100000020"), Some((true, vec![0x20, 1])));
        assert_eq!(read(" ret_val:-2 empty:0x00000000"), Some((false, vec![u32::MAX - 1, 0])));
        assert_eq!(read("ret_val:0x20"), Some((false, vec![0x20])));
        for other in ["", "ret_val:", "ret_val:1 more:2", "status:0"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn sigevents_lead_back() {
        let read = |text: &[u8]| {
            let mut words = Vec::new();
            sigevent(text, &mut words).map(|()| words)
        };
        assert_eq!(read(b"NONE"), Some(vec![0]));
        assert_eq!(read(b"INTR EVENT"), Some(vec![]));
        assert_eq!(read(b"INTR CRITICAL"), Some(vec![0x106, 0, 0, 0]));
        assert_eq!(read(b"PULSE 0x40000001:10 0xffffffff:0x7"), Some(vec![4, 0x4000_0001, 7, 0x000a_ffff]));
        assert_eq!(read(b"PULSE 0:-1 0:0"), Some(vec![4, 0, 0, 0xffff_0000]));
        assert_eq!(read(b"SIGNAL_CODE 17 0x5:0"), Some(vec![2, 17, 0, 5]));
        assert_eq!(read(b"UNKNOWN(0x9)"), Some(vec![9, 0, 0, 0]));
        for bad in [&b""[..], b"PULSE", b"NONE x", b"UNKNOWN(9", b"FOO", b"SIGNAL x"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
