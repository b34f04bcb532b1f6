//! Rows of a metric → a summary per recording and entity, of the samples in the order of time. Not what is
//! made of the summaries.

use crate::engine::{Param, ResultStream, Session};
use crate::error::{Error, Result};
use crate::library::Metric;
use crate::names::{IdMap, Interner};
use crate::regress::Summary;
use crate::schema::result::{Integers, Texts, column, columns};
use crate::schema::tables::{PROCESS_INSTANCE, RUNNABLE_INSTANCE};
use crate::selection::pattern;
use crate::sql_text::literals;
use arrow::array::RecordBatch;

/// So many samples are put in order here, 16 bytes each: three times as fast as the engine, which compares
/// names, too. It sorts more, in files if need be.
const GATHERED: usize = 4 << 20;

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
    for recordings in groups(session)? {
        let samples = Samples { session, metric, entities, recordings };
        match samples.gathered(GATHERED)? {
            Some(all) => all.into_iter().for_each(|(recording, names, mut samples)| {
                samples.sort_unstable();
                take(&recording, names, samples.into_iter().map(|(_, value)| value).collect());
            }),
            None => samples.sorted(&mut take)?,
        }
    }
    Ok(())
}

/// The recordings by their names, in groups that have about as many instances as can be gathered.
fn groups(session: &Session) -> Result<Vec<Vec<String>>> {
    let mut recordings: Vec<_> = session.database().recordings()?.iter().collect();
    recordings.sort_by(|a, b| a.name.cmp(&b.name));
    let (mut groups, mut room) = (Vec::<Vec<String>>::new(), 0);
    for recording in recordings {
        let rows = |table| recording.files_of(table).map(|file| file.rows).sum::<u64>();
        let rows = rows(PROCESS_INSTANCE).max(rows(RUNNABLE_INSTANCE));
        match groups.last_mut().filter(|_| rows <= room) {
            Some(group) => {
                group.push(recording.name.clone());
                room -= rows;
            }
            None => {
                groups.push(vec![recording.name.clone()]);
                room = (GATHERED as u64).saturating_sub(rows);
            }
        }
    }
    Ok(groups)
}

/// The samples of a metric in some recordings.
struct Samples<'a> {
    session: &'a Session,
    metric: &'a Metric,
    entities: Option<&'a str>,
    recordings: Vec<String>,
}

/// Time and value of each sample of an entity.
type OfEntity = (String, Names, Vec<(i64, i64)>);

impl Samples<'_> {
    /// All samples, by recording and entity; `None` if there are more than `most`.
    fn gathered(&self, most: usize) -> Result<Option<Vec<OfEntity>>> {
        let (mut names, mut places) = (Interner::default(), IdMap::<[u32; 3], usize>::default());
        let (mut all, mut count) = (Vec::<OfEntity>::new(), 0);
        for batch in self.ask("recording, entity, type, value, at", "")? {
            let batch = batch?;
            count += batch.num_rows();
            if count > most {
                return Ok(None);
            }
            let ([recordings, entities, types], values) = self.columns(&batch)?;
            let times: Integers = column(&batch, "at")?;
            for row in 0..batch.num_rows() {
                let of = [&recordings, &entities, &types].map(|column| column.value(row));
                let Some(value) = values.get(row) else { continue };
                let place = *places.entry(of.map(|name| names.intern(name))).or_insert_with(|| {
                    let [recording, entity, kind] = of.map(str::to_owned);
                    all.push((recording, Names { entity, kind }, Vec::new()));
                    all.len() - 1
                });
                if let Some((.., samples)) = all.get_mut(place) {
                    samples.push((times.get(row).unwrap_or(i64::MAX), value));
                }
            }
        }
        all.sort_by(|(a, of_a, _), (b, of_b, _)| (a, of_a).cmp(&(b, of_b)));
        Ok(Some(all))
    }

    /// As [`summaries`], in the order of the engine.
    fn sorted(&self, take: &mut impl FnMut(&str, Names, Summary)) -> Result<()> {
        let mut open: Option<(String, Names, Summary)> = None;
        let order = "ORDER BY recording, entity, type, at, value";
        for batch in self.ask("recording, entity, type, value", order)? {
            let batch = batch?;
            if batch.num_rows() == 0 {
                continue;
            }
            let ([recordings, entities, types], values) = self.columns(&batch)?;
            for row in 0..batch.num_rows() {
                let (recording, entity, kind) =
                    (recordings.value(row), entities.value(row), types.value(row));
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

    fn ask(&self, columns: &str, order: &str) -> Result<ResultStream> {
        let (condition, params) = match self.entities {
            None => ("", Vec::new()),
            Some(list) => {
                let regex = Param::from(pattern::regex(list).as_str());
                (" AND regexp_like(entity, $entity)", vec![("entity", regex)])
            }
        };
        let sql = format!(
            "SELECT {columns} FROM (\n{}\n) AS sample WHERE recording IN ({}) AND value IS NOT NULL{condition} \
             {order}",
            self.metric.sql,
            literals(&self.recordings)
        );
        self.session.sql(&sql, &params)
    }

    fn columns(&self, batch: &RecordBatch) -> Result<([Texts; 3], Integers)> {
        let values = column(batch, "value").map_err(|_| {
            Error::usage(format!("the values of {} are no whole ticks", self.metric.name))
                .hint("a metric of durations has whole numbers: round them in its SQL")
        })?;
        Ok((columns(batch)?, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::fixture;

    /// Recordings, names, and all that their summaries say.
    fn values(of: impl FnOnce(&mut dyn FnMut(&str, Names, Summary))) -> Vec<(String, Names, String)> {
        let mut all = Vec::new();
        of(&mut |recording, names, mut summary| {
            summary.finish();
            all.push((recording.to_owned(), names, format!("{summary:?}")));
        });
        all
    }

    #[test]
    fn few_samples_and_many_are_the_same() {
        let (_dir, session) = fixture::engine(&["r", "it's another"]);
        for name in ["ResponseTime", "RunnableNetExecutionTime"] {
            let metric = session.queries().metric(name).unwrap();
            for entities in [None, Some("T*"), Some("R_?")] {
                let recordings: Vec<String> = groups(&session).unwrap().concat();
                assert_eq!(recordings, ["it's another", "r"]);
                let samples = Samples { session: &session, metric, entities, recordings };
                let all = values(|take| summaries(&session, metric, entities, take).unwrap());
                let sorted = values(|mut take| samples.sorted(&mut take).unwrap());
                assert_eq!(all, sorted, "{name}, {entities:?}");
                let gathered = samples.gathered(usize::MAX).unwrap().unwrap();
                let count: usize = gathered.iter().map(|of| of.2.len()).sum();
                assert!(count == 0 || samples.gathered(count - 1).unwrap().is_none(), "{count}");
            }
        }
    }
}
