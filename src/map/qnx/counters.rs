//! Findings of the mapping: counted by code, reported once each. Not the log itself.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::map::MAP_SOURCE;

/// Missing or contradictory events of a kernel trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finding {
    CallExit,
    CallCut,
    CallOfUnknownThread,
    ReceiptOfNobody,
    InterruptExit,
    InterruptCut,
    Handler,
    Function,
    CreatedTwice,
    NoThread,
    TooManyThreads,
    TooManyProcesses,
    TooManyMessages,
    TooManyNames,
}

impl Finding {
    fn text(self) -> (Severity, &'static str, &'static str) {
        use Severity::{Error, Info, Warning};
        match self {
            Self::CallExit => (Info, "unmatched-exit", "exits of kernel calls without an entry"),
            Self::CallCut => (Info, "missing-exit", "kernel calls without an exit"),
            Self::CallOfUnknownThread => {
                (Warning, "call-of-nobody", "kernel calls on CPUs of which no trace says who runs there")
            }
            Self::ReceiptOfNobody => (
                Info,
                "receipt-of-nobody",
                "messages and pulses received on CPUs of which no trace says who runs there",
            ),
            Self::InterruptExit => (Info, "unmatched-interrupt-exit", "exits of interrupts without an entry"),
            Self::InterruptCut => (
                Info,
                "missing-interrupt-exit",
                "interrupts without an exit; what came after them ended them",
            ),
            Self::Handler => {
                (Info, "unmatched-handler", "events of interrupt handlers that fit no interrupt")
            }
            Self::Function => (Info, "unmatched-function", "entries or exits of functions that do not nest"),
            Self::CreatedTwice => (Info, "created-twice", "threads that were created although they exist"),
            Self::NoThread => (Warning, "no-thread", "thread events whose pid or tid cannot be"),
            Self::TooManyThreads => (Error, "too-many-threads", "events of threads beyond the limit"),
            Self::TooManyProcesses => (Error, "too-many-processes", "events of processes beyond the limit"),
            Self::TooManyMessages => {
                (Error, "too-many-messages", "messages forgotten, because too many were under way")
            }
            Self::TooManyNames => (Error, "too-many-names", "uses of names beyond the limit, shown as OTHER"),
        }
    }
}

/// The number of findings, and the time of the first.
#[derive(Debug, Default)]
pub(super) struct Counters(BTreeMap<Finding, (u64, i64)>);

impl Counters {
    pub fn count(&mut self, finding: Finding, time: i64) {
        self.0.entry(finding).or_insert((0, time)).0 += 1;
    }

    /// One line per code.
    pub fn log(&self) -> Log {
        let mut log = Log::default();
        for (finding, (count, first)) in &self.0 {
            let (severity, code, what) = finding.text();
            let message = format!("{count} {what}, the first at {first}");
            let (source, text) = (MAP_SOURCE.into(), String::new());
            log.push(Diagnostic { source, line: None, severity, code, message, text });
        }
        log
    }
}
