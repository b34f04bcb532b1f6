//! Events as lines of text. Not for the lines between them, nor for their order (see `lines`).

use super::BtfCounts;
use super::numbers::Numbers;
use super::plain::Plain;
use super::texts::{Field, Names, Texts, names};
use super::translate::{Translation, Translator};
use crate::btf::Record;
use crate::error::Result;
use crate::export::exporter::misfit;
use crate::render::{PORTION, Worker, write_integer};
use crate::schema::result::{Integers, ResultColumn as _};
use crate::time::{TimeScale, divide_half_even};
use arrow::array::{Array, AsArray, RecordBatch};
use std::ops::Range;

/// What all events have in common.
#[derive(Debug)]
pub(super) struct Style {
    /// The unit of the times in the database.
    pub scale: TimeScale,
    /// The instant that is written as 0.
    pub zero: i64,
    /// To the version of the output; `None` if events stay as they are.
    pub translator: Option<Translator>,
    pub numbers: Option<Numbers>,
    /// Comments before the first event.
    pub comments: Vec<String>,
}

/// Events of a batch, with the lines between them.
pub(super) struct Job {
    pub batch: Option<RecordBatch>,
    pub pieces: Vec<Piece>,
}

/// Lines, followed by events.
pub(super) struct Piece {
    pub lines: Vec<u8>,
    pub rows: Range<usize>,
    /// The unit of the output.
    pub unit: TimeScale,
}

/// Writes jobs.
pub(super) struct Formatter<'a> {
    style: &'a Style,
    /// In the order of the columns of [`Events`].
    texts: [Texts; 5],
    plain: Option<Plain<'a>>,
    done: BtfCounts,
}

/// The columns of a batch.
pub(super) struct Events {
    time: Integers,
    source_instance: Integers,
    target_instance: Integers,
    /// Source, type, target, action, note.
    names: [Names; 5],
}

impl<'a> Formatter<'a> {
    /// At the begin of the output.
    pub fn new(style: &'a Style) -> Self {
        let fields = [Field::Entity, Field::Kind, Field::Entity, Field::Action, Field::Note];
        let plain = style.translator.as_ref().map(Plain::new);
        Self { style, texts: fields.map(Texts::new), plain, done: BtfCounts::default() }
    }

    pub fn done(self) -> BtfCounts {
        let altered = self.texts.iter().map(|t| t.altered).sum::<u64>() + self.done.altered;
        BtfCounts { altered, ..self.done }
    }

    /// Copies each name as it was written before.
    fn event(&mut self, events: &Events, row: usize, clock: &Clock, out: &mut Vec<u8>) {
        let numbers = self.style.numbers.as_ref();
        let [source, kind, target, action, note] = &events.names;
        let [sources, kinds, targets, actions, notes] = &mut self.texts;
        self.done.rounded += u64::from(clock.write(events.time.value(row), out));
        sources.write(source.key(row), numbers, out);
        write_instance(events.source_instance.get(row), out);
        kinds.write(kind.key(row), numbers, out);
        targets.write(target.key(row), numbers, out);
        write_instance(events.target_instance.get(row), out);
        actions.write(action.key(row), numbers, out);
        if let Some(key) = note.key(row) {
            notes.write(Some(key), numbers, out);
        }
        out.push(b'\n');
        self.done.events += 1;
    }

    /// In the terms of a version. What it cannot express becomes a comment.
    fn translated(&mut self, record: &Record<'_>, translator: &Translator, clock: &Clock, out: &mut Vec<u8>) {
        match translator.translate(record) {
            Translation::Whole(translation) => self.record(&translation, clock, out),
            Translation::Partly(translation) => {
                self.comment(record, clock, out);
                self.done.partly += 1;
                self.record(&translation, clock, out);
            }
            Translation::None => {
                self.comment(record, clock, out);
                self.done.inexpressible += 1;
            }
        }
    }

    fn comment(&mut self, record: &Record<'_>, clock: &Clock, out: &mut Vec<u8>) {
        out.extend_from_slice(b"# ");
        self.record(record, clock, out);
        self.done.events -= 1;
    }

    fn record(&mut self, record: &Record<'_>, clock: &Clock, out: &mut Vec<u8>) {
        let numbers = self.style.numbers.as_ref();
        let mut write = |field: Field, name: &str, out: &mut Vec<u8>| {
            self.done.altered += u64::from(field.write(name, numbers, out));
        };
        self.done.rounded += u64::from(clock.write(record.time, out));
        write(Field::Entity, record.source, out);
        write_instance(record.source_instance, out);
        write(Field::Kind, record.target_type, out);
        write(Field::Entity, record.target, out);
        write_instance(record.target_instance, out);
        write(Field::Action, record.action, out);
        if let Some(note) = record.note {
            write(Field::Note, note, out);
        }
        out.push(b'\n');
        self.done.events += 1;
    }
}

impl Worker<Job> for Formatter<'_> {
    fn work(&mut self, job: &mut Job, out: &mut Vec<u8>) -> Result<bool> {
        let events = job.batch.as_ref().map(|batch| Events::of(batch).ok_or_else(misfit)).transpose()?;
        let names = events.iter().flat_map(|events| &events.names);
        self.texts.iter_mut().zip(names).for_each(|(texts, names)| texts.turn_to(names));
        if let (Some(plain), Some(events)) = (&mut self.plain, &events) {
            plain.turn_to(&events.names);
        }
        for piece in &mut job.pieces {
            out.append(&mut piece.lines);
            let Some(events) = &events else { continue };
            let clock = Clock::new(self.style, piece.unit);
            for row in piece.rows.by_ref() {
                let plain = self.plain.as_mut().is_none_or(|plain| plain.is_plain(&events.names, row));
                match self.style.translator.as_ref().filter(|_| !plain) {
                    Some(translator) => self.translated(&events.record(row), translator, &clock, out),
                    None => self.event(events, row, &clock, out),
                }
                if out.len() >= PORTION {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Events {
    pub fn of(batch: &RecordBatch) -> Option<Self> {
        let [time, _, source, source_instance, target_type, target, target_instance, action, note] =
            batch.columns()
        else {
            return None;
        };
        Some(Self {
            time: Integers::of(time)?,
            source_instance: Integers::of(source_instance)?,
            target_instance: Integers::of(target_instance)?,
            names: [names(source)?, names(target_type)?, names(target)?, names(action)?, names(note)?],
        })
    }

    pub fn record(&self, row: usize) -> Record<'_> {
        let [source, target_type, target, action, note] = self.names.each_ref().map(|names| {
            let texts = names.values().as_string_opt::<i32>()?;
            names.key(row).filter(|key| *key < texts.len()).map(|key| texts.value(key))
        });
        Record {
            time: self.time.value(row),
            source: source.unwrap_or_default(),
            source_instance: self.source_instance.get(row),
            target_type: target_type.unwrap_or_default(),
            target: target.unwrap_or_default(),
            target_instance: self.target_instance.get(row),
            action: action.unwrap_or_default(),
            note,
        }
    }
}

fn write_instance(instance: Option<i64>, out: &mut Vec<u8>) {
    out.push(b',');
    if let Some(instance) = instance {
        write_integer(instance, out);
    }
}

/// Converts ticks to times.
struct Clock {
    zero: i64,
    /// Ticks per unit, if more than one.
    divisor: Option<u64>,
    /// The zeros that a finer unit appends.
    zeros: &'static [u8],
}

impl Clock {
    fn new(style: &Style, unit: TimeScale) -> Self {
        let (unit, scale) = (unit.decimals(), style.scale.decimals());
        let divisor = (unit < scale).then(|| 10u64.pow(scale - unit));
        let zeros = b"000000000000".get(..unit.saturating_sub(scale) as usize).unwrap_or_default();
        Self { zero: style.zero, divisor, zeros }
    }

    /// Appends a time; true when it had to be rounded.
    fn write(&self, time: i64, out: &mut Vec<u8>) -> bool {
        // Never below 0: no event is earlier than the begin of its recording.
        let ticks = time.wrapping_sub(self.zero) as u64;
        let (units, inexact) = match self.divisor {
            Some(divisor) => divide_half_even(ticks, divisor),
            None => (ticks, false),
        };
        write_integer(units, out);
        if ticks != 0 {
            out.extend_from_slice(self.zeros);
        }
        inexact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, DictionaryArray, Int64Array, StringViewArray};
    use arrow::datatypes::UInt32Type;
    use proptest::prelude::*;
    use std::sync::Arc;

    type Row = (i64, [Option<i64>; 2], [String; 4], Option<String>);

    fn batch(rows: &[Row], views: bool) -> RecordBatch {
        let names = |texts: Vec<Option<&str>>| -> ArrayRef {
            match views {
                true => Arc::new(StringViewArray::from(texts)),
                false => Arc::new(texts.into_iter().collect::<DictionaryArray<UInt32Type>>()),
            }
        };
        let name = |n: usize| names(rows.iter().map(|r| Some(r.2[n].as_str())).collect());
        let integers =
            |n: usize| -> ArrayRef { Arc::new(rows.iter().map(|r| r.1[n]).collect::<Int64Array>()) };
        let times: ArrayRef = Arc::new(rows.iter().map(|r| Some(r.0)).collect::<Int64Array>());
        let notes = names(rows.iter().map(|r| r.3.as_deref()).collect());
        let columns = [
            ("time", times.clone()),
            ("seq", times),
            ("source", name(0)),
            ("source_instance", integers(0)),
            ("target_type", name(1)),
            ("target", name(2)),
            ("target_instance", integers(1)),
            ("action", name(3)),
            ("note", notes),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    /// The line of a row, field by field.
    fn line(row: &Row, style: &Style, unit: TimeScale) -> String {
        let (time, instances, names, note) = row;
        let ticks = i128::from(*time) - i128::from(style.zero);
        let (decimals, scale) = (unit.decimals(), style.scale.decimals());
        let time = if decimals < scale {
            let divisor = 10i128.pow(scale - decimals);
            let (units, twice) = (ticks / divisor, ticks % divisor * 2);
            units + i128::from(twice > divisor || twice == divisor && units % 2 == 1)
        } else {
            ticks * 10i128.pow(decimals - scale)
        };
        let [source, target] = instances.map(|n| n.map(|n| n.to_string()).unwrap_or_default());
        let text = |name: &str| name.replace([',', '\n', '\r'], "_");
        let number = |name: &String, known: fn(&Numbers) -> &std::collections::HashMap<String, String>| {
            let number = style.numbers.as_ref().and_then(|n| known(n).get(name).cloned());
            number.unwrap_or_else(|| text(name))
        };
        let entity = |name| number(name, |n| &n.entities);
        let note = note.as_ref().map(|n| format!(",{}", n.replace(['\n', '\r'], "_"))).unwrap_or_default();
        let kind = number(&names[1], |n| &n.kinds);
        let (from, to, action) = (entity(&names[0]), entity(&names[2]), text(&names[3]));
        format!("{time},{from},{source},{kind},{to},{target},{action}{note}\n")
    }

    fn row() -> impl Strategy<Value = Row> {
        let time = prop_oneof![0i64..2000, Just(i64::MAX), 0..i64::MAX];
        let instance = || {
            prop_oneof![
                Just(None),
                (-2i64..120).prop_map(Some),
                any::<i64>().prop_map(Some),
                Just(Some(i64::MIN))
            ]
        };
        let name = || prop_oneof!["[a-cä,\n\r]{0,3}", "[ -~]{0,40}"];
        let note = prop::option::of(prop_oneof!["[0-9,]{0,3}", "\\PC{0,8}", Just("a\r\nb".to_owned())]);
        (time, [instance(), instance()], [name(), name(), name(), name()], note)
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_plain_writer(
            batches in prop::collection::vec((prop::collection::vec(row(), 0..20), any::<bool>()), 1..5),
            unit in prop::sample::select(vec![TimeScale::Ps, TimeScale::Ns, TimeScale::Us, TimeScale::S]),
            zero in prop_oneof![Just(0), -2000i64..0],
            numeric: bool,
        ) {
            let mut numbers = Numbers::default();
            for (name, id) in [("a", "1"), ("b", "22"), ("", "333")] {
                numbers.entities.insert(name.into(), id.into());
                numbers.kinds.insert(name.into(), format!("{id}0"));
            }
            let style = Style {
                scale: TimeScale::Ns,
                zero,
                translator: None,
                numbers: numeric.then_some(numbers),
                comments: Vec::new(),
            };
            let (mut formatter, mut out, mut expected) = (Formatter::new(&style), Vec::new(), String::new());
            let mut count = 0;
            for (rows, views) in &batches {
                let half = rows.len() / 2;
                let piece = |lines: &str, rows| Piece { lines: lines.into(), rows, unit };
                let pieces = vec![piece("# x\n", 0..half), piece("", half..half), piece("# y\n", half..rows.len())];
                let mut job = Job { batch: Some(batch(rows, *views)), pieces };
                prop_assert!(!formatter.work(&mut job, &mut out).unwrap());
                let lines = |rows: &[Row]| rows.iter().map(|row| line(row, &style, unit)).collect::<String>();
                expected += &format!("# x\n{}# y\n{}", lines(&rows[..half]), lines(&rows[half..]));
                count += rows.len() as u64;
            }
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
            prop_assert_eq!(formatter.done().events, count);
        }
    }
}
