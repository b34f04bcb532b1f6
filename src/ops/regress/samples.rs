//! Rows of a metric, sorted by recording, entity and time → a summary per recording and entity, in one pass.
//! Not what is made of the summaries.

use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use crate::library::Metric;
use crate::regress::Summary;
use crate::schema::result::{Integers, Texts, column, columns};
use crate::selection::pattern;

/// Whose samples they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Names {
    /// Task, ISR or runnable.
    pub entity: String,
    /// Its type, as in `btf_event`.
    pub kind: String,
}

/// Gives `take` the summary of each recording and entity: the name of the recording, whose samples they are,
/// and the summary, in the order of these names. `entities`: a list of names and patterns.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for values that are no whole ticks; those of a query.
pub(super) fn summaries(
    session: &Session,
    metric: &Metric,
    entities: Option<&str>,
    mut take: impl FnMut(&str, Names, Summary),
) -> Result<()> {
    let (condition, params) = match entities {
        None => ("", Vec::new()),
        Some(list) => {
            let regex = Param::from(pattern::regex(list).as_str());
            (" AND regexp_like(entity, $entity)", vec![("entity", regex)])
        }
    };
    let sql = format!(
        "SELECT recording, entity, type, value FROM (\n{}\n) AS sample WHERE value IS NOT NULL{condition} \
         ORDER BY recording, entity, type, at, value",
        metric.sql
    );
    let mut open: Option<(String, Names, Summary)> = None;
    for batch in session.sql(&sql, &params)? {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let [recordings, entities, types]: [Texts; 3] = columns(&batch)?;
        let values: Integers = column(&batch, "value").map_err(|_| {
            Error::usage(format!("the values of {} are no whole ticks", metric.name))
                .hint("a metric of durations has whole numbers: round them in its SQL")
        })?;
        for row in 0..batch.num_rows() {
            let (recording, entity, kind) = (recordings.value(row), entities.value(row), types.value(row));
            let is_same = open.as_ref().is_some_and(|(of, names, _)| {
                of == recording && names.entity == entity && names.kind == kind
            });
            if !is_same {
                if let Some((recording, names, summary)) = open.take() {
                    take(&recording, names, summary);
                }
                let names = Names { entity: entity.to_owned(), kind: kind.to_owned() };
                open = Some((recording.to_owned(), names, Summary::default()));
            }
            if let (Some((_, _, summary)), Some(value)) = (&mut open, values.get(row)) {
                summary.push(value);
            }
        }
    }
    if let Some((recording, names, summary)) = open {
        take(&recording, names, summary);
    }
    Ok(())
}
