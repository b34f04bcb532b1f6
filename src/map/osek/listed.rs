//! The names that the description lists: which of them the recording does not have, and which names of the
//! recording may have been meant. Not what a name means (see `slots` and `model`).

use super::blocks::Table;
use super::slots::{is_below, path_of};
use crate::description::Application;
use crate::error::did_you_mean;
use std::collections::{BTreeMap, BTreeSet};

/// A name of the description, and where it stands there.
#[derive(Debug, Clone)]
struct Entry {
    key: &'static str,
    name: String,
    of: Table,
}

/// The listed names, and the names of the recording that had a meaning.
#[derive(Debug, Clone, Default)]
pub(super) struct Listed {
    entries: Vec<Entry>,
    /// Variables as they were traced, and as their aliases name them.
    variables: BTreeSet<String>,
    functions: BTreeSet<String>,
}

/// Names of the recording that no rule needs, by their table.
pub(super) type Others = BTreeMap<Table, BTreeSet<String>>;

impl Listed {
    pub fn new(application: &Application) -> Self {
        let Application { runnables, signals, category1_isrs, aliases, task_functions, .. } = application;
        let entry = |key: &'static str, of: Table| move |name: &String| Entry { key, name: name.clone(), of };
        let variables = signals.iter().map(entry("signals", Table::Data));
        let entries = variables
            .chain(aliases.keys().map(entry("aliases", Table::Data)))
            .chain(runnables.iter().map(entry("runnables", Table::Functions)))
            .chain(category1_isrs.iter().map(entry("category1_isrs", Table::Functions)))
            .chain(task_functions.keys().map(entry("task_functions", Table::Functions)));
        Self { entries: entries.collect(), ..Self::default() }
    }

    /// A variable occurs that a rule needs; `path` is its path in ORTI.
    pub fn variable(&mut self, text: &str, path: String) {
        self.variables.extend([path_of(text), path]);
    }

    /// A function occurs that a rule needs.
    pub fn function(&mut self, text: &str) {
        self.functions.insert(text.to_owned());
    }

    /// A sentence for each listed name that the recording does not have, with the nearest of the `others`.
    /// `excused`: functions that need not occur.
    pub fn missing(&self, others: &Others, excused: impl Fn(&str) -> bool) -> Vec<String> {
        let none = BTreeSet::new();
        let of = |table: Table| others.get(&table).unwrap_or(&none);
        let lists_functions = self.entries.iter().find(|e| e.of == Table::Functions);
        let no_functions = self.functions.is_empty() && of(Table::Functions).is_empty();
        let mut sentences = Vec::new();
        if let (true, Some(first)) = (no_functions, lists_functions) {
            sentences.push(format!(
                "the recording has no function events, so that {} like '{}' cannot occur",
                first.key, first.name
            ));
        }
        for Entry { key, name, of: table } in &self.entries {
            let (occurs, kind, other) = match table {
                Table::Data => (self.has_variable(name), "variable", Table::Functions),
                Table::Functions => {
                    (self.functions.contains(name) || no_functions || excused(name), "function", Table::Data)
                }
            };
            // What occurs may still have no meaning, e.g. a function of a task that is not described.
            if occurs || of(*table).contains(name) {
                continue;
            }
            let near = did_you_mean(name, of(*table).iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("; did you mean '{near}'?"),
                None if of(other).contains(name) => format!("; there is a {} of that name", word(other)),
                None => String::new(),
            };
            sentences.push(format!("{key}: there is no {kind} '{name}' in the trace{hint}"));
        }
        sentences
    }

    /// A listed variable occurs, or an element of it.
    fn has_variable(&self, name: &str) -> bool {
        let path = path_of(name.trim_end_matches("[*]"));
        let from_there = self.variables.range(path.clone()..);
        let mut near = from_there.take_while(|known| known.starts_with(&path));
        near.any(|known| *known == path || is_below(known, &path))
    }
}

fn word(table: Table) -> &'static str {
    match table {
        Table::Data => "variable",
        Table::Functions => "function",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Profile;
    use crate::time::TimeScale;

    #[test]
    fn what_is_listed_and_does_not_occur_is_named_with_what_may_have_been_meant() {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let mut listed = Listed::new(&Application {
            profile: Profile::shipped("osek").unwrap().unwrap(),
            cores: Vec::new(),
            runnables: names(&["R_1x", "R_2", "speed"]),
            signals: names(&["ARR[*]", "SIG_X"]),
            category1_isrs: Vec::new(),
            aliases: BTreeMap::from([("known".into(), "os.x".into()), ("lost".into(), "os.y".into())]),
            task_functions: BTreeMap::from([
                ("FuncT_1".into(), "T_1".into()),
                // It occurs, but no rule needs it: there is no such task.
                ("FuncT_9".into(), "T_9".into()),
            ]),
            coalescing: 0,
            time_scale: TimeScale::Ns,
        });
        listed.variable(r"\\User\Global\ARR[3]", "ARR[3]".into());
        listed.variable("known", "os.x".into());
        listed.function("R_2");
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let others = Others::from([
            (Table::Data, set(&["SIG_1", "speed"])),
            (Table::Functions, set(&["R_1a", "main", "FuncT_9"])),
        ]);
        let expected = [
            "signals: there is no variable 'SIG_X' in the trace; did you mean 'SIG_1'?",
            "aliases: there is no variable 'lost' in the trace",
            "runnables: there is no function 'R_1x' in the trace; did you mean 'R_1a'?",
            "runnables: there is no function 'speed' in the trace; there is a variable of that name",
        ];
        assert_eq!(listed.missing(&others, |name| name == "FuncT_1"), expected);
        let none = listed.missing(&Others::new(), |_| false);
        assert!(none.iter().any(|text| text.contains("FuncT_1")), "{none:?}");
        let of_no_functions = Listed { functions: BTreeSet::new(), ..listed };
        let first = of_no_functions.missing(&Others::new(), |_| false).swap_remove(0);
        assert_eq!(first, "the recording has no function events, so that runnables like 'R_1x' cannot occur");
    }
}
