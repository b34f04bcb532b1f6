//! The account of a chunk: how many lines went where, what was wrong with which, and the gaps between rows.

use super::names::Names;
use super::{Counts, Gap, Settings, fields};
use crate::diagnostics::{Diagnostic, Log, Severity, excerpt};
use crate::input::MAX_LINE;
use crate::time::{NotTicks, Rounded};

/// One line of a chunk, without its line end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// 0-based within the chunk.
    pub(super) number: usize,
    /// The text, without a byte order mark and carriage returns around it.
    pub(super) text: &'a [u8],
    /// False for the end of a chunk that does not end in a line end.
    pub(super) terminated: bool,
    /// True when the line reached the limit at which it may have been cut.
    pub(super) too_long: bool,
}

impl<'a> Line<'a> {
    /// The line that starts at `at`, and where the next one starts.
    pub(super) fn take(chunk: &'a [u8], at: usize, number: usize) -> (Self, usize) {
        let rest = chunk.get(at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest);
        let raw = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let too_long = raw.len() >= MAX_LINE;
        let mut text = fields::without_bom(raw);
        while let Some(shorter) = text.strip_suffix(b"\r") {
            text = shorter;
        }
        (Self { number, text, terminated: end.is_some(), too_long }, at + raw.len() + 1)
    }

    /// True for what carries no record in any export: nothing, or a comment.
    pub(super) fn is_blank_or_comment(&self) -> bool {
        matches!(fields::trim(self.text), [] | [b'#', ..])
    }
}

/// A gap whose neighbours are not known yet.
#[derive(Debug)]
struct OpenGap {
    own_time: Option<i64>,
    rows_before: usize,
    reason: String,
}

/// Why a time could not be used: code and message of the diagnostic.
pub(super) type BadTime = (&'static str, &'static str);

/// Collects the account while a chunk is read.
#[derive(Debug)]
pub(super) struct Report<'s> {
    settings: &'s Settings,
    pub(super) counts: Counts,
    log: Log,
    kept: Vec<(&'static str, u64)>,
    gaps: Vec<OpenGap>,
}

impl<'s> Report<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        Self { settings, counts: Counts::default(), log: Log::default(), kept: Vec::new(), gaps: Vec::new() }
    }

    /// Logs something about a line. The text is only made for findings that the log keeps.
    pub(super) fn note(
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
        let source = self.settings.source.clone();
        self.log.push(Diagnostic { source, line, severity, code, message, text });
    }

    /// Counts a line as unusable and logs it as an error.
    pub(super) fn reject(&mut self, line: Line<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.counts.rejected += 1;
        self.note(line, Severity::Error, code, message);
    }

    /// Rejects a line that reached the limit of the input.
    pub(super) fn reject_too_long(&mut self, line: Line<'_>) {
        self.reject(line, "line-too-long", || format!("the line has {MAX_LINE} bytes or more"));
    }

    /// Warns of names with bytes that are no UTF-8, at the lines where they are used first. `used` and `lines`
    /// are the ids and line numbers of the rows.
    pub(super) fn note_lossy_names(&mut self, names: &Names, used: &[u32], lines: &[u32]) {
        let mut rows = used.iter().zip(lines);
        for id in names.lossy() {
            // Ids follow first use, so the next name is used first further down.
            let number = rows.find(|(used, _)| **used == id).map_or(0, |(_, line)| *line as usize);
            let line = Line { number, text: names.name(id), terminated: true, too_long: false };
            self.note(line, Severity::Warning, "not-utf8", || {
                "a name has bytes that are no UTF-8; they are replaced".to_owned()
            });
        }
    }

    /// Counts a row that tells of lost data; `rows_before` rows of the chunk are known already.
    pub(super) fn gap(&mut self, own_time: Option<Rounded>, rows_before: usize, text: &[u8]) {
        self.counts.gaps += 1;
        let own_time = own_time.and_then(|time| self.instant(time).ok());
        self.gaps.push(OpenGap { own_time, rows_before, reason: fields::gap_reason(text) });
    }

    /// Adds the offset of the core to a time, and counts it when it was rounded.
    pub(super) fn instant(&mut self, time: Rounded) -> Result<i64, BadTime> {
        let instant =
            time.ticks.checked_add(self.settings.offset).ok_or_else(|| bad_time(NotTicks::Overflow))?;
        self.counts.inexact_times += u64::from(time.inexact);
        Ok(instant)
    }

    /// Closes the account: fills in what follows from the rows, and gives counts, gaps and log.
    pub(super) fn finish(mut self, lines: usize, times: &[i64]) -> (Counts, Vec<Gap>, Log) {
        self.counts.lines = lines as u64;
        self.counts.rows = times.len() as u64;
        let Counts { lines, rows, gaps, rejected, skipped, .. } = self.counts;
        debug_assert_eq!(lines, rows + gaps + rejected + skipped, "a line is unaccounted for");
        let gaps = self.gaps.into_iter().map(|gap| gap.settle(times)).collect();
        (self.counts, gaps, self.log)
    }
}

impl OpenGap {
    fn settle(self, times: &[i64]) -> Gap {
        let before = self.rows_before.checked_sub(1).and_then(|row| times.get(row)).copied();
        let end = times.get(self.rows_before).copied();
        let begin = self.own_time.or(before);
        Gap { begin: begin.or(end).unwrap_or(0), begin_open: begin.is_none(), end, reason: self.reason }
    }
}

/// The diagnostic for a cell that should hold a time.
pub(super) fn bad_time(reason: NotTicks) -> BadTime {
    match reason {
        NotTicks::Garbage => ("bad-time", "not a time"),
        NotTicks::Overflow => ("time-overflow", "the time does not fit 64 bits in the time scale in use"),
    }
}
