//! Reads where the entities of recordings were seen: what gaps of a core hide of them. Not for what that
//! means for a requirement (see `watch` and `synchronised`).

use std::collections::HashMap;
use std::fmt::Write as _;

use super::watch::Cores;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::result::{Texts, columns};
use crate::schema::tables;
use crate::sql_text::literals;

/// Of each recording that has a gap: where its cores and entities are does not matter otherwise.
///
/// # Errors
/// Those of a query.
pub(super) fn cores(session: &Session, entities: &[&str]) -> Result<HashMap<String, Cores>> {
    let mut cores: HashMap<String, Cores> = HashMap::new();
    if session.database().rows(tables::GAP) == 0 {
        return Ok(cores);
    }
    let names = literals(entities);
    let mut sql =
        "SELECT DISTINCT recording, core, NULL AS entity FROM gap WHERE core IS NOT NULL".to_owned();
    for (table, entity) in [("process_state", "process"), ("runnable_state", "runnable")] {
        // Writing to a string cannot fail.
        let _ = write!(
            sql,
            " UNION ALL SELECT DISTINCT recording, core, {entity} FROM {table} \
             WHERE core IS NOT NULL AND {entity} IN ({names})"
        );
    }
    sql += " ORDER BY recording, core, entity";
    for batch in session.sql(&sql, &[])? {
        let [names, of_cores, entities]: [Texts; 3] = columns(&batch?)?;
        for row in 0..names.len() {
            let of = cores.entry(names.value(row).to_owned()).or_default();
            of.seen(of_cores.value(row), entities.get(row));
        }
    }
    Ok(cores)
}
