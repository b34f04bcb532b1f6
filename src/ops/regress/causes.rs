//! View `response_part` of both sides → what made a response time change. Not how a response is cut into
//! parts (see [`crate::explain`]), nor how causes are ranked (see [`crate::regress`]).

use super::report::CauseRow;
use crate::engine::Session;
use crate::error::Result;
use crate::regress::{Origin, Part, Response, Side, Summary, first_cause};
use crate::schema::result::{Integers, Texts, columns};
use std::collections::BTreeMap;

/// Metrics whose changes have causes among the parts of responses.
pub(super) const RESPONSE: &str = "ResponseTime";
/// Likewise: the time that instances of tasks and ISRs are running.
pub(super) const EXECUTION: &str = "NetExecutionTime";
/// Causes of a change that are named.
const NAMED: usize = 3;

/// The time of an instance in all its parts of a kind and name.
const SQL: &str = "SELECT recording, process, type, kind, name, instance, CAST(sum(length) AS BIGINT) AS length \
    FROM ( \
        SELECT recording, process, type, instance, kind, length, \
            CASE kind \
                WHEN 'executes' THEN coalesce(runnable, process) \
                WHEN 'behind' THEN coalesce(by_process, '') \
                WHEN 'lock' THEN coalesce(by_process, object, '') \
                WHEN 'event' THEN coalesce(by_process, object, '') \
                ELSE '' \
            END AS name \
        FROM response_part \
    ) AS part \
    GROUP BY recording, process, type, kind, name, instance \
    ORDER BY recording, process, type, instance, kind, name";

/// Kind and name of a part.
type PartKey = (String, String);

/// The parts of the responses of a task or ISR on one side.
#[derive(Default)]
struct Parts {
    /// Instances of each recording.
    instances: Vec<usize>,
    /// Ticks of each instance in a part, 0 for those without it; each side has all of the recordings.
    sides: BTreeMap<PartKey, Side>,
}

/// Those of one recording, while its rows come.
struct Open {
    recording: String,
    process: (String, String),
    instance: Option<i64>,
    instances: usize,
    parts: BTreeMap<PartKey, Summary>,
}

/// What the responses of each task and ISR are made of, on both sides.
///
/// # Errors
/// Those of a query.
pub(super) fn responses(before: &Session, after: &Session) -> Result<Vec<Response>> {
    let (mut before, mut after) = (parts(before)?, parts(after)?);
    // What only one side has is no change of an entity.
    before.retain(|process, _| after.contains_key(process));
    let mut responses = Vec::new();
    for (process, before) in &mut before {
        let Some(after) = after.get_mut(process) else { continue };
        for key in before.sides.keys().cloned().collect::<Vec<_>>() {
            after.with(&key);
        }
        for key in after.sides.keys() {
            before.with(key);
        }
        let part = |((kind, name), side): (&PartKey, &Side)| {
            let other = after.sides.get(&(kind.clone(), name.clone()))?;
            Some(Part::of(kind, name, origin(kind), side, other))
        };
        let parts = before.sides.iter().filter_map(part).collect();
        responses.push(Response { entity: process.0.clone(), parts });
    }
    Ok(responses)
}

/// Why a metric of an entity changed, the first cause first; empty for metrics that need no explanation.
pub(super) fn of(metric: &str, entity: &str, responses: &[Response]) -> Vec<CauseRow> {
    let row = |cause: crate::regress::Cause| CauseRow {
        entity: cause.entity,
        kind: cause.kind,
        name: cause.name,
        explains: cause.explains,
        sure: cause.sure,
        path: cause.path,
    };
    let causes = match metric {
        RESPONSE => first_cause(entity, responses),
        // What an instance executes is among the parts of its response.
        EXECUTION => first_cause(entity, &executions(entity, responses)),
        _ => Vec::new(),
    };
    causes.into_iter().take(NAMED).map(row).collect()
}

/// What the entity itself executes.
fn executions(entity: &str, responses: &[Response]) -> Vec<Response> {
    let own = |response: &Response| Response {
        entity: response.entity.clone(),
        parts: response.parts.iter().filter(|part| part.origin == Origin::Own).cloned().collect(),
    };
    responses.iter().filter(|response| response.entity == entity).map(own).collect()
}

/// What a kind of view `response_part` means for whose it is. The kernel, and what is not known, is nobody
/// whose parts are known: a wait that nothing explains.
fn origin(kind: &str) -> Origin {
    match kind {
        "executes" => Origin::Own,
        "lock" | "event" => Origin::Awaits,
        _ => Origin::Behind,
    }
}

fn parts(session: &Session) -> Result<BTreeMap<(String, String), Parts>> {
    let (mut all, mut open) = (BTreeMap::new(), None);
    for batch in session.sql(SQL, &[])? {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let (names, [instances, lengths]): ([Texts; 5], [Integers; 2]) = columns(&batch)?;
        let [recordings, processes, types, kinds, parts] = &names;
        for row in 0..batch.num_rows() {
            let (recording, process, kind) = (recordings.value(row), processes.value(row), types.value(row));
            let mut now = match open.take() {
                Some(Open { recording: of, process: (name, of_kind), instance, instances, parts })
                    if of == recording && name == process && of_kind == kind =>
                {
                    Open { recording: of, process: (name, of_kind), instance, instances, parts }
                }
                before => {
                    close(&mut all, before);
                    Open {
                        recording: recording.to_owned(),
                        process: (process.to_owned(), kind.to_owned()),
                        instance: None,
                        instances: 0,
                        parts: BTreeMap::new(),
                    }
                }
            };
            if now.instance != instances.get(row) {
                now.instance = instances.get(row);
                now.instances += 1;
            }
            let key = (kinds.value(row).to_owned(), parts.value(row).to_owned());
            let summary = now.parts.entry(key).or_default();
            fill(summary, now.instances - 1);
            summary.push(lengths.get(row).unwrap_or_default());
            open = Some(now);
        }
    }
    close(&mut all, open);
    Ok(all)
}

/// Ends the parts of a recording.
fn close(all: &mut BTreeMap<(String, String), Parts>, open: Option<Open>) {
    let Some(mut open) = open else { return };
    let parts = all.entry(open.process).or_default();
    for key in open.parts.keys() {
        parts.with(key);
    }
    for (key, side) in &mut parts.sides {
        let mut summary = open.parts.remove(key).unwrap_or_default();
        fill(&mut summary, open.instances);
        side.push(summary);
    }
    parts.instances.push(open.instances);
}

impl Parts {
    /// Adds a part that no instance has, if the part is not there.
    fn with(&mut self, key: &PartKey) {
        if !self.sides.contains_key(key) {
            let side = self.instances.iter().map(|count| std::iter::repeat_n(0, *count).collect()).collect();
            self.sides.insert(key.clone(), side);
        }
    }
}

/// Adds instances without the part, up to so many instances.
fn fill(summary: &mut Summary, instances: usize) {
    let missing = (instances as u64).saturating_sub(summary.count());
    (0..missing).for_each(|_| summary.push(0));
}
