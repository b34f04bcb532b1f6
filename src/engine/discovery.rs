//! The events of a recording that event chains can be made of → the chains and links that it shows, and these
//! as rows. Not how they are found (see [`crate::chain`]).

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::time_columns::time_column;
use crate::btf::Action;
use crate::btf::spec::is_environment;
use crate::chain::{Discovery, FoundChain, FoundLink};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::result::{self, Integers, Texts};
use crate::sql_text::literal;

/// A gap, among the events, with its end as an instance.
const GAP: &str = "gap";
/// An instance that the trace does not number: the latest one.
const NO_NUMBER: i64 = -1;

/// Selects the reads and writes of signals, triggers, activations, terminations and gaps of a recording, in
/// order. Events at the moment a gap begins are before it.
pub(super) fn events_of(recording: &str) -> String {
    let recording = literal(recording);
    format!(
        "SELECT time, seq, target_type, target, target_instance, action, source, source_instance \
         FROM btf_event WHERE recording = {recording} AND (\
         (is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')) \
         OR (is_type(target_type, 'STI') AND is_action(action, 'trigger')) \
         OR (is_type(target_type, 'T', 'I') AND is_action(action, 'activate', 'terminate'))) \
         UNION ALL SELECT begin_at, 9223372036854775807, '{GAP}', NULL, end_at, NULL, NULL, NULL \
         FROM gap WHERE recording = {recording} ORDER BY time, seq"
    )
}

/// Passes rows of [`events_of`] on.
pub(super) fn take_in(discovery: &mut Discovery, batch: &RecordBatch) -> Result<()> {
    type Row = ([Integers; 2], [Texts; 2], Integers, [Texts; 2], Integers);
    let ([time, _], [target_type, target], target_instance, [action, source], source_instance) =
        result::columns::<Row>(batch)?;
    let number = |of: &Integers, row: usize| of.get(row).filter(|n| *n >= 0).unwrap_or(NO_NUMBER);
    for row in 0..batch.num_rows() {
        let (target, source, time) = (target.value(row), source.value(row), time.value(row));
        if target_type.value(row) == GAP {
            discovery.gap(target_instance.value(row));
            continue;
        }
        if discovery.is_hidden(time) {
            continue;
        }
        // What has no instance cannot be told from others of its name.
        let is_entity = source != target && !is_environment(source);
        let by = source_instance.get(row).filter(|_| is_entity).map(|instance| (source, instance));
        let process = target_instance.get(row).map(|instance| (target, instance));
        match (Action::parse_tolerant(action.value(row)), by, process) {
            (Some(Action::Write), by, _) => discovery.write(target, by),
            (Some(Action::Read), Some(by), _) => discovery.read(time, target, by),
            (Some(Action::Trigger), by, _) => {
                discovery.trigger((target, number(&target_instance, row)), by);
            }
            (Some(Action::Activate), _, Some(process)) if is_entity => {
                discovery.activate(time, (source, number(&source_instance, row)), process);
            }
            (Some(Action::Terminate), _, Some(process)) => discovery.terminate(process),
            _ => {}
        }
    }
    Ok(())
}

/// The columns of chains, as `queries/chains/discovered_chain.sql` describes them.
pub(super) fn chain_schema() -> SchemaRef {
    let flag = |name| Field::new(name, DataType::Boolean, false);
    Arc::new(Schema::new(vec![
        text("recording"),
        text("chain"),
        number("occurrences"),
        number("steps"),
        time("first_at"),
        time("last_at"),
        flag("cycle"),
        flag("cut"),
        text("toml"),
    ]))
}

/// Chains of a recording as rows.
///
/// # Errors
/// [`ErrorKind::Bug`] only.
pub(crate) fn chain_rows(recording: &str, chains: &[FoundChain]) -> Result<RecordBatch> {
    let of = chains.iter();
    rows(
        chain_schema(),
        vec![
            texts(of.clone().map(|_| Some(recording))),
            texts(of.clone().map(|chain| Some(&*chain.name))),
            numbers(of.clone().map(|chain| count(chain.count))),
            numbers(of.clone().map(|chain| count(chain.steps.len() as u64))),
            numbers(of.clone().map(|chain| chain.first)),
            numbers(of.clone().map(|chain| chain.last)),
            Arc::new(BooleanArray::from_iter(of.clone().map(|chain| Some(chain.is_cycle)))),
            Arc::new(BooleanArray::from_iter(of.clone().map(|chain| Some(chain.is_cut)))),
            Arc::new(StringViewArray::from_iter_values(of.map(FoundChain::entry))),
        ],
    )
}

/// The columns of links, as `queries/chains/discovered_link.sql` describes them.
pub(super) fn link_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        text("recording"),
        Field::new("from_process", DataType::Utf8View, true),
        text("via"),
        text("via_type"),
        text("to_process"),
        number("occurrences"),
        time("first_at"),
        time("last_at"),
    ]))
}

/// Links of a recording as rows.
///
/// # Errors
/// [`ErrorKind::Bug`] only.
pub(super) fn link_rows(recording: &str, links: &[FoundLink]) -> Result<RecordBatch> {
    let of = links.iter();
    let kind = |link: &FoundLink| Some(if link.is_signal { "SIG" } else { "STI" });
    rows(
        link_schema(),
        vec![
            texts(of.clone().map(|_| Some(recording))),
            texts(of.clone().map(|link| link.from.as_deref())),
            texts(of.clone().map(|link| Some(&*link.via))),
            texts(of.clone().map(kind)),
            texts(of.clone().map(|link| Some(&*link.to))),
            numbers(of.clone().map(|link| count(link.count))),
            numbers(of.clone().map(|link| link.first)),
            numbers(of.map(|link| link.last)),
        ],
    )
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8View, false)
}

fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

fn time(name: &str) -> Field {
    time_column(&number(name))
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(StringViewArray::from_iter(values))
}

fn numbers(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn rows(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    let batch = RecordBatch::try_new(schema, columns);
    batch.map_err(|e| Error::new(ErrorKind::Bug, "chains do not fit their columns").because(e))
}
