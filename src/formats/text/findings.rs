//! Findings about the lines of a chunk: all are counted, and only those that the log keeps are formatted. Not
//! the log (see `diagnostics`).

use super::super::RowLines;
use super::{Line, Names};
use crate::diagnostics::{Diagnostic, Log, Severity, excerpt};
use crate::encoding::NOT_UTF8;
use std::borrow::Cow;

/// Collects findings while a chunk is read.
#[derive(Debug)]
pub(in crate::formats) struct Findings<'s> {
    source: Cow<'s, str>,
    log: Log,
    /// Number of findings per code.
    counts: Vec<(&'static str, u64)>,
}

impl<'s> Findings<'s> {
    /// `source` is the path given by the user.
    pub fn new(source: impl Into<Cow<'s, str>>) -> Self {
        Self { source: source.into(), log: Log::default(), counts: Vec::new() }
    }

    /// Logs a finding about a line. `message` is only called for findings that the log keeps.
    pub fn note(
        &mut self,
        line: Line<'_>,
        severity: Severity,
        code: &'static str,
        message: impl FnOnce() -> String,
    ) {
        let known = self.counts.iter().position(|(c, _)| *c == code);
        let slot = known.unwrap_or_else(|| {
            self.counts.push((code, 0));
            self.counts.len() - 1
        });
        let Some((_, seen)) = self.counts.get_mut(slot) else { return };
        *seen += 1;
        let is_kept = *seen <= Log::KEPT_PER_CODE;
        let (message, text) = if is_kept { (message(), excerpt(line.text)) } else { Default::default() };
        let line = Some(line.number as u64 + 1);
        let source = self.source.clone().into_owned();
        self.log.push(Diagnostic { source, line, severity, code, message, text });
    }

    /// Warns of names that are not UTF-8, if their ids are at least `first`, at the line where each is used
    /// first. `used` and `lines` are the ids and the lines of the rows.
    pub fn note_lossy_names(&mut self, names: &Names, first: u32, used: &[u32], lines: &RowLines) {
        let mut rows = used.iter().enumerate();
        for id in names.lossy_from(first) {
            // Ids are in the order of first use, so the next name is first used in a later row.
            let number = rows.find(|(_, used)| **used == id).map_or(0, |(row, _)| lines.line(row) as usize);
            let line = Line { number, text: names.name(id), terminated: true, too_long: false };
            self.note(line, Severity::Warning, "not-utf8", || NOT_UTF8.to_owned());
        }
    }

    /// Takes the findings since the last call.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }

    /// The findings.
    pub fn into_log(self) -> Log {
        self.log
    }
}
