//! The lines of an imported file that are no events, in their order, for the writer to put back where they
//! were.

use crate::btf::spec::Version;
use crate::engine::{Param, ResultStream, Session};
use crate::error::Result;
use crate::formats::btf::Keyword;
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use crate::selection::Selection;
use crate::time::TimeScale;

/// Which lines go with a selection.
pub(super) struct Original {
    batches: ResultStream,
    batch: Option<Lines>,
    row: usize,
    /// True when all events are exported, so that all lines go with them.
    whole: bool,
    /// Rejected lines passed over: they are no BTF, and only excerpts of them are kept.
    pub rejected: u64,
    /// The unit of time that the first of them says.
    pub unit: Option<TimeScale>,
    /// The version that the first of them says, when it is known.
    pub version: Option<Version>,
}

struct Lines {
    next_seq: Integers,
    kind: Texts,
    text: Texts,
}

/// A line to be written.
pub(super) struct Line {
    pub parameter: bool,
    pub text: String,
}

impl Original {
    pub fn open(session: &Session, recording: &str, selection: &Selection) -> Result<Self> {
        let table = tables::BTF_LINE.name;
        let sql =
            format!("SELECT next_seq, kind, text FROM {table} WHERE recording = $recording ORDER BY line");
        let batches = session.sql(&sql, &[("recording", Param::from(recording))])?;
        let whole = selection.is_whole();
        let mut original =
            Self { batches, batch: None, row: 0, whole, rejected: 0, unit: None, version: None };
        original.fill()?;
        let said = |keyword| original.batch.as_ref().and_then(|lines| lines.said(keyword));
        let (unit, version) = (said(Keyword::TimeScale), said(Keyword::Version));
        original.unit = unit.and_then(|unit| TimeScale::parse(&unit.to_ascii_lowercase()));
        original.version = version.and_then(Version::parse);
        Ok(original)
    }

    /// The next line that belongs before the event `seq`; at the end of the events, `None` asks for all that
    /// is left.
    pub fn before(&mut self, seq: Option<i64>) -> Result<Option<Line>> {
        while self.fill()? {
            let Some(lines) = &self.batch else { break };
            let next = lines.next_seq.value(self.row);
            if seq.is_some_and(|seq| next > seq) {
                break;
            }
            let kind = lines.kind.value(self.row);
            let parameter = kind == "parameter" || kind == "table_row";
            // A comment goes with the event after it, those of the header with any; a parameter always
            // counts.
            self.rejected += u64::from(kind == "rejected");
            let wanted = parameter || self.whole || next == 0 || seq == Some(next);
            let line = (wanted && kind != "rejected")
                .then(|| Line { parameter, text: lines.text.value(self.row).to_owned() });
            self.row += 1;
            if line.is_some() {
                return Ok(line);
            }
        }
        Ok(None)
    }

    /// The event that the next line belongs before, after [`Original::before`] gave none.
    pub fn next_seq(&self) -> Option<i64> {
        self.batch
            .as_ref()
            .filter(|lines| self.row < lines.next_seq.len())
            .map(|lines| lines.next_seq.value(self.row))
    }

    /// True when there is a line at hand.
    fn fill(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|b| self.row >= b.next_seq.len()) {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let (next_seq, [kind, text]) = result::columns(&batch?)?;
            self.batch = Some(Lines { next_seq, kind, text });
            self.row = 0;
        }
        Ok(true)
    }
}

impl Lines {
    /// The first value of a parameter.
    fn said(&self, wanted: Keyword) -> Option<&str> {
        let keywords = self.text.iter().flatten().filter_map(Keyword::split);
        keywords.filter(|(keyword, _)| *keyword == wanted).map(|(_, value)| value).next()
    }
}
