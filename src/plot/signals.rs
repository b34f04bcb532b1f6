//! Signals → rows with their values as steps, and marks where they are written and read. Not other objects.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cores::{Homes, Unseen};
use super::objects::each_row;
use super::{Context, events_in};
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Grid, MarkKind, Marks, Row, RowKind, Shape, Values};
use crate::schema::result::{Integers, Texts};

/// Maximum number of events to read for the value of a signal before the window.
const MAX_BEFORE: u64 = 20_000_000;

struct Signal {
    values: Values,
    marks: Marks,
    /// A value is not a number: there is no curve.
    words: bool,
    /// When cores that can write it were not recorded, in order of time.
    unseen: Rc<[(i64, i64)]>,
    /// How many of them have begun.
    passed: usize,
    /// The end of the last of those that have begun.
    blind_until: i64,
}

/// After a gap in which a core can have written a signal, its value is not known up to the next write, nor is
/// it after a write without a value, and behind the end of the recording. Cores share memory: those of its
/// control unit can, or all if that is not known.
pub(super) fn read(context: &Context<'_>, homes: &Homes, names: &mut Interner) -> Result<Vec<Row>> {
    let grid = context.grid;
    let unseen = Unseen::read(context)?;
    let new = |name: &str| Signal {
        values: Values::new(grid, Shape::Steps),
        marks: Marks::new(grid),
        words: false,
        unseen: unseen.of(homes.of_object(EntityType::Signal, name)),
        passed: 0,
        blind_until: i64::MIN,
    };
    let mut all: BTreeMap<String, Signal> = BTreeMap::new();
    let before = Grid::new(context.span.0, grid.from(), 1);
    if grid.from() > context.span.0 && events_in(context.session, &context.recording, before)? <= MAX_BEFORE {
        let sql = "SELECT target, last_value(note ORDER BY time, seq) AS note, max(time) AS time
            FROM btf_event
            WHERE recording = $recording AND time < $from AND is_type(target_type, 'SIG') AND is_action(action, 'write')
            GROUP BY target ORDER BY target";
        each_row(context, sql, |([target, note], time): &([Texts; 2], Integers), row| {
            let (Some(target), Some(note)) = (target.get(row), note.get(row)) else { return };
            if let (Some(value), Some(at)) = (number(note), time.get(row)) {
                let signal = all.entry(target.to_owned()).or_insert_with(|| new(target));
                signal.write(at, value);
            }
        })?;
    }
    let sql = "SELECT time, target, action, note FROM btf_event
        WHERE recording = $recording AND time >= $from AND time < $to
            AND is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')
        ORDER BY time, seq";
    each_row(context, sql, |(time, [target, action, note]): &(Integers, [Texts; 3]), row| {
        let (Some(at), Some(target)) = (time.get(row), target.get(row)) else { return };
        let signal = all.entry(target.to_owned()).or_insert_with(|| new(target));
        let note = note.get(row).filter(|note| !note.is_empty());
        if action.get(row).and_then(Action::parse_tolerant) == Some(Action::Read) {
            signal.marks.add(at, MarkKind::Read, None);
            return;
        }
        signal.marks.add(at, MarkKind::Write, note.map(|note| names.intern(note)));
        match note.map(number) {
            Some(Some(value)) => signal.write(at, value),
            Some(None) => signal.words = true,
            None => signal.forget(at),
        }
    })?;
    let end = context.span.1.saturating_add(1);
    Ok(all.into_iter().map(|(name, signal)| signal.row(&name, end)).collect())
}

impl Signal {
    fn write(&mut self, at: i64, value: f64) {
        self.pass(at);
        // Another core can write after it, unseen.
        if at >= self.blind_until {
            self.values.add(at, value);
        }
    }

    /// A value is written that the trace does not have.
    fn forget(&mut self, at: i64) {
        self.pass(at);
        self.values.forget(at);
    }

    /// Forgets the value where a gap begins before an instant.
    fn pass(&mut self, at: i64) {
        while let Some((begin, end)) = self.unseen.get(self.passed).copied().filter(|gap| gap.0 < at) {
            self.passed += 1;
            self.values.forget(begin);
            self.blind_until = end;
        }
    }

    /// `end`: that of the recording, behind which no value is known.
    fn row(mut self, name: &str, end: i64) -> Row {
        self.pass(i64::MAX);
        self.values.forget(end);
        let curve = if self.words { None } else { self.values.finish(None, "") };
        Row { marks: self.marks.finish(), curve, ..Row::new(RowKind::Signal, name) }
    }
}

/// A value in a trace: decimal, or hexadecimal with a prefix.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as f64),
        None if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            text.parse().ok().filter(|n: &f64| n.is_finite())
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn values_of_signals() {
        let of = |text| number(text);
        assert_eq!(
            (of("17"), of("-1.5"), of("0xFF"), of(" 2 ")),
            (Some(17.0), Some(-1.5), Some(255.0), Some(2.0))
        );
        assert_eq!((of("inf"), of("NaN"), of("on"), of(""), of("0x")), (None, None, None, None, None));
    }
}
