//! The fields of an event, from its text to the column `payload`: `prev_comm=bash prev_pid=1977 …`, or
//! `bash:1977 [120] S ==> …` as trace-cmd prints those of the scheduler. Nothing of a text is dropped: what
//! is no field is kept as it is. Not what is before the text (see `line`).

use super::line::{Event, is_number};
use crate::formats::payload::Payload;
use std::collections::BTreeSet;

/// The longest name of a task, in bytes (`TASK_COMM_LEN` of the kernel, without its end).
const MOST_COMM: usize = 15;
/// Among so few fields, a name is looked for one by one. Hardly an event has more.
const FEW: usize = 32;
/// The end of the names of numbers that are printed with zeros before them (`target_cpu=002`). Zeros before
/// other values may mean something: they are texts.
const PADDED: &str = "cpu";
/// The name of a text that is not of fields only.
const TEXT: &str = "text";

/// The bits of the letters that a kernel prints for the state of a task that leaves its CPU
/// (include/trace/events/sched.h; `x` and `K` are of kernels before 4.14), with the values of later kernels.
/// trace-cmd has letters of its own for two bits, whatever the kernel: `x` and `W` (libtraceevent,
/// plugin_sched_switch.c).
const STATES: [(&[u8], u64); 12] = [
    (b"R", 0),
    (b"S", 0x1),
    (b"D", 0x2),
    (b"T", 0x4),
    (b"t", 0x8),
    (b"X", 0x10),
    (b"Z", 0x20),
    (b"P", 0x40),
    (b"x", 0x40),
    (b"I", 0x80),
    (b"K", 0x80),
    (b"W", 0x80),
];
/// The bit of `+`: it could go on, and another task was preferred.
const PREEMPTED: u64 = 0x100;

/// A field, and its value.
type Field<'a> = (&'a str, &'a [u8]);

/// Writes the fields of events. Its list is used again for the next event.
#[derive(Debug, Default)]
pub(super) struct Writer {
    payload: Payload,
}

impl Writer {
    /// The fields of an event, and under `context` who wrote it, as an object of JSON.
    pub fn payload(&mut self, event: &Event<'_>) -> &str {
        let Self { payload } = self;
        payload.begin();
        let mut fields = Vec::with_capacity(8);
        if !fields_of(event, &mut fields) {
            payload.key(TEXT);
            payload.bytes(event.text);
        }
        for (key, value) in fields {
            payload.key(key);
            write_value(payload, key, value);
            if key == "prev_state"
                && let Some(number) = state(value)
            {
                payload.key("prev_state.value");
                payload.unsigned(number);
            }
        }
        payload.key("context");
        payload.begin_object();
        payload.key("comm");
        payload.bytes(event.comm);
        payload.key("pid");
        write_value(payload, "pid", event.pid);
        if let Some(tgid) = event.tgid {
            payload.key("tgid");
            write_value(payload, "tgid", tgid);
        }
        if !event.flags.is_empty() {
            payload.key("flags");
            payload.bytes(event.flags);
        }
        payload.end_object();
        payload.end()
    }
}

/// Adds the fields of an event; false if its text holds something else, too.
fn fields_of<'a>(event: &Event<'a>, fields: &mut Vec<Field<'a>>) -> bool {
    let name = event.name.rsplit(|b| *b == b':').next().unwrap_or_default();
    let known = match name {
        b"function" => function(event.text, fields),
        b"sched_switch" => printed_switch(event.text, fields),
        b"sched_wakeup" | b"sched_wakeup_new" | b"sched_waking" => printed_wakeup(event.text, fields),
        _ => None,
    };
    known.is_some() || pairs(event.text, fields)
}

/// `schedule <-do_nanosleep` of the tracer `function`.
fn function<'a>(text: &'a [u8], fields: &mut Vec<Field<'a>>) -> Option<()> {
    let at = memchr::memmem::find(text, b" <-")?;
    fields.push(("ip", text.get(..at)?.trim_ascii()));
    fields.push(("parent_ip", text.get(at + 3..)?.trim_ascii()));
    Some(())
}

/// `bash:1977 [120] S ==> swapper/0:0 [120]` of trace-cmd.
fn printed_switch<'a>(text: &'a [u8], fields: &mut Vec<Field<'a>>) -> Option<()> {
    let at = memchr::memmem::rfind(text, b" ==> ")?;
    let (from, state) = task(text.get(..at)?)?;
    let (to, nothing) = task(text.get(at + 5..)?)?;
    if state.is_empty() || state.contains(&b' ') || !nothing.is_empty() {
        return None;
    }
    fields.extend([
        ("prev_comm", from[0]),
        ("prev_pid", from[1]),
        ("prev_prio", from[2]),
        ("prev_state", state),
    ]);
    fields.extend([("next_comm", to[0]), ("next_pid", to[1]), ("next_prio", to[2])]);
    Some(())
}

/// `bash:1977 [120] CPU:002` of trace-cmd, of old kernels with `success=1` before the CPU.
fn printed_wakeup<'a>(text: &'a [u8], fields: &mut Vec<Field<'a>>) -> Option<()> {
    let (of, mut rest) = task(text)?;
    let success = rest.strip_prefix(b"success=").and_then(|rest| rest.split_first());
    if let Some((_, behind)) = success {
        let value = rest.get(b"success=".len()..rest.len() - behind.len())?;
        fields.push(("success", value));
        rest = behind.trim_ascii();
    }
    let cpu = rest.strip_prefix(b"CPU:").filter(|cpu| is_number(cpu));
    let Some(cpu) = cpu else {
        fields.clear();
        return None;
    };
    fields.extend([("comm", of[0]), ("pid", of[1]), ("prio", of[2]), ("target_cpu", cpu)]);
    Some(())
}

/// `bash:1977 [120] …`: name, number, priority, and the rest.
fn task(text: &[u8]) -> Option<([&[u8]; 3], &[u8])> {
    let text = text.trim_ascii();
    let end = memchr::memrchr(b']', text)?;
    let (named, rest) = (text.get(..end)?, text.get(end + 1..)?.trim_ascii());
    let begin = memchr::memmem::rfind(named, b" [")?;
    let priority = named.get(begin + 2..)?;
    let named = named.get(..begin)?;
    let colon = memchr::memrchr(b':', named)?;
    let (comm, number) = (named.get(..colon)?, named.get(colon + 1..)?);
    let is_priority = is_number(priority.strip_prefix(b"-").unwrap_or(priority));
    (is_number(number) && is_priority).then_some(([comm, number, priority], rest))
}

/// Adds all `key=value`; false if there is something else. A value goes on to the next key: names have
/// blanks.
fn pairs<'a>(text: &'a [u8], fields: &mut Vec<Field<'a>>) -> bool {
    let mut next = key(text, 0);
    let before = next.map_or(text.len(), |(begin, _)| begin);
    // The names of the first fields, if there are many.
    let mut names = BTreeSet::new();
    let mut is_whole = matches!(text.get(..before).unwrap_or_default().trim_ascii(), b"" | b"[");
    while let Some((begin, equals)) = next {
        let name =
            text.get(begin..equals).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
        next = behind_comm(text, name, equals + 1).or_else(|| key(text, equals + 1));
        let end = next.map_or(text.len(), |(begin, _)| begin);
        let mut value = text.get(equals + 1..end).unwrap_or_default();
        if next.is_some() {
            value = value.strip_suffix(b"[").unwrap_or(value).trim_ascii_end();
            value = [&b"==>"[..], b","].iter().find_map(|end| value.strip_suffix(*end)).unwrap_or(value);
        }
        value = value.trim_ascii_end();
        if begin > 0 && text.get(begin - 1) == Some(&b'[') {
            match value.strip_suffix(b"]") {
                Some(inside) => value = inside,
                None => is_whole = false,
            }
        }
        let is_known = if fields.len() < FEW {
            fields.iter().any(|(known, _)| *known == name)
        } else {
            names.extend(fields.iter().skip(names.len()).map(|(known, _)| *known));
            names.contains(name)
        };
        // A second value of one name would hide the first.
        if name == TEXT || name == "context" || is_known {
            is_whole = false;
        } else {
            fields.push((name, value));
        }
    }
    is_whole
}

/// The next `key=`: where it begins, and where its `=` is.
fn key(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let behind = text.get(from..)?;
    memchr::memchr_iter(b'=', behind).map(|at| from + at).find_map(|equals| {
        let before = text.get(from..equals)?;
        let is_of_name = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let begin = equals - before.iter().rev().take_while(is_of_name).count();
        let is_name = text.get(begin).is_some_and(|b| !b.is_ascii_digit()) && begin < equals;
        let is_apart = begin == 0 || text.get(begin - 1).is_some_and(|b| matches!(b, b' ' | b'\t' | b'['));
        (is_name && is_apart && text.get(equals + 1) != Some(&b'=')).then_some((begin, equals))
    })
}

/// The key behind the name of a task, which may look like a key itself: its number follows.
fn behind_comm(text: &[u8], name: &str, value: usize) -> Option<(usize, usize)> {
    let mut number = Vec::with_capacity(16);
    number.push(b' ');
    number.extend_from_slice(name.strip_suffix("comm")?.as_bytes());
    number.extend_from_slice(b"pid=");
    let end = (value + MOST_COMM + number.len()).min(text.len());
    let at = value + memchr::memmem::rfind(text.get(value..end)?, &number)?;
    Some((at + 1, at + number.len() - 1))
}

/// Writes a value: a number if it is one and no digit of its text is lost.
fn write_value(payload: &mut Payload, key: &str, value: &[u8]) {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_padded = digits.len() > 1 && digits.starts_with('0') && !key.ends_with(PADDED);
    if is_number(digits.as_bytes()) && !is_padded && text != "-0" {
        if let Ok(number) = text.parse::<u64>() {
            return payload.unsigned(number);
        }
        if let Ok(number) = text.parse::<i64>() {
            return payload.signed(number);
        }
    }
    payload.bytes(value);
}

/// The number of a state that is printed in letters: `S`, `R+`, `D|K`.
fn state(letters: &[u8]) -> Option<u64> {
    let (letters, preempted) = match letters.strip_suffix(b"+") {
        Some(letters) => (letters, PREEMPTED),
        None => (letters, 0),
    };
    letters.split(|b| *b == b'|').try_fold(preempted, |bits, letter| {
        let known = STATES.iter().find(|(known, _)| *known == letter)?;
        Some(bits | known.1)
    })
}
