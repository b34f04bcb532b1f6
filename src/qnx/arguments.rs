//! The arguments of an event on one line, as traceprinter prints them: `pid:4099 tid:1`. Not the line of a
//! listing around them.

use super::layout::{Value, Values};
use super::text::{c_string, is_print, is_user_string};
use super::vocabulary::{fields, is_failure};
use super::write::{Line, Out, dec, hex_padded, hex08};
use super::{Class, Event, Flavour, Version};
use crate::encoding::escaped;

/// Appends all arguments of an event: `name:value name:value`. Addresses have a `0x` here. Text that cannot
/// be read from the printed bytes is followed by its words. Where the arguments are not known, and for events
/// whose first part was lost, the words: `d0:0x00000001 d1:0x0000000b`. Never a line end. An interrupted
/// kernel call has none.
pub fn arguments(flavour: Flavour, event: &Event<'_>, out: &mut String) {
    if event.class == Class::IntCall {
        return;
    }
    if event.words.len() > 2 && is_user_string(flavour, event) {
        out.push_str("STR:\"");
        one_line(out, event.words, flavour.big_endian);
        out.push('"');
        return;
    }
    let mut line = Line::new(out);
    let padded = flavour.version >= Version::V7_0;
    let manner = Manner { big_endian: flavour.big_endian, padded, line_ends: false };
    match fields(flavour.version, event) {
        None => words(&mut line, event.words),
        Some(_) if is_failure(event) => {
            // A comma, here only (traceprinter 1.02).
            line.ascii(b"ret_val:-1, errno:");
            dec(&mut line, i64::from(event.word(1) as i32));
        }
        Some(fields) => {
            for (n, (field, argument)) in Values::new(fields, event.words, flavour.big_endian).enumerate() {
                if n > 0 {
                    line.ascii(b" ");
                }
                line.ascii(field.label.as_bytes());
                match argument {
                    Value::Name(words) => one_line(line.finish(), words, flavour.big_endian),
                    // With 0x, unlike the printer: the base of a number must be visible.
                    Value::Pointer(at) => {
                        line.ascii(b"0x");
                        hex_padded(&mut line, at, 1);
                    }
                    other => value(&mut line, other, manner),
                }
            }
        }
    }
    line.finish();
}

/// `d0:0x… d1:0x…`.
pub fn words(out: &mut impl Out, words: &[u32]) {
    for (n, word) in (0_i64..).zip(words) {
        out.ascii(if n > 0 { b" d" } else { b"d" });
        dec(out, n);
        out.ascii(b":");
        hex08(out, *word);
    }
}

/// How values are written.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// See [`Flavour::big_endian`].
    pub big_endian: bool,
    /// Numbers of 64 bits have leading zeros, as traceprinter 7 prints them.
    pub padded: bool,
    /// Line ends in messages are printable, as they are for traceprinter 1.02.
    pub line_ends: bool,
}

/// Appends the value of an argument.
#[inline]
pub fn value(out: &mut impl Out, value: Value<'_>, manner: Manner) {
    match value {
        Value::Hex(word) => hex08(out, word),
        Value::Dec(word) => dec(out, i64::from(word)),
        // The %p of Neutrino's library has no 0x.
        Value::Pointer(at) => hex_padded(out, at, 1),
        Value::Hex64(number) => {
            out.ascii(b"0x");
            hex_padded(out, number, if manner.padded { 16 } else { 1 });
        }
        Value::Dec64(number) => dec(out, number),
        Value::Text(words) => message(out, words, manner),
        Value::Name(words) => name(out, words, manner.big_endian),
        Value::SigEvent(words) => sigevent(out, words),
    }
}

/// `"abcd" (0x64636261 0x…)`. The text consists of strings of four bytes and ends with the first that is
/// shorter or not printable. The words are the bytes as a little-endian host sees them: traceprinter never
/// turns them.
fn message(out: &mut impl Out, words: &[u32], manner: Manner) {
    let big_endian = manner.big_endian;
    out.ascii(b"\"");
    for word in words {
        let bytes = if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        let length = bytes.iter().position(|b| *b == 0).unwrap_or(4);
        let slot = bytes.get(..length).unwrap_or_default();
        if !slot.iter().all(|b| is_print(*b) || *b == b'\n' && manner.line_ends) {
            break;
        }
        out.ascii(slot);
        if length < 4 {
            break;
        }
    }
    out.ascii(b"\" (");
    for (n, word) in words.iter().enumerate() {
        if n > 0 {
            out.ascii(b" ");
        }
        hex08(out, if big_endian { word.swap_bytes() } else { *word });
    }
    out.ascii(b")");
}

/// The string as traceprinter 1.02 prints it: nothing at all when a byte of it is not printable. Line ends
/// count as printable there.
fn name(out: &mut impl Out, words: &[u32], big_endian: bool) {
    let string = c_string(words, big_endian);
    if string.clone().all(|b| is_print(b) || b == b'\n') {
        string.for_each(|byte| out.ascii(&[byte]));
    }
}

/// The string, with control characters escaped and bytes that are no UTF-8 escaped.
fn one_line(out: &mut String, words: &[u32], big_endian: bool) {
    let string = c_string(words, big_endian);
    if string.clone().all(is_print) {
        return string.for_each(|byte| out.push(char::from(byte)));
    }
    let bytes: Vec<u8> = string.collect();
    for c in escaped(&bytes).chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
}

/// A `struct sigevent` of Neutrino 6: how to notify; signal or connection; value; code and priority in 16
/// bits each.
fn sigevent(out: &mut impl Out, words: &[u32]) {
    let word = |n: usize| words.get(n).copied().unwrap_or(0);
    // `%#x`: no 0x before a zero.
    let alternate = |out: &mut dyn FnMut(&str), number: u32| match number {
        0 => out("0"),
        number => out(&format!("{number:#x}")),
    };
    let mut put = |text: &str| out.text(text);
    let (code, priority) = (word(3) as i16, (word(3) >> 16) as i16);
    let code = i32::from(code) as u32;
    match word(0) & 0xff {
        0 => put("NONE"),
        1 => put(&format!("SIGNAL {}", word(1))),
        kind @ (2 | 3) => {
            put(if kind == 2 { "SIGNAL_CODE " } else { "SIGNAL_THREAD " });
            put(&format!("{} ", word(1)));
            alternate(&mut put, code);
            put(":");
            alternate(&mut put, word(2));
        }
        4 => {
            put("PULSE ");
            alternate(&mut put, word(1));
            put(&format!(":{priority} "));
            alternate(&mut put, code);
            put(":");
            alternate(&mut put, word(2));
        }
        5 => put("UNBLOCK"),
        6 => put("INTR"),
        7 => put(&format!("THREAD {code:x}:{:x}", word(2))),
        other => put(&format!("UNKNOWN({other:#x})")),
    }
    if word(0) & 0x100 != 0 {
        put(" CRITICAL");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qnx::Status;

    fn of(flavour: Flavour, class: Class, event: u16, is64: bool, words: &[u32]) -> String {
        let (cpu, flags, status) = (0, 0, Status::Ok);
        let event = Event { record: 0, cpu, flags, class, event, is64, status, cycles: 0, words };
        let mut out = String::new();
        arguments(flavour, &event, &mut out);
        out
    }

    const V6: Flavour = Flavour { version: Version::V6_5, big_endian: false };
    const V7: Flavour = Flavour { version: Version::V7_1, big_endian: false };
    const BIG: Flavour = Flavour { version: Version::V7_1, big_endian: true };

    #[test]
    fn modes_are_distinguished_by_the_number_of_words() {
        assert_eq!(of(V6, Class::KerCall, 11, false, &[1, 0x40116]), "coid:0x00000001 msg:\"\" (0x00040116)");
        assert_eq!(
            of(V6, Class::KerCall, 11, false, &[0x4000_0001, 1, 2, 0x6463_6261, 0x6867_6665, 0x006b_6a69]),
            "coid:0x40000001 sparts:1 rparts:2 msg:\"abcdefghijk\" (0x64636261 0x68676665 0x006b6a69)"
        );
        assert_eq!(of(V6, Class::KerCall, 47, false, &[u32::MAX, 0]), "tid:-1 status_p:0x0");
        assert_eq!(
            of(V6, Class::KerCall, 47, false, &[1, 2, 0xf002_3170, 0]),
            "tid:1 priority:2 status_p:0xf0023170"
        );
        assert_eq!(of(V6, Class::Thread, 1, false, &[1, 2, 10, 2]), "pid:1 tid:2 priority:10 policy:2");
    }

    #[test]
    fn numbers_of_64_bits() {
        let words = [5, 0x1000, 0, 0x2000, 1, 3];
        assert_eq!(
            of(V6, Class::System, 6, false, &words),
            "pid:5 vaddr:0x1000 len:0x100002000 flags:0x00000003"
        );
        assert_eq!(
            of(V7, Class::System, 7, false, &words[..5]),
            "pid:5 vaddr:0x0000000000001000 len:0x0000000100002000"
        );
        assert_eq!(of(BIG, Class::KerCall, 80, true, &[1, 2, 3, 4]), "sync_p:0x100000002 count:3 owner:4");
        assert_eq!(of(V7, Class::KerCall, 80, true, &[1, 2]), "sync_p:0x200000001");
    }

    #[test]
    fn exits_that_failed_tell_errno() {
        assert_eq!(of(V6, Class::KerExit, 11, false, &[u32::MAX, 4]), "ret_val:-1, errno:4");
        assert_eq!(of(V7, Class::KerExit, 127, false, &[u32::MAX, 4]), "ret_val:-1, errno:4");
        assert_eq!(of(V7, Class::KerExit, 17, true, &[u32::MAX, u32::MAX, 0, 0]), "wbytes:-1");
    }

    #[test]
    fn what_is_not_known_is_shown_as_words() {
        assert_eq!(of(V7, Class::Quip, 1, false, &[1, 2]), "d0:0x00000001 d1:0x00000002");
        assert_eq!(of(V7, Class::User, 7, false, &[1, 2, 3]), "d0:0x00000001 d1:0x00000002 d2:0x00000003");
        assert_eq!(
            of(V7, Class::User, 7, false, &[0x6c6c_6548, 0x0a6f, 0, 0]),
            "d0:0x6c6c6548 d1:0x00000a6f d2:0x00000000 d3:0x00000000"
        );
        assert_eq!(
            of(V7, Class::User, 7, false, &[0x6c6c_6548, 0x6c65_480a, 0x0a6f, 0]),
            "STR:\"Hell\\nHelo\\n\""
        );
        assert_eq!(of(V7, Class::IntCall, 7, false, &[0, 0]), "");
        assert_eq!(of(V7, Class::Thread, 1, false, &[]), "");
    }

    #[test]
    fn texts_of_big_endian_targets_keep_their_bytes() {
        let words = [1, 2, 0x6162_6300, 0];
        assert_eq!(of(BIG, Class::Process, 3, false, &words), "ppid:1 pid:2 name:abc");
        assert_eq!(
            of(BIG, Class::KerCall, 11, false, &words[1..3]),
            "coid:0x00000002 msg:\"abc\" (0x00636261)"
        );
        // A name may have any bytes.
        let words = [1, 2, 0xc3a4_0aff, 0];
        assert_eq!(of(BIG, Class::Process, 3, false, &words), "ppid:1 pid:2 name:ä\\n\\xff");
    }

    #[test]
    fn sigevents() {
        let of = |words: &[u32]| of(V6, Class::HandlerExit, 4, false, &[&[0x1b], words].concat());
        assert_eq!(of(&[0]), "interrupt:0x0000001b SIGEVENT:NONE");
        assert!(of(&[4, 0x4000_0001, 7, 0x000a_ffff]).ends_with(":PULSE 0x40000001:10 0xffffffff:0x7"));
        assert!(of(&[0x106, 0, 0, 0]).ends_with(":INTR CRITICAL"));
        assert!(of(&[1, 17, 0, 0]).ends_with(":SIGNAL 17"));
        assert!(of(&[2, 17, 0, 5]).ends_with(":SIGNAL_CODE 17 0x5:0"));
        assert!(of(&[9, 0, 0, 0]).ends_with(":UNKNOWN(0x9)"));
    }
}
