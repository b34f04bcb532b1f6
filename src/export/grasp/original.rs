//! The commands of a Grasp trace, word for word, or in the other dialect. Not for other recordings.

use super::{Dialect, GraspCounts, Part};
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::export::cursor::Cursor;
use crate::formats::grasp::words::{Kind, Word, command, skip_blanks};
use crate::schema::tables;
use crate::selection::Selection;
use std::borrow::Cow;
use std::io::Write;

/// Events that the mapping turns into BTF (see `map::grasp`), from which a part of a trace is written.
const MAPPED: &str = "taskArrived taskArrivedAndIgnored jobArrived jobResumed jobPreempted jobCompleted jobBlocked \
    jobAcquiredMutex jobReleasedMutex jobAcquiredSemaphore jobReleasedSemaphore jobSuspendedOnSemaphore";

/// The number of commands in the window that only Grasp has: servers, buffers, messages and others.
pub(super) fn of_grasp_alone(part: Part<'_>) -> Result<u64> {
    let Part { session, selection, recording } = part;
    if !session.database().has(tables::GRASP_EVENT, recording)? {
        return Ok(0);
    }
    let window = Selection { from: selection.from, to: selection.to, ..Selection::default() };
    let condition = window.condition(tables::GRASP_EVENT, recording);
    let rest = format!(
        "AND (command IN ('newServer', 'newBuffer', 'bufferplot') \
         OR command = 'plot' AND event NOT IN ('{}'))",
        MAPPED.replace(' ', "', '")
    );
    let mut rows = Cursor::new(condition.rows(session, "SELECT count(*) FROM grasp_event", &rest)?);
    Ok(if rows.next()? { rows.int(0).unwrap_or_default().unsigned_abs() } else { 0 })
}

pub(super) fn write(
    session: &Session,
    recording: &str,
    dialect: Option<Dialect>,
    out: &mut dyn Write,
) -> Result<GraspCounts> {
    // `text` by `seq` is the original file.
    let sql = "SELECT text, status FROM grasp_event WHERE recording = $recording ORDER BY seq";
    let mut rows = Cursor::new(session.sql(sql, &[("recording", recording.into())])?);
    let mut done = GraspCounts::default();
    while rows.next()? {
        let text = rows.name(0);
        done.commands += u64::from(!["comment", "blank"].contains(&rows.name(1)));
        let text = dialect.map_or(Cow::Borrowed(text), |dialect| translated(text, dialect));
        let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
        written.map_err(|e| Error::new(ErrorKind::Io, "cannot write the script").because(e))?;
    }
    Ok(done)
}

/// The kinds of objects that both dialects declare.
const CLASSES: [&str; 6] = ["Task", "Job", "Server", "Mutex", "Semaphore", "Buffer"];

/// A declaration in a dialect: `newTask t -name x` is `[Task t] initWith -name x`. Everything else stays as
/// it is, also the rest of a declaration with its blanks.
fn translated(text: &str, dialect: Dialect) -> Cow<'_, str> {
    let mut words = Vec::new();
    let begin = skip_blanks(text, 0);
    if command(text, begin, &mut words).trouble.is_some() {
        return Cow::Borrowed(text);
    }
    let new = match dialect {
        Dialect::Of2010 => old(text, &words),
        Dialect::Of2012 => new(text, &words),
    };
    new.map_or(Cow::Borrowed(text), |new| {
        Cow::Owned(format!("{}{new}", text.get(..begin).unwrap_or_default()))
    })
}

/// `[Task t] initWith …` from `newTask t …`.
fn old(text: &str, words: &[Word<'_>]) -> Option<String> {
    let [command, id, rest @ ..] = words else { return None };
    let class = command.text.strip_prefix("new").filter(|_| command.kind == Kind::Bare)?;
    let class = CLASSES.iter().find(|c| **c == class)?;
    // The id goes into brackets as it is written.
    let id = text.get(id.at..rest.first().map_or(text.len(), |word| word.at))?.trim_end();
    let rest = rest.first().and_then(|word| text.get(word.at..)).map(|rest| format!(" {rest}"));
    let method = if *class == "Job" { "initWithTask" } else { "initWith" };
    Some(format!("[{class} {id}] {method}{}", rest.unwrap_or_default()))
}

/// `newTask t …` from `[Task t] initWith …`.
fn new(text: &str, words: &[Word<'_>]) -> Option<String> {
    let [object, method, rest @ ..] = words else { return None };
    if object.kind != Kind::Bracketed || !["initWith", "initWithTask"].contains(&method.text.as_ref()) {
        return None;
    }
    let (class, id) = object.text.trim().split_once([' ', '\t'])?;
    let class = CLASSES.iter().find(|c| **c == class)?;
    if (*class == "Job") != (method.text == "initWithTask") {
        return None;
    }
    let rest = rest.first().and_then(|word| text.get(word.at..)).map(|rest| format!(" {rest}"));
    Some(format!("new{class} {}{}", id.trim(), rest.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_change_their_dialect_and_nothing_else_does() {
        for (new, old) in [
            (
                "newTask task1 -name \"Task 1\"  -priority 7",
                "[Task task1] initWith -name \"Task 1\"  -priority 7",
            ),
            ("  newJob job1.1 task1", "  [Job job1.1] initWithTask task1"),
            ("newMutex {m 1}", "[Mutex {m 1}] initWith"),
            ("newBuffer b -seqNumber 0", "[Buffer b] initWith -seqNumber 0"),
        ] {
            assert_eq!(translated(new, Dialect::Of2010), old);
            assert_eq!(translated(old, Dialect::Of2012), new);
            assert_eq!(translated(old, Dialect::Of2010), old);
            assert_eq!(translated(new, Dialect::Of2012), new);
        }
        for same in [
            "",
            "# newTask t",
            "plot 5 jobResumed job1.1",
            "newProcessor core1",
            "[Job j] initWith task1",
            "newTask {",
            "BufferPlot set activePlot [BufferPlot new]",
        ] {
            assert_eq!(translated(same, Dialect::Of2010), same);
            assert_eq!(translated(same, Dialect::Of2012), same);
        }
    }
}
