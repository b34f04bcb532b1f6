//! Errors of DataFusion that say little to users, in words of btfdb: what is wrong, where, and the next step.
//! Not for errors that only need other names of types (see `failure_text`).

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::failure_text::sql_type;
use crate::time::{TimeScale, parse_time_argument};

/// A place in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// 1-based.
    pub line: u64,
    /// 1-based, in characters.
    pub column: u64,
    pub width: u64,
}

/// An error in words for users.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub message: String,
    pub place: Option<Place>,
    pub hint: String,
}

/// Functions of other databases that are written in another way here.
const ELSEWHERE: [(&[&str], &str); 10] = [
    (&["first"], "first_value(x ORDER BY …) is the value of the first row"),
    (&["last"], "last_value(x ORDER BY …) is the value of the last row"),
    (
        &["epoch", "epoch_ms", "epoch_us", "epoch_ns", "unixepoch", "from_unixtime", "make_timestamp"],
        "times are ticks, whole numbers: end_at / 1e9 is in seconds if a tick is 1 ns; to_timestamp_nanos(x) is a date",
    ),
    (
        &["datediff", "date_diff", "timediff", "age", "dateadd", "date_add"],
        "times are numbers: end_at - begin_at, begin_at + 10ms",
    ),
    (&["time_bucket"], "the begin of a piece of time: begin_at - begin_at % 10ms"),
    (&["count_if", "countif"], "count(*) FILTER (WHERE …)"),
    (&["sum_if", "sumif"], "sum(x) FILTER (WHERE …)"),
    (&["group_concat", "listagg"], "string_agg(x, ', ' ORDER BY …)"),
    (&["list", "collect_list"], "array_agg(x ORDER BY …)"),
    (&["iff", "if", "decode"], "CASE WHEN … THEN … ELSE … END"),
];

/// How to write a function of another database.
pub(super) fn elsewhere(function: &str) -> Option<&'static str> {
    let named = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(function));
    ELSEWHERE.iter().find(|(names, _)| named(names)).map(|(_, hint)| *hint)
}

/// The error with that text about `sql`, if it needs other words.
pub(super) fn rewritten(text: &str, sql: &str) -> Option<Rewritten> {
    let of = |message: String, place: Option<Place>, hint: &str| {
        Some(Rewritten { message, place, hint: hint.to_owned() })
    };
    let between = |begin: &str, end: &str| {
        text.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(found, _)| found)
    };
    if text.contains("failed to match any signature") {
        let (name, ty) = (between("Function '", "'")?, sql_type(between("(DataType: ", ")")?));
        let hint = match ty {
            "VARCHAR" => "CAST(… AS BIGINT) reads texts as numbers, count(…) counts them",
            _ => "CAST(… AS BIGINT), or another type, changes the type",
        };
        return of(format!("function '{name}' does not take values of type {ty}"), word(sql, name), hint);
    }
    if ["Expected a Map type", "Coercion from"].iter().any(|inner| text.contains(inner))
        && let Some(name) = between("Function '", "' user-defined coercion failed")
    {
        let message = format!("function '{name}' does not take these values");
        return of(message, word(sql, name), "`SHOW FUNCTIONS` lists the functions with their arguments");
    }
    if let Some(name) = between("Failed to coerce arguments to satisfy a call to '", "'") {
        let given = between("coercion from ", " to the signature")?;
        let given: Vec<_> = given.split(", ").map(sql_type).collect();
        let message = format!("function '{name}' does not take values of types {}", given.join(", "));
        return of(message, word(sql, name), "CAST(x AS BIGINT), or another type, changes the type");
    }
    if let Some(name) = between("Function '", "' expects ")
        && let Some(number) = between("' expects ", " arguments but received")
    {
        let given = between("arguments but received ", ".").unwrap_or("another number");
        let message = format!("function '{name}' takes {number} arguments, not {given}");
        return of(message, word(sql, name), "`SHOW FUNCTIONS` lists the functions with their arguments");
    }
    if text.contains("Regular expression did not compile") || text.contains("regex parse error") {
        let why = text.rsplit_once("error: ").map_or("", |(_, why)| why);
        let why = why.lines().next().unwrap_or("").trim_end_matches([' ', '~', ')']);
        let is_function = |t: &Token| matches!(t, Token::Word(w) if is_pattern_function(&w.value));
        let hint = r"( ) [ ] { } . * + ? | ^ $ \ have a meaning in patterns; \( stands for the character";
        return of(format!("a pattern is no regular expression: {why}"), token(sql, is_function), hint);
    }
    if text.contains("Aggregate ORDER BY is not implemented for window functions") {
        let is_extreme = |t: &Token| matches!(t, Token::Word(w) if is_extreme(&w.value));
        let hint = "first_value(x) OVER (PARTITION BY … ORDER BY y DESC) is the x of the greatest y";
        return of(
            "an aggregate with an order cannot be computed OVER rows".into(),
            token(sql, is_extreme),
            hint,
        );
    }
    if text.contains("Slice subscript requires") {
        let hint = "array_slice(x, 2, cardinality(x)) is a list from its second element on";
        return of("a part of a list needs both ends".into(), token(sql, |t| *t == Token::Colon), hint);
    }
    if text.contains("Divide by zero") {
        let place = token(sql, |t| matches!(t, Token::Div | Token::Mod));
        return of("a number is divided by 0".into(), place, "a / nullif(b, 0) is NULL where b is 0");
    }
    if text.contains("Argument #") && text.contains("must be an INTEGER or NULL") {
        let number = between("Argument #", " ")?;
        let is_series = |t: &Token| matches!(t, Token::Word(w) if is_series(&w.value));
        let message =
            format!("argument {number} of a table function is no whole number that the statement spells");
        let hint = "for numbers of rows: SELECT …, unnest(range(1, n + 1)) AS x FROM …";
        return of(message, token(sql, is_series), hint);
    }
    let is_twice = text.contains("Projections require unique expression names");
    let same = between("and unqualified field name ", " which would be ambiguous");
    let twice = text.split_once("contains duplicate unqualified field name ").map(|(_, name)| name);
    let same = same.or(twice);
    if (is_twice || same.is_some()) && groups_by_cast(sql) {
        let message = "two columns of GROUP BY differ by a CAST alone, which the engine cannot tell apart";
        return of(message.into(), token(sql, is_group), BY_CAST);
    }
    if is_twice {
        let name = between("the expression \"", "\" at position").unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or(name);
        return of(same_names(name), second(sql, name), ANOTHER_NAME);
    }
    if let Some(name) = same {
        let name = name.trim_matches('"');
        return of(same_names(name), second(sql, name), ANOTHER_NAME);
    }
    // A time in quotes.
    let (_, rest) = text.split_once("Cannot cast string '")?;
    let (typed, ty) = rest.rsplit_once("' to value of ")?;
    let is_text = |t: &Token| matches!(t, Token::SingleQuotedString(other) if other == typed);
    let is_time = typed.ends_with(|c: char| c.is_ascii_alphabetic());
    let is_time = is_time && parse_time_argument(typed, TimeScale::Ps).is_ok();
    let place = token(sql, is_text);
    let is_number = ["Int", "UInt", "Float", "Decimal"].iter().any(|begin| ty.starts_with(begin));
    // Without a place, the text is in a column.
    if is_time || place.is_some() && is_number {
        let hint = match is_time {
            true => format!("write the time without quotes: {typed}"),
            false => "a number is needed here: write one, or a time such as 10ms, without quotes".to_owned(),
        };
        return Some(Rewritten { message: format!("the text '{typed}' is no number"), place, hint });
    }
    None
}

const ANOTHER_NAME: &str = "give one of them another name: AS …";

const BY_CAST: &str = "write CAST(…) + 0 for a number, or CAST(…) || '' for a text";

fn is_group(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.value.eq_ignore_ascii_case("GROUP"))
}

fn groups_by_cast(sql: &str) -> bool {
    let is_cast = |token: &Token| match token {
        Token::Word(word) => ["CAST", "TRY_CAST"].iter().any(|cast| word.value.eq_ignore_ascii_case(cast)),
        other => *other == Token::DoubleColon,
    };
    !places(sql, is_group).is_empty() && !places(sql, is_cast).is_empty()
}

fn same_names(name: &str) -> String {
    match name.contains(['(', ')', ' ']) || name.is_empty() {
        true => "two columns of a SELECT are the same".into(),
        false => format!("two columns of a SELECT are named '{name}'"),
    }
}

fn is_pattern_function(name: &str) -> bool {
    name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("regexp_"))
}

fn is_extreme(name: &str) -> bool {
    let names = ["arg_max", "arg_min", "argmax", "argmin", "max_by", "min_by"];
    names.iter().any(|other| other.eq_ignore_ascii_case(name))
}

fn is_series(name: &str) -> bool {
    ["generate_series", "range"].iter().any(|other| other.eq_ignore_ascii_case(name))
}

/// The only place of a name in a statement; functions of lists have two names.
pub(super) fn word(sql: &str, name: &str) -> Option<Place> {
    let other = name.replacen("array_", "list_", 1);
    token(
        sql,
        |t| matches!(t, Token::Word(w) if w.value.eq_ignore_ascii_case(name) || w.value.eq_ignore_ascii_case(&other)),
    )
}

/// The only place of a parameter, with its `$`, in a statement.
pub(super) fn parameter(sql: &str, name: &str) -> Option<Place> {
    token(sql, |t| matches!(t, Token::Placeholder(other) if other == name))
}

/// The place of the only such token.
fn token(sql: &str, is: impl Fn(&Token) -> bool) -> Option<Place> {
    match places(sql, is).as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The later one of two places of a name.
fn second(sql: &str, name: &str) -> Option<Place> {
    match places(sql, |t| matches!(t, Token::Word(w) if w.value.eq_ignore_ascii_case(name))).as_slice() {
        [_, second] => Some(*second),
        _ => None,
    }
}

fn places(sql: &str, is: impl Fn(&Token) -> bool) -> Vec<Place> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().unwrap_or_default();
    let place = |t: &TokenWithSpan| Place {
        line: t.span.start.line,
        column: t.span.start.column,
        width: t.span.end.column.saturating_sub(t.span.start.column).max(1),
    };
    tokens.iter().filter(|t| is(&t.token)).map(place).collect()
}
