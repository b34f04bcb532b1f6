//! The account of a chunk: the counts of its lines, its findings, and the gaps between its rows. Not the rows
//! (see `rows`).

use super::super::text::{Findings, Line};
use super::lost_data::{OpenGap, gap_reason};
use super::{Counts, ExportSettings, Gap};
use crate::diagnostics::{Log, Severity};
use crate::input::MAX_LINE;
use crate::time::{NotTicks, Rounded};

/// Why a time is not usable: code and message of the diagnostic.
pub(super) type BadTime = (&'static str, &'static str);

/// Collects the account while a chunk is read.
#[derive(Debug)]
pub(super) struct Report<'s> {
    settings: &'s ExportSettings,
    pub(super) counts: Counts,
    pub(super) findings: Findings<'s>,
    gaps: Vec<OpenGap>,
}

impl<'s> Report<'s> {
    pub(super) fn new(settings: &'s ExportSettings) -> Self {
        let findings = Findings::new(&settings.source);
        Self { settings, counts: Counts::default(), findings, gaps: Vec::new() }
    }

    /// Counts a line as rejected, and logs an error.
    pub(super) fn reject(&mut self, line: Line<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.counts.rejected += 1;
        self.findings.note(line, Severity::Error, code, message);
    }

    /// Rejects a line that reached the maximum length.
    pub(super) fn reject_too_long(&mut self, line: Line<'_>) {
        self.reject(line, "line-too-long", || format!("the line has {MAX_LINE} bytes or more"));
    }

    /// Counts a line that reports lost data. `rows_before` is the number of rows of the chunk before it.
    pub(super) fn gap(&mut self, own_time: Option<Rounded>, rows_before: usize, text: &[u8]) {
        self.counts.gaps += 1;
        let own_time = own_time.and_then(|time| self.instant(time).ok());
        self.gaps.push(OpenGap { own_time, rows_before, reason: gap_reason(text) });
    }

    /// Adds the offset of the core to a time. Counts it if it was rounded.
    pub(super) fn instant(&mut self, time: Rounded) -> Result<i64, BadTime> {
        let instant =
            time.ticks.checked_add(self.settings.offset).ok_or_else(|| bad_time(NotTicks::Overflow))?;
        self.counts.inexact_times += u64::from(time.inexact);
        Ok(instant)
    }

    /// Completes the account with what follows from the rows. Returns counts, gaps and log.
    pub(super) fn finish(mut self, lines: usize, times: &[i64]) -> (Counts, Vec<Gap>, Log) {
        self.counts.lines = lines as u64;
        self.counts.rows = times.len() as u64;
        let Counts { lines, rows, gaps, rejected, skipped, .. } = self.counts;
        debug_assert_eq!(lines, rows + gaps + rejected + skipped, "a line is unaccounted for");
        let gaps = self.gaps.into_iter().map(|gap| gap.resolve(times)).collect();
        (self.counts, gaps, self.findings.into_log())
    }
}

/// What is wrong with a time such as `3.0000E-08`.
pub(super) const SCIENTIFIC: &str =
    "a time in scientific notation, which a spreadsheet program writes, has lost digits";

/// The diagnostic for a cell that is not a time.
pub(super) fn bad_time(reason: NotTicks) -> BadTime {
    match reason {
        NotTicks::Garbage => ("bad-time", "not a time"),
        NotTicks::Overflow => ("time-overflow", "the time does not fit 64 bits in the time scale in use"),
    }
}
