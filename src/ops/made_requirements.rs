//! The operations behind `requirement_verdict` and `requirement_violation`: what recordings show of the
//! requirements of a file, as rows. Not how they are measured (see [`crate::require`]).

use crate::engine::{Operation, RowsAsked, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::require::{Judged, Known, Outcome, Requirements, Witness, known_chains, measure};
use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use std::sync::Arc;

/// The function of verdicts.
const VERDICTS: &str = "requirement_verdicts";
/// The function of violations.
const VIOLATIONS: &str = "requirement_violations";

/// Of sessions that have no requirements.
pub(super) fn without() -> Vec<Operation> {
    let missing = || {
        Err(Error::usage("there are no requirements")
            .hint("--requirements FILE gives them, the same file as for `btfdb check`"))
    };
    [VERDICTS, VIOLATIONS].map(|name| Operation { name, rows: Arc::new(move |_, _| missing()) }).into()
}

/// Of sessions that have these requirements; for [`Session::with_operations`].
pub fn operations_of(requirements: Requirements) -> Vec<Operation> {
    let requirements = Arc::new(requirements);
    let operation = |name, rows: fn(&[Outcome]) -> Result<RecordBatch>| {
        let requirements = Arc::clone(&requirements);
        let made = move |session: &Session, asked: &RowsAsked| {
            Ok(vec![rows(&outcomes(session, asked, &requirements)?)?])
        };
        Operation { name, rows: Arc::new(made) }
    };
    vec![operation(VERDICTS, verdicts), operation(VIOLATIONS, violations)]
}

/// As `btfdb check --requirements` measures them. Which names there are is known of the whole database.
fn outcomes(session: &Session, asked: &RowsAsked, requirements: &Requirements) -> Result<Vec<Outcome>> {
    // A chain with a step that no trace has is a requirement without samples, not a mistake.
    let chains = known_chains(session, requirements)?;
    let on = |database| session.narrowed(database)?.with_chains_of_its_own(&chains);
    let known = Known::of(&on(session.database().clone())?, requirements)?;
    let names: Vec<String> = asked.recordings.iter().map(|recording| recording.name.clone()).collect();
    measure(&on(session.database().only(asked.recordings.clone()))?, requirements, &known, &names)
}

fn verdicts(outcomes: &[Outcome]) -> Result<RecordBatch> {
    let text = |of: &dyn Fn(&Outcome) -> Option<&str>| -> ArrayRef {
        Arc::new(outcomes.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&Outcome) -> Option<f64>| -> ArrayRef {
        Arc::new(outcomes.iter().map(of).collect::<Float64Array>())
    };
    let integer = |of: &dyn Fn(&Outcome) -> Option<i64>| -> ArrayRef {
        Arc::new(outcomes.iter().map(of).collect::<Int64Array>())
    };
    let judged = |of: &dyn Fn(&Judged) -> i64| integer(&|outcome| outcome.judged.as_ref().map(of));
    of_columns([
        ("recording", text(&|outcome| Some(&outcome.recording)), true),
        ("requirement", text(&|outcome| Some(&outcome.requirement)), true),
        ("entity", text(&|outcome| Some(&outcome.entity)), true),
        ("verdict", text(&|outcome| Some(outcome.verdict.as_str())), true),
        ("metric", text(&|outcome| Some(&outcome.metric)), true),
        ("statistic", text(&|outcome| Some(&outcome.statistic)), true),
        ("unit", text(&|outcome| Some(outcome.unit)), true),
        ("worst", number(&|outcome| outcome.value), true),
        ("side", text(&|outcome| Some(outcome.bound)), true),
        ("bound", number(&|outcome| Some(outcome.limit)), true),
        ("margin", number(&|outcome| outcome.margin), true),
        ("at", integer(&|outcome| outcome.at), true),
        ("samples", integer(&|outcome| Some(outcome.samples)), true),
        ("beyond", integer(&|outcome| outcome.violations), true),
        ("incomplete", integer(&|outcome| Some(outcome.incomplete)), true),
        ("kept", judged(&|judged| judged.kept), true),
        ("open", judged(&|judged| judged.open), true),
        ("unknown", judged(&|judged| judged.unknown), true),
        ("missing", judged(&|judged| judged.missing), true),
        ("blind", judged(&|judged| judged.blind), true),
        ("note", text(&|outcome| outcome.note.as_deref()), true),
    ])
}

/// A witness of a violation of an outcome; `None` for the witness if there is none.
struct Line<'a> {
    outcome: &'a Outcome,
    violation: i64,
    span: (i64, i64),
    witness: Option<(i64, &'a Witness)>,
}

fn violations(outcomes: &[Outcome]) -> Result<RecordBatch> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        let shown = outcome.judged.iter().flat_map(|judged| &judged.violations);
        for (violation, shown) in (0..).zip(shown) {
            let line = |witness| Line { outcome, violation, span: (shown.begin, shown.end), witness };
            lines.extend((0..).zip(&shown.witnesses).map(|witness| line(Some(witness))));
            if shown.witnesses.is_empty() {
                lines.push(line(None));
            }
        }
    }
    let text = |of: &dyn Fn(&Line<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(lines.iter().map(of).collect::<StringArray>())
    };
    let integer = |of: &dyn Fn(&Line<'_>) -> Option<i64>| -> ArrayRef {
        Arc::new(lines.iter().map(of).collect::<Int64Array>())
    };
    of_columns([
        ("recording", text(&|line| Some(line.outcome.recording.clone())), true),
        ("requirement", text(&|line| Some(line.outcome.requirement.clone())), true),
        ("entity", text(&|line| Some(line.outcome.entity.clone())), true),
        ("violation", integer(&|line| Some(line.violation)), true),
        ("begin_at", integer(&|line| Some(line.span.0)), true),
        ("last_at", integer(&|line| Some(line.span.1)), true),
        ("witness", integer(&|line| line.witness.map(|(number, _)| number)), true),
        ("time", integer(&|line| line.witness.map(|(_, witness)| witness.time)), true),
        ("seq", integer(&|line| line.witness.and_then(|(_, witness)| witness.seq)), true),
        ("event", text(&|line| line.witness.map(|(_, witness)| witness.event.clone())), true),
    ])
}

fn of_columns<const N: usize>(columns: [(&str, ArrayRef, bool); N]) -> Result<RecordBatch> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns);
    batch.map_err(|e| Error::new(ErrorKind::Bug, "requirements do not fit their columns").because(e))
}
