//! Tables on the terminal, made to fit it. If a table is too wide, a small number of rows is shown as lines
//! of name and value, otherwise the columns are cut at the edge. Not for results that go elsewhere.

use crate::error::Result;
use crate::render::{Format, Rendered, records, render};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::borrow::Cow;

/// Maximum number of rows that are shown one below the other.
const MAX_RECORDS: u64 = 3;
/// A wide table with so few columns has long texts, e.g. plans, and is shown whole.
const NARROW: usize = 2;

pub(super) struct Fitted {
    pub text: String,
    rendered: Rendered,
    cut: bool,
}

/// The first `cap` rows for a terminal of `width` columns.
pub(super) fn fitted(
    schema: &SchemaRef,
    rows: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    cap: usize,
    width: usize,
) -> Result<Fitted> {
    // Not many more rows than are shown.
    let mut batches = Vec::new();
    let mut left = cap.saturating_add(1);
    while let Some(batch) = if left > 0 { rows.next().transpose()? } else { None } {
        let some = batch.slice(0, batch.num_rows().min(left));
        left -= some.num_rows();
        batches.push(some);
    }
    let mut out = Vec::new();
    let again = &mut batches.iter().cloned().map(Ok);
    let rendered = render(schema, again, Format::Table, &mut out, Some(cap), 1)?;
    let mut text = String::from_utf8_lossy(&out).into_owned();
    let fits = text.lines().all(|line| line.chars().count() <= width);
    if fits || schema.fields().len() <= NARROW {
        return Ok(Fitted { text, rendered, cut: false });
    }
    if (1..=MAX_RECORDS).contains(&rendered.rows) && !rendered.more {
        return Ok(Fitted { text: records(schema, &batches)?, rendered, cut: false });
    }
    text = text.lines().map(|line| cut(line, width) + "\n").collect();
    Ok(Fitted { text, rendered, cut: true })
}

impl Fitted {
    /// True if rows, or ends of lines, are not shown.
    pub fn is_cut(&self) -> bool {
        self.rendered.more || self.cut
    }

    /// The line under the table: the number of rows, and how to see the rest.
    pub fn footer(&self) -> String {
        let all = if self.rendered.more { "; `.rows 0` shows all" } else { "" };
        let whole = if self.cut { "; `.pager on` shows whole lines" } else { "" };
        self.rendered.footer() + all + whole
    }
}

fn cut(line: &str, width: usize) -> Cow<'_, str> {
    match line.char_indices().nth(width.saturating_sub(1)) {
        Some((at, _)) if line.chars().count() > width => {
            Cow::Owned(format!("{}…", line.get(..at).unwrap_or("")))
        }
        _ => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use std::sync::Arc;

    fn shown(rows: usize, columns: usize, cap: usize, width: usize) -> (String, String) {
        let number = || Arc::new(Int64Array::from((0..rows as i64).collect::<Vec<_>>())) as ArrayRef;
        let text = Arc::new(StringArray::from(vec!["äöü äöü äöü"; rows])) as ArrayRef;
        let columns = (1..columns).map(|n| (format!("n{n}"), number())).chain([("text".into(), text)]);
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut batches = std::iter::repeat_n(batch.clone(), 2).map(Ok);
        let fitted = fitted(&batch.schema(), &mut batches, cap, width).unwrap();
        (fitted.footer(), fitted.text)
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let (footer, text) = shown(1, 3, 40, 80);
        assert_eq!(text.lines().next(), Some("n1  n2  text"));
        assert_eq!(footer, "2 rows");
    }

    #[test]
    fn some_wide_rows_become_records() {
        let (footer, text) = shown(1, 3, 40, 10);
        assert_eq!(text, "n1    0\nn2    0\ntext  äöü äöü äöü\n\nn1    0\nn2    0\ntext  äöü äöü äöü\n");
        assert_eq!(footer, "2 rows");
    }

    #[test]
    fn many_wide_rows_are_cut_at_the_edge() {
        let (footer, text) = shown(3, 3, 5, 10);
        assert!(text.lines().all(|l| l.chars().count() <= 10), "{text}");
        assert_eq!(text.lines().nth(2), Some(" 0   0  ä…"));
        assert_eq!(
            footer,
            "first 5 rows; there are more; `.rows 0` shows all; `.pager on` shows whole lines"
        );
    }

    #[test]
    fn long_texts_are_not_cut() {
        let (_, text) = shown(9, 1, 40, 5);
        assert!(text.contains("äöü äöü äöü\n"));
    }
}
