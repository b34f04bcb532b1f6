//! The numbers of `eecfg.h`, which RT-Druid generates with the ORTI file of ERIKA Enterprise v2: task ids,
//! event masks, spinlock indices. Section comments tell overlapping numbers apart. Not a C preprocessor.

use super::findings::{Finding, Findings};
use super::formula::Formula;
use crate::diagnostics::{Severity, excerpt};
use crate::encoding::decoded;
use std::collections::HashMap;

/// The definitions of one `eecfg.h`, each list in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OsHeader {
    /// Tasks of this core and their ids, which are local to the core.
    pub tasks: Vec<(String, i64)>,
    /// Resources of this core.
    pub resources: Vec<OsResource>,
    /// Events and their bit masks.
    pub events: Vec<(String, u64)>,
    /// Alarms and their ids.
    pub alarms: Vec<(String, i64)>,
    /// Counters and their ids.
    pub counters: Vec<(String, i64)>,
    /// User spinlocks and their indices into the spinlock array, which begins with the global resources.
    pub spinlocks: Vec<(String, i64)>,
    /// The locks of remote calls (`EE_SPINLOCK_CORE0`) and their indices into the same array.
    pub core_spinlocks: Vec<(String, i64)>,
    /// Tasks of other cores and their system-wide numbers, which are not the ids on their own cores.
    pub remote_tasks: Vec<(String, i64)>,
    /// `EE_CURRENTCPU`.
    pub current_cpu: Option<i64>,
    /// What was unusual or unusable, in the order of places.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsResource {
    pub name: String,
    /// Its id on this core; of a global one, also its index into the spinlock array.
    pub id: i64,
    /// Defined with `EE_GLOBAL_MUTEX`: shared by cores.
    pub global: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Tasks,
    Resources,
    Events,
    Alarms,
    Counters,
    Spinlocks,
    Other,
}

impl Section {
    /// The section a comment opens; `None` for a comment that opens none.
    fn opened_by(comment: &str) -> Option<Section> {
        let words: Vec<String> = comment
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(match words.as_slice() {
            ["task", "definition"] => Self::Tasks,
            ["mutex" | "resource", "definition"] => Self::Resources,
            ["event", "definition"] => Self::Events,
            ["alarm", "definition"] => Self::Alarms,
            ["counter", "definition"] => Self::Counters,
            ["spin", "lock", "ids"] => Self::Spinlocks,
            ["cpus"] => Self::Other,
            _ if comment.starts_with("/**") || words.contains(&"definition") || words.contains(&"remote") => {
                Self::Other
            }
            _ => return None,
        })
    }
}

impl OsHeader {
    /// Parses an `eecfg.h`. Any input gives a result; unusable parts are in [`OsHeader::findings`].
    pub fn parse(bytes: &[u8]) -> OsHeader {
        let source = decoded(bytes);
        let mut reader = Reader {
            out: Self::default(),
            values: HashMap::new(),
            section: Section::Other,
            findings: Findings::default(),
        };
        let (mut rest, mut line) = (&*source, 1_u32);
        let mut first_in_line = true;
        while let Some(first) = rest.chars().next() {
            let (taken, left) = split_item(rest);
            let newlines = u32::try_from(taken.matches('\n').count()).unwrap_or(u32::MAX);
            if taken.starts_with("/*") {
                if let (true, Some(section)) = (first_in_line, Section::opened_by(taken)) {
                    reader.section = section;
                }
            } else if first == '#' && first_in_line {
                reader.directive(taken, line);
            }
            first_in_line =
                first == '\n' || (first_in_line && (first.is_whitespace() || taken.starts_with("/*")));
            line = line.saturating_add(newlines);
            rest = left;
        }
        if reader.out.tasks.is_empty() && reader.out.current_cpu.is_none() {
            let message = "neither tasks nor EE_CURRENTCPU found; is this an eecfg.h?".to_owned();
            reader.findings.push((1, 1), Severity::Error, "missing-definitions", message);
        }
        OsHeader { findings: reader.findings.finish(), ..reader.out }
    }
}

/// Splits off the next comment, directive (comments in it are cut off by [`Reader::directive`]), line end or
/// run of anything else. The first part is never empty unless the text is.
fn split_item(text: &str) -> (&str, &str) {
    let line_end = || text.find('\n').unwrap_or(text.len());
    let length = if text.starts_with("/*") {
        text.get(2..).and_then(|inside| inside.find("*/")).map_or(text.len(), |n| n + 4)
    } else if text.starts_with('\n') {
        1
    } else if text.starts_with('#') {
        let mut end = line_end();
        while text.get(..end).is_some_and(|line| line.trim_end_matches('\r').ends_with('\\'))
            && end < text.len()
        {
            end = text.get(end + 1..).and_then(|next| next.find('\n')).map_or(text.len(), |n| end + 1 + n);
        }
        end
    } else if text.starts_with("//") {
        line_end()
    } else {
        let blank = |c: char| c != '\n' && c.is_whitespace();
        let length = text.find(|c| !blank(c)).unwrap_or(text.len());
        // Code other than a directive: up to a possible comment or the line end.
        if length > 0 {
            length
        } else {
            text.char_indices().skip(1).find(|(_, c)| matches!(c, '/' | '\n')).map_or(text.len(), |(n, _)| n)
        }
    };
    text.split_at_checked(length).unwrap_or((text, ""))
}

struct Reader {
    out: OsHeader,
    /// The values of all definitions so far.
    values: HashMap<String, i64>,
    section: Section,
    findings: Findings,
}

impl Reader {
    fn directive(&mut self, text: &str, line: u32) {
        let Some(definition) = text.get(1..).and_then(|t| t.trim_start().strip_prefix("define")) else {
            return;
        };
        let definition = definition.split("/*").next().unwrap_or_default();
        let definition =
            definition.split("//").next().unwrap_or_default().replace("\\\n", " ").replace("\\\r\n", " ");
        let definition = definition.trim();
        let end = definition.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(definition.len());
        let (name, value) = definition.split_at_checked(end).unwrap_or((definition, ""));
        // `#define F(x) …` is not a number, and a name without value is an option.
        if name.is_empty() || value.starts_with('(') || value.trim().is_empty() {
            return;
        }
        let number = self.evaluate(value);
        if let Some(number) = number {
            self.values.insert(name.to_owned(), number);
        }
        self.definition(name, value, number, line);
    }

    /// The value of a definition; the marks for "shared" and "on another core" are not part of it.
    fn evaluate(&self, value: &str) -> Option<i64> {
        let formula = Formula::parse(value).ok()?;
        let get = |place: usize| match formula.variables().get(place)?.as_str() {
            "EE_GLOBAL_MUTEX" | "EE_REMOTE_TID" => Some(0),
            name => self.values.get(name).copied(),
        };
        formula.eval(&get, &|_| None)
    }

    fn definition(&mut self, name: &str, value: &str, number: Option<i64>, line: u32) {
        let core_spinlock = name.starts_with("EE_SPINLOCK_CORE");
        let remote = value.contains("EE_REMOTE_TID");
        if name == "EE_CURRENTCPU" {
            self.out.current_cpu = number;
            return;
        }
        let kernels = name.starts_with("EE_") && !core_spinlock;
        let wanted = core_spinlock || remote || self.section != Section::Other;
        if kernels || !wanted {
            return;
        }
        let Some(number) = number else {
            let (name, value) = (excerpt(name.as_bytes()), excerpt(value.trim().as_bytes()));
            let message = format!("the value of {name}, '{value}', is no known number");
            return self.findings.push((line, 1), Severity::Warning, "unknown-value", message);
        };
        let entry = (name.to_owned(), number);
        if core_spinlock {
            self.out.core_spinlocks.push(entry);
            return;
        }
        if remote {
            self.out.remote_tasks.push(entry);
            return;
        }
        match self.section {
            Section::Tasks => self.out.tasks.push(entry),
            Section::Resources => {
                let global = value.contains("EE_GLOBAL_MUTEX");
                self.out.resources.push(OsResource { name: entry.0, id: number, global });
            }
            Section::Events => self.out.events.push((entry.0, number.cast_unsigned())),
            Section::Alarms => self.out.alarms.push(entry),
            Section::Counters => self.out.counters.push(entry),
            Section::Spinlocks => self.out.spinlocks.push(entry),
            Section::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\
/***************************************************************************
 * Common defines ( CPU 1 )
 **************************************************************************/
    /* TASK definition */
    #define EE_MAX_TASK 2
    #define Task0 0 /* the first */
    /* not a section */
    #define Task1 1
    /* MUTEX definition */
    #define SEM (0U|EE_GLOBAL_MUTEX)
    #define RES \\
        1U
    /* EVENT definition */
    #define Event1 0x1U
    #define Event2 0x2
    #define Broken WHAT
    /* ALARM definition */
    #define Al 0U
    /* COUNTER OBJECTS definition */
    #define Nothing 3
    /* COUNTER definition */
    #define Timer 0U
    /* CPUs */
    #define EE_CURRENTCPU 1
/***************************************************************************
 * Spin lock IDs
 **************************************************************************/
    #define SPIN 1U // mine
    #define EE_SPINLOCK_CORE0 2U\t /* core0 */
    #define EE_MAX_SPINLOCK 3
/***************************************************************************
 * Remote Notification
 **************************************************************************/
    #define rn_TaskZ6 4
    /* remote threads */
    #define TaskZ6 (rn_TaskZ6|EE_REMOTE_TID)
    #define TaskZ7 ((EE_TID)5U + (EE_TID)EE_REMOTE_TID)
    #define F(x) x
    #define __OPTION__
";

    #[test]
    fn sections_tell_equal_numbers_apart() {
        let h = OsHeader::parse(HEADER.as_bytes());
        let named = |list: &[(String, i64)]| list.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        assert_eq!(named(&h.tasks), ["Task0=0", "Task1=1"]);
        let resource = |name: &str, id, global| OsResource { name: name.into(), id, global };
        assert_eq!(h.resources, [resource("SEM", 0, true), resource("RES", 1, false)]);
        assert_eq!(h.events, [("Event1".to_owned(), 1), ("Event2".to_owned(), 2)]);
        assert_eq!(
            (named(&h.alarms), named(&h.counters)),
            (vec!["Al=0".to_owned()], vec!["Timer=0".to_owned()])
        );
        assert_eq!(named(&h.spinlocks), ["SPIN=1"]);
        assert_eq!(named(&h.core_spinlocks), ["EE_SPINLOCK_CORE0=2"]);
        assert_eq!(named(&h.remote_tasks), ["TaskZ6=4", "TaskZ7=5"]);
        assert_eq!(h.current_cpu, Some(1));
        let findings: Vec<_> = h.findings.iter().map(|f| (f.code, f.line)).collect();
        assert_eq!(findings, [("unknown-value", 16)]);
    }

    #[test]
    fn other_files_are_distinguished_from_headers() {
        assert_eq!(OsHeader::parse(b"int main;").findings[0].code, "missing-definitions");
        assert_eq!(OsHeader::parse(b"").findings.len(), 1);
    }
}
