//! `model`: the events of a recording → a timing model. Not how it is derived (see [`crate::reconstruct`]).

use super::Control;
use super::open::Trace;
use crate::btf::spec::{Action, EntityType};
use crate::btf::{Event, Names, Note, Record};
use crate::diagnostics::Log;
use crate::engine::{EventOrder, Param, StoredRecords};
use crate::error::{Error, Result};
use crate::export::Gaps;
use crate::map::{UNSEEN, UNSEEN_AT_GAP};
use crate::reconstruct::{Evidence, Facts, Hint, Reconstruction, comments};
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use crate::store::Database;

/// A model as text, and what it rests on.
#[derive(Debug)]
pub struct DerivedModel {
    /// TOML, with the evidence of each value as comments.
    pub text: String,
    /// The same evidence as data.
    pub evidence: Vec<Evidence>,
    /// What the model cannot say.
    pub findings: Log,
}

/// Derives a timing model from the only selected recording of a trace, whatever its source.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there are several recordings; when nothing of a process is in the
/// trace; those of a query.
pub fn derive_model(trace: &Trace, control: &Control) -> Result<DerivedModel> {
    let recording = trace.one()?;
    let mut names = Names::default();
    let mut derivation = Reconstruction::new(facts(trace, recording, &mut names)?);
    let mut records = StoredRecords::open_in(&trace.session, recording, EventOrder::Time)?;
    let mut gaps = Gaps::read(&trace.session, recording)?;
    control.begin(format!("deriving a model of {recording}"), count(trace.session.database(), recording)?);
    let mut passed = 0u64;
    while let Some((_, record)) = records.next_with(|_, _| {})? {
        gaps.before(record.time, |core, end| derivation.gap(core.map(|core| names.intern(core)), end));
        match event(&record, &mut names) {
            Some(event) if is_unseen(&event, record.note) => derivation.unseen(&event),
            Some(event) => derivation.event(&event),
            None => {}
        }
        passed += 1;
        if passed.is_multiple_of(1 << 16) {
            control.advance(0, 1 << 16);
            control.check()?;
        }
    }
    let derived = derivation.finish(&names)?;
    let text = derived.model.to_toml_with(&comments(&derived.evidence));
    Ok(DerivedModel { text, evidence: derived.evidence, findings: derived.findings })
}

/// The number of events of a recording.
fn count(database: &Database, recording: &str) -> Result<u64> {
    Ok(database.files(tables::BTF_EVENT, Some(recording))?.iter().map(|file| file.rows).sum())
}

/// An event in words that are known; others mean nothing for a model.
fn event(record: &Record<'_>, names: &mut Names) -> Option<Event> {
    let target_type = EntityType::parse_tolerant(record.target_type)?;
    let action = Action::parse_tolerant(record.action)?;
    let note = match (action, record.note.map(str::trim).filter(|note| !note.is_empty())) {
        (_, None) => Note::None,
        (Action::SetEvent, Some(task)) => Note::Name(names.intern(task)),
        (_, Some(value)) => value.parse().map_or(Note::None, Note::Value),
    };
    let source = (names.intern(record.source), record.source_instance.unwrap_or(0));
    let target = (names.intern(record.target), record.target_instance.unwrap_or(0));
    Some(Event::new(record.time, source, target_type, target, action, note))
}

/// Whether its note says of an event of a process or runnable that it was not recorded.
fn is_unseen(event: &Event, note: Option<&str>) -> bool {
    let of_process = matches!(event.target_type, EntityType::Task | EntityType::Isr | EntityType::Runnable);
    of_process && note.is_some_and(|note| matches!(note.trim(), UNSEEN | UNSEEN_AT_GAP))
}

/// What is known apart from the events.
fn facts(trace: &Trace, recording: &str, names: &mut Names) -> Result<Facts> {
    let mut facts = Facts::new(recording, trace.time_scale());
    let of_recording = [("recording", Param::from(recording))];
    let sql = "SELECT begin_at, end_at FROM recording WHERE recording = $recording";
    for batch in trace.session.sql(sql, &of_recording)? {
        let [begin, end] = result::columns::<[Integers; 2]>(&batch?)?;
        (facts.begin, facts.end) = (begin.get(0), end.get(0));
    }
    let sql = "SELECT entity, type, preemption, priority, activation_limit, CAST(mask AS BIGINT) AS mask, idle \
               FROM entity WHERE recording = $recording";
    for batch in trace.session.sql(sql, &of_recording)? {
        let batch = batch?;
        let (texts, integers) = result::columns::<([Texts; 3], [Integers; 4])>(&batch)?;
        let ([entity, kind, preemption], [priority, limit, mask, idle]) = (texts, integers);
        for row in 0..batch.num_rows() {
            let (Some(entity), Some(kind)) =
                (entity.get(row), kind.get(row).and_then(EntityType::parse_tolerant))
            else {
                continue;
            };
            let preemption: &Texts = &preemption;
            let number = |of: &Integers| of.get(row).and_then(|value| u32::try_from(value).ok());
            let hint = Hint {
                priority: number(&priority).filter(|_| kind == EntityType::Task),
                activations: number(&limit),
                preemptable: preemption.get(row).map(|kind| kind != "non"),
                mask: number(&mask),
            };
            let name = names.intern(entity);
            if idle.value(row) != 0 {
                facts.idle.insert(name);
            } else if hint != Hint::default() {
                facts.hints.insert(name, hint);
            }
        }
    }
    if facts.begin.is_none() {
        return Err(Error::input(format!("recording '{recording}' has no event")));
    }
    Ok(facts)
}
