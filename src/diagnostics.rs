//! Findings about the content of inputs: counted by code, located, bounded in memory. Not for failures of the
//! program, which are [`crate::error::Error`]s.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// How bad a finding is. The words are those of table `diagnostic`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Severity {
        /// Worth knowing; nothing was lost or guessed.
        Info = "info",
        /// Unusual content; handled as the message says.
        Warning = "warning",
        /// A record could not be used, or a result that depends on it may be wrong.
        Error = "error",
    }
}

/// The code of findings about names in a description that nothing has: warnings, and errors where the user
/// is strict.
pub const UNKNOWN_NAME: &str = "unknown-name";

/// One located finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Path of the input as the user gave it.
    pub source: String,
    /// 1-based line, when the input has lines.
    pub line: Option<u64>,
    /// How bad it is.
    pub severity: Severity,
    /// Stable kebab-case code, e.g. `wrong-column-count`.
    pub code: &'static str,
    /// A sentence without a full stop.
    pub message: String,
    /// The offending text, escaped and cut (see [`excerpt`]).
    pub text: String,
}

/// A bounded log: every finding is counted, the first [`Log::KEPT_PER_CODE`] of each code and source are
/// kept.
#[derive(Debug, Clone, Default)]
pub struct Log {
    entries: Vec<Diagnostic>,
    counts: BTreeMap<(String, &'static str), (Severity, u64)>,
}

impl Log {
    /// How many findings of one code and source keep their text.
    pub const KEPT_PER_CODE: u64 = 100;

    /// Counts a finding and keeps it if there is room.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.source.clone(), diagnostic.code);
        let slot = self.counts.entry(key).or_insert((diagnostic.severity, 0));
        slot.1 += 1;
        if slot.1 <= Self::KEPT_PER_CODE {
            self.entries.push(diagnostic);
        }
    }

    /// Appends `other`, keeping counts exact and entries bounded. Order: self first.
    pub fn merge(&mut self, other: Log) {
        let mut kept: BTreeMap<(String, &'static str), u64> = BTreeMap::new();
        for entry in other.entries {
            let key = (entry.source.clone(), entry.code);
            *kept.entry(key).or_default() += 1;
            self.push(entry);
        }
        for (key, (severity, count)) in other.counts {
            let dropped = count - kept.get(&key).copied().unwrap_or(0);
            if dropped > 0 {
                self.counts.entry(key).or_insert((severity, 0)).1 += dropped;
            }
        }
    }

    /// Adds `by` to the line of every kept finding, to place the findings of a chunk in its file.
    pub fn shift_lines(&mut self, by: u64) {
        for line in self.entries.iter_mut().filter_map(|entry| entry.line.as_mut()) {
            *line = line.saturating_add(by);
        }
    }

    /// The kept findings, in the order they were made.
    pub fn entries(&self) -> &[Diagnostic] {
        &self.entries
    }

    /// Exact counts: (source, code, severity, count), ordered by source and code.
    pub fn counts(&self) -> impl Iterator<Item = (&str, &'static str, Severity, u64)> {
        self.counts.iter().map(|((source, code), (severity, n))| (source.as_str(), *code, *severity, *n))
    }

    /// How many findings have at least this severity.
    pub fn count_at_least(&self, severity: Severity) -> u64 {
        self.counts.values().filter(|(s, _)| *s >= severity).map(|(_, n)| n).sum()
    }

    /// How many findings have this code, of any source.
    pub fn count_of(&self, code: &str) -> u64 {
        self.counts.iter().filter(|((_, c), _)| *c == code).map(|(_, (_, n))| n).sum()
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// The first bytes of a line for a message: lossy UTF-8, control characters escaped, at most 120 characters.
pub fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(480)]);
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == 120 {
            out.push('…');
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u64) -> Diagnostic {
        Diagnostic {
            source: "a".into(),
            line: Some(line),
            severity: Severity::Error,
            code: "bad",
            message: String::new(),
            text: String::new(),
        }
    }

    #[test]
    fn counts_stay_exact_when_entries_are_bounded() {
        let mut a = Log::default();
        let mut b = Log::default();
        (0..150).for_each(|n| a.push(finding(n)));
        (0..250).for_each(|n| b.push(finding(n)));
        a.merge(b);
        assert_eq!(a.count_at_least(Severity::Error), 400);
        assert_eq!(a.entries().len() as u64, Log::KEPT_PER_CODE);
    }

    #[test]
    fn lines_shift_and_findings_without_a_line_stay() {
        let mut log = Log::default();
        log.push(finding(3));
        log.push(Diagnostic { line: None, ..finding(0) });
        log.shift_lines(10);
        assert_eq!(log.entries().iter().map(|e| e.line).collect::<Vec<_>>(), [Some(13), None]);
    }

    #[test]
    fn excerpt_escapes_and_cuts() {
        assert_eq!(excerpt(b"a\x1b[0m"), "a\\u{1b}[0m");
        assert_eq!(excerpt(&[b'x'; 500]).chars().count(), 121);
    }
}
