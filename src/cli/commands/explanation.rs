//! The parts of a response as text that reads like sentences. Not how they are found (see `ops::explain`).

use crate::error::Result;
use crate::library::Unit;
use crate::ops::explain::{Chosen, Sample};
use crate::picture::exact;
use crate::schema::result::{Integers, Texts, column};
use crate::time::{TimeScale, format_duration};
use arrow::array::RecordBatch;
use std::collections::HashMap;
use std::fmt::Write as _;

/// So many parts are listed; of more, the longest.
const MOST: usize = 60;

/// A part, and what it is in words.
struct Line {
    begin: i64,
    length: i64,
    what: String,
    /// The same without the numbers of instances.
    cause: String,
}

/// The rows of view `response_part` of one response, in order.
pub(super) fn text(chosen: &Chosen, rows: &[RecordBatch], scale: TimeScale) -> Result<String> {
    let mut lines = Vec::new();
    let (mut activated_by, mut is_unexplained) = (None, false);
    for batch in rows {
        let parts = Parts::of(batch)?;
        for row in 0..batch.num_rows() {
            let (begin, end) = (parts.begin.value(row), parts.end.value(row));
            let [what, cause] = [true, false].map(|numbers| parts.sentence(row, chosen, numbers));
            lines.push(Line { begin, length: end.saturating_sub(begin), what, cause });
            is_unexplained |= parts.kind.value(row) == "behind" && parts.reason.get(row).is_none();
        }
        activated_by = activated_by.or_else(|| parts.activator());
    }
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(String::new()) };
    let (begin, end) = (first.begin, last.begin.saturating_add(last.length));
    let length = end.saturating_sub(begin);
    let mut out = format!(
        "{}: {} took {}, from {} to {}",
        chosen.recording,
        named(&chosen.process, Some(chosen.instance)),
        format_duration(length, scale),
        exact(begin, scale),
        exact(end, scale)
    );
    // Writing to a text does not fail.
    let _ = match activated_by {
        Some(by) => writeln!(out, ", activated by {by}."),
        None => writeln!(out, "."),
    };
    if let Some(sample) = &chosen.sample {
        let _ = writeln!(out, "{}", ranked(sample, scale));
    }
    summary(&mut out, &lines, length, scale);
    in_order(&mut out, &lines, begin, scale);
    if is_unexplained {
        let _ = writeln!(
            out,
            "\nWhy another one had the core is said where it is known: priorities and resources are in the OIL or ORTI file."
        );
    }
    Ok(out)
}

fn ranked(sample: &Sample, scale: TimeScale) -> String {
    let Sample { metric, value, unit, count, rank } = sample;
    let value = match unit {
        Unit::Duration => format_duration(value.round() as i64, scale),
        Unit::Count => format!("{value}"),
        Unit::Percent => format!("{value} %"),
    };
    match (*rank, *count) {
        (_, 1) => format!("{metric}: {value}, the only sample."),
        (rank, count) if rank == count => format!("{metric}: {value}, the greatest of {count} samples."),
        (1, count) => format!("{metric}: {value}, the least of {count} samples."),
        (rank, count) => format!("{metric}: {value}, number {rank} of {count} samples from the least."),
    }
}

/// How much of the response each cause is, the greatest first.
fn summary(out: &mut String, lines: &[Line], whole: i64, scale: TimeScale) {
    let mut causes: Vec<(&str, i128, u64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        let place = *places.entry(&line.cause).or_insert_with(|| {
            causes.push((&line.cause, 0, 0));
            causes.len() - 1
        });
        if let Some((_, total, times)) = causes.get_mut(place) {
            *total += i128::from(line.length);
            *times += 1;
        }
    }
    causes.sort_by_key(|(_, total, _)| std::cmp::Reverse(*total));
    let _ = writeln!(out, "\nWhat it is made of:");
    let rows: Vec<[String; 3]> = causes
        .iter()
        .map(|(_, total, times)| {
            let ticks = i64::try_from(*total).unwrap_or(i64::MAX);
            let share = 100.0 * *total as f64 / (whole.max(1)) as f64;
            let times = if *times == 1 { String::new() } else { format!("{times} times") };
            [format!("{share:.1} %"), format_duration(ticks, scale), times]
        })
        .collect();
    let widths = widths(&rows);
    for ([share, time, times], (what, ..)) in rows.iter().zip(&causes) {
        let [a, b, c] = widths;
        let _ = writeln!(out, "  {share:>a$}  {time:>b$}  {times:>c$}  {what}");
    }
}

/// The parts one after the other.
fn in_order(out: &mut String, lines: &[Line], begin: i64, scale: TimeScale) {
    let mut lengths: Vec<i64> = lines.iter().map(|line| line.length).collect();
    lengths.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    let least = lengths.get(MOST).copied();
    let _ = match least {
        None => writeln!(out, "\nIn order:"),
        Some(_) => writeln!(
            out,
            "\nIn order, the {MOST} longest of {} parts (--format csv prints all of them):",
            lines.len()
        ),
    };
    // Of equal lengths, the first ones.
    let longer = lengths.iter().take_while(|length| least.is_some_and(|least| **length > least)).count();
    let mut equal = MOST - longer;
    let mut is_listed = |line: &&Line| match least {
        Some(least) if line.length == least && equal > 0 => {
            equal -= 1;
            true
        }
        Some(least) => line.length > least,
        None => true,
    };
    let chosen: Vec<&Line> = lines.iter().filter(|line| is_listed(line)).collect();
    let rows: Vec<[String; 3]> = chosen
        .iter()
        .map(|line| {
            let after = format!("+{}", format_duration(line.begin.saturating_sub(begin), scale));
            [after, format_duration(line.length, scale), String::new()]
        })
        .collect();
    let [a, b, _] = widths(&rows);
    for ([after, length, _], line) in rows.iter().zip(&chosen) {
        let _ = writeln!(out, "  {after:>a$}  {length:>b$}  {}", line.what);
    }
}

fn widths(rows: &[[String; 3]]) -> [usize; 3] {
    let of = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(String::len).max().unwrap_or(0);
    [of(0), of(1), of(2)]
}

fn named(process: &str, instance: Option<i64>) -> String {
    instance.map_or_else(|| process.to_owned(), |instance| format!("{process}[{instance}]"))
}

/// The columns of view `response_part`.
struct Parts {
    begin: Integers,
    end: Integers,
    kind: Texts,
    state: Texts,
    core: Texts,
    runnable: Texts,
    by: Texts,
    by_type: Texts,
    by_instance: Integers,
    reason: Texts,
    held: Texts,
    object: Texts,
    holder_state: Texts,
    behind: Texts,
    behind_instance: Integers,
    activated_by: Texts,
    activated_by_instance: Integers,
    triggered_by: Texts,
    triggered_by_instance: Integers,
}

impl Parts {
    fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            begin: column(batch, "begin_at")?,
            end: column(batch, "end_at")?,
            kind: column(batch, "kind")?,
            state: column(batch, "state")?,
            core: column(batch, "core")?,
            runnable: column(batch, "runnable")?,
            by: column(batch, "by_process")?,
            by_type: column(batch, "by_type")?,
            by_instance: column(batch, "by_instance")?,
            reason: column(batch, "reason")?,
            held: column(batch, "held")?,
            object: column(batch, "object")?,
            holder_state: column(batch, "holder_state")?,
            behind: column(batch, "behind_process")?,
            behind_instance: column(batch, "behind_instance")?,
            activated_by: column(batch, "activated_by")?,
            activated_by_instance: column(batch, "activated_by_instance")?,
            triggered_by: column(batch, "triggered_by")?,
            triggered_by_instance: column(batch, "triggered_by_instance")?,
        })
    }

    fn activator(&self) -> Option<String> {
        let by = named(self.activated_by.get(0)?, self.activated_by_instance.get(0));
        Some(match self.triggered_by.get(0) {
            Some(who) => format!("{by}, which {} triggered", named(who, self.triggered_by_instance.get(0))),
            None => by,
        })
    }

    fn by(&self, row: usize, numbers: bool) -> Option<String> {
        let isr = if self.by_type.get(row) == Some("I") { "ISR " } else { "" };
        let instance = self.by_instance.get(row).filter(|_| numbers);
        Some(format!("{isr}{}", named(self.by.get(row)?, instance)))
    }

    fn sentence(&self, row: usize, chosen: &Chosen, numbers: bool) -> String {
        let core = self.core.get(row).map(|core| format!(" on {core}")).unwrap_or_default();
        match self.kind.value(row) {
            "executes" => match self.runnable.get(row) {
                Some(runnable) => format!("executes {runnable}{core}"),
                None => format!("executes{core}"),
            },
            "behind" => self.behind(row, chosen, &core, numbers),
            "os" => match (self.reason.get(row), self.by(row, numbers)) {
                (Some("previous_instance"), _) => {
                    format!("waits for its own instance before, and the kernel is at work{core}")
                }
                (_, Some(idle)) => {
                    format!("the kernel has not switched yet{core}: {idle}, which is idle, has it")
                }
                (_, None) => format!("the kernel is at work{core}"),
            },
            "lock" => self.lock(row, &core, numbers),
            "event" => {
                let what =
                    self.object.get(row).map_or("an event".to_owned(), |object| format!("event {object}"));
                match self.by(row, numbers) {
                    Some(by) => format!("waits for {what}, which {by} sets"),
                    None => format!("waits for {what}; who sets it is not known"),
                }
            }
            _ => match self.state.get(row) {
                Some(state) => format!("unknown: it is {state}{core}, and the recording does not show why"),
                None => format!("unknown: not recorded{core}"),
            },
        }
    }

    fn behind(&self, row: usize, chosen: &Chosen, core: &str, numbers: bool) -> String {
        let by = self.by(row, numbers).unwrap_or_else(|| "somebody".to_owned());
        let own = match self.object.get(row) {
            Some(object) if self.state.get(row) == Some("parking") => {
                format!("off its core while it polls for {object}, ")
            }
            _ => String::new(),
        };
        let why = match self.reason.get(row) {
            Some("isr") => String::new(),
            Some("higher_priority") => ", which has a higher priority".to_owned(),
            Some("equal_priority") => ", which has the same priority".to_owned(),
            Some("previous_instance") if self.by.get(row) == Some(&chosen.process) => {
                ", its own instance before".to_owned()
            }
            Some("previous_instance") => ", as its own instance before is not finished".to_owned(),
            Some("holds") => format!(
                ", which has a lower priority, but holds {}: priority inversion",
                self.held.get(row).unwrap_or("a semaphore")
            ),
            Some("not_preemptable") => ", which has a lower priority, but cannot be preempted".to_owned(),
            _ => String::new(),
        };
        format!("{own}behind {by}{core}{why}")
    }

    fn lock(&self, row: usize, core: &str, numbers: bool) -> String {
        let verb = if self.state.get(row) == Some("polling") { "polls" } else { "waits" };
        let what = self.object.get(row).unwrap_or("a semaphore");
        let Some(by) = self.by(row, numbers) else {
            return format!("{verb}{core} for {what}; who holds it is not known");
        };
        let holder = match (self.holder_state.get(row), self.behind.get(row)) {
            (Some("running"), _) => " and uses".to_owned(),
            (Some(state), Some(behind)) => {
                let behind = named(behind, self.behind_instance.get(row).filter(|_| numbers));
                format!(", but is {state} behind {behind}")
            }
            (Some(state), None) => format!(", but is {state}"),
            (None, _) => String::new(),
        };
        format!("{verb}{core} for {what}, which {by} holds{holder}")
    }
}
