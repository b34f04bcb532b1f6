//! The lines of an imported file that are not events, in order, for the writer to put back in place.

use crate::btf::spec::Version;
use crate::engine::{Param, ResultStream, Session};
use crate::error::Result;
use crate::formats::btf::Keyword;
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use crate::selection::Selection;
use crate::time::TimeScale;

/// Chooses the lines for a selection.
pub(super) struct Original {
    batches: ResultStream,
    batch: Option<Lines>,
    row: usize,
    /// True if all events are exported, and therefore all lines.
    whole: bool,
    /// Rejected lines that were skipped: they are not BTF, and the database has only excerpts of them.
    pub rejected: u64,
    /// The unit of time that the first lines state.
    pub unit: Option<TimeScale>,
    /// The version that the first lines state, if it is known.
    pub version: Option<Version>,
}

struct Lines {
    next_seq: Integers,
    kind: Texts,
    text: Texts,
}

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
        let parameter = |keyword| original.batch.as_ref().and_then(|lines| lines.parameter(keyword));
        let (unit, version) = (parameter(Keyword::TimeScale), parameter(Keyword::Version));
        original.unit = unit.and_then(|unit| TimeScale::parse(&unit.to_ascii_lowercase()));
        original.version = version.and_then(Version::parse);
        Ok(original)
    }

    /// The next line before the event `seq`; `None` stands for the end of the events and returns the rest.
    pub fn before(&mut self, seq: Option<i64>) -> Result<Option<Line>> {
        while self.fill()? {
            let Some(lines) = &self.batch else { break };
            let next = lines.next_seq.value(self.row);
            if seq.is_some_and(|seq| next > seq) {
                break;
            }
            let kind = lines.kind.value(self.row);
            let parameter = kind == "parameter" || kind == "table_row";
            // A comment goes with the event after it, one of the header with any; parameters always count.
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

    /// The event after the next line, once [`Original::before`] returned none.
    pub fn next_seq(&self) -> Option<i64> {
        self.batch
            .as_ref()
            .filter(|lines| self.row < lines.next_seq.len())
            .map(|lines| lines.next_seq.value(self.row))
    }

    /// True if there is a current line.
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
    fn parameter(&self, wanted: Keyword) -> Option<&str> {
        let keywords = self.text.iter().flatten().filter_map(Keyword::split);
        keywords.filter(|(keyword, _)| *keyword == wanted).map(|(_, value)| value).next()
    }
}
