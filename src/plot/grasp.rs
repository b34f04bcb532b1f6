//! What only Grasp traces contain: budgets of servers as curves, buffers as steps, deadlines, and messages
//! below the time line. Not tasks and mutexes, which are in the tables of all traces.

use std::collections::BTreeMap;

use super::Context;
use super::objects::each_row;
use super::show::Show;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{MarkKind, Marks, Row, RowKind, Shape, Values};
use crate::schema::result::{Integers, Texts};
use crate::schema::tables;

const BUDGETS: &str = "
    SELECT name, event, begin_at, end_at, begin_budget, end_budget, consumers, capacity
    FROM server_budget
    WHERE recording = $recording AND begin_at < $to AND end_at >= $from
    ORDER BY server, begin_at, line";

const LEVELS: &str = "
    SELECT name, begin_at, level, capacity FROM buffer_level
    WHERE recording = $recording AND begin_at < $to AND end_at >= $from
    ORDER BY buffer, begin_at, line";

/// Messages, with the name of their task; for a deadline of a job that arrived once, whether it was missed.
const MESSAGES: &str = "
    WITH task AS (
        SELECT task, min(coalesce(name, task)) AS name
        FROM grasp_event WHERE recording = $recording AND task IS NOT NULL AND name IS NOT NULL
        GROUP BY task
    ),
    job AS (
        SELECT job, min(task_name) AS name, max(completed_at) AS completed_at, max(arrivals) AS arrivals
        FROM grasp_job WHERE recording = $recording GROUP BY job
    )
    SELECT
        m.time, m.event, coalesce(j.name, t.name, m.task) AS process, m.message,
        CASE WHEN m.event = 'jobDeadline' AND j.arrivals <= 1
            AND coalesce(j.completed_at, $last) > m.time THEN 1 ELSE 0 END AS late
    FROM grasp_message AS m
    LEFT JOIN task AS t ON t.task = m.task
    LEFT JOIN job AS j ON j.job = m.job
    WHERE m.recording = $recording AND m.time >= $from AND m.time < $to
    ORDER BY m.time, m.line";

/// A row under construction.
struct Parts {
    values: Values,
    marks: Marks,
    limit: Option<i64>,
}

/// Marks: those in the rows of tasks, by name, and those in a row of their own.
#[derive(Default)]
pub(super) struct GraspMarks {
    pub of_task: BTreeMap<String, Marks>,
    pub others: Option<Marks>,
}

/// Rows of servers and buffers.
pub(super) fn read(context: &Context<'_>, show: &Show) -> Result<Vec<Row>> {
    let mut made = Vec::new();
    if !context.session.database().has(tables::GRASP_EVENT, context.recording.as_str())? {
        return Ok(made);
    }
    if show.has(RowKind::Server) {
        let unit = context.session.database().time_scale().as_str();
        made.extend(servers(context)?.into_iter().map(|(name, p)| p.row(RowKind::Server, &name, unit)));
    }
    if show.has(RowKind::Buffer) {
        made.extend(buffers(context)?.into_iter().map(|(name, p)| p.row(RowKind::Buffer, &name, "")));
    }
    Ok(made)
}

fn servers(context: &Context<'_>) -> Result<BTreeMap<String, Parts>> {
    let grid = context.grid;
    let new = || Parts { values: Values::new(grid, Shape::Lines), marks: Marks::new(grid), limit: None };
    let mut all: BTreeMap<String, Parts> = BTreeMap::new();
    each_row(context, BUDGETS, |([name, event], numbers): &([Texts; 2], [Integers; 6]), row| {
        let [begin, end, first, last, consumers, capacity] = numbers.each_ref().map(|of| of.get(row));
        let server = all.entry(name.value(row).to_owned()).or_insert_with(new);
        let (Some(begin), Some(end), Some(first), Some(last)) = (begin, end, first, last) else { return };
        let consumers = consumers.unwrap_or(0);
        server.limit = server.limit.or(capacity);
        // The part of the piece in the window: the budget falls by the number of consumers per tick.
        let at = |time: i64| first.saturating_sub(time.saturating_sub(begin).saturating_mul(consumers));
        let (from, to) = (begin.max(grid.from()), end.min(grid.to() - 1));
        if from <= to {
            server.values.add(from, if from == begin { first } else { at(from) } as f64);
            server.values.add(to, if to == end { last } else { at(to) } as f64);
        }
        match event.get(row) {
            Some("serverReplenished") => server.marks.add(begin, MarkKind::Replenished, None),
            Some("serverDepleted") => server.marks.add(begin, MarkKind::Depleted, None),
            _ => {}
        }
        if first >= 0 && last < 0 && consumers > 0 {
            let below = begin.saturating_add(first / consumers);
            server.marks.add(below, MarkKind::Violation, None);
        }
    })?;
    Ok(all)
}

fn buffers(context: &Context<'_>) -> Result<BTreeMap<String, Parts>> {
    let grid = context.grid;
    let new = || Parts { values: Values::new(grid, Shape::Steps), marks: Marks::new(grid), limit: None };
    let mut all: BTreeMap<String, Parts> = BTreeMap::new();
    each_row(context, LEVELS, |(name, [begin, level, capacity]): &(Texts, [Integers; 3]), row| {
        let (Some(at), Some(level)) = (begin.get(row), level.get(row)) else { return };
        let buffer = all.entry(name.value(row).to_owned()).or_insert_with(new);
        buffer.values.add(at, level as f64);
        buffer.limit = buffer.limit.max(capacity.get(row));
        if level < 0 {
            buffer.marks.add(at, MarkKind::Violation, None);
        }
    })?;
    // Behind the end of the recording, nothing is known.
    all.values_mut().for_each(|buffer| buffer.values.forget(context.span.1.saturating_add(1)));
    Ok(all)
}

/// Deadlines, annotations and messages of the window.
pub(super) fn grasp_marks(context: &Context<'_>, names: &mut Interner) -> Result<GraspMarks> {
    let mut grasp_marks = GraspMarks::default();
    if !context.session.database().has(tables::GRASP_EVENT, context.recording.as_str())? {
        return Ok(grasp_marks);
    }
    let grid = context.grid;
    type Columns = (Integers, [Texts; 3], Integers);
    each_row(context, MESSAGES, |(time, [event, process, message], late): &Columns, row| {
        let Some(at) = time.get(row) else { return };
        let event = event.value(row);
        let words = message.get(row).filter(|words| !words.is_empty());
        let deadline = matches!(event, "taskDeadline" | "jobDeadline");
        let (kind, name) = match deadline {
            true => (MarkKind::Deadline, words.map(|words| names.intern(words))),
            false => (MarkKind::Message, Some(names.intern(words.unwrap_or(event)))),
        };
        match process.get(row) {
            Some(task) if deadline || event == "taskAnnotation" => {
                let marks = grasp_marks.of_task.entry(task.to_owned()).or_insert_with(|| Marks::new(grid));
                marks.add(at, kind, name);
                if late.get(row) == Some(1) {
                    marks.add(at, MarkKind::Violation, Some(names.intern("deadline missed")));
                }
            }
            _ => grasp_marks.others.get_or_insert_with(|| Marks::new(grid)).add(at, kind, name),
        }
    })?;
    Ok(grasp_marks)
}

/// The row of marks without a task.
pub(super) fn messages(marks: Marks) -> Row {
    Row { marks: marks.finish(), ..Row::new(RowKind::Trace, "messages") }
}

impl Parts {
    fn row(self, kind: RowKind, name: &str, unit: &str) -> Row {
        let curve = self.values.finish(self.limit.map(|limit| limit as f64), unit);
        Row { marks: self.marks.finish(), curve, ..Row::new(kind, name) }
    }
}
