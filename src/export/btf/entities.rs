//! The processes and runnables of a recording, as a slice of it names them: one without an event in the slice
//! is known to who reads the file. Not the numbers of names (see `numbers`).

use crate::btf::remark;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::tables;

/// A comment for each, without its `# `.
pub(super) fn remarks(session: &Session, recording: &str) -> Result<Vec<String>> {
    let has = |table| session.database().has(table, recording);
    // Handlers of one name have other names in derived tables (rule I9 of docs/mapping.md).
    let mut selects = match has(tables::ENTITY)? {
        true => vec!["SELECT entity FROM entity WHERE recording = $recording AND type IN ('T', 'I', 'R')"],
        false => vec!["SELECT process FROM process_instance WHERE recording = $recording"],
    };
    if has(tables::RUNNABLE_INSTANCE)? {
        selects.push("SELECT runnable FROM runnable_instance WHERE recording = $recording");
    }
    let sql = format!("SELECT name FROM ({}) AS named (name) ORDER BY name", selects.join(" UNION "));
    let names = session.names(&sql, &[("recording", recording.into())])?;
    Ok(names.iter().map(|name| remark::known(name)).collect())
}
