//! Standard error: status, warnings, errors. Results go to standard output, not through here.

use crate::diagnostics::{Diagnostic, Log, Severity, UNKNOWN_NAME};
use crate::error::{Error, ErrorKind};
use crate::ops::findings::Found;
use crate::render::printable;
use crate::time::TimeScale;
use std::io::{IsTerminal, Write};

/// The code of findings that files of a description contradict each other.
const CONTRADICTION: &str = "description";

/// Standard error, with the options of the user.
#[derive(Debug)]
pub(super) struct Ui {
    quiet: bool,
}

impl Ui {
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Progress is only shown on a terminal.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }

    /// One line of status; silent with `--quiet`.
    pub fn status(&self, text: &str) {
        if !self.quiet {
            line(text);
        }
    }

    /// The line under a table; what is missing from the table is said with `--quiet`, too.
    pub fn footer(&self, text: &str, is_cut: bool) {
        match self.quiet && is_cut {
            true => self.warning(text),
            false => self.status(text),
        }
    }

    /// Says that a summary is not in the unit that the user wants, if that is not a tick.
    pub fn summary_in_ticks(&self, unit: TimeScale, tick: TimeScale) {
        if unit != tick {
            self.status(&format!(
                "SUMMARIZE shows times in ticks ({tick}), not in {unit}: its columns mix them with other values"
            ));
        }
    }

    /// Something the user should know; also with `--quiet`.
    pub fn warning(&self, text: &str) {
        line(&format!("warning: {text}"));
    }

    /// What makes the results of recordings doubtful.
    pub fn doubts(&self, doubts: &[Found]) {
        for doubt in doubts {
            self.warning(&format!("{}: results are doubtful: {}", doubt.recording, doubt.text()));
        }
    }

    /// An error: what, why, and what to do.
    pub fn error(&self, error: &Error) {
        line(&format!("error: {error}"));
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            line(&format!("caused by: {cause}"));
            source = cause.source();
        }
        for hint in error.hints() {
            line(&format!("hint: {hint}"));
        }
        if error.kind() == ErrorKind::Bug {
            line("hint: this is a fault of btfdb; please report it with the command and its input");
        }
    }

    /// Findings by code, worst first, each with the place of the first.
    pub fn findings(&self, log: &Log) {
        let mut counts: Vec<_> = log.counts().filter(|c| c.2 > Severity::Info).collect();
        counts.sort_by_key(|c| std::cmp::Reverse(c.2));
        for (source, code, severity, count) in counts.iter().take(20) {
            let first = log.entries().iter().find(|d| d.source == *source && d.code == *code);
            let place = first.and_then(|d| d.line).map_or(String::new(), |l| format!(":{l}"));
            let (message, text) = first.map_or(("", ""), |d| (d.message.as_str(), d.text.as_str()));
            let text = if text.is_empty() { String::new() } else { format!(" '{text}'") };
            if [UNKNOWN_NAME, CONTRADICTION].contains(code) {
                // Each is a mistake of its own.
                let all = log.entries().iter().filter(|d| d.source == *source && d.code == *code);
                // Names in a list of the description have no line.
                let place =
                    |d: &Diagnostic| d.line.map_or_else(String::new, |line| format!("{}:{line}: ", d.source));
                let one = |d: &Diagnostic| {
                    line(&format!("{}: {}{} [{code}]", severity.as_str(), place(d), d.message));
                };
                all.take(20).for_each(one);
                if *count > 20 {
                    line(&format!("… and {} more [{code}]: SELECT * FROM diagnostic", count - 20));
                }
                continue;
            }
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            line(&format!("{}: {source}{place}: {message}{text} [{code}]{times}", severity.as_str()));
        }
        if counts.len() > 20 {
            line(&format!("… and {} more kinds of findings: SELECT * FROM diagnostic", counts.len() - 20));
        }
    }
}

fn line(text: &str) {
    // If standard error is closed, there is no other place for the message.
    let _ = writeln!(std::io::stderr(), "{}", printable(text));
}
