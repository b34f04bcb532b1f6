//! `bound`: how long the responses of each task and ISR can take, from what a recording shows. Not how a
//! bound is found (see [`crate::bound`]), nor the text of it.

mod feed;
mod sentence;
mod system;

use crate::bound::{Assumption, Bound, Failure, Job, Kind, ProcessFacts, Reason, TaskBound, Uncovered};
use crate::bound::{Blocking, bounds};
use crate::btf::EntityType;
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::Control;
use crate::selection::pattern;
use crate::time::TimeScale;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use feed::Observed;
use std::cmp::Reverse;
use std::sync::Arc;
use system::System;

/// What is known of the responses of a process. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessBound {
    /// Its recording.
    pub recording: String,
    /// Task or ISR, as derived tables call it.
    pub process: String,
    /// Which of both.
    pub kind: EntityType,
    /// The core that it ran on; of one that never ran, that of the description.
    pub core: Option<String>,
    /// As the description says it.
    pub priority: Option<i64>,
    /// How often it was activated; starts without an activation included, lost activations not.
    pub activations: u64,
    /// The least distance of two activations.
    pub min_distance: Option<i64>,
    /// The period with the least jitter, of at least three activations, and that jitter.
    pub fit: Option<(i64, i64)>,
    /// The greatest time that a job had its core.
    pub worst_execution: Option<i64>,
    /// How long processes of lower priority delay it in its bound.
    pub blocking: Option<i64>,
    /// Who does, and why.
    pub blocked_by: Option<(String, String)>,
    /// The slowest job before which its core was seen without work of its priority or a higher one.
    pub measured: Option<i64>,
    /// The most that a job can take, if the assumptions hold; or why there is none.
    pub bound: std::result::Result<i64, String>,
    /// What the bound holds for.
    pub assumptions: Vec<Assumption>,
    /// What of the recording contradicts that, with the assumption.
    pub contradictions: Vec<(Assumption, String)>,
}

impl ProcessBound {
    /// The bound divided by what was measured.
    pub fn ratio(&self) -> Option<f64> {
        let (Ok(bound), Some(measured)) = (&self.bound, self.measured) else { return None };
        // A statistic, and no time.
        (measured > 0).then(|| *bound as f64 / measured as f64)
    }

    /// `T` or `I`.
    pub fn type_word(&self) -> &'static str {
        if self.kind == EntityType::Isr { "I" } else { "T" }
    }
}

/// The bounds of the processes of all recordings of a session, by recording and core, those that go first
/// first. `entities`: only those, a list of names and patterns.
///
/// # Errors
/// [`ErrorKind::Usage`] when no process has such a name, or no recording has processes; those of a query.
pub fn find(session: &Session, entities: Option<&str>, control: &Control) -> Result<Vec<ProcessBound>> {
    let mut all = of_all(session, control)?;
    if all.is_empty() {
        return Err(Error::usage("no recording has tasks or ISRs")
            .hint("`btfdb info` shows what a recording has; `btfdb map` maps its events"));
    }
    let Some(list) = entities else { return Ok(all) };
    let fits = |word: &str, name: &str| pattern::fits(word, name) || pattern::fits_on_core(word, name);
    if let Some(word) = pattern::words(list).find(|word| !all.iter().any(|row| fits(word, &row.process))) {
        let names = all.iter().map(|row| row.process.as_str());
        let error = Error::usage(format!("no task or ISR is called '{word}'"));
        return Err(error.hint_near(word, names, |all| format!("there are: {all}")));
    }
    all.retain(|row| pattern::words(list).any(|word| fits(word, &row.process)));
    Ok(all)
}

/// The same of all processes, if there are any.
///
/// # Errors
/// Those of a query.
pub fn of_all(session: &Session, control: &Control) -> Result<Vec<ProcessBound>> {
    let mut all = Vec::new();
    for recording in session.database().recordings()?.iter() {
        let mut system = System::read(session, &recording.name)?;
        if system.processes.is_empty() {
            continue;
        }
        let mut observed = feed::observe(session, &recording.name, &mut system, control)?;
        if system.learn_order(&observed.facts) {
            // What delays whom can be told only when it is known who goes first.
            observed = feed::observe(session, &recording.name, &mut system, control)?;
        }
        let scale = session.database().time_scale();
        let found = bounds(&observed.facts);
        let mut rows: Vec<ProcessBound> =
            found.iter().filter_map(|of| row(&recording.name, of, &observed, &system, scale)).collect();
        rows.sort_by(|one, other| place(one).cmp(&place(other)));
        all.append(&mut rows);
    }
    Ok(all)
}

/// Where a row is in its recording: what goes first on a core is first.
fn place(row: &ProcessBound) -> (bool, &Option<String>, bool, Reverse<Option<i64>>, &str) {
    let is_task = row.kind == EntityType::Task;
    (row.core.is_none(), &row.core, is_task, Reverse(row.priority), &row.process)
}

fn row(
    recording: &str,
    of: &TaskBound,
    observed: &Observed,
    system: &System,
    scale: TimeScale,
) -> Option<ProcessBound> {
    let (known, facts) = (system.processes.get(of.process)?, observed.facts.processes.get(of.process)?);
    let blocking = match &of.bound {
        Bound::Ticks(window) => Some(window.blocking),
        _ => None,
    };
    let fit = facts.activations.fit().map(|fit| (fit.period, fit.jitter));
    let distance = facts.activations.spans().iter().find(|span| span.gaps == 1).map(|span| span.least);
    let core = of.core.and_then(|core| system.cores.get(core)).cloned();
    let said = |contradiction| sentence::of(contradiction, system, scale);
    Some(ProcessBound {
        recording: recording.to_owned(),
        process: known.name.clone(),
        kind: if facts.process.kind == Kind::Isr { EntityType::Isr } else { EntityType::Task },
        core: core.clone(),
        priority: known.priority,
        activations: observed.activations.get(of.process).copied().unwrap_or(0),
        min_distance: distance,
        fit,
        worst_execution: has_run(facts).then_some(facts.most),
        blocking: blocking.map(|blocking| blocking.total()),
        blocked_by: blocking.and_then(|blocking| blocked_by(&blocking, system)),
        measured: of.measured.as_ref().map(Job::response),
        bound: match &of.bound {
            Bound::Ticks(window) => Ok(window.bound),
            Bound::Unbounded(Failure::Overload { millionths: i64::MAX }) => Err("overload".to_owned()),
            Bound::Unbounded(Failure::Overload { millionths }) => Err(overload(*millionths, core.as_deref())),
            Bound::Unbounded(Failure::TooLong) => {
                Err("too long: the load is nearly that of the core".to_owned())
            }
            Bound::NotCovered(Uncovered::Migrates) => Err("migrates: it ran on several cores".to_owned()),
            Bound::NotCovered(Uncovered::NoCore | Uncovered::NeverRan) => Err("never ran".to_owned()),
        },
        assumptions: of.assumptions.clone(),
        contradictions: of.contradictions.iter().map(|c| (c.of, said(c))).collect(),
    })
}

fn has_run(facts: &ProcessFacts) -> bool {
    facts.most > 0 || facts.seen.jobs > 0
}

/// In tenths of a percent, rounded up: more than the core has.
fn overload(millionths: i64, core: Option<&str>) -> String {
    let tenths = millionths / 1000 + i64::from(millionths % 1000 > 0);
    format!("overload: {}.{} % of {}", tenths / 10, tenths % 10, core.unwrap_or("its core"))
}

/// Who of lower priority delays a process, and why.
fn blocked_by(blocking: &Blocking, system: &System) -> Option<(String, String)> {
    let (by, reason) = blocking.by?;
    let why = match reason {
        Reason::Section(lock) => format!("holds {}", system.locks.get(lock).map_or("a lock", String::as_str)),
        Reason::Threshold => "not_preemptable".to_owned(),
        Reason::Seen => "seen".to_owned(),
    };
    Some((system.processes.get(by)?.name.clone(), why))
}

/// The rows as a batch, and which of its columns hold times.
///
/// # Errors
/// [`ErrorKind::Bug`] only.
pub fn batch(rows: &[ProcessBound]) -> Result<(RecordBatch, Vec<bool>)> {
    let text = |of: &dyn Fn(&ProcessBound) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&ProcessBound) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int64Array>())
    };
    let joined = |all: &[(Assumption, String)]| {
        let all: Vec<String> = all.iter().map(|(of, what)| format!("{}: {what}", of.as_str())).collect();
        (!all.is_empty()).then(|| all.join("; "))
    };
    let codes = |all: &[Assumption]| all.iter().map(|of| of.as_str()).collect::<Vec<_>>().join(", ");
    let columns: Vec<(&str, bool, ArrayRef)> = vec![
        ("recording", false, text(&|row| Some(row.recording.clone()))),
        ("process", false, text(&|row| Some(row.process.clone()))),
        ("type", false, text(&|row| Some(row.type_word().to_owned()))),
        ("core", false, text(&|row| row.core.clone())),
        ("priority", false, number(&|row| row.priority)),
        ("activations", false, number(&|row| i64::try_from(row.activations).ok())),
        ("min_distance", true, number(&|row| row.min_distance)),
        ("period", true, number(&|row| row.fit.map(|(period, _)| period))),
        ("jitter", true, number(&|row| row.fit.map(|(_, jitter)| jitter))),
        ("worst_execution", true, number(&|row| row.worst_execution)),
        ("blocking", true, number(&|row| row.blocking)),
        ("blocked_by", false, text(&|row| row.blocked_by.as_ref().map(|(by, _)| by.clone()))),
        ("blocked_why", false, text(&|row| row.blocked_by.as_ref().map(|(_, why)| why.clone()))),
        ("measured", true, number(&|row| row.measured)),
        ("bound", true, number(&|row| row.bound.as_ref().ok().copied())),
        ("ratio", false, Arc::new(rows.iter().map(ProcessBound::ratio).collect::<Float64Array>())),
        ("reason", false, text(&|row| row.bound.as_ref().err().cloned())),
        ("assumptions", false, text(&|row| Some(codes(&row.assumptions)))),
        ("contradiction", false, text(&|row| joined(&row.contradictions))),
    ];
    let times = columns.iter().map(|(_, is_time, _)| *is_time).collect();
    let columns = columns.into_iter().map(|(name, _, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns);
    let batch =
        batch.map_err(|e| Error::new(ErrorKind::Bug, "bounds do not fit their columns").because(e))?;
    Ok((batch, times))
}

/// An assumption of a bound, and what contradicts it.
type Assumed<'a> = (&'a ProcessBound, Assumption, Option<&'a str>);

/// What the bounds assume: a row for each process and assumption, or for each contradiction of it.
///
/// # Errors
/// [`ErrorKind::Bug`] only.
pub fn assumptions(rows: &[ProcessBound]) -> Result<RecordBatch> {
    let mut all: Vec<Assumed<'_>> = Vec::new();
    for row in rows {
        let contradicted = row.contradictions.iter().map(|(of, what)| (row, *of, Some(what.as_str())));
        let is_contradicted = |of: &&Assumption| row.contradictions.iter().any(|(other, _)| *of == other);
        let others = row.assumptions.iter().filter(|of| !is_contradicted(of));
        let mut of_row: Vec<_> = contradicted.chain(others.map(|of| (row, *of, None))).collect();
        of_row.sort_by_key(|(_, of, _)| *of);
        all.append(&mut of_row);
    }
    let text = |of: &dyn Fn(&Assumed<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<StringArray>())
    };
    let contradicted: BooleanArray = all.iter().map(|(.., what)| Some(what.is_some())).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("recording", text(&|(row, ..)| Some(row.recording.clone())), true),
        ("process", text(&|(row, ..)| Some(row.process.clone())), true),
        ("type", text(&|(row, ..)| Some(row.type_word().to_owned())), true),
        ("assumption", text(&|(_, of, _)| Some(of.as_str().to_owned())), true),
        ("meaning", text(&|(_, of, _)| Some(of.text().to_owned())), true),
        ("contradicted", Arc::new(contradicted), true),
        ("contradiction", text(&|(.., what)| what.map(str::to_owned)), true),
    ]);
    batch.map_err(|e| Error::new(ErrorKind::Bug, "assumptions do not fit their columns").because(e))
}
