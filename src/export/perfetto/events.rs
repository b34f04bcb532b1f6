//! Events as instants, and values of signals as counters. Not for spans, which come from the derived tables.

use super::packets::{Argument, Flow, TrackKind, Value};
use super::tracks::Group;
use super::{Export, activation};
use crate::btf::spec::{Action, EntityType, EntityTypes, process_transition, runnable_transition};
use crate::engine::{self, EventOrder};
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::export::handlers::Handlers;
use crate::schema::tables;
use std::collections::HashMap;

/// An event, as far as it is shown.
struct Event<'a> {
    time: i64,
    source: &'a str,
    /// The type of the source; `None` if it is no target of any event.
    source_kind: Option<EntityType>,
    target: &'a str,
    target_instance: Option<i64>,
    kind: Option<EntityType>,
    action: &'a str,
    /// What the action means, in whatever spelling.
    meaning: Option<Action>,
    note: Option<&'a str>,
}

impl Export<'_, '_> {
    pub(super) fn events(&mut self) -> Result<()> {
        let known = self.kinds()?;
        let condition = self.selection.condition(tables::BTF_EVENT, self.recording);
        let (sql, params) = (condition.sql(), condition.params());
        let whole = self.selection.is_whole();
        let events = engine::events(self.session, self.recording, (&sql, &params), whole, EventOrder::Time)?;
        let mut rows = Cursor::new(events);
        let mut handlers = Handlers::read(self.session, self.recording, self.selection)?;
        let mut text = String::new();
        // Time, number, source and its instance, type, target and its instance, action, note.
        while rows.next()? {
            let (ty, action) = (rows.name(4), rows.name(7));
            let kind = EntityType::parse_tolerant(ty);
            let meaning = Action::parse_tolerant(action);
            if lasts(kind, meaning) {
                continue;
            }
            let time = rows.int(0).unwrap_or(0);
            // An ISR that is another process on each core is on the tracks of that process.
            let is_isr = |kind| kind == Some(EntityType::Isr);
            let source_kind = known.get(rows.name(2)).copied();
            let source = match is_isr(source_kind) {
                true => handlers.process(time, rows.name(2), rows.int(3))?.map(|(name, _)| name.to_owned()),
                false => None,
            };
            let target = match is_isr(kind) {
                true => handlers.process(time, rows.name(5), rows.int(6))?,
                false => None,
            };
            let event = Event {
                time,
                source: source.as_deref().unwrap_or_else(|| rows.name(2)),
                source_kind,
                target: target.map_or_else(|| rows.name(5), |(name, _)| name),
                target_instance: target.map_or_else(|| rows.int(6), |(_, instance)| Some(instance)),
                kind,
                action,
                meaning,
                note: rows.text(8),
            };
            self.event(&event, &mut text)?;
        }
        Ok(())
    }

    /// The types of entities that cause events: each is also a target somewhere.
    fn kinds(&self) -> Result<HashMap<String, EntityType>> {
        let sql =
            "SELECT DISTINCT target, target_type FROM btf_event WHERE recording = $recording ORDER BY 1, 2";
        let mut rows = Cursor::new(self.session.sql(sql, &[("recording", self.recording.into())])?);
        let mut kinds: HashMap<String, EntityType> = HashMap::new();
        while rows.next()? {
            let Some(kind) = EntityType::parse_tolerant(rows.name(1)) else { continue };
            let known = kinds.entry(rows.name(0).to_owned()).or_insert(kind);
            if kind.is_process() && !known.is_process() {
                *known = kind;
            }
        }
        Ok(kinds)
    }

    fn event(&mut self, event: &Event<'_>, text: &mut String) -> Result<()> {
        let packets = &mut self.packets;
        let target = event.target;
        let mut args = Vec::with_capacity(3);
        let mut flow = None;
        if event.kind.is_some_and(|kind| EntityTypes::WITH_INSTANCES.has(kind)) {
            args.extend(event.target_instance.filter(|n| *n >= 0).map(|n| Argument::Int("instance", n)));
        }
        if let (Some(kind), true) =
            (event.kind.filter(|k| k.is_process()), event.meaning == Some(Action::Activate))
        {
            // Without a number, the instance is unknown.
            let Some(instance) = event.target_instance else { return Ok(()) };
            let thread = self.tracks.thread(kind, target, packets)?;
            thread.activated = true;
            flow = Some(Flow::Through(activation(thread.number, instance)));
        }
        if event.kind == Some(EntityType::Signal)
            && event.meaning == Some(Action::Write)
            && let Some(value) = event.note.and_then(value)
        {
            let row = self.tracks.row(Group::Signals, target, TrackKind::Counter, "", packets)?;
            packets.counter(row.track, event.time, value)?;
        }
        args.extend(event.note.map(|note| Argument::Text("note", note)));
        // A stimulus is the event itself; any other event has its source as a property.
        let track = match (event.kind, event.source_kind) {
            (Some(EntityType::Stimulus), _) => {
                args.push(Argument::Name("source", event.source));
                self.tracks.row(Group::Stimuli, target, TrackKind::Other, "", packets)?.track
            }
            (_, Some(kind @ (EntityType::Task | EntityType::Isr))) => {
                self.tracks.thread(kind, event.source, packets)?.track
            }
            (_, Some(EntityType::Stimulus)) => {
                self.tracks.row(Group::Stimuli, event.source, TrackKind::Other, "", packets)?.track
            }
            (Some(kind @ (EntityType::Task | EntityType::Isr)), _) => {
                args.push(Argument::Name("source", event.source));
                self.tracks.thread(kind, target, packets)?.track
            }
            _ => {
                args.push(Argument::Name("source", event.source));
                self.tracks.row(Group::Others, target, TrackKind::Other, "", packets)?.track
            }
        };
        text.clear();
        text.push_str(event.action);
        if event.kind != Some(EntityType::Stimulus) {
            text.push(' ');
            text.push_str(target);
        }
        packets.instant(track, event.time, text, &args, flow)
    }
}

/// True if an event begins or ends something that is shown as a slice.
fn lasts(kind: Option<EntityType>, action: Option<Action>) -> bool {
    use Action::{Activate, Assigned, Released, RequestSemaphore, Waiting};
    match kind {
        Some(EntityType::Task | EntityType::Isr) => {
            action.filter(|action| *action != Activate).and_then(process_transition).is_some()
        }
        Some(EntityType::Runnable) => action.and_then(runnable_transition).is_some(),
        // As the views of semaphores interpret them.
        Some(EntityType::Semaphore) => {
            matches!(action, Some(RequestSemaphore | Waiting | Assigned | Released))
        }
        _ => false,
    }
}

/// The number that a note is, or begins with: `12`, `-1.5`, `0x1f`.
fn value(note: &str) -> Option<Value> {
    let note = note.trim();
    if let Ok(number) = note.parse() {
        return Some(Value::Int(number));
    }
    if let Some(number) = note.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok()) {
        return Some(Value::Int(number));
    }
    let plain = note.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    note.parse().ok().filter(|number: &f64| plain && number.is_finite()).map(Value::Real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_signals() {
        assert_eq!(value(" -12"), Some(Value::Int(-12)));
        assert_eq!(value("0x1F"), Some(Value::Int(31)));
        assert_eq!(value("1.5"), Some(Value::Real(1.5)));
        assert_eq!(value("18446744073709551615"), Some(Value::Real(18_446_744_073_709_551_615.0)));
        for text in ["", "on", "nan", "infinity", "1,5", "0x"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
