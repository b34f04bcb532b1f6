//! Which names of ISRs stand for another process on each core (rule I9 of docs/mapping.md). BTF has one name
//! for them, so that comments say it to who reads the file. Not the events.

use crate::btf::remark;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::tables;
use crate::selection::pattern;

/// A comment for each such name, without its `# `.
pub(super) fn remarks(session: &Session, recording: &str) -> Result<Vec<String>> {
    let database = session.database();
    if !database.has(tables::ENTITY, recording)? || !database.has(tables::PROCESS_INSTANCE, recording)? {
        return Ok(Vec::new());
    }
    let of = |sql: &str| session.names(sql, &[("recording", recording.into())]);
    let names = of(
        "SELECT DISTINCT entity FROM entity WHERE recording = $recording AND type = 'I' AND occurs ORDER BY entity",
    )?;
    let processes =
        of("SELECT DISTINCT process FROM process_instance WHERE recording = $recording AND type = 'I'")?;
    let is_shared = |name: &&String| {
        !processes.contains(name) && processes.iter().any(|process| pattern::fits_on_core(name, process))
    };
    Ok(names.iter().filter(is_shared).map(|name| remark::handlers(name)).collect())
}
