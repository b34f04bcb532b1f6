//! The roles of the columns of a data export, and the names that TRACE32 and users give to them. Not for the
//! content of cells (see `fields`).

use crate::error::{Error, Result, did_you_mean};
use crate::time::TimeScale;

/// The role of a column of a data export. The export script selects the columns and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// Number of the trace record, signed.
    Record,
    /// Time since the zero point of the recording, in seconds unless the cell has a unit.
    Time,
    /// The variable that was accessed.
    Variable,
    /// What the bus did: `wr-data`, `rd-data`, or a cycle that is no access.
    Cycle,
    /// The value that was read or written.
    Data,
    /// The core, on chips whose cores share one trace (`run`).
    Core,
    /// The address, which names the access if there is no variable.
    Address,
    /// Not used. The text is the name that the column was given, or its position (`column 7`).
    Ignored(String),
}

/// The words for each role, from specific to general: items of `Trace.List` (`ti.zero`, `Var`, `CYcle`,
/// `Data`, `run`, `Address`), header texts, and plain words. If a header has several words for a role, the
/// first one in this list gets the role.
const ROLE_WORDS: [(&str, Column); 25] = [
    ("record", Column::Record),
    ("rec", Column::Record),
    ("ti.zero", Column::Time),
    ("time.zero", Column::Time),
    ("time", Column::Time),
    ("timestamp", Column::Time),
    ("var", Column::Variable),
    ("varsymbol", Column::Variable),
    ("variable", Column::Variable),
    ("symbol", Column::Variable),
    ("cycle", Column::Cycle),
    ("access", Column::Cycle),
    ("data", Column::Data),
    ("d", Column::Data),
    ("d.b", Column::Data),
    ("d.w", Column::Data),
    ("d.l", Column::Data),
    ("d.q", Column::Data),
    ("value", Column::Data),
    ("run", Column::Core),
    ("core", Column::Core),
    ("cpu", Column::Core),
    ("address", Column::Address),
    ("addr", Column::Address),
    ("ad", Column::Address),
];

/// Names of columns that are not needed.
const IGNORED_WORDS: [&str; 5] = ["", "-", "_", "ignore", "ignored"];

/// Names of columns with times between records. They are never the time of a row: records that are left out
/// of an export are missing in a sum of them (thesis, figure 3.4).
const RELATIVE_TIMES: [&str; 4] = ["ti.back", "time.back", "ti.fore", "time.fore"];

/// The roles that a data export must have.
pub(super) const REQUIRED: [(Column, &str); 4] = [
    (Column::Time, "time"),
    (Column::Variable, "variable"),
    (Column::Cycle, "cycle"),
    (Column::Data, "data"),
];

/// The role that `word` stands for, and its rank in the list; a lower rank is more specific.
fn role_of(word: &str) -> Option<(usize, Column)> {
    let word = word.to_ascii_lowercase();
    let found = ROLE_WORDS.iter().enumerate().find(|(_, (name, _))| *name == word);
    found.map(|(rank, (_, column))| (rank, column.clone()))
}

/// Splits `time(ns)` or `time [us]` into the name and the unit.
fn split_unit(name: &str) -> (&str, Option<TimeScale>) {
    let parts = name.trim_end_matches([')', ']']).split_once(['(', '[']);
    match parts.and_then(|(head, unit)| Some((head.trim(), TimeScale::parse(unit.trim())?))) {
        Some((head, unit)) => (head, Some(unit)),
        None => (name, None),
    }
}

/// True for the name of a column that counts from one record to another.
pub(super) fn is_relative_time(name: &str) -> bool {
    RELATIVE_TIMES.contains(&split_unit(name.trim()).0.to_ascii_lowercase().as_str())
}

/// True for the name of a column whose meaning is known, needed or not.
pub(super) fn is_known(name: &str) -> bool {
    let word = split_unit(name.trim()).0.to_ascii_lowercase();
    role_of(&word).is_some() || IGNORED_WORDS.contains(&word.as_str()) || is_relative_time(name)
}

/// Columns by their names in a header line, and the unit of the time column if the header states it. A name
/// without a known meaning is ignored. So is one for a role that a more specific name has.
pub(super) fn from_header(names: &[String]) -> (Vec<Column>, Option<TimeScale>) {
    let split: Vec<_> = names.iter().map(|name| split_unit(name.trim())).collect();
    let roles: Vec<_> = split.iter().map(|(name, _)| role_of(name)).collect();
    let mut unit = None;
    let mut columns = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let column = match roles.get(at).cloned().flatten() {
            Some((rank, role)) => {
                let is_taken = roles.iter().enumerate().any(|(other, found)| {
                    found.as_ref().is_some_and(|(r, c)| *c == role && (*r, other) < (rank, at))
                });
                if is_taken { None } else { Some(role) }
            }
            None => None,
        };
        if column == Some(Column::Time) {
            unit = split.get(at).and_then(|(_, unit)| *unit);
        }
        columns.push(column.unwrap_or_else(|| Column::Ignored(name.clone())));
    }
    (columns, unit)
}

/// The number of names with a known meaning.
pub(super) fn known_names(names: &[String]) -> usize {
    names.iter().filter(|name| role_of(split_unit(name.trim()).0).is_some()).count()
}

/// Columns by the names in a description. Unlike in a header, an unknown name is an error.
pub(super) fn from_description(names: &[String]) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for name in names {
        let column = match role_of(name.trim()) {
            Some((_, role)) => role,
            None if is_known(name) => Column::Ignored(name.clone()),
            None => {
                let near = did_you_mean(name, ROLE_WORDS.iter().map(|(word, _)| *word));
                let known = "use record, time, variable, cycle, data, core, address, or '-' for a column \
                     that is not needed";
                let hint = near.map_or_else(|| known.to_owned(), |word| format!("did you mean '{word}'?"));
                return Err(Error::input(format!("no column is called '{name}'")).hint(hint));
            }
        };
        if !matches!(column, Column::Ignored(_)) && columns.contains(&column) {
            return Err(Error::input(format!("two columns are said to be '{name}'")));
        }
        columns.push(column);
    }
    match missing(&columns).as_slice() {
        [] => Ok(columns),
        missing => Err(Error::input(format!("the list of columns names no {}", missing.join(", no ")))
            .hint("time, variable, cycle and data are needed; record, core and address are not")),
    }
}

/// The required roles that are missing.
pub(super) fn missing(columns: &[Column]) -> Vec<&'static str> {
    REQUIRED.iter().filter(|(role, _)| !columns.contains(role)).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Column::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn headers_are_read_by_name() {
        let (columns, unit) = from_header(&names("record,run,address,Cycle,d.l,symbol,ti.back,time (us)"));
        let back = Ignored("ti.back".to_owned());
        assert_eq!(columns, [Record, Core, Address, Cycle, Data, Variable, back, Time]);
        assert_eq!(unit, Some(TimeScale::Us));
        // The more specific name gets the role, wherever it is.
        let (columns, unit) = from_header(&names("symbol,var,data,data,time"));
        assert_eq!(columns, [Ignored("symbol".to_owned()), Variable, Data, Ignored("data".to_owned()), Time]);
        assert_eq!(unit, None);
        assert_eq!(known_names(&names("time,x,cycle")), 2);
        assert!(["Time", "ti.back(us)", "-", "d.l"].into_iter().all(is_known) && !is_known("speed"));
        assert!(is_relative_time(" Ti.Back [us]") && !is_relative_time("ti.zero"));
    }

    #[test]
    fn names_of_a_description_are_checked() {
        let columns = from_description(&names("record,time,-,variable,cycle,data")).unwrap();
        assert_eq!(columns[2..4], [Ignored("-".to_owned()), Variable]);
        let error = from_description(&names("recrd,time,variable,cycle,data")).unwrap_err();
        assert!(error.hints()[0].contains("'record'"), "{:?}", error.hints());
        assert!(from_description(&names("time,time,variable,cycle,data")).is_err());
        let error = from_description(&names("record,time,variable")).unwrap_err();
        assert!(error.to_string().contains("cycle, no data"), "{error}");
    }
}
