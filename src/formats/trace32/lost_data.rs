//! Rows that report lost trace data, such as a FIFO overflow: which texts do, and the gap between rows that
//! each of them makes. Not what a line with such a text is otherwise (see `data`, `functions`).

use super::Gap;
use super::fields::trim_by;

/// A gap whose neighbours are not known yet.
#[derive(Debug)]
pub(super) struct OpenGap {
    /// The time of the row itself.
    pub(super) own_time: Option<i64>,
    /// The number of rows of the chunk before it.
    pub(super) rows_before: usize,
    pub(super) reason: String,
}

impl OpenGap {
    /// The gap, given the times of the rows of the chunk.
    pub(super) fn resolve(self, times: &[i64]) -> Gap {
        let begin = self.rows_before.checked_sub(1).and_then(|row| times.get(row)).copied();
        let end = times.get(self.rows_before).copied();
        Gap { begin, own_time: self.own_time, end, reason: self.reason }
    }
}

/// True for a text that reports lost trace data: "TARGET FIFO OVERFLOW", "FLOW ERROR". False for a symbol
/// such as `can_fifo_overflow_isr`: texts have blanks, symbols have none.
pub(super) fn is_gap_phrase(text: &[u8]) -> bool {
    const PHRASES: [[&[u8]; 2]; 9] = [
        [b"fifo", b"overflow"],
        [b"fifo", b"full"],
        [b"flow", b"error"],
        [b"flow", b"lost"],
        [b"trace", b"gap"],
        [b"trace", b"lost"],
        [b"buffer", b"lost"],
        [b"buffer", b"overflow"],
        [b"data", b"lost"],
    ];
    let is_mark = |b: u8| !b.is_ascii_alphanumeric();
    let words = || text.split(u8::is_ascii_whitespace).map(|w| trim_by(w, is_mark)).filter(|w| !w.is_empty());
    words().zip(words().skip(1)).any(|(first, second)| {
        PHRASES.iter().any(|[a, b]| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b))
    })
}

/// [`is_gap_phrase`], or a single word that reports lost trace data. For rows without a cycle.
pub(super) fn is_gap_text(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] =
        [b"fifooverflow", b"fifofull", b"flowerror", b"flowerr", b"tracegap", b"overflow"];
    let word = trim_by(text, |b| matches!(b, b'*' | b' '));
    is_gap_phrase(text) || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// [`is_gap_phrase`], or a text with a part that reports lost trace data. For the cell with the kind of a
/// row, which cannot be a symbol.
pub(super) fn is_gap_kind(text: &[u8]) -> bool {
    const PARTS: [&[u8]; 5] = [b"overflow", b"fifo", b"flowerr", b"lost", b"gap"];
    is_gap_phrase(text) || PARTS.iter().any(|part| contains_ignoring_case(text, part))
}

pub(super) fn contains_ignoring_case(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// A gap text as it is stored: lower case, single blanks, no stars around words, at most 80 characters.
pub(super) fn gap_reason(text: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(text).to_lowercase();
    let words: Vec<&str> =
        lossy.split(|c: char| c.is_whitespace() || c == '*').filter(|w| !w.is_empty()).collect();
    words.join(" ").chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_report_lost_data() {
        assert!(is_gap_text(b"TARGET FIFO OVERFLOW") && is_gap_text(b"*** FLOWERROR ***"));
        assert!(!is_gap_text(b"can_fifo_overflow_isr") && !is_gap_text(b"overflows"));
        assert!(is_gap_kind(b"fifofull") && !is_gap_kind(b"ptrace"));
        assert_eq!(gap_reason(b"*** TARGET  FIFO OVERFLOW ***"), "target fifo overflow");
    }
}
