//! Instances → which tasks, ISRs and runnables share a core with one that loses activations, so that how long
//! they take depends on what the core works off. Not what follows for a comparison (see [`crate::regress`]).

use super::samples::Names;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::result::{Integers, Texts, columns};
use crate::sql_text::literals;
use std::collections::BTreeSet;

/// The share of its activations that a task or ISR loses on an overloaded core.
const SHARE: f64 = 0.01;
/// And how many at least: a few at the start of a recording, or in one burst, are no overload.
const LOST: i64 = 5;

const PROCESSES: &str = "SELECT recording, core, process, type, count(*) AS instances, \
    CAST(coalesce(sum(lost), 0) AS BIGINT) AS lost, CAST(coalesce(sum(polling), 0) AS BIGINT) AS polling \
    FROM process_instance WHERE core IS NOT NULL GROUP BY recording, core, process, type";

/// A task or ISR on a core.
struct Ran {
    core: (String, String),
    names: Names,
    polls: bool,
}

/// Whose samples depend on the overload of a core, in any of the recordings: tasks and ISRs of the core, and
/// runnables of those that poll for locks. What other runnables execute does not.
///
/// # Errors
/// Those of a query.
pub(super) fn overloaded(session: &Session) -> Result<BTreeSet<Names>> {
    let (mut cores, mut ran) = (BTreeSet::new(), Vec::new());
    for batch in session.sql(PROCESSES, &[])? {
        let batch = batch?;
        let ([recordings, on, processes, types], [instances, lost, polling]): ([Texts; 4], [Integers; 3]) =
            columns(&batch)?;
        for row in 0..batch.num_rows() {
            let core = (recordings.value(row).to_owned(), on.value(row).to_owned());
            let [instances, lost, polling] =
                [&instances, &lost, &polling].map(|numbers| numbers.get(row).unwrap_or_default());
            if lost >= LOST && lost as f64 >= SHARE * instances.saturating_add(lost) as f64 {
                cores.insert(core.clone());
            }
            let names = Names { entity: processes.value(row).to_owned(), kind: types.value(row).to_owned() };
            ran.push(Ran { core, names, polls: polling > 0 });
        }
    }
    ran.retain(|one| cores.contains(&one.core));
    let polling: BTreeSet<&str> =
        ran.iter().filter(|one| one.polls).map(|one| one.names.entity.as_str()).collect();
    let mut found = runnables(session, &polling)?;
    found.extend(ran.into_iter().map(|one| one.names));
    Ok(found)
}

/// What these tasks and ISRs call.
fn runnables(session: &Session, processes: &BTreeSet<&str>) -> Result<BTreeSet<Names>> {
    if processes.is_empty() {
        return Ok(BTreeSet::new());
    }
    let processes = literals(processes);
    let sql = format!("SELECT DISTINCT runnable FROM runnable_instance WHERE process IN ({processes})");
    let names = session.names(&sql, &[])?.into_iter();
    Ok(names.map(|entity| Names { entity, kind: "R".to_owned() }).collect())
}
