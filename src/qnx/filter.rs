//! The filters of the instrumented kernel, offline: which rows of `kernel_event` are wanted, as a condition
//! in SQL. Not for what was derived from the events, which always comes from all of them.
//!
//! The kernel filters by class, by event, by process and thread, and by handlers that a program attaches; a
//! handler is any condition in SQL here.

use super::{Class, UNKNOWN, Version, event_names, event_number, name_of_event};
use crate::error::{Error, Result, did_you_mean};
use crate::schema::columns::kernel_event as column;
use crate::schema::tables;
use crate::sql_text::literals;
use std::collections::BTreeSet;

/// The relation between an event and the processes and threads of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchedBy {
    /// Events about it, and events on a CPU while it runs.
    #[default]
    Any,
    /// Events about it.
    Subject,
    /// Events on a CPU while it runs.
    Actor,
    /// As the kernel filters while it traces: of calls, threads, messages and SYSTEM those of it, of other
    /// classes all.
    Live,
}

/// The wanted events; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelFilter {
    /// Classes, as column `class_name` or the API names them; `KERCALL` and `INT` stand for all of theirs.
    pub classes: Vec<String>,
    /// Classes that are not wanted.
    pub not_classes: Vec<String>,
    /// `CLASS:EVENT,EVENT`: of this class, only these, by name or number.
    pub events: Vec<String>,
    /// Of this class, all but these.
    pub not_events: Vec<String>,
    /// Processes, by number.
    pub pids: Vec<i64>,
    /// Threads, by number.
    pub tids: Vec<i64>,
    /// Processes, by the last part of their names.
    pub processes: Vec<String>,
    /// How an event has to be related to the processes and threads.
    pub matched_by: MatchedBy,
    /// CPUs.
    pub cpus: Vec<i64>,
    /// A condition over the columns of `kernel_event`.
    pub condition: Option<String>,
}

impl KernelFilter {
    /// True when everything is wanted.
    pub fn is_all(&self) -> bool {
        *self == Self { matched_by: self.matched_by, ..Self::default() }
    }

    /// The condition over `kernel_event`.
    ///
    /// # Errors
    /// Usage: a class or an event that cannot be, with what may have been meant.
    pub fn sql(&self) -> Result<String> {
        let mut terms = Vec::new();
        if !self.classes.is_empty() {
            terms.push(classes(&self.classes, false)?);
        }
        if !self.not_classes.is_empty() {
            terms.push(classes(&self.not_classes, true)?);
        }
        for text in &self.events {
            let (class, events) = event_mask(text)?;
            terms.push(format!("({} NOT IN ({class}) OR {events})", column::CLASS_NAME));
        }
        for text in &self.not_events {
            let (class, events) = event_mask(text)?;
            terms.push(format!("NOT ({} IN ({class}) AND {events})", column::CLASS_NAME));
        }
        if !self.cpus.is_empty() {
            terms.push(format!("{} IN ({})", column::CPU, numbers(&self.cpus)));
        }
        if !self.pids.is_empty() || !self.tids.is_empty() || !self.processes.is_empty() {
            terms.push(self.who_sql());
        }
        if let Some(condition) = &self.condition {
            // On lines of its own, so that a comment at its end does not swallow what follows.
            terms.push(format!("(\n{condition}\n)"));
        }
        Ok(if terms.is_empty() { "TRUE".to_owned() } else { terms.join(" AND ") })
    }

    /// The classes and events that are asked for, each as the user wrote it, with the condition that they
    /// have.
    ///
    /// # Errors
    /// As [`KernelFilter::sql`].
    pub fn occurrences(&self) -> Result<Vec<(String, String)>> {
        let mut all = Vec::new();
        for word in &self.classes {
            all.push((
                format!("class {word}"),
                format!("{} IN ({})", column::CLASS_NAME, class_names(word)?),
            ));
        }
        for text in &self.events {
            let (class, events) = event_mask(text)?;
            all.push((text.clone(), format!("{} IN ({class}) AND {events}", column::CLASS_NAME)));
        }
        Ok(all)
    }

    fn who_sql(&self) -> String {
        let of = |pid: &str, tid: &str| {
            let one = |column: &str, values: &[i64]| {
                (!values.is_empty()).then(|| format!("coalesce({column} IN ({}), FALSE)", numbers(values)))
            };
            let named = (!self.processes.is_empty()).then(|| {
                format!(
                    "coalesce({pid} IN (SELECT pid FROM kernel_process \
                     WHERE regexp_replace(name, '^.*/', '') IN ({})), FALSE)",
                    literals(&self.processes)
                )
            });
            let all = [one(pid, &self.pids), one(tid, &self.tids), named];
            format!("({})", all.into_iter().flatten().collect::<Vec<_>>().join(" AND "))
        };
        let subject = of(column::PID, column::TID);
        let actor = of(column::RUN_PID, column::RUN_TID);
        match self.matched_by {
            MatchedBy::Subject => subject,
            MatchedBy::Actor => actor,
            MatchedBy::Any => format!("({subject} OR {actor})"),
            // Calls and the sending and receiving of messages are the running thread's; replies and errors
            // name the client, pulses that the kernel sends by itself their server.
            MatchedBy::Live => format!(
                "CASE \
                 WHEN {class} IN ('KER_CALL', 'KER_EXIT', 'INT_CALL') THEN {actor} \
                 WHEN {class} = 'COMM' AND {event} IN (0, 1, 2, 3) THEN {actor} \
                 WHEN {class} IN ('COMM', 'THREAD', 'VTHREAD', 'SYSTEM') THEN {subject} \
                 ELSE TRUE END",
                class = column::CLASS_NAME,
                event = column::EVENT,
            ),
        }
    }
}

fn numbers(values: &[i64]) -> String {
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    texts.join(", ")
}

fn classes(words: &[String], not: bool) -> Result<String> {
    let mut all = Vec::new();
    for word in words {
        all.push(class_names(word)?);
    }
    let not = if not { "NOT " } else { "" };
    Ok(format!("{} {not}IN ({})", column::CLASS_NAME, all.join(", ")))
}

/// The quoted names of a class, or of the classes that a word stands for.
fn class_names(word: &str) -> Result<String> {
    Ok(quoted(&classes_of(word)?))
}

fn quoted(classes: &[Class]) -> String {
    classes.iter().map(|class| format!("'{}'", class.as_str())).collect::<Vec<_>>().join(", ")
}

/// The class, or the classes that a word stands for.
fn classes_of(word: &str) -> Result<Vec<Class>> {
    match word.to_ascii_uppercase().as_str() {
        "KERCALL" => return Ok(vec![Class::KerCall, Class::KerExit, Class::IntCall]),
        "INT" => {
            let handlers = [Class::HandlerEnter, Class::HandlerExit];
            return Ok([&[Class::Int, Class::IntEnter, Class::IntExit][..], &handlers].concat());
        }
        _ => {}
    }
    if let Some(class) = Class::parse(word) {
        return Ok(vec![class]);
    }
    let names = || Class::ALL.iter().map(|c| c.as_str());
    let known = || names().collect::<Vec<_>>().join(", ");
    let near = did_you_mean(&word.to_ascii_uppercase(), names()).map(|n| format!("did you mean '{n}'?"));
    Err(Error::usage(format!("there is no class '{word}' in table {}", tables::KERNEL_EVENT.name))
        .hint(near.unwrap_or_else(|| format!("classes are {}", known()))))
}

/// The class and the condition on events of `CLASS:EVENT,EVENT`.
fn event_mask(text: &str) -> Result<(String, String)> {
    let usage = |why: &str| {
        Error::usage(format!("'{text}': {why}"))
            .hint("write CLASS:EVENT,EVENT, e.g. THREAD:RUNNING,READY or USER:111")
    };
    let (class, events) = text.split_once(':').ok_or_else(|| usage("there is no ':' behind a class"))?;
    let classes = classes_of(class.trim())?;
    let (mut names, mut codes) = (BTreeSet::new(), Vec::new());
    for event in events.split(',').map(str::trim) {
        if event.is_empty() || !event.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(usage("an event is a name or a number"));
        }
        let hex = event.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        match hex.unwrap_or_else(|| event.parse()) {
            Ok(code) => {
                // What the number means depends on the kernel, but not how many there are.
                let greatest = classes.iter().map(|class| class.greatest_event()).max().unwrap_or_default();
                if code > u64::from(greatest) {
                    return Err(Error::usage(format!("'{text}': there is no event {code} of class {class}"))
                        .hint(format!("its events have the numbers 0 to {greatest}")));
                }
                codes.push(code.to_string());
            }
            Err(_) => names.extend(names_of(&classes, event).ok_or_else(|| unknown(text, &classes, event))?),
        }
    }
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    let list = |column: &str, values: &[String]| {
        (!values.is_empty()).then(|| format!("{column} IN ({})", values.join(", ")))
    };
    let either = [list(column::EVENT_NAME, &names), list(column::EVENT, &codes)];
    let either: Vec<String> = either.into_iter().flatten().collect();
    Ok((quoted(&classes), format!("({})", either.join(" OR "))))
}

/// What events of a word are called in any version; `None` if no version has the word.
fn names_of(classes: &[Class], word: &str) -> Option<BTreeSet<&'static str>> {
    let mut names = BTreeSet::new();
    for class in classes {
        for version in Version::ALL {
            let number = event_number(version, *class, word);
            names.extend(number.map(|number| name_of_event(version, *class, number)));
        }
        let of_all = if *class == Class::User { "EVENT" } else { UNKNOWN };
        names.extend(word.eq_ignore_ascii_case(of_all).then_some(of_all));
    }
    (!names.is_empty()).then_some(names)
}

fn unknown(text: &str, classes: &[Class], word: &str) -> Error {
    let mut known = BTreeSet::new();
    for class in classes {
        Version::ALL.into_iter().for_each(|v| known.extend(event_names(v, *class).map(|(_, name)| name)));
        known.extend((*class == Class::User).then_some("EVENT"));
    }
    Error::usage(format!("'{text}': there is no event '{word}' of that class in any version of the kernel"))
        .hint_near(&word.to_ascii_uppercase(), known.iter().copied(), |all| format!("its events are {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn masks_become_conditions() {
        let filter = KernelFilter { classes: words(&["thread", "INT"]), ..KernelFilter::default() };
        assert!(filter.sql().unwrap().starts_with("class_name IN ('THREAD', 'INT', 'INT_ENTR'"));
        let filter = KernelFilter { events: words(&["THREAD:THRUNNING,2"]), ..KernelFilter::default() };
        assert_eq!(
            filter.sql().unwrap(),
            "(class_name NOT IN ('THREAD') OR (event_name IN ('RUNNING') OR event IN (2)))"
        );
        assert!(KernelFilter::default().is_all());
        assert_eq!(KernelFilter::default().sql().unwrap(), "TRUE");
    }

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        let error = |filter: KernelFilter| filter.sql().unwrap_err();
        let typo = KernelFilter { classes: words(&["THRAED"]), ..KernelFilter::default() };
        assert!(error(typo).hints().iter().any(|h| h.contains("'THREAD'")));
        for (text, hint) in [
            ("THREAD:RUNING", "did you mean 'RUNNING'?"),
            ("COMM:SND_MESAGE", "did you mean 'SND_MESSAGE'?"),
            ("THREAD:99", "its events have the numbers 0 to 63"),
            ("USER:OTHER", "its events are EVENT"),
        ] {
            for not in [false, true] {
                let [events, not_events] = if not { [&[][..], &[text]] } else { [&[text][..], &[]] };
                let (events, not_events) = (words(events), words(not_events));
                let hints = error(KernelFilter { events, not_events, ..KernelFilter::default() });
                assert_eq!(hints.hints(), [hint], "{text}");
            }
        }
        for fine in
            ["THREAD:63", "COMM:smsg", "USER:0x10", "USER:EVENT", "KERCALL:MSG_SENDV", "THREAD:UNKNOWN"]
        {
            let filter = KernelFilter { events: words(&[fine]), ..KernelFilter::default() };
            assert!(filter.sql().is_ok() && !filter.occurrences().unwrap().is_empty(), "{fine}");
        }
        let injected = KernelFilter { events: words(&["USER:1) OR (1=1"]), ..KernelFilter::default() };
        assert!(error(injected).to_string().contains("a name or a number"));
    }
}
