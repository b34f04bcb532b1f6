//! The operations whose rows SQL has: the ones behind the table functions of
//! [`crate::library::MADE_FUNCTIONS`], for the sessions of commands. Not what an operation does (see its own
//! file), and not how SQL calls it (see [`crate::engine`]).

use crate::engine::{Operation, RowsAsked, Session};
use crate::error::{Error, Result};
use crate::ops::regress::{RegressOptions, both, regress};
use crate::ops::{Control, bound, made_requirements, tail};
use crate::selection::pattern;
use arrow::array::RecordBatch;
use std::sync::Arc;

/// All of them, for [`Session::with_operations`]. Those of requirements fail without some (see
/// [`made_requirements::operations_of`]).
pub fn operations() -> Vec<Operation> {
    let mut all = vec![
        operation("response_bounds", |session, asked| {
            let found = bound::of_all(&chosen(session, asked)?, &Control::stopped_by(&asked.stop))?;
            bound::batch(&found).map(|(rows, _)| rows)
        }),
        operation("bound_assumptions", |session, asked| {
            let found = bound::of_all(&chosen(session, asked)?, &Control::stopped_by(&asked.stop))?;
            bound::assumptions(&found)
        }),
        operation("tails", |session, asked| {
            let of = tail::Tails { metrics: asked.arguments.clone(), ..tail::Tails::default() };
            tail::all(&chosen(session, asked)?, &of)
        }),
        operation("regressions", regressions),
    ];
    all.append(&mut made_requirements::without());
    all
}

fn operation(
    name: &'static str,
    rows: impl Fn(&Session, &RowsAsked) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Operation {
    Operation { name, rows: Arc::new(move |session, asked| Ok(vec![rows(session, asked)?])) }
}

/// Two builds, both among the recordings of the session.
fn regressions(session: &Session, asked: &RowsAsked) -> Result<RecordBatch> {
    let given = |at: usize| asked.arguments.get(at).filter(|text| !text.trim().is_empty());
    let words = |at: usize| given(at).cloned().into_iter().collect::<Vec<_>>();
    if words(1).is_empty() {
        return Err(Error::usage("regressions lacks the recordings of the new build")
            .hint("e.g. regressions('monday', 'tuesday'), regressions('', 'build=42')"));
    }
    let (before, after) = both(session.database(), &words(0), &words(1))?;
    let metrics = given(2).map_or_else(Vec::new, |list| pattern::words(list).map(str::to_owned).collect());
    let options = RegressOptions { metrics, entities: given(3).cloned(), ..RegressOptions::default() };
    regress(&session.narrowed(before)?, &session.narrowed(after)?, &options)?.batch()
}

/// A session on the recordings that the rows can be about.
fn chosen(session: &Session, asked: &RowsAsked) -> Result<Session> {
    session.narrowed(session.database().only(asked.recordings.clone()))
}
