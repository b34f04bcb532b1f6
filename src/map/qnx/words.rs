//! Arguments of kernel events: the meaning of each word. Not what they mean for a thread.

use crate::qnx::layout::{Value, Values};
use crate::qnx::{Event, Flavour, fields};
use crate::words::words;
use serde::{Deserialize, Serialize};

/// `−1`: for a process or thread "none", "unknown" or "myself", for a result "an error".
pub(super) const NONE: u32 = u32::MAX;

/// Pid and tid of an event of a thread; `None` if the words cannot denote a thread.
pub(super) fn thread(event: &Event<'_>) -> Option<(u32, u32)> {
    let (pid, tid) = (event.word(0), event.word(1));
    (event.words.len() >= 2 && pid != NONE && tid != NONE && tid != 0).then_some((pid, tid))
}

words! {
    /// A scheduling policy, in the order of the numbers of POSIX policies on Neutrino, from 1 (sched.h). Its
    /// word is that of column `policy`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Policy { Fifo = "FIFO", Rr = "RR", Other = "OTHER", Sporadic = "SPORADIC" }
}

/// Priority and policy, which wide events of threads have.
pub(super) fn scheduling(event: &Event<'_>) -> (Option<i64>, Option<Policy>) {
    let [_, _, priority, policy, ..] = *event.words else { return (None, None) };
    let policy = policy.checked_sub(1).and_then(|n| Policy::ALL.get(n as usize)).copied();
    (Some(i64::from(priority as i32)), policy)
}

/// An argument by its traceprinter name; `None` if the event does not have it. −1 is returned unsigned.
pub(super) fn argument(flavour: Flavour, event: &Event<'_>, name: &str) -> Option<u64> {
    let fields = fields(flavour.version, event)?;
    let mut values = Values::new(fields, event.words, flavour.big_endian);
    values.find(|(field, _)| field.name() == name).and_then(|(_, value)| number(value))
}

/// The first argument; the first word, or an address if one is expected, if no layout is known.
pub(super) fn first(flavour: Flavour, event: &Event<'_>, address: bool) -> u64 {
    let fields = fields(flavour.version, event).unwrap_or_default();
    let known = Values::new(fields, event.words, flavour.big_endian).next();
    known.and_then(|(_, value)| number(value)).unwrap_or_else(|| match (address && event.is64, flavour) {
        (false, _) => u64::from(event.word(0)),
        (true, Flavour { big_endian: true, .. }) => u64::from(event.word(0)) << 32 | u64::from(event.word(1)),
        (true, _) => u64::from(event.word(1)) << 32 | u64::from(event.word(0)),
    })
}

/// What a kernel call returned.
pub(super) fn result(flavour: Flavour, event: &Event<'_>) -> i64 {
    let fields = fields(flavour.version, event).unwrap_or_default();
    match Values::new(fields, event.words, flavour.big_endian).next() {
        Some((_, Value::Dec64(result))) => result,
        Some((_, Value::Hex64(result) | Value::Pointer(result))) => result as i64,
        _ => i64::from(event.word(0) as i32),
    }
}

fn number(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Hex(n) => Some(u64::from(n)),
        Value::Dec(n) => Some(u64::from(n as u32)),
        Value::Pointer(n) | Value::Hex64(n) => Some(n),
        Value::Dec64(n) => Some(n as u64),
        Value::Text(_) | Value::Name(_) | Value::SigEvent(_) => None,
    }
}

/// The holder in the owner word of a mutex: the low 15 bits of its pid, and its tid. Bit 31 means that others
/// wait (`_NTO_SYNC_WAITING`); 0 is none, and numbers with all bits of the tid set are special marks.
pub(super) fn holder(owner: u32) -> Option<(u32, u32)> {
    let (pid, tid) = ((owner >> 16) & 0x7fff, owner & 0xffff);
    (tid != 0 && tid < 0xff00).then_some((pid, tid))
}
