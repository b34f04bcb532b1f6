//! Findings about the lines of a chunk: counted, and only those made into text that the log keeps.

use super::super::RowLines;
use super::{Line, Names};
use crate::diagnostics::{Diagnostic, Log, Severity, excerpt};
use std::borrow::Cow;

/// Collects findings while a chunk is read.
#[derive(Debug)]
pub(in crate::formats) struct Findings<'s> {
    source: Cow<'s, str>,
    log: Log,
    kept: Vec<(&'static str, u64)>,
}

impl<'s> Findings<'s> {
    /// `source` is the path as the user gave it.
    pub fn new(source: impl Into<Cow<'s, str>>) -> Self {
        Self { source: source.into(), log: Log::default(), kept: Vec::new() }
    }

    /// Logs something about a line. The text is only made for findings that the log keeps.
    pub fn note(
        &mut self,
        line: Line<'_>,
        severity: Severity,
        code: &'static str,
        message: impl FnOnce() -> String,
    ) {
        let known = self.kept.iter().position(|(c, _)| *c == code);
        let slot = known.unwrap_or_else(|| {
            self.kept.push((code, 0));
            self.kept.len() - 1
        });
        let Some((_, seen)) = self.kept.get_mut(slot) else { return };
        *seen += 1;
        let keep = *seen <= Log::KEPT_PER_CODE;
        let (message, text) = if keep { (message(), excerpt(line.text)) } else { Default::default() };
        let line = Some(line.number as u64 + 1);
        let source = self.source.clone().into_owned();
        self.log.push(Diagnostic { source, line, severity, code, message, text });
    }

    /// Warns of names with bytes that are no UTF-8, from the id `first` on, at the lines where they are used first. `used` and
    /// `lines` are the ids and the lines of the rows.
    pub fn note_lossy_names(&mut self, names: &Names, first: u32, used: &[u32], lines: &RowLines) {
        let mut rows = used.iter().enumerate();
        for id in names.lossy_from(first) {
            // Ids follow first use, so the next name is used first further down.
            let number = rows.find(|(_, used)| **used == id).map_or(0, |(row, _)| lines.line(row) as usize);
            let line = Line { number, text: names.name(id), terminated: true, too_long: false };
            self.note(line, Severity::Warning, "not-utf8", || {
                "a name has bytes that are no UTF-8; they are replaced".to_owned()
            });
        }
    }

    /// What was found since this was last asked.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }

    /// What was found.
    pub fn into_log(self) -> Log {
        self.log
    }
}
