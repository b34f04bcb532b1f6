//! Reads what is watched in the order of time, one recording after the other. Memory depends on what happens
//! in one tick, and on the instances that are open; the order of the rows is that of the engine, which
//! spills. Not for what is made of it (see the module above).

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::engine::Session;
use crate::error::Result;
use crate::require::places::cores;
use crate::require::rows::Rows;
use crate::require::watch::{Cores, Fed, Row, Watch};
use crate::schema::result::{Integers, Texts, columns};
use crate::sql_text::literals;
use crate::temporal::Symbol;

/// What a row is.
const EVENT: i64 = 0;
const ENTERS: i64 = 1;
const LEAVES: i64 = 2;

/// Begin and end of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edges {
    pub begin: i64,
    pub end: i64,
}

/// Takes what a scan finds.
pub(super) trait Listener {
    /// A recording begins; its name, edges, and the cores of each symbol.
    fn begin(&mut self, recording: &str, edges: Edges, places: Vec<(Symbol, Vec<u32>)>) -> Result<()>;

    /// Records of that recording; false if no more are wanted.
    fn records(&mut self, watch: &Watch, records: &[Fed]) -> Result<bool>;
}

/// What to read, of all recordings of a session.
pub(super) struct Scan<'a> {
    session: &'a Session,
    sql: String,
    edges: HashMap<String, Edges>,
    cores: HashMap<String, Cores>,
}

impl<'a> Scan<'a> {
    /// # Errors
    /// Those of a query.
    pub fn new(session: &'a Session, watch: &Watch) -> Result<Self> {
        let sql = statement(watch);
        Ok(Self { session, sql, edges: edges(session)?, cores: cores(session, &watch.names(false))? })
    }

    /// Reads the recordings for which `is_chosen` is true.
    ///
    /// # Errors
    /// Those of a query, and of the listener.
    pub fn read(
        &self,
        watch: &mut Watch,
        is_chosen: impl Fn(&str) -> bool,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        type Columns = (Texts, [Integers; 3], [Texts; 2], Integers, [Texts; 3], Integers);
        // The recording, and whether it is chosen.
        let mut current: Option<(String, bool)> = None;
        let mut found = Vec::new();
        for batch in self.session.sql(&self.sql, &[])? {
            let batch = batch?;
            let (names, [times, seqs, kinds], [types, entities], instances, words, ends): Columns =
                columns(&batch)?;
            let [words, sources, notes] = words;
            for row in 0..batch.num_rows() {
                let (name, Some(time)) = (names.value(row), times.get(row)) else { continue };
                if current.as_ref().is_none_or(|(current, _)| current != name) {
                    watch.finish(&mut found);
                    if !hand_over(watch, &mut found, listener)? {
                        return Ok(());
                    }
                    let edges = self.edges.get(name).copied().filter(|_| is_chosen(name));
                    current = Some((name.to_owned(), edges.is_some()));
                    if let Some(edges) = edges {
                        let edges = Edges { begin: edges.begin.min(time), ..edges };
                        let places =
                            watch.begin(edges.end, self.cores.get(name).cloned().unwrap_or_default());
                        listener.begin(name, edges, places)?;
                    }
                }
                if !current.as_ref().is_some_and(|(_, is_chosen)| *is_chosen) {
                    continue;
                }
                let (entity, instance) = (entities.value(row), instances.get(row));
                let (kind, word) = (kinds.value(row), words.value(row));
                let row = match kind {
                    EVENT => Row::Event {
                        seq: seqs.value(row),
                        kind: types.value(row),
                        entity,
                        instance,
                        action: word,
                        source: sources.value(row),
                        note: notes.get(row),
                    },
                    ENTERS | LEAVES => Row::State {
                        entity,
                        is_task: types.value(row) == "T",
                        instance,
                        state: word,
                        begins: kind == ENTERS,
                    },
                    _ => Row::Gap { end: ends.value(row), core: entities.get(row) },
                };
                watch.row(time, row, &mut found);
                if !hand_over(watch, &mut found, listener)? {
                    return Ok(());
                }
            }
        }
        watch.finish(&mut found);
        hand_over(watch, &mut found, listener).map(|_| ())
    }
}

fn hand_over(watch: &Watch, found: &mut Vec<Fed>, listener: &mut dyn Listener) -> Result<bool> {
    let goes_on = found.is_empty() || listener.records(watch, found)?;
    found.clear();
    Ok(goes_on)
}

/// Events, states and gaps. Events of the moment at which a gap begins are before it.
fn statement(watch: &Watch) -> String {
    let mut sql = format!(
        "SELECT recording, time, seq, {EVENT} AS kind, target_type AS type, target AS entity, \
         target_instance AS instance, action AS word, source, note, 0 AS until \
         FROM btf_event WHERE target IN ({})",
        literals(watch.names(false))
    );
    let names = literals(watch.names(true));
    let states = [("process_state", "process", "type"), ("runnable_state", "runnable", "'R'")];
    for (table, entity, ty) in states.into_iter().filter(|_| !names.is_empty()) {
        for (time, kind) in [("begin_at", ENTERS), ("end_at", LEAVES)] {
            // Writing to a string cannot fail.
            let _ = write!(
                sql,
                " UNION ALL SELECT recording, {time}, -1, {kind}, {ty}, {entity}, instance, state, NULL, NULL, 0 \
                 FROM {table} WHERE {entity} IN ({names}) AND begin_at < end_at"
            );
        }
    }
    let _ = write!(
        sql,
        " UNION ALL SELECT recording, begin_at, {}, 3, NULL, core, 0, NULL, NULL, NULL, end_at FROM gap \
         ORDER BY recording, time, seq",
        i64::MAX
    );
    sql
}

/// Of each recording that has a time.
fn edges(session: &Session) -> Result<HashMap<String, Edges>> {
    let mut edges = HashMap::new();
    let sql = "SELECT recording, begin_at, end_at FROM recording";
    for batch in session.sql(sql, &[])? {
        let batch = Rows(batch?);
        for row in 0..batch.0.num_rows() {
            let begin = batch.integer("begin_at", row)?.unwrap_or(i64::MAX);
            let end = batch.integer("end_at", row)?.unwrap_or(i64::MIN);
            edges.insert(batch.text("recording", row)?, Edges { begin, end });
        }
    }
    Ok(edges)
}
