//! Rows of semaphores, events of the operating system, stimuli and gaps, from the views of the library. Not
//! for signals, and not for the order of the rows.

use std::collections::BTreeMap;

use super::states::Holds;
use super::{Context, show::Show};
use crate::engine::Param;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Grid, MarkKind, Marks, Row, RowKind, Runs, Span, State, spread};
use crate::schema::result::{self, Integers, ResultColumns, Texts};
use crate::time::united;

struct Parts {
    held: Runs,
    wanted: Runs,
    marks: Marks,
}

/// The parts of rows, by their names.
struct Objects {
    grid: Grid,
    parts: BTreeMap<String, Parts>,
}

/// Runs a statement with the parameters `recording`, `from`, `to` and `last`; `each` gets the columns of its
/// result and the number of a row.
pub(super) fn each_row<C: ResultColumns>(
    context: &Context<'_>,
    sql: &str,
    mut each: impl FnMut(&C, usize),
) -> Result<()> {
    let params = [
        ("recording", Param::from(context.recording.as_str())),
        ("from", Param::from(context.grid.from())),
        ("to", Param::from(context.grid.to())),
        ("last", Param::from(context.span.1)),
    ];
    let used: Vec<_> = params.into_iter().filter(|(name, _)| sql.contains(&format!("${name}"))).collect();
    for batch in context.session.sql(sql, &used)? {
        let batch = batch?;
        let columns = result::columns(&batch)?;
        (0..batch.num_rows()).for_each(|row| each(&columns, row));
    }
    Ok(())
}

/// Times at which processes hold a semaphore. A time without an end lasts until the next one, to the gap in
/// which it may have ended, or to the end.
const HOLDS: &str = "
    WITH hold AS (
        SELECT semaphore, process, instance, assigned_at,
            coalesce(released_at,
                least(lead(assigned_at) OVER (PARTITION BY semaphore, process, instance ORDER BY assigned_at),
                    lost_at, $last)) AS until
        FROM semaphore_hold WHERE recording = $recording AND assigned_at < $to
    )
    SELECT semaphore, process, instance, assigned_at, until FROM hold WHERE until >= $from
    ORDER BY assigned_at, semaphore, process, instance";

/// Times at which processes want a semaphore. Who is not seen to get it may have given up, as with a timeout:
/// it waits until it runs again, asks once more, or ends; to the gap in which it may have got it; or to the
/// end.
const WAITS: &str = "
    WITH wait AS (
        SELECT semaphore, process, instance, request_at, coalesce(assigned_at, lost_at) AS known_until,
            lead(request_at) OVER (PARTITION BY semaphore, process, instance ORDER BY request_at) AS again_at
        FROM semaphore_wait
        WHERE recording = $recording AND request_at < $to AND coalesce(waited, 1) > 0
    ),
    step AS (
        SELECT process, instance, request_at AS time, semaphore FROM wait WHERE known_until IS NULL
        UNION ALL
        SELECT process, instance, begin_at AS time, CAST(NULL AS VARCHAR) AS semaphore FROM process_state
        WHERE recording = $recording AND state = 'running' AND begin_at < $to
            AND process IN (SELECT process FROM wait WHERE known_until IS NULL)
    ),
    open AS (
        SELECT process, instance, time, semaphore,
            last_value(CASE WHEN semaphore IS NULL THEN time END) IGNORE NULLS OVER (
                PARTITION BY process, instance ORDER BY time DESC, semaphore IS NULL
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS runs_at
        FROM step
    ),
    shown AS (
        SELECT w.semaphore, w.process, w.instance, w.request_at,
            coalesce(w.known_until, least(o.runs_at, w.again_at, p.terminate_at, $last)) AS until
        FROM wait AS w
        LEFT JOIN open AS o ON w.semaphore = o.semaphore AND w.process = o.process AND w.instance = o.instance
            AND w.request_at = o.time
        LEFT JOIN process_instance AS p ON p.recording = $recording AND w.process = p.process
            AND w.instance = p.instance
    )
    SELECT DISTINCT semaphore, process, instance, request_at, until FROM shown WHERE until >= $from
    ORDER BY request_at, semaphore, process, instance";

const SETTINGS: &str = "
    SELECT event, process, set_by_instance, set_at, coalesce(clear_at, set_at) AS until
    FROM event_set
    WHERE recording = $recording AND set_at < $to AND coalesce(clear_at, set_at) >= $from
    ORDER BY set_at, event, process";

const EVENT_WAITS: &str = "
    SELECT event, process, instance, wait_at, coalesce(set_at, wait_at) AS until
    FROM event_wait
    WHERE recording = $recording AND wait_at < $to AND coalesce(set_at, wait_at) >= $from
    ORDER BY wait_at, event, process, instance";

const GAPS: &str = "
    SELECT coalesce(core, '') AS core, reason, CAST(NULL AS BIGINT) AS instance, begin_at, end_at
    FROM gap WHERE recording = $recording AND begin_at < $to AND end_at > $from
    ORDER BY begin_at, core, reason";

/// Calls `add` for each row of such a statement: the object, the process, its instance, begin and end.
fn each(
    context: &Context<'_>,
    sql: &str,
    mut add: impl FnMut(&str, &str, Option<i64>, i64, i64),
) -> Result<()> {
    each_row(context, sql, |([of, actor], [instance, begin, end]): &([Texts; 2], [Integers; 3]), row| {
        let (Some(begin), Some(end)) = (begin.get(row), end.get(row)) else { return };
        add(of.value(row), actor.value(row), instance.get(row), begin, end);
    })
}

/// The selected rows of semaphores, events and stimuli, and when processes hold a semaphore.
pub(super) fn read(context: &Context<'_>, show: &Show, names: &mut Interner) -> Result<(Vec<Row>, Holds)> {
    let mut made = Vec::new();
    let mut holds = Holds::new();
    if show.has(RowKind::Semaphore) {
        let mut all = Objects::new(context);
        each(context, HOLDS, |of, actor, instance, begin, end| {
            holds.entry(actor.to_owned()).or_default().push((begin, end));
            let name = Some(names.intern(actor));
            all.of(of).held.add(Span { begin, end, state: State::Held, name, instance });
        })?;
        each(context, WAITS, |of, actor, instance, begin, end| {
            let name = Some(names.intern(actor));
            all.of(of).wanted.add(Span { begin, end, state: State::Wanted, name, instance });
        })?;
        made.extend(all.rows(RowKind::Semaphore));
    }
    if show.has(RowKind::Event) {
        made.extend(events(context, names)?);
    }
    if show.has(RowKind::Stimulus) {
        made.extend(stimuli(context, names)?);
    }
    holds.values_mut().for_each(united);
    Ok((made, holds))
}

fn events(context: &Context<'_>, names: &mut Interner) -> Result<Vec<Row>> {
    let mut all = Objects::new(context);
    let of = |event: &str, owner: &str| format!("{event} of {owner}");
    each(context, SETTINGS, |event, owner, instance, begin, end| {
        let parts = all.of(&of(event, owner));
        parts.marks.add(begin, MarkKind::Set, None);
        if end > begin {
            parts.held.add(Span { begin, end, state: State::Held, name: None, instance });
        }
    })?;
    each(context, EVENT_WAITS, |event, owner, instance, begin, end| {
        let parts = all.of(&of(event, owner));
        parts.marks.add(begin, MarkKind::Wait, None);
        if end > begin {
            let name = Some(names.intern(owner));
            parts.wanted.add(Span { begin, end, state: State::Wanted, name, instance });
        }
    })?;
    Ok(all.rows(RowKind::Event))
}

fn stimuli(context: &Context<'_>, names: &mut Interner) -> Result<Vec<Row>> {
    let sql =
        "SELECT target, CASE WHEN source <> target AND NOT is_environment(source) THEN source END AS source,
            target_instance, time, time AS until
        FROM btf_event
        WHERE recording = $recording AND time >= $from AND time < $to
            AND is_type(target_type, 'STI') AND is_action(action, 'trigger')
        ORDER BY time, seq";
    let mut all = Objects::new(context);
    each(context, sql, |of, actor, _, at, _| {
        let name = (!actor.is_empty()).then(|| names.intern(&format!("by {actor}")));
        all.of(of).marks.add(at, MarkKind::Trigger, name);
    })?;
    Ok(all.rows(RowKind::Stimulus))
}

/// A row for each core with gaps; the empty name is that of the whole recording.
pub(super) fn gaps(context: &Context<'_>, names: &mut Interner) -> Result<Vec<Row>> {
    let mut all = Objects::new(context);
    let mut cores: BTreeMap<String, String> = BTreeMap::new();
    each(context, GAPS, |core, reason, instance, begin, end| {
        let label = if core.is_empty() { "gaps".to_owned() } else { format!("gaps of {core}") };
        let name = Some(names.intern(reason));
        all.of(&label).held.add(Span { begin, end, state: State::Gap, name, instance });
        cores.insert(label, core.to_owned());
    })?;
    let mut rows = all.rows(RowKind::Trace);
    for row in &mut rows {
        let core = cores.get(&row.label).filter(|core| !core.is_empty());
        row.cores = core.map(|core| names.intern(core)).into_iter().collect();
    }
    Ok(rows)
}

impl Objects {
    fn new(context: &Context<'_>) -> Self {
        Self { grid: context.grid, parts: BTreeMap::new() }
    }

    fn of(&mut self, name: &str) -> &mut Parts {
        let grid = self.grid;
        let new = || Parts { held: Runs::new(grid), wanted: Runs::new(grid), marks: Marks::new(grid) };
        self.parts.entry(name.to_owned()).or_insert_with(new)
    }

    fn rows(self, kind: RowKind) -> Vec<Row> {
        self.parts.into_iter().map(|(name, parts)| parts.row(kind, &name)).collect()
    }
}

impl Parts {
    fn row(self, kind: RowKind, name: &str) -> Row {
        let mut runs = self.held.finish();
        let held_tracks = if runs.is_empty() { 0 } else { spread(&mut runs) };
        let mut wanted = self.wanted.finish();
        let wanted_tracks = if wanted.is_empty() { 0 } else { spread(&mut wanted) };
        wanted.iter_mut().for_each(|run| run.track += held_tracks);
        runs.append(&mut wanted);
        runs.sort_by_key(|run| (run.begin, run.track));
        let tracks = (held_tracks + wanted_tracks).max(1);
        Row { tracks, runs, marks: self.marks.finish(), ..Row::new(kind, name) }
    }
}
