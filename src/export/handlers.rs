//! Names of ISRs that stand for another process on each core (rule I9 of docs/mapping.md): which there are,
//! and which process an event is about. Not for how a format says it.

use super::cursor::Cursor;
use crate::btf::remark;
use crate::engine::{Param, ResultStream, Session};
use crate::error::Result;
use crate::schema::tables;
use crate::selection::{Selection, pattern};
use std::collections::{HashMap, VecDeque};

/// The names. System events have them, and tables of instances `CORE.NAME`.
pub(super) fn names(session: &Session, recording: &str) -> Result<Vec<String>> {
    let database = session.database();
    if !database.has(tables::ENTITY, recording)? || !database.has(tables::PROCESS_INSTANCE, recording)? {
        return Ok(Vec::new());
    }
    let of = |sql: &str| session.names(sql, &[("recording", recording.into())]);
    let mut names = of(
        "SELECT DISTINCT entity FROM entity WHERE recording = $recording AND type = 'I' AND occurs ORDER BY entity",
    )?;
    let processes =
        of("SELECT DISTINCT process FROM process_instance WHERE recording = $recording AND type = 'I'")?;
    names.retain(|name| {
        !processes.contains(name) && processes.iter().any(|process| pattern::fits_on_core(name, process))
    });
    Ok(names)
}

/// A comment for each, without its `# `: BTF has one name for them.
pub(super) fn remarks(session: &Session, recording: &str) -> Result<Vec<String>> {
    Ok(names(session, recording)?.iter().map(|name| remark::handlers(name)).collect())
}

/// The processes that such names stand for, in the order of time.
#[derive(Default)]
pub(super) struct Handlers {
    /// The instances that are still to come; `None` if no name is shared.
    rows: Option<Cursor<ResultStream>>,
    /// The instances of each name that may not be over.
    open: HashMap<String, VecDeque<Instance>>,
}

/// An instance of an ISR.
struct Instance {
    /// Its number in system events.
    number: i64,
    process: String,
    /// Its number in tables of instances.
    instance: i64,
    end: Option<i64>,
}

impl Handlers {
    /// Those with instances in the window.
    pub fn read(session: &Session, recording: &str, selection: &Selection) -> Result<Self> {
        let names = names(session, recording)?;
        if names.is_empty() {
            return Ok(Self::default());
        }
        let keys: Vec<String> = (0..names.len()).map(|n| format!("name{n}")).collect();
        let mut params = vec![("recording", Param::from(recording))];
        params.extend(keys.iter().zip(&names).map(|(key, name)| (key.as_str(), Param::from(name.as_str()))));
        let places = keys.iter().map(|key| format!("${key}")).collect::<Vec<_>>().join(", ");
        let (from, to) = (selection.from.unwrap_or(i64::MIN), selection.to.unwrap_or(i64::MAX));
        params.extend([("from", from.into()), ("to", to.into())]);
        // The core is in the sources of starts only. Several instances may start at one instant.
        let sql = format!(
            "WITH start AS (
                SELECT time, target, target_instance, source || '.' || target AS process,
                    row_number() OVER (PARTITION BY source, target, time ORDER BY seq) AS n
                FROM btf_event
                WHERE recording = $recording AND is_type(target_type, 'I') AND is_action(action, 'start')
                    AND target IN ({places})
            ),
            own AS (
                SELECT process, instance, start_at, terminate_at,
                    least(coalesce(activate_at, start_at), start_at) AS at,
                    row_number() OVER (PARTITION BY process, start_at ORDER BY instance) AS n
                FROM process_instance WHERE recording = $recording AND type = 'I' AND start_at IS NOT NULL
            )
            SELECT at, target, target_instance, own.process, instance, terminate_at
            FROM own JOIN start ON start.process = own.process AND time = start_at AND start.n = own.n
            WHERE at < $to AND coalesce(terminate_at, at) >= $from AND target_instance IS NOT NULL
            ORDER BY at, target, target_instance"
        );
        let mut rows = Cursor::new(session.sql(&sql, &params)?);
        Ok(Self { rows: rows.next()?.then_some(rows), open: HashMap::new() })
    }

    /// The process and its instance that an event at `time` means by a name and a number. Times do not go
    /// back.
    pub fn process(&mut self, time: i64, name: &str, number: Option<i64>) -> Result<Option<(&str, i64)>> {
        while let Some(rows) = self.rows.as_mut().filter(|rows| rows.int(0).is_some_and(|at| at <= time)) {
            let open = self.open.entry(rows.name(1).to_owned()).or_default();
            open.retain(|instance| instance.end.is_none_or(|end| end >= time));
            open.push_back(Instance {
                number: rows.int(2).unwrap_or(0),
                process: rows.name(3).to_owned(),
                instance: rows.int(4).unwrap_or(0),
                end: rows.int(5),
            });
            if !rows.next()? {
                self.rows = None;
            }
        }
        let open = self.open.get(name).into_iter().flatten();
        let found = open.rev().find(|instance| Some(instance.number) == number);
        Ok(found.map(|found| (found.process.as_str(), found.instance)))
    }
}
