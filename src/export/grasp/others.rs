//! The events that do not happen to jobs, in the order of time, and how to write each. Not for jobs.

use super::Part;
use crate::btf::spec::{Action, EntityType, process_transition};
use crate::engine::{EventOrder, events};
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::export::handlers::Handlers;
use crate::schema::tables;
use crate::selection::Selection;
use arrow::array::RecordBatch;

/// What a process does with a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SemaphoreAction {
    Acquire,
    Release,
    Suspend,
}

/// How to write an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Source, its instance, what it does, semaphore.
    Semaphore {
        process: String,
        instance: i64,
        grip: SemaphoreAction,
        semaphore: String,
    },
    /// A lost activation.
    Ignored {
        kind: EntityType,
        process: String,
    },
    Message(String),
    Comment,
}

/// An event, with its line of BTF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Other {
    pub saying: Form,
    pub line: String,
}

type Events = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

pub(super) struct Others {
    /// Semaphores that are held when the window begins, in reverse order.
    held: Vec<(i64, Other)>,
    rows: Cursor<Events>,
    more: bool,
    handlers: Handlers,
}

impl Others {
    pub fn of(part: Part<'_>) -> Result<Self> {
        let Part { session, selection, recording } = part;
        let condition = selection.condition(tables::BTF_EVENT, recording);
        let (sql, params) = (condition.sql(), condition.params());
        let events = events(session, recording, (&sql, &params), selection.is_whole(), EventOrder::Time)?;
        let mut handlers = Handlers::read(session, recording, selection)?;
        let held = match selection.from {
            Some(from) => held_at(part, from, &mut handlers)?,
            None => Vec::new(),
        };
        let mut others = Self { held, rows: Cursor::new(events), more: true, handlers };
        others.forward()?;
        Ok(others)
    }

    /// Advances to the next event that does not happen to a job.
    fn forward(&mut self) -> Result<()> {
        loop {
            self.more = self.rows.next()?;
            if !self.more || !self.is_of_a_job() {
                return Ok(());
            }
        }
    }

    fn is_of_a_job(&self) -> bool {
        let process = EntityType::parse_tolerant(self.rows.name(4)).is_some_and(EntityType::is_process);
        process && Action::parse_tolerant(self.rows.name(7)).and_then(process_transition).is_some()
    }

    /// When the next one is; `None` after the last one.
    pub fn at(&self) -> Option<i64> {
        let held = self.held.last().map(|(at, _)| *at);
        held.or_else(|| self.rows.int(0).filter(|_| self.more))
    }

    pub fn take(&mut self) -> Result<Other> {
        if let Some((_, held)) = self.held.pop() {
            return Ok(held);
        }
        let (rows, time) = (&self.rows, self.rows.int(0).unwrap_or(0));
        let who = self.handlers.process(time, rows.name(2), rows.int(3))?;
        let other = present(rows, who);
        self.forward()?;
        Ok(other)
    }
}

/// The present event. `handler`: the process and its instance, if the source is an ISR with another one on
/// each core. Columns: time, number, source and its instance, type, target and its instance, action, note.
fn present(rows: &Cursor<Events>, handler: Option<(&str, i64)>) -> Other {
    let (source, target, action) = (rows.name(2), rows.name(5), rows.name(7));
    let note = rows.text(8);
    let number = |column| rows.int(column).map(|n: i64| n.to_string()).unwrap_or_default();
    let mut line =
        format!("{},{source},{},{},{target},{},{action}", number(0), number(3), rows.name(4), number(6));
    if let Some(note) = note {
        line.push(',');
        line.push_str(note);
    }
    let meaning = Action::parse_tolerant(action);
    let grip = match meaning {
        Some(Action::Assigned) => Some(SemaphoreAction::Acquire),
        Some(Action::Released) => Some(SemaphoreAction::Release),
        Some(Action::Waiting) => Some(SemaphoreAction::Suspend),
        _ => None,
    };
    let kind = EntityType::parse_tolerant(rows.name(4));
    let saying = match (kind, grip) {
        (Some(EntityType::Semaphore), Some(grip)) => Form::Semaphore {
            process: handler.map_or(source, |(process, _)| process).to_owned(),
            instance: handler.map_or_else(|| rows.int(3).unwrap_or(0), |(_, instance)| instance),
            grip,
            semaphore: target.to_owned(),
        },
        (Some(kind @ (EntityType::Task | EntityType::Isr)), _)
            if meaning == Some(Action::MtaLimitExceeded) =>
        {
            Form::Ignored { kind, process: target.to_owned() }
        }
        (Some(EntityType::Stimulus), _) => Form::Message(format!("{target} {action}")),
        (Some(EntityType::Signal | EntityType::OsEvent), _) => {
            let value = note.map(|note| format!(" {note}")).unwrap_or_default();
            Form::Message(format!("{source} {action} {target}{value}"))
        }
        _ => Form::Comment,
    };
    Other { saying, line }
}

/// The holders of all semaphores right before an instant.
fn held_at(part: Part<'_>, at: i64, handlers: &mut Handlers) -> Result<Vec<(i64, Other)>> {
    let instant = Selection { from: Some(at), to: None, ..part.selection.clone() };
    let span = ("assigned_at", "released_at");
    let condition = instant.overlap(part.recording, span, &["semaphore", "process"], &[]);
    let sql = format!(
        "SELECT semaphore, process, instance, assigned_at FROM semaphore_hold {} AND assigned_at < $at \
         ORDER BY assigned_at DESC, semaphore, process, instance",
        condition.sql()
    );
    let mut params = condition.params();
    params.push(("at", at.into()));
    let mut rows = Cursor::new(part.session.sql(&sql, &params)?);
    let mut held = Vec::new();
    while rows.next()? {
        let (semaphore, process) = (rows.name(0).to_owned(), rows.name(1).to_owned());
        let instance = rows.int(2).unwrap_or(0);
        let line = format!("{},{process},{instance},SEM,{semaphore},0,assigned", rows.int(3).unwrap_or(0));
        let handler = handlers.process(at, &process, Some(instance))?;
        let (process, instance) = handler.map_or((process.as_str(), instance), |known| known);
        let (process, grip) = (process.to_owned(), SemaphoreAction::Acquire);
        let saying = Form::Semaphore { process, instance, grip, semaphore };
        held.push((at, Other { saying, line }));
    }
    Ok(held)
}
