//! Signals → rows with their values as steps, and marks where they are written and read. Not other objects.

use std::collections::BTreeMap;

use super::objects::each_row;
use super::{Context, events_in};
use crate::btf::Action;
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
}

pub(super) fn read(context: &Context<'_>, names: &mut Interner) -> Result<Vec<Row>> {
    let grid = context.grid;
    let new = || Signal { values: Values::new(grid, Shape::Steps), marks: Marks::new(grid), words: false };
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
                all.entry(target.to_owned()).or_insert_with(new).values.add(at, value);
            }
        })?;
    }
    let sql = "SELECT time, target, action, note FROM btf_event
        WHERE recording = $recording AND time >= $from AND time < $to
            AND is_type(target_type, 'SIG') AND is_action(action, 'read', 'write')
        ORDER BY time, seq";
    each_row(context, sql, |(time, [target, action, note]): &(Integers, [Texts; 3]), row| {
        let (Some(at), Some(target)) = (time.get(row), target.get(row)) else { return };
        let signal = all.entry(target.to_owned()).or_insert_with(new);
        let note = note.get(row).filter(|note| !note.is_empty());
        if action.get(row).and_then(Action::parse_tolerant) == Some(Action::Read) {
            signal.marks.add(at, MarkKind::Read, None);
            return;
        }
        signal.marks.add(at, MarkKind::Write, note.map(|note| names.intern(note)));
        match note.map(number) {
            Some(Some(value)) => signal.values.add(at, value),
            Some(None) => signal.words = true,
            None => {}
        }
    })?;
    Ok(all.into_iter().map(|(name, signal)| signal.row(&name)).collect())
}

impl Signal {
    fn row(self, name: &str) -> Row {
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
