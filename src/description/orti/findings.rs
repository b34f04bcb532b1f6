//! Findings about the text of a description file: ORTI, OS header, symbols. Not the findings of a whole
//! recording (see [`crate::diagnostics`]).

use crate::diagnostics::Severity;
use std::collections::BTreeMap;

/// Something unusual in a description file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in bytes.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// Stable kebab-case code, e.g. `missing-comma`.
    pub code: &'static str,
    /// A sentence without a full stop.
    pub message: String,
}

/// Collects findings with bounded memory.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Maximum number of findings per code; one more reports that there were others.
    const MAX_PER_CODE: usize = 1000;

    /// Adds a finding at a 1-based line and column.
    pub fn push(&mut self, at: (u32, u32), severity: Severity, code: &'static str, message: String) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        let message = match (*count).cmp(&(Self::MAX_PER_CODE + 1)) {
            std::cmp::Ordering::Less => message,
            std::cmp::Ordering::Equal => "the rest of this kind is not listed".to_owned(),
            std::cmp::Ordering::Greater => return,
        };
        self.list.push(Finding { line: at.0, column: at.1, severity, code, message });
    }

    /// The findings in the order of their places.
    pub fn finish(mut self) -> Vec<Finding> {
        self.list.sort_by_key(|f| (f.line, f.column));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_bounded_per_code_and_ordered() {
        let mut findings = Findings::default();
        (0..2000).rev().for_each(|n| findings.push((n, 1), Severity::Info, "much", String::new()));
        findings.push((5, 7), Severity::Error, "other", String::new());
        let list = findings.finish();
        assert_eq!(list.len(), Findings::MAX_PER_CODE + 2);
        assert!(list.is_sorted_by_key(|f| (f.line, f.column)));
        assert_eq!(list[0].code, "other");
    }
}
