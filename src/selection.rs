//! Which part of a recording is exported or drawn, as a condition in SQL. Not for what a table is (see
//! [`crate::schema`]).

pub(crate) mod kinds;
mod known;
pub(crate) mod pattern;
pub(crate) mod steps;

use crate::engine::{Param, ResultStream, Session};
use crate::error::{Error, Result};
use crate::schema::{ColumnType, TableSpec, columns, tables};

pub(crate) use known::{check_names_in_any, check_types, in_any, recordings_with, without};

/// A part of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The recording; `None`: the only one that there is.
    pub recording: Option<String>,
    /// Start of the window, in ticks; `None`: the start of the recording.
    pub from: Option<i64>,
    /// End of the window, in ticks, not part of it; `None`: the end of the recording. Windows that follow
    /// each other have no row in common, and no row is lost between them.
    pub to: Option<i64>,
    /// Names of entities, or patterns with `*` and `?`; empty: all.
    pub entities: Vec<String>,
    /// Types of entities as BTF abbreviates them (`T`, `I`, `R`, …); empty: all.
    pub types: Vec<String>,
}

/// A condition with its parameters.
#[derive(Debug, Default)]
pub(crate) struct Condition {
    terms: Vec<String>,
    params: Vec<(String, Param)>,
    /// Parts of the selection that the table has no column for.
    pub unused: Vec<&'static str>,
}

impl Selection {
    /// The name of the recording.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when there is none of that name, or none, or more than one to
    /// choose from.
    pub fn recording(&self, session: &Session) -> Result<String> {
        session.database().check_recording(self.recording.as_deref())?;
        if let Some(name) = &self.recording {
            return Ok(name.clone());
        }
        match session.database().recordings()? {
            [one] => Ok(one.name.clone()),
            [] => Err(Error::usage("the database holds no recording").hint("`btfdb ingest` adds one")),
            several => {
                let names: Vec<_> = several.iter().map(|r| r.name.as_str()).collect();
                Err(Error::usage(format!("the database holds {} recordings", names.len()))
                    .hint(format!("choose one with --recording: {}", names.join(", "))))
            }
        }
    }

    /// True if an entity of that name is selected.
    pub(crate) fn has_entity(&self, name: &str) -> bool {
        self.entities.is_empty() || self.entities.iter().any(|word| pattern::fits(word, name))
    }

    /// True when all of the recording is selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.from.is_none() && self.to.is_none() && self.entities.is_empty() && self.types.is_empty()
    }

    /// The rows of anything with a recording that last from one instant to another, expressions in SQL, and
    /// have a part in the window. `entities` and `types` are the columns that name the entities of a row and
    /// their types.
    pub(crate) fn overlap(
        &self,
        recording: &str,
        (begin, end): (&str, &str),
        entities: &[&str],
        types: &[&str],
    ) -> Condition {
        let mut condition = Condition::default();
        condition.push(columns::recording::RECORDING, "=", recording.into());
        if let Some(from) = self.from {
            let from = condition.param(from.into());
            // What has no duration is in the window as an event is.
            condition.terms.push(format!("({end} > {from} OR ({begin} = {end} AND {begin} >= {from}))"));
        }
        self.to.into_iter().for_each(|to| condition.push(begin, "<", to.into()));
        if !entities.is_empty() {
            condition.one_of(&self.entities, entities, "the entities");
        }
        if !types.is_empty() {
            condition.of_type(&self.types, types);
        }
        condition
    }

    /// The rows of `table` that are selected.
    pub(crate) fn condition(&self, table: &TableSpec, recording: &str) -> Condition {
        let mut condition = Condition::default();
        condition.push(columns::recording::RECORDING, "=", recording.into());
        let moment = moment(table);
        match &moment {
            Some(moment) => {
                self.from.into_iter().for_each(|from| condition.push(moment, ">=", from.into()));
                self.to.into_iter().for_each(|to| condition.push(moment, "<", to.into()));
            }
            None if self.from.is_some() || self.to.is_some() => condition.unused.push("the window"),
            None => {}
        }
        condition.one_of(&self.entities, entity_columns(table), "the entities");
        condition.of_type(&self.types, type_columns(table));
        condition
    }
}

impl Condition {
    /// `WHERE …`
    pub fn sql(&self) -> String {
        format!("WHERE {}", self.terms.join(" AND "))
    }

    pub fn params(&self) -> Vec<(&str, Param)> {
        self.params.iter().map(|(n, v)| (n.as_str(), v.clone())).collect()
    }

    /// The rows of a statement: `select` ends with a table, `rest` follows the condition.
    pub fn rows(&self, session: &Session, select: &str, rest: &str) -> Result<ResultStream> {
        session.sql(&format!("{select} {} {rest}", self.sql()), &self.params())
    }

    fn param(&mut self, value: Param) -> String {
        let name = format!("p{}", self.params.len());
        let place = format!("${name}");
        self.params.push((name, value));
        place
    }

    /// The column compares to the value.
    fn push(&mut self, column: &str, operator: &str, value: Param) {
        let place = self.param(value);
        self.terms.push(format!("{column} {operator} {place}"));
    }

    /// Any of the columns is one of the types, as any writer may have spelled it: `i` also selects `ISR`.
    fn of_type(&mut self, types: &[String], columns: &[&str]) {
        if self.is_asked(types, columns, "the types") {
            let types = self.places(types);
            self.any(columns.iter().map(|column| format!("is_type({column}, {types})")));
        }
    }

    /// Any of the columns is one of the words, or fits one of them that is a pattern.
    fn one_of(&mut self, words: &[String], columns: &[&str], what: &'static str) {
        if !self.is_asked(words, columns, what) {
            return;
        }
        let (patterns, names): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| pattern::is_pattern(word));
        let mut comparisons = Vec::new();
        if !names.is_empty() {
            comparisons.push(format!("IN ({})", self.places(names)));
        }
        for word in patterns {
            comparisons.push(format!("LIKE {}", self.param(pattern::like(word).as_str().into())));
        }
        self.any(columns.iter().flat_map(|c| comparisons.iter().map(move |is| format!("{c} {is}"))));
    }

    /// True if there are words, and columns to compare with them. Words without columns are noted as unused.
    fn is_asked(&mut self, words: &[String], columns: &[&str], what: &'static str) -> bool {
        if !words.is_empty() && columns.is_empty() {
            self.unused.push(what);
        }
        !words.is_empty() && !columns.is_empty()
    }

    /// The words as parameters, with commas between.
    fn places<'a>(&mut self, words: impl IntoIterator<Item = &'a String>) -> String {
        let places: Vec<_> = words.into_iter().map(|word| self.param(word.as_str().into())).collect();
        places.join(", ")
    }

    /// Any of the terms is true.
    fn any(&mut self, terms: impl Iterator<Item = String>) {
        self.terms.push(format!("({})", terms.collect::<Vec<_>>().join(" OR ")));
    }
}

/// The first moment of a row, at which it belongs to a window. `None` for tables about whole recordings.
fn moment(table: &TableSpec) -> Option<String> {
    if [tables::RECORDING.name, tables::SOURCE.name].contains(&table.name) {
        return None;
    }
    let instants: Vec<_> = table.file_columns().filter(|c| c.ty == ColumnType::Instant).collect();
    let names = instants.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
    // The first one that can be missing gives way to the next.
    match instants.as_slice() {
        [] => None,
        [first, ..] if first.null.is_none() => Some(first.name.to_owned()),
        _ => Some(format!("coalesce({names})")),
    }
}

/// The columns that name the entities of a row.
fn entity_columns(table: &TableSpec) -> &'static [&'static str] {
    match table.name {
        n if n == tables::BTF_EVENT.name => &[columns::btf_event::SOURCE, columns::btf_event::TARGET],
        n if n == tables::DATA_EVENT.name => &[columns::data_event::VARIABLE],
        n if n == tables::FUNCTION_EVENT.name => &[columns::function_event::FUNCTION],
        n if n == tables::ENTITY.name => &[columns::entity::ENTITY],
        n if n == tables::PROCESS_INSTANCE.name => &[columns::process_instance::PROCESS],
        n if n == tables::PROCESS_STATE.name => &[columns::process_state::PROCESS],
        n if n == tables::RUNNABLE_INSTANCE.name => {
            &[columns::runnable_instance::RUNNABLE, columns::runnable_instance::PROCESS]
        }
        n if n == tables::RUNNABLE_STATE.name => {
            &[columns::runnable_state::RUNNABLE, columns::runnable_state::PROCESS]
        }
        _ => &[],
    }
}

/// The column that says of what type the entity of a row is.
fn type_columns(table: &TableSpec) -> &'static [&'static str] {
    match table.name {
        n if n == tables::BTF_EVENT.name => &[columns::btf_event::TARGET_TYPE],
        n if n == tables::ENTITY.name => &[columns::entity::TYPE],
        n if n == tables::PROCESS_INSTANCE.name => &[columns::process_instance::TYPE],
        n if n == tables::PROCESS_STATE.name => &[columns::process_state::TYPE],
        _ => &[],
    }
}
