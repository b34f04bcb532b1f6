//! Errors of DataFusion → errors of btfdb: their kind, the place in the SQL, and a suggestion. Not for errors
//! in the content of a trace, which never reach a query.

use std::any::Any;
use std::error::Error as StdError;

use arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError};
use datafusion::object_store;
use parquet::errors::ParquetError;

pub(super) use super::failure_words::Place;
use super::functions::Overflow;
use super::operators::OutOfOrder;
use super::table::object_store::{GONE, UNREADABLE};
use super::{failure_text, failure_words};
use crate::error::{Error, ErrorKind, did_you_mean};
use crate::library::{MADE_FUNCTIONS, TABLE_FUNCTIONS};

/// Most characters of an SQL line that an error shows.
const SHOWN: usize = 100;
/// The advice if a file does not hold what the log promises.
const VERIFY: &str = "run `btfdb verify` on the database: it names every damaged file";

/// The advice if a whole number is too large for its type.
const WIDER: &str =
    "compute with a wider type: CAST(x AS DECIMAL(38, 0)), or CAST(x AS DOUBLE) if digits may be lost";

/// What an operation failed with whose rows a statement reads: an error for users as it is.
#[derive(Debug)]
pub(super) struct OfOperation(pub Error);

impl std::fmt::Display for OfOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for OfOperation {}

/// An error in the SQL text itself. Its line is shown once the error gets the file of the text.
pub(super) fn syntax(message: &str, sql: &str, place: Option<Place>) -> Error {
    let Some(place) = place else { return Error::new(ErrorKind::Query, message) };
    let Place { line, column, .. } = place;
    let shown = show(sql, place);
    Error::new(ErrorKind::Query, format!("{message} (line {line}, column {column}){shown}")).line(line)
}

/// What the engine reported while it planned or ran `sql`; `relations` are the names of the tables and views.
pub(super) fn from_engine(error: &DataFusionError, sql: &str, relations: &[String]) -> Error {
    // An executor has said it as it has to be said.
    #[cfg(feature = "cluster")]
    if let Some(of_task) = super::cluster::of_task(&error.to_string()) {
        return of_task;
    }
    if let DataFusionError::External(cause) = error.find_root()
        && let Some(OfOperation(of)) = cause.downcast_ref()
    {
        let same = Error::new(of.kind(), of.to_string());
        return of.hints().iter().fold(same, |error, hint| error.hint(hint));
    }
    if let Some(of_store) = of_store(error) {
        return Error::new(of_store.kind(), of_store.to_string()).hint(VERIFY);
    }
    if is_gone(error) {
        return Error::database("a file of the database is gone")
            .hint("a recording was removed or mapped again, and `btfdb vacuum` has deleted its files: open the database again")
            .hint(VERIFY);
    }
    if let Some(cause) = unreadable(error) {
        return Error::new(ErrorKind::Io, format!("a file of the database cannot be read: {cause}"));
    }
    if let Some(cause) = damage(error) {
        return Error::database(format!("the database is damaged: {cause}")).hint(VERIFY);
    }
    if let Some(cause) = temporary_file(error) {
        return Error::new(ErrorKind::Io, format!("cannot write or read a temporary file: {cause}")).hint(
            "temporary files are in the folder of TMPDIR, or in /tmp: set TMPDIR to a folder with more space, raise \
             --memory-limit, or narrow the query",
        );
    }
    if let DataFusionError::External(cause) = error.find_root()
        && cause.is::<OutOfOrder>()
    {
        return Error::new(ErrorKind::Bug, "an order was taken for granted").because(OutOfOrder);
    }
    if let DataFusionError::External(cause) = error.find_root()
        && let Some(overflow) = cause.downcast_ref::<Overflow>()
    {
        // The optimizer computes sums of different values over rows that it names itself.
        let what = overflow.to_string().replace("(alias1)", "(DISTINCT …)");
        return Error::new(ErrorKind::Query, what).hint(WIDER);
    }
    match error.find_root() {
        DataFusionError::ResourcesExhausted(what) => return exhausted(what),
        DataFusionError::ExecutionJoin(e) if e.is_panic() => return from_panic(&e.to_string()),
        _ => {}
    }
    if missing_column(error).is_none()
        && let Some(words) = failure_words::rewritten(&error.strip_backtrace(), sql)
    {
        return syntax(&words.message, sql, words.place).hint(words.hint);
    }
    let (message, place) = described(error, sql);
    let error_at_place = syntax(&message, sql, place);
    hints(error, &message, sql, place, relations).into_iter().fold(error_at_place, Error::hint)
}

/// What failed in words for users, and where.
fn described(error: &DataFusionError, sql: &str) -> (String, Option<Place>) {
    if let Some((field, valid_fields)) = missing_column(error) {
        if let Some(table) = missing_table(field, valid_fields) {
            return (format!("there is no table '{table}' in FROM"), place_of_word(sql, table));
        }
        let place = field.spans.first().map(place_of).or_else(|| place_of_word(sql, &field.name));
        return (format!("column '{}' not found", field.name), place);
    }
    match error.diagnostic() {
        Some(d) => {
            let message = failure_text::plain(&d.message);
            let named = || failure_words::word(sql, message.strip_prefix('\'')?.split_once('\'')?.0);
            let place = d.span.map(place_of).or_else(named);
            (message, place)
        }
        None => {
            let (message, place) = cut_place(tidy(&error.strip_backtrace()));
            if let Some(name) = missing_parameter(&message) {
                let place = place.or_else(|| failure_words::parameter(sql, name));
                return (format!("the parameter '{name}' has no value"), place);
            }
            let message = no_number(&message).unwrap_or(message);
            (failure_text::plain(&message), place)
        }
    }
}

/// The table of a column that does not exist, if FROM has no such table.
fn missing_table<'e>(field: &'e Column, valid_fields: &[Column]) -> Option<&'e str> {
    let table = field.relation.as_ref()?.table();
    let mut known = valid_fields.iter().filter_map(|f| f.relation.as_ref()).peekable();
    (known.peek().is_some() && known.all(|of| of.table() != table)).then_some(table)
}

/// A column that does not exist, and those that do.
fn missing_column(error: &DataFusionError) -> Option<(&Column, &[Column])> {
    match error.find_root() {
        DataFusionError::SchemaError(inner, _) => match inner.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => {
                Some((field.as_ref(), valid_fields.as_slice()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The engine panicked. Files are checked before it reads them, so that damage is not the cause.
pub(super) fn from_panic(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    // Texts of a batch have positions of 31 bits.
    if ["offset overflow", "capacity overflow"].iter().any(|what| text.contains(what)) {
        return Error::new(ErrorKind::Limit, "a text, or some thousand texts of a column, exceed 2 GiB")
            .hint("make them shorter, e.g. with left(text, 1000)");
    }
    Error::new(ErrorKind::Bug, format!("the query engine failed: {text}"))
}

/// An error of the engine without SQL to point at.
#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
pub(crate) fn failed(error: DataFusionError) -> Error {
    from_engine(&error, "", &[])
}

/// True if rows did not come in the order that a statement assumed.
pub(crate) fn is_out_of_order(error: &Error) -> bool {
    error.source().is_some_and(|cause| cause.is::<OutOfOrder>())
}

fn exhausted(what: &str) -> Error {
    let first = what.lines().next().unwrap_or("").trim_end_matches(" as:");
    let first = first.trim_end_matches(" with top memory consumers (across reservations)");
    Error::new(ErrorKind::Limit, format!("the query needs more memory than it may use: {first}"))
        .hint("raise --memory-limit, or narrow the query (fewer rows before GROUP BY and ORDER BY)")
}

/// An error and its causes.
fn causes(error: &DataFusionError) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    std::iter::from_fn(move || {
        let this = next?;
        next = this.source();
        Some(this)
    })
}

/// The error of the store, when the log could not be read.
fn of_store(error: &DataFusionError) -> Option<&Error> {
    causes(error).find_map(|e| e.downcast_ref())
}

/// Whether a file is not there. The engine passes such errors on as text.
fn is_gone(error: &DataFusionError) -> bool {
    damage(error).is_some_and(|text| text.contains(&format!("Generic {GONE} error: ")))
}

/// The cause, when a file was not read: the operating system refused it, or the object store gave no answer.
/// Its content may be good. The engine passes such errors on as text.
fn unreadable(error: &DataFusionError) -> Option<String> {
    let text = damage(error)?;
    let (_, cause) = text.split_once(&format!("Generic {UNREADABLE} error: "))?;
    Some(cause.to_owned())
}

/// The cause, when a file is not what it should be.
fn damage(error: &DataFusionError) -> Option<String> {
    causes(error).find_map(|e| match e.downcast_ref::<ArrowError>() {
        Some(ArrowError::ParquetError(text)) => Some(text.clone()),
        _ if e.is::<ParquetError>() || e.is::<object_store::Error>() => Some(e.to_string()),
        _ => None,
    })
}

/// The cause, when the operating system refused a temporary file. Files of the database are read through the
/// object store, so that no other error of the operating system comes as itself.
fn temporary_file(error: &DataFusionError) -> Option<String> {
    causes(error).find_map(|e| e.downcast_ref::<std::io::Error>()).map(ToString::to_string)
}

/// The next steps: "did you mean", from what the engine or the catalog knows, and other ways to write it.
fn hints(
    error: &DataFusionError,
    message: &str,
    sql: &str,
    place: Option<Place>,
    relations: &[String],
) -> Vec<String> {
    if let Some(diagnostic) = error.diagnostic()
        && !diagnostic.helps.is_empty()
    {
        return diagnostic.helps.iter().map(|help| help.message.clone()).collect();
    }
    if let Some((field, valid_fields)) = missing_column(error) {
        if let Some(table) = missing_table(field, valid_fields) {
            let mut known: Vec<_> =
                valid_fields.iter().filter_map(|f| Some(f.relation.as_ref()?.table())).collect();
            known.dedup();
            let near = did_you_mean(table, known.iter().copied());
            let all = || format!("the tables in FROM are: {}", known.join(", "));
            return vec![near.map_or_else(all, |near| format!("did you mean table '{near}'?"))];
        }
        return hints_of_column(&field.name, valid_fields, place.and_then(|place| word_at(sql, place)));
    }
    if let Some(table) = message.strip_prefix("table '").and_then(|m| m.strip_suffix("' not found")) {
        return vec![hint_of_table(table, relations)];
    }
    if let Some(name) = message.strip_prefix("table function '").and_then(|m| m.strip_suffix("' not found")) {
        let made = MADE_FUNCTIONS.iter().map(|made| made.function.name);
        let near = did_you_mean(name, TABLE_FUNCTIONS.iter().map(|f| f.name).chain(made));
        return near.map(|near| format!("did you mean '{near}'?")).into_iter().collect();
    }
    if let Some(name) = without_value(message) {
        return vec![format!("give it one, e.g. --param {name}=10ms, or .param {name}=10ms in the shell")];
    }
    if let Some(name) = message.strip_prefix("Invalid function '").and_then(|m| m.strip_suffix('\''))
        && let Some(hint) = failure_words::elsewhere(name)
    {
        return vec![hint.to_owned()];
    }
    let possible = |d: &datafusion::common::Diagnostic| {
        let name = d.notes.iter().find_map(|n| n.message.strip_prefix("Possible function "));
        name.map(str::to_owned)
    };
    if let Some(near) = error.diagnostic().and_then(possible) {
        return vec![format!("did you mean {near}?")];
    }
    failure_text::hint(message).map(str::to_owned).into_iter().collect()
}

/// The parameter that has no value, by an error of btfdb.
pub(super) fn without_value(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("the parameter '$")?;
    rest.split_once("' has no value").map(|(name, _)| name)
}

/// `typed` is the name as the statement has it.
fn hints_of_column(name: &str, valid_fields: &[Column], typed: Option<&str>) -> Vec<String> {
    let mut known: Vec<&str> = Vec::new();
    for field in valid_fields {
        if !known.contains(&field.name.as_str()) {
            known.push(&field.name);
        }
    }
    let bare = typed.map_or(name, |typed| typed.trim_matches('"'));
    let as_text = format!("a text is written in single quotes: '{bare}'");
    if typed.is_some_and(|typed| typed.starts_with('"')) && !known.contains(&name.to_lowercase().as_str()) {
        return vec![as_text];
    }
    if let Some(near) = did_you_mean(name, known.iter().copied()) {
        return vec![format!("did you mean '{near}'?")];
    }
    let columns = (!known.is_empty()).then(|| format!("the columns are: {}", known.join(", ")));
    // Names of entities have capitals, digits and underscores; those of columns are lower-case.
    let is_text = bare.chars().any(char::is_uppercase);
    columns.into_iter().chain(is_text.then_some(as_text)).collect()
}

fn hint_of_table(table: &str, relations: &[String]) -> String {
    let file = table.trim_start_matches("btfdb.main.");
    for (extension, function) in [(".csv", "read_csv"), (".tsv", "read_csv"), (".parquet", "read_parquet")] {
        if file.ends_with(extension) {
            return format!("a file is read with {function}('{file}')");
        }
    }
    let bare = table.rsplit('.').next().unwrap_or(table);
    let near = did_you_mean(bare, relations.iter().map(String::as_str));
    near.map_or_else(
        || format!("the tables are: {}", relations.join(", ")),
        |near| format!("did you mean '{near}'?"),
    )
}

/// The engine's text without its own classification ("Error during planning: ").
fn tidy(text: &str) -> &str {
    ["SQL error: ParserError(", "SQL error: TokenizerError("]
        .iter()
        .find_map(|p| text.strip_prefix(p)?.strip_suffix(')').map(|t| t.trim_matches('"')))
        .or_else(|| {
            ["Error during planning: ", "Execution error: "].iter().find_map(|p| text.strip_prefix(p))
        })
        .unwrap_or(text)
}

/// The parameter that has no value, with its `$`: DataFusion has an error for the case that no parameter has
/// one, and another one if others have.
fn missing_parameter(message: &str) -> Option<&str> {
    if let Some((_, name)) = message.split_once("No value found for placeholder with name ") {
        return Some(name.trim());
    }
    let (name, rest) = message.strip_prefix("Placeholder '")?.split_once('\'')?;
    rest.contains("not provided a value").then_some(name)
}

/// The error of Arrow for a text that should be a number, in the words of btfdb.
fn no_number(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("Cannot cast string '")?;
    let (text, rest) = rest.rsplit_once("' to value of ")?;
    let ty = rest.split(' ').next().unwrap_or(rest);
    let ty = failure_text::sql_type(ty);
    Some(failure_text::shortened(format!("the text '{text}' is no value of type {ty}")))
}

/// Takes " at Line: 1, Column: 8" off the end of a message of the parser.
fn cut_place(text: &str) -> (String, Option<Place>) {
    let found = text.rsplit_once(" at Line: ").and_then(|(message, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let digits = column.len() - column.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let column = column.get(..digits)?.parse().ok()?;
        Some((message.to_owned(), Some(Place { line: line.parse().ok()?, column, width: 1 })))
    });
    found.unwrap_or_else(|| (text.to_owned(), None))
}

fn place_of(span: datafusion::common::Span) -> Place {
    let same_line = span.start.line == span.end.line;
    let width = if same_line { span.end.column.saturating_sub(span.start.column).max(1) } else { 1 };
    Place { line: span.start.line, column: span.start.column, width }
}

/// The only place of a word in a statement.
fn place_of_word(sql: &str, word: &str) -> Option<Place> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (lower, name) = (sql.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut found = lower.match_indices(&name).filter(|(at, _)| {
        let before = lower.get(..*at).and_then(|text| text.chars().next_back());
        let after = lower.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let (Some((at, _)), None) = (found.next(), found.next()) else { return None };
    let before = sql.get(..at)?;
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() as u64 + 1;
    Some(Place { line, column, width: word.chars().count() as u64 })
}

/// What stands at a place, with its quotes.
fn word_at(sql: &str, place: Place) -> Option<&str> {
    let line = sql.lines().nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let skipped = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(skipped)?.0;
    let at = if line.get(..at)?.ends_with('"') { at - 1 } else { at };
    let rest = line.get(at..)?;
    let end = match rest.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map_or(rest.len(), |end| end + 2),
        None => rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len()),
    };
    rest.get(..end)
}

/// The line of the place, indented, and a line of carets under it; empty if the text has no such line.
fn show(sql: &str, place: Place) -> String {
    let number = usize::try_from(place.line).unwrap_or(0);
    let Some(line) = number.checked_sub(1).and_then(|n| sql.lines().nth(n)) else { return String::new() };
    let plain: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let at = usize::try_from(place.column).unwrap_or(1).max(1) - 1;
    let width = usize::try_from(place.width).unwrap_or(1);
    let from = at.saturating_sub(SHOWN / 2).min(plain.len());
    let to = plain.len().min(from + SHOWN);
    let text: String = plain.get(from..to).unwrap_or(&[]).iter().collect();
    let carets = "^".repeat(width.clamp(1, SHOWN - SHOWN / 2));
    format!("\n  {}\n  {}{carets}", text.trim_end(), " ".repeat(at - from.min(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let e = syntax("no", "SELECT 1\n  , bad x", Some(Place { line: 2, column: 5, width: 3 }));
        assert_eq!(e.to_string(), "no (line 2, column 5)\n    , bad x\n      ^^^");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let sql = format!("SELECT {} bad", "x, ".repeat(1000));
        let shown = show(&sql, Place { line: 1, column: 3009, width: 3 });
        let lines: Vec<_> = shown.trim_start_matches('\n').lines().collect();
        assert!(lines[0].ends_with("x,  bad") && lines[0].len() < 70, "{shown}");
        assert_eq!(lines[1].find('^'), lines[0].find("bad"), "{shown}");
    }

    #[test]
    fn places_are_cut_off_parser_messages() {
        let (m, p) = cut_place("Expected: an expression, found: FROM at Line: 1, Column: 12");
        assert_eq!(m, "Expected: an expression, found: FROM");
        assert_eq!(p, Some(Place { line: 1, column: 12, width: 1 }));
        assert_eq!(cut_place("no place").1, None);
    }

    #[test]
    fn kinds_follow_from_the_cause() {
        let kind = |e: DataFusionError| from_engine(&e, "", &[]).kind();
        assert_eq!(kind(ParquetError::General("eof".into()).into()), ErrorKind::Database);
        assert_eq!(kind(DataFusionError::ResourcesExhausted("pool".into())), ErrorKind::Limit);
        assert_eq!(kind(DataFusionError::Plan("no".into()).context("while")), ErrorKind::Query);
        assert_eq!(from_panic(&"slice index").kind(), ErrorKind::Bug);
        assert_eq!(from_panic(&"offset overflow".to_owned()).kind(), ErrorKind::Limit);
    }

    #[test]
    fn a_file_that_was_not_read_is_not_damaged() {
        let failed = |cause: &str| {
            let text =
                format!("Failed to fetch metadata for file t/part-0.parquet: Object Store error: {cause}");
            from_engine(&ParquetError::General(text).into(), "", &[])
        };
        let refused = failed("Generic unreadable error: cannot open '/d/part-0.parquet': Permission denied");
        assert_eq!(refused.kind(), ErrorKind::Io);
        let expected = "a file of the database cannot be read: \
                        cannot open '/d/part-0.parquet': Permission denied";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(failed("Generic damaged error: the file is damaged").kind(), ErrorKind::Database);
    }
}
