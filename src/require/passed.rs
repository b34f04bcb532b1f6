//! Outcomes as columns, which are passed on from one process to another. Not the reports of them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::{Outcome, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::library::Unit;
use crate::schema::result::{Fractions, Integers, Texts, column};

const TEXTS: [&str; 10] = [
    "recording",
    "requirement",
    "metric",
    "entity",
    "statistic",
    "unit",
    "bound",
    "verdict",
    "note",
    "judged",
];
const NUMBERS: [&str; 3] = ["limit", "value", "margin"];
const INTEGERS: [&str; 4] = ["at", "samples", "incomplete", "violations"];

/// The columns of outcomes.
pub(crate) fn outcome_schema() -> SchemaRef {
    let of = |names: &[&str], ty: DataType| -> Vec<Field> {
        names.iter().map(|name| Field::new(*name, ty.clone(), true)).collect()
    };
    let all = [of(&TEXTS, DataType::Utf8), of(&NUMBERS, DataType::Float64), of(&INTEGERS, DataType::Int64)];
    Arc::new(Schema::new(all.concat()))
}

/// Outcomes as columns.
pub(crate) fn outcome_columns(outcomes: &[Outcome]) -> Result<RecordBatch> {
    let texts = |get: &dyn Fn(&Outcome) -> [Option<String>; 10]| -> Vec<ArrayRef> {
        let rows: Vec<_> = outcomes.iter().map(get).collect();
        let column =
            |at: usize| rows.iter().map(|row| row.get(at).cloned().flatten()).collect::<StringArray>();
        (0..TEXTS.len()).map(|at| Arc::new(column(at)) as ArrayRef).collect()
    };
    let mut columns = texts(&|o| {
        let all =
            [&o.recording, &o.requirement, &o.metric, &o.entity, &o.statistic].map(|text| Some(text.clone()));
        let [recording, requirement, metric, entity, statistic] = all;
        let [unit, bound, verdict] = [o.unit, o.bound, o.verdict.as_str()].map(|word| Some(word.to_owned()));
        // As JSON: it is a list of lists.
        let judged = o.judged.as_ref().and_then(|judged| serde_json::to_string(judged).ok());
        [recording, requirement, metric, entity, statistic, unit, bound, verdict, o.note.clone(), judged]
    });
    let numbers: [fn(&Outcome) -> Option<f64>; 3] = [|o| Some(o.limit), |o| o.value, |o| o.margin];
    for get in numbers {
        columns.push(Arc::new(outcomes.iter().map(get).collect::<Float64Array>()));
    }
    let integers: [fn(&Outcome) -> Option<i64>; 4] =
        [|o| o.at, |o| Some(o.samples), |o| Some(o.incomplete), |o| o.violations];
    for get in integers {
        columns.push(Arc::new(outcomes.iter().map(get).collect::<Int64Array>()));
    }
    let batch = RecordBatch::try_new(outcome_schema(), columns);
    batch.map_err(|e| Error::new(ErrorKind::Bug, "outcomes do not fit their columns").because(e))
}

/// The outcomes of columns.
pub(crate) fn outcomes_of(batch: &RecordBatch) -> Result<Vec<Outcome>> {
    let texts = TEXTS.iter().map(|name| column(batch, name)).collect::<Result<Vec<Texts>>>()?;
    let numbers = NUMBERS.iter().map(|name| column(batch, name)).collect::<Result<Vec<Fractions>>>()?;
    let integers = INTEGERS.iter().map(|name| column(batch, name)).collect::<Result<Vec<Integers>>>()?;
    let outcome = |row: usize| {
        let text = |at: usize| texts.get(at).and_then(|column| column.get(row));
        let owned = |at: usize| text(at).unwrap_or_default().to_owned();
        let number = |at: usize| numbers.get(at).and_then(|column| column.get(row));
        let integer = |at: usize| integers.get(at).and_then(|column| column.get(row));
        Outcome {
            recording: owned(0),
            requirement: owned(1),
            metric: owned(2),
            entity: owned(3),
            statistic: owned(4),
            unit: text(5).and_then(Unit::parse).map_or("", Unit::as_str),
            bound: if text(6) == Some("lower") { "lower" } else { "upper" },
            limit: number(0).unwrap_or(f64::NAN),
            value: number(1),
            margin: number(2),
            at: integer(0),
            samples: integer(1).unwrap_or(0),
            incomplete: integer(2).unwrap_or(0),
            violations: integer(3),
            verdict: text(7).and_then(Verdict::parse).unwrap_or_default(),
            note: text(8).map(str::to_owned),
            judged: text(9).and_then(|json| serde_json::from_str(json).ok()),
        }
    };
    Ok((0..batch.num_rows()).map(outcome).collect())
}
