//! That names are unique and can be written to the files of a recording. Not that they are known: `file`.

use std::collections::BTreeMap;

use super::Checks;
use crate::error::Result;

impl<'a> Checks<'a> {
    /// All names share one space: those of tasks, events, resources and alarms are macros of one C header,
    /// those of runnables, ISRs and signals symbols of the same program, and the trace has all of them.
    pub(super) fn names(self) -> Result<()> {
        let mut seen: BTreeMap<&str, (&str, Option<u64>)> = BTreeMap::new();
        for (kind, name, line) in self.all_names() {
            if !is_identifier(name) {
                let message = format!("'{name}' cannot be the name of {kind}");
                let hint = "a name has letters, digits and '_', and does not begin with a digit: it is \
                    written to a C header, an ORTI file and a CSV";
                return self.mistake(line, message, hint);
            }
            if let Some(other) = seen.insert(name, (kind, line)) {
                // The second one in the text is the mistake.
                let [(first, _), (second, line)] =
                    if other.1 <= line { [other, (kind, line)] } else { [(kind, line), other] };
                let message = if first == second {
                    format!("'{name}' is the name of {first} twice")
                } else {
                    format!("'{name}' is the name of {first} and of {second}")
                };
                return self.mistake(line, message, "each name can be used only once in a model; rename one");
            }
        }
        if self.model.name.is_empty() {
            return self.mistake(
                None,
                "the name of the model is empty".to_owned(),
                "write name = \"engine\"",
            );
        }
        Ok(())
    }

    /// Kinds, names and lines.
    fn all_names(self) -> Vec<(&'static str, &'a str, Option<u64>)> {
        fn of<'n>(
            kind: &'static str,
            names: impl Iterator<Item = &'n str>,
            lines: &[u64],
        ) -> impl Iterator<Item = (&'static str, &'n str, Option<u64>)> {
            names.enumerate().map(move |(ix, name)| (kind, name, lines.get(ix).copied()))
        }
        let Self { model, places } = self;
        let bodies = self.bodies().map(|body| (body.owner.kind_with_article(), body.name, body.line));
        let mut all: Vec<_> =
            of("a core", model.cores.iter().map(|c| c.name.as_str()), &places.cores).collect();
        all.extend(bodies);
        all.extend(of("a signal", model.signals.iter().map(|s| s.name.as_str()), &places.signals));
        all.extend(of("an event", model.events.iter().map(|e| e.name.as_str()), &places.events));
        all.extend(of("a resource", model.resources.iter().map(|r| r.name.as_str()), &places.resources));
        all.extend(of("a spinlock", model.spinlocks.iter().map(|s| s.name.as_str()), &places.spinlocks));
        all.extend(of("an alarm", model.alarms.iter().map(|a| a.name.as_str()), &places.alarms));
        let tables = model.schedule_tables.iter().map(|table| table.name.as_str());
        all.extend(of("a schedule table", tables, &places.schedule_tables));
        all
    }
}

/// What C, ORTI and a CSV take without quotes.
fn is_identifier(name: &str) -> bool {
    let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(of_word) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()
}
