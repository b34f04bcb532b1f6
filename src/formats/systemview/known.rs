//! The events that every recorder has: their numbers, names and parameters (`SEGGER_SYSVIEW.h` V3). Not those
//! of an RTOS or of a module of the user, which descriptions name.

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number of 32 bits.
    Unsigned,
    /// The same, read with its sign.
    Signed,
    /// Bytes behind their number.
    Text,
    /// Numbers behind how many there are.
    List,
}

/// A parameter: its name and what it is.
type Parameter = (&'static str, Kind);

pub(super) const NOP: u32 = 0;
pub(super) const OVERFLOW: u32 = 1;
pub(super) const TRACE_START: u32 = 10;
pub(super) const TRACE_STOP: u32 = 11;
pub(super) const SYSDESC: u32 = 14;
pub(super) const MODULEDESC: u32 = 22;
pub(super) const INIT: u32 = 24;
/// Its first parameter tells what it is.
pub(super) const EXTENDED: u32 = 31;
/// Events below this number have no length in front of their parameters.
pub(super) const WITH_LENGTH: u32 = 24;

use Kind::{List, Text, Unsigned};

/// The events by number, each with its name and parameters.
const EVENTS: [(&str, &[Parameter]); 30] = [
    ("NOP", &[]),
    ("OVERFLOW", &[("drop_cnt", Unsigned)]),
    ("ISR_ENTER", &[("irq_num", Unsigned)]),
    ("ISR_EXIT", &[]),
    ("TASK_START_EXEC", &[("tid", Unsigned)]),
    ("TASK_STOP_EXEC", &[]),
    ("TASK_START_READY", &[("tid", Unsigned)]),
    ("TASK_STOP_READY", &[("tid", Unsigned), ("cause", Unsigned)]),
    ("TASK_CREATE", &[("tid", Unsigned)]),
    ("TASK_INFO", &[("tid", Unsigned), ("prio", Unsigned), ("name", Text)]),
    ("TRACE_START", &[]),
    ("TRACE_STOP", &[]),
    ("SYSTIME_CYCLES", &[("cycles", Unsigned)]),
    ("SYSTIME_US", &[("low", Unsigned), ("high", Unsigned)]),
    ("SYSDESC", &[("desc", Text)]),
    ("MARK_START", &[("id", Unsigned)]),
    ("MARK_STOP", &[("id", Unsigned)]),
    ("IDLE", &[]),
    ("ISR_TO_SCHEDULER", &[]),
    ("TIMER_ENTER", &[("id", Unsigned)]),
    ("TIMER_EXIT", &[]),
    ("STACK_INFO", &[("tid", Unsigned), ("base", Unsigned), ("sz", Unsigned), ("unused", Unsigned)]),
    ("MODULEDESC", &[("mod_id", Unsigned), ("evt_off", Unsigned), ("desc", Text)]),
    ("DATA_SAMPLE", &[("id", Unsigned), ("value", Unsigned)]),
    (
        "INIT",
        &[("sys_freq", Unsigned), ("cpu_freq", Unsigned), ("ram_base", Unsigned), ("id_shift", Unsigned)],
    ),
    ("NAME_RESOURCE", &[("id", Unsigned), ("name", Text)]),
    ("PRINT", &[("msg", Text), ("lvl", Unsigned), ("args", List)]),
    ("NUMMODULES", &[("mod_cnt", Unsigned)]),
    ("END_CALL", &[("event", Unsigned), ("result", Unsigned)]),
    ("TASK_TERMINATE", &[("tid", Unsigned)]),
];

/// The extended events, by the number behind that of the event.
const EXTENDED_EVENTS: [(&str, &[Parameter]); 6] = [
    ("MARK", &[("id", Unsigned)]),
    ("NAME_MARKER", &[("id", Unsigned), ("name", Text)]),
    ("HEAP_DEFINE", &[("heap", Unsigned), ("base", Unsigned), ("size", Unsigned), ("metadata", Unsigned)]),
    ("HEAP_ALLOC", &[("heap", Unsigned), ("data", Unsigned), ("size", Unsigned)]),
    ("HEAP_ALLOC_EX", &[("heap", Unsigned), ("data", Unsigned), ("size", Unsigned), ("tag", Unsigned)]),
    ("HEAP_FREE", &[("heap", Unsigned), ("data", Unsigned)]),
];

/// The name and the parameters of an event.
pub(super) fn event(id: u32) -> Option<(&'static str, &'static [Parameter])> {
    EVENTS.get(id as usize).copied()
}

/// The same for an extended event.
pub(super) fn extended(id: u32) -> Option<(&'static str, &'static [Parameter])> {
    EXTENDED_EVENTS.get(id as usize).copied()
}
