//! The causes of parts of responses, in words: sentences and labels, and what they name. Of single parts, the
//! rows of view `response_part`, and of kinds of parts, those of `slow_part`. Not when parts are (see
//! `words`), nor how they are found (see [`crate::explain`]).

use crate::error::Result;
use crate::picture::{RowKind, State};
use crate::schema::result::{Integers, Texts, column};
use arrow::array::RecordBatch;

/// A process, with the number of its instance.
pub(crate) fn named(process: &str, instance: Option<i64>) -> String {
    instance.map_or_else(|| process.to_owned(), |instance| format!("{process}[{instance}]"))
}

/// True if some of the rows name a runnable.
///
/// # Errors
/// When the column is missing.
pub(crate) fn name_runnables(rows: &[RecordBatch]) -> Result<bool> {
    for batch in rows {
        if column::<Texts>(batch, "runnable")?.iter().flatten().next().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The columns that say why.
pub(crate) struct Causes {
    /// Set if other parts name runnables: of one that names none, it is said that it is outside of them.
    pub is_outside_named: bool,
    kind: Texts,
    runnable: Texts,
    by: Texts,
    by_type: Texts,
    reason: Texts,
    held: Texts,
    object: Texts,
    single: Option<Single>,
}

/// The columns that only single parts have, not kinds of parts.
struct Single {
    state: Texts,
    core: Texts,
    by_instance: Integers,
    holder_state: Texts,
    behind: Texts,
    behind_instance: Integers,
}

impl Causes {
    /// Those of a batch.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        let is_single = batch.column_by_name("part").is_some();
        Ok(Self {
            is_outside_named: false,
            kind: column(batch, "kind")?,
            runnable: column(batch, "runnable")?,
            by: column(batch, "by_process")?,
            by_type: column(batch, "by_type")?,
            reason: column(batch, "reason")?,
            held: column(batch, "held")?,
            object: column(batch, "object")?,
            single: is_single.then(|| Single::of(batch)).transpose()?,
        })
    }

    /// Who had the core, if nothing known says why.
    pub fn unexplained(&self, row: usize) -> Option<String> {
        let is_so = self.kind.value(row) == "behind" && self.reason.get(row).is_none();
        is_so.then(|| self.by(row, false).unwrap_or_else(|| "another one".to_owned()))
    }

    fn by(&self, row: usize, numbers: bool) -> Option<String> {
        let isr = if self.by_type.get(row) == Some("I") { "ISR " } else { "" };
        let instance = self.single.as_ref().and_then(|one| one.by_instance.get(row)).filter(|_| numbers);
        Some(format!("{isr}{}", named(self.by.get(row)?, instance)))
    }

    /// What the instance does in a part, and why. `process` is its name; with the numbers of instances or
    /// without.
    pub fn sentence(&self, row: usize, process: &str, numbers: bool) -> String {
        let core = self.core(row).map(|core| format!(" on {core}")).unwrap_or_default();
        match self.kind.value(row) {
            "executes" => match self.runnable.get(row) {
                Some(runnable) => format!("executes {runnable}{core}"),
                None if self.is_outside_named => format!("executes outside of any runnable{core}"),
                None => format!("executes{core}"),
            },
            "behind" => self.behind(row, process, &core, numbers),
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
            _ => match self.own_state(row) {
                Some("active") => {
                    format!(
                        "unknown: it is activated, not started{core}, and the recording does not show why"
                    )
                }
                Some(state) => format!("unknown: it is {state}{core}, and the recording does not show why"),
                None => format!("unknown: not recorded{core}"),
            },
        }
    }

    fn behind(&self, row: usize, process: &str, core: &str, numbers: bool) -> String {
        let by = self.by(row, numbers).unwrap_or_else(|| "somebody".to_owned());
        let polls = self.polls(row, numbers);
        let own = match (self.own_state(row), self.object.get(row)) {
            // The object is that of the other one then.
            (Some("parking"), _) if polls.is_some() => "off its core while it polls, ".to_owned(),
            (Some("parking"), Some(object)) => format!("off its core while it polls for {object}, "),
            _ => String::new(),
        };
        let is_own = self.by.get(row) == Some(process);
        let (before, has, after) = match self.reason.get(row) {
            Some("higher_priority") => ("", Some("has a higher priority"), String::new()),
            Some("equal_priority") => ("", Some("has the same priority"), String::new()),
            Some("previous_instance") if is_own => (", its own instance before", None, String::new()),
            Some("previous_instance") => {
                ("", None, ", while its own instance before is not finished".to_owned())
            }
            Some("holds") => {
                let held = self.held.get(row).unwrap_or("a semaphore");
                let after = format!(", but holds {held}: priority inversion");
                ("", Some("has a lower priority"), after)
            }
            Some("not_preemptable") => {
                ("", Some("has a lower priority"), ", but cannot be preempted".to_owned())
            }
            _ => ("", None, String::new()),
        };
        let which = match (has, polls) {
            (Some(has), Some(polls)) => format!(", which {has} and {polls}"),
            (Some(has), None) => format!(", which {has}"),
            (None, Some(polls)) => format!(", which {polls}"),
            (None, None) => String::new(),
        };
        format!("{own}behind {by}{core}{before}{which}{after}")
    }

    /// What the one that has the core polls for, if it does not run.
    fn polls(&self, row: usize, numbers: bool) -> Option<String> {
        self.is_behind_a_poller(row).then(|| match (self.object.get(row), self.behind_whom(row, numbers)) {
            (Some(object), Some(holder)) => format!("polls for {object}, which {holder} holds"),
            (Some(object), None) => format!("polls for {object}, of which no holder is known"),
            (None, _) => "polls for a semaphore that is not known".to_owned(),
        })
    }

    fn is_behind_a_poller(&self, row: usize) -> bool {
        self.kind.value(row) == "behind" && self.holder_state(row) == Some("polling")
    }

    fn lock(&self, row: usize, core: &str, numbers: bool) -> String {
        let verb = if self.own_state(row) == Some("polling") { "polls" } else { "waits" };
        let what = self.object.get(row).unwrap_or("a semaphore");
        let Some(by) = self.by(row, numbers) else {
            return format!("{verb}{core} for {what}; who holds it is not known");
        };
        let holder = match (self.holder_state(row), self.behind_whom(row, numbers)) {
            (Some("running"), _) => " and uses".to_owned(),
            (Some(state), Some(behind)) => format!(", but is {state} behind {behind}"),
            (Some(state), None) => format!(", but is {state}"),
            (None, _) => String::new(),
        };
        format!("{verb}{core} for {what}, which {by} holds{holder}")
    }

    /// What the instance does in a part, as pictures draw it.
    pub fn state(&self, row: usize) -> State {
        match self.kind.value(row) {
            "executes" => State::Executes,
            "behind" => State::Delayed,
            "os" => State::Kernel,
            "lock" => State::Blocked,
            "event" => State::Awaits,
            _ => State::Unknown,
        }
    }

    /// A few words for a part, which fit into a picture.
    pub fn label(&self, row: usize) -> String {
        let by = self.by(row, false);
        let object = self.object.get(row);
        match self.state(row) {
            State::Executes => self.runnable.get(row).unwrap_or("executes").to_owned(),
            State::Delayed => match (by, self.held.get(row)) {
                (Some(by), None) if self.is_behind_a_poller(row) => {
                    format!("behind {by}, polls for {}", object.unwrap_or("a semaphore"))
                }
                (Some(by), Some(held)) => format!("behind {by}, holds {held}"),
                (Some(by), None) => format!("behind {by}"),
                (None, _) => "behind another one".to_owned(),
            },
            State::Kernel => "kernel".to_owned(),
            State::Blocked => match (by, self.behind_whom(row, false)) {
                (Some(by), Some(behind)) => {
                    format!("{}: {by} behind {behind}", object.unwrap_or("a semaphore"))
                }
                (Some(by), None) => format!("{}: {by}", object.unwrap_or("a semaphore")),
                (None, _) => object.unwrap_or("a semaphore").to_owned(),
            },
            State::Awaits => match by {
                Some(by) => format!("{}: {by}", object.unwrap_or("an event")),
                None => object.unwrap_or("an event").to_owned(),
            },
            _ => "unknown".to_owned(),
        }
    }

    /// The core of a part, if one is known.
    pub fn core(&self, row: usize) -> Option<&str> {
        self.single.as_ref()?.core.get(row)
    }

    fn own_state(&self, row: usize) -> Option<&str> {
        self.single.as_ref()?.state.get(row)
    }

    fn holder_state(&self, row: usize) -> Option<&str> {
        self.single.as_ref()?.holder_state.get(row)
    }

    fn behind_whom(&self, row: usize, numbers: bool) -> Option<String> {
        let one = self.single.as_ref()?;
        Some(named(one.behind.get(row)?, one.behind_instance.get(row).filter(|_| numbers)))
    }

    /// The rows of a picture that a part names: who has the core, holds the semaphore or sets the event, who
    /// keeps a holder from its core or holds what the one that has the core polls for, and the semaphore or
    /// event.
    pub fn rows(&self, row: usize, process: &str) -> Vec<(RowKind, String)> {
        // A process whose type is not known may be either.
        let either = [RowKind::Task, RowKind::Isr];
        let state = self.state(row);
        let by: &[RowKind] = match self.by_type.get(row) {
            // An idle task delays nobody.
            _ if state == State::Kernel => &[],
            Some("T") => &[RowKind::Task],
            Some("I") => &[RowKind::Isr],
            Some("STI") => &[RowKind::Stimulus],
            _ => &either,
        };
        let event = self.object.get(row).map(|object| format!("{object} of {process}"));
        let object: (&[RowKind], Option<&str>) = match state {
            State::Awaits => (&[RowKind::Event], event.as_deref()),
            _ => (&[RowKind::Semaphore], self.object.get(row)),
        };
        let held = (&[RowKind::Semaphore][..], self.held.get(row));
        let behind = self.behind_whom(row, false);
        let all = [(by, self.by.get(row)), (&either[..], behind.as_deref()), object, held];
        let named = all.into_iter().filter_map(|(kinds, name)| Some((kinds, name?)));
        named.flat_map(|(kinds, name)| kinds.iter().map(|kind| (*kind, name.to_owned()))).collect()
    }
}

impl Single {
    fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            state: column(batch, "state")?,
            core: column(batch, "core")?,
            by_instance: column(batch, "by_instance")?,
            holder_state: column(batch, "holder_state")?,
            behind: column(batch, "behind_process")?,
            behind_instance: column(batch, "behind_instance")?,
        })
    }
}
